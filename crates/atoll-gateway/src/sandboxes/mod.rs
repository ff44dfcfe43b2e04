//! All sandboxes of this server. One actor per name (`actor/`) executes all operations on a sandbox as a whole, one
//! after the other, so that exactly one of many concurrent creates makes it. While the sandbox runs, requests to its
//! inside bypass the actor.

mod activity;
mod actor;
mod options;
#[cfg(test)]
mod tests;
mod traffic;

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atoll_protocol::{CreateSandbox, ExposePort, PatchSandbox, SandboxName, SandboxState, StopReason};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

pub(crate) use activity::{Activity, InUse};
use actor::{Actor, Command, SharedState};
pub(crate) use traffic::Traffic;

use crate::Error;
use crate::agent_pool::{IDLE_TIMEOUT, Pool, PoolSlots};
use crate::metrics::Metrics;
use crate::placement::{Agent, Placement};
use crate::preview::{AppPools, Exposure, Exposures};
use crate::registry::{Disk, Listed, Registry, Row, SandboxStatus, Stored};

/// Commands that can be queued for one actor. Further callers wait.
const QUEUE_MAX: usize = 256;

/// Sandboxes that are probed concurrently when the server starts.
const PROBES_MAX: usize = 64;

/// What a request needs from a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Information, which a paused sandbox can give, too.
    Inspect,
    /// A running sandbox.
    Run,
}

/// Whether a sandbox's agent can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not now; the actor may start it.
    Unreachable,
    /// The agent responds.
    Running(Agent),
    /// The agent responds, but the sandbox is frozen.
    Paused(Agent),
}

/// The services that actors use.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) placement: Arc<dyn Placement>,
    pub(crate) registry: Registry,
    pub(crate) disk: Disk,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) traffic: Traffic,
    pub(crate) default_sleep_ms: Option<u64>,
    pub(crate) sandboxes_max: usize,
}

/// A sandbox of an earlier server: its options from disk and its last state from the registry.
pub(super) struct Found {
    stored: Stored,
    status: SandboxStatus,
}

/// All sandboxes. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Sandboxes {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    services: Arc<Services>,
    /// At most one actor per name, and at most `sandboxes_max` in total.
    actors: Mutex<HashMap<SandboxName, SandboxHandle>>,
    slots: PoolSlots,
}

/// A handle on one sandbox's actor. Cheap to clone, which happens for each request.
#[derive(Debug, Clone)]
pub(crate) struct SandboxHandle(Arc<HandleInner>);

/// The parts of [`SandboxHandle`].
#[derive(Debug)]
pub(crate) struct HandleInner {
    commands: mpsc::Sender<Command>,
    phase: watch::Receiver<Phase>,
    /// The sandbox's exposed ports.
    pub(crate) exposed: watch::Receiver<Arc<Exposures>>,
    activity: Arc<Activity>,
    /// Idle connections to its agent.
    pub(crate) pool: Arc<Pool>,
    /// Idle connections to its ports, and the limit on concurrent preview requests.
    pub(crate) app_pools: Arc<AppPools>,
}

impl Sandboxes {
    /// Finds the running agents and spawns an actor for each sandbox.
    pub(crate) async fn adopt(services: Services) -> Result<Self, Error> {
        let sandboxes = Self {
            inner: Arc::new(Inner {
                services: Arc::new(services),
                actors: Mutex::default(),
                slots: PoolSlots::default(),
            }),
        };
        let mut probes = JoinSet::new();
        for row in sandboxes.known().await? {
            if probes.len() >= PROBES_MAX {
                drop(probes.join_next().await);
            }
            let sandboxes = sandboxes.clone();
            probes.spawn(async move { sandboxes.adopt_one(row).await });
        }
        while let Some(adopted) = probes.join_next().await {
            adopted.map_err(|error| Error::internal("look for agents", error))??;
        }
        Ok(sandboxes)
    }

    /// Lists the sandboxes on disk, with their last state from the registry.
    async fn known(&self) -> Result<Vec<Found>, Error> {
        let Services { registry, disk, .. } = &*self.inner.services;
        let (found, unreadable) = disk.scan().map_err(|error| Error::internal("look for sandboxes", error))?;
        for path in unreadable {
            tracing::warn!(path = %path.display(), "ignoring a directory without a readable sandbox.json");
        }
        let all = registry.list(None, usize::MAX, Default::default(), |_| true).await?;
        let mut noted: HashMap<SandboxName, SandboxStatus> =
            all.into_iter().map(|row| (row.listed.name, row.status)).collect();
        let rows = found.into_iter().map(|stored| match noted.remove(&stored.name) {
            Some(status) => Found { stored, status },
            None => without_row(stored),
        });
        let rows = rows.collect();
        for name in noted.into_keys() {
            ignore_disk_error(registry.forget(name).await)?;
        }
        Ok(rows)
    }

    async fn adopt_one(&self, found: Found) -> Result<(), Error> {
        let Found { stored, status } = found;
        let services = &self.inner.services;
        let agent = services.placement.find(&stored.name).await;
        let was_alive = status.state != SandboxState::Stopped;
        let status = match agent {
            Some(agent) => {
                SandboxStatus { state: SandboxState::Running, stop_reason: None, agent: Some(agent), ..status }
            }
            None => {
                let stop_reason = if was_alive { Some(StopReason::HostLost) } else { status.stop_reason };
                SandboxStatus { state: SandboxState::Stopped, stop_reason, agent: None, ..status }
            }
        };
        ignore_disk_error(services.registry.put(Row { listed: Listed::from(&stored), status: status.clone() }).await)?;
        let name = stored.name.clone();
        let handle = self.spawn_actor(&name, Some(Found { stored, status })).await;
        self.actors().insert(name, handle);
        Ok(())
    }

    /// Spawns an actor.
    async fn spawn_actor(&self, name: &SandboxName, found: Option<Found>) -> SandboxHandle {
        let (commands, inbox) = mpsc::channel(QUEUE_MAX);
        let (actor, SharedState { phase, exposed, activity }) =
            Actor::new(self.clone(), name.clone(), found, inbox).await;
        tokio::spawn(actor.run());
        let slots = &self.inner.slots;
        let (pool, app_pools) = (Pool::new(slots.clone(), IDLE_TIMEOUT), AppPools::new(slots.clone()));
        SandboxHandle(Arc::new(HandleInner { commands, phase, exposed, activity, pool, app_pools }))
    }

    /// Returns the sandbox of this name.
    pub(crate) fn get(&self, name: &SandboxName) -> Result<SandboxHandle, Error> {
        let handle = self.actors().get(name).filter(|handle| !handle.commands.is_closed()).cloned();
        handle.ok_or_else(|| Error::SandboxNotFound { name: name.clone() })
    }

    /// Gets or creates the sandbox. The flag is `true` if it is new.
    pub(crate) async fn create(&self, name: &SandboxName, requested: CreateSandbox) -> Result<(Row, bool), Error> {
        options::check(&requested)?;
        // The actor may just have ended; the next iteration spawns another one.
        loop {
            let handle = self.get_or_spawn(name).await?;
            let (reply, answer) = oneshot::channel();
            let command = Command::Create { requested: Box::new(requested.clone()), reply };
            if handle.commands.send(command).await.is_err() {
                continue;
            }
            match answer.await {
                Ok(made) => return made,
                Err(_) => continue,
            }
        }
    }

    async fn get_or_spawn(&self, name: &SandboxName) -> Result<SandboxHandle, Error> {
        if let Ok(handle) = self.get(name) {
            return Ok(handle);
        }
        let new = Box::pin(self.spawn_actor(name, None)).await;
        let mut actors = self.actors();
        if let Some(there) = actors.get(name).filter(|handle| !handle.commands.is_closed()) {
            return Ok(there.clone());
        }
        let max = self.inner.services.sandboxes_max;
        if actors.len() >= max {
            return Err(Error::SandboxLimit { max });
        }
        actors.insert(name.clone(), new.clone());
        Ok(new)
    }

    /// Removes the actor of a deleted sandbox. Calls through its remaining handles fail, and a create spawns a new
    /// actor.
    fn retire(&self, name: &SandboxName) {
        self.actors().remove(name);
    }

    /// Returns the state of each sandbox.
    pub(crate) fn states(&self) -> Vec<SandboxState> {
        let actors = self.actors();
        let state = |handle: &SandboxHandle| match &*handle.phase.borrow() {
            Phase::Running(_) => SandboxState::Running,
            Phase::Paused(_) => SandboxState::Paused,
            Phase::Unreachable => SandboxState::Stopped,
        };
        actors.values().map(state).collect()
    }

    /// Updates the row's time of last use, which is written to the registry only occasionally.
    pub(crate) fn with_last_used(&self, mut row: Row) -> Row {
        if let Some(handle) = self.actors().get(&row.listed.name) {
            row.status.used_at = handle.activity.last_used_at();
        }
        row
    }

    pub(crate) fn services(&self) -> &Services {
        &self.inner.services
    }

    fn actors(&self) -> MutexGuard<'_, HashMap<SandboxName, SandboxHandle>> {
        self.inner.actors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ignores disk errors of registry updates: the change has already happened, and the next server finds it by itself.
pub(super) fn ignore_disk_error(noted: Result<(), Error>) -> Result<(), Error> {
    match noted {
        Err(error @ Error::Disk { .. }) => {
            tracing::warn!(%error, "cannot update the registry");
            Ok(())
        }
        other => other,
    }
}

/// A sandbox that is on disk but missing in the registry, which was lost.
fn without_row(stored: Stored) -> Found {
    let status =
        SandboxStatus { state: SandboxState::Stopped, stop_reason: None, used_at: stored.created_at, agent: None };
    Found { stored, status }
}

impl Deref for SandboxHandle {
    type Target = HandleInner;

    fn deref(&self) -> &HandleInner {
        &self.0
    }
}

impl SandboxHandle {
    /// Marks the sandbox as in use until the guard is dropped.
    pub(crate) fn enter(&self) -> InUse {
        self.activity.enter()
    }

    /// Returns an agent that can serve the request. Starts a stopped sandbox.
    pub(crate) async fn reach(&self, name: &SandboxName, need: Need) -> Result<Agent, Error> {
        let phase = self.phase.borrow().clone();
        match phase {
            Phase::Running(agent) => return Ok(agent),
            Phase::Paused(agent) if need == Need::Inspect => return Ok(agent),
            Phase::Paused(_) => return Err(Error::SandboxPaused { name: name.clone() }),
            Phase::Unreachable => {}
        }
        self.call(name, |reply| Command::Reach { reply }).await
    }

    /// Checks an agent that did not respond, and returns one that does, like [`SandboxHandle::reach`].
    pub(crate) async fn reach_again(&self, name: &SandboxName, suspect: Agent) -> Result<Agent, Error> {
        self.call(name, |reply| Command::Recheck { suspect, reply }).await
    }

    /// Health-checks the agent and stops it if it is unusable. Never starts one.
    pub(crate) async fn check(&self, name: &SandboxName, suspect: Agent) -> Result<(), Error> {
        self.call(name, |reply| Command::Check { suspect, reply }).await
    }

    /// Returns the agent if one is running. Never starts one.
    pub(crate) fn agent(&self) -> Option<Agent> {
        match &*self.phase.borrow() {
            Phase::Running(agent) | Phase::Paused(agent) => Some(agent.clone()),
            Phase::Unreachable => None,
        }
    }

    pub(crate) async fn change(&self, name: &SandboxName, change: PatchSandbox) -> Result<Row, Error> {
        self.call(name, |reply| Command::Change { change, reply }).await
    }

    pub(crate) async fn start(&self, name: &SandboxName) -> Result<Row, Error> {
        self.call(name, |reply| Command::Start { reply }).await
    }

    pub(crate) async fn stop(&self, name: &SandboxName) -> Result<Row, Error> {
        self.call(name, |reply| Command::Stop { reply }).await
    }

    pub(crate) async fn pause(&self, name: &SandboxName) -> Result<Row, Error> {
        self.call(name, |reply| Command::Pause { reply }).await
    }

    pub(crate) async fn resume(&self, name: &SandboxName) -> Result<Row, Error> {
        self.call(name, |reply| Command::Resume { reply }).await
    }

    pub(crate) async fn delete(&self, name: &SandboxName) -> Result<(), Error> {
        self.call(name, |reply| Command::Delete { reply }).await
    }

    /// Returns the sandbox's exposed ports.
    pub(crate) fn exposures(&self) -> Arc<Exposures> {
        Arc::clone(&self.exposed.borrow())
    }

    pub(crate) async fn expose(
        &self,
        name: &SandboxName,
        port: u16,
        requested: ExposePort,
    ) -> Result<(Exposure, bool), Error> {
        self.call(name, |reply| Command::Expose { port, requested, reply }).await
    }

    pub(crate) async fn rotate(&self, name: &SandboxName, port: u16) -> Result<Exposure, Error> {
        self.call(name, |reply| Command::Rotate { port, reply }).await
    }

    pub(crate) async fn unexpose(&self, name: &SandboxName, port: u16) -> Result<(), Error> {
        self.call(name, |reply| Command::Unexpose { port, reply }).await
    }

    async fn call<T>(
        &self,
        name: &SandboxName,
        command: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Command,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let gone = || Error::SandboxNotFound { name: name.clone() };
        self.commands.send(command(reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}
