//! Opening a terminal by its id is safe to repeat and safe to race; an id whose program has ended can be used again.

use std::time::Duration;

use atoll_protocol::{ErrorCode, ProcessState, TerminalId};
use atoll_runtime::{Error, Invocation, TerminalSpec};

use crate::harness::{Fixture, all_shown, shown, soon, terminal_of, type_in};

in_every_mode! {
    many_threads {
        a_hundred_at_once_get_one,
        a_dead_ones_id_is_free,
        what_lingers_is_not_lost,
    }
    one_thread {
        a_different_program_is_refused,
        they_are_listed_and_deleted,
    }
}

fn named(id: &str, text: &str) -> TerminalSpec {
    TerminalSpec { id: Some(name(id)), ..TerminalSpec::new(Invocation::Shell(text.into())) }
}

fn name(id: &str) -> TerminalId {
    TerminalId::new(id).unwrap()
}

async fn a_hundred_at_once_get_one(f: &Fixture) {
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let sandbox = f.sandbox.clone();
        opening.spawn(async move { sandbox.open_terminal(named("one", "echo begun >> starts; cat")).await });
    }
    let mut pids = Vec::new();
    while let Some(opened) = soon(opening.join_next()).await {
        pids.push(opened.unwrap().unwrap().info().pid.unwrap());
    }
    pids.dedup();
    assert_eq!(pids.len(), 1);
    assert_eq!(f.sandbox.terminals().len(), 1);
    let terminal = f.sandbox.terminal(&name("one")).unwrap();
    type_in(&terminal, "seen\n").await;
    shown(&terminal, "seen\r\nseen").await;
    assert_eq!(f.say("cat starts").await, "begun\n");
}

async fn a_dead_ones_id_is_free(f: &Fixture) {
    let first = terminal_of(f, named("again", "echo first")).await;
    soon(first.gone()).await.unwrap();
    let second = terminal_of(f, named("again", "echo second; cat")).await;
    shown(&second, "second").await;
    assert_eq!(f.sandbox.terminals().len(), 1);
    assert_eq!(f.sandbox.terminal(&name("again")).unwrap().info().pid, second.info().pid);
    // Whoever still looks at the first one sees what it was.
    assert_eq!(all_shown(&first).await, b"first\r\n");
}

/// Its program is over, something of it lives: a new program gets the id, and the old one stays in the list.
async fn what_lingers_is_not_lost(f: &Fixture) {
    let first = terminal_of(f, named("twice", "trap '' HUP; sleep 300 & true")).await;
    soon(first.ended()).await.unwrap();
    let second = terminal_of(f, named("twice", "cat")).await;
    let states: Vec<_> = f.sandbox.terminals().iter().map(atoll_runtime::Terminal::state).collect();
    assert_eq!(states, [ProcessState::Lingering, ProcessState::Running]);
    assert_eq!(f.sandbox.terminal(&name("twice")).unwrap().info().pid, second.info().pid);
    let receipt = soon(f.sandbox.delete_terminal(&name("twice"), Duration::ZERO)).await.unwrap();
    assert!(receipt.signalled >= 2 && receipt.survivors == 0, "{receipt:?}");
    assert_eq!(f.sandbox.terminals().len(), 0);
    assert_eq!(f.alive(), [""; 0]);
}

async fn a_different_program_is_refused(f: &Fixture) {
    terminal_of(f, named("x", "cat")).await;
    let error = soon(f.sandbox.open_terminal(named("x", "sleep 300"))).await.unwrap_err();
    assert_eq!((error.code(), error.code().status()), (ErrorCode::TerminalAlreadyExists, 409));
    let mut other_size = named("x", "cat");
    other_size.size = atoll_protocol::WindowSize::new(100, 30).unwrap();
    other_size.term = "vt100".into();
    let same = terminal_of(f, other_size).await;
    assert_eq!(same.size().cols(), 80, "the size is its viewers' matter");
}

async fn they_are_listed_and_deleted(f: &Fixture) {
    terminal_of(f, named("a", "cat")).await;
    terminal_of(f, TerminalSpec::new(Invocation::Shell("cat".into()))).await;
    let listed = f.sandbox.terminals();
    assert_eq!((listed.len(), listed[0].id().as_str()), (2, "a"));
    assert_eq!(f.listed(), [], "they are no processes");
    let receipt = soon(f.sandbox.delete_terminal(&name("a"), Duration::from_secs(2))).await.unwrap();
    assert!(receipt.signalled >= 1 && receipt.survivors == 0, "{receipt:?}");
    assert!(matches!(f.sandbox.terminal(&name("a")), Err(Error::TerminalNotFound { .. })));
    let error = soon(f.sandbox.delete_terminal(&name("a"), Duration::ZERO)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TerminalNotFound);
    assert_eq!(f.sandbox.terminals().len(), 1);
}
