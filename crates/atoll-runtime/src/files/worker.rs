//! A worker inside: started by the first request of its user, ended when nobody has used it for a while.
//!
//! It is no process of the user's: no list shows it, no kill means it. Whoever inside is the same user could still take
//! it over or end it, so its word is worth no more than that user's, and one that is gone is simply started again.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use atoll_isolation::sys::identity;
use atoll_isolation::sys::socket::{self, Waiting};
use atoll_isolation::wire::{Session, Spawn, SpawnStage};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use tokio::io::unix::AsyncFd;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::program::program;
use crate::Error;
use crate::link::{self, NewsReceiver, SpawnError};
use crate::session;
use crate::shared::Shared;
use crate::start;
use crate::tree::Tree;
use crate::user::User;

/// How long a worker waits for the next request. A start costs two milliseconds; memory costs all the time.
const IDLE: Duration = Duration::from_secs(30);

/// How long it may take to end by itself.
const END_WITHIN: Duration = Duration::from_secs(2);

/// Requests of one user at once; the others wait. As many threads has a worker.
const AT_ONCE: usize = 256;

/// Connections to one worker that wait for the next request: it finds a thread that waits for it, too.
const LINES_KEPT: usize = 4;

/// Workers at once, one for each user that calls have named. The one that is unused for longest makes room.
const WORKERS: usize = 16;

/// Who a worker is: user, group, further groups.
type Who = (u32, u32, Option<Vec<u32>>);

/// The workers of a sandbox.
#[derive(Debug)]
pub(crate) struct Workers {
    by_user: Mutex<HashMap<Who, Slot>>,
    /// Only one is started at a time.
    starting: Semaphore,
}

impl Default for Workers {
    fn default() -> Self {
        Self { by_user: Mutex::default(), starting: Semaphore::new(1) }
    }
}

#[derive(Debug)]
struct Slot {
    worker: Arc<Worker>,
    in_use: usize,
    since: Instant,
}

/// One worker.
#[derive(Debug)]
struct Worker {
    number: u64,
    control: AsyncFd<OwnedFd>,
    places: Arc<Semaphore>,
    /// Those whose last request is over.
    lines: Mutex<Vec<UnixStream>>,
}

impl Worker {
    fn lines(&self) -> MutexGuard<'_, Vec<UnixStream>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to one request. The worker stays while there is one.
#[derive(Debug)]
pub(super) struct Use {
    shared: Weak<Shared>,
    who: Who,
    worker: Arc<Worker>,
    _place: Option<tokio::sync::OwnedSemaphorePermit>,
}

impl Use {
    /// A connection that waits, if there is one.
    pub(super) fn line(&self) -> Option<UnixStream> {
        self.worker.lines().pop()
    }

    /// Keeps a connection whose request is over.
    pub(super) fn keep(&self, line: UnixStream) {
        let mut lines = self.worker.lines();
        if lines.len() < LINES_KEPT {
            lines.push(line);
        }
    }

    /// It does not answer: the next request starts another.
    pub(super) fn is_gone(&self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.workers.forget(&self.who, self.worker.number);
        }
    }

    /// Hands a request's connection to the worker.
    pub(super) async fn hand_over(&self, connection: BorrowedFd<'_>) -> io::Result<()> {
        loop {
            let mut ready = self.worker.control.writable().await?;
            match socket::send_waiting(self.worker.control.as_fd(), &[1], &[connection], Waiting::Forbidden) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                done => return done,
            }
        }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let mut by_user = shared.workers.by_user();
        if let Some(slot) = by_user.get_mut(&self.who)
            && Arc::ptr_eq(&slot.worker, &self.worker)
        {
            slot.in_use -= 1;
            slot.since = Instant::now();
        }
    }
}

impl Workers {
    fn by_user(&self) -> MutexGuard<'_, HashMap<Who, Slot>> {
        self.by_user.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker of this user, started if need be.
    pub(super) async fn of(shared: &Arc<Shared>, user: &User) -> Result<Use, Error> {
        let who = (user.uid, user.gid, user.groups.clone());
        let mut used = match Self::living(shared, &who) {
            Some(used) => used,
            None => {
                let _alone = shared.workers.starting.acquire().await;
                match Self::living(shared, &who) {
                    Some(used) => used,
                    None => Self::started(shared, who, user).await?,
                }
            }
        };
        // Never closed, so there is always a place to come.
        used._place = Arc::clone(&used.worker.places).acquire_owned().await.ok();
        Ok(used)
    }

    fn living(shared: &Arc<Shared>, who: &Who) -> Option<Use> {
        let mut by_user = shared.workers.by_user();
        let slot = by_user.get_mut(who)?;
        slot.in_use += 1;
        let worker = Arc::clone(&slot.worker);
        Some(Use { shared: Arc::downgrade(shared), who: who.clone(), worker, _place: None })
    }

    async fn started(shared: &Arc<Shared>, who: Who, user: &User) -> Result<Use, Error> {
        shared.workers.make_room();
        let worker = start(shared, user, who.clone()).await?;
        let slot = Slot { worker: Arc::clone(&worker), in_use: 1, since: Instant::now() };
        shared.workers.by_user().insert(who.clone(), slot);
        Ok(Use { shared: Arc::downgrade(shared), who, worker, _place: None })
    }

    /// Lets the one go that is unused for longest, if there are many.
    fn make_room(&self) {
        let mut by_user = self.by_user();
        if by_user.len() < WORKERS {
            return;
        }
        let unused = by_user.iter().filter(|(_, slot)| slot.in_use == 0);
        if let Some(who) = unused.min_by_key(|(_, slot)| slot.since).map(|(who, _)| who.clone()) {
            by_user.remove(&who);
        }
    }

    /// Takes a worker out if nobody has used it for long; else says until when to wait.
    fn retire(&self, who: &Who, number: u64) -> Option<Instant> {
        let mut by_user = self.by_user();
        let slot = by_user.get(who).filter(|slot| slot.worker.number == number)?;
        let until = slot.since + IDLE;
        if slot.in_use > 0 {
            return Some(Instant::now() + IDLE);
        }
        if until > Instant::now() {
            return Some(until);
        }
        by_user.remove(who);
        None
    }

    /// It has ended: the next request starts another.
    fn forget(&self, who: &Who, number: u64) {
        let mut by_user = self.by_user();
        if by_user.get(who).is_some_and(|slot| slot.worker.number == number) {
            by_user.remove(who);
        }
    }
}

async fn start(shared: &Arc<Shared>, user: &User, who: Who) -> Result<Arc<Worker>, Error> {
    let number = shared.next_number();
    let tree = shared.new_tree(number, None)?;
    let (ours, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
    .map_err(|errno| Error::io("make the file worker's socket", &errno.into()))?;
    // The worker waits on its end; only ours must not.
    rustix::io::ioctl_fionbio(&theirs, false)
        .map_err(|errno| Error::io("make the file worker's socket", &errno.into()))?;
    // It is only written to.
    socket::refuse_rights(ours.as_fd());
    let spawn = request(shared, number, user, &tree);
    let news = shared.link.listen(number)?;
    let spawned = {
        let mut fds = vec![theirs.as_fd(), shared.null.as_fd(), shared.null.as_fd(), program()?];
        if let Tree::Cgroup(leaf) = &tree {
            fds.push(leaf.dir());
            fds.extend(leaf.memory_procs());
        }
        shared.link.spawn(spawn, &fds).await
    };
    if let Err(error) = spawned {
        shared.link.forget(number);
        return Err(match error {
            SpawnError::Other(error) => error,
            SpawnError::Refused { stage: SpawnStage::Clone, error } if is_for_want(&error) => {
                Error::ProcessLimit { why: error.to_string() }
            }
            SpawnError::Refused { stage, error } => {
                Error::Internal { what: format!("the file worker was not started: {stage:?}: {error}") }
            }
        });
    }
    let control = link::register(ours).map_err(|error| Error::io("watch the file worker's socket", &error))?;
    let worker =
        Arc::new(Worker { number, control, places: Arc::new(Semaphore::new(AT_ONCE)), lines: Mutex::default() });
    tokio::spawn(keep(Arc::downgrade(shared), who, number, tree, news));
    Ok(worker)
}

/// The sandbox may not have another process, or no memory for it.
fn is_for_want(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [rustix::io::Errno::AGAIN, rustix::io::Errno::NOMEM].iter().any(|want| code == Some(want.raw_os_error()))
}

fn request(shared: &Shared, number: u64, user: &User, tree: &Tree) -> Spawn {
    let (in_cgroup, in_memory_cgroup) = match tree {
        Tree::Cgroup(leaf) => (true, leaf.memory_procs().is_some()),
        Tree::Warden(_) | Tree::Part(_) => (false, false),
    };
    Spawn {
        command: number,
        candidates: vec![b"/proc/self/fd/3".to_vec()],
        argv: vec![b"atoll-files".to_vec()],
        env: Vec::new(),
        cwd: b"/".to_vec(),
        user: (user.uid, user.gid),
        groups: user.groups.clone(),
        limits: limits(shared),
        umask: 0o022,
        session: Session::Own,
        in_cgroup,
        in_memory_cgroup,
        warden: !in_cgroup,
        extras: 1,
        unstoppable: true,
        pidfd: false,
        beside: false,
    }
}

/// Programs of the same user could use the worker's descriptors, so it has no more than they have. A sandbox's limit may be
/// higher than can be had: its commands are refused then, but its files can still be read.
fn limits(shared: &Shared) -> Vec<(u32, u64, u64)> {
    let possible = |(resource, soft, hard): (u32, u64, u64)| {
        let most = identity::limit(resource).map_or(hard, |(_, most)| most);
        (resource, soft.min(most), hard.min(most))
    };
    start::open_files(shared).into_iter().map(possible).collect()
}

/// Waits for the worker's end, or brings it about when nobody needs it any more.
async fn keep(shared: Weak<Shared>, who: Who, number: u64, mut tree: Tree, mut news: NewsReceiver) {
    let mut until = Instant::now() + IDLE;
    let ended = loop {
        tokio::select! {
            _ = news.recv() => break true,
            () = tokio::time::sleep_until(until) => {}
        }
        let Some(shared) = shared.upgrade() else { return };
        match shared.workers.retire(&who, number) {
            Some(later) => until = later,
            // Its socket closes with the last handle, and it ends.
            None => break false,
        }
    };
    let Some(shared) = shared.upgrade() else { return };
    shared.workers.forget(&who, number);
    if !ended {
        drop(tokio::time::timeout(END_WITHIN, news.recv()).await);
    }
    session::end_tree(&shared, &mut tree, &mut news).await;
    shared.link.forget(number);
}
