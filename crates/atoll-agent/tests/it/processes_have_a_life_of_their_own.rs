use std::collections::BTreeMap;

use atoll_protocol::{
    EndReason, ErrorCode, HttpCondition, KillAllRequest, KillRequest, LogCondition, PortCondition, ProcessState,
    ReadyCondition, RestartPolicy, Signal, SignalRequest, SignalScope, StartRequest, StdinMode, WaitFor, WaitRequest,
};

use crate::harness::{eventually, for_exit, for_text, id, run, soon};

fn labelled(name: &str, value: &str) -> StartRequest {
    let labels = BTreeMap::from([("group".to_owned(), value.to_owned())]);
    StartRequest { id: Some(id(name)), labels, ..StartRequest::shell("sleep 1000") }
}

#[test]
fn they_are_started_listed_killed_and_forgotten() {
    run(async |f| {
        for (name, group) in [("a", "one"), ("b", "one"), ("c", "two")] {
            let info = soon(f.client.start(&labelled(name, group))).await.unwrap();
            assert_eq!((info.state, info.pid.is_some()), (ProcessState::Running, true));
        }
        let list = async |state, labels: &BTreeMap<_, _>| {
            let list = soon(f.client.processes(state, labels)).await.unwrap();
            list.iter().map(|info| info.id.to_string()).collect::<Vec<_>>()
        };
        let one = BTreeMap::from([("group".to_owned(), "one".to_owned())]);
        assert_eq!(list(None, &BTreeMap::new()).await, ["a", "b", "c"]);
        assert_eq!(list(Some(ProcessState::Running), &one).await, ["a", "b"]);
        assert_eq!(soon(f.client.sandbox()).await.unwrap().processes, 3);
        let running = soon(f.client.remove_process(&id("a"))).await.unwrap_err();
        assert_eq!(running.to_string(), "process a is still running");
        let receipt = soon(f.client.kill_all(&KillAllRequest { labels: one, grace_ms: Some(1000) })).await.unwrap();
        assert_eq!((receipt.signalled, receipt.survivors), (2, 0));
        assert_eq!(list(Some(ProcessState::Running), &BTreeMap::new()).await, ["c"]);
        let receipt = soon(f.client.kill(&id("c"), &KillRequest::default())).await.unwrap();
        assert_eq!(receipt.survivors, 0);
        assert_eq!(f.process(&id("c")).await.end.unwrap().reason, EndReason::Killed);
        let again = soon(f.client.kill(&id("c"), &KillRequest::default())).await.unwrap();
        assert_eq!((again.signalled, again.survivors), (0, 0));
        soon(f.client.remove_process(&id("c"))).await.unwrap();
        assert_eq!(soon(f.client.process(&id("c"))).await.unwrap_err().code(), Some(ErrorCode::ProcessNotFound));
        assert_eq!(soon(f.client.kill_all(&KillAllRequest::default())).await.unwrap().signalled, 0);
    });
}

#[test]
fn the_same_start_again_finds_the_first() {
    run(async |f| {
        let first = soon(f.client.start(&labelled("a", "one"))).await.unwrap();
        let again = soon(f.client.start(&labelled("a", "one"))).await.unwrap();
        assert_eq!((first.pid, first.started_at), (again.pid, again.started_at));
        let other = soon(f.client.start(&labelled("a", "two"))).await.unwrap_err();
        assert_eq!(other.code(), Some(ErrorCode::ProcessAlreadyExists));
        let missing = StartRequest::argv(["no-such-program"]);
        assert_eq!(soon(f.client.start(&missing)).await.unwrap_err().code(), Some(ErrorCode::CommandNotFound));
    });
}

#[test]
fn signals_reach_them() {
    run(async |f| {
        let process = f.start("trap", "trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.01; done").await;
        f.printed(&process, "ready").await;
        let usr1 = SignalRequest { signal: "USR1".parse().unwrap(), scope: SignalScope::Main };
        assert_eq!(soon(f.client.signal(&process, &usr1)).await.unwrap().signalled, 1);
        let end = soon(f.client.wait(&process, &for_exit())).await.unwrap().end.unwrap();
        assert_eq!(end.code, Some(5));
        let late = SignalRequest { signal: Signal::TERM, scope: SignalScope::Tree };
        let error = soon(f.client.signal(&process, &late)).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::ProcessEnded));
    });
}

#[test]
fn they_can_be_waited_for() {
    run(async |f| {
        let request =
            StartRequest { id: Some(id("cat")), stdin: StdinMode::Pipe, ..StartRequest::shell("echo x-17; cat") };
        let cat = soon(f.client.start(&request)).await.unwrap().id;
        let found = soon(f.client.wait(&cat, &for_text("x-"))).await.unwrap().found.unwrap();
        assert_eq!((found.stream, found.cursor), (atoll_protocol::Stream::Stdout, 2));
        let regex = LogCondition { regex: Some("^x-[0-9]+$".to_owned()), ..LogCondition::default() };
        let wait = |what, timeout_ms| WaitRequest { r#for: what, timeout_ms: Some(timeout_ms) };
        let found = soon(f.client.wait(&cat, &wait(WaitFor::Log(regex), 15_000))).await.unwrap().found.unwrap();
        assert_eq!(found.line, "x-17");
        soon(f.client.wait(&cat, &wait(WaitFor::Input, 15_000))).await.unwrap();
        let in_vain = soon(f.client.wait(&cat, &wait(WaitFor::Exit, 50))).await.unwrap_err();
        assert_eq!(
            (in_vain.code(), f.process(&cat).await.state),
            (Some(ErrorCode::WaitTimeout), ProcessState::Running)
        );
        let port = PortCondition { port: 4711, http: Some(HttpCondition { path: "/".to_owned(), status: None }) };
        let for_port = wait(WaitFor::Port(port), 15_000);
        let (closed, ended) = tokio::join!(f.client.close_stdin(&cat), f.client.wait(&cat, &for_port));
        closed.unwrap();
        assert_eq!(ended.unwrap_err().code(), Some(ErrorCode::ProcessEnded));
        let neither = soon(f.client.wait(&cat, &wait(WaitFor::Log(LogCondition::default()), 1))).await.unwrap_err();
        assert_eq!(neither.to_string(), "either `text` or `regex` must be given");
    });
}

#[test]
fn they_can_be_started_again_and_become_ready() {
    run(async |f| {
        let request = StartRequest {
            id: Some(id("server")),
            restart: RestartPolicy::OnFailure { max: Some(2), backoff_ms: Some(1), backoff_max_ms: Some(2) },
            ready: Some(ReadyCondition::Log(LogCondition { text: Some("up".to_owned()), ..LogCondition::default() })),
            ..StartRequest::shell("echo up; exit 1")
        };
        soon(f.client.start(&request)).await.unwrap();
        let end = soon(f.client.wait(&id("server"), &for_exit())).await.unwrap().end.unwrap();
        assert_eq!(end.code, Some(1));
        eventually("two restarts", async || f.process(&id("server")).await.restarts == 2).await;
    });
}
