//! A soak: commands of every kind, ended at any moment and in any way. No session is ever stuck or mixes anything up.

use std::time::Duration;

use atoll_protocol::EndReason;
use atoll_runtime::{Command, Error, Process, ProcessSpec, Sandbox, Session, SessionSpec};
use tokio::task::JoinSet;

use crate::harness::{Fixture, Random, random, read_log, soon};

in_every_mode! {
    many_threads {
        heavy_session_trials,
        heavy_two_hundred_sessions,
    }
}

/// Over all modes together, unless `ATOLL_SESSION_TRIALS` says otherwise.
const TRIALS: usize = 1000;

const MODES: usize = 3;

/// Sessions that are tried at once.
const SESSIONS: usize = 8;

/// What is ended. Each prints its own number (`@N`) and nothing else.
const COMMANDS: [&str; 24] = [
    "echo @N",
    "echo @N; while :; do :; done",
    "while :; do echo @N; done",
    "yes @N",
    "yes @N | while read -r line; do echo \"$line\"; done",
    "echo @N; sleep 60",
    "echo @N; sleep 60 | cat | cat",
    "echo @N; setsid sleep 60",
    "echo @N; (setsid sleep 60 &); sleep 60",
    "echo @N; (trap '' TERM INT; while :; do sleep 0.01; done)",
    "trap '' TERM INT; echo @N; sleep 60",
    "trap 'echo @N' TERM INT; echo @N; while :; do sleep 0.01; done",
    "v=$(echo @N; sleep 60); echo @N",
    "v=$(while :; do :; done); echo @N",
    "sleep 60 & echo @N; wait",
    "sleep 60 & sleep 60 & echo @N",
    "mkfifo pipe@N; echo @N; read -r line <pipe@N",
    "mkfifo pipe@N; echo @N; cat <pipe@N",
    "echo @N; read -r line < <(sleep 60)",
    "f@N() { sleep 0.005; f@N; }; echo @N; f@N",
    "echo @N; bash -c 'while :; do sleep 0.01; done'",
    "echo @N; eval 'for i in {1..100000}; do (exit 3); done'",
    "cat <<END; sleep 60\n@N\nEND",
    "echo @N >&2; time sleep 60 2>/dev/null",
];

fn trials() -> usize {
    let given = std::env::var("ATOLL_SESSION_TRIALS").ok();
    let all = given.map_or(TRIALS, |text| text.parse().expect("ATOLL_SESSION_TRIALS is a number"));
    all.div_ceil(MODES)
}

/// From `ATOLL_SESSION_SEED`, to see a failure again.
fn seed() -> u64 {
    let given = std::env::var("ATOLL_SESSION_SEED").ok();
    given.map_or_else(random, |text| text.parse().expect("ATOLL_SESSION_SEED is a number"))
}

async fn heavy_session_trials(f: &Fixture) {
    let (seed, each) = (seed(), trials().div_ceil(SESSIONS));
    let mut tasks = JoinSet::new();
    for number in 0..SESSIONS {
        let random = Random(seed.wrapping_add(u64::try_from(number).unwrap()));
        tasks.spawn(tried(f.sandbox.clone(), random, each, format!("ATOLL_SESSION_SEED={seed}, session {number}")));
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(f.alive(), [""; 0], "seed {seed}");
}

/// One session, ended again and again; what it holds is looked at each time.
async fn tried(sandbox: Sandbox, mut random: Random, trials: usize, shown: String) {
    let session = soon(sandbox.create_session(SessionSpec::default())).await.unwrap();
    say(&session, "mkdir \"d$$\"; cd \"d$$\"; f() { echo f; }; list=(a 'b c')", &shown).await;
    for trial in 0..trials {
        let number = 1_000_000 + trial;
        let shown = format!("{shown}, trial {trial}");
        say(&session, &format!("x={number}"), &shown).await;
        // What is lost with a shell is what came after its last snapshot: nothing.
        soon(session.snapshot()).await.unwrap();
        let text = COMMANDS[random.below(COMMANDS.len())].replace("@N", &number.to_string());
        let way = Way::any(&mut random);
        let shown = format!("{shown}: {text}: {way:?}");
        let process = end_it(&session, way, &text, &shown).await;
        only_its_own(&process, number, &shown).await;
        let held = say(&session, "trap - TERM INT; echo $x ${list[1]} ${PWD##*/d}; f", &shown).await;
        let expected = format!("{number} b c ");
        assert!(held.starts_with(&expected) && held.ends_with("f\n"), "{shown}: {held:?}");
        sandbox.remove_process(process.id()).ok();
    }
    soon(session.delete()).await.unwrap();
}

/// How a command is ended.
#[derive(Debug, Clone, Copy)]
enum Means {
    Timeout,
    /// And a kill for those that mind.
    Interrupt,
    Kill,
}

/// How and when a command is ended.
#[derive(Debug, Clone, Copy)]
struct Way {
    means: Means,
    pause: Duration,
    grace: Duration,
}

impl Way {
    fn any(random: &mut Random) -> Self {
        let pause = Duration::from_millis(random.next() % 30) * u32::from(random.below(4) != 0);
        let grace = [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(50)][random.below(3)];
        Self { means: [Means::Timeout, Means::Interrupt, Means::Kill][random.below(3)], pause, grace }
    }
}

/// Begins it, and ends it after a while, or at once.
async fn end_it(session: &Session, way: Way, text: &str, shown: &str) -> Process {
    let mut command = Command::shell(text);
    command.grace = way.grace;
    if matches!(way.means, Means::Timeout) {
        command.timeout = Some(way.pause.max(Duration::from_millis(1)));
    }
    let process = soon(session.begin(ProcessSpec::new(command))).await.unwrap();
    match way.means {
        Means::Timeout => {}
        Means::Interrupt => {
            tokio::time::sleep(way.pause).await;
            soon(session.interrupt()).await.unwrap();
            // Some mind, and some have not begun.
            if tokio::time::timeout(Duration::from_millis(50), process.ended()).await.is_err() {
                kill(&process, way, shown).await;
            }
        }
        Means::Kill => {
            tokio::time::sleep(way.pause).await;
            kill(&process, way, shown).await;
        }
    }
    let end = soon(process.ended()).await.unwrap();
    let reasons = [EndReason::Exited, EndReason::Killed, EndReason::Timeout];
    assert!(reasons.contains(&end.reason), "{shown}: {end:?}");
    process
}

async fn kill(process: &Process, way: Way, shown: &str) {
    match soon(process.kill(way.grace)).await {
        Ok(receipt) => assert_eq!(receipt.survivors, 0, "{shown}"),
        Err(Error::ProcessEnded { .. }) => {}
        Err(error) => panic!("{shown}: {error}"),
    }
}

/// No line of another command, and none cut but the last.
async fn only_its_own(process: &Process, number: usize, shown: &str) {
    let (stdout, _) = read_log(process.log(), 0).await;
    let whole = format!("{number}\n");
    let foreign = stdout.chunks(whole.len()).find(|line| !whole.as_bytes().starts_with(line));
    assert_eq!(foreign.map(String::from_utf8_lossy), None, "{shown}");
}

async fn say(session: &Session, text: &str, shown: &str) -> String {
    let output = soon(session.exec(Command::shell(text))).await.unwrap();
    assert_eq!((output.end.reason, output.end.code), (EndReason::Exited, Some(0)), "{shown}: {text}: {output:?}");
    // Bash tells of background jobs that were killed after their command was over.
    let stderr = String::from_utf8_lossy(&output.stderr.head).into_owned();
    let told =
        |line: &str| line.starts_with("bash: line 1: ") && line.contains("Killed   ") && line.contains("sleep 60");
    assert!(stderr.lines().all(told), "{shown}: {text}: {stderr:?}");
    String::from_utf8(output.stdout.head).unwrap()
}

async fn heavy_two_hundred_sessions(f: &Fixture) {
    let mut tasks = JoinSet::new();
    for number in 0..200 {
        let sandbox = f.sandbox.clone();
        tasks.spawn(async move {
            let session = sandbox.create_session(SessionSpec::default()).await.unwrap();
            let said = say(&session, &format!("x={number}; sleep 0.1; echo ok $x"), "two hundred").await;
            assert_eq!(said, format!("ok {number}\n"));
            session.delete().await.unwrap();
        });
    }
    let all = tokio::time::timeout(Duration::from_secs(60), tasks.join_all()).await;
    assert_eq!(all.unwrap().len(), 200);
    assert!(f.sandbox.sessions().is_empty());
}
