//! `atoll agent --entrypoint`: the program of a container. As PID 1 it reaps and takes signals; commands are walled off
//! from it where the kernel lets it, and where not, that is told.

use std::fs;
use std::future::Future;
use std::os::unix::fs::symlink;
use std::path::Path;

use atoll_client::Client;
use atoll_protocol::{ExecRequest, Isolation, SessionRequest, StartRequest};
use serde_json::{Value, json};

use crate::harness::{ATOLL, Call, Home, Running, Signal, SmallDisk, command, kill, need, skip, until};

const TOKEN: &str = "a-token-that-is-long-enough-to-be-one";

fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// The one line that it prints, and a client of it.
fn ready(running: &mut Running) -> (Value, Client) {
    let Some(line) = running.try_line() else { panic!("it is not ready: {}", running.error_line()) };
    let ready: Value = serde_json::from_str(&line).unwrap();
    let client = Client::tcp(ready["tcp"].as_str().unwrap(), TOKEN).unwrap();
    (ready, client)
}

/// The spec by which the sandbox can be told to be of this home, and the token, as files.
fn files(home: &Home) -> (String, String) {
    let spec = format!(r#"{{"name":"{}","env":{{"ATOLL_IT":"{}"}}}}"#, home.name(), home.tag);
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("spec"), spec).unwrap();
    fs::write(path("token"), TOKEN).unwrap();
    (path("spec"), path("token"))
}

/// Children of a process, with the letter of their state.
fn children(parent: u32) -> Vec<(u32, char)> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let stat = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let rest = stat.rsplit(") ").next()?.to_owned();
        let mut words = rest.split(' ');
        let (state, of) = (words.next()?.chars().next()?, words.next()?.parse::<u32>().ok()?);
        (of == parent).then_some((pid, state))
    };
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(stat).collect()
}

#[test]
fn as_pid_1_it_reaps_and_takes_signals() {
    need!("unshare", "nsenter");
    let home = Home::new();
    let (spec, token) = files(&home);
    let mut call = command("unshare");
    call.args(["--pid", "--fork", "--mount-proc", "--kill-child", ATOLL, "agent", "--entrypoint"]);
    call.args(["--tcp", "127.0.0.1:0", "--token-file", &token, "--spec", &spec]);
    call.env("ATOLL_HOME", home.path()).current_dir(home.cwd());
    call.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut running = Call { command: call }.start();
    let (ready, client) = ready(&mut running);
    assert!(ready.get("socket").is_none(), "{ready}");
    let first = until("PID 1", || children(running.pid()).first().map(|(pid, _)| *pid));
    wait(async {
        let info = client.sandbox().await.unwrap();
        assert_eq!((info.isolation, info.not_isolated), (Isolation::Namespaces, None));
        let told = client.exec(&ExecRequest::shell("echo $((6 * 7))")).await.unwrap();
        assert_eq!(told.stdout.data, "42\n");
        client.start(&StartRequest::shell("setsid -f sleep 1000; trap '' TERM; sleep 1000")).await.unwrap();
        client.create_session(&SessionRequest::default()).await.unwrap();
        assert_eq!(client.sandbox().await.unwrap().sessions, 1, "an idle session counts");
    });
    // Somebody in the container, but not of the sandbox, leaves an orphan that ends.
    let orphan = command("nsenter")
        .args(["--target", &first.to_string(), "--pid", "--mount", "sh", "-c", "(sleep 0.1 &)"])
        .status()
        .unwrap();
    assert!(orphan.success());
    let is_orphan = |pid: u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == "sleep");
    until("the orphan is reaped", || {
        let left = children(first);
        (!left.iter().any(|(pid, state)| *state == 'Z' || is_orphan(*pid))).then_some(())
    });
    kill(first, Signal::TERM).unwrap();
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    home.assert_nothing_left();
}

/// A bundle for crun: this host's programs, and nothing else of it.
fn bundle(home: &Home, disk: &SmallDisk, change: impl FnOnce(&mut Value)) {
    let (spec, token) = files(home);
    let dir = home.path().join("bundle");
    let root = dir.join("root");
    for name in ["usr", "proc", "dev", "sys", "tmp", "atoll", "etc"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    for name in ["bin", "sbin", "lib", "lib64"] {
        if Path::new("/").join(name).is_symlink() {
            symlink(format!("usr/{name}"), root.join(name)).unwrap();
        }
    }
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/:/bin/sh\n").unwrap();
    let made = command("crun").args(["spec", "--bundle"]).arg(&dir).status().unwrap();
    assert!(made.success());
    let mut config: Value = serde_json::from_slice(&fs::read(dir.join("config.json")).unwrap()).unwrap();
    config["root"] = json!({ "path": "root", "readonly": true });
    config["process"]["terminal"] = json!(false);
    config["process"]["args"] = json!([
        "/atoll/atoll",
        "agent",
        "--entrypoint",
        "--tcp",
        "127.0.0.1:0",
        "--token-file",
        "/atoll/token",
        "--spec",
        "/atoll/spec",
    ]);
    config["process"]["env"] = json!(["PATH=/usr/bin:/bin", "ATOLL_HOME=/tmp/home"]);
    let mounts = config["mounts"].as_array_mut().unwrap();
    for (from, to, mode) in [
        ("/usr", "/usr", "ro"),
        (ATOLL, "/atoll/atoll", "ro"),
        (&spec, "/atoll/spec", "ro"),
        (&token, "/atoll/token", "ro"),
        (disk.path().to_str().unwrap(), "/tmp", "rw"),
    ] {
        mounts.push(json!({ "destination": to, "source": from, "type": "bind", "options": ["rbind", mode] }));
    }
    for name in ["atoll", "spec", "token"] {
        fs::write(root.join("atoll").join(name), "").unwrap();
    }
    config["mounts"].as_array_mut().unwrap().retain(|one| one["type"] != "cgroup");
    config["linux"].as_object_mut().unwrap().remove("resources");
    // The host's network, so that it can be reached.
    config["linux"]["namespaces"].as_array_mut().unwrap().retain(|one| one["type"] != "network");
    change(&mut config);
    fs::write(dir.join("config.json"), config.to_string()).unwrap();
}

fn crun(home: &Home, name: &str) -> Running {
    // Cgroups are no matter of these tests, and crun refuses layouts that have both kinds: it is shown one of them.
    let text = "mount -t cgroup2 none /sys/fs/cgroup && exec crun --cgroup-manager=disabled \"$@\"";
    let mut call = command("unshare");
    call.args(["--mount", "sh", "-c", text, "crun", "--root"]).arg(home.path().join("crun"));
    call.args(["run", "--bundle"]).arg(home.path().join("bundle")).arg(name).current_dir(home.cwd());
    call.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    Call { command: call }.start()
}

fn end(home: &Home, name: &str) {
    let told = command("crun").arg("--root").arg(home.path().join("crun")).args(["kill", name, "TERM"]).status();
    assert!(told.unwrap().success());
}

/// An ordinary container may not make namespaces: commands run beside the agent, and everybody is told.
#[test]
fn in_a_container_that_allows_nothing_it_goes_on_and_says_so() {
    need!("crun");
    let home = Home::new();
    let Some(disk) = SmallDisk::new("64m") else { return skip("no tmpfs can be mounted") };
    bundle(&home, &disk, |_| {});
    let name = format!("{}-closed", home.tag);
    let mut running = crun(&home, &name);
    let warning = running.error_line();
    if !warning.starts_with("warning: ") {
        return skip(&format!("crun makes no containers here: {warning}"));
    }
    assert!(warning.starts_with("warning: commands are not isolated from this process"), "{warning}");
    let (_, client) = ready(&mut running);
    wait(async {
        let info = client.sandbox().await.unwrap();
        assert_eq!(info.isolation, Isolation::None);
        assert!(warning.contains(&info.not_isolated.clone().unwrap()), "{info:?}");
        let told = client.exec(&ExecRequest::shell("echo $((6 * 7)); (sleep 0.1 &)")).await.unwrap();
        assert_eq!(told.stdout.data, "42\n");
    });
    end(&home, &name);
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    home.assert_nothing_left();
}

/// One that is opened far enough has both walls.
#[test]
fn in_a_container_that_allows_it_commands_are_walled_off() {
    need!("crun");
    let home = Home::new();
    let Some(disk) = SmallDisk::new("64m") else { return skip("no tmpfs can be mounted") };
    bundle(&home, &disk, |config| {
        let all: Vec<String> = capabilities();
        for set in ["bounding", "effective", "permitted", "inheritable", "ambient"] {
            config["process"]["capabilities"][set] = json!(all);
        }
        config["process"]["noNewPrivileges"] = json!(false);
        config["linux"]["maskedPaths"] = json!([]);
        config["linux"]["readonlyPaths"] = json!([]);
        config["linux"].as_object_mut().unwrap().remove("seccomp");
    });
    let name = format!("{}-open", home.tag);
    let mut running = crun(&home, &name);
    let (_, client) = ready(&mut running);
    wait(async {
        let info = client.sandbox().await.unwrap();
        if let Some(why) = info.not_isolated {
            return skip(&why);
        }
        assert_eq!(info.isolation, Isolation::Namespaces);
        let told = client.exec(&ExecRequest::shell("cat /atoll/token 2>/dev/null; ls /proc | grep -c '^[0-9]'")).await;
        let seen: u32 = told.unwrap().stdout.data.trim().parse().unwrap();
        assert!(seen < 6, "neither the token nor the agent is to be seen: {seen} processes");
    });
    end(&home, &name);
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    home.assert_nothing_left();
}

/// What making namespaces takes, as far as we have it ourselves (capabilities(7)).
fn capabilities() -> Vec<String> {
    let known = [
        (0, "CHOWN"),
        (1, "DAC_OVERRIDE"),
        (2, "DAC_READ_SEARCH"),
        (3, "FOWNER"),
        (4, "FSETID"),
        (5, "KILL"),
        (6, "SETGID"),
        (7, "SETUID"),
        (8, "SETPCAP"),
        (12, "NET_ADMIN"),
        (18, "SYS_CHROOT"),
        (19, "SYS_PTRACE"),
        (21, "SYS_ADMIN"),
        (27, "MKNOD"),
        (31, "SETFCAP"),
    ];
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ours = status.lines().find_map(|line| line.strip_prefix("CapBnd:")).unwrap();
    let ours = u64::from_str_radix(ours.trim(), 16).unwrap();
    known.iter().filter(|(bit, _)| ours >> bit & 1 == 1).map(|(_, name)| format!("CAP_{name}")).collect()
}
