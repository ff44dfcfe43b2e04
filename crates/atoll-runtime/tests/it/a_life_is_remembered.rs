//! Kept storage: what ran in an earlier life of a sandbox is there in the next one, with its output, and is not run again.

use std::path::{Path, PathBuf};

use atoll_protocol::{EndReason, ProcessState, SessionId, SessionState, Signal, TerminalId};
use atoll_runtime::{
    Command, Error, Filter, Invocation, Log, LogEvent, ProcessSpec, Retention, Sandbox, SessionSpec, StartFrom,
    Storage, TerminalSpec,
};

use crate::harness::{Fixture, eventually, id, named, out, printed, read_log, soon};

in_every_mode! {
    one_thread {
        an_ended_process_is_there_again,
        what_ran_when_it_was_stopped_says_so,
        the_same_id_is_not_run_again,
        a_lingering_command_keeps_its_end,
        a_short_exec_leaves_nothing,
        an_exec_that_was_not_told_whole_is_there_again,
        what_is_removed_or_pruned_takes_its_files_with_it,
        a_terminal_is_there_again_with_its_bytes,
        a_session_is_restarted_from_what_it_held,
        a_dead_session_stays_dead_and_a_deleted_one_is_gone,
        a_damaged_journal_is_no_reason_not_to_start,
        what_lived_when_the_agent_died_is_lost,
    }
}

/// A place for a kept directory, removed in the end.
fn place() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("kept");
    (parent, path)
}

async fn over(f: &Fixture, path: &Path) -> Sandbox {
    let mut options = f.options();
    options.storage = Storage::Kept(path.to_owned());
    soon(f.host.create(options)).await.unwrap()
}

/// Ends one life in good order and begins the next.
async fn again(f: &Fixture, path: &Path, sandbox: Sandbox) -> Sandbox {
    soon(sandbox.destroy()).await.unwrap();
    drop(sandbox);
    eventually("it has let go", || std::fs::File::open(path.join("lock")).unwrap().try_lock().is_ok()).await;
    over(f, path).await
}

fn numbers(dir: &Path) -> usize {
    std::fs::read_dir(dir).map_or(0, Iterator::count)
}

async fn stdout(log: &Log) -> String {
    String::from_utf8(read_log(log, 0).await.0).unwrap()
}

async fn an_ended_process_is_there_again(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    let mut spec = named("build", Command::shell("echo out; echo err >&2; seq 200000; exit 3"));
    spec.labels.insert("job".into(), "demo".into());
    let before = soon(sandbox.start(spec)).await.unwrap();
    soon(before.gone()).await.unwrap();
    let (info, output) = (before.info(), read_log(before.log(), 0).await);
    let sandbox = again(f, &path, sandbox).await;
    let after = sandbox.process(&id("build")).unwrap();
    assert_eq!(after.info(), info);
    assert_eq!(read_log(after.log(), 0).await, output);
    assert_eq!(read_log(after.log(), 1_000_000).await, read_log(before.log(), 1_000_000).await);
    assert!(after.log().is_closed() && after.log().degraded().is_none());
    let filter = Filter { labels: [("job".to_owned(), "demo".to_owned())].into(), ..Filter::default() };
    assert_eq!(sandbox.processes(&filter).len(), 1);
    assert_eq!(soon(after.ended()).await.unwrap().code, Some(3));
    assert!(matches!(
        soon(after.signal(Signal::TERM, atoll_runtime::SignalScope::Main)).await,
        Err(Error::ProcessEnded { .. })
    ));
    soon(sandbox.destroy()).await.unwrap();
}

async fn what_ran_when_it_was_stopped_says_so(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    let process = soon(sandbox.start(ProcessSpec::new(Command::shell("echo begun; sleep 300")))).await.unwrap();
    printed(&process, "begun").await;
    let sandbox = again(f, &path, sandbox).await;
    let after = sandbox.process(process.id()).unwrap();
    let end = after.end().unwrap();
    assert_eq!(
        (after.state(), end.reason, end.code, end.signal),
        (ProcessState::Ended, EndReason::SandboxStopped, None, None)
    );
    assert_eq!(stdout(after.log()).await, "begun\n");
    soon(sandbox.destroy()).await.unwrap();
}

async fn the_same_id_is_not_run_again(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    let mut command = Command::shell("echo ran >> runs; cat runs");
    command.env.insert("SECRET".into(), Some("hunter2".into()));
    let first = soon(sandbox.exec_with(named("once", command.clone()), 1000)).await.unwrap();
    let sandbox = again(f, &path, sandbox).await;
    let second = soon(sandbox.exec_with(named("once", command.clone()), 1000)).await.unwrap();
    assert_eq!((out(&second), second.end), (out(&first), first.end));
    let third = soon(sandbox.start(named("once", command.clone()))).await.unwrap();
    assert_eq!(third.state(), ProcessState::Ended);
    command.env.clear();
    let refused = soon(sandbox.start(named("once", command))).await.unwrap_err();
    assert!(matches!(refused, Error::ProcessAlreadyExists { .. }), "{refused:?}");
    let journal = std::fs::read(path.join("journal")).unwrap();
    assert!(!String::from_utf8_lossy(&journal).contains("hunter2"), "values of variables are not written down");
    assert_eq!(out(&soon(sandbox.exec(Command::shell("cat runs"))).await.unwrap()), "ran\n");
    soon(sandbox.destroy()).await.unwrap();
}

async fn a_lingering_command_keeps_its_end(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    let output = soon(sandbox.exec(Command::shell("echo main; (sleep 300; echo never) & exit 4"))).await.unwrap();
    assert!(output.end.survivors > 0);
    let sandbox = again(f, &path, sandbox).await;
    let after = sandbox.process(&output.id).unwrap();
    assert_eq!((after.state(), after.end()), (ProcessState::Ended, Some(output.end)));
    assert_eq!(stdout(after.log()).await, "main\n");
    soon(sandbox.destroy()).await.unwrap();
}

async fn a_short_exec_leaves_nothing(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    let before = std::fs::metadata(path.join("journal")).unwrap().len();
    for _ in 0..3 {
        soon(sandbox.exec(Command::shell("echo hello"))).await.unwrap();
    }
    assert_eq!(std::fs::metadata(path.join("journal")).unwrap().len(), before);
    assert_eq!(numbers(&path.join("logs")), 0);
    soon(sandbox.exec(Command::shell("seq 100000"))).await.unwrap();
    eventually("what it spilled is removed", || numbers(&path.join("logs")) == 0).await;
    assert_eq!(std::fs::metadata(path.join("journal")).unwrap().len(), before);
    soon(sandbox.destroy()).await.unwrap();
}

async fn an_exec_that_was_not_told_whole_is_there_again(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    let spec = ProcessSpec::new(Command::shell("seq 100000"));
    let output = soon(sandbox.exec_with(spec, 100)).await.unwrap();
    assert!(!output.is_whole());
    let small = soon(sandbox.exec_with(ProcessSpec::new(Command::shell("seq 100")), 10)).await.unwrap();
    let sandbox = again(f, &path, sandbox).await;
    let expected: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(stdout(sandbox.process(&output.id).unwrap().log()).await, expected);
    assert_eq!(stdout(sandbox.process(&small.id).unwrap().log()).await.lines().count(), 100);
    soon(sandbox.destroy()).await.unwrap();
}

async fn what_is_removed_or_pruned_takes_its_files_with_it(f: &Fixture) {
    let (_parent, path) = place();
    let mut options = f.options();
    options.storage = Storage::Kept(path.clone());
    options.retention = Retention { count: 3, bytes: u64::MAX };
    let sandbox = soon(f.host.create(options)).await.unwrap();
    for number in 0..6 {
        let process = soon(sandbox.start(named(&format!("p{number}"), Command::shell("echo x")))).await.unwrap();
        soon(process.gone()).await.unwrap();
    }
    eventually("the oldest are gone", || numbers(&path.join("logs")) == 3).await;
    soon(async { while sandbox.remove_process(&id("p4")).is_err() {} }).await;
    eventually("the removed is gone", || numbers(&path.join("logs")) == 2).await;
    std::fs::create_dir(path.join("logs/777")).unwrap();
    std::fs::write(path.join("logs/777/output-00000000000000000000.log"), "stray").unwrap();
    let sandbox = again(f, &path, sandbox).await;
    let ids: Vec<_> = sandbox.processes(&Filter::default()).iter().map(|process| process.id().to_string()).collect();
    assert_eq!(ids, ["p3", "p5"]);
    assert_eq!(numbers(&path.join("logs")), 2, "what belongs to nobody is removed");
    soon(sandbox.destroy()).await.unwrap();
}

async fn a_terminal_is_there_again_with_its_bytes(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    let name = TerminalId::new("t").unwrap();
    let spec = TerminalSpec {
        id: Some(name.clone()),
        ..TerminalSpec::new(Invocation::Shell("printf shown; read x; exit 5".into()))
    };
    let terminal = soon(sandbox.open_terminal(spec.clone())).await.unwrap();
    crate::harness::shown(&terminal, "shown").await;
    soon(terminal.resize(atoll_protocol::WindowSize::new(100, 30).unwrap(), "me")).await.unwrap();
    crate::harness::type_in(&terminal, "\n").await;
    soon(terminal.gone()).await.unwrap();
    let (info, bytes) = (terminal.info(), read_log(terminal.log(), 0).await.0);
    let sandbox = again(f, &path, sandbox).await;
    let after = sandbox.terminal(&name).unwrap();
    assert_eq!(after.info(), info);
    assert_eq!(read_log(after.log(), 0).await.0, bytes);
    assert!(soon(after.write("x".into())).await.is_err());
    assert_eq!(soon(after.screen()).await.size.cols(), 100);
    let new = soon(sandbox.open_terminal(spec)).await.unwrap();
    assert!(new.end().is_none(), "an id whose program has ended gets a new one");
    assert_eq!(sandbox.terminals().len(), 1);
    soon(sandbox.destroy()).await.unwrap();
}

async fn a_session_is_restarted_from_what_it_held(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    let name = SessionId::new("s").unwrap();
    let mut spec = SessionSpec { id: Some(name.clone()), ..SessionSpec::default() };
    spec.env.insert("FROM".into(), Some("spec".into()));
    let Ok(session) = soon(sandbox.create_session(spec)).await else { return };
    soon(session.exec(Command::shell("mkdir -p deep; cd deep; X=$'a\\nb\\xff'; greet() { echo hi $1; }")))
        .await
        .unwrap();
    soon(session.snapshot()).await.unwrap();
    let sandbox = again(f, &path, sandbox).await;
    let session = sandbox.session(&name).unwrap();
    let info = session.info();
    assert_eq!((info.state, info.end.unwrap().reason), (SessionState::Dead, EndReason::SandboxStopped));
    assert!(info.cwd.ends_with("/deep"), "{}", info.cwd);
    let refused = soon(session.exec(Command::shell("true"))).await.unwrap_err();
    assert!(matches!(refused, Error::SessionTerminated { .. }), "{refused:?}");
    soon(session.restart(StartFrom::Snapshot)).await.unwrap();
    let text = "greet you; printf %s \"$X\" | od -An -tx1; basename \"$PWD\"; echo $FROM";
    assert_eq!(out(&soon(session.exec(Command::shell(text))).await.unwrap()), "hi you\n 61 0a 62 ff\ndeep\nspec\n");
    let sandbox = again(f, &path, sandbox).await;
    let session = sandbox.session(&name).unwrap();
    soon(session.restart(StartFrom::Nothing)).await.unwrap();
    assert_eq!(out(&soon(session.exec(Command::shell("echo ${X-unset} $FROM"))).await.unwrap()), "unset spec\n");
    soon(sandbox.destroy()).await.unwrap();
}

async fn a_dead_session_stays_dead_and_a_deleted_one_is_gone(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    let spec = |name: &str| SessionSpec { id: Some(SessionId::new(name).unwrap()), ..SessionSpec::default() };
    let Ok(dead) = soon(sandbox.create_session(spec("dead"))).await else { return };
    soon(dead.exec(Command::shell("exit 7"))).await.unwrap();
    let gone = soon(sandbox.create_session(spec("gone"))).await.unwrap();
    soon(gone.snapshot()).await.unwrap();
    soon(gone.delete()).await.unwrap();
    let end = dead.info().end;
    let sandbox = again(f, &path, sandbox).await;
    let sessions = sandbox.sessions();
    assert_eq!(sessions.len(), 1);
    assert_eq!((sessions[0].id().as_str(), sessions[0].info().end), ("dead", end));
    soon(sessions[0].delete()).await.unwrap();
    let sandbox = again(f, &path, sandbox).await;
    assert!(sandbox.sessions().is_empty());
    assert_eq!(numbers(&path.join("sessions")), 0);
    soon(sandbox.destroy()).await.unwrap();
}

async fn a_damaged_journal_is_no_reason_not_to_start(f: &Fixture) {
    let (_parent, path) = place();
    let sandbox = over(f, &path).await;
    for name in ["first", "second"] {
        let process = soon(sandbox.start(named(name, Command::shell("echo kept")))).await.unwrap();
        soon(process.gone()).await.unwrap();
    }
    soon(sandbox.destroy()).await.unwrap();
    drop(sandbox);
    let mut bytes = std::fs::read(path.join("journal")).unwrap();
    let at = String::from_utf8_lossy(&bytes).find("second").unwrap();
    bytes[at] ^= 1;
    std::fs::write(path.join("journal"), bytes).unwrap();
    let sandbox = over(f, &path).await;
    let faults: Vec<_> = sandbox.faults().collect();
    assert!(faults.iter().any(|fault| fault.contains("damaged")), "{faults:?}");
    assert_eq!(stdout(sandbox.process(&id("first")).unwrap().log()).await, "kept\n");
    assert!(path.join("journal.damaged").exists());
    let process = soon(sandbox.start(named("third", Command::shell("echo new")))).await.unwrap();
    soon(process.gone()).await.unwrap();
    let sandbox = again(f, &path, sandbox).await;
    assert_eq!(sandbox.faults().count(), 0);
    let mut reader = sandbox.process(&id("third")).unwrap().log().reader(0);
    assert!(matches!(soon(reader.next()).await, Some(LogEvent::Output(_))));
    soon(sandbox.destroy()).await.unwrap();
}

/// What the disk would hold if this process died now: the storage of a life that has no end.
fn as_after_a_crash(path: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    std::fs::copy(path.join("journal"), to.join("journal")).unwrap();
    for name in ["logs", "sessions"] {
        copy_below(&path.join(name), &to.join(name));
    }
}

fn copy_below(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_below(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

async fn what_lived_when_the_agent_died_is_lost(f: &Fixture) {
    let (parent, path) = place();
    let sandbox = over(f, &path).await;
    let process = soon(sandbox.start(named("p", Command::shell("echo seen; sleep 300")))).await.unwrap();
    printed(&process, "seen").await;
    let terminal = TerminalSpec::new(Invocation::Shell("printf seen; sleep 300".into()));
    let terminal = soon(sandbox.open_terminal(terminal)).await.unwrap();
    crate::harness::shown(&terminal, "seen").await;
    let Ok(session) = soon(sandbox.create_session(SessionSpec::default())).await else { return };
    soon(session.exec(Command::shell("X=held"))).await.unwrap();
    soon(session.snapshot()).await.unwrap();
    let image = parent.path().join("image");
    as_after_a_crash(&path, &image);
    soon(sandbox.destroy()).await.unwrap();
    let after = over(f, &image).await;
    let lost = |end: Option<atoll_protocol::EndRecord>| {
        let end = end.unwrap();
        assert_eq!((end.reason, end.code, end.signal), (EndReason::HostLost, None, None));
    };
    let process = after.process(&id("p")).unwrap();
    lost(process.end());
    assert_eq!(stdout(process.log()).await, "seen\n");
    let terminal = after.terminal(terminal.id()).unwrap();
    lost(terminal.end());
    assert_eq!(stdout(terminal.log()).await, "seen");
    let session = after.session(session.id()).unwrap();
    lost(session.info().end);
    soon(session.restart(StartFrom::Snapshot)).await.unwrap();
    assert_eq!(out(&soon(session.exec(Command::shell("echo $X"))).await.unwrap()), "held\n");
    soon(after.destroy()).await.unwrap();
}
