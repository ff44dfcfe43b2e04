//! Agents as processes of this machine: one for each sandbox, with a socket in the sandbox's directory.
//!
//! An agent that serves a sandbox belongs to nobody: it is in a session of its own, keeps nothing of the gateway that
//! started it, and goes on when that ends, however that comes about. It is found again by its socket, and the kernel
//! tells who listens there.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use atoll_http::{Slipway, Stream};
use atoll_protocol::{ErrorCode, SandboxName, SandboxSpec, SandboxState};
use hyper::Method;
use rustix::process::Signal;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use super::process::{Process, start_time};
use super::spare::{Spare, Spares};
use super::{Agent, DialError, Inside, Placement, Pool, Promise, StartError, Wire, dial};
use crate::ask;
use crate::registry::Disk;

/// How long a living agent may take to say that it is one.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// How long an agent may take to end what is in its sandbox, and then itself.
const ENDS_WITHIN: Duration = Duration::from_secs(15);

/// How long an agent that another gateway began to start may take to answer or to end, and how often that is looked at.
const LEFT_OVER_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Agents that may be starting at once: it is all work for the processors.
const STARTING: usize = 8;

/// How agents are made here.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// The program: this one, as a rule.
    pub program: PathBuf,
    /// Its arguments, for an agent that waits for orders.
    pub arguments: Vec<String>,
    /// How many plain sandboxes are made before anybody asks for one.
    pub warm: usize,
    /// Removes a sandbox's directory, whatever its user made of the permissions in it.
    pub remove: fn(&Path) -> io::Result<()>,
}

/// See the module.
#[derive(Debug)]
pub struct Local {
    options: Arc<LocalOptions>,
    disk: Disk,
    spares: Spares,
    starting: Semaphore,
}

impl Local {
    pub(crate) fn new(options: LocalOptions, disk: Disk) -> Self {
        let options = Arc::new(options);
        let spares = Spares::new(Arc::clone(&options), disk.pool());
        Self { options, disk, spares, starting: Semaphore::new(STARTING) }
    }

    async fn try_start(&self, name: &SandboxName, spec: &SandboxSpec) -> Result<Agent, StartError> {
        let failed = |error: &dyn std::fmt::Display| StartError::Failed(format!("cannot be started: {error}"));
        let _turn = self.starting.acquire().await.map_err(|error| failed(&error))?;
        let dir = self.disk.sandbox(name);
        let spare = self.spares.take(is_plain(spec) && !dir.join("storage").exists());
        let started = match spare {
            Some(spare) => spare.serve(spec, &dir).await,
            None => Err(StartError::Failed("there is none".to_owned())),
        };
        // One that waited may have died a moment ago, which says nothing about the next.
        let started = match started {
            Err(StartError::Failed(_)) => {
                Spare::start(&self.options).map_err(|error| failed(&error))?.serve(spec, &dir).await
            }
            told => told,
        };
        // Not before: it would be in the way of the one that somebody waits for.
        self.spares.refill();
        let pid = started.map_err(|error| with_last_words(&dir, error))?;
        let address = dir.join("agent.sock").to_string_lossy().into();
        let start = start_time(pid).ok_or_else(|| StartError::Failed("ended as soon as it was ready".to_owned()))?;
        Ok(Agent { pid, start, address })
    }

    async fn find_now(&self, name: &SandboxName) -> Option<Agent> {
        let dir = self.disk.sandbox(name);
        let address = dir.join("agent.sock").to_str()?.into();
        let stream = connect_below(&dir).await.ok()?;
        // Who made the socket listen, by the kernel's own account (unix(7), SO_PEERCRED).
        let pid = u32::try_from(stream.peer_cred().ok()?.pid()?).ok()?;
        let start = start_time(pid)?;
        let info = timeout(ANSWERS_WITHIN, ask::info(Box::new(stream))).await.ok()?.ok()?;
        // One whose sandbox was killed under it only waits to be ended.
        (info.state != SandboxState::Lost).then_some(Agent { pid, start, address })
    }

    /// Asked first, so that commands get their end records; then made to.
    async fn end(&self, agent: &Agent) -> io::Result<()> {
        let Some(process) = Process::open(agent.pid, agent.start)? else { return Ok(()) };
        if let Ok(wire) = self.connect(agent).await {
            drop(timeout(ENDS_WITHIN, ask::one(wire, Method::DELETE, "/v1/sandbox")).await);
        }
        for (signal, patience) in [(None, ANSWERS_WITHIN), (Some(Signal::TERM), ENDS_WITHIN)] {
            signal.map_or(Ok(()), |signal| process.signal(signal))?;
            if process.is_gone_within(patience).await {
                return Ok(());
            }
        }
        // Its keeper removes what it leaves.
        process.signal(Signal::KILL)?;
        process.gone().await;
        Ok(())
    }
}

/// Whether a sandbox that was made before anybody asked for it will do.
fn is_plain(spec: &SandboxSpec) -> bool {
    let plain = SandboxSpec::default();
    spec.isolation == plain.isolation && spec.limits == plain.limits
}

/// With the last line of its log, if it has one and said nothing itself.
fn with_last_words(dir: &Path, error: StartError) -> StartError {
    let StartError::Failed(why) = error else { return error };
    let log = std::fs::read_to_string(dir.join("agent.log")).unwrap_or_default();
    StartError::Failed(match log.lines().rfind(|line| !line.trim().is_empty()) {
        Some(words) => format!("{why}: {words}"),
        None => why,
    })
}

/// Connects by way of a descriptor on the directory, so that its path may be as long as it likes.
async fn connect_below(dir: &Path) -> io::Result<UnixStream> {
    let opened = File::open(dir)?;
    UnixStream::connect(format!("/proc/self/fd/{}/agent.sock", opened.as_raw_fd())).await
}

impl Placement for Local {
    fn get_ready(&self) {
        self.spares.refill();
    }

    fn pool(&self) -> Pool {
        self.spares.pool()
    }

    fn let_go<'a>(&'a self) -> Promise<'a, ()> {
        Box::pin(self.spares.let_go())
    }

    fn close<'a>(&'a self) -> Promise<'a, ()> {
        Box::pin(self.spares.close())
    }

    /// A gateway that was killed may have left an agent that was not ready yet. It holds the storage, so ours is refused
    /// until that one either answers, or has ended because there was nobody to tell that it is ready.
    fn start<'a>(&'a self, name: &'a SandboxName, spec: &'a SandboxSpec) -> Promise<'a, Result<Agent, StartError>> {
        Box::pin(async move {
            let deadline = Instant::now() + LEFT_OVER_WITHIN;
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
                // There is no event for a lock of somebody else's.
                sleep(LOOK_EVERY).await;
            }
        })
    }

    fn find<'a>(&'a self, name: &'a SandboxName) -> Promise<'a, Option<Agent>> {
        Box::pin(self.find_now(name))
    }

    fn stop<'a>(&'a self, agent: &'a Agent) -> Promise<'a, io::Result<()>> {
        Box::pin(self.end(agent))
    }

    fn gone(&self, agent: &Agent) -> Promise<'static, ()> {
        let process = Process::open(agent.pid, agent.start);
        Box::pin(async move {
            if let Ok(Some(process)) = process {
                process.gone().await;
            }
        })
    }

    fn connect<'a>(&'a self, agent: &'a Agent) -> Promise<'a, io::Result<Wire>> {
        Box::pin(async move {
            let dir = Path::new(&*agent.address).parent().unwrap_or(Path::new("/"));
            let socket = atoll_http::Local::try_from(connect_below(dir).await?)?;
            Ok(Box::new(Slipway::new(Stream::Unix(socket))) as Wire)
        })
    }

    fn dial<'a>(&'a self, agent: &'a Agent, port: u16) -> Promise<'a, Result<Inside, DialError>> {
        Box::pin(async move {
            let dir = Path::new(&*agent.address).parent().unwrap_or(Path::new("/"));
            dial::socket(connect_below(dir).await?, port).await
        })
    }

    fn remove<'a>(&'a self, name: &'a SandboxName) -> Promise<'a, io::Result<()>> {
        Box::pin(async move {
            let Some(trash) = self.disk.discard(name)? else { return Ok(()) };
            let remove = self.options.remove;
            // What cannot be removed now is tried again at the next start.
            tokio::task::spawn_blocking(move || drop(remove(&trash))).await.map_err(io::Error::other)
        })
    }
}
