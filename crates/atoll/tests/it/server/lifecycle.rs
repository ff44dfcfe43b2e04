//! Sandboxes by name: made once, stopped, started, paused, put to sleep, deleted.

use std::collections::BTreeMap;
use std::time::Duration;

use atoll_protocol::{
    CreateSandbox, ErrorCode, ExecRequest, PatchSandbox, SandboxName, SandboxState, StartRequest, StopReason,
};
use tokio::task::JoinSet;

use super::{Server, sh, wait};
use crate::crash::init_of;
use crate::harness::{Home, Signal, kill, skip, until};

#[test]
fn files_outlive_a_stop_and_nothing_outlives_a_delete() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let client = server.client();
        let name = server.sandbox().await;
        sh(&client, &name, "echo kept > note; echo kept > /etc/kept").await;
        client.inside(&name).start(&StartRequest::shell("sleep 1000")).await.unwrap();
        let stopped = client.stop_sandbox(&name).await.unwrap();
        assert_eq!((stopped.state, stopped.stop_reason), (SandboxState::Stopped, Some(StopReason::Asked)));
        assert_eq!(server.agents(), [0; 0]);
        assert_eq!(client.find_sandbox(&name).await.unwrap().state, SandboxState::Stopped, "a look starts nothing");
        assert_eq!(sh(&client, &name, "cat note /etc/kept").await, "kept\nkept\n", "the next use starts it");
        let found = client.find_sandbox(&name).await.unwrap();
        assert_eq!((found.state, found.live.unwrap().processes), (SandboxState::Running, 0));
        client.remove_sandbox(&name).await.unwrap();
        let gone = client.find_sandbox(&name).await.unwrap_err();
        assert_eq!(gone.code(), Some(ErrorCode::SandboxNotFound));
    });
    server.end();
}

#[test]
fn of_fifty_creates_at_once_one_makes_it() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let asked = server.asked();
    wait(async {
        let mut creates = JoinSet::new();
        for _ in 0..50 {
            let (client, asked) = (server.client(), asked.clone());
            creates.spawn(async move { client.create_sandbox(&asked).await.unwrap().created_at });
        }
        let mut times = creates.join_all().await;
        times.dedup();
        assert_eq!(times.len(), 1, "all got the same one");
    });
    assert_eq!(server.agents().len(), 1);
    server.end();
}

/// Whatever meets whatever: an answer is right or says that there is no such sandbox, and the last word counts.
#[test]
fn creates_deletes_and_execs_of_one_name_never_mix() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let asked = server.asked();
    let name = asked.name.clone().unwrap();
    wait(async {
        let mut all = JoinSet::new();
        for turn in 0..50 {
            let (client, asked, name) = (server.client(), asked.clone(), name.clone());
            all.spawn(async move {
                let done = match turn % 5 {
                    0 | 3 => client.create_sandbox(&asked).await.map(drop),
                    1 => client.remove_sandbox(&name).await,
                    _ => match client.inside(&name).exec(&ExecRequest::shell("echo $((6 * 7))")).await {
                        Ok(result) if result.end.success() => {
                            assert_eq!(result.stdout.data, "42\n");
                            Ok(())
                        }
                        // It was deleted under the command.
                        Ok(_) => Ok(()),
                        Err(error) => Err(error),
                    },
                };
                let fine = [ErrorCode::SandboxNotFound, ErrorCode::SandboxGone, ErrorCode::AgentUnavailable];
                let code = done.as_ref().err().map(|error| error.code());
                assert!(code.is_none_or(|code| code.is_some_and(|code| fine.contains(&code))), "{turn}: {done:?}");
            });
        }
        all.join_all().await;
        server.client().create_sandbox(&asked).await.unwrap();
        assert_eq!(sh(&server.client(), &name, "echo still here").await, "still here\n");
    });
    assert_eq!(server.agents().len(), 1);
    server.end();
}

#[test]
fn asking_for_other_options_is_refused_with_a_list() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let (client, asked) = (server.client(), server.asked());
        client.create_sandbox(&asked).await.unwrap();
        client.create_sandbox(&CreateSandbox { env: None, ..asked.clone() }).await.unwrap();
        let mut other = CreateSandbox { keep_alive: Some(true), ..asked.clone() };
        other.env.as_mut().unwrap().insert("SECRET".to_owned(), "sesame".to_owned());
        let refused = client.create_sandbox(&other).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::SandboxDiffers));
        let told = format!("{refused:?}");
        assert!(told.contains("keep_alive") && told.contains("env.SECRET") && !told.contains("sesame"), "{told}");
        let unavailable = CreateSandbox { name: Some(SandboxName::new(home.name()).unwrap()), ..Default::default() };
        let limits = Some(atoll_protocol::SandboxLimits { memory_bytes: Some(1), ..Default::default() });
        let refused = client.create_sandbox(&CreateSandbox { limits, ..unavailable }).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::ValidationFailed), "the agent's own words: {refused:?}");
    });
    server.end();
}

/// Without a wall, a sandbox's files are below the state of the server, which is closed to others.
#[test]
fn another_user_without_a_wall_is_refused_with_the_reason() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let client = server.client();
        let asked = CreateSandbox { isolation: Some(atoll_protocol::Isolation::None), ..server.asked() };
        let name = client.create_sandbox(&asked).await.unwrap().name;
        let inside = client.inside(&name);
        let as_nobody =
            |cwd: Option<String>| ExecRequest { user: Some("nobody".to_owned()), cwd, ..ExecRequest::shell("id -un") };
        let refused = inside.exec(&as_nobody(None)).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::CwdNotFound), "{refused}");
        assert!(format!("{refused:?}").contains("may enter"), "{refused:?}");
        let told = inside.exec(&as_nobody(Some("/".to_owned()))).await.unwrap();
        assert_eq!(told.stdout.data, "nobody\n", "elsewhere it may");
    });
    server.end();
}

#[test]
fn labels_find_a_sandbox_and_can_be_changed() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let client = server.client();
        let label = |value: &str| BTreeMap::from([("team".to_owned(), value.to_owned())]);
        for team in ["a", "b", "b"] {
            client.create_sandbox(&CreateSandbox { labels: Some(label(team)), ..server.asked() }).await.unwrap();
        }
        assert_eq!(client.list_sandboxes(&label("b"), None).await.unwrap().sandboxes.len(), 2);
        let all = client.list_sandboxes(&BTreeMap::new(), None).await.unwrap().sandboxes;
        let behind = client.list_sandboxes(&BTreeMap::new(), Some(&all[0].name)).await.unwrap().sandboxes;
        assert_eq!(behind[..], all[1..]);
        let labels = BTreeMap::from([("team".to_owned(), None)]);
        let changed = PatchSandbox { labels, sleep_after_ms: Some(60_000), keep_alive: Some(true) };
        let record = client.change_sandbox(&all[0].name, &changed).await.unwrap();
        assert_eq!((record.labels.len(), record.sleep_after_ms, record.keep_alive), (0, Some(60_000), true));
        assert_eq!(client.list_sandboxes(&label("a"), None).await.unwrap().sandboxes, []);
    });
    server.end();
}

#[test]
fn a_paused_sandbox_can_be_looked_at_and_goes_on() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let client = server.client();
        let name = server.sandbox().await;
        match client.pause_sandbox(&name).await {
            Ok(paused) => assert_eq!(paused.state, SandboxState::Paused),
            Err(error) if error.code() == Some(ErrorCode::PauseUnavailable) => return skip(&error.to_string()),
            Err(error) => panic!("{error}"),
        }
        client.inside(&name).processes(None, &BTreeMap::new()).await.unwrap();
        let refused = client.inside(&name).exec(&ExecRequest::shell("true")).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::SandboxPaused));
        client.resume_sandbox(&name).await.unwrap();
        assert_eq!(sh(&client, &name, "echo on").await, "on\n");
        client.pause_sandbox(&name).await.unwrap();
    });
    server.end();
}

#[test]
fn one_that_nobody_uses_sleeps_but_not_while_something_runs_in_it() {
    let home = Home::new();
    let server = Server::start(&home, &["--sleep-after", "300ms"]);
    let name = wait(async {
        let client = server.client();
        let name = server.sandbox().await;
        let process = client.inside(&name).start(&StartRequest::shell("sleep 1000")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(900)).await;
        assert_eq!(server.agents().len(), 1, "a process runs inside");
        client.inside(&name).kill(&process.id, &Default::default()).await.unwrap();
        name
    });
    until("it sleeps", || server.agents().is_empty().then_some(()));
    until("that is known", || {
        let record = wait(server.client().find_sandbox(&name)).unwrap();
        (record.stop_reason == Some(StopReason::Idle)).then_some(())
    });
    assert_eq!(wait(sh(&server.client(), &name, "echo awake")), "awake\n");
    server.end();
}

#[test]
fn one_whose_agent_was_killed_is_started_by_its_next_use() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    wait(sh(&server.client(), &name, "echo kept > note"));
    let agent = server.agents()[0];
    kill(agent, Signal::KILL).unwrap();
    until("the agent is gone", || server.agents().is_empty().then_some(()));
    assert_eq!(wait(sh(&server.client(), &name, "cat note")), "kept\n");
    assert_eq!(server.agents().len(), 1);
    server.end();
}

/// Init is killed from outside, its agent lives: the sandbox is of no use, and the next use but one gets a new one.
#[test]
fn one_whose_init_was_killed_is_started_again() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    wait(sh(&server.client(), &name, "echo kept > note"));
    let agent = server.agents()[0];
    kill(init_of(agent), Signal::KILL).unwrap();
    until("it works again", || {
        let result = wait(server.client().inside(&name).exec(&ExecRequest::shell("cat note")));
        result.ok().filter(|result| result.stdout.data == "kept\n")
    });
    until("there is another agent", || (server.agents() != [agent]).then_some(()));
    assert_eq!(server.agents().len(), 1);
    server.end();
}
