use std::collections::BTreeMap;

use atoll_client::ExecEvent;
use atoll_protocol::{
    Encoding, EndReason, ErrorCode, ExecRequest, ForkRequest, KillRequest, ProcessState, RestartFrom, SessionId,
    SessionRequest, SessionState, StartRequest,
};

use crate::harness::{Fixture, eventually, for_exit, id, run, soon};
use crate::raw::{Events, ask, get, post};

fn session_id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

/// A session with this id.
async fn session(f: &Fixture, name: &str) -> SessionId {
    let request = SessionRequest { id: Some(session_id(name)), ..SessionRequest::default() };
    soon(f.client.create_session(&request)).await.unwrap().id
}

/// What a shell string prints in a session.
async fn sh(f: &Fixture, session: &SessionId, text: &str) -> String {
    soon(f.client.session_exec(session, &ExecRequest::shell(text))).await.unwrap().stdout.data
}

#[test]
fn what_a_command_changes_is_there_for_the_next() {
    run(async |f| {
        let s = session(f, "s").await;
        sh(f, &s, "cd /tmp; export MODE=fast; greet() { echo hello $1; }; trap 'echo $1' USR1").await;
        assert_eq!(sh(f, &s, "greet $MODE; pwd").await, "hello fast\n/tmp\n");
        let mut once = ExecRequest::shell("echo $MODE in $PWD; cat");
        once.env = BTreeMap::from([("MODE".to_owned(), Some("slow".to_owned()))]);
        (once.cwd, once.stdin) = (Some("/".to_owned()), Some("input".to_owned()));
        assert_eq!(soon(f.client.session_exec(&s, &once)).await.unwrap().stdout.data, "slow in /\ninput");
        assert_eq!(sh(f, &s, "echo $MODE").await, "fast\n");
        let info = soon(f.client.session(&s)).await.unwrap();
        assert_eq!((info.state, info.cwd.as_str(), info.resets), (SessionState::Ready, "/tmp", 0));
        assert_eq!(soon(f.client.sessions()).await.unwrap().len(), 1);
    });
}

#[test]
fn a_session_is_made_once_and_found_only_if_it_was_made() {
    run(async |f| {
        let s = session(f, "s").await;
        let refused = async |path: &str, body: &str| ask(&f.socket(), post(path), body.to_owned()).await.refusal();
        let (status, code, _) = refused("/v1/sessions", r#"{"id":"s"}"#).await;
        assert_eq!((status, code.as_str()), (409, "SESSION_ALREADY_EXISTS"));
        for path in ["exec", "commands", "processes"] {
            let (status, code, _) = refused(&format!("/v1/sessions/none/{path}"), r#"{"command":"true"}"#).await;
            assert_eq!((status, code.as_str()), (404, "SESSION_NOT_FOUND"), "{path}");
        }
        for path in ["interrupt", "kill", "restart", "fork"] {
            let (status, code, _) = refused(&format!("/v1/sessions/none/{path}"), "").await;
            assert_eq!((status, code.as_str()), (404, "SESSION_NOT_FOUND"), "{path}");
        }
        let missing = ask(&f.socket(), get("/v1/sessions/none/snapshot"), "").await;
        assert_eq!(missing.refusal().1, "SESSION_NOT_FOUND");
        soon(f.client.delete_session(&s)).await.unwrap();
        assert_eq!(soon(f.client.session(&s)).await.unwrap_err().code(), Some(ErrorCode::SessionNotFound));
        session(f, "s").await;
    });
}

#[test]
fn what_a_session_cannot_have_is_refused_by_name() {
    run(async |f| {
        let s = session(f, "s").await;
        let refused = async |request: ExecRequest| soon(f.client.session_exec(&s, &request)).await.unwrap_err();
        let other = refused(ExecRequest { user: Some("nobody".to_owned()), ..ExecRequest::shell("true") }).await;
        assert_eq!(other.code(), Some(ErrorCode::ValidationFailed));
        assert_eq!(other.to_string(), "a command of a session runs as the session's user");
        let memory = refused(ExecRequest { memory_bytes: Some(1 << 30), ..ExecRequest::shell("true") }).await;
        assert_eq!(memory.to_string(), "a command of a session has no memory limit of its own");
        let body = r#"{"command":"true","restart":{"on_failure":{}}}"#;
        let (_, code, message) = ask(&f.socket(), post("/v1/sessions/s/commands"), body).await.refusal();
        assert_eq!(
            (code.as_str(), message.as_str()),
            ("VALIDATION_FAILED", "a command of a session is not restarted and has no readiness")
        );
        let bad = ask(&f.socket(), post("/v1/sessions"), r#"{"options":["no such"]}"#).await.refusal();
        assert_eq!(bad.1, "VALIDATION_FAILED");
        let unknown = ask(&f.socket(), post("/v1/sessions"), r#"{"shell":"zsh"}"#).await.refusal();
        assert!(unknown.2.starts_with("shell: unknown field `shell`"), "{}", unknown.2);
    });
}

#[test]
fn commands_wait_in_order_and_can_be_cancelled() {
    run(async |f| {
        let s = session(f, "s").await;
        let queue = async |name: &str, command: &str| {
            let request = StartRequest { id: Some(id(name)), ..StartRequest::shell(command) };
            soon(f.client.session_queue(&s, &request)).await.unwrap()
        };
        queue("first", "until test -e /tmp/go; do sleep 0.01; done; echo first").await;
        let second = queue("second", "echo second").await;
        let third = queue("third", "echo third").await;
        assert_eq!((second.state, third.session), (ProcessState::Starting, Some(s.clone())));
        eventually("two wait", async || f.client.session(&s).await.unwrap().queued == 2).await;
        assert!(soon(f.client.session_cancel(&s, &id("second"))).await.unwrap());
        queue("fourth", "touch /tmp/never").await;
        let receipt = soon(f.client.kill(&id("fourth"), &KillRequest::default())).await.unwrap();
        assert_eq!((receipt.signalled, receipt.survivors), (0, 0), "a kill takes it out of the queue, too");
        let gone = soon(f.client.process(&id("second"))).await.unwrap_err();
        assert_eq!(gone.code(), Some(ErrorCode::ProcessNotFound), "a command that never ran leaves nothing");
        assert!(!soon(f.client.session_cancel(&s, &id("first"))).await.unwrap(), "it has begun");
        let stranger = f.start("stranger", "true").await;
        let refused = soon(f.client.session_cancel(&s, &stranger)).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::ProcessNotFound));
        soon(f.client.exec(&ExecRequest::shell("touch /tmp/go"))).await.unwrap();
        let follow = f.client.follow(&id("third"), 0, atoll_client::Until::End);
        assert_eq!(soon(follow.collect()).await.unwrap().0, b"third\n");
    });
}

#[test]
fn a_stream_tells_a_sessions_command_and_can_be_resumed() {
    run(async |f| {
        let s = session(f, "s").await;
        let body = r#"{"command":"X=1; echo one; echo two","id":"x"}"#;
        let mut events = Events::open(&f.socket(), post("/v1/sessions/s/exec"), body).await;
        let all = events.rest().await;
        assert_eq!(all.first().unwrap().name, "start");
        let end = all.last().unwrap();
        assert_eq!((end.name.as_str(), end.data["stdout"]["data"].as_str()), ("end", Some("one\ntwo\n")));
        let again = post("/v1/sessions/s/exec").header("last-event-id", "4");
        let rest = Events::open(&f.socket(), again, body).await.rest().await;
        assert!(rest.iter().any(|event| event.data["data"] == "two\n"), "{rest:?}");
        let mut stream = f.client.session_exec_stream(&s, ExecRequest::shell("echo $X; exit 5")).unwrap();
        let mut last = None;
        while let Some(event) = soon(stream.next()).await.unwrap() {
            last = Some(event);
        }
        let Some(ExecEvent::End(result)) = last else { panic!("no end") };
        assert_eq!((result.end.reason, result.stdout.data.as_str()), (EndReason::ShellExited, "MQo="));
    });
}

#[test]
fn a_command_is_ended_and_the_session_lives_on() {
    run(async |f| {
        let s = session(f, "s").await;
        assert!(!soon(f.client.session_interrupt(&s)).await.unwrap(), "nothing runs");
        let begin = async |name: &str| {
            // A process of its own says so: the shell alone would have none to be killed yet.
            let text = "X=kept; sh -c 'echo up; exec sleep 1000'";
            let request = StartRequest { id: Some(id(name)), ..StartRequest::shell(text) };
            soon(f.client.session_queue(&s, &request)).await.unwrap();
            f.printed(&id(name), "up").await;
        };
        begin("interrupted").await;
        assert!(soon(f.client.session_interrupt(&s)).await.unwrap());
        let end = soon(f.client.wait(&id("interrupted"), &for_exit())).await.unwrap().end.unwrap();
        assert_eq!((end.reason, end.signal.map(|signal| signal.number())), (EndReason::Killed, Some(2)));
        begin("killed").await;
        let receipt = soon(f.client.session_kill(&s, &KillRequest::default())).await.unwrap();
        assert!(receipt.signalled > 0 && receipt.survivors == 0, "{receipt:?}");
        let mut slow = ExecRequest::shell("sleep 1000");
        slow.timeout_ms = Some(100);
        let result = soon(f.client.session_exec(&s, &slow)).await.unwrap();
        assert_eq!((result.end.reason, result.session_reset), (EndReason::Timeout, false));
        assert_eq!(sh(f, &s, "echo $X").await, "kept\n");
    });
}

#[test]
fn a_dead_session_says_how_it_died_until_it_is_restarted() {
    run(async |f| {
        let s = session(f, "s").await;
        sh(f, &s, "X=1").await;
        soon(f.client.session_snapshot(&s)).await.unwrap();
        let result = soon(f.client.session_exec(&s, &ExecRequest::shell("echo last; exit 3"))).await.unwrap();
        assert_eq!((result.end.reason, result.end.code), (EndReason::ShellExited, Some(3)));
        for path in ["exec", "commands", "processes"] {
            let request = post(&format!("/v1/sessions/s/{path}"));
            let answer = ask(&f.socket(), request, r#"{"command":"true"}"#).await;
            assert_eq!((answer.status.as_u16(), answer.refusal().1.as_str()), (410, "SESSION_TERMINATED"), "{path}");
            let end = &answer.json()["error"]["details"]["end"];
            assert_eq!((&end["reason"], &end["code"]), (&"shell_exited".into(), &3.into()), "{path}");
        }
        let streamed = post("/v1/sessions/s/exec").header("accept", "text/event-stream");
        let answer = ask(&f.socket(), streamed, r#"{"command":"true"}"#).await;
        assert_eq!(answer.refusal().1, "SESSION_TERMINATED", "a refusal, not a stream that begins");
        let back = soon(f.client.session_restart(&s, RestartFrom::Snapshot)).await.unwrap();
        assert_eq!((back.state, back.end), (SessionState::Ready, None));
        assert_eq!(sh(f, &s, "echo ${X-unset}").await, "1\n");
        let alive = soon(f.client.session_restart(&s, RestartFrom::Nothing)).await.unwrap_err();
        assert_eq!(alive.code(), Some(ErrorCode::SessionAlive));
        sh(f, &s, "exit").await;
        soon(f.client.session_restart(&s, RestartFrom::Nothing)).await.unwrap();
        assert_eq!(sh(f, &s, "echo ${X-unset}").await, "unset\n");
    });
}

#[test]
fn a_snapshot_tells_everything_and_bytes_exactly() {
    run(async |f| {
        let s = session(f, "s").await;
        sh(
            f,
            &s,
            r#"cd /tmp; umask 027; set -o pipefail; shopt -s extglob; set -- one "two words"; alias ll='ls -l'
               export MODE=fast; declare -i N=7; LIST=(a "b c"); ODD=$'\xff'; declare -r FIXED=1
               greet() { echo hi; }; trap 'echo bye' INT; ulimit -Sn 512; exec 7</dev/null"#,
        )
        .await;
        let snapshot = soon(f.client.session_snapshot(&s)).await.unwrap();
        let variable = |name: &str| snapshot.variables.iter().find(|variable| variable.name == name).unwrap();
        let value = |name: &str| variable(name).value.as_ref().unwrap();
        assert_eq!((snapshot.cwd.data.as_str(), snapshot.umask.as_str()), ("/tmp", "0027"));
        assert_eq!(snapshot.env["MODE"].data, "fast");
        assert_eq!((value("N").data.as_str(), variable("N").attributes.as_str()), ("7", "i"));
        assert_eq!((variable("LIST").attributes.as_str(), variable("LIST").value.as_ref()), ("a", None));
        assert_eq!(variable("LIST").assignment.as_ref().unwrap().data, r#"([0]="a" [1]="b c")"#);
        assert_eq!((value("ODD").data.as_str(), value("ODD").encoding), ("/w==", Encoding::Base64));
        assert!(variable("FIXED").attributes.contains('r'));
        assert_eq!(snapshot.functions[0].name.data, "greet");
        assert_eq!((snapshot.aliases[0].name.data.as_str(), snapshot.aliases[0].value.data.as_str()), ("ll", "ls -l"));
        assert!(snapshot.options.contains("pipefail") && snapshot.shell_options.contains("extglob"));
        assert_eq!((snapshot.traps[0].on.as_str(), snapshot.traps[0].action.data.as_str()), ("SIGINT", "echo bye"));
        assert_eq!(snapshot.positional[1].data, "two words");
        let files = snapshot.limits.iter().find(|limit| limit.resource == "nofile").unwrap();
        assert_eq!(files.soft, Some(512));
        assert_eq!((snapshot.not_carried.descriptors, snapshot.not_carried.jobs), (vec![7], false));
    });
}

#[test]
fn copies_and_processes_begin_with_what_the_session_holds() {
    run(async |f| {
        let s = session(f, "s").await;
        sh(f, &s, "cd /tmp; X=1; show() { echo $X in $PWD; }").await;
        let request = ForkRequest { id: Some(session_id("copy")) };
        let copy = soon(f.client.session_fork(&s, &request)).await.unwrap().id;
        sh(f, &copy, "X=2").await;
        assert_eq!((sh(f, &copy, "show").await, sh(f, &s, "show").await), ("2 in /tmp\n".into(), "1 in /tmp\n".into()));
        let taken = soon(f.client.session_fork(&s, &request)).await.unwrap_err();
        assert_eq!(taken.code(), Some(ErrorCode::SessionAlreadyExists));
        let made_up = soon(f.client.session_fork(&s, &ForkRequest::default())).await.unwrap();
        assert_ne!(made_up.id, s);
        let request = StartRequest { id: Some(id("p")), ..StartRequest::shell("X=3; show; exit 4") };
        let process = soon(f.client.session_start(&s, &request)).await.unwrap();
        assert_eq!(process.session, Some(s.clone()));
        let (stdout, _, end) = soon(f.client.follow(&id("p"), 0, atoll_client::Until::End).collect()).await.unwrap();
        assert_eq!((stdout.as_slice(), end.end.code), (&b"3 in /tmp\n"[..], Some(4)));
        assert_eq!(sh(f, &s, "show").await, "1 in /tmp\n", "nothing is written back");
    });
}

#[test]
fn a_deleted_session_takes_everything_with_it() {
    run(async |f| {
        let s = session(f, "s").await;
        sh(f, &s, "sleep 1000 & disown").await;
        let request = StartRequest { id: Some(id("p")), ..StartRequest::shell("sleep 1000") };
        soon(f.client.session_start(&s, &request)).await.unwrap();
        let request = StartRequest { id: Some(id("busy")), ..StartRequest::shell("echo up; sleep 1000") };
        soon(f.client.session_queue(&s, &request)).await.unwrap();
        f.printed(&id("busy"), "up").await;
        soon(f.client.delete_session(&s)).await.unwrap();
        let alive = soon(f.client.exec(&ExecRequest::shell("pgrep -c sleep"))).await.unwrap();
        assert_eq!(alive.stdout.data, "0\n");
    });
}

#[test]
fn a_caller_who_hangs_up_ends_the_command_only_if_it_said_so() {
    run(async |f| {
        let s = session(f, "s").await;
        let running = r#"{"command":"X=kept; echo up; sleep 1000","id":"running","on_disconnect":"kill"}"#;
        let waiting = r#"{"command":"touch /tmp/never","id":"waiting","on_disconnect":"kill"}"#;
        let mut first = Events::open(&f.socket(), post("/v1/sessions/s/exec"), running).await;
        assert_eq!(first.next().await.unwrap().name, "start");
        assert_eq!(first.next().await.unwrap().data["data"], "up\n");
        let mut second = Events::open(&f.socket(), post("/v1/sessions/s/exec"), waiting).await;
        assert_eq!(second.next().await.unwrap().data["state"], "starting");
        drop(second);
        eventually("it waits no more", async || f.client.session(&s).await.unwrap().queued == 0).await;
        drop(first);
        let end = soon(f.client.wait(&id("running"), &for_exit())).await.unwrap().end.unwrap();
        assert_eq!(end.reason, EndReason::Killed);
        assert_eq!(sh(f, &s, "echo $X; ls /tmp").await, "kept\n");
    });
}
