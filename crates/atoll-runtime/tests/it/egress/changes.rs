//! Rules that change while connections run, rules of single commands, and what is told of all that.

use std::time::Duration;

use atoll_isolation::Isolation;
use atoll_protocol::{DenialReason, EgressEventKind, EgressProtocol, EgressRule, NetworkPolicy};
use atoll_runtime::{Command, Error, ProcessSpec, SessionSpec};

use super::outside::Server;
use super::{assert_denied, domain, loopback, policy, reasons, sh, with};
use crate::harness::{Fixture, assert_exited, err, eventually, log_text, out, printed, soon};

in_every_mode! {
    isolated {
        new_connections_obey_at_once_and_old_ones_are_cut_off,
        a_way_out_can_be_opened_later,
        a_command_may_have_less_than_its_sandbox,
        a_session_tells_its_refusals,
        a_command_of_a_session_may_have_less_too,
        every_connection_is_accounted_for,
        many_connections_at_once,
        much_passes_exactly,
    }
    with_cgroups {
        each_command_is_known_by_its_connections,
    }
}

fn tcp(name: &str, port: u16) -> EgressRule {
    EgressRule { protocols: Some(vec![EgressProtocol::Tcp]), ..domain(name, &[port]) }
}

async fn new_connections_obey_at_once_and_old_ones_are_cut_off(f: &Fixture) {
    let outside = Server::echo().await;
    let port = outside.port;
    let both = vec![tcp("a.test", port), tcp("b.test", port), loopback(&[port])];
    let sandbox = with(f, policy(both, &["a.test", "b.test"])).await;
    let talk = |name: &str| {
        format!("exec 3<>/dev/tcp/{name}/{port}; while read -u 3 x; do echo got $x; done; echo over; read y")
    };
    let stdin = |text: String| Command { stdin: atoll_runtime::Stdin::Pipe, ..Command::shell(text) };
    let stays = sandbox.start(ProcessSpec::new(stdin(talk("a.test")))).await.unwrap();
    let goes = sandbox.start(ProcessSpec::new(stdin(talk("b.test")))).await.unwrap();
    printed(&stays, "got hello").await;
    printed(&goes, "got hello").await;
    sandbox.set_network(policy(vec![tcp("a.test", port), loopback(&[port])], &["a.test", "b.test"])).await.unwrap();
    // The one that is no longer allowed ends, the other does not notice.
    printed(&goes, "over").await;
    assert!(!log_text(&stays).await.contains("over"));
    assert_denied(&sh(&sandbox, &format!("exec 3<>/dev/tcp/b.test/{port}")).await, DenialReason::NoRule);
    assert_eq!(out(&sh(&sandbox, &format!("exec 3<>/dev/tcp/a.test/{port}; read -u 3 x; echo $x")).await), "hello\n");
    let closed = || {
        let events = sandbox.egress_events().since(0, 1000).events;
        events.into_iter().find(|event| event.reason == Some(DenialReason::PolicyChanged))
    };
    eventually("the cut is told", || closed().is_some()).await;
    assert_eq!(closed().unwrap().host.as_deref(), Some("b.test"));
    sandbox.set_network(NetworkPolicy::default()).await.unwrap();
    printed(&stays, "over").await;
    for process in [stays, goes] {
        process.kill(Duration::ZERO).await.unwrap();
    }
}

async fn a_way_out_can_be_opened_later(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let fetch = format!("curl -sS http://a.test:{port}/");
    assert_exited(&f.sh(&fetch).await, 6);
    assert!(!f.sandbox.network().open);
    let given = policy(vec![domain("a.test", &[port]), loopback(&[port])], &["a.test"]);
    let info = f.sandbox.set_network(given.clone()).await.unwrap();
    assert!(info.open && info.policy == given);
    assert_eq!(out(&f.sh(&fetch).await), "welcome\n");
    // What is not meant changes nothing.
    let bad = NetworkPolicy { allow: vec![EgressRule::default()], ..NetworkPolicy::default() };
    assert!(matches!(f.sandbox.set_network(bad).await, Err(Error::Invalid { .. })));
    assert_eq!(out(&f.sh(&fetch).await), "welcome\n");
    let refused = f.host.create(atoll_runtime::SandboxOptions {
        isolation: Isolation::None,
        network: Some(given),
        ..atoll_runtime::SandboxOptions::default()
    });
    assert!(matches!(refused.await, Err(Error::EgressUnavailable { .. })));
}

async fn a_command_may_have_less_than_its_sandbox(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let rules = vec![domain("a.test", &[port]), domain("b.test", &[port]), loopback(&[port])];
    let sandbox = with(f, policy(rules, &["a.test", "b.test", "c.test"])).await;
    let run = async |name: &str, network: Option<Vec<EgressRule>>| {
        let text = format!("curl -sS http://{name}:{port}/");
        sandbox.exec(Command { network, ..Command::shell(text) }).await.unwrap()
    };
    let only_a = || Some(vec![domain("a.test", &[port])]);
    assert_eq!(out(&run("a.test", only_a()).await), "welcome\n");
    assert_denied(&run("b.test", only_a()).await, DenialReason::CommandNotAllowed);
    assert_denied(&run("a.test", Some(Vec::new())).await, DenialReason::CommandNotAllowed);
    // It cannot have more.
    assert_denied(&run("c.test", Some(vec![domain("c.test", &[port])])).await, DenialReason::NoRule);
    assert_eq!(out(&run("b.test", None).await), "welcome\n");
    let bad = Command { network: Some(vec![EgressRule::default()]), ..Command::shell("true") };
    assert!(matches!(sandbox.exec(bad).await, Err(Error::Invalid { .. })));
}

async fn each_command_is_known_by_its_connections(f: &Fixture) {
    if !f.mode.isolated() {
        return;
    }
    let outside = Server::http().await;
    let port = outside.port;
    let rules = vec![domain("a.test", &[port]), domain("b.test", &[port]), loopback(&[port])];
    let sandbox = with(f, policy(rules, &["a.test", "b.test"])).await;
    let text = format!("for x in 1 2 3; do curl -sS -o /dev/null http://b.test:{port}/ || echo no; done");
    let narrow = Command { network: Some(vec![domain("a.test", &[port])]), ..Command::shell(text.as_str()) };
    let (narrow, wide, none) = tokio::join!(
        sandbox.exec(narrow),
        sandbox.exec(Command::shell(text.as_str())),
        sandbox.exec(Command::shell("true"))
    );
    let (narrow, wide, none) = (narrow.unwrap(), wide.unwrap(), none.unwrap());
    assert_eq!((out(&narrow).as_str(), out(&wide).as_str()), ("no\nno\nno\n", ""));
    assert_eq!(reasons(&narrow), [DenialReason::CommandNotAllowed]);
    // Each was asked for by both kinds of address.
    assert_eq!(narrow.end.denials[0].count, narrow.end.denials_count);
    assert!(narrow.end.denials_count >= 3);
    assert!(reasons(&wide).is_empty() && reasons(&none).is_empty());
}

async fn a_session_tells_its_refusals(f: &Fixture) {
    let sandbox = with(f, policy(vec![domain("a.test", &[80])], &["a.test"])).await;
    let session = sandbox.create_session(SessionSpec::default()).await.unwrap();
    let run = async |text: &str| session.exec(Command::shell(text)).await.unwrap();
    assert_denied(&run("curl -sS http://b.test/").await, DenialReason::NoRule);
    assert_eq!(reasons(&run("true").await), []);
    assert_denied(&run("curl -sS -m 5 http://10.0.0.1/").await, DenialReason::AddressNotPublic);
}

async fn every_connection_is_accounted_for(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let sandbox = with(f, policy(vec![domain("a.test", &[port]), loopback(&[port])], &["a.test"])).await;
    let spec = ProcessSpec {
        id: atoll_protocol::ProcessId::new("fetch").ok(),
        ..ProcessSpec::new(Command::shell(format!("curl -sS --data-raw {} http://a.test:{port}/", "x".repeat(1000))))
    };
    assert_exited(&sandbox.exec_with(spec, 1000).await.unwrap(), 0);
    let events = || sandbox.egress_events().since(0, 1000).events;
    eventually("the end is told", || events().iter().any(|event| event.kind == EgressEventKind::Closed)).await;
    let kinds: Vec<_> = events().iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EgressEventKind::Resolved, EgressEventKind::Opened, EgressEventKind::Closed]);
    let closed = events().pop().unwrap();
    assert_eq!(closed.rule, Some(format!("a.test:{port}")));
    assert_eq!((closed.host.as_deref(), closed.address.as_deref()), (Some("a.test"), Some("127.0.0.1")));
    assert_eq!((closed.port, closed.protocol), (Some(port), Some(EgressProtocol::Http)));
    assert_eq!(closed.command.unwrap().as_str(), "fetch");
    assert!(closed.bytes_out.unwrap() > 1000 && closed.bytes_in.unwrap() > 40);
    let totals = sandbox.network().totals;
    assert_eq!((totals.connections, totals.open, totals.names), (1, 0, 1));
    assert!(totals.bytes_out > 1000);
    let numbers: Vec<u64> = events().iter().map(|event| event.cursor).collect();
    assert_eq!(numbers, [0, 1, 2]);
    assert_eq!(sandbox.egress_events().since(2, 10).events.len(), 1);
}

async fn much_passes_exactly(f: &Fixture) {
    let outside = Server::echo().await;
    let port = outside.port;
    let sandbox = with(f, policy(vec![tcp("a.test", port), loopback(&[port])], &["a.test"])).await;
    let program = format!(
        "import hashlib, os, socket, threading\nsize = 24 << 20\ndata = os.urandom(1 << 20)\n\
         s = socket.create_connection(('a.test', {port}), 30)\nassert s.recv(6) == b'hello\\n'\n\
         def send():\n  for n in range(size >> 20): s.sendall(data)\n  s.shutdown(socket.SHUT_WR)\n\
         t = threading.Thread(target=send); t.start()\ngot = hashlib.sha256(); count = 0\n\
         while True:\n  b = s.recv(1 << 18)\n  if not b: break\n  got.update(b); count += len(b)\n\
         want = hashlib.sha256()\nfor n in range(size >> 20): want.update(data)\n\
         print(count == size, got.digest() == want.digest())"
    );
    let output = super::python(&sandbox, &program).await;
    assert_eq!(out(&output), "True True\n", "{}", err(&output));
    eventually("it is over", || sandbox.network().totals.open == 0).await;
    let totals = sandbox.network().totals;
    assert_eq!((totals.bytes_out, totals.bytes_in), (24 << 20, (24 << 20) + 6));
}

async fn many_connections_at_once(f: &Fixture) {
    let outside = Server::echo().await;
    let port = outside.port;
    let sandbox = with(f, policy(vec![tcp("a.test", port), loopback(&[port])], &["a.test"])).await;
    let program = format!(
        "import socket\nall = [socket.create_connection(('a.test', {port}), 20) for _ in range(200)]\n\
         for s in all: assert s.recv(6) == b'hello\\n'\n\
         for n, s in enumerate(all): s.sendall(str(n).encode())\n\
         for n, s in enumerate(all): assert s.recv(9) == str(n).encode()\nprint('all')"
    );
    let output = soon(super::python(&sandbox, &program)).await;
    assert_eq!(out(&output), "all\n", "{}", err(&output));
    eventually("all are over", || sandbox.network().totals.open == 0).await;
    assert_eq!(sandbox.network().totals.connections, 200);
}

async fn a_command_of_a_session_may_have_less_too(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let rules = vec![domain("a.test", &[port]), domain("b.test", &[port]), loopback(&[port])];
    let sandbox = with(f, policy(rules, &["a.test", "b.test", "c.test"])).await;
    let session = sandbox.create_session(SessionSpec::default()).await.unwrap();
    let fetch = |name: &str| format!("curl -sS http://{name}:{port}/");
    let run = async |text: &str, network: Option<Vec<EgressRule>>| {
        session.exec(Command { network, ..Command::shell(text) }).await.unwrap()
    };
    let only_a = || Some(vec![domain("a.test", &[port])]);
    assert_eq!(out(&run(&fetch("a.test"), only_a()).await), "welcome\n");
    assert_denied(&run(&fetch("b.test"), only_a()).await, DenialReason::CommandNotAllowed);
    assert_denied(&run(&fetch("a.test"), Some(Vec::new())).await, DenialReason::CommandNotAllowed);
    assert_denied(&run(&fetch("c.test"), Some(vec![domain("c.test", &[port])])).await, DenialReason::NoRule);
    // The shell itself is held to it as well, and the next command is free again at once.
    assert_denied(&run(&format!("exec 3<>/dev/tcp/b.test/{port}"), only_a()).await, DenialReason::CommandNotAllowed);
    assert_eq!(out(&run(&fetch("b.test"), None).await), "welcome\n");
    // What such a command leaves behind keeps its rules, also while another one runs.
    let left = format!("(read _ < go; {} > late 2>&1; echo done >> late) &", fetch("b.test"));
    run("mkfifo go", None).await;
    run(&left, only_a()).await;
    let output = run("echo > go; while ! grep -q done late 2> /dev/null; do sleep 0.02; done; cat late", None).await;
    assert!(!out(&output).contains("welcome") && out(&output).contains("done"), "{}", out(&output));
    assert_eq!(reasons(&output), [DenialReason::CommandNotAllowed]);
    eventually("nothing is left of it", || none_lingers(&sandbox)).await;
    assert_eq!(out(&run(&format!("wait; {}", fetch("b.test")), None).await), "welcome\n");
    let bad = Command { network: Some(vec![EgressRule::default()]), ..Command::shell("true") };
    assert!(matches!(session.exec(bad).await, Err(Error::Invalid { .. })));
}

/// Whether no command lingers.
fn none_lingers(sandbox: &atoll_runtime::Sandbox) -> bool {
    let all = sandbox.processes(&atoll_runtime::Filter::default());
    all.iter().all(|process| process.state() != atoll_protocol::ProcessState::Lingering)
}
