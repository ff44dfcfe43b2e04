//! Sandboxes made before anybody asks for them: they are what they would have been, and nothing of them is left over.

use atoll_protocol::{CreateSandbox, SandboxLimits, SandboxName, SandboxState, StartRequest};

use super::{Server, sh, state, wait};
use crate::harness::{Home, Signal, kill, skip, until};

/// How many there are for these tests.
const WARM: usize = 2;

fn warm(home: &Home) -> Server<'_> {
    let server = Server::start(home, &["--warm", &WARM.to_string()]);
    // And one without a sandbox.
    until("as many wait as were asked for", || (server.spares().len() == WARM + 1 && pool(home) == WARM).then_some(()));
    server
}

/// How many sandboxes wait.
fn pool(home: &Home) -> usize {
    std::fs::read_dir(state(home).join("pool")).map_or(0, Iterator::count)
}

#[test]
fn one_made_ahead_is_what_was_asked_for() {
    let home = Home::new();
    let server = warm(&home);
    let ahead = server.spares();
    wait(async {
        let client = server.client();
        let name = server.sandbox().await;
        // It says that it serves a moment before it lets go of the server.
        let serving = until("it serves", || server.agents().first().copied());
        assert!(ahead.contains(&serving), "an agent that waited took it");
        let told = sh(&client, &name, "hostname; cat /etc/hostname; getent hosts $(hostname); echo $ATOLL_IT").await;
        let expected = format!("{name}\n{name}\n127.0.1.1       {name}\n{}\n", home.tag);
        assert_eq!(told, expected);
        sh(&client, &name, "echo kept > note").await;
        client.stop_sandbox(&name).await.unwrap();
        assert_eq!(sh(&client, &name, "cat note; hostname").await, format!("kept\n{name}\n"), "its files are its own");
        client.remove_sandbox(&name).await.unwrap();
    });
    until("its place is taken by another", || (pool(&home) == WARM).then_some(()));
    server.end();
    assert_eq!(pool(&home), 0, "nothing of those that nobody wanted is left");
}

#[test]
fn one_with_limits_is_made_when_it_is_asked_for() {
    let home = Home::new();
    let server = warm(&home);
    let asked =
        CreateSandbox { limits: Some(SandboxLimits { pids: Some(64), ..SandboxLimits::default() }), ..server.asked() };
    wait(async {
        let client = server.client();
        match client.create_sandbox(&asked).await {
            Ok(made) => assert_eq!(made.limits.pids, Some(64)),
            Err(error) => skip(&error.to_string()),
        }
    });
    assert_eq!(pool(&home), WARM, "none of those that wait was used up");
    server.end();
}

#[test]
fn many_at_once_get_one_each() {
    let home = Home::new();
    let server = warm(&home);
    wait(async {
        let mut making = tokio::task::JoinSet::new();
        for number in 0..8 {
            let name = SandboxName::new(format!("{}-{number}", server.asked().name.unwrap())).ok();
            let (client, asked) = (server.client(), CreateSandbox { name, ..server.asked() });
            making.spawn(async move {
                let made = client.create_sandbox(&asked).await.unwrap();
                assert_eq!(made.state, SandboxState::Running);
                assert_eq!(sh(&client, &made.name, "hostname").await, format!("{}\n", made.name));
            });
        }
        making.join_all().await;
    });
    assert_eq!(server.agents().len(), 8);
    server.end();
}

#[test]
fn one_that_died_while_it_waited_is_not_given_out() {
    let home = Home::new();
    let server = warm(&home);
    for pid in server.spares() {
        kill(pid, Signal::KILL).unwrap();
    }
    wait(async {
        let name = server.sandbox().await;
        assert_eq!(sh(&server.client(), &name, "echo works").await, "works\n");
    });
    server.end();
}

#[test]
fn those_that_wait_end_with_a_killed_server_and_those_that_serve_do_not() {
    let home = Home::new();
    let server = warm(&home);
    let (name, waiting) = wait(async {
        let name = server.sandbox().await;
        server.client().inside(&name).start(&StartRequest::shell("sleep 1000")).await.unwrap();
        (name, server.spares())
    });
    server.kill();
    until("they have ended", || waiting.iter().all(|pid| !is_alive(*pid)).then_some(()));
    let server = Server::start(&home, &[]);
    wait(async {
        let found = server.client().find_sandbox(&name).await.unwrap();
        assert_eq!((found.state, found.live.unwrap().processes), (SandboxState::Running, 1));
    });
    until("their files are gone", || (pool(&home) == 0).then_some(()));
    server.end();
}

fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
