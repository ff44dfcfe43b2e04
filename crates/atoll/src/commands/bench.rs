//! `atoll bench`: Atoll's figures on this machine, each beside a floor measured in the same run.
//!
//! What is measured is decided here; how (interleaving, quantiles, noise, verdicts) is `atoll-bench`'s business.

mod egress;
mod keystroke;
mod server;
mod session;

use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use atoll_bench::alternatives::{Cgroups, bwrap, crun_exec, crun_run, podman_exec};
use atoll_bench::floors::{Until, pipe_to_file, spawn_rate, spawn_with_pipes};
use atoll_bench::{Argv, BenchError, Contender, Figure, Machine, Plan, Prepared, Sample, Target, Unit, Verdict};
use atoll_isolation::floor::Floor;
use atoll_isolation::{Disk, HostRoot, Ids, Launcher, Spec};
use atoll_runtime::{Command, Error, Home, Host, LogPattern, ProcessSpec, Sandbox, SandboxOptions};
use clap::Args;
use tokio::runtime::Runtime;

use self::server::{Figures, Server};
use crate::{exit, printer};

/// Measure Atoll on this machine, each figure beside a floor measured in the same run.
///
/// Contenders take turns, so that what else the machine does hits all of them alike. A verdict is given only where
/// the noise seen cannot change it. Exits with 1 if a target was missed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll bench
  atoll bench --only exec --rounds 200
  atoll bench --json > figures.json")]
pub(crate) struct Arguments {
    /// Only figures whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Rounds of the quick figures; the slower ones take fewer in proportion.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(6..=100_000))]
    rounds: u32,

    /// Leave out what a user would pick instead (bwrap, crun, podman).
    #[arg(long)]
    no_alternatives: bool,

    /// Print JSON with everything, raw quantiles included.
    #[arg(long)]
    json: bool,
}

/// Callers at once in the throughput figure.
const CALLERS: u64 = 64;
/// Output in the stream figure.
const OUTPUT_BYTES: u64 = 200 * 1024 * 1024;
/// Processes in the kill figure.
const TREE: u64 = 1000;

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match measure(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            drop(printer::err(format!("error: {error}\n").as_bytes()));
            ExitCode::from(exit::FAILED)
        }
    }
}

fn measure(arguments: &Arguments) -> Result<bool, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(BenchError::contender)?;
    let bench = runtime.block_on(Bench::new(arguments))?;
    let wanted = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let server =
        SERVED.iter().chain(&FILES).any(|name| wanted(name)).then(|| Server::start(&bench.home, "served", &[]));
    let server = server.transpose()?;
    let served = server.as_ref().map(|server| bench.served(&runtime, server)).transpose()?;
    let mut plan = Plan::new();
    for (name, figure) in bench
        .figures(&runtime)
        .into_iter()
        .chain(served.iter().flat_map(server_figures))
        .chain(served.iter().flat_map(file_figures))
    {
        if wanted(name) {
            plan = plan.with(figure()?);
        }
    }
    let report = atoll_bench::run(plan, Machine::observe(), &mut io::stderr())?;
    if let Some(server) = server {
        server.end(&runtime)?;
    }
    runtime.block_on(bench.sandbox.destroy()).map_err(BenchError::contender)?;
    let mut out = io::stdout().lock();
    if arguments.json { report.write_json(&mut out) } else { report.write_table(&mut out) }?;
    out.flush().map_err(BenchError::contender)?;
    Ok(!report.verdicts().any(|verdict| matches!(verdict, Verdict::Missed)))
}

/// What the figures share: one sandbox that stands, and the means to make more.
struct Bench {
    home: Home,
    host: Host,
    sandbox: Sandbox,
    rounds: usize,
    alternatives: bool,
}

/// Names of the figures that need a server.
const SERVED: [&str; 12] = [
    "server: exec true",
    "server: session true",
    "server: session true, 64 clients",
    "server: exec true, 64 clients",
    "server: 1 GiB of stdout as events",
    "server: create to first result",
    "server: memory of an idle sandbox",
    "server: memory of the gateway",
    "server: start to ready",
    "preview: a small request",
    "preview: 256 MiB down",
    "preview: 256 MiB up",
];

/// Names of those about files.
const FILES: [&str; 6] = [
    "files: write 1 KiB",
    "files: read 1 KiB",
    "files: 1 GiB up",
    "files: 1 GiB down",
    "files: list 100,000 files",
    "files: search 1 GiB",
];

/// Files through a server, beside the least that it can take.
fn file_figures<'a, 'b: 'a>(figures: &'b Figures<'a>) -> Vec<(&'static str, Lazy<'a>)> {
    let [write, read, up, down, list, search] = FILES;
    vec![
        (write, Box::new(move || figures.write_small(write))),
        (read, Box::new(move || figures.read_small(read))),
        (up, Box::new(move || figures.upload(up))),
        (down, Box::new(move || figures.download(down))),
        (list, Box::new(move || figures.list_many(list))),
        (search, Box::new(move || figures.search(search))),
    ]
}

/// Through a server, beside the library.
fn server_figures<'a, 'b: 'a>(figures: &'b Figures<'a>) -> Vec<(&'static str, Lazy<'a>)> {
    let [exec, session, sessions, execs, stream, create, agent, gateway, start, preview, down, up] = SERVED;
    vec![
        (exec, Box::new(move || figures.exec(exec))),
        (session, Box::new(move || figures.session(session))),
        (sessions, Box::new(move || figures.session_rate(sessions))),
        (execs, Box::new(move || figures.exec_rate(execs))),
        (stream, Box::new(move || figures.stream(stream))),
        (create, Box::new(move || figures.create(create, Target::at_most_times_floor(1.5)))),
        (agent, Box::new(move || figures.agent_memory(agent))),
        (gateway, Box::new(move || Ok(figures.gateway_memory(gateway)))),
        (start, Box::new(move || Ok(figures.cold_start(start)))),
        (preview, Box::new(move || Ok(figures.preview(preview)))),
        (down, Box::new(move || Ok(figures.preview_down(down)))),
        (up, Box::new(move || Ok(figures.preview_up(up)))),
    ]
}

type Lazy<'a> = Box<dyn FnOnce() -> Result<Figure<'a>, BenchError> + 'a>;

impl Bench {
    async fn new(arguments: &Arguments) -> Result<Self, BenchError> {
        let home = Home::discover().map_err(BenchError::contender)?;
        let host = Host::new(home.clone()).map_err(BenchError::contender)?;
        let sandbox = host.create(SandboxOptions::default()).await.map_err(BenchError::contender)?;
        let rounds = usize::try_from(arguments.rounds).map_err(BenchError::contender)?;
        Ok(Self { home, host, sandbox, rounds, alternatives: !arguments.no_alternatives })
    }

    fn served<'a>(&'a self, runtime: &'a Runtime, server: &'a Server) -> Result<Figures<'a>, BenchError> {
        let Self { home, host, sandbox, rounds, .. } = self;
        let figures = Figures { home, host, sandbox, runtime, server, rounds: *rounds };
        figures.prepare()?;
        Ok(figures)
    }

    /// Made one by one, when it is their turn: alternatives start containers.
    fn figures<'a>(&'a self, runtime: &'a Runtime) -> Vec<(&'static str, Lazy<'a>)> {
        vec![
            ("exec: bash -c true", Box::new(|| Ok(self.exec(runtime, &["bash", "-c", "true"], 1.35)))),
            ("exec: true", Box::new(|| Ok(self.exec(runtime, &["true"], 1.4)))),
            ("throughput: bash -c true, 64 callers", Box::new(|| Ok(self.throughput(runtime)))),
            ("create: new sandbox to first result", Box::new(|| self.create(runtime))),
            ("output: 200 MiB of stdout", Box::new(|| Ok(self.output(runtime)))),
            ("memory: growth over 200 MiB of stdout", Box::new(|| Ok(self.memory(runtime)))),
            ("session: true", Box::new(|| session::exec(&self.sandbox, runtime, self.rounds))),
            ("session: create", Box::new(|| session::making(&self.sandbox, runtime, self.rounds))),
            ("session: 100 MiB of stdout", Box::new(|| session::output(&self.sandbox, runtime, self.rounds))),
            ("session: memory beyond bash's own", Box::new(|| Ok(session::memory(&self.sandbox, runtime)))),
            ("terminal: key to echo", Box::new(|| keystroke::figure(&self.sandbox, runtime, self.rounds))),
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
        // Of a bash, most is its own start, which costs everybody the same: that is compared, not judged.
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
            runtime.block_on(many(&self.sandbox, Command::argv(argv), total))?;
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

    fn create<'a>(&'a self, runtime: &'a Runtime) -> Result<Figure<'a>, BenchError> {
        let subject = move || {
            let started = Instant::now();
            let (sandbox, took) = runtime
                .block_on(async {
                    let sandbox = self.host.create(SandboxOptions::default()).await?;
                    sandbox.exec(Command::argv(["bash", "-c", "true"])).await.and_then(succeeded)?;
                    Ok::<_, Error>((sandbox, started.elapsed()))
                })
                .map_err(BenchError::contender)?;
            runtime.block_on(sandbox.destroy()).map_err(BenchError::contender)?;
            Ok(Sample::Took(took))
        };
        let floor = RawSandbox::new(&self.home).map(|mut raw| Prepared::new(move || raw.measure().map(Sample::Took)));
        let mut figure = Figure::new("create: new sandbox to first result", Unit::Latency)
            .rounds((self.rounds / 2).max(6))
            .warm_up(3)
            .with(Contender::floor("clone3, mounts and bash by hand", floor))
            .with(
                Contender::subject("atoll create + exec", Ok(Prepared::new(subject)))
                    .target(Target::at_most_times_floor(3.0)),
            );
        if self.alternatives {
            let argv = Argv::new(["bash", "-c", "true"]);
            figure = figure
                .with(Contender::alternative("bwrap", bwrap(&argv)))
                .with(Contender::alternative("crun run", crun_run(&std::env::temp_dir(), Cgroups::Off, &argv)));
        }
        Ok(figure)
    }

    fn output<'a>(&'a self, runtime: &'a Runtime) -> Figure<'a> {
        let subject = move || {
            let started = Instant::now();
            runtime.block_on(print_much(&self.sandbox)).map_err(BenchError::contender)?;
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
            let before = resident()?;
            runtime.block_on(print_much(&self.sandbox)).map_err(BenchError::contender)?;
            Ok(Sample::Bytes(resident()? - before))
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

fn succeeded(output: atoll_runtime::ExecOutput) -> Result<(), Error> {
    if output.end.success() {
        return Ok(());
    }
    Err(Error::Internal { what: format!("the measured command failed: {:?}", output.end) })
}

async fn many(sandbox: &Sandbox, command: Command, total: u64) -> Result<(), BenchError> {
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

async fn print_much(sandbox: &Sandbox) -> Result<(), Error> {
    let process = sandbox.start(ProcessSpec::new(Command::shell(format!("head -c {OUTPUT_BYTES} /dev/zero")))).await?;
    process.gone().await?;
    let printed = process.log().end();
    sandbox.remove_process(process.id())?;
    if printed == OUTPUT_BYTES { Ok(()) } else { Err(Error::Internal { what: format!("only {printed} bytes came") }) }
}

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
        Err(Error::Internal { what: format!("the kill was not whole: {receipt:?}") })
    }
}

/// Resident memory of this process.
fn resident() -> Result<i64, BenchError> {
    let status = fs::read_to_string("/proc/self/status").map_err(BenchError::contender)?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kilobytes: i64 = line.trim().trim_end_matches(" kB").parse().map_err(BenchError::contender)?;
    Ok(kilobytes * 1024)
}

/// The floor of creating: the same plan by hand.
struct RawSandbox {
    floor: Floor,
    home: Home,
    root: HostRoot,
    ids: Ids,
    next: u32,
}

impl RawSandbox {
    fn new(home: &Home) -> Result<Self, BenchError> {
        let launcher = Launcher::new().map_err(BenchError::contender)?;
        Ok(Self {
            floor: Floor::start(&launcher).map_err(BenchError::contender)?,
            root: HostRoot::prepare(&home.cache.join("roots")).map_err(BenchError::contender)?,
            ids: Ids::claim().map_err(BenchError::contender)?,
            home: home.clone(),
            next: 0,
        })
    }

    fn measure(&mut self) -> Result<Duration, BenchError> {
        // Named and locked like a sandbox's directory: if we are killed, the next start of Atoll removes it.
        let disk = self.home.state.join(format!("sandboxes/floor-{}-{}", std::process::id(), self.next));
        self.next += 1;
        fs::create_dir_all(&disk).map_err(BenchError::contender)?;
        let lock = fs::File::create(disk.join("lock")).map_err(BenchError::contender)?;
        lock.lock().map_err(BenchError::contender)?;
        let plan = atoll_isolation::Plan::isolated(&Spec {
            ids: self.ids.map(),
            base: self.root.base.clone(),
            system: self.root.system.clone(),
            added_to: self.root.added_to.clone(),
            disk: Disk { path: disk.clone() },
            privileged: true,
            idmapped: true,
            quotas: atoll_isolation::Quotas::default(),
        });
        let took = self.floor.measure(&plan, &disk, &["/bin/bash", "-c", "true"]);
        atoll_isolation::remove_directory(&disk).map_err(BenchError::contender)?;
        took.map_err(BenchError::contender)
    }
}
