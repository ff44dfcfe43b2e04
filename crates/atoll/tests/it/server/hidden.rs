//! Secret values: in which files they are, that none remains after a delete, and that other users of the host can open
//! no file of the server.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use atoll_protocol::{
    CreateToken, ErrorCode, ExecRequest, ExposePort, ProcessId, PutSecret, Scope, SearchRequest, StartRequest, Verb,
};

use super::{Server, sh, state, wait};
use crate::harness::{Home, ORDINARY, Signal, command, need, until};

/// Values that no other file of this machine contains.
const VALUE: &str = "value-of-a-variable-4f1c";
const SECRET: &str = "value-of-a-secret-9d2e";

/// Every file below a directory in which these bytes are.
fn holding(dir: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            // Removed since its name was read.
            let Ok(kind) = path.symlink_metadata().map(|found| found.file_type()) else { continue };
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file()
                && std::fs::read(&path).is_ok_and(|all| all.windows(bytes.len()).any(|window| window == bytes))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Whether a directory above has no permissions for other users.
fn is_closed(path: &Path, home: &Path) -> bool {
    let above = path.ancestors().skip(1).take_while(|dir| dir.starts_with(home));
    above.into_iter().any(|dir| std::fs::metadata(dir).is_ok_and(|found| found.mode() & 0o077 == 0))
}

#[test]
fn values_are_in_one_private_file_each_and_in_none_after_a_delete() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let root = home.path().to_owned();
    wait(async {
        let client = server.client();
        let mut options = server.asked();
        options.env.as_mut().unwrap().insert("KEY".to_owned(), VALUE.to_owned());
        let name = client.create_sandbox(&options).await.unwrap().name;
        // Write to every store: run a command, put a secret, expose a port, stop, start.
        assert_eq!(sh(&client, &name, "printf %s \"$KEY\" | wc -c").await.trim(), VALUE.len().to_string());
        let secret: PutSecret =
            serde_json::from_value(serde_json::json!({"value": SECRET, "hosts": ["a.test"]})).unwrap();
        client.inside(&name).put_secret("TOKEN", &secret).await.unwrap();
        let preview = client.expose(&name, 3000, &ExposePort::default()).await.unwrap().token;
        client.stop_sandbox(&name).await.unwrap();
        sh(&client, &name, "true").await;
        let scopes = vec![Scope { sandboxes: "*".to_owned(), verbs: vec![Verb::Read] }];
        let made =
            client.create_token(&CreateToken { name: "t".to_owned(), scopes, expires_in_ms: None }).await.unwrap();
        let its = state(&home).join("sandboxes").join(name.as_str());
        let (settings, network) = (its.join("sandbox.json"), its.join("storage/network.json"));
        for (value, files) in [
            (VALUE, vec![settings.clone()]),
            (preview.as_str(), vec![settings.clone()]),
            (SECRET, vec![network.clone()]),
            (made.token.rsplit('_').next().unwrap(), vec![]),
            (server.token.as_str(), vec![state(&home).join("root-token")]),
        ] {
            assert_eq!(holding(&root, value.as_bytes()), files, "{value}");
            for file in files {
                assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600, "{file:?}");
                assert!(is_closed(&file, &root), "{file:?}");
            }
        }
        // The comparison of options still uses the values, and reports only names.
        options.env.as_mut().unwrap().insert("KEY".to_owned(), "another".to_owned());
        let differs = client.create_sandbox(&options).await.unwrap_err();
        assert_eq!(differs.code(), Some(ErrorCode::SandboxDiffers));
        assert!(format!("{differs:?}").contains("env.KEY") && !format!("{differs:?}").contains(VALUE), "{differs:?}");
        client.remove_sandbox(&name).await.unwrap();
        for value in [VALUE, SECRET, preview.as_str()] {
            assert_eq!(holding(&root, value.as_bytes()), Vec::<PathBuf>::new(), "{value}");
        }
        // The log is truncated a moment later: then it contains neither the name nor the token's id.
        client.revoke_token(&made.info.id).await.unwrap();
        until("the registry's log is empty", || {
            let left = [name.as_str(), &made.info.id].map(|text| holding(&state(&home), text.as_bytes()));
            left.iter().all(Vec::is_empty).then_some(())
        });
    });
    for file in ["registry.db", "registry.db-wal", "lock", "root-token", "preview-key", "server.sock"] {
        let found = std::fs::metadata(state(&home).join(file)).unwrap();
        assert_eq!(found.mode() & 0o777, 0o600, "{file}");
    }
    server.end();
}

#[test]
fn a_server_that_was_killed_finds_its_sandboxes_and_their_variables() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let mut options = server.asked();
    options.env.as_mut().unwrap().insert("KEY".to_owned(), VALUE.to_owned());
    let name = wait(server.client().create_sandbox(&options)).unwrap().name;
    let address = server.address;
    server.kill();
    let server = Server::start_at(&home, address, &[]);
    wait(async {
        let client = server.client();
        client.stop_sandbox(&name).await.unwrap();
        assert_eq!(sh(&client, &name, "printf %s \"$KEY\"").await, VALUE);
        assert_eq!(client.create_sandbox(&options).await.unwrap().name, name, "the same options");
        options.env.as_mut().unwrap().remove("KEY");
        assert_eq!(client.create_sandbox(&options).await.unwrap_err().code(), Some(ErrorCode::SandboxDiffers));
    });
    server.end();
}

#[test]
fn a_token_that_may_only_read_sees_no_variables_of_processes() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let root = server.client();
        let name = server.sandbox().await;
        let id = ProcessId::new("holder").unwrap();
        let env = [("KEY".to_owned(), Some(VALUE.to_owned()))].into();
        let request = StartRequest { id: Some(id), env, ..StartRequest::shell("exec sleep 1000") };
        let pid = root.inside(&name).start(&request).await.unwrap().pid.unwrap();
        sh(&root, &name, &format!("ln -s /proc/{pid}/environ /workspace/link; ln -s /proc/{pid} /workspace/process"))
            .await;
        let scopes = vec![Scope { sandboxes: name.to_string(), verbs: vec![Verb::Read] }];
        let made = root.create_token(&CreateToken { name: "r".to_owned(), scopes, expires_in_ms: None }).await.unwrap();
        let get = |path: &str| {
            let token = &made.token;
            let head =
                format!("GET /v1/sandboxes/{name}/{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n");
            server.raw(&format!("{head}connection: close\r\n\r\n"))
        };
        for path in [
            format!("/proc/{pid}/environ"),
            format!("/proc/{pid}/task/{pid}/environ"),
            format!("//proc/./{pid}//environ"),
            "/proc/self/environ".to_owned(),
            "/workspace/link".to_owned(),
            "/workspace/process/environ".to_owned(),
            format!("/proc/{pid}/mem"),
        ] {
            let response = get(&format!("files/content?path={path}"));
            assert!(
                response.starts_with("HTTP/1.1 403") && response.contains("PERMISSION_DENIED"),
                "{path}: {response}"
            );
            // The kernel refuses the worker's own, before the worker does.
            assert!(response.contains("`exec`") || path.contains("self"), "{path}: {response}");
            assert!(!response.contains(VALUE), "{path}: {response}");
        }
        for path in [format!("/proc/{pid}"), format!("/proc/{pid}/task"), format!("/proc/{pid}/environ")] {
            for format in ["tar", "zip"] {
                let response = get(&format!("files/archive?path={path}&format={format}"));
                assert!(!response.contains(VALUE), "{path}: {response}");
            }
            let reader = server.client_with(&made.token);
            let options: SearchRequest =
                serde_json::from_value(serde_json::json!({"path": path, "pattern": "KEY="})).unwrap();
            let found = reader.inside(&name).search_files(&options).await;
            assert!(!format!("{found:?}").contains(VALUE), "{path}: {found:?}");
        }
        // The process list shows command lines, so they stay readable; a command can read the variables.
        assert!(get(&format!("files/content?path=/proc/{pid}/cmdline")).contains("sleep"));
        let shown = root.inside(&name).exec(&ExecRequest::shell(format!("cat /proc/{pid}/environ"))).await.unwrap();
        assert!(shown.stdout.data.contains(VALUE));
    });
    server.end();
}

/// A shell string as another user of this machine.
fn as_other(text: &str) -> std::process::Output {
    let mut other = command("setpriv");
    other.args(["--clear-groups", &format!("--reuid={ORDINARY}"), &format!("--regid={ORDINARY}"), "sh", "-c", text]);
    other.output().unwrap()
}

#[test]
fn another_user_of_the_host_can_open_and_lock_nothing() {
    need!("setpriv", "flock");
    let home = Home::bare();
    // A umask that removes no permission.
    let run = |arguments: &[&str]| {
        let mut call = home.run(arguments);
        let inner = std::mem::replace(&mut call.command, command("sh"));
        call.command.args(["-c", "umask 0; exec \"$0\" \"$@\""]).arg(inner.get_program()).args(inner.get_args());
        call.command.env("ATOLL_HOME", home.path()).current_dir(home.cwd());
        call.command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        call
    };
    assert_eq!(run(&["--", "echo ran"]).done().stdout(), "ran\n");
    let root = home.path().display().to_string();
    for path in [format!("{root}/state/lock"), "/run/atoll/ids".to_owned()] {
        let locked = as_other(&format!("flock -n {path} true"));
        assert!(!locked.status.success(), "{path}: {locked:?}");
    }
    let found =
        as_other(&format!("find {root}/state -not -path {root}/state; find {root} -writable -not -path {root}"));
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{found:?}");
    // The next use removes permissions that an earlier version left.
    std::fs::set_permissions(home.path().join("state"), PermissionsExt::from_mode(0o777)).unwrap();
    std::fs::set_permissions(home.path().join("state/lock"), PermissionsExt::from_mode(0o666)).unwrap();
    assert_eq!(run(&["--", "echo ran"]).done().stdout(), "ran\n");
    assert!(!as_other(&format!("flock -n {root}/state/lock true")).status.success());
    home.assert_nothing_left();
}

#[test]
fn abstract_names_taken_by_another_user_do_not_block_sandboxes() {
    need!("setpriv", "python3");
    let home = Home::new();
    // The abstract socket names `atoll/ids/BLOCK`.
    let take = "import socket, sys, time, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
taken = []
for block in range(8, 28672):
    try:
        one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); one.bind('\\0atoll/ids/%d' % block); taken.append(one)
    except OSError as error:
        if error.errno == 24: break
print(len(taken), flush=True)
sys.stdin.read()";
    let mut other = command("setpriv");
    other.args(["--clear-groups", &format!("--reuid={ORDINARY}"), &format!("--regid={ORDINARY}")]);
    other.args(["python3", "-c", take]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut holder = other.spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(holder.stdout.take().unwrap()), &mut line).unwrap();
    assert_eq!(home.sh("echo made"), "made\n", "with {} names taken", line.trim());
    drop(holder.stdin.take());
    holder.wait().unwrap();
    home.assert_nothing_left();
}

#[test]
fn a_state_directory_of_another_user_is_refused_by_name() {
    need!("setpriv");
    let home = Home::ordinary();
    let state = home.path().join("state");
    std::fs::create_dir(&state).unwrap();
    std::fs::set_permissions(&state, PermissionsExt::from_mode(0o777)).unwrap();
    let refused = home.run(["--", "true"]).done();
    assert_eq!(refused.code, Some(125), "{refused:?}");
    assert!(refused.stderr().contains("chmod 700"), "{refused:?}");
}

#[test]
fn values_are_not_in_the_registry_of_a_server_that_was_killed() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let mut options = server.asked();
    options.env.as_mut().unwrap().insert("KEY".to_owned(), VALUE.to_owned());
    let name = wait(server.client().create_sandbox(&options)).unwrap().name;
    let address = server.address;
    server.signal(Signal::KILL);
    assert_eq!(server.done().signal, Some(9));
    let settings = state(&home).join("sandboxes").join(name.as_str()).join("sandbox.json");
    assert_eq!(holding(home.path(), VALUE.as_bytes()), [settings]);
    let server = Server::start_at(&home, address, &[]);
    wait(async { tokio::time::timeout(Duration::from_secs(20), server.client().remove_sandbox(&name)).await })
        .unwrap()
        .unwrap();
    assert_eq!(holding(home.path(), VALUE.as_bytes()), Vec::<PathBuf>::new());
    server.end();
}
