//! Pre-warmed agents, so that creating a sandbox does not wait for one to start. Each is a child of the gateway that
//! waits for orders and exits with it; once it serves a sandbox, it is independent.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atoll_protocol::{AgentReady, ErrorAnswer, SandboxSpec, SpareOrder, SparePrepared};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::{sleep, timeout};

use super::local::LocalOptions;
use super::{PoolStatus, StartError};

/// How long an agent may take to create its sandbox. Normally milliseconds; more on a machine that swaps.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long an unused agent may take to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest line that is read from an agent.
const LINE_MAX: u64 = 64 * 1024;

/// Number of pre-warmed agents without a sandbox, which can serve any create.
const UNPREPARED_TARGET: usize = 1;

/// Delay before the next agent is started, so that the first request to the last one goes first.
const REFILL_DELAY: Duration = Duration::from_millis(5);

/// Environment variables that agents inherit. None of them holds a secret of the server.
const INHERITED_ENV: [&str; 12] = [
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

/// A pre-warmed agent.
#[derive(Debug)]
pub(super) struct Prewarmed {
    child: Child,
    orders: ChildStdin,
    words: BufReader<ChildStdout>,
    /// The storage of its prepared sandbox, if it has one.
    prepared: Option<PathBuf>,
}

impl Prewarmed {
    /// Starts an agent. It may not run yet when this returns.
    #[expect(clippy::disallowed_methods, reason = "an agent is a process of the host, not of a sandbox")]
    pub(super) fn start(options: &LocalOptions) -> io::Result<Self> {
        let mut command = std::process::Command::new(&options.program);
        command.args(&options.arguments).current_dir("/").env_clear();
        command.envs(INHERITED_ENV.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        // Until it has a log file, the agent reports errors on its standard output.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::open("/dev/null")?);
        let mut child = tokio::process::Command::from(command).spawn()?;
        let (orders, words) = child.stdin.take().zip(child.stdout.take()).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, orders, words: BufReader::new(words), prepared: None })
    }

    /// Waits until the agent is ready; with `storage`, until it has also created a sandbox, all but its name.
    async fn prepare(&mut self, storage: Option<PathBuf>) -> Result<(), StartError> {
        self.order(&SpareOrder::Prepare { storage: storage.clone() }).await;
        let answer: SparePrepared = self.answer().await?;
        self.prepared = storage.filter(|_| answer.prepared);
        Ok(())
    }

    /// Has the agent serve a sandbox in `dir`. Returns its pid when it does.
    pub(super) async fn serve(mut self, spec: &SandboxSpec, dir: &Path) -> Result<u32, StartError> {
        let prepared = self.prepared.take().is_some_and(|from| std::fs::rename(from, dir.join("storage")).is_ok());
        self.order(&SpareOrder::Serve { spec: Box::new(spec.clone()), dir: dir.to_owned(), prepared }).await;
        match self.answer::<AgentReady>().await {
            // tokio reaps the dropped child.
            Ok(ready) => Ok(ready.pid),
            Err(refused @ StartError::Refused(_)) => Err(refused),
            Err(StartError::Failed(why)) => {
                // The caller gets an error, so the agent must not keep running.
                drop(self.child.kill().await);
                Err(StartError::Failed(why))
            }
        }
    }

    /// Sends an order. Errors are ignored: an agent that has exited says why on its standard output.
    async fn order(&mut self, order: &SpareOrder) {
        let mut line = serde_json::to_vec(order).unwrap_or_default();
        line.push(b'\n');
        drop(self.orders.write_all(&line).await);
    }

    async fn answer<T: DeserializeOwned>(&mut self) -> Result<T, StartError> {
        let mut line = String::new();
        let mut words = (&mut self.words).take(LINE_MAX);
        let read = timeout(READY_TIMEOUT, words.read_line(&mut line)).await;
        let read = read.map_err(|_| StartError::Failed("was not ready in time".to_owned()))?;
        read.map_err(|error| StartError::Failed(format!("cannot be read: {error}")))?;
        serde_json::from_str(&line).map_err(|_| match serde_json::from_str::<ErrorAnswer>(&line) {
            Ok(answer) => StartError::Refused(answer.error),
            Err(_) => StartError::Failed("exited without an error message".to_owned()),
        })
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

/// The pool of pre-warmed agents. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct PrewarmedPool {
    options: Arc<LocalOptions>,
    /// The directory in which sandboxes are prepared.
    dir: PathBuf,
    state: Arc<Mutex<PoolState>>,
}

#[derive(Debug, Default)]
struct PoolState {
    agents: VecDeque<Prewarmed>,
    /// Only one agent is started at a time: starting is CPU-bound.
    filling: bool,
    closed: bool,
}

impl PoolState {
    fn count(&self, prepared: bool) -> usize {
        self.agents.iter().filter(|agent| agent.prepared.is_some() == prepared).count()
    }
}

impl PrewarmedPool {
    pub(super) fn new(options: Arc<LocalOptions>, dir: PathBuf) -> Self {
        Self { options, dir, state: Arc::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, PoolState> {
        // The guarded value is consistent after every step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an agent from the pool: one with a sandbox if the caller can use it, else one without.
    pub(super) fn take(&self, prepared_will_do: bool) -> Option<Prewarmed> {
        let mut state = self.state();
        state.agents.retain_mut(Prewarmed::is_alive);
        let with = |state: &PoolState, prepared: bool| {
            state.agents.iter().position(|agent| agent.prepared.is_some() == prepared)
        };
        let found = prepared_will_do.then(|| with(&state, true)).flatten().or_else(|| with(&state, false));
        found.and_then(|index| state.agents.remove(index))
    }

    /// Starts the missing agents in the background.
    pub(super) fn refill(&self) {
        let mut state = self.state();
        if !state.filling && !state.closed {
            state.filling = true;
            tokio::spawn(self.clone().fill());
        }
    }

    async fn fill(self) {
        sleep(REFILL_DELAY).await;
        while let Some(prepared) = self.missing() {
            match self.one(prepared).await {
                Ok(agent) => self.add(agent),
                Err(why) => {
                    // Creating a sandbox starts an agent then, and returns its error.
                    tracing::warn!(?why, "cannot start a pre-warmed agent");
                    self.state().filling = false;
                    return;
                }
            }
        }
    }

    /// Returns which kind of agent is missing; if none, marks the refill as done.
    fn missing(&self) -> Option<bool> {
        let mut state = self.state();
        let missing = [(false, UNPREPARED_TARGET), (true, self.options.warm)].into_iter();
        let mut missing = missing.filter(|(prepared, wanted)| state.count(*prepared) < *wanted);
        let next = missing.next().map(|(prepared, _)| prepared).filter(|_| !state.closed);
        state.filling = next.is_some();
        next
    }

    async fn one(&self, prepared: bool) -> Result<Prewarmed, StartError> {
        let failed = |error: io::Error| StartError::Failed(error.to_string());
        let mut agent = Prewarmed::start(&self.options).map_err(failed)?;
        let storage = prepared.then(|| crate::random::text(16).map(|name| self.dir.join(name))).transpose();
        agent.prepare(storage.map_err(failed)?).await?;
        if prepared && agent.prepared.is_none() {
            return Err(StartError::Failed("cannot prepare a sandbox".to_owned()));
        }
        Ok(agent)
    }

    fn add(&self, agent: Prewarmed) {
        let mut state = self.state();
        if !state.closed {
            state.agents.push_back(agent);
        }
    }

    /// Stops all agents in the pool, for good.
    pub(super) async fn close(&self) {
        let agents = {
            let mut state = self.state();
            state.closed = true;
            std::mem::take(&mut state.agents)
        };
        end(agents).await;
    }

    /// Returns the number of agents with a sandbox, and the configured one.
    pub(super) fn pool(&self) -> PoolStatus {
        let mut state = self.state();
        state.agents.retain_mut(Prewarmed::is_alive);
        PoolStatus { ready: state.count(true), wanted: self.options.warm }
    }

    /// Stops the agents that have a sandbox.
    pub(super) async fn drain_pool(&self) {
        let agents = {
            let mut state = self.state();
            let (with, without) =
                std::mem::take(&mut state.agents).into_iter().partition(|agent| agent.prepared.is_some());
            state.agents = without;
            with
        };
        end(agents).await;
    }
}

/// An agent whose standard input closes exits and removes what it has created.
async fn end(agents: VecDeque<Prewarmed>) {
    for Prewarmed { mut child, orders, .. } in agents {
        drop(orders);
        drop(timeout(EXIT_TIMEOUT, child.wait()).await);
    }
}
