//! Actors over a fake placement: which agents are started, how often, and in what order.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use atoll_protocol::{CreateSandbox, SandboxName, SandboxSpec, SandboxState, StopReason};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use super::{Need, Sandboxes, Services};
use crate::Error;
use crate::metrics::Metrics;
use crate::placement::{Agent, AgentStream, BoxFuture, Placement, StartError};
use crate::registry::{Disk, Registry};

/// Agents that exist in name only. Counts starts; agents can be made to exit.
#[derive(Debug, Default)]
struct FakePlacement {
    started: AtomicU64,
    living: Mutex<HashMap<String, (Agent, Arc<Notify>)>>,
    /// The number of processes that each agent reports.
    busy: AtomicU64,
    refuses: AtomicU64,
}

impl FakePlacement {
    fn lose(&self, name: &str) {
        let (_, gone) = self.living.lock().unwrap().remove(name).unwrap();
        gone.notify_waiters();
        gone.notify_one();
    }

    fn alive(&self) -> usize {
        self.living.lock().unwrap().len()
    }
}

impl Placement for FakePlacement {
    fn start<'a>(&'a self, name: &'a SandboxName, _: &'a SandboxSpec) -> BoxFuture<'a, Result<Agent, StartError>> {
        Box::pin(async move {
            if self.refuses.load(Ordering::SeqCst) > 0 {
                return Err(StartError::Failed("failed on purpose".to_owned()));
            }
            let start = self.started.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            let agent = Agent { pid: 1, start, address: name.as_str().into() };
            let there = self.living.lock().unwrap().insert(name.to_string(), (agent.clone(), Arc::default()));
            assert!(there.is_none(), "two agents for {name}");
            Ok(agent)
        })
    }

    fn find<'a>(&'a self, name: &'a SandboxName) -> BoxFuture<'a, Option<Agent>> {
        let found = self.living.lock().unwrap().get(name.as_str()).map(|(agent, _)| agent.clone());
        Box::pin(async move { found })
    }

    fn stop<'a>(&'a self, agent: &'a Agent) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.living.lock().unwrap().remove(&*agent.address);
            Ok(())
        })
    }

    fn gone(&self, agent: &Agent) -> BoxFuture<'static, ()> {
        let gone = self.living.lock().unwrap().get(&*agent.address).map(|(_, gone)| Arc::clone(gone));
        Box::pin(async move {
            match gone {
                Some(gone) => gone.notified().await,
                None => std::future::pending().await,
            }
        })
    }

    /// Responds to one request for the agent's information.
    fn connect<'a>(&'a self, agent: &'a Agent) -> BoxFuture<'a, io::Result<AgentStream>> {
        let (ours, mut theirs) = tokio::io::duplex(4096);
        let (name, busy) = (agent.address.clone(), self.busy.load(Ordering::SeqCst));
        tokio::spawn(async move {
            let mut head = [0; 1024];
            drop(theirs.read(&mut head).await);
            let body = format!(
                r#"{{"name":"{name}","state":"running","isolation":"none","limits":{{}},"labels":{{}},"processes":{busy},"terminals":0,
                "created_at":"2026-01-31T12:00:00.000Z","usage":{{}},"version":"1"}}"#
            );
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            drop(theirs.write_all(answer.as_bytes()).await);
        });
        Box::pin(async move { Ok(Box::new(ours) as AgentStream) })
    }

    fn remove<'a>(&'a self, _: &'a SandboxName) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

struct Stage {
    dir: tempfile::TempDir,
    placement: Arc<FakePlacement>,
    sandboxes: Sandboxes,
}

async fn fleet_over(dir: &std::path::Path, placement: &Arc<FakePlacement>) -> Sandboxes {
    let services = Services {
        placement: Arc::clone(placement) as Arc<dyn Placement>,
        registry: Registry::open(&dir.join("registry.db")).unwrap(),
        disk: Disk::open(dir).unwrap(),
        metrics: Arc::new(Metrics::default()),
        traffic: super::Traffic::default(),
        default_sleep_ms: None,
        sandboxes_max: 3,
    };
    Sandboxes::adopt(services).await.unwrap()
}

/// Copies the state as a killed gateway would leave it. The gateway of this test still has its own files open.
fn as_left(dir: &std::path::Path) -> tempfile::TempDir {
    let left = tempfile::tempdir().unwrap();
    for file in ["registry.db", "registry.db-wal"] {
        std::fs::copy(dir.join(file), left.path().join(file)).unwrap();
    }
    std::fs::rename(dir.join("sandboxes"), left.path().join("sandboxes")).unwrap();
    left
}

async fn stage() -> Stage {
    let dir = tempfile::tempdir().unwrap();
    let placement = Arc::new(FakePlacement::default());
    let sandboxes = fleet_over(dir.path(), &placement).await;
    Stage { dir, placement, sandboxes }
}

fn name(text: &str) -> SandboxName {
    SandboxName::new(text).unwrap()
}

fn plain() -> CreateSandbox {
    CreateSandbox::default()
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_creates_make_one_sandbox() {
    let Stage { dir: _dir, placement, sandboxes } = stage().await;
    let creates: Vec<_> = (0..50)
        .map(|_| {
            let sandboxes = sandboxes.clone();
            tokio::spawn(async move { sandboxes.create(&name("one"), plain()).await.unwrap().1 })
        })
        .collect();
    let mut new = 0;
    for create in creates {
        new += usize::from(create.await.unwrap());
    }
    assert_eq!((new, placement.started.load(Ordering::SeqCst)), (1, 1));
}

/// Concurrent creates, deletes, uses and stops of one name: each is atomic, and the last one counts.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_operations_never_start_two_agents() {
    let Stage { dir: _dir, placement, sandboxes } = stage().await;
    let mut operations = tokio::task::JoinSet::new();
    for turn in 0..200_u32 {
        let sandboxes = sandboxes.clone();
        operations.spawn(async move {
            let name = name("one");
            let done = match turn % 4 {
                0 => sandboxes.create(&name, plain()).await.map(drop),
                1 => match sandboxes.get(&name) {
                    Ok(handle) => handle.delete(&name).await,
                    Err(error) => Err(error),
                },
                2 => match sandboxes.get(&name) {
                    Ok(handle) => handle.reach(&name, Need::Run).await.map(drop),
                    Err(error) => Err(error),
                },
                _ => match sandboxes.get(&name) {
                    Ok(handle) => handle.stop(&name).await.map(drop),
                    Err(error) => Err(error),
                },
            };
            assert!(matches!(done, Ok(()) | Err(Error::SandboxNotFound { .. })), "{done:?}");
        });
    }
    while let Some(done) = operations.join_next().await {
        done.unwrap();
    }
    sandboxes.create(&name("one"), plain()).await.unwrap();
    sandboxes.get(&name("one")).unwrap().delete(&name("one")).await.unwrap();
    assert_eq!(placement.alive(), 0);
    assert!(matches!(sandboxes.get(&name("one")), Err(Error::SandboxNotFound { .. })) || sandboxes.states().len() <= 1);
}

#[tokio::test]
async fn create_with_other_options_lists_them_and_changes_nothing() {
    let Stage { dir: _dir, sandboxes, .. } = stage().await;
    sandboxes.create(&name("one"), plain()).await.unwrap();
    let requested = CreateSandbox { keep_alive: Some(true), ..plain() };
    let refused = sandboxes.create(&name("one"), requested).await.unwrap_err();
    assert!(matches!(&refused, Error::SandboxDiffers { differences, .. } if differences.len() == 1), "{refused:?}");
    assert_eq!(refused.body().details.unwrap()["differences"][0]["option"], "keep_alive");
}

#[tokio::test]
async fn stopped_or_lost_sandbox_starts_on_next_use() {
    let Stage { dir: _dir, placement, sandboxes } = stage().await;
    sandboxes.create(&name("one"), plain()).await.unwrap();
    let handle = sandboxes.get(&name("one")).unwrap();
    let row = handle.stop(&name("one")).await.unwrap();
    assert_eq!((row.status.state, row.status.stop_reason), (SandboxState::Stopped, Some(StopReason::Asked)));
    handle.reach(&name("one"), Need::Inspect).await.unwrap();
    let mut phase = handle.phase.clone();
    phase.mark_unchanged();
    placement.lose("one");
    phase.changed().await.unwrap();
    let row = sandboxes.services().registry.sandbox(name("one")).await.unwrap().unwrap();
    assert_eq!(row.status.stop_reason, Some(StopReason::HostLost));
    handle.reach(&name("one"), Need::Run).await.unwrap();
    assert_eq!(placement.started.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn failed_create_leaves_nothing() {
    let Stage { dir: _dir, placement, sandboxes } = stage().await;
    placement.refuses.store(1, Ordering::SeqCst);
    let refused = sandboxes.create(&name("one"), plain()).await.unwrap_err();
    assert!(matches!(refused, Error::AgentUnavailable { .. }), "{refused:?}");
    assert!(sandboxes.services().registry.sandbox(name("one")).await.unwrap().is_none());
    placement.refuses.store(0, Ordering::SeqCst);
    assert!(sandboxes.create(&name("one"), plain()).await.unwrap().1);
}

#[tokio::test]
async fn sandbox_limit_is_enforced() {
    let Stage { dir: _dir, sandboxes, .. } = stage().await;
    for text in ["a", "b", "c"] {
        sandboxes.create(&name(text), plain()).await.unwrap();
    }
    let refused = sandboxes.create(&name("d"), plain()).await.unwrap_err();
    assert!(matches!(refused, Error::SandboxLimit { max: 3 }), "{refused:?}");
    sandboxes.get(&name("a")).unwrap().delete(&name("a")).await.unwrap();
    while sandboxes.states().len() > 2 {
        tokio::task::yield_now().await;
    }
    sandboxes.create(&name("d"), plain()).await.unwrap();
}

#[tokio::test]
async fn restarted_gateway_adopts_running_agents_and_notices_lost_ones() {
    let Stage { dir, placement, sandboxes } = stage().await;
    for text in ["lives", "dies", "sleeps"] {
        sandboxes.create(&name(text), plain()).await.unwrap();
    }
    sandboxes.get(&name("sleeps")).unwrap().stop(&name("sleeps")).await.unwrap();
    drop(sandboxes);
    placement.living.lock().unwrap().remove("dies");
    let started = placement.started.load(Ordering::SeqCst);
    let left = as_left(dir.path());
    let next = fleet_over(left.path(), &placement).await;
    let known = async |text: &str| next.services().registry.sandbox(name(text)).await.unwrap().unwrap().status;
    assert_eq!(known("lives").await.state, SandboxState::Running);
    let dies = known("dies").await;
    assert_eq!((dies.state, dies.stop_reason), (SandboxState::Stopped, Some(StopReason::HostLost)));
    assert_eq!(known("sleeps").await.stop_reason, Some(StopReason::Asked));
    next.get(&name("lives")).unwrap().reach(&name("lives"), Need::Run).await.unwrap();
    assert_eq!(placement.started.load(Ordering::SeqCst), started, "a running agent is not started again");
}

#[tokio::test]
async fn lost_registry_is_rebuilt_from_disk() {
    let Stage { dir, placement, sandboxes } = stage().await;
    let labels = Some([("team".to_owned(), "a".to_owned())].into());
    sandboxes.create(&name("one"), CreateSandbox { labels, ..plain() }).await.unwrap();
    drop(sandboxes);
    let fresh = tempfile::tempdir().unwrap();
    std::fs::rename(dir.path().join("sandboxes"), fresh.path().join("sandboxes")).unwrap();
    let next = fleet_over(fresh.path(), &placement).await;
    let row = next.services().registry.sandbox(name("one")).await.unwrap().unwrap();
    assert_eq!((row.status.state, row.listed.labels["team"].as_str()), (SandboxState::Running, "a"));
}

#[tokio::test]
async fn idle_sandbox_is_stopped_and_one_in_use_is_not() {
    let Stage { dir: _dir, placement, sandboxes } = stage().await;
    let requested = CreateSandbox { sleep_after_ms: Some(60), ..plain() };
    sandboxes.create(&name("one"), requested).await.unwrap();
    let handle = sandboxes.get(&name("one")).unwrap();
    let in_use = handle.enter();
    let mut phase = handle.phase.clone();
    tokio::time::sleep(Duration::from_millis(250)).await;
    assert_eq!(placement.alive(), 1, "a stream is open");
    placement.busy.store(1, Ordering::SeqCst);
    drop(in_use);
    tokio::time::sleep(Duration::from_millis(250)).await;
    assert_eq!(placement.alive(), 1, "a process runs inside");
    placement.busy.store(0, Ordering::SeqCst);
    while placement.alive() > 0 {
        phase.changed().await.unwrap();
        tokio::task::yield_now().await;
    }
    while sandboxes.services().registry.sandbox(name("one")).await.unwrap().unwrap().status.stop_reason.is_none() {
        tokio::task::yield_now().await;
    }
    handle.reach(&name("one"), Need::Inspect).await.unwrap();
    assert_eq!(placement.alive(), 1);
}
