//! The figures: each asks the server and the library for the same, in turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use atoll_bench::floors::{Until, spawn_rate};
use atoll_bench::{Argv, BenchError, Contender, Figure, Prepared, Sample, Target, Unit};
use atoll_runtime::{Command, Error, Home, Host, Sandbox, SandboxOptions, Session, SessionSpec};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::super::succeeded;
use super::machine;
use super::wire::Wire;
use super::{STANDING, Server};

/// What the server may add to a command.
const ADDED: Duration = Duration::from_micros(200);

/// How long a sandbox may take that was made ahead of its time, with its first command.
const MADE_AHEAD: Duration = Duration::from_millis(5);

/// How long the server takes to make ready for the next create.
const SETTLES: Duration = Duration::from_millis(40);

/// Clients at once, and commands of all of them in one turn. They share the number, as the floor's threads do: none is
/// left to do its last ones alone.
const CLIENTS: usize = 64;
const COMMANDS: usize = 20 * CLIENTS;

/// Output in the stream figure.
const STREAMED: u64 = 1024 * 1024 * 1024;

/// What an idle agent with its init may take, and an idle gateway.
const AGENT_BYTES: u64 = 6 * 1024 * 1024;
const GATEWAY_BYTES: u64 = 40 * 1024 * 1024;

/// Everything the figures need.
pub(crate) struct Figures<'a> {
    pub(crate) home: &'a Home,
    pub(crate) host: &'a Host,
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) runtime: &'a Runtime,
    pub(crate) server: &'a Server,
    pub(crate) rounds: usize,
}

/// Where in the server something is asked.
pub(super) fn inside(rest: &str) -> String {
    format!("/v1/sandboxes/{STANDING}/{rest}")
}

/// A sandbox in which nothing was ever done.
const IDLE: &str = "idle";

const TRUE: &str = r#"{"argv":["true"]}"#;
const SHELL_TRUE: &str = r#"{"command":"true"}"#;

async fn exec(wire: &mut Wire, path: &str, body: &str) -> Result<(), BenchError> {
    let answer = wire.ask("POST", path, body).await?;
    if answer.contains(r#""code":0"#) { Ok(()) } else { Err(BenchError::contender(answer)) }
}

/// A session on the server, by the id that it says.
async fn session(wire: &mut Wire) -> Result<String, BenchError> {
    let answer = wire.ask("POST", &inside("sessions"), "{}").await?;
    let answer: serde_json::Value = serde_json::from_str(&answer).map_err(BenchError::contender)?;
    Ok(answer["id"].as_str().unwrap_or_default().to_owned())
}

impl<'a> Figures<'a> {
    /// Makes the sandbox that stands.
    pub(crate) fn prepare(&self) -> Result<(), BenchError> {
        let make = async {
            let mut wire = self.server.wire().await?;
            wire.ask("PUT", &format!("/v1/sandboxes/{STANDING}"), "{}").await.map(drop)
        };
        self.runtime.block_on(make)
    }

    pub(super) fn wire(&self) -> Result<Wire, BenchError> {
        self.runtime.block_on(self.server.wire())
    }

    fn own_session(&self) -> Result<Session, BenchError> {
        self.runtime.block_on(self.sandbox.create_session(SessionSpec::default())).map_err(BenchError::contender)
    }

    fn beside_library(
        &self,
        name: &str,
        library: Result<Prepared<'a>, BenchError>,
        server: Result<Prepared<'a>, BenchError>,
    ) -> Figure<'a> {
        Figure::new(name, Unit::Latency)
            .rounds(self.rounds)
            .warm_up(10)
            .with(Contender::floor("the library", library))
            .with(Contender::subject("the server", server).target(Target::at_most_floor_plus(ADDED)))
    }

    pub(crate) fn exec(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, sandbox, mut wire) = (self.runtime, self.sandbox, self.wire()?);
        let own = move || Sample::time(|| runtime.block_on(sandbox.exec(Command::argv(["true"]))).and_then(succeeded));
        let server = move || Sample::time(|| runtime.block_on(exec(&mut wire, &inside("exec"), TRUE)));
        Ok(self.beside_library(name, Ok(Prepared::new(own)), Ok(Prepared::new(server))))
    }

    pub(crate) fn session(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, session, mut wire) = (self.runtime, self.own_session()?, self.wire()?);
        let id = runtime.block_on(self::session(&mut wire))?;
        let path = inside(&format!("sessions/{id}/exec"));
        let own = move || Sample::time(|| runtime.block_on(session.exec(Command::shell("true"))).and_then(succeeded));
        let server = move || Sample::time(|| runtime.block_on(exec(&mut wire, &path, SHELL_TRUE)));
        Ok(self.beside_library(name, Ok(Prepared::new(own)), Ok(Prepared::new(server))))
    }

    pub(crate) fn session_rate(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let own: Vec<Session> = (0..CLIENTS).map(|_| self.own_session()).collect::<Result<_, _>>()?;
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let mut wire = self.wire()?;
            let id = self.runtime.block_on(session(&mut wire))?;
            clients.push((wire, inside(&format!("sessions/{id}/exec"))));
        }
        let runtime = self.runtime;
        let library = move || counted(|| runtime.block_on(all_sessions(&own)));
        let server = move || {
            let started = Instant::now();
            clients = runtime.block_on(all_clients(std::mem::take(&mut clients), SHELL_TRUE))?;
            Ok(Sample::Counted { count: COMMANDS as u64, took: started.elapsed() })
        };
        Ok(Figure::new(name, Unit::Rate)
            .rounds((self.rounds / 10).max(6))
            .warm_up(1)
            .with(Contender::floor("the library", Ok(Prepared::new(library))))
            .with(
                Contender::subject("the server", Ok(Prepared::new(server))).target(Target::at_least_per_second(5000.0)),
            ))
    }

    pub(crate) fn exec_rate(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push((self.wire()?, inside("exec")));
        }
        let runtime = self.runtime;
        let server = move || {
            let started = Instant::now();
            clients = runtime.block_on(all_clients(std::mem::take(&mut clients), TRUE))?;
            Ok(Sample::Counted { count: COMMANDS as u64, took: started.elapsed() })
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let raw = spawn_rate(Argv::new(["true"]), cores, Until::Count(COMMANDS as u64));
        Ok(Figure::new(name, Unit::Rate)
            .rounds((self.rounds / 10).max(6))
            .warm_up(1)
            .with(Contender::floor("posix_spawn, a thread per core", raw))
            .with(
                Contender::subject("the server", Ok(Prepared::new(server)))
                    .target(Target::at_least_share_of_floor(0.7)),
            ))
    }

    pub(crate) fn stream(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut wire) = (self.runtime, self.wire()?);
        let server = move || {
            let started = Instant::now();
            runtime.block_on(stream(&mut wire))?;
            Ok(Sample::Moved { bytes: STREAMED, took: started.elapsed() })
        };
        Ok(Figure::new(name, Unit::Throughput).rounds((self.rounds / 20).max(3)).warm_up(1).with(
            Contender::subject("the server", Ok(Prepared::new(server))).target(Target::at_least_per_second(300e6)),
        ))
    }

    /// From nothing to the result of the first command: as a server does by itself, and with sandboxes made ahead.
    pub(crate) fn create(&self, name: &str, target: Target) -> Result<Figure<'a>, BenchError> {
        let (runtime, host, mut wire) = (self.runtime, self.host, self.wire()?);
        let own = move || runtime.block_on(library_create(host)).map(Sample::Took).map_err(BenchError::contender);
        let (mut next, mut next_warm) = (0, 0);
        let server = move || {
            next += 1;
            runtime.block_on(server_create(&mut wire, next)).map(Sample::Took)
        };
        let warm = Server::start(self.home, "warm", &["--warm", "4"])?;
        let mut warm_wire = runtime.block_on(warm.wire())?;
        let ahead = move || {
            // Lives as long as this does.
            let _held = &warm;
            next_warm += 1;
            runtime.block_on(server_create(&mut warm_wire, next_warm)).map(Sample::Took)
        };
        Ok(Figure::new(name, Unit::Latency)
            .rounds((self.rounds / 3).max(6))
            .warm_up(3)
            .with(Contender::floor("the library", Ok(Prepared::new(own))))
            .with(Contender::subject("the server", Ok(Prepared::new(server))).target(target))
            .with(
                Contender::subject("the server, made ahead", Ok(Prepared::new(ahead)))
                    .target(Target::at_most(MADE_AHEAD)),
            ))
    }

    pub(crate) fn agent_memory(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (home, mut wire) = (&self.server.home, self.wire()?);
        self.runtime.block_on(wire.ask("PUT", &format!("/v1/sandboxes/{IDLE}"), "{}"))?;
        let look = move || machine::agent_pss(home, IDLE).map(Sample::Bytes);
        Ok(Figure::new(name, Unit::Bytes).rounds(6).warm_up(0).with(
            Contender::subject("agent, keeper and init", Ok(Prepared::new(look)))
                .target(Target::at_most_bytes(AGENT_BYTES)),
        ))
    }

    pub(crate) fn gateway_memory(&self, name: &str) -> Figure<'a> {
        let pid = self.server.pid();
        let look = move || machine::pss(pid).map(Sample::Bytes);
        Figure::new(name, Unit::Bytes).rounds(6).warm_up(0).with(
            Contender::subject("the server", Ok(Prepared::new(look))).target(Target::at_most_bytes(GATEWAY_BYTES)),
        )
    }

    pub(crate) fn cold_start(&self, name: &str) -> Figure<'a> {
        let home = self.home;
        let start = move || Server::start(home, "cold", &[]).map(|server| Sample::Took(server.ready_after));
        Figure::new(name, Unit::Latency).rounds((self.rounds / 5).max(6)).warm_up(1).with(
            Contender::subject("atoll serve", Ok(Prepared::new(start)))
                .target(Target::at_most(Duration::from_millis(100))),
        )
    }
}

fn counted(work: impl FnOnce() -> Result<(), Error>) -> Result<Sample, BenchError> {
    let started = Instant::now();
    work().map_err(BenchError::contender)?;
    Ok(Sample::Counted { count: COMMANDS as u64, took: started.elapsed() })
}

/// Takes one command from what is left, if anything is.
fn goes_on(taken: &AtomicUsize) -> bool {
    taken.fetch_add(1, Ordering::Relaxed) < COMMANDS
}

async fn all_sessions(sessions: &[Session]) -> Result<(), Error> {
    let mut callers = JoinSet::new();
    let taken = Arc::new(AtomicUsize::new(0));
    for session in sessions {
        let (session, taken) = (session.clone(), Arc::clone(&taken));
        callers.spawn(async move {
            while goes_on(&taken) {
                session.exec(Command::shell("true")).await.and_then(succeeded)?;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(done) = callers.join_next().await {
        done.map_err(|error| Error::Internal { what: error.to_string() })??;
    }
    Ok(())
}

type Clients = Vec<(Wire, String)>;

async fn all_clients(clients: Clients, body: &'static str) -> Result<Clients, BenchError> {
    let mut callers = JoinSet::new();
    let taken = Arc::new(AtomicUsize::new(0));
    for (mut wire, path) in clients {
        let taken = Arc::clone(&taken);
        callers.spawn(async move {
            while goes_on(&taken) {
                exec(&mut wire, &path, body).await?;
            }
            Ok::<_, BenchError>((wire, path))
        });
    }
    let mut back = Vec::with_capacity(CLIENTS);
    while let Some(done) = callers.join_next().await {
        back.push(done.map_err(BenchError::contender)??);
    }
    Ok(back)
}

/// Text, as programs print it, followed from its beginning.
async fn stream(wire: &mut Wire) -> Result<(), BenchError> {
    let command = format!("yes 'what a program prints, line after line, as programs do' | head -c {STREAMED}");
    let body = serde_json::json!({ "id": "stream", "command": command }).to_string();
    wire.ask("POST", &inside("processes"), &body).await?;
    let read = wire.stream_until(&inside("processes/stream/output"), "text/event-stream", b"event: end\n").await;
    wire.ask("DELETE", &inside("processes/stream"), "").await?;
    read.map(drop)
}

async fn library_create(host: &Host) -> Result<Duration, Error> {
    let started = Instant::now();
    let sandbox = host.create(SandboxOptions::default()).await?;
    sandbox.exec(Command::argv(["true"])).await.and_then(succeeded)?;
    let took = started.elapsed();
    sandbox.destroy().await?;
    Ok(took)
}

async fn server_create(wire: &mut Wire, number: u32) -> Result<Duration, BenchError> {
    let path = format!("/v1/sandboxes/made-{number}");
    let started = Instant::now();
    wire.ask("PUT", &path, "{}").await?;
    exec(wire, &format!("{path}/exec"), TRUE).await?;
    let took = started.elapsed();
    wire.ask("DELETE", &path, "").await?;
    // What takes the sandbox's place is made meanwhile, and not in the next contender's time.
    tokio::time::sleep(SETTLES).await;
    Ok(took)
}
