//! Owners over a placement that only pretends: what is made, how often, and in what order.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use atoll_protocol::{CreateSandbox, SandboxName, SandboxSpec, SandboxState, StopReason};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use super::{Fleet, Ground, Need};
use crate::Error;
use crate::metrics::Metrics;
use crate::placement::{Agent, Placement, Promise, StartError, Wire};
use crate::registry::{Disk, Registry};

/// Agents that are only names. Each counts its starts and can be made to end.
#[derive(Debug, Default)]
struct Pretended {
    started: AtomicU64,
    living: Mutex<HashMap<String, (Agent, Arc<Notify>)>>,
    /// What each says of its processes.
    busy: AtomicU64,
    refuses: AtomicU64,
}

impl Pretended {
    fn lose(&self, name: &str) {
        let (_, gone) = self.living.lock().unwrap().remove(name).unwrap();
        gone.notify_waiters();
        gone.notify_one();
    }

    fn alive(&self) -> usize {
        self.living.lock().unwrap().len()
    }
}

impl Placement for Pretended {
    fn start<'a>(&'a self, name: &'a SandboxName, _: &'a SandboxSpec) -> Promise<'a, Result<Agent, StartError>> {
        Box::pin(async move {
            if self.refuses.load(Ordering::SeqCst) > 0 {
                return Err(StartError::Failed("is not in the mood".to_owned()));
            }
            let start = self.started.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            let agent = Agent { pid: 1, start, address: name.as_str().into() };
            let there = self.living.lock().unwrap().insert(name.to_string(), (agent.clone(), Arc::default()));
            assert!(there.is_none(), "two agents for {name}");
            Ok(agent)
        })
    }

    fn find<'a>(&'a self, name: &'a SandboxName) -> Promise<'a, Option<Agent>> {
        let found = self.living.lock().unwrap().get(name.as_str()).map(|(agent, _)| agent.clone());
        Box::pin(async move { found })
    }

    fn stop<'a>(&'a self, agent: &'a Agent) -> Promise<'a, io::Result<()>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.living.lock().unwrap().remove(&*agent.address);
            Ok(())
        })
    }

    fn gone(&self, agent: &Agent) -> Promise<'static, ()> {
        let gone = self.living.lock().unwrap().get(&*agent.address).map(|(_, gone)| Arc::clone(gone));
        Box::pin(async move {
            match gone {
                Some(gone) => gone.notified().await,
                None => std::future::pending().await,
            }
        })
    }

    /// Answers one request about itself.
    fn connect<'a>(&'a self, agent: &'a Agent) -> Promise<'a, io::Result<Wire>> {
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
        Box::pin(async move { Ok(Box::new(ours) as Wire) })
    }

    fn remove<'a>(&'a self, _: &'a SandboxName) -> Promise<'a, io::Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

struct Stage {
    dir: tempfile::TempDir,
    placement: Arc<Pretended>,
    fleet: Fleet,
}

async fn fleet_over(dir: &std::path::Path, placement: &Arc<Pretended>) -> Fleet {
    let ground = Ground {
        placement: Arc::clone(placement) as Arc<dyn Placement>,
        registry: Registry::open(&dir.join("registry.db")).unwrap(),
        disk: Disk::open(dir).unwrap(),
        metrics: Arc::new(Metrics::default()),
        traffic: super::Traffic::default(),
        default_sleep_ms: None,
        sandboxes_max: 3,
    };
    Fleet::adopt(ground).await.unwrap()
}

/// The state as a gateway leaves it that is killed at this moment. The one of this test still has its own open.
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
    let placement = Arc::new(Pretended::default());
    let fleet = fleet_over(dir.path(), &placement).await;
    Stage { dir, placement, fleet }
}

fn name(text: &str) -> SandboxName {
    SandboxName::new(text).unwrap()
}

fn plain() -> CreateSandbox {
    CreateSandbox::default()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_creates_one_makes_it() {
    let Stage { dir: _dir, placement, fleet } = stage().await;
    let creates: Vec<_> = (0..50)
        .map(|_| {
            let fleet = fleet.clone();
            tokio::spawn(async move { fleet.create(&name("one"), plain()).await.unwrap().1 })
        })
        .collect();
    let mut new = 0;
    for create in creates {
        new += usize::from(create.await.unwrap());
    }
    assert_eq!((new, placement.started.load(Ordering::SeqCst)), (1, 1));
}

/// Creates, deletes, uses and stops of one name at once: each is whole, and the last word counts.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_asked_at_once_there_are_never_two() {
    let Stage { dir: _dir, placement, fleet } = stage().await;
    let mut asked = tokio::task::JoinSet::new();
    for turn in 0..200_u32 {
        let fleet = fleet.clone();
        asked.spawn(async move {
            let name = name("one");
            let done = match turn % 4 {
                0 => fleet.create(&name, plain()).await.map(drop),
                1 => match fleet.get(&name) {
                    Ok(handle) => handle.delete(&name).await,
                    Err(error) => Err(error),
                },
                2 => match fleet.get(&name) {
                    Ok(handle) => handle.reach(&name, Need::Run).await.map(drop),
                    Err(error) => Err(error),
                },
                _ => match fleet.get(&name) {
                    Ok(handle) => handle.stop(&name).await.map(drop),
                    Err(error) => Err(error),
                },
            };
            assert!(matches!(done, Ok(()) | Err(Error::SandboxNotFound { .. })), "{done:?}");
        });
    }
    while let Some(done) = asked.join_next().await {
        done.unwrap();
    }
    fleet.create(&name("one"), plain()).await.unwrap();
    fleet.get(&name("one")).unwrap().delete(&name("one")).await.unwrap();
    assert_eq!(placement.alive(), 0);
    assert!(matches!(fleet.get(&name("one")), Err(Error::SandboxNotFound { .. })) || fleet.states().len() <= 1);
}

#[tokio::test]
async fn other_options_are_listed_and_nothing_is_changed() {
    let Stage { dir: _dir, fleet, .. } = stage().await;
    fleet.create(&name("one"), plain()).await.unwrap();
    let asked = CreateSandbox { keep_alive: Some(true), ..plain() };
    let refused = fleet.create(&name("one"), asked).await.unwrap_err();
    assert!(matches!(&refused, Error::SandboxDiffers { differences, .. } if differences.len() == 1), "{refused:?}");
    assert_eq!(refused.body().details.unwrap()["differences"][0]["option"], "keep_alive");
}

#[tokio::test]
async fn one_that_is_stopped_or_lost_starts_again_on_its_next_use() {
    let Stage { dir: _dir, placement, fleet } = stage().await;
    fleet.create(&name("one"), plain()).await.unwrap();
    let handle = fleet.get(&name("one")).unwrap();
    let row = handle.stop(&name("one")).await.unwrap();
    assert_eq!((row.kept.state, row.kept.stop_reason), (SandboxState::Stopped, Some(StopReason::Asked)));
    handle.reach(&name("one"), Need::Look).await.unwrap();
    let mut phase = handle.phase.clone();
    phase.mark_unchanged();
    placement.lose("one");
    phase.changed().await.unwrap();
    let row = fleet.ground().registry.sandbox(name("one")).await.unwrap().unwrap();
    assert_eq!(row.kept.stop_reason, Some(StopReason::HostLost));
    handle.reach(&name("one"), Need::Run).await.unwrap();
    assert_eq!(placement.started.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn one_that_cannot_be_started_was_never_there() {
    let Stage { dir: _dir, placement, fleet } = stage().await;
    placement.refuses.store(1, Ordering::SeqCst);
    let refused = fleet.create(&name("one"), plain()).await.unwrap_err();
    assert!(matches!(refused, Error::AgentUnavailable { .. }), "{refused:?}");
    assert!(fleet.ground().registry.sandbox(name("one")).await.unwrap().is_none());
    placement.refuses.store(0, Ordering::SeqCst);
    assert!(fleet.create(&name("one"), plain()).await.unwrap().1);
}

#[tokio::test]
async fn there_are_no_more_than_there_may_be() {
    let Stage { dir: _dir, fleet, .. } = stage().await;
    for text in ["a", "b", "c"] {
        fleet.create(&name(text), plain()).await.unwrap();
    }
    let refused = fleet.create(&name("d"), plain()).await.unwrap_err();
    assert!(matches!(refused, Error::SandboxLimit { max: 3 }), "{refused:?}");
    fleet.get(&name("a")).unwrap().delete(&name("a")).await.unwrap();
    while fleet.states().len() > 2 {
        tokio::task::yield_now().await;
    }
    fleet.create(&name("d"), plain()).await.unwrap();
}

#[tokio::test]
async fn the_next_gateway_finds_what_lives_and_knows_what_does_not() {
    let Stage { dir, placement, fleet } = stage().await;
    for text in ["lives", "dies", "sleeps"] {
        fleet.create(&name(text), plain()).await.unwrap();
    }
    fleet.get(&name("sleeps")).unwrap().stop(&name("sleeps")).await.unwrap();
    drop(fleet);
    placement.living.lock().unwrap().remove("dies");
    let started = placement.started.load(Ordering::SeqCst);
    let left = as_left(dir.path());
    let next = fleet_over(left.path(), &placement).await;
    let known = async |text: &str| next.ground().registry.sandbox(name(text)).await.unwrap().unwrap().kept;
    assert_eq!(known("lives").await.state, SandboxState::Running);
    let dies = known("dies").await;
    assert_eq!((dies.state, dies.stop_reason), (SandboxState::Stopped, Some(StopReason::HostLost)));
    assert_eq!(known("sleeps").await.stop_reason, Some(StopReason::Asked));
    next.get(&name("lives")).unwrap().reach(&name("lives"), Need::Run).await.unwrap();
    assert_eq!(placement.started.load(Ordering::SeqCst), started, "what lives is not started again");
}

#[tokio::test]
async fn a_lost_registry_is_made_again_from_the_disk() {
    let Stage { dir, placement, fleet } = stage().await;
    let labels = Some([("team".to_owned(), "a".to_owned())].into());
    fleet.create(&name("one"), CreateSandbox { labels, ..plain() }).await.unwrap();
    drop(fleet);
    let fresh = tempfile::tempdir().unwrap();
    std::fs::rename(dir.path().join("sandboxes"), fresh.path().join("sandboxes")).unwrap();
    let next = fleet_over(fresh.path(), &placement).await;
    let row = next.ground().registry.sandbox(name("one")).await.unwrap().unwrap();
    assert_eq!((row.kept.state, row.listed.labels["team"].as_str()), (SandboxState::Running, "a"));
}

#[tokio::test]
async fn one_that_nobody_uses_sleeps_and_one_in_use_does_not() {
    let Stage { dir: _dir, placement, fleet } = stage().await;
    let asked = CreateSandbox { sleep_after_ms: Some(60), ..plain() };
    fleet.create(&name("one"), asked).await.unwrap();
    let handle = fleet.get(&name("one")).unwrap();
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
    while fleet.ground().registry.sandbox(name("one")).await.unwrap().unwrap().kept.stop_reason.is_none() {
        tokio::task::yield_now().await;
    }
    handle.reach(&name("one"), Need::Look).await.unwrap();
    assert_eq!(placement.alive(), 1);
}
