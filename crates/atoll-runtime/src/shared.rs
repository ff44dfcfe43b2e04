//! What the parts of one sandbox share: the link to init, its cgroup, its ids, its defaults.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use atoll_isolation::cgroup::{Group, LeafLimits};
use atoll_isolation::sys::identity;
use atoll_isolation::{IdMap, Isolation};
use atoll_protocol::{EndReason, ProcessId};
use rustix::fs::{Mode, OFlags};
use tokio::sync::Semaphore;

use crate::Error;
use crate::files::{Watches, Workers};
use crate::journal::{Journal, Note};
use crate::link::Link;
use crate::log::{Limits, Log, Store};
use crate::network::Network;
use crate::pauses::Pauses;
use crate::port::Ports;
use crate::process::Registry;
use crate::sandbox::random_text;
use crate::session::{Registry as Sessions, Spare};
use crate::terminal::Registry as Terminals;
use crate::tree::Tree;

/// Starting a program is all CPU and cache. Many at once only get in each other's way (64 at once on two cores: a tenth
/// less done than 8 at once), so a command that is just starting holds one of a few places, for this long at most.
pub(crate) const YOUNG: Duration = Duration::from_millis(5);

/// Places per core: enough that no core waits while init makes the next process.
const STARTS_PER_CORE: usize = 4;

/// One sandbox's common ground. No task owns it; nothing in it waits.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) link: Link,
    pub(crate) isolation: Isolation,
    pub(crate) ids: Option<IdMap>,
    pub(crate) group: Option<Group>,
    pub(crate) proc: OwnedFd,
    /// Its init, where its processes are told from others only by descending from it.
    pub(crate) top: Option<u32>,
    /// /dev/null, opened once.
    pub(crate) null: OwnedFd,
    pub(crate) storage: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) env: BTreeMap<OsString, OsString>,
    pub(crate) open_files: Option<(u64, u64)>,
    pub(crate) registry: Registry,
    /// What is remembered beyond this life, if the storage is kept.
    pub(crate) journal: Option<Arc<Journal>>,
    /// The way out.
    pub(crate) network: Network,
    pub(crate) terminals: Terminals,
    pub(crate) sessions: Sessions,
    pub(crate) spare: Spare,
    pub(crate) workers: Workers,
    pub(crate) watches: Watches,
    pub(crate) shell: Shell,
    pub(crate) ports: Ports,
    pub(crate) stopping: AtomicBool,
    pub(crate) pauses: Pauses,
    /// How many commands may be young at once: see [`YOUNG`].
    pub(crate) starts: Arc<Semaphore>,
    /// Random, so that ids of two lives of a sandbox never meet.
    id_prefix: String,
    next: AtomicU64,
}

/// Which shell runs shell strings here; found out by the first one.
#[derive(Debug, Default)]
pub(crate) struct Shell(AtomicBool);

impl Shell {
    /// The names to try, in order.
    pub(crate) fn names(&self) -> &'static [&'static str] {
        if self.0.load(Ordering::Relaxed) { &["sh"] } else { &["bash", "sh"] }
    }

    /// There is no bash.
    pub(crate) fn only_sh(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a sandbox's shared ground is made of.
pub(crate) struct Parts {
    pub(crate) link: Link,
    pub(crate) isolation: Isolation,
    pub(crate) ids: Option<IdMap>,
    pub(crate) group: Option<Group>,
    pub(crate) proc: OwnedFd,
    pub(crate) init: u32,
    pub(crate) storage: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) env: BTreeMap<OsString, OsString>,
    pub(crate) open_files: Option<(u64, u64)>,
    pub(crate) registry: Registry,
    pub(crate) journal: Option<Arc<Journal>>,
    pub(crate) network: Network,
}

impl Shared {
    pub(crate) fn new(parts: Parts) -> Result<Self, Error> {
        let Parts {
            link,
            isolation,
            ids,
            group,
            proc,
            init,
            storage,
            cwd,
            env,
            open_files,
            registry,
            journal,
            network,
        } = parts;
        Ok(Self {
            null: open_null()?,
            link,
            isolation,
            ids,
            group,
            proc,
            top: match isolation {
                Isolation::Namespaces => None,
                Isolation::None => Some(init),
            },
            storage,
            cwd,
            env,
            open_files,
            registry,
            journal,
            network,
            terminals: Terminals::default(),
            sessions: Sessions::default(),
            spare: Spare::default(),
            workers: Workers::default(),
            watches: Watches::default(),
            shell: Shell::default(),
            ports: Ports::default(),
            stopping: AtomicBool::new(false),
            pauses: Pauses::default(),
            starts: Arc::new(Semaphore::new(starts_at_once())),
            id_prefix: random_text(6)?,
            next: AtomicU64::new(1),
        })
    }

    /// Variables of every command, with those that come with the way out.
    pub(crate) fn environment(&self) -> BTreeMap<OsString, OsString> {
        let mut env = self.env.clone();
        self.network.variables(&mut env);
        env
    }

    /// Whether its ports are its own.
    pub(crate) fn has_own_network(&self) -> bool {
        self.isolation == Isolation::Namespaces
    }

    /// A number for a new command, never used again in this sandbox.
    pub(crate) fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// An id for a command that was given none.
    pub(crate) fn next_id(&self) -> Result<ProcessId, Error> {
        let text = format!("{}-{}", self.id_prefix, self.next.fetch_add(1, Ordering::Relaxed));
        ProcessId::new(text).map_err(|error| Error::invalid(error.to_string()))
    }

    /// Why a command whose end nobody saw is over.
    pub(crate) fn gone_reason(&self) -> EndReason {
        if self.stopping.load(Ordering::Relaxed) { EndReason::SandboxStopped } else { EndReason::HostLost }
    }

    /// A tree for a new command.
    pub(crate) fn new_tree(&self, number: u64, memory_bytes: Option<u64>) -> Result<Tree, Error> {
        match &self.group {
            Some(group) if group.dir().is_some() => {
                let leaf = match memory_bytes {
                    None => group.leaf(),
                    Some(_) => group.leaf_with(LeafLimits { memory_bytes }),
                };
                leaf.map(Tree::Cgroup).map_err(|error| limit_error(&error))
            }
            _ if memory_bytes.is_some() => Err(Error::LimitUnavailable {
                what: "a memory limit per command needs cgroups that this process may write".to_owned(),
                hint: Some(
                    "run as root, or in a delegated cgroup (systemd-run --user --scope -p Delegate=yes)".to_owned(),
                ),
            }),
            _ => Ok(Tree::Warden(number)),
        }
    }

    /// A log for a new command. In storage that is thrown away its files have no name: what is on disk is gone with the
    /// agent. Else there is a place for it in the journal, and nothing in either until it is needed.
    pub(crate) fn new_output(&self) -> (Log, Option<Note>) {
        let note = self.journal.as_ref().map(Note::new);
        let store = match &note {
            Some(note) => Store::Dir(note.log_dir()),
            None => Store::Unlinked(self.storage.join("logs")),
        };
        (Log::new(store, Limits::default()), note)
    }

    /// The outside id of a user inside.
    pub(crate) fn outside(&self, (uid, gid): (u32, u32)) -> Option<(u32, u32)> {
        match self.ids {
            Some(IdMap::Range { base, .. }) => Some((base + uid, base + gid)),
            // Inside and outside are the same, and only root may give things away.
            None if identity::user() == 0 => Some((uid, gid)),
            Some(IdMap::Own { .. }) | None => None,
        }
    }
}

/// A cgroup that cannot do what was asked.
pub(crate) fn limit_error(error: &atoll_isolation::cgroup::Error) -> Error {
    if matches!(error, atoll_isolation::cgroup::Error::Destroyed { .. }) {
        return Error::SandboxGone;
    }
    if matches!(error, atoll_isolation::cgroup::Error::OutOfRange { .. }) {
        return Error::invalid(error.to_string());
    }
    Error::LimitUnavailable { what: error.to_string(), hint: error.hint().map(str::to_owned) }
}

fn starts_at_once() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from) * STARTS_PER_CORE
}

/// Appending means nothing for reading; by that flag a session's shell knows it from a `/dev/null` of the user's.
fn open_null() -> Result<OwnedFd, Error> {
    let flags = OFlags::RDONLY | OFlags::APPEND | OFlags::CLOEXEC;
    rustix::fs::open("/dev/null", flags, Mode::empty()).map_err(|error| Error::io("open /dev/null", &error.into()))
}
