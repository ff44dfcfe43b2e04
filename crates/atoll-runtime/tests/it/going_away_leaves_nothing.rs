//! Who asked may go away, the sandbox may go away: commands stay known as long as they can, and nothing is left.

use std::time::Duration;

use atoll_protocol::{EndReason, ProcessState, SandboxName};
use atoll_runtime::{Command, Error, Filter, LogPattern, ProcessSpec};

use crate::harness::{Fixture, alive, cgroups_of, eventually, log_text, named, printed, random, soon};

in_every_mode! {
    one_thread {
        a_dropped_exec_leaves_its_command_running_and_listed,
        an_exec_dropped_at_any_moment_is_whole_or_nothing,
        a_destroyed_sandbox_says_so,
        a_name_is_taken_until_its_sandbox_is_gone,
        a_sandbox_that_is_dropped_ends,
    }
    many_threads {
        destroying_tells_everybody_who_waits,
        destroying_in_the_middle_of_starts,
    }
}

async fn a_dropped_exec_leaves_its_command_running_and_listed(f: &Fixture) {
    f.say("mkfifo go").await;
    let exec = f.sandbox.exec(Command::shell("echo up; read x < go; echo done"));
    let dropped = tokio::time::timeout(Duration::from_millis(500), exec).await;
    assert!(dropped.is_err(), "it is still running");
    let listed = f.sandbox.processes(&Filter::default());
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].state(), ProcessState::Running);
    f.say("echo > go").await;
    assert!(soon(listed[0].ended()).await.unwrap().success());
    assert_eq!(log_text(&listed[0]).await, "up\ndone\n");
}

/// Dropped before it was even polled to its start, or at any moment of it.
async fn an_exec_dropped_at_any_moment_is_whole_or_nothing(f: &Fixture) {
    for polls in 0..12 {
        let mut exec = Box::pin(f.sandbox.exec(Command::shell("sleep 300")));
        for _ in 0..polls {
            let poll = tokio::time::timeout(Duration::from_millis(1), &mut exec);
            assert!(poll.await.is_err());
        }
    }
    let receipt = soon(f.sandbox.kill_all(&Filter::default(), Duration::ZERO)).await.unwrap();
    assert_eq!(receipt.survivors, 0);
    assert_eq!(f.alive(), [""; 0]);
}

async fn destroying_tells_everybody_who_waits(f: &Fixture) {
    let sandbox = f.another(|_| {}).await.unwrap();
    let process = soon(sandbox.start(ProcessSpec::new(Command::shell(
        "trap '' TERM; setsid sleep 300 & echo up; while :; do sleep 1; done",
    ))))
    .await
    .unwrap();
    printed(&process, "up").await;
    let exec = tokio::spawn({
        let sandbox = sandbox.clone();
        async move { sandbox.exec(Command::shell("echo partial; sleep 300")).await }
    });
    eventually("both run", || sandbox.processes(&Filter::default()).len() == 2).await;
    let all = sandbox.processes(&Filter::default());
    printed(&all[1], "partial").await;
    let wait = tokio::spawn({
        let process = process.clone();
        async move { process.wait_log(&LogPattern::Text("never".to_owned()), 0, None).await }
    });
    soon(sandbox.destroy()).await.unwrap();
    for end in [soon(process.ended()).await.unwrap(), soon(exec).await.unwrap().unwrap().end] {
        assert_eq!(end.reason, EndReason::SandboxStopped);
        assert_eq!((end.code, end.signal), (None, None), "what is not known is not guessed");
    }
    let waited = soon(wait).await.unwrap();
    assert!(matches!(waited, Err(Error::EndedWhileWaiting { .. })), "{waited:?}");
    soon(process.gone()).await.unwrap();
    assert_eq!(log_text(&process).await, "up\n", "what was printed can still be read");
    assert_eq!(f.alive(), [""; 0]);
    assert_eq!(cgroups_of(sandbox.name().as_str()), Vec::<std::path::PathBuf>::new());
    assert!(!f.sandboxes().join(sandbox.name().as_str()).exists());
}

async fn a_destroyed_sandbox_says_so(f: &Fixture) {
    let sandbox = f.another(|_| {}).await.unwrap();
    let ended = soon(sandbox.start(named("ended", Command::shell("exit 3")))).await.unwrap();
    soon(ended.gone()).await.unwrap();
    soon(sandbox.destroy()).await.unwrap();
    let refused = soon(sandbox.exec(Command::shell("true"))).await.unwrap_err();
    assert!(matches!(refused, Error::SandboxGone), "{refused:?}");
    let refused = soon(sandbox.start(ProcessSpec::new(Command::argv(["true"])))).await.unwrap_err();
    assert!(matches!(refused, Error::SandboxGone), "{refused:?}");
    assert_eq!(soon(ended.ended()).await.unwrap().code, Some(3), "an end stays known");
    // Twice is as good as once.
    soon(sandbox.destroy()).await.unwrap();
}

async fn destroying_in_the_middle_of_starts(f: &Fixture) {
    for _ in 0..5 {
        let sandbox = f.another(|_| {}).await.unwrap();
        let starts: Vec<_> = (0..20)
            .map(|_| {
                let sandbox = sandbox.clone();
                tokio::spawn(async move { sandbox.exec(Command::shell("setsid sleep 300 & sleep 300")).await })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(random() % 20)).await;
        soon(sandbox.destroy()).await.unwrap();
        for start in starts {
            match soon(start).await.unwrap() {
                Ok(output) => assert_eq!(output.end.reason, EndReason::SandboxStopped),
                Err(error) => assert!(matches!(error, Error::SandboxGone), "{error:?}"),
            }
        }
        assert_eq!(f.alive(), [""; 0]);
    }
}

async fn a_name_is_taken_until_its_sandbox_is_gone(f: &Fixture) {
    let name = SandboxName::new(format!("twice-{:x}", random())).unwrap();
    let first = f.another(|options| options.name = Some(name.clone())).await.unwrap();
    let refused = f.another(|options| options.name = Some(name.clone())).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }), "{refused:?}");
    let output = soon(first.exec(Command::shell("echo untouched"))).await.unwrap();
    assert_eq!(output.stdout.head, b"untouched\n");
    soon(first.destroy()).await.unwrap();
    let second = f.another(|options| options.name = Some(name.clone())).await.unwrap();
    let output = soon(second.exec(Command::shell("ls -A"))).await.unwrap();
    assert_eq!(output.stdout.head, b"", "nothing of the first is left");
}

/// The handles are dropped, nobody destroyed it: its processes end all the same.
async fn a_sandbox_that_is_dropped_ends(f: &Fixture) {
    let mark = format!("dropped-{:016x}", random());
    {
        let mut command = Command::shell("setsid sleep 300 & echo up; sleep 300");
        command.env.insert("ATOLL_TEST_TREE".into(), Some(mark.clone().into()));
        let host = f.host.clone();
        let mut options = atoll_runtime::SandboxOptions::default();
        if !f.mode.isolated() {
            options.isolation = atoll_isolation::Isolation::None;
        }
        options.without_cgroups = f.mode == crate::harness::Mode::Wardens;
        let sandbox = host.create(options).await.unwrap();
        let process = soon(sandbox.start(ProcessSpec::new(command))).await.unwrap();
        printed(&process, "up").await;
        f.forget_directory(sandbox.name());
    }
    eventually("its processes end", || alive(&mark).is_empty()).await;
}
