//! Figures of the library: Atoll's own code in this process, without a server.

mod create;
mod egress;
mod session;
mod terminal;

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use atoll_bench::alternatives::{Cgroups, bwrap, crun_exec, podman_exec};
use atoll_bench::floors::{Until, pipe_to_file, spawn_rate, spawn_with_pipes};
use atoll_bench::{Argv, BenchError, Contender, Figure, Prepared, Sample, Target, Unit};
use atoll_runtime::{Command, Error, Home, Host, LogPattern, ProcessSpec, Sandbox, SandboxOptions};
use tokio::runtime::Runtime;

use crate::Lazy;

/// Concurrent callers in the throughput figure.
const CALLERS: u64 = 64;
/// Size of the output in the output and memory figures.
const OUTPUT_BYTES: u64 = 200 * 1024 * 1024;
/// Processes in the kill figure.
const TREE: u64 = 1000;

/// Builds the figures of the library. They share one sandbox.
pub(crate) struct Library {
    pub(crate) home: Home,
    pub(crate) host: Host,
    pub(crate) sandbox: Sandbox,
    pub(crate) rounds: usize,
    alternatives: bool,
}

impl Library {
    /// Creates the shared sandbox.
    pub(crate) async fn new(rounds: u32, alternatives: bool) -> Result<Self, BenchError> {
        let home = Home::discover().map_err(BenchError::contender)?;
        let host = Host::new(home.clone()).map_err(BenchError::contender)?;
        let sandbox = host.create(SandboxOptions::default()).await.map_err(BenchError::contender)?;
        let rounds = usize::try_from(rounds).map_err(BenchError::contender)?;
        Ok(Self { home, host, sandbox, rounds, alternatives })
    }

    /// Returns every figure by name. A figure is built only if it is selected, because alternatives start containers.
    pub(crate) fn figures<'a>(&'a self, runtime: &'a Runtime) -> Vec<(&'static str, Lazy<'a>)> {
        vec![
            ("exec: bash -c true", Box::new(|| Ok(self.exec(runtime, &["bash", "-c", "true"], 1.35)))),
            ("exec: true", Box::new(|| Ok(self.exec(runtime, &["true"], 1.4)))),
            ("throughput: bash -c true, 64 callers", Box::new(|| Ok(self.throughput(runtime)))),
            ("create: new sandbox to first result", Box::new(|| Ok(self.create(runtime)))),
            ("output: 200 MiB of stdout", Box::new(|| Ok(self.output(runtime)))),
            ("memory: growth over 200 MiB of stdout", Box::new(|| Ok(self.memory(runtime)))),
            ("session: true", Box::new(|| session::exec(&self.sandbox, runtime, self.rounds))),
            ("session: create", Box::new(|| session::creation(&self.sandbox, runtime, self.rounds))),
            ("session: 100 MiB of stdout", Box::new(|| session::output(&self.sandbox, runtime, self.rounds))),
            ("session: memory beyond bash's own", Box::new(|| Ok(session::memory(&self.sandbox, runtime)))),
            ("terminal: key to echo", Box::new(|| terminal::figure(&self.sandbox, runtime, self.rounds))),
            ("egress: connect and a byte back", Box::new(|| egress::connect(&self.host, runtime, self.rounds))),
            ("egress: 256 MiB out", Box::new(|| egress::bulk(&self.host, runtime, self.rounds))),
            ("kill: a tree of 1,000 processes", Box::new(|| Ok(self.kill(runtime)))),
        ]
    }

    fn exec<'a>(&'a self, runtime: &'a Runtime, argv: &[&'static str], times_floor: f64) -> Figure<'a> {
        let words = Argv::new(argv.iter().copied());
        let command = Command::argv(argv.iter().copied());
        let exec = move || Sample::time(|| runtime.block_on(self.sandbox.exec(command.clone())).and_then(succeeded));
        let mut subject =
            Contender::subject("atoll exec", Ok(Prepared::new(exec))).target(Target::at_most_times_floor(times_floor));
        // `bash -c true` has no such target: most of its time is bash's own start, the same for all contenders.
        if self.alternatives && argv == ["true"] {
            subject = subject.target(Target::at_least_times_faster_than(4.0, "crun exec"));
        }
        let mut figure = Figure::new(format!("exec: {}", argv.join(" ")), Unit::Latency)
            .rounds(self.rounds)
            .warm_up(5)
            .with(Contender::floor("posix_spawn", spawn_with_pipes(words.clone())))
            .with(subject);
        if self.alternatives {
            let under = std::env::temp_dir();
            figure = figure
                .with(Contender::alternative("bwrap", bwrap(&words)))
                .with(Contender::alternative("crun exec", crun_exec(&under, Cgroups::Off, &words)))
                .with(Contender::alternative("podman exec", podman_exec(&under, &words)));
        }
        figure
    }

    fn throughput<'a>(&'a self, runtime: &'a Runtime) -> Figure<'a> {
        let argv = ["bash", "-c", "true"];
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let total = CALLERS * 10;
        let subject = move || {
            let started = Instant::now();
            runtime.block_on(run_concurrently(&self.sandbox, Command::argv(argv), total))?;
            Ok(Sample::Counted { count: total, took: started.elapsed() })
        };
        Figure::new("throughput: bash -c true, 64 callers", Unit::Rate)
            .rounds((self.rounds / 10).max(6))
            .warm_up(1)
            .with(Contender::floor(
                "posix_spawn, a thread per core",
                spawn_rate(Argv::new(argv), cores, Until::Count(total)),
            ))
            .with(
                Contender::subject("atoll exec", Ok(Prepared::new(subject)))
                    .target(Target::at_least_share_of_floor(0.85)),
            )
    }

    fn output<'a>(&'a self, runtime: &'a Runtime) -> Figure<'a> {
        let subject = move || {
            let started = Instant::now();
            runtime.block_on(print_output(&self.sandbox)).map_err(BenchError::contender)?;
            Ok(Sample::Moved { bytes: OUTPUT_BYTES, took: started.elapsed() })
        };
        Figure::new("output: 200 MiB of stdout", Unit::Throughput)
            .rounds((self.rounds / 5).max(6))
            .warm_up(2)
            .with(Contender::floor("a pipe read into a file", pipe_to_file(OUTPUT_BYTES, 64 * 1024, &self.home.state)))
            .with(
                Contender::subject("atoll process", Ok(Prepared::new(subject)))
                    .target(Target::at_least_share_of_floor(0.6)),
            )
    }

    fn memory<'a>(&'a self, runtime: &'a Runtime) -> Figure<'a> {
        let subject = move || {
            let before = resident_bytes()?;
            runtime.block_on(print_output(&self.sandbox)).map_err(BenchError::contender)?;
            Ok(Sample::Bytes(resident_bytes()? - before))
        };
        Figure::new("memory: growth over 200 MiB of stdout", Unit::Bytes).rounds(6).warm_up(0).with(
            Contender::subject("atoll process", Ok(Prepared::new(subject)))
                .target(Target::at_most_bytes(8 * 1024 * 1024)),
        )
    }

    fn kill<'a>(&'a self, runtime: &'a Runtime) -> Figure<'a> {
        let subject =
            move || runtime.block_on(kill_tree(&self.sandbox)).map(Sample::Took).map_err(BenchError::contender);
        Figure::new("kill: a tree of 1,000 processes", Unit::Latency)
            .rounds((self.rounds / 10).clamp(6, 20))
            .warm_up(1)
            .with(
                Contender::subject("atoll kill", Ok(Prepared::new(subject)))
                    .target(Target::at_most(Duration::from_millis(100))),
            )
    }
}

/// Fails if the measured command did not exit with 0.
pub(crate) fn succeeded(output: atoll_runtime::ExecOutput) -> Result<(), Error> {
    if output.end.success() {
        return Ok(());
    }
    Err(Error::Internal { what: format!("the measured command failed: {:?}", output.end) })
}

/// Runs `command` `total` times from concurrent callers.
async fn run_concurrently(sandbox: &Sandbox, command: Command, total: u64) -> Result<(), BenchError> {
    let mut callers = tokio::task::JoinSet::new();
    let command = Arc::new(command);
    for _ in 0..CALLERS {
        let (sandbox, command) = (sandbox.clone(), Arc::clone(&command));
        callers.spawn(async move {
            for _ in 0..total / CALLERS {
                sandbox.exec(Command::clone(&command)).await.and_then(succeeded)?;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(done) = callers.join_next().await {
        done.map_err(BenchError::contender)?.map_err(BenchError::contender)?;
    }
    Ok(())
}

/// Runs a process that prints the output, and checks that all of it arrived.
async fn print_output(sandbox: &Sandbox) -> Result<(), Error> {
    let process = sandbox.start(ProcessSpec::new(Command::shell(format!("head -c {OUTPUT_BYTES} /dev/zero")))).await?;
    process.gone().await?;
    let printed = process.log().end();
    sandbox.remove_process(process.id())?;
    if printed == OUTPUT_BYTES {
        Ok(())
    } else {
        Err(Error::Internal { what: format!("read {printed} of {OUTPUT_BYTES} bytes") })
    }
}

/// Starts a process tree, kills it and returns the time of the kill.
async fn kill_tree(sandbox: &Sandbox) -> Result<Duration, Error> {
    let script = format!("for _ in $(seq {}); do sleep 1000 & done; echo ready; wait", TREE - 1);
    let process = sandbox.start(ProcessSpec::new(Command::shell(script))).await?;
    process.wait_log(&LogPattern::Text("ready".to_owned()), 0, None).await?;
    let started = Instant::now();
    let receipt = process.kill(Duration::ZERO).await?;
    let took = started.elapsed();
    process.gone().await?;
    sandbox.remove_process(process.id())?;
    if receipt.survivors == 0 && receipt.signalled >= TREE {
        Ok(took)
    } else {
        Err(Error::Internal { what: format!("the kill missed processes: {receipt:?}") })
    }
}

/// Returns the resident memory of this process, in bytes.
fn resident_bytes() -> Result<i64, BenchError> {
    let status = fs::read_to_string("/proc/self/status").map_err(BenchError::contender)?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kilobytes: i64 = line.trim().trim_end_matches(" kB").parse().map_err(BenchError::contender)?;
    Ok(kilobytes * 1024)
}
