//! Agents as processes on this machine: one per sandbox, with a socket in the sandbox's directory.
//!
//! An agent that serves a sandbox is independent of the gateway that started it: it has its own session, keeps none of
//! the gateway's descriptors, and keeps running when the gateway exits for any reason. A gateway finds it again by its
//! socket, and learns its pid from the kernel.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use atoll_http::{SpliceStream, Stream};
use atoll_protocol::{ErrorCode, SandboxName, SandboxSpec, SandboxState};
use hyper::Method;
use rustix::process::Signal;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use super::prewarmed::{Prewarmed, PrewarmedPool};
use super::process::{Process, start_time};
use super::{Agent, AgentStream, BoxFuture, DialError, Placement, PoolStatus, PortStream, StartError, dial};
use crate::agent_client;
use crate::registry::Disk;

/// How long a running agent may take to respond.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an agent may take to end the processes in its sandbox and exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(15);

/// How long an agent that an earlier gateway was starting may take to respond or exit, and the interval between
/// checks.
const LEFTOVER_TIMEOUT: Duration = Duration::from_secs(10);
const LEFTOVER_POLL: Duration = Duration::from_millis(50);

/// Agents that may start concurrently: starting is CPU-bound.
const STARTS_MAX: usize = 8;

/// How agents are started.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// The executable, normally the running one.
    pub program: PathBuf,
    /// Its arguments for starting as a pre-warmed agent.
    pub arguments: Vec<String>,
    /// Number of pre-warmed sandboxes to keep ready.
    pub warm: usize,
    /// Removes a sandbox's directory, regardless of the permissions that its user has set in it.
    pub remove: fn(&Path) -> io::Result<()>,
}

/// A placement that runs agents as local processes.
#[derive(Debug)]
pub struct Local {
    options: Arc<LocalOptions>,
    disk: Disk,
    pool: PrewarmedPool,
    starting: Semaphore,
}

impl Local {
    pub(crate) fn new(options: LocalOptions, disk: Disk) -> Self {
        let options = Arc::new(options);
        let pool = PrewarmedPool::new(Arc::clone(&options), disk.pool());
        Self { options, disk, pool, starting: Semaphore::new(STARTS_MAX) }
    }

    async fn try_start(&self, name: &SandboxName, spec: &SandboxSpec) -> Result<Agent, StartError> {
        let failed = |error: &dyn std::fmt::Display| StartError::Failed(format!("cannot be started: {error}"));
        let _permit = self.starting.acquire().await.map_err(|error| failed(&error))?;
        let dir = self.disk.sandbox(name);
        let agent = self.pool.take(is_plain(spec) && !dir.join("storage").exists());
        let started = match agent {
            Some(agent) => agent.serve(spec, &dir).await,
            None => Err(StartError::Failed("no pre-warmed agent is available".to_owned())),
        };
        // A pre-warmed agent may have died a moment ago, which says nothing about the next.
        let started = match started {
            Err(StartError::Failed(_)) => {
                Prewarmed::start(&self.options).map_err(|error| failed(&error))?.serve(spec, &dir).await
            }
            result => result,
        };
        // Not earlier: starting another one would compete with the one that a client waits for.
        self.pool.refill();
        let pid = started.map_err(|error| with_last_log_line(&dir, error))?;
        let address = dir.join("agent.sock").to_string_lossy().into();
        let start = start_time(pid).ok_or_else(|| StartError::Failed("exited as soon as it was ready".to_owned()))?;
        Ok(Agent { pid, start, address })
    }

    async fn find_now(&self, name: &SandboxName) -> Option<Agent> {
        let dir = self.disk.sandbox(name);
        let address = dir.join("agent.sock").to_str()?.into();
        let stream = connect_below(&dir).await.ok()?;
        // The process that listens on the socket, according to the kernel (unix(7), SO_PEERCRED).
        let pid = u32::try_from(stream.peer_cred().ok()?.pid()?).ok()?;
        let start = start_time(pid)?;
        let info = timeout(REPLY_TIMEOUT, agent_client::info(Box::new(stream))).await.ok()?.ok()?;
        // An agent whose sandbox was killed can only be stopped.
        (info.state != SandboxState::Lost).then_some(Agent { pid, start, address })
    }

    /// Requests a shutdown first, so that commands get their end records; then kills the agent.
    async fn end(&self, agent: &Agent) -> io::Result<()> {
        let Some(process) = Process::open(agent.pid, agent.start)? else { return Ok(()) };
        if let Ok(wire) = self.connect(agent).await {
            drop(timeout(EXIT_TIMEOUT, agent_client::request(wire, Method::DELETE, "/v1/sandbox")).await);
        }
        for (signal, limit) in [(None, REPLY_TIMEOUT), (Some(Signal::TERM), EXIT_TIMEOUT)] {
            signal.map_or(Ok(()), |signal| process.signal(signal))?;
            if process.exits_within(limit).await {
                return Ok(());
            }
        }
        // Its keeper process cleans up.
        process.signal(Signal::KILL)?;
        process.gone().await;
        Ok(())
    }
}

/// Whether a pre-warmed sandbox meets the spec.
fn is_plain(spec: &SandboxSpec) -> bool {
    let plain = SandboxSpec::default();
    spec.isolation == plain.isolation && spec.limits == plain.limits
}

/// Appends the last line of the agent's log, if it has one and the agent reported no error itself.
fn with_last_log_line(dir: &Path, error: StartError) -> StartError {
    let StartError::Failed(why) = error else { return error };
    let log = std::fs::read_to_string(dir.join("agent.log")).unwrap_or_default();
    StartError::Failed(match log.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) => format!("{why}: {line}"),
        None => why,
    })
}

/// Connects through a descriptor on the directory, so that the path may exceed the limit of socket addresses.
async fn connect_below(dir: &Path) -> io::Result<UnixStream> {
    let opened = File::open(dir)?;
    UnixStream::connect(format!("/proc/self/fd/{}/agent.sock", opened.as_raw_fd())).await
}

impl Placement for Local {
    fn fill_pool(&self) {
        self.pool.refill();
    }

    fn pool(&self) -> PoolStatus {
        self.pool.pool()
    }

    fn drain_pool<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(self.pool.drain_pool())
    }

    fn close<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(self.pool.close())
    }

    /// Starts an agent. A killed gateway may have left an agent that was still starting and holds the storage's lock.
    /// A new agent is refused until that one either responds, or has exited because its gateway is gone.
    fn start<'a>(&'a self, name: &'a SandboxName, spec: &'a SandboxSpec) -> BoxFuture<'a, Result<Agent, StartError>> {
        Box::pin(async move {
            let deadline = Instant::now() + LEFTOVER_TIMEOUT;
            loop {
                let refused = match self.try_start(name, spec).await {
                    Err(StartError::Refused(body)) if body.code == ErrorCode::StorageBusy => body,
                    other => return other,
                };
                if let Some(agent) = self.find_now(name).await {
                    return Ok(agent);
                }
                if Instant::now() >= deadline {
                    return Err(StartError::Refused(refused));
                }
                // The kernel has no event for the release of another process's lock.
                sleep(LEFTOVER_POLL).await;
            }
        })
    }

    fn find<'a>(&'a self, name: &'a SandboxName) -> BoxFuture<'a, Option<Agent>> {
        Box::pin(self.find_now(name))
    }

    fn stop<'a>(&'a self, agent: &'a Agent) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(self.end(agent))
    }

    fn gone(&self, agent: &Agent) -> BoxFuture<'static, ()> {
        let process = Process::open(agent.pid, agent.start);
        Box::pin(async move {
            if let Ok(Some(process)) = process {
                process.gone().await;
            }
        })
    }

    fn connect<'a>(&'a self, agent: &'a Agent) -> BoxFuture<'a, io::Result<AgentStream>> {
        Box::pin(async move {
            let dir = Path::new(&*agent.address).parent().unwrap_or(Path::new("/"));
            let socket = atoll_http::UnixSocket::try_from(connect_below(dir).await?)?;
            Ok(Box::new(SpliceStream::new(Stream::Unix(socket))) as AgentStream)
        })
    }

    fn dial<'a>(&'a self, agent: &'a Agent, port: u16) -> BoxFuture<'a, Result<PortStream, DialError>> {
        Box::pin(async move {
            let dir = Path::new(&*agent.address).parent().unwrap_or(Path::new("/"));
            dial::socket(connect_below(dir).await?, port).await
        })
    }

    fn remove<'a>(&'a self, name: &'a SandboxName) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            let Some(trash) = self.disk.discard(name)? else { return Ok(()) };
            let remove = self.options.remove;
            // Directories that cannot be removed now are removed at the next start.
            tokio::task::spawn_blocking(move || drop(remove(&trash))).await.map_err(io::Error::other)
        })
    }
}
