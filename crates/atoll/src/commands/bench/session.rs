//! What a session costs: a command in it, making it, much output through it, and keeping it.

use std::time::Instant;

use atoll_bench::floors::{pipe_read, spawn_until_output, spawn_with_pipes};
use atoll_bench::{Argv, BenchError, Contender, Figure, Prepared, Sample, Target, Unit};
use atoll_runtime::{Command, Error, Sandbox, Session, SessionSpec};
use tokio::runtime::Runtime;

use super::{resident, succeeded};

/// Commands in a row: one alone takes too little time to be measured well, and mostly shows what ran before it.
const COMMANDS: u32 = 10;

/// Output in the stream figure.
const OUTPUT_BYTES: u64 = 100 * 1024 * 1024;

/// Sessions that are kept at once in the memory figure.
const KEPT: usize = 32;

/// A command that does nothing, beside a bash that does nothing.
pub(super) fn exec<'a>(sandbox: &'a Sandbox, runtime: &'a Runtime, rounds: usize) -> Result<Figure<'a>, BenchError> {
    let session = create(sandbox, runtime)?;
    let subject = move || {
        let started = Instant::now();
        for _ in 0..COMMANDS {
            let output = runtime.block_on(session.exec(Command::shell("true")));
            output.and_then(succeeded).map_err(BenchError::contender)?;
        }
        Ok(Sample::Took(started.elapsed() / COMMANDS))
    };
    Ok(Figure::new("session: true", Unit::Latency)
        .rounds(rounds)
        .warm_up(5)
        .with(Contender::floor("posix_spawn bash -c true", spawn_with_pipes(Argv::new(["bash", "-c", "true"]))))
        .with(
            Contender::subject(
                "atoll session exec",
                Ok(Prepared::new(subject).note(format!("atoll: the mean of {COMMANDS} in a row"))),
            )
            .target(Target::at_most_times_floor(0.1)),
        ))
}

/// A new session until it takes commands, beside a bash until it has run its first.
pub(super) fn making<'a>(sandbox: &'a Sandbox, runtime: &'a Runtime, rounds: usize) -> Result<Figure<'a>, BenchError> {
    let other = create(sandbox, runtime)?;
    let subject = move || {
        // Held, so that there are sessions: a sandbox that has some keeps a spare shell.
        let _held = &other;
        let started = Instant::now();
        let session = create(sandbox, runtime)?;
        let took = started.elapsed();
        runtime.block_on(session.delete()).map_err(BenchError::contender)?;
        Ok(Sample::Took(took))
    };
    let bash = Argv::new(["bash", "--norc", "--noprofile", "-c", "echo"]);
    Ok(Figure::new("session: create", Unit::Latency)
        .rounds(rounds)
        .warm_up(5)
        .with(Contender::floor("posix_spawn bash to its first byte", spawn_until_output(bash)))
        .with(
            Contender::subject(
                "atoll session create",
                Ok(Prepared::new(subject).note("atoll: beside another session, so with a spare shell at hand")),
            )
            .target(Target::at_most_times_floor(1.3)),
        ))
}

/// Much output of one command.
pub(super) fn output<'a>(sandbox: &'a Sandbox, runtime: &'a Runtime, rounds: usize) -> Result<Figure<'a>, BenchError> {
    let session = create(sandbox, runtime)?;
    let subject = move || {
        let started = Instant::now();
        let command = Command::shell(format!("head -c {OUTPUT_BYTES} /dev/zero"));
        let output = runtime.block_on(session.exec(command)).map_err(BenchError::contender)?;
        let took = started.elapsed();
        sandbox.remove_process(&output.id).map_err(BenchError::contender)?;
        if output.cursor != OUTPUT_BYTES {
            return Err(BenchError::contender(format!("only {} bytes came", output.cursor)));
        }
        Ok(Sample::Moved { bytes: OUTPUT_BYTES, took })
    };
    Ok(Figure::new("session: 100 MiB of stdout", Unit::Throughput)
        .rounds((rounds / 5).max(6))
        .warm_up(2)
        .with(Contender::floor("a pipe read", pipe_read(OUTPUT_BYTES, 64 * 1024)))
        .with(
            Contender::subject("atoll session exec", Ok(Prepared::new(subject)))
                .target(Target::at_least_share_of_floor(0.5)),
        ))
}

/// What an idle session takes beyond what any bash does: in this process, and in its own.
pub(super) fn memory<'a>(sandbox: &'a Sandbox, runtime: &'a Runtime) -> Figure<'a> {
    let subject = move || {
        let before = resident()?;
        let sessions = (0..KEPT).map(|_| create(sandbox, runtime)).collect::<Result<Vec<_>, _>>()?;
        let kept = i64::try_from(KEPT).map_err(BenchError::contender)?;
        let here = (resident()? - before) / kept;
        let there = runtime.block_on(own_memory(sandbox, &sessions[0])).map_err(BenchError::contender)?;
        for session in sessions {
            runtime.block_on(session.delete()).map_err(BenchError::contender)?;
        }
        Ok(Sample::Bytes(here + there))
    };
    Figure::new("session: memory beyond bash's own", Unit::Bytes)
        .rounds(6)
        .warm_up(1)
        .with(Contender::subject("atoll session", Ok(Prepared::new(subject))).target(Target::at_most_bytes(100 * 1024)))
}

/// How much more a session's bash has for itself alone than one that was just started.
async fn own_memory(sandbox: &Sandbox, session: &Session) -> Result<i64, Error> {
    const LOOK: &str =
        "while read -r name size _; do [ $name = Private_Dirty: ] && echo $size; done </proc/$$/smaps_rollup";
    let of_session = number(&session.exec(Command::shell(LOOK)).await?.stdout.head);
    let of_bash = number(&sandbox.exec(Command::shell(LOOK)).await?.stdout.head);
    Ok((of_session - of_bash) * 1024)
}

fn number(text: &[u8]) -> i64 {
    String::from_utf8_lossy(text).trim().parse().unwrap_or(i64::MAX / 2048)
}

fn create(sandbox: &Sandbox, runtime: &Runtime) -> Result<Session, BenchError> {
    runtime.block_on(sandbox.create_session(SessionSpec::default())).map_err(BenchError::contender)
}
