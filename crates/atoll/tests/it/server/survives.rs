//! The server may end at any moment, in good order or not: what runs goes on, and who follows loses nothing.

use std::time::Duration;

use atoll_client::{FollowEvent, Until};
use atoll_protocol::{
    CreateSandbox, ExecRequest, OnDisconnect, ProcessId, SandboxState, StartRequest, StopReason, TerminalId,
};

use super::{Server, sh, state, wait};
use crate::harness::{Home, Signal, kill, until};

/// A process that counts, ten times a second, until a file says that it is enough.
const COUNT: &str = "i=0; while ! [ -e enough ]; do echo $((i += 1)); sleep 0.1; done";

/// Lines 1, 2, 3 … to the end.
fn assert_counted(output: &[u8]) {
    let text = String::from_utf8(output.to_vec()).unwrap();
    let count = text.lines().count();
    assert!(count > 3, "{text}");
    assert!(text.lines().eq((1..=count).map(|number| number.to_string())), "{text}");
}

#[test]
fn killed_in_the_middle_of_streams_it_finds_everything_again() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let address = server.address;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (client, name) = (server.client(), runtime.block_on(server.sandbox()));
    let id = ProcessId::new("count").unwrap();
    let (following, agents) = runtime.block_on(async {
        let inside = client.inside(&name);
        let started = inside.start(&StartRequest { id: Some(id.clone()), ..StartRequest::shell(COUNT) }).await.unwrap();
        let mut follow = inside.follow(&id, 0, Until::End);
        // The first line has come before the server is killed.
        let first = follow.next().await.unwrap().unwrap();
        assert!(matches!(first, FollowEvent::Output(_)), "{first:?}");
        let second = inside.follow(&id, 0, Until::End);
        (tokio::spawn(async move { (second.collect().await.unwrap().0, follow.collect().await) }), started.pid)
    });
    let before = server.agents_when(1);
    server.kill();
    let server = Server::start_at(&home, address, &[]);
    assert_eq!(server.agents(), before, "the same agent");
    runtime.block_on(async {
        assert_eq!(client.find_sandbox(&name).await.unwrap().state, SandboxState::Running);
        let inside = client.inside(&name);
        assert_eq!(inside.process(&id).await.unwrap().pid, agents, "the same process");
        sh(&client, &name, "sleep 0.5; touch enough").await;
        let (whole, rest) = following.await.unwrap();
        assert_counted(&whole);
        assert!(rest.unwrap().2.end.success());
    });
    drop(runtime);
    server.end();
}

#[test]
fn asked_to_end_it_sends_streams_away_and_lets_requests_end() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let address = server.address;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (client, name) = (server.client(), runtime.block_on(server.sandbox()));
    let id = ProcessId::new("count").unwrap();
    let (following, exec) = runtime.block_on(async {
        let inside = client.inside(&name);
        inside.start(&StartRequest { id: Some(id.clone()), ..StartRequest::shell(COUNT) }).await.unwrap();
        let mut follow = inside.follow(&id, 0, Until::End);
        follow.next().await.unwrap();
        let exec = tokio::spawn({
            let inside = inside.clone();
            async move { inside.exec(&ExecRequest::shell("touch begun; sleep 1; echo whole")).await }
        });
        while sh(&client, &name, "test -e begun && echo yes || echo no").await != "yes\n" {}
        (tokio::spawn(inside.follow(&id, 0, Until::End).collect()), exec)
    });
    let agents = server.agents_when(1);
    server.signal(Signal::TERM);
    let done = server.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.took < Duration::from_secs(30), "a stream without end did not hold it up");
    assert_eq!(runtime.block_on(exec).unwrap().unwrap().stdout.data, "whole\n");
    let server = Server::start_at(&home, address, &[]);
    assert_eq!(server.agents(), agents);
    runtime.block_on(async {
        sh(&client, &name, "touch enough").await;
        assert_counted(&following.await.unwrap().unwrap().0);
    });
    drop(runtime);
    server.end();
}

#[test]
fn what_died_meanwhile_is_known_to_be_lost_and_starts_again() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    wait(sh(&server.client(), &name, "echo kept > note"));
    let agent = server.agents_when(1)[0];
    server.kill();
    kill(agent, Signal::KILL).unwrap();
    until("the agent is gone", || (!std::path::Path::new(&format!("/proc/{agent}")).exists()).then_some(()));
    let server = Server::start(&home, &[]);
    wait(async {
        let client = server.client();
        let record = client.find_sandbox(&name).await.unwrap();
        assert_eq!((record.state, record.stop_reason), (SandboxState::Stopped, Some(StopReason::HostLost)));
        assert_eq!(sh(&client, &name, "cat note").await, "kept\n");
    });
    server.end();
}

#[test]
fn a_lost_registry_is_made_again_from_the_disk() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let labels = Some([("team".to_owned(), "a".to_owned())].into());
    let asked = CreateSandbox { labels, ..server.asked() };
    let name = wait(server.client().create_sandbox(&asked)).unwrap().name;
    let agents = server.agents_when(1);
    server.kill();
    for file in ["registry.db", "registry.db-wal", "registry.db-shm"] {
        drop(std::fs::remove_file(state(&home).join(file)));
    }
    let server = Server::start(&home, &[]);
    let record = wait(server.client().find_sandbox(&name)).unwrap();
    assert_eq!((record.state, record.labels["team"].as_str()), (SandboxState::Running, "a"));
    assert_eq!(server.agents(), agents);
    wait(server.client().create_sandbox(&asked)).unwrap();
    server.end();
}

#[test]
fn a_terminal_goes_through_and_comes_back() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let address = server.address;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (client, name) = (server.client(), runtime.block_on(server.sandbox()));
    let id = TerminalId::new("t").unwrap();
    let mut attached = client.inside(&name).attach_terminal(&id, Default::default());
    let mut seen = Vec::new();
    runtime.block_on(async {
        attached.write("echo $((6*7))-before\n".into()).await.unwrap();
        see(&mut attached, &mut seen, "42-before").await;
    });
    server.kill();
    let server = Server::start_at(&home, address, &[]);
    runtime.block_on(async {
        client.inside(&name).write_terminal(&id, "echo $((6*7))-after\n".into()).await.unwrap();
        see(&mut attached, &mut seen, "42-after").await;
    });
    drop(attached);
    drop(runtime);
    server.end();
}

async fn see(attached: &mut atoll_client::Attachment, seen: &mut Vec<u8>, text: &str) {
    let looking = async {
        while !String::from_utf8_lossy(seen).contains(text) {
            if let Some(atoll_client::TerminalEvent::Output { bytes, .. }) = attached.next().await.unwrap() {
                seen.extend_from_slice(&bytes);
            }
        }
    };
    let seen = tokio::time::timeout(Duration::from_secs(20), looking).await;
    seen.unwrap_or_else(|_| panic!("{text} was not seen"));
}

/// Whatever was made when it was killed, the next one has it or makes it: one agent, and it works.
#[test]
fn killed_at_any_moment_of_a_create_there_is_one_agent_at_most() {
    let home = Home::new();
    let mut server = Server::start(&home, &[]);
    let asked = server.asked();
    let name = asked.name.clone().unwrap();
    for round in 0..12 {
        let creating = std::thread::spawn({
            let (client, asked) = (server.client().with_patience(Duration::ZERO), asked.clone());
            move || wait(client.create_sandbox(&asked)).is_ok()
        });
        std::thread::sleep(Duration::from_millis(round * 5));
        server.kill();
        creating.join().unwrap();
        server = Server::start(&home, &[]);
        wait(async {
            let client = server.client();
            client.create_sandbox(&asked).await.unwrap();
            assert_eq!(sh(&client, &name, "echo works").await, "works\n", "round {round}");
            assert_eq!(server.agents().len(), 1, "round {round}");
            client.remove_sandbox(&name).await.unwrap();
        });
        until("no agent is left", || server.agents().is_empty().then_some(()));
    }
    server.end();
}

/// Each piece comes out before the next one is sent: nothing on the way waits for more.
#[test]
fn pieces_go_through_as_they_come() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let client = server.client();
        let name = server.sandbox().await;
        let inside = client.inside(&name);
        let stdin = atoll_protocol::StdinMode::Pipe;
        let cat = inside.start(&StartRequest { stdin, ..StartRequest::shell("cat") }).await.unwrap();
        let (pieces, body) = tokio::sync::mpsc::channel::<std::io::Result<bytes::Bytes>>(1);
        let body = futures_util::stream::unfold(body, async |mut body| body.recv().await.map(|piece| (piece, body)));
        let sending = tokio::spawn({
            let (inside, id) = (inside.clone(), cat.id.clone());
            async move { inside.stream_stdin(&id, 0, body).await }
        });
        let mut follow = inside.follow(&cat.id, 0, Until::End);
        for number in 0..20 {
            let piece = format!("piece {number}\n");
            pieces.send(Ok(piece.clone().into())).await.unwrap();
            let FollowEvent::Output(output) = follow.next().await.unwrap().unwrap() else { panic!("no output") };
            assert_eq!(output.bytes, piece.as_bytes());
        }
        drop(pieces);
        sending.await.unwrap().unwrap();
        inside.close_stdin(&cat.id).await.unwrap();
        assert!(follow.collect().await.unwrap().2.end.success());
    });
    server.end();
}

#[test]
fn a_client_that_goes_away_is_known_to_be_gone() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let client = server.client();
        let name = server.sandbox().await;
        let request = ExecRequest {
            on_disconnect: OnDisconnect::Kill,
            ..ExecRequest::shell("touch begun; trap '' TERM; sleep 1000")
        };
        let inside = client.inside(&name);
        let exec = tokio::spawn(async move { inside.exec(&request).await });
        while sh(&client, &name, "test -e begun && echo yes || echo no").await != "yes\n" {}
        exec.abort();
        while sh(&client, &name, "pgrep -x sleep > /dev/null && echo alive || echo gone").await != "gone\n" {}
    });
    server.end();
}
