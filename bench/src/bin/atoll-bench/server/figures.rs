//! Server figures: each does the same work through the server and through the library, turn by turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use atoll_bench::floors::{Until, spawn_rate};
use atoll_bench::{Argv, BenchError, Contender, Figure, Prepared, Sample, Target, Unit};
use atoll_runtime::{Command, Error, Home, Host, Sandbox, SandboxOptions, Session, SessionSpec};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::connection::Connection;
use super::{SHARED, Server, memory};
use crate::Lazy;
use crate::library::{Library, succeeded};

/// Time that the server may add to a command.
const ADDED: Duration = Duration::from_micros(200);

/// Time that a pre-warmed sandbox may take, with its first command.
const PRE_WARMED: Duration = Duration::from_millis(5);

/// Time that the server needs to refill its pool before the next create.
const SETTLES: Duration = Duration::from_millis(40);

/// Concurrent clients.
const CLIENTS: usize = 64;
/// Commands in one turn. All clients draw from this number, as the floor's threads do, so that all work until the end.
const COMMANDS: usize = 20 * CLIENTS;

/// Size of the output in the stream figure.
const STREAMED: u64 = 1024 * 1024 * 1024;

/// Memory that an idle agent with its keeper and init may use.
const AGENT_BYTES: u64 = 6 * 1024 * 1024;
/// Memory that an idle gateway may use.
const GATEWAY_BYTES: u64 = 40 * 1024 * 1024;

/// Builds the figures that need a server.
pub(crate) struct Figures<'a> {
    home: &'a Home,
    host: &'a Host,
    sandbox: &'a Sandbox,
    pub(super) runtime: &'a Runtime,
    pub(super) server: &'a Server,
    pub(super) rounds: usize,
}

/// Names of the figures that need a server.
pub(crate) const NAMES: [&str; 18] = [
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
    "files: write 1 KiB",
    "files: read 1 KiB",
    "files: 1 GiB up",
    "files: 1 GiB down",
    "files: list 100,000 files",
    "files: search 1 GiB",
];

type Build<'a> = fn(&Figures<'a>, &str) -> Result<Figure<'a>, BenchError>;

/// Returns every figure of the server by name.
pub(crate) fn figures_of<'a, 'b: 'a>(figures: &'b Figures<'a>) -> Vec<(&'static str, Lazy<'a>)> {
    let build: [Build<'a>; NAMES.len()] = [
        |figures, name| figures.exec(name),
        |figures, name| figures.session(name),
        |figures, name| figures.session_rate(name),
        |figures, name| figures.exec_rate(name),
        |figures, name| figures.stream(name),
        |figures, name| figures.create(name),
        |figures, name| figures.agent_memory(name),
        |figures, name| Ok(figures.gateway_memory(name)),
        |figures, name| Ok(figures.cold_start(name)),
        |figures, name| Ok(figures.preview(name)),
        |figures, name| Ok(figures.preview_down(name)),
        |figures, name| Ok(figures.preview_up(name)),
        |figures, name| figures.write_small(name),
        |figures, name| figures.read_small(name),
        |figures, name| figures.upload(name),
        |figures, name| figures.download(name),
        |figures, name| figures.list_many(name),
        |figures, name| figures.search(name),
    ];
    let lazy = NAMES.into_iter().zip(build);
    lazy.map(|(name, build)| (name, Box::new(move || build(figures, name)) as Lazy<'a>)).collect()
}

/// Returns the path of a route of the shared sandbox.
pub(super) fn inside(rest: &str) -> String {
    format!("/v1/sandboxes/{SHARED}/{rest}")
}

/// Name of a sandbox in which no command was ever run.
const IDLE: &str = "idle";

const TRUE: &str = r#"{"argv":["true"]}"#;
const SHELL_TRUE: &str = r#"{"command":"true"}"#;

async fn exec(connection: &mut Connection, path: &str, body: &str) -> Result<(), BenchError> {
    let answer = connection.request("POST", path, body).await?;
    if answer.contains(r#""code":0"#) { Ok(()) } else { Err(BenchError::contender(answer)) }
}

/// Creates a session on the server and returns its id.
async fn session(connection: &mut Connection) -> Result<String, BenchError> {
    let answer = connection.request("POST", &inside("sessions"), "{}").await?;
    let answer: serde_json::Value = serde_json::from_str(&answer).map_err(BenchError::contender)?;
    Ok(answer["id"].as_str().unwrap_or_default().to_owned())
}

impl<'a> Figures<'a> {
    /// Creates the shared sandbox.
    pub(crate) fn new(library: &'a Library, runtime: &'a Runtime, server: &'a Server) -> Result<Self, BenchError> {
        let Library { home, host, sandbox, rounds, .. } = library;
        let figures = Self { home, host, sandbox, runtime, server, rounds: *rounds };
        let mut connection = figures.connect()?;
        runtime.block_on(connection.request("PUT", &format!("/v1/sandboxes/{SHARED}"), "{}"))?;
        Ok(figures)
    }

    pub(super) fn connect(&self) -> Result<Connection, BenchError> {
        self.runtime.block_on(self.server.connect())
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
        let (runtime, sandbox, mut connection) = (self.runtime, self.sandbox, self.connect()?);
        let own = move || Sample::time(|| runtime.block_on(sandbox.exec(Command::argv(["true"]))).and_then(succeeded));
        let server = move || Sample::time(|| runtime.block_on(exec(&mut connection, &inside("exec"), TRUE)));
        Ok(self.beside_library(name, Ok(Prepared::new(own)), Ok(Prepared::new(server))))
    }

    pub(crate) fn session(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, session, mut connection) = (self.runtime, self.own_session()?, self.connect()?);
        let id = runtime.block_on(self::session(&mut connection))?;
        let path = inside(&format!("sessions/{id}/exec"));
        let own = move || Sample::time(|| runtime.block_on(session.exec(Command::shell("true"))).and_then(succeeded));
        let server = move || Sample::time(|| runtime.block_on(exec(&mut connection, &path, SHELL_TRUE)));
        Ok(self.beside_library(name, Ok(Prepared::new(own)), Ok(Prepared::new(server))))
    }

    pub(crate) fn session_rate(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let own: Vec<Session> = (0..CLIENTS).map(|_| self.own_session()).collect::<Result<_, _>>()?;
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let mut connection = self.connect()?;
            let id = self.runtime.block_on(session(&mut connection))?;
            clients.push((connection, inside(&format!("sessions/{id}/exec"))));
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
            clients.push((self.connect()?, inside("exec")));
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
        let (runtime, mut connection) = (self.runtime, self.connect()?);
        let server = move || {
            let started = Instant::now();
            runtime.block_on(stream(&mut connection))?;
            Ok(Sample::Moved { bytes: STREAMED, took: started.elapsed() })
        };
        Ok(Figure::new(name, Unit::Throughput).rounds((self.rounds / 20).max(3)).warm_up(1).with(
            Contender::subject("the server", Ok(Prepared::new(server))).target(Target::at_least_per_second(300e6)),
        ))
    }

    /// Creates a sandbox and runs a command in it: on a server without a pool, and on one with pre-warmed sandboxes.
    pub(crate) fn create(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, host, mut connection) = (self.runtime, self.host, self.connect()?);
        let own = move || runtime.block_on(library_create(host)).map(Sample::Took).map_err(BenchError::contender);
        let (mut next, mut next_warm) = (0, 0);
        let server = move || {
            next += 1;
            runtime.block_on(server_create(&mut connection, next)).map(Sample::Took)
        };
        let warm = Server::start(&self.server.program, self.home, "warm", &["--warm", "4"])?;
        let mut warm_connection = runtime.block_on(warm.connect())?;
        let pre_warmed = move || {
            // The closure owns the server, which ends when it is dropped.
            let _owned = &warm;
            next_warm += 1;
            runtime.block_on(server_create(&mut warm_connection, next_warm)).map(Sample::Took)
        };
        Ok(Figure::new(name, Unit::Latency)
            .rounds((self.rounds / 3).max(6))
            .warm_up(3)
            .with(Contender::floor("the library", Ok(Prepared::new(own))))
            .with(Contender::subject("the server", Ok(Prepared::new(server))).target(Target::at_most_times_floor(1.5)))
            .with(
                Contender::subject("the server, pre-warmed", Ok(Prepared::new(pre_warmed)))
                    .target(Target::at_most(PRE_WARMED)),
            ))
    }

    pub(crate) fn agent_memory(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (home, mut connection) = (&self.server.home, self.connect()?);
        self.runtime.block_on(connection.request("PUT", &format!("/v1/sandboxes/{IDLE}"), "{}"))?;
        let look = move || memory::agent_pss(home, IDLE).map(Sample::Bytes);
        Ok(Figure::new(name, Unit::Bytes).rounds(6).warm_up(0).with(
            Contender::subject("agent, keeper and init", Ok(Prepared::new(look)))
                .target(Target::at_most_bytes(AGENT_BYTES)),
        ))
    }

    pub(crate) fn gateway_memory(&self, name: &str) -> Figure<'a> {
        let pid = self.server.pid();
        let look = move || memory::pss(pid).map(Sample::Bytes);
        Figure::new(name, Unit::Bytes).rounds(6).warm_up(0).with(
            Contender::subject("the server", Ok(Prepared::new(look))).target(Target::at_most_bytes(GATEWAY_BYTES)),
        )
    }

    pub(crate) fn cold_start(&self, name: &str) -> Figure<'a> {
        let (program, home) = (&self.server.program, self.home);
        let start = move || Server::start(program, home, "cold", &[]).map(|server| Sample::Took(server.ready_after));
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

/// Draws one of the turn's commands; false if all are drawn.
fn draw(taken: &AtomicUsize) -> bool {
    taken.fetch_add(1, Ordering::Relaxed) < COMMANDS
}

async fn all_sessions(sessions: &[Session]) -> Result<(), Error> {
    let mut callers = JoinSet::new();
    let taken = Arc::new(AtomicUsize::new(0));
    for session in sessions {
        let (session, taken) = (session.clone(), Arc::clone(&taken));
        callers.spawn(async move {
            while draw(&taken) {
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

type Clients = Vec<(Connection, String)>;

async fn all_clients(clients: Clients, body: &'static str) -> Result<Clients, BenchError> {
    let mut callers = JoinSet::new();
    let taken = Arc::new(AtomicUsize::new(0));
    for (mut connection, path) in clients {
        let taken = Arc::clone(&taken);
        callers.spawn(async move {
            while draw(&taken) {
                exec(&mut connection, &path, body).await?;
            }
            Ok::<_, BenchError>((connection, path))
        });
    }
    let mut back = Vec::with_capacity(CLIENTS);
    while let Some(done) = callers.join_next().await {
        back.push(done.map_err(BenchError::contender)??);
    }
    Ok(back)
}

/// Starts a process that prints text lines and follows its output from the beginning.
async fn stream(connection: &mut Connection) -> Result<(), BenchError> {
    let command = format!("yes 'what a program prints, line after line, as programs do' | head -c {STREAMED}");
    let body = serde_json::json!({ "id": "stream", "command": command }).to_string();
    connection.request("POST", &inside("processes"), &body).await?;
    let read = connection.stream_until(&inside("processes/stream/output"), "text/event-stream", b"event: end\n").await;
    connection.request("DELETE", &inside("processes/stream"), "").await?;
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

async fn server_create(connection: &mut Connection, number: u32) -> Result<Duration, BenchError> {
    let path = format!("/v1/sandboxes/made-{number}");
    let started = Instant::now();
    connection.request("PUT", &path, "{}").await?;
    exec(connection, &format!("{path}/exec"), TRUE).await?;
    let took = started.elapsed();
    connection.request("DELETE", &path, "").await?;
    // The server refills its pool now, and not during the next contender's turn.
    tokio::time::sleep(SETTLES).await;
    Ok(took)
}
