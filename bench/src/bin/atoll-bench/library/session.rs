//! Session figures: a command, creation, bulk output, and memory of an idle session.

use std::time::Instant;

use atoll_bench::floors::{pipe_read, spawn_until_output, spawn_with_pipes};
use atoll_bench::{Argv, BenchError, Contender, Figure, Prepared, Sample, Target, Unit};
use atoll_runtime::{Command, Error, Sandbox, Session, SessionSpec};
use tokio::runtime::Runtime;

use super::{resident_bytes, succeeded};

/// Commands per sample: a single one is too short to measure, and depends mostly on what ran before it.
const COMMANDS: u32 = 10;

/// Size of the output in the output figure.
const OUTPUT_BYTES: u64 = 100 * 1024 * 1024;

/// Concurrent sessions in the memory figure.
const IDLE: usize = 32;

/// Runs `true` in a session; the floor spawns `bash -c true`.
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

/// Creates a session; the floor spawns bash and waits for its first byte of output.
pub(super) fn creation<'a>(
    sandbox: &'a Sandbox,
    runtime: &'a Runtime,
    rounds: usize,
) -> Result<Figure<'a>, BenchError> {
    let other = create(sandbox, runtime)?;
    let subject = move || {
        // The closure owns another session, because a sandbox with sessions keeps a pre-warmed shell.
        let _owned = &other;
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
                Ok(Prepared::new(subject).note("atoll: beside another session, so with a pre-warmed shell")),
            )
            .target(Target::at_most_times_floor(1.3)),
        ))
}

/// Reads bulk output of a command in a session; the floor reads a pipe.
pub(super) fn output<'a>(sandbox: &'a Sandbox, runtime: &'a Runtime, rounds: usize) -> Result<Figure<'a>, BenchError> {
    let session = create(sandbox, runtime)?;
    let subject = move || {
        let started = Instant::now();
        let command = Command::shell(format!("head -c {OUTPUT_BYTES} /dev/zero"));
        let output = runtime.block_on(session.exec(command)).map_err(BenchError::contender)?;
        let took = started.elapsed();
        sandbox.remove_process(&output.id).map_err(BenchError::contender)?;
        if output.cursor != OUTPUT_BYTES {
            return Err(BenchError::contender(format!("read {} of {OUTPUT_BYTES} bytes", output.cursor)));
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

/// Memory of an idle session beyond that of a plain bash: in this process and in the session's bash.
pub(super) fn memory<'a>(sandbox: &'a Sandbox, runtime: &'a Runtime) -> Figure<'a> {
    let subject = move || {
        let before = resident_bytes()?;
        let sessions = (0..IDLE).map(|_| create(sandbox, runtime)).collect::<Result<Vec<_>, _>>()?;
        let count = i64::try_from(IDLE).map_err(BenchError::contender)?;
        let here = (resident_bytes()? - before) / count;
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

/// Returns how much more private memory a session's bash has than one that was just started, in bytes.
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
