//! The list of processes: filters, removal, and how much is remembered.

use std::collections::BTreeMap;
use std::time::Duration;

use atoll_protocol::ProcessState;
use atoll_runtime::{Command, Error, Filter, Process, ProcessSpec, Retention};

use crate::harness::{Fixture, eventually, id, named, soon};

in_every_mode! {
    one_thread {
        by_state_and_labels_oldest_first,
        the_pid_is_the_one_inside,
        only_what_has_ended_can_be_removed,
        so_many_ended_ones_are_remembered,
        so_many_bytes_are_remembered,
        kill_all_and_kill_by_label,
    }
    many_threads {
        an_exec_that_left_nothing_has_ended_when_it_answers,
    }
}

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

async fn start(f: &Fixture, name: &str, script: &str, pairs: &[(&str, &str)]) -> Process {
    let spec = ProcessSpec { labels: labels(pairs), ..named(name, Command::shell(script)) };
    soon(f.sandbox.start(spec)).await.unwrap()
}

fn found(f: &Fixture, state: Option<ProcessState>, pairs: &[(&str, &str)]) -> Vec<String> {
    let filter = Filter { state, session: None, labels: labels(pairs) };
    let all = f.sandbox.processes(&filter);
    all.iter().map(|process| process.id().to_string()).collect()
}

async fn by_state_and_labels_oldest_first(f: &Fixture) {
    let web = start(f, "web", "sleep 300", &[("app", "shop"), ("tier", "web")]).await;
    start(f, "db", "sleep 300", &[("app", "shop"), ("tier", "db")]).await;
    let lingering = start(f, "left", "sleep 300 & true", &[("app", "other")]).await;
    let ended = start(f, "done", "true", &[("app", "shop")]).await;
    soon(lingering.ended()).await.unwrap();
    soon(ended.gone()).await.unwrap();
    assert_eq!(found(f, None, &[]), ["web", "db", "left", "done"]);
    assert_eq!(found(f, Some(ProcessState::Running), &[]), ["web", "db"]);
    assert_eq!(found(f, Some(ProcessState::Lingering), &[]), ["left"]);
    assert_eq!(found(f, Some(ProcessState::Ended), &[]), ["done"]);
    assert_eq!(found(f, None, &[("app", "shop")]), ["web", "db", "done"]);
    assert_eq!(found(f, Some(ProcessState::Running), &[("app", "shop"), ("tier", "db")]), ["db"]);
    assert_eq!(found(f, None, &[("app", "shop"), ("tier", "none")]), [""; 0]);
    let info = web.info();
    assert_eq!((info.command.as_str(), info.labels), ("sleep 300", labels(&[("app", "shop"), ("tier", "web")])));
    assert!(info.pid.is_some_and(|pid| pid > 1));
    assert_eq!(f.sandbox.process(&id("web")).unwrap().state(), ProcessState::Running);
}

async fn the_pid_is_the_one_inside(f: &Fixture) {
    let process = f.start("echo $$; sleep 300").await;
    crate::harness::printed(&process, "\n").await;
    let told = crate::harness::log_text(&process).await;
    assert_eq!(process.info().pid.unwrap().to_string(), told.trim());
}

async fn only_what_has_ended_can_be_removed(f: &Fixture) {
    let process = f.start("sleep 300 & echo x; sleep 300").await;
    crate::harness::printed(&process, "x").await;
    let refused = f.sandbox.remove_process(process.id()).unwrap_err();
    assert!(matches!(refused, Error::ProcessRunning { .. }), "{refused:?}");
    assert!(refused.hint().is_some());
    let lingering = f.sh("sleep 300 & true").await;
    let refused = f.sandbox.remove_process(&lingering.id).unwrap_err();
    assert!(matches!(refused, Error::ProcessRunning { .. }), "{refused:?}");
    soon(process.kill(Duration::ZERO)).await.unwrap();
    soon(process.gone()).await.unwrap();
    f.sandbox.remove_process(process.id()).unwrap();
    assert!(matches!(f.sandbox.process(process.id()), Err(Error::ProcessNotFound { .. })));
    let refused = f.sandbox.remove_process(process.id()).unwrap_err();
    assert!(matches!(refused, Error::ProcessNotFound { .. }), "{refused:?}");
    // Who holds it can still read it.
    assert_eq!(crate::harness::log_text(&process).await, "x\n");
    assert_eq!(f.listed(), [lingering.id]);
}

async fn an_exec_that_left_nothing_has_ended_when_it_answers(f: &Fixture) {
    for number in 0..100 {
        let name = format!("n{number}");
        soon(f.sandbox.exec_with(named(&name, Command::shell("true")), 10)).await.unwrap();
        assert_eq!(f.sandbox.process(&id(&name)).unwrap().state(), ProcessState::Ended, "{number}");
        f.sandbox.remove_process(&id(&name)).unwrap();
    }
}

async fn so_many_ended_ones_are_remembered(f: &Fixture) {
    let retention = Retention { count: 3, ..Retention::default() };
    let sandbox = f.another(|options| options.retention = retention).await.unwrap();
    let running = soon(sandbox.start(named("running", Command::shell("sleep 300")))).await.unwrap();
    for number in 0..10 {
        let process = soon(sandbox.start(named(&format!("n{number}"), Command::shell("true")))).await.unwrap();
        soon(process.gone()).await.unwrap();
    }
    let names = || -> Vec<String> {
        sandbox.processes(&Filter::default()).iter().map(|process| process.id().to_string()).collect()
    };
    eventually("the oldest are forgotten", || names() == ["running", "n7", "n8", "n9"]).await;
    assert_eq!(running.state(), ProcessState::Running, "what runs is never forgotten");
}

async fn so_many_bytes_are_remembered(f: &Fixture) {
    let retention = Retention { bytes: 25_000, ..Retention::default() };
    let sandbox = f.another(|options| options.retention = retention).await.unwrap();
    for number in 0..5 {
        let command = Command::shell("head -c 10000 /dev/zero");
        let process = soon(sandbox.start(named(&format!("n{number}"), command))).await.unwrap();
        soon(process.gone()).await.unwrap();
    }
    eventually("the oldest are forgotten", || sandbox.processes(&Filter::default()).len() == 2).await;
}

async fn kill_all_and_kill_by_label(f: &Fixture) {
    for (name, app) in [("a", "one"), ("b", "one"), ("c", "two")] {
        start(f, name, "sleep 300 & setsid sleep 300 & echo up; wait", &[("app", app)]).await;
        crate::harness::printed(&f.sandbox.process(&id(name)).unwrap(), "up").await;
    }
    eventually("all are there", || f.alive().len() == 9).await;
    let one = Filter { labels: labels(&[("app", "one")]), ..Filter::default() };
    let receipt = soon(f.sandbox.kill_all(&one, Duration::from_secs(60))).await.unwrap();
    assert_eq!((receipt.signalled, receipt.survivors), (6, 0));
    assert_eq!(f.alive().len(), 3);
    assert_eq!(found(f, Some(ProcessState::Running), &[]), ["c"]);
    let receipt = soon(f.sandbox.kill_all(&Filter::default(), Duration::ZERO)).await.unwrap();
    assert_eq!((receipt.signalled, receipt.survivors), (3, 0));
    assert_eq!(f.alive(), [""; 0]);
    let receipt = soon(f.sandbox.kill_all(&Filter::default(), Duration::ZERO)).await.unwrap();
    assert_eq!((receipt.signalled, receipt.survivors), (0, 0));
}
