//! Tokens of previews: wrong, old, revoked and foreign ones are all the same, and wake nothing.

use std::io::BufReader;
use std::time::Duration;

use atoll_protocol::{ErrorCode, ExposePort, SandboxName, SandboxState};

use super::{BOTH, Form, PORT, Shown, public, read_answer, send, show, start_app, with_app};
use crate::harness::{Home, need};
use crate::server::{Server, state, wait};

/// The same preview with another token.
fn with_token(shown: &Shown, token: &str) -> Shown {
    let mut preview = shown.preview.clone();
    preview.token = token.to_owned();
    Shown { name: shown.name.clone(), app: shown.app.clone(), preview }
}

fn stop(server: &Server<'_>, name: &SandboxName) {
    wait(server.client().stop_sandbox(name)).unwrap();
    assert!(server.agents().is_empty());
}

#[test]
fn every_wrong_token_gets_one_answer_and_wakes_nothing() {
    with_app(ExposePort { wake: Some(true), ..public() }, |server, shown| {
        let client = server.client();
        let old = with_token(shown, &shown.preview.token);
        let rotated = wait(client.rotate_preview(&shown.name, PORT)).unwrap();
        assert_ne!(rotated.token, shown.preview.token);
        let other = wait(show(server, public()));
        wait(client.remove_sandbox(&other.name)).unwrap();
        stop(server, &shown.name);
        let now = with_token(shown, &rotated.token);
        let mut foreign = with_token(&now, &other.preview.token);
        let mut cases = vec![old, with_token(&now, "guess"), with_token(&now, &other.preview.token), other];
        foreign.preview.port = 3001;
        cases.push(foreign);
        let mut nobody = with_token(&now, &rotated.token);
        nobody.name = SandboxName::new("nobody").unwrap();
        cases.push(nobody);
        let mut answers = Vec::new();
        for case in &cases {
            for form in BOTH {
                let answer = server.get(case.at(form, "/"));
                let headers: Vec<_> = answer.headers.into_iter().filter(|(name, _)| name != "date").collect();
                answers.push((answer.status, headers, answer.body));
            }
        }
        assert_eq!(answers[0].0, 404);
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        assert!(server.agents().is_empty(), "nothing was woken");
        wait(client.unexpose(&shown.name, PORT)).unwrap();
        wait(client.unexpose(&shown.name, PORT)).unwrap();
        assert_eq!(server.get(now.at(Form::Host, "/")).status, 404);
        assert!(server.agents().is_empty(), "nothing was woken");
        let record = wait(client.find_sandbox(&shown.name)).unwrap();
        assert_eq!(record.state, SandboxState::Stopped);
    });
}

#[test]
fn a_sandbox_that_sleeps_is_woken_only_by_a_preview_that_may() {
    with_app(public(), |server, shown| {
        let client = server.client();
        stop(server, &shown.name);
        for form in BOTH {
            let answer = server.get(shown.at(form, "/"));
            assert_eq!((answer.status, answer.code().as_str()), (503, "PREVIEW_ASLEEP"));
        }
        assert!(server.agents().is_empty());
        wait(client.expose(&shown.name, PORT, &ExposePort { wake: Some(true), ..public() })).unwrap();
        // The program is started by whoever woke it up to do so: here, by us, while the request waits.
        let mut stream = server.preview_stream();
        send(&mut stream, &shown.at(Form::Host, "/echo"), "GET", &[], b"");
        crate::harness::until("the sandbox to be woken", || (!server.agents().is_empty()).then_some(()));
        wait(start_app(server, &shown.name));
        let answer = read_answer(&mut BufReader::new(stream), "GET");
        assert_eq!((answer.status, &answer.json()["path"]), (200, &"/echo".into()));
    });
}

#[test]
fn looking_at_a_preview_keeps_a_sandbox_awake() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let asked = atoll_protocol::CreateSandbox { sleep_after_ms: Some(700), ..server.asked() };
    let name = wait(server.client().create_sandbox(&asked)).unwrap().name;
    // Nothing runs in it, which would keep it awake by itself; being asked for is what counts.
    let preview = wait(server.client().expose(&name, PORT, &public())).unwrap();
    let shown = Shown { name, app: atoll_protocol::ProcessId::new("none").unwrap(), preview };
    for _ in 0..15 {
        std::thread::sleep(Duration::from_millis(100));
        let answer = server.get(shown.at(Form::Host, "/"));
        assert_eq!((answer.status, answer.code().as_str()), (502, "PORT_CLOSED"));
    }
    assert_eq!(server.agents().len(), 1, "it was looked at all the time");
    crate::harness::until("the sandbox to sleep", || server.agents().is_empty().then_some(()));
    server.end();
}

#[test]
fn exposed_ports_are_listed_changed_and_found_again_after_a_loss_of_the_registry() {
    need!("python3");
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let asked = ExposePort { name: Some("web".to_owned()), token: Some("my_token".to_owned()), ..public() };
    let shown = wait(show(&server, asked));
    assert_eq!(shown.preview.token, "my_token");
    let label = shown.label();
    let port = server.previews.port();
    assert_eq!(shown.preview.url, Some(format!("http://{label}.localhost:{port}/")));
    assert_eq!(shown.preview.path_url, Some(format!("http://localhost:{port}/preview/{label}/")));
    let again = wait(server.client().expose(&shown.name, PORT, &public())).unwrap();
    assert_eq!(again, shown.preview, "what is not said stays");
    let (previews, listed) = (server.previews, wait(server.client().previews(&shown.name)).unwrap().previews);
    assert_eq!(listed, [again]);
    server.kill();
    for file in ["registry.db", "registry.db-wal", "registry.db-shm"] {
        drop(std::fs::remove_file(state(&home).join(file)));
    }
    let server = Server::start(&home, &["--preview-listen", &previews.to_string()]);
    assert_eq!(wait(server.client().previews(&shown.name)).unwrap().previews, listed);
    for form in BOTH {
        assert_eq!(server.get(shown.at(form, "/echo")).status, 200, "its agent went on");
    }
    server.end();
}

#[test]
fn what_cannot_be_exposed_is_refused() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let client = server.client();
    let name = wait(server.sandbox());
    let code = |name: &SandboxName, port: u16, token: &str| {
        let asked = ExposePort { token: Some(token.to_owned()), ..public() };
        wait(client.expose(name, port, &asked)).unwrap_err().code()
    };
    assert_eq!(code(&name, 80, "with-hyphen"), Some(ErrorCode::ValidationFailed));
    assert_eq!(code(&name, 0, "zero"), Some(ErrorCode::ValidationFailed));
    assert_eq!(code(&name, 65535, &"x".repeat(32)), Some(ErrorCode::ValidationFailed), "too long for a host name");
    assert_eq!(code(&SandboxName::new("nobody").unwrap(), 80, "t"), Some(ErrorCode::SandboxNotFound));
    assert_eq!(wait(client.rotate_preview(&name, 80)).unwrap_err().code(), Some(ErrorCode::PreviewNotFound));
    assert_eq!(wait(client.previews(&name)).unwrap().previews, []);
    server.end();
}
