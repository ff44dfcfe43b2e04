//! Servers that must stay up: started again when they fail, ready when they say so or when their port answers.

use std::time::Duration;

use atoll_protocol::{EndReason, ProcessState};
use atoll_runtime::{Command, Error, Filter, LogPattern, PortCheck, Process, ProcessSpec, Readiness, Restart};

use crate::harness::{Fixture, eventually, log_text, printed, printed_times, random, skip, soon};

in_every_mode! {
    one_thread {
        a_signal_is_a_failure,
        success_is_the_end_of_it,
        never_means_never,
        a_kill_stops_it_while_it_runs,
        a_kill_stops_it_while_it_pauses,
        what_a_life_leaves_behind_ends_before_the_next,
        a_kill_stops_it_while_its_remains_are_ended,
        the_same_start_again_finds_it_in_any_life,
        ready_when_it_says_so,
        ready_anew_in_every_life,
        ready_when_its_port_answers,
    }
    many_threads {
        up_to_the_maximum_with_one_log,
        a_wait_for_output_outlives_a_restart,
        ready_with_its_first_words,
    }
}

fn on_failure(max: u32) -> Restart {
    let pause = Duration::from_millis(20);
    Restart::OnFailure { max, backoff: pause, backoff_max: 2 * pause }
}

async fn start(f: &Fixture, script: &str, restart: Restart) -> Process {
    let spec = ProcessSpec { restart, ..ProcessSpec::new(Command::shell(script)) };
    soon(f.sandbox.start(spec)).await.unwrap()
}

async fn up_to_the_maximum_with_one_log(f: &Fixture) {
    let process = start(f, "echo run >> runs; echo life; exit 9", on_failure(3)).await;
    let end = soon(process.ended()).await.unwrap();
    assert_eq!((end.reason, end.code), (EndReason::Exited, Some(9)));
    assert_eq!(process.info().restarts, 3, "ended means that the policy has given up");
    soon(process.gone()).await.unwrap();
    assert_eq!(log_text(&process).await, "life\nlife\nlife\nlife\n");
    assert_eq!(f.say("wc -l < runs").await.trim(), "4");
}

/// Waits go on over a restart.
async fn a_wait_for_output_outlives_a_restart(f: &Fixture) {
    let script = "echo >> runs; if [ $(wc -l < runs) -lt 4 ]; then exit 1; fi; echo here; sleep 300";
    let process = start(f, script, on_failure(10)).await;
    printed(&process, "here").await;
    assert_eq!(process.info().restarts, 3);
    assert_eq!(process.state(), ProcessState::Running);
    assert_eq!(process.end(), None, "the end of an earlier life is not its end");
}

async fn a_signal_is_a_failure(f: &Fixture) {
    let process = start(f, "echo life; kill -9 $$", on_failure(2)).await;
    assert_eq!(soon(process.ended()).await.unwrap().reason, EndReason::Signaled);
    soon(process.gone()).await.unwrap();
    assert_eq!(log_text(&process).await, "life\nlife\nlife\n");
}

async fn success_is_the_end_of_it(f: &Fixture) {
    let script = "echo >> runs; echo life; [ $(wc -l < runs) -ge 3 ]";
    let process = start(f, script, on_failure(10)).await;
    assert!(soon(process.ended()).await.unwrap().success());
    soon(process.gone()).await.unwrap();
    assert_eq!((process.info().restarts, log_text(&process).await.as_str()), (2, "life\nlife\nlife\n"));
}

async fn never_means_never(f: &Fixture) {
    let process = start(f, "echo life; exit 1", Restart::Never).await;
    soon(process.gone()).await.unwrap();
    assert_eq!((process.info().restarts, log_text(&process).await.as_str()), (0, "life\n"));
}

async fn a_kill_stops_it_while_it_runs(f: &Fixture) {
    let process = start(f, "trap 'exit 1' TERM; echo life; while :; do sleep 0.05; done", on_failure(10)).await;
    printed(&process, "life").await;
    assert_eq!(soon(process.kill(Duration::from_secs(60))).await.unwrap().survivors, 0);
    soon(process.gone()).await.unwrap();
    assert_eq!(process.end().unwrap().reason, EndReason::Killed);
    assert_eq!(log_text(&process).await, "life\n");
}

async fn a_kill_stops_it_while_it_pauses(f: &Fixture) {
    let pause = Duration::from_secs(300);
    let restart = Restart::OnFailure { max: 10, backoff: pause, backoff_max: pause };
    let process = start(f, "echo life; exit 1", restart).await;
    eventually("it pauses", || process.state() == ProcessState::Starting).await;
    let early = process.wait_exit(Some(Duration::from_millis(100))).await;
    assert!(matches!(early, Err(Error::WaitTimeout { .. })), "it is not over for good: {early:?}");
    assert_eq!(soon(process.kill(Duration::ZERO)).await.unwrap().survivors, 0);
    soon(process.gone()).await.unwrap();
    assert_eq!(soon(process.ended()).await.unwrap().code, Some(1), "how it ended last");
    assert_eq!(log_text(&process).await, "life\n");
    f.sandbox.remove_process(process.id()).unwrap();
}

/// What a failed life left behind does not stand in the way of the next one.
async fn what_a_life_leaves_behind_ends_before_the_next(f: &Fixture) {
    let script = "setsid sleep 300 & (trap '' TERM; exec sleep 300) & echo life; exit 1";
    let mut command = Command::shell(script);
    command.grace = Duration::from_millis(50);
    let spec = ProcessSpec { restart: on_failure(2), ..ProcessSpec::new(command) };
    let process = soon(f.sandbox.start(spec)).await.unwrap();
    assert_eq!(soon(process.ended()).await.unwrap().code, Some(1));
    assert_eq!((process.info().restarts, process.state()), (2, ProcessState::Ended));
    assert_eq!(log_text(&process).await, "life\nlife\nlife\n");
    assert_eq!(f.alive(), [""; 0]);
}

/// Its main process has failed, what it left behind will not end: who kills it then wants it to end for good.
async fn a_kill_stops_it_while_its_remains_are_ended(f: &Fixture) {
    let mut command = Command::shell("trap '' TERM; (echo up; while :; do sleep 1; done) & echo life; exit 1");
    command.grace = Duration::from_secs(300);
    let main = "echo life; exit 1";
    let spec = ProcessSpec { restart: on_failure(10), ..ProcessSpec::new(command) };
    let process = soon(f.sandbox.start(spec)).await.unwrap();
    printed_times(&process, "life\n", 1).await;
    printed_times(&process, "up\n", 1).await;
    let shells = || f.alive().iter().filter(|line| line.contains(main)).count();
    eventually("only its child is left", || shells() == 1).await;
    let receipt = soon(process.kill(Duration::ZERO)).await.unwrap();
    assert!(receipt.signalled >= 1 && receipt.survivors == 0, "{receipt:?}");
    soon(process.gone()).await.unwrap();
    assert_eq!((process.info().restarts, log_text(&process).await.lines().count()), (0, 2));
    assert_eq!(f.alive(), [""; 0]);
}

async fn the_same_start_again_finds_it_in_any_life(f: &Fixture) {
    let spec = || ProcessSpec {
        restart: on_failure(3),
        ..crate::harness::named("server", Command::shell("echo life; exit 1"))
    };
    let first = soon(f.sandbox.start(spec())).await.unwrap();
    for _ in 0..5 {
        let again = soon(f.sandbox.start(spec())).await.unwrap();
        assert_eq!(again.id(), first.id());
    }
    soon(first.gone()).await.unwrap();
    assert_eq!(log_text(&first).await.lines().count(), 4);
}

async fn start_ready(f: &Fixture, script: &str, readiness: Readiness, restart: Restart) -> Process {
    let spec = ProcessSpec { readiness: Some(readiness), restart, ..ProcessSpec::new(Command::shell(script)) };
    soon(f.sandbox.start(spec)).await.unwrap()
}

fn says(text: &str) -> Readiness {
    Readiness::Log(LogPattern::Text(text.to_owned()))
}

async fn ready_when_it_says_so(f: &Fixture) {
    f.say("mkfifo go").await;
    let process =
        start_ready(f, "echo starting; read x < go; echo listening; sleep 300", says("listening"), Restart::Never)
            .await;
    printed(&process, "starting").await;
    assert_eq!(process.info().ready, Some(false));
    f.say("echo > go").await;
    eventually("it is ready", || process.info().ready == Some(true)).await;
    let plain = f.start("sleep 300").await;
    assert_eq!(plain.info().ready, None);
}

/// However early it says so.
async fn ready_with_its_first_words(f: &Fixture) {
    for _ in 0..40 {
        let process = start_ready(f, "echo listening; sleep 300", says("listening"), Restart::Never).await;
        eventually("it is ready", || process.info().ready == Some(true)).await;
        soon(process.kill(Duration::ZERO)).await.unwrap();
    }
}

/// What an earlier life said does not count.
async fn ready_anew_in_every_life(f: &Fixture) {
    let script = "echo >> runs; if [ $(wc -l < runs) = 1 ]; then echo listening; exit 1; fi; echo second; sleep 300";
    let process = start_ready(f, script, says("listening"), on_failure(5)).await;
    printed(&process, "second").await;
    assert_eq!(process.info().ready, Some(false));
}

async fn ready_when_its_port_answers(f: &Fixture) {
    if !f.has("/usr/bin/python3").await {
        return skip("no python3 inside");
    }
    f.say("mkfifo go").await;
    let port = 30_000 + u16::try_from(random() % 10_000).unwrap();
    let script = format!("echo up; read x < go; exec /usr/bin/python3 -m http.server {port} --bind 127.0.0.1");
    let check = PortCheck { port, http: None };
    let process = start_ready(f, &script, Readiness::Port(check), Restart::Never).await;
    printed_times(&process, "up\n", 1).await;
    assert_eq!(process.info().ready, Some(false));
    f.say("echo > go").await;
    eventually("it is ready", || process.info().ready == Some(true)).await;
    let running = Filter { state: Some(ProcessState::Running), ..Filter::default() };
    assert_eq!(f.sandbox.processes(&running).len(), 1);
}
