//! `atoll agent`: served in the background, and gone without a trace when it is told to end.

use std::future::Future;

use atoll_client::{Client, Until};
use atoll_protocol::{
    EndReason, ErrorCode, ExecRequest, LogCondition, SandboxState, StartRequest, WaitFor, WaitRequest,
};

use crate::crash::init_of;
use crate::harness::{Home, Signal, kill, until};

/// The agent's one line, and a client of it.
fn started(home: &Home, options: &[&str]) -> (serde_json::Value, Client) {
    let socket = home.path().join("socket");
    let spec = format!(r#"{{"name":"{}","labels":{{"a":"b"}},"env":{{"ATOLL_IT":"{}"}}}}"#, home.name(), home.tag);
    let arguments = ["agent", "--spec", "-", "--socket", socket.to_str().unwrap()];
    let done = home.atoll([&arguments[..], options].concat()).done_with(spec.into_bytes());
    assert_eq!((done.code, done.stderr().as_str()), (Some(0), ""), "{done:?}");
    assert_eq!(done.stdout().lines().count(), 1);
    (done.json(), Client::unix(socket))
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

fn pid(ready: &serde_json::Value) -> u32 {
    u32::try_from(ready["pid"].as_u64().unwrap()).unwrap()
}

/// Gone, or dead and waiting for whoever adopted it to take notice.
fn gone(ready: &serde_json::Value) -> Option<()> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid(ready)));
    stat.map_or(true, |stat| stat.contains(") Z ")).then_some(())
}

#[test]
fn it_lives_on_without_its_caller_until_it_is_deleted() {
    let home = Home::new();
    let (ready, client) = started(&home, &[]);
    assert_eq!(ready["ready"], true);
    let session = std::fs::read_to_string(format!("/proc/{}/stat", pid(&ready))).unwrap();
    let session: Vec<_> = session.rsplit(") ").next().unwrap().split(' ').collect();
    assert_eq!(session[3], pid(&ready).to_string(), "a session of its own");
    for standard in 0..3 {
        let target = std::fs::read_link(format!("/proc/{}/fd/{standard}", pid(&ready))).unwrap();
        assert_eq!(target.to_str(), Some("/dev/null"));
    }
    wait(async {
        let info = client.sandbox().await.unwrap();
        assert_eq!((info.name.as_str(), info.labels["a"].as_str()), (ready["name"].as_str().unwrap(), "b"));
        let result = client.exec(&ExecRequest::shell("echo served")).await.unwrap();
        assert_eq!(result.stdout.data, "served\n");
        client.delete_sandbox().await.unwrap();
    });
    until("the agent is gone", || gone(&ready));
    home.assert_nothing_left();
    assert!(!home.path().join("socket").exists());
}

#[test]
fn a_signal_ends_it_and_everything_in_it() {
    let home = Home::new();
    let (ready, client) = started(&home, &[]);
    wait(async {
        let request = StartRequest::shell("setsid -f sleep 1000; trap '' TERM; sleep 1000");
        client.start(&request).await.unwrap();
    });
    kill(pid(&ready), Signal::TERM).unwrap();
    until("the agent is gone", || gone(&ready));
    home.assert_nothing_left();
    assert!(!home.path().join("socket").exists());
}

#[test]
fn killed_without_warning_it_leaves_nothing_that_runs() {
    let home = Home::new();
    let (ready, client) = started(&home, &[]);
    wait(async { client.start(&StartRequest::shell("sleep 1000")).await.unwrap() });
    kill(pid(&ready), Signal::KILL).unwrap();
    home.assert_nothing_left();
}

#[test]
fn a_sandbox_that_is_lost_says_so_and_is_still_read() {
    let home = Home::new();
    let (ready, client) = started(&home, &[]);
    let process = wait(async {
        let process = client.start(&StartRequest::shell("echo words; sleep 1000")).await.unwrap().id;
        let found = LogCondition { text: Some("words".to_owned()), ..LogCondition::default() };
        client.wait(&process, &WaitRequest { r#for: WaitFor::Log(found), timeout_ms: None }).await.unwrap();
        process
    });
    kill(init_of(pid(&ready)), Signal::KILL).unwrap();
    wait(async {
        let (stdout, _, end) = client.follow(&process, 0, Until::End).collect().await.unwrap();
        assert_eq!((stdout.as_slice(), end.end.reason), (&b"words\n"[..], EndReason::HostLost));
        assert_eq!(client.sandbox().await.unwrap().state, SandboxState::Lost);
        let refused = client.exec(&ExecRequest::shell("true")).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::SandboxGone));
        client.delete_sandbox().await.unwrap();
    });
    until("the agent is gone", || gone(&ready));
    home.assert_nothing_left();
}

#[test]
fn what_cannot_be_is_refused_before_it_goes_into_the_background() {
    let home = Home::new();
    let socket = home.path().join("socket");
    let socket = socket.to_str().unwrap();
    let call = |spec: &str| {
        let call = home.atoll(["agent", "--socket", socket, "--spec", "-"]);
        call.done_with(spec.as_bytes().to_vec())
    };
    let unknown = call(r#"{"nmae":"x"}"#);
    assert_eq!(unknown.code, Some(125));
    assert!(unknown.stderr().starts_with("error: -: unknown field `nmae`"), "{unknown:?}");
    let variable = call(r#"{"env":{"A=B":"x"}}"#);
    assert_eq!((variable.code, variable.stderr().as_str()), (Some(125), "error: `A=B` is no name for a variable\n"));
    let nowhere = home.atoll(["agent", "--socket", "/nowhere/socket"]).done();
    assert_eq!(nowhere.code, Some(125));
    assert!(nowhere.stderr().starts_with("error: cannot listen on /nowhere/"), "{nowhere:?}");
    home.assert_nothing_left();
}

#[test]
fn it_can_stay_in_the_foreground_and_speak_tcp() {
    let home = Home::new();
    let token = home.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123456789abcdef\n").unwrap();
    let socket = home.path().join("socket");
    let arguments = ["agent", "--foreground", "--tcp", "127.0.0.1:0", "--token-file", token.to_str().unwrap()];
    let mut running = home.atoll([&arguments[..], &["--socket", socket.to_str().unwrap()]].concat()).start();
    let ready: serde_json::Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(pid(&ready), running.pid());
    let client = Client::tcp(ready["tcp"].as_str().unwrap(), "0123456789abcdef0123456789abcdef").unwrap();
    wait(async { assert!(client.exec(&ExecRequest::shell("true")).await.unwrap().end.success()) });
    running.signal(Signal::INT);
    assert_eq!(running.done().code, Some(0));
    home.assert_nothing_left();
}
