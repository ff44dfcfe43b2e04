//! Agents that were started ahead of their time, so that a sandbox need not wait for one. Each is a child of the gateway
//! that waits for orders, and ends with it; once it serves a sandbox it belongs to nobody.

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
use super::{Pool, StartError};

/// How long an agent may take to make its sandbox. It takes milliseconds; a machine that swaps may take its time.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// How long one that is not needed may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// The longest line that an agent may say.
const LINE_MAX: u64 = 64 * 1024;

/// Agents without a sandbox that are kept waiting: the next create then finds one, whatever it asks for.
const PLAIN: usize = 1;

/// The next one is started when whoever took the last one has had time to ask something of it: that goes first.
const AFTER: Duration = Duration::from_millis(5);

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

/// An agent that waits.
#[derive(Debug)]
pub(super) struct Spare {
    child: Child,
    orders: ChildStdin,
    words: BufReader<ChildStdout>,
    /// Where the files of the sandbox are that it has prepared, if it has.
    prepared: Option<PathBuf>,
}

impl Spare {
    /// Starts one. It may not run yet when this returns.
    #[expect(clippy::disallowed_methods, reason = "an agent is a process of the host, not of a sandbox")]
    pub(super) fn start(options: &LocalOptions) -> io::Result<Self> {
        let mut command = std::process::Command::new(&options.program);
        command.args(&options.arguments).current_dir("/").env_clear();
        command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        // Until it has a log of its own, it says on its output what went wrong.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::open("/dev/null")?);
        let mut child = tokio::process::Command::from(command).spawn()?;
        let (orders, words) = child.stdin.take().zip(child.stdout.take()).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, orders, words: BufReader::new(words), prepared: None })
    }

    /// Waits until it is ready for a sandbox; with `storage`, until it has made one but for its name.
    async fn prepare(&mut self, storage: Option<PathBuf>) -> Result<(), StartError> {
        self.order(&SpareOrder::Prepare { storage: storage.clone() }).await;
        let answer: SparePrepared = self.answer().await?;
        self.prepared = storage.filter(|_| answer.prepared);
        Ok(())
    }

    /// Has it serve a sandbox; returns its pid when it does. `dir` is where everything of the sandbox is.
    pub(super) async fn serve(mut self, spec: &SandboxSpec, dir: &Path) -> Result<u32, StartError> {
        let prepared = self.prepared.take().is_some_and(|from| std::fs::rename(from, dir.join("storage")).is_ok());
        self.order(&SpareOrder::Serve { spec: Box::new(spec.clone()), dir: dir.to_owned(), prepared }).await;
        match self.answer::<AgentReady>().await {
            // The child is not waited for: tokio reaps what is dropped.
            Ok(ready) => Ok(ready.pid),
            Err(refused @ StartError::Refused(_)) => Err(refused),
            Err(StartError::Failed(why)) => {
                // It must not go on by itself after we said that there is none.
                drop(self.child.kill().await);
                Err(StartError::Failed(why))
            }
        }
    }

    /// An agent that has ended says why on its output, if it can.
    async fn order(&mut self, order: &SpareOrder) {
        let mut line = serde_json::to_vec(order).unwrap_or_default();
        line.push(b'\n');
        drop(self.orders.write_all(&line).await);
    }

    async fn answer<T: DeserializeOwned>(&mut self) -> Result<T, StartError> {
        let mut line = String::new();
        let mut words = (&mut self.words).take(LINE_MAX);
        let read = timeout(READY_WITHIN, words.read_line(&mut line)).await;
        let read = read.map_err(|_| StartError::Failed("was not ready in time".to_owned()))?;
        read.map_err(|error| StartError::Failed(format!("cannot be read: {error}")))?;
        serde_json::from_str(&line).map_err(|_| match serde_json::from_str::<ErrorAnswer>(&line) {
            Ok(answer) => StartError::Refused(answer.error),
            Err(_) => StartError::Failed("ended without a word".to_owned()),
        })
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

/// Those that wait, and as many as there should be. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Spares {
    options: Arc<LocalOptions>,
    /// Where sandboxes are prepared.
    dir: PathBuf,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    spares: VecDeque<Spare>,
    /// One at a time is started: it is all work for the processors.
    filling: bool,
    closed: bool,
}

impl Waiting {
    fn count(&self, prepared: bool) -> usize {
        self.spares.iter().filter(|spare| spare.prepared.is_some() == prepared).count()
    }
}

impl Spares {
    pub(super) fn new(options: Arc<LocalOptions>, dir: PathBuf) -> Self {
        Self { options, dir, waiting: Arc::default() }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        // It is whole at all times.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that waits, if there is one: with a sandbox if that will do, else without.
    pub(super) fn take(&self, prepared_will_do: bool) -> Option<Spare> {
        let mut waiting = self.waiting();
        waiting.spares.retain_mut(Spare::is_alive);
        let with = |waiting: &Waiting, prepared: bool| {
            waiting.spares.iter().position(|spare| spare.prepared.is_some() == prepared)
        };
        let found = prepared_will_do.then(|| with(&waiting, true)).flatten().or_else(|| with(&waiting, false));
        found.and_then(|index| waiting.spares.remove(index))
    }

    /// Starts as many as are missing. Nobody waits for it.
    pub(super) fn refill(&self) {
        let mut waiting = self.waiting();
        if !waiting.filling && !waiting.closed {
            waiting.filling = true;
            tokio::spawn(self.clone().fill());
        }
    }

    async fn fill(self) {
        sleep(AFTER).await;
        while let Some(prepared) = self.missing() {
            match self.one(prepared).await {
                Ok(spare) => self.add(spare),
                Err(why) => {
                    // Whoever creates a sandbox starts an agent then, and is told what is wrong with it.
                    tracing::warn!(?why, "no agent could be started ahead of its time");
                    self.waiting().filling = false;
                    return;
                }
            }
        }
    }

    /// What kind there should be more of; if none, this filling is over.
    fn missing(&self) -> Option<bool> {
        let mut waiting = self.waiting();
        let missing = [(false, PLAIN), (true, self.options.warm)].into_iter();
        let mut missing = missing.filter(|(prepared, wanted)| waiting.count(*prepared) < *wanted);
        let next = missing.next().map(|(prepared, _)| prepared).filter(|_| !waiting.closed);
        waiting.filling = next.is_some();
        next
    }

    async fn one(&self, prepared: bool) -> Result<Spare, StartError> {
        let failed = |error: io::Error| StartError::Failed(error.to_string());
        let mut spare = Spare::start(&self.options).map_err(failed)?;
        let storage = prepared.then(|| crate::random::text(16).map(|name| self.dir.join(name))).transpose();
        spare.prepare(storage.map_err(failed)?).await?;
        if prepared && spare.prepared.is_none() {
            return Err(StartError::Failed("it could not prepare a sandbox".to_owned()));
        }
        Ok(spare)
    }

    fn add(&self, spare: Spare) {
        let mut waiting = self.waiting();
        if !waiting.closed {
            waiting.spares.push_back(spare);
        }
    }

    /// Ends all of them; no more are started.
    pub(super) async fn close(&self) {
        let spares = {
            let mut waiting = self.waiting();
            waiting.closed = true;
            std::mem::take(&mut waiting.spares)
        };
        end(spares).await;
    }

    /// Those with a sandbox: how many there are, and should be.
    pub(super) fn pool(&self) -> Pool {
        let mut waiting = self.waiting();
        waiting.spares.retain_mut(Spare::is_alive);
        Pool { waiting: waiting.count(true), wanted: self.options.warm }
    }

    /// Ends those with a sandbox.
    pub(super) async fn let_go(&self) {
        let spares = {
            let mut waiting = self.waiting();
            let (with, without) =
                std::mem::take(&mut waiting.spares).into_iter().partition(|spare| spare.prepared.is_some());
            waiting.spares = without;
            with
        };
        end(spares).await;
    }
}

/// One that hears no more orders ends by itself, and removes what it has made.
async fn end(spares: VecDeque<Spare>) {
    for Spare { mut child, orders, .. } in spares {
        drop(orders);
        drop(timeout(ENDS_WITHIN, child.wait()).await);
    }
}
