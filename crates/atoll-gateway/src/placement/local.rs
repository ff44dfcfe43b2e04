//! Agents as processes of this machine: one for each sandbox, with a socket in the sandbox's directory.
//!
//! An agent belongs to nobody: it goes into a session of its own, its first process ends when it is ready, and it goes
//! on when the gateway ends, however that comes about. It is found again by its socket, and the kernel tells who
//! listens there.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use atoll_protocol::{ErrorAnswer, ErrorCode, SandboxName, SandboxSpec, SandboxState};
use hyper::Method;
use rustix::process::Signal;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdout};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use super::process::{Process, start_time};
use super::{Agent, DialError, Inside, Placement, Promise, StartError, Wire, dial};
use crate::ask;
use crate::registry::Disk;

/// How long an agent may take to make its sandbox. It takes milliseconds; a machine that swaps may take its time.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// How long a living agent may take to say that it is one.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// How long an agent may take to end what is in its sandbox, and then itself.
const ENDS_WITHIN: Duration = Duration::from_secs(15);

/// How long an agent that another gateway began to start may take to answer or to end, and how often that is looked at.
const LEFT_OVER_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Agents that may be starting at once: it is all work for the processors.
const STARTING: usize = 8;

/// The longest line in which an agent says that it is ready, or why not.
const LINE_MAX: u64 = 64 * 1024;

/// What an agent gets of our own environment: nothing that may be a secret of ours.
const PASSED_ON: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "TZ",
    "ATOLL_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "RUST_LOG",
    "RUST_BACKTRACE",
];

/// How agents are made here.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// The program: this one, as a rule.
    pub program: PathBuf,
    /// What stands before the agent's own arguments.
    pub arguments: Vec<String>,
    /// Removes a sandbox's directory, whatever its user made of the permissions in it.
    pub remove: fn(&Path) -> io::Result<()>,
}

/// See the module.
#[derive(Debug)]
pub struct Local {
    options: LocalOptions,
    disk: Disk,
    starting: Arc<Semaphore>,
}

/// The first line of an agent's standard output.
#[derive(Debug, Deserialize)]
struct FirstLine {
    #[serde(default)]
    ready: bool,
}

impl Local {
    pub(crate) fn new(options: LocalOptions, disk: Disk) -> Self {
        Self { options, disk, starting: Arc::new(Semaphore::new(STARTING)) }
    }

    async fn try_start(&self, name: &SandboxName, spec: &SandboxSpec) -> Result<Agent, StartError> {
        let failed = |what: &str, error: &dyn std::fmt::Display| StartError::Failed(format!("{what}: {error}"));
        let _turn = self.starting.acquire().await.map_err(|error| failed("cannot be started", &error))?;
        let dir = self.disk.sandbox(name);
        let mut child = self.spawn(&dir).map_err(|error| failed("cannot be started", &error))?;
        let ready = timeout(READY_WITHIN, converse(&mut child, spec)).await;
        match ready.unwrap_or_else(|_| Err(StartError::Failed("was not ready in time".to_owned()))) {
            Ok(()) => {}
            Err(refused @ StartError::Refused(_)) => return Err(refused),
            Err(StartError::Failed(why)) => {
                // It must not go on by itself after we said that there is none.
                drop(child.kill().await);
                return Err(StartError::Failed(with_last_words(&dir, why)));
            }
        }
        // The child is not waited for here: tokio reaps what is dropped.
        self.find_now(name).await.ok_or_else(|| StartError::Failed("ended as soon as it was ready".to_owned()))
    }

    #[expect(clippy::disallowed_methods, reason = "an agent is a process of the host, not of a sandbox")]
    fn spawn(&self, dir: &Path) -> io::Result<Child> {
        let log = File::options().create(true).append(true).mode(0o600).open(dir.join("agent.log"))?;
        let mut command = std::process::Command::new(&self.options.program);
        command.args(&self.options.arguments).args(["--socket", "agent.sock", "--storage", "storage"]);
        command.args(["--spec", "-", "--log", "agent.log", "--json"]);
        command.current_dir(dir).env_clear();
        command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        tokio::process::Command::from(command).spawn()
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

/// Tells the agent what to make, and reads what it says to that.
async fn converse(child: &mut Child, spec: &SandboxSpec) -> Result<(), StartError> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(StartError::Failed("cannot be talked to".to_owned()));
    };
    let spec = serde_json::to_vec(spec).map_err(|error| StartError::Failed(error.to_string()))?;
    // An agent that ends at once says why on its output.
    drop(stdin.write_all(&spec).await);
    drop(stdin);
    first_line(stdout).await
}

async fn first_line(stdout: ChildStdout) -> Result<(), StartError> {
    let mut line = String::new();
    let read = BufReader::new(stdout.take(LINE_MAX)).read_line(&mut line).await;
    read.map_err(|error| StartError::Failed(format!("cannot be read: {error}")))?;
    if let Ok(FirstLine { ready: true }) = serde_json::from_str(&line) {
        return Ok(());
    }
    match serde_json::from_str::<ErrorAnswer>(&line) {
        Ok(answer) => Err(StartError::Refused(answer.error)),
        Err(_) => Err(StartError::Failed("ended without a word".to_owned())),
    }
}

/// The last line of its log, if it has one.
fn with_last_words(dir: &Path, why: String) -> String {
    let log = std::fs::read_to_string(dir.join("agent.log")).unwrap_or_default();
    match log.lines().rfind(|line| !line.trim().is_empty()) {
        Some(words) => format!("{why}: {words}"),
        None => why,
    }
}

/// Connects by way of a descriptor on the directory, so that its path may be as long as it likes.
async fn connect_below(dir: &Path) -> io::Result<UnixStream> {
    let opened = File::open(dir)?;
    UnixStream::connect(format!("/proc/self/fd/{}/agent.sock", opened.as_raw_fd())).await
}

impl Placement for Local {
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
            connect_below(dir).await.map(|stream| Box::new(stream) as Wire)
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
