use atoll_protocol::{EndReason, ProcessState};
use http::Request;
use http_body_util::Full;

use crate::harness::{Fixture, eventually, for_exit, id, run, soon};
use crate::raw::{Events, dial, post};

/// Asks for a whole answer, and hangs up when the command runs.
async fn hang_up(f: &Fixture, body: &'static str) {
    let (mut sender, open) = dial(&f.socket()).await;
    let request = Request::post("/v1/exec").header("host", "localhost").body(Full::new(body.into())).unwrap();
    let asked = tokio::spawn(async move { sender.send_request(request).await });
    eventually("the command runs", async || {
        let found = f.client.process(&id("x")).await;
        found.is_ok_and(|info| info.state == ProcessState::Running)
    })
    .await;
    drop(open);
    asked.abort();
}

#[test]
fn a_command_goes_on_when_nobody_waits_for_it() {
    run(async |f| {
        hang_up(f, r#"{"command":"until test -e /tmp/go; do sleep 0.01; done; echo done","id":"x"}"#).await;
        f.client.exec(&atoll_protocol::ExecRequest::shell("touch /tmp/go")).await.unwrap();
        let end = soon(f.client.wait(&id("x"), &for_exit())).await.unwrap().end.unwrap();
        assert_eq!((end.reason, end.code), (EndReason::Exited, Some(0)));
    });
}

#[test]
fn a_command_that_is_tied_to_its_caller_ends_with_it() {
    run(async |f| {
        hang_up(f, r#"{"command":"sleep 1000 & sleep 1000","id":"x","on_disconnect":"kill"}"#).await;
        let end = soon(f.client.wait(&id("x"), &for_exit())).await.unwrap().end.unwrap();
        assert_eq!(end.reason, EndReason::Killed);
        eventually("nothing is left", async || f.process(&id("x")).await.state == ProcessState::Ended).await;
    });
}

#[test]
fn a_streamed_command_follows_the_same_rule() {
    run(async |f| {
        let kept = r#"{"command":"echo up; sleep 1000","id":"kept"}"#;
        let tied = r#"{"command":"echo up; sleep 1000","id":"tied","on_disconnect":"kill"}"#;
        for body in [kept, tied] {
            let mut events = Events::open(&f.socket(), post("/v1/exec"), body).await;
            assert_eq!(events.next().await.unwrap().name, "start");
            assert_eq!(events.next().await.unwrap().data["data"], "up\n");
        }
        let end = soon(f.client.wait(&id("tied"), &for_exit())).await.unwrap().end.unwrap();
        assert_eq!(end.reason, EndReason::Killed);
        assert_eq!(f.process(&id("kept")).await.state, ProcessState::Running);
    });
}

#[test]
fn a_tied_command_that_ends_by_itself_keeps_what_it_left_behind() {
    run(async |f| {
        let body = r#"{"command":"sleep 1000 & echo done","id":"x","on_disconnect":"kill"}"#;
        let answer = crate::raw::ask(&f.socket(), post("/v1/exec"), body).await.json();
        assert_eq!((&answer["stdout"]["data"], &answer["end"]["survivors"]), (&"done\n".into(), &1.into()));
        assert_eq!(f.process(&id("x")).await.state, ProcessState::Lingering);
        let unnamed = atoll_protocol::ExecRequest {
            on_disconnect: atoll_protocol::OnDisconnect::Kill,
            ..atoll_protocol::ExecRequest::shell("echo whole")
        };
        let result = soon(f.client.exec(&unnamed)).await.unwrap();
        assert_eq!(result.stdout.data, "whole\n");
    });
}
