//! All sandboxes of this server. One task owns each name (`owner.rs`): whatever is asked of a sandbox as a whole goes
//! through it, one after the other, so that of any number of creates one makes it. Requests to what runs inside go past
//! it while the sandbox runs.

mod activity;
mod options;
mod owner;
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
use owner::{Ask, Owner, Sight};
pub(crate) use traffic::Traffic;

use crate::Error;
use crate::lines::{Lines, Places, WAITS_FOR};
use crate::metrics::Metrics;
use crate::placement::{Agent, Placement};
use crate::preview::{Apps, Exposure, Exposures};
use crate::registry::{Disk, Kept, Listed, Registry, Row, Stored};

/// Requests that may wait for one owner. Beyond it, whoever asks waits for a place.
const WAITING: usize = 256;

/// Sandboxes that are looked for at once when the server starts.
const LOOKED_FOR_AT_ONCE: usize = 64;

/// What a request needs of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// To be looked at, which a paused one can.
    Look,
    /// To do something.
    Run,
}

/// How a sandbox stands, for those who want to reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not to be reached now; its owner may change that.
    Away,
    /// Its agent answers.
    Running(Agent),
    /// Its agent answers, but nothing inside moves.
    Paused(Agent),
}

/// What owners work with.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) placement: Arc<dyn Placement>,
    pub(crate) registry: Registry,
    pub(crate) disk: Disk,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) traffic: Traffic,
    pub(crate) default_sleep_ms: Option<u64>,
    pub(crate) sandboxes_max: usize,
}

/// A sandbox of an earlier server: its options from disk, and its last state from the registry.
pub(super) struct Found {
    stored: Stored,
    kept: Kept,
}

/// Handle on all of them. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Fleet {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    ground: Arc<Ground>,
    /// At most one owner per name, and as many as there may be sandboxes.
    owners: Mutex<HashMap<SandboxName, Handle>>,
    places: Places,
}

/// Handle on one sandbox's owner. Cheap to clone: that is done for each request.
#[derive(Debug, Clone)]
pub(crate) struct Handle(Arc<Ways>);

/// What can be asked of one sandbox, and by which way.
#[derive(Debug)]
pub(crate) struct Ways {
    asks: mpsc::Sender<Ask>,
    phase: watch::Receiver<Phase>,
    /// How its ports are exposed.
    pub(crate) exposed: watch::Receiver<Arc<Exposures>>,
    activity: Arc<Activity>,
    /// Ways to its agent that wait for the next request.
    pub(crate) lines: Arc<Lines>,
    /// Ways to the programs in it, and places for those who want to see them.
    pub(crate) apps: Arc<Apps>,
}

impl Fleet {
    /// Finds out what lives, and takes care of it from now on.
    pub(crate) async fn adopt(ground: Ground) -> Result<Self, Error> {
        let fleet = Self {
            inner: Arc::new(Inner { ground: Arc::new(ground), owners: Mutex::default(), places: Places::default() }),
        };
        let mut looking = JoinSet::new();
        for row in fleet.known().await? {
            if looking.len() >= LOOKED_FOR_AT_ONCE {
                drop(looking.join_next().await);
            }
            let fleet = fleet.clone();
            looking.spawn(async move { fleet.adopt_one(row).await });
        }
        while let Some(adopted) = looking.join_next().await {
            adopted.map_err(|error| Error::internal("look for agents", error))??;
        }
        Ok(fleet)
    }

    /// The disk says which sandboxes there are, the registry what was last known of them.
    async fn known(&self) -> Result<Vec<Found>, Error> {
        let Ground { registry, disk, .. } = &*self.inner.ground;
        let (found, unreadable) = disk.scan().map_err(|error| Error::internal("look for sandboxes", error))?;
        for path in unreadable {
            tracing::warn!(path = %path.display(), "a directory without a readable sandbox.json is left alone");
        }
        let all = registry.list(None, usize::MAX, Default::default(), |_| true).await?;
        let mut noted: HashMap<SandboxName, Kept> = all.into_iter().map(|row| (row.listed.name, row.kept)).collect();
        let rows = found.into_iter().map(|stored| match noted.remove(&stored.name) {
            Some(kept) => Found { stored, kept },
            None => unknown(stored),
        });
        let rows = rows.collect();
        for name in noted.into_keys() {
            remembered(registry.forget(name).await)?;
        }
        Ok(rows)
    }

    async fn adopt_one(&self, found: Found) -> Result<(), Error> {
        let Found { stored, kept } = found;
        let ground = &self.inner.ground;
        let agent = ground.placement.find(&stored.name).await;
        let was_alive = kept.state != SandboxState::Stopped;
        let kept = match agent {
            Some(agent) => Kept { state: SandboxState::Running, stop_reason: None, agent: Some(agent), ..kept },
            None => {
                let stop_reason = if was_alive { Some(StopReason::HostLost) } else { kept.stop_reason };
                Kept { state: SandboxState::Stopped, stop_reason, agent: None, ..kept }
            }
        };
        remembered(ground.registry.put(Row { listed: Listed::from(&stored), kept: kept.clone() }).await)?;
        let name = stored.name.clone();
        let handle = self.begin(&name, Some(Found { stored, kept })).await;
        self.owners().insert(name, handle);
        Ok(())
    }

    /// Starts an owner.
    async fn begin(&self, name: &SandboxName, found: Option<Found>) -> Handle {
        let (asks, inbox) = mpsc::channel(WAITING);
        let (owner, Sight { phase, exposed, activity }) = Owner::new(self.clone(), name.clone(), found, inbox).await;
        tokio::spawn(owner.run());
        let places = &self.inner.places;
        let (lines, apps) = (Lines::new(places.clone(), WAITS_FOR), Apps::new(places.clone()));
        Handle(Arc::new(Ways { asks, phase, exposed, activity, lines, apps }))
    }

    /// The sandbox of this name, if there is one.
    pub(crate) fn get(&self, name: &SandboxName) -> Result<Handle, Error> {
        let handle = self.owners().get(name).filter(|handle| !handle.asks.is_closed()).cloned();
        handle.ok_or_else(|| Error::SandboxNotFound { name: name.clone() })
    }

    /// Gets or creates the sandbox; `true` if it is new.
    pub(crate) async fn create(&self, name: &SandboxName, asked: CreateSandbox) -> Result<(Row, bool), Error> {
        options::check(&asked)?;
        // An owner that has just ended takes nothing any more; the next one does.
        loop {
            let handle = self.get_or_begin(name).await?;
            let (tell, told) = oneshot::channel();
            let ask = Ask::Create { asked: Box::new(asked.clone()), tell };
            if handle.asks.send(ask).await.is_err() {
                continue;
            }
            match told.await {
                Ok(made) => return made,
                Err(_) => continue,
            }
        }
    }

    async fn get_or_begin(&self, name: &SandboxName) -> Result<Handle, Error> {
        if let Ok(handle) = self.get(name) {
            return Ok(handle);
        }
        let new = Box::pin(self.begin(name, None)).await;
        let mut owners = self.owners();
        if let Some(there) = owners.get(name).filter(|handle| !handle.asks.is_closed()) {
            return Ok(there.clone());
        }
        let max = self.inner.ground.sandboxes_max;
        if owners.len() >= max {
            return Err(Error::SandboxLimit { max });
        }
        owners.insert(name.clone(), new.clone());
        Ok(new)
    }

    /// Ends the care for a name that means nothing any more. Whoever has a handle on it is told so; whoever wants to
    /// create it begins anew.
    fn retire(&self, name: &SandboxName) {
        self.owners().remove(name);
    }

    /// In which state each one is.
    pub(crate) fn states(&self) -> Vec<SandboxState> {
        let owners = self.owners();
        let state = |handle: &Handle| match &*handle.phase.borrow() {
            Phase::Running(_) => SandboxState::Running,
            Phase::Paused(_) => SandboxState::Paused,
            Phase::Away => SandboxState::Stopped,
        };
        owners.values().map(state).collect()
    }

    /// The row with when it was last used, which is noted only now and then.
    pub(crate) fn freshen(&self, mut row: Row) -> Row {
        if let Some(handle) = self.owners().get(&row.listed.name) {
            row.kept.used_at = handle.activity.last_used_at();
        }
        row
    }

    pub(crate) fn ground(&self) -> &Ground {
        &self.inner.ground
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<SandboxName, Handle>> {
        self.inner.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What has happened has happened, also where the disk takes no note of it: the next server finds out by itself.
pub(super) fn remembered(noted: Result<(), Error>) -> Result<(), Error> {
    match noted {
        Err(error @ Error::Disk { .. }) => {
            tracing::warn!(%error, "the registry is not up to date");
            Ok(())
        }
        other => other,
    }
}

/// On disk, but not in the registry: it was lost.
fn unknown(stored: Stored) -> Found {
    let kept = Kept { state: SandboxState::Stopped, stop_reason: None, used_at: stored.created_at, agent: None };
    Found { stored, kept }
}

impl Deref for Handle {
    type Target = Ways;

    fn deref(&self) -> &Ways {
        &self.0
    }
}

impl Handle {
    /// Says that the sandbox is in use from now on.
    pub(crate) fn enter(&self) -> InUse {
        self.activity.enter()
    }

    /// An agent that can be asked. Starts a sandbox that is stopped.
    pub(crate) async fn reach(&self, name: &SandboxName, need: Need) -> Result<Agent, Error> {
        let phase = self.phase.borrow().clone();
        match phase {
            Phase::Running(agent) => return Ok(agent),
            Phase::Paused(agent) if need == Need::Look => return Ok(agent),
            Phase::Paused(_) => return Err(Error::SandboxPaused { name: name.clone() }),
            Phase::Away => {}
        }
        self.ask(name, |tell| Ask::Reach { tell }).await
    }

    /// The agent did not answer: is it still there? An agent that can be asked, as [`Handle::reach`].
    pub(crate) async fn reach_again(&self, name: &SandboxName, doubted: Agent) -> Result<Agent, Error> {
        self.ask(name, |tell| Ask::Doubt { doubted, tell }).await
    }

    /// Has the agent looked at, and ended if it is of no use any more. Starts none.
    pub(crate) async fn check(&self, name: &SandboxName, doubted: Agent) -> Result<(), Error> {
        self.ask(name, |tell| Ask::Check { doubted, tell }).await
    }

    /// The agent, if one lives; starts none.
    pub(crate) fn agent(&self) -> Option<Agent> {
        match &*self.phase.borrow() {
            Phase::Running(agent) | Phase::Paused(agent) => Some(agent.clone()),
            Phase::Away => None,
        }
    }

    pub(crate) async fn change(&self, name: &SandboxName, change: PatchSandbox) -> Result<Row, Error> {
        self.ask(name, |tell| Ask::Change { change, tell }).await
    }

    pub(crate) async fn start(&self, name: &SandboxName) -> Result<Row, Error> {
        self.ask(name, |tell| Ask::Start { tell }).await
    }

    pub(crate) async fn stop(&self, name: &SandboxName) -> Result<Row, Error> {
        self.ask(name, |tell| Ask::Stop { tell }).await
    }

    pub(crate) async fn pause(&self, name: &SandboxName) -> Result<Row, Error> {
        self.ask(name, |tell| Ask::Pause { tell }).await
    }

    pub(crate) async fn resume(&self, name: &SandboxName) -> Result<Row, Error> {
        self.ask(name, |tell| Ask::Resume { tell }).await
    }

    pub(crate) async fn delete(&self, name: &SandboxName) -> Result<(), Error> {
        self.ask(name, |tell| Ask::Delete { tell }).await
    }

    /// How its ports are exposed.
    pub(crate) fn exposures(&self) -> Arc<Exposures> {
        Arc::clone(&self.exposed.borrow())
    }

    pub(crate) async fn expose(
        &self,
        name: &SandboxName,
        port: u16,
        asked: ExposePort,
    ) -> Result<(Exposure, bool), Error> {
        self.ask(name, |tell| Ask::Expose { port, asked, tell }).await
    }

    pub(crate) async fn rotate(&self, name: &SandboxName, port: u16) -> Result<Exposure, Error> {
        self.ask(name, |tell| Ask::Rotate { port, tell }).await
    }

    pub(crate) async fn unexpose(&self, name: &SandboxName, port: u16) -> Result<(), Error> {
        self.ask(name, |tell| Ask::Unexpose { port, tell }).await
    }

    async fn ask<T>(
        &self,
        name: &SandboxName,
        ask: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Ask,
    ) -> Result<T, Error> {
        let (tell, told) = oneshot::channel();
        let gone = || Error::SandboxNotFound { name: name.clone() };
        self.asks.send(ask(tell)).await.map_err(|_| gone())?;
        told.await.map_err(|_| gone())?
    }
}
