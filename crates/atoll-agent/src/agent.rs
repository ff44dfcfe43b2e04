//! The one sandbox that is served, and the wish that it end. Must not know HTTP.

use std::sync::Arc;
use std::time::SystemTime;

use atoll_protocol::{
    Isolation, ProcessState, SandboxInfo, SandboxLimits, SandboxSpec, SandboxState, SandboxUsage, SessionState,
    Timestamp,
};
use atoll_runtime::{Error, Filter, Host, Limits, Prepared, Sandbox, SandboxOptions, Storage};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, watch};

/// A sandbox and how it was asked for. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    sandbox: Sandbox,
    spec: SandboxSpec,
    created_at: Timestamp,
    not_isolated: Option<String>,
    /// Set when nothing is left: whoever asks at the same time waits for the same removal.
    destroyed: OnceCell<()>,
    stopped: watch::Sender<bool>,
    /// Places for WebSockets.
    sockets: Arc<Semaphore>,
    /// Places for connections to ports inside.
    tunnels: Arc<Semaphore>,
}

/// WebSockets at once. Each is a task with its buffers and a descriptor.
const SOCKETS_MAX: usize = 1024;

/// Connections to ports inside that go through here at once: each is a task, two buffers and two descriptors.
const TUNNELS_MAX: usize = 1024;

impl Agent {
    /// Makes the sandbox.
    pub async fn create(host: &Host, spec: SandboxSpec) -> Result<Self, Error> {
        Self::create_over(host, spec, Storage::Own).await
    }

    /// Makes the sandbox, with its files there.
    pub async fn create_over(host: &Host, spec: SandboxSpec, storage: Storage) -> Result<Self, Error> {
        let sandbox = host.create(SandboxOptions { storage, ..options(&spec) }).await?;
        Ok(Self::new(sandbox, spec))
    }

    /// Makes a sandbox that was prepared what is asked for, with its files there.
    pub async fn finish(prepared: Prepared, spec: SandboxSpec, storage: Storage) -> Result<Self, Error> {
        let sandbox = prepared.finish(SandboxOptions { storage, ..options(&spec) }).await?;
        Ok(Self::new(sandbox, spec))
    }

    /// Makes the sandbox, walled off if this host lets it, else not. For an agent in a container of its own, which is a
    /// wall too; clients are told why there is no other.
    pub async fn create_as_possible(host: &Host, spec: SandboxSpec, storage: Storage) -> Result<Self, Error> {
        match Self::create_over(host, spec.clone(), storage.clone()).await {
            Err(error @ Error::IsolationUnavailable { .. }) => {
                let spec = SandboxSpec { isolation: Isolation::None, ..spec };
                let sandbox = host.create(SandboxOptions { storage, ..options(&spec) }).await?;
                Ok(Self::with(sandbox, spec, Some(error.to_string())))
            }
            other => other,
        }
    }

    /// Serves a sandbox that is there already; `spec` is what clients are told about it.
    pub fn new(sandbox: Sandbox, spec: SandboxSpec) -> Self {
        Self::with(sandbox, spec, None)
    }

    fn with(sandbox: Sandbox, spec: SandboxSpec, not_isolated: Option<String>) -> Self {
        let created_at = SystemTime::now().into();
        let (destroyed, stopped) = (OnceCell::new(), watch::Sender::new(false));
        let sockets = Arc::new(Semaphore::new(SOCKETS_MAX));
        let tunnels = Arc::new(Semaphore::new(TUNNELS_MAX));
        let inner = Inner { sandbox, spec, created_at, not_isolated, destroyed, stopped, sockets, tunnels };
        Self { inner: Arc::new(inner) }
    }

    /// Why commands are not walled off, where that was wished for.
    pub fn not_isolated(&self) -> Option<&str> {
        self.inner.not_isolated.as_deref()
    }

    /// The sandbox.
    pub fn sandbox(&self) -> &Sandbox {
        &self.inner.sandbox
    }

    /// Everything there is to know.
    pub fn info(&self) -> SandboxInfo {
        let Inner { sandbox, spec, created_at, not_isolated, .. } = &*self.inner;
        let usage = sandbox.usage();
        let processes = sandbox.processes(&Filter::default());
        let terminals = sandbox.terminals();
        SandboxInfo {
            name: sandbox.name().clone(),
            state: state(sandbox),
            isolation: spec.isolation,
            not_isolated: not_isolated.clone(),
            limits: spec.limits,
            labels: spec.labels.clone(),
            created_at: *created_at,
            processes: alive(processes.iter().map(atoll_runtime::Process::state)),
            terminals: alive(terminals.iter().map(atoll_runtime::Terminal::state)),
            sessions: sandbox.sessions().iter().filter(|it| it.info().state != SessionState::Dead).count() as u64,
            usage: SandboxUsage {
                memory_bytes: usage.memory_bytes,
                memory_peak_bytes: usage.memory_peak_bytes,
                pids: usage.pids,
                cpu_usec: usage.cpu_usec,
            },
            egress: sandbox.egress_totals(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// A place for a WebSocket, for as long as it is held. `None` if there is none.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.inner.sockets).try_acquire_owned().ok()
    }

    /// A place for a connection to a port inside. `None` if there is none.
    pub(crate) fn tunnel_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.inner.tunnels).try_acquire_owned().ok()
    }

    /// Destroys the sandbox; whoever serves it stops then.
    pub async fn stop(&self) -> Result<(), Error> {
        let Inner { sandbox, destroyed, stopped, .. } = &*self.inner;
        let outcome = destroyed.get_or_try_init(|| sandbox.destroy()).await;
        stopped.send_replace(true);
        outcome.copied()
    }

    /// Waits until it was stopped.
    pub async fn stopped(&self) {
        let mut stopped = self.inner.stopped.subscribe();
        // The sender lives in `self`: this ends only because it was stopped.
        drop(stopped.wait_for(|stopped| *stopped).await);
    }
}

fn state(sandbox: &Sandbox) -> SandboxState {
    match (sandbox.is_alive(), sandbox.is_paused()) {
        (false, _) => SandboxState::Lost,
        (true, true) => SandboxState::Paused,
        (true, false) => SandboxState::Running,
    }
}

fn alive(states: impl Iterator<Item = ProcessState>) -> u64 {
    states.filter(|state| *state != ProcessState::Ended).count() as u64
}

fn options(spec: &SandboxSpec) -> SandboxOptions {
    let SandboxLimits { memory_bytes, pids, cpu_millis, open_files } = spec.limits;
    SandboxOptions {
        name: spec.name.clone(),
        isolation: match spec.isolation {
            Isolation::Namespaces => atoll_isolation::Isolation::Namespaces,
            Isolation::None => atoll_isolation::Isolation::None,
        },
        limits: Limits { memory_bytes, pids, cpu_millis, open_files },
        network: spec.network.clone(),
        env: spec.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        ..SandboxOptions::default()
    }
}
