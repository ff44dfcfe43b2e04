//! The agent's end of the socket to init: requests get their answers, commands get their news.
//!
//! One task receives; anybody may send (messages keep their borders). When the socket closes, everybody who waits
//! is told so at once.

mod rescue;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atoll_isolation::sys::process::Usage;
use atoll_isolation::sys::socket::{self, Waiting};
use atoll_isolation::wire::{Event, IN_MEMORY_FILE, INLINE_MAX, Members, Request, Spawn, SpawnStage, Wire};
use atoll_isolation::{Packed, pack, unpack};
use atoll_protocol::EndReason;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot, watch};

use crate::Error;

/// What is told of one command: by init, at most three per command, so the channel never fills; or by the session whose
/// shell runs it.
#[derive(Debug)]
pub(crate) enum News {
    /// Its main process is over.
    Exited { status: i32, usage: Usage, alone: bool },
    /// Nothing of its tree is left (only told where there is no cgroup to ask).
    TreeEmpty,
    /// Its warden was killed from inside.
    WardenLost,
    /// The session's shell is done with it.
    Reported { status: i32, given_up: Option<EndReason>, user_us: u64, system_us: u64, left: Vec<u32> },
    /// The session's shell did not run it.
    NotRun { error: Error },
    /// The session's shell has ended; `reason` if that was asked for.
    ShellLost { how: Option<(i32, Usage)>, reason: Option<EndReason>, reset: bool, left: Vec<u32> },
}

const NEWS_MAX: usize = 4;

/// The events of one command, in their order.
#[derive(Debug)]
pub(crate) struct NewsReceiver {
    /// Received and put back.
    first: Option<News>,
    rest: mpsc::Receiver<News>,
}

impl NewsReceiver {
    pub(crate) fn new(rest: mpsc::Receiver<News>) -> Self {
        Self { first: None, rest }
    }

    /// The next event; `None` when there will be none. No event is lost if the future is dropped.
    pub(crate) async fn recv(&mut self) -> Option<News> {
        match self.first.take() {
            Some(first) => Some(first),
            None => self.rest.recv().await,
        }
    }

    /// The next event if there is one now.
    pub(crate) fn try_recv(&mut self) -> Result<News, TryRecvError> {
        self.first.take().map_or_else(|| self.rest.try_recv(), Ok)
    }

    /// Makes this event the next again.
    pub(crate) fn put_back(&mut self, event: News) {
        self.first = Some(event);
    }
}

type Answer = (Event, Vec<OwnedFd>);

/// A started program.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) pid: u32,
    /// If it was wanted.
    pub(crate) pidfd: Option<OwnedFd>,
}

/// A start that did not happen.
#[derive(Debug)]
pub(crate) enum SpawnError {
    Refused { stage: SpawnStage, error: io::Error },
    Other(Error),
}

/// Handle on the connection. Dropping the last one ends the sandbox.
#[derive(Debug)]
pub(crate) struct Link {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    socket: AsyncFd<OwnedFd>,
    next_tag: AtomicU32,
    tables: Mutex<Tables>,
    reaped: watch::Sender<u64>,
    /// Programs that were asked for, of which nothing is known yet.
    starting: AtomicUsize,
    /// Init's pid on the host.
    init: u32,
    /// Starts that were sent and not answered, whether or not their callers still wait.
    unanswered: AtomicUsize,
    rescuing: AtomicBool,
}

/// One of those.
struct Start<'a> {
    inner: &'a Arc<Inner>,
    is_only: bool,
    answered: bool,
}

impl<'a> Start<'a> {
    fn begin(inner: &'a Arc<Inner>) -> Self {
        Self { inner, is_only: inner.starting.fetch_add(1, Ordering::Relaxed) == 0, answered: false }
    }
}

impl Drop for Start<'_> {
    fn drop(&mut self) {
        self.inner.starting.fetch_sub(1, Ordering::Relaxed);
        if !self.answered {
            // The caller no longer waits; init may.
            rescue::begin(self.inner);
        }
    }
}

/// Who waits for what. `None` once the other end is gone.
#[derive(Debug, Default)]
struct Tables {
    answers: HashMap<u32, oneshot::Sender<Answer>>,
    commands: HashMap<u64, mpsc::Sender<News>>,
    gone: bool,
}

impl Link {
    /// Takes over the socket and starts the receiving task.
    pub(crate) fn new(socket: OwnedFd, init: u32) -> io::Result<Self> {
        let inner = Arc::new(Inner {
            socket: listened_to(socket, Interest::READABLE)?,
            next_tag: AtomicU32::new(1),
            tables: Mutex::default(),
            reaped: watch::Sender::new(0),
            starting: AtomicUsize::new(0),
            init,
            unanswered: AtomicUsize::new(0),
            rescuing: AtomicBool::new(false),
        });
        tokio::spawn(receive_all(Arc::clone(&inner)));
        Ok(Self { inner })
    }

    /// Announces a command before it is started, so that no news of it can be missed.
    pub(crate) fn listen(&self, command: u64) -> Result<NewsReceiver, Error> {
        let (sender, receiver) = mpsc::channel(NEWS_MAX);
        let mut tables = self.inner.tables();
        if tables.gone {
            return Err(Error::SandboxGone);
        }
        tables.commands.insert(command, sender);
        Ok(NewsReceiver::new(receiver))
    }

    /// Whether init is there.
    pub(crate) fn is_open(&self) -> bool {
        !self.inner.tables().gone
    }

    /// Waits until init is gone.
    pub(crate) async fn gone(&self) {
        let mut reaped = self.reaped();
        while self.is_open() && reaped.changed().await.is_ok() {}
    }

    /// The command is over.
    pub(crate) fn forget(&self, command: u64) {
        self.inner.tables().commands.remove(&command);
    }

    /// Changes whenever something without a parent has ended: trees may have become empty.
    pub(crate) fn reaped(&self) -> watch::Receiver<u64> {
        self.inner.reaped.subscribe()
    }

    /// Starts a program; beside others, if it may be and there are any that are just being started.
    pub(crate) async fn spawn(&self, mut spawn: Spawn, fds: &[BorrowedFd<'_>]) -> Result<Spawned, SpawnError> {
        let mut start = Start::begin(&self.inner);
        spawn.beside &= !start.is_only;
        self.inner.unanswered.fetch_add(1, Ordering::Relaxed);
        let mut asked = std::pin::pin!(self.ask(|tag| Request::Spawn { tag, spawn }, fds));
        let answer = match tokio::time::timeout(rescue::SLOW, &mut asked).await {
            Ok(answer) => answer,
            Err(_) => {
                rescue::begin(&self.inner);
                asked.await
            }
        };
        start.answered = true;
        match answer.map_err(SpawnError::Other)? {
            (Event::Spawned { pid, .. }, mut fds) => Ok(Spawned { pid, pidfd: fds.pop() }),
            (Event::SpawnFailed { stage, errno, .. }, _) => {
                Err(SpawnError::Refused { stage, error: io::Error::from_raw_os_error(errno) })
            }
            (other, _) => Err(SpawnError::Other(unexpected(&other))),
        }
    }

    /// Signals the main process of a command. `false` if it is over.
    pub(crate) async fn signal(&self, command: u64, signal: i32) -> Result<bool, Error> {
        match self.ask(|tag| Request::Signal { tag, command, signal }, &[]).await? {
            (Event::Counted { count, .. }, _) => Ok(count > 0),
            (other, _) => Err(unexpected(&other)),
        }
    }

    /// Signals processes. Returns how many got it.
    pub(crate) async fn sweep(&self, members: Members, signal: i32) -> Result<u64, Error> {
        match self.ask(|tag| Request::Sweep { tag, members, signal }, &[]).await? {
            (Event::Counted { count, .. }, _) => Ok(u64::from(count)),
            (other, _) => Err(self.blind(&other)),
        }
    }

    /// Pids (inside) of those that live.
    pub(crate) async fn members(&self, members: Members) -> Result<Vec<u32>, Error> {
        match self.ask(|tag| Request::List { tag, members }, &[]).await? {
            (Event::Listed { pids, .. }, _) => Ok(pids),
            (other, _) => Err(self.blind(&other)),
        }
    }

    /// Opens a regular file on the inside, for reading.
    pub(crate) async fn read(&self, path: &[u8]) -> Result<io::Result<OwnedFd>, Error> {
        let path = path.to_vec();
        self.ask(|tag| Request::Read { tag, path }, &[]).await.and_then(opened)
    }

    /// Makes a pseudo-terminal on the inside.
    pub(crate) async fn terminal(&self) -> Result<io::Result<OwnedFd>, Error> {
        self.ask(|tag| Request::Terminal { tag }, &[]).await.and_then(opened)
    }

    /// Opens the way out on the inside: the sockets that init promises for it.
    pub(crate) async fn egress(&self) -> Result<io::Result<Vec<OwnedFd>>, Error> {
        match self.ask(|tag| Request::Egress { tag }, &[]).await? {
            (Event::Opened { .. }, fds) => Ok(Ok(fds)),
            (Event::Failed { errno, .. }, _) => Ok(Err(io::Error::from_raw_os_error(errno))),
            (other, _) => Err(unexpected(&other)),
        }
    }

    /// Connects to a port on the inside.
    pub(crate) async fn connect(&self, address: SocketAddr) -> Result<io::Result<OwnedFd>, Error> {
        self.ask(|tag| Request::Connect { tag, address: address.into() }, &[]).await.and_then(opened)
    }

    /// A socket that tells which sockets there are inside.
    pub(crate) async fn diagnose(&self) -> Result<io::Result<OwnedFd>, Error> {
        self.ask(|tag| Request::Diagnose { tag }, &[]).await.and_then(opened)
    }

    /// Pidfds of some of these (pids inside) that live; none if none does.
    pub(crate) async fn pidfds(&self, pids: Vec<u32>) -> Result<Vec<OwnedFd>, Error> {
        match self.ask(|tag| Request::Pidfds { tag, pids }, &[]).await? {
            (Event::Listed { .. }, fds) => Ok(fds),
            (other, _) => Err(self.blind(&other)),
        }
    }

    /// Makes a listener on the inside.
    pub(crate) async fn make_listener(&self, name: &[u8]) -> Result<io::Result<OwnedFd>, Error> {
        let name = name.to_vec();
        self.ask(|tag| Request::Listen { tag, name }, &[]).await.and_then(opened)
    }

    /// Returns when everything that has ended by now was reaped and reported.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        self.ask(|tag| Request::Ping { tag }, &[]).await.map(drop)
    }

    /// Hangs up. Init ends, and everything with it.
    pub(crate) fn close(&self) {
        // Already hung up is as good.
        rustix::net::shutdown(&self.inner.socket, rustix::net::Shutdown::Both).ok();
    }

    /// Init cannot see which processes there are, so nothing can be said about a kill, and nothing can be relied on: the
    /// sandbox is ended, and every process with it.
    fn blind(&self, event: &Event) -> Error {
        self.close();
        if let Event::Failed { errno, .. } = event {
            let error = io::Error::from_raw_os_error(*errno);
            let what = format!("init cannot see the sandbox's processes ({error}): the sandbox was ended");
            return Error::Internal { what };
        }
        unexpected(event)
    }

    async fn ask(&self, request: impl FnOnce(u32) -> Request, fds: &[BorrowedFd<'_>]) -> Result<Answer, Error> {
        let tag = self.inner.next_tag.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        {
            let mut tables = self.inner.tables();
            if tables.gone {
                return Err(Error::SandboxGone);
            }
            tables.answers.insert(tag, sender);
        }
        if self.inner.send(request(tag).encode(), fds).await.is_err() {
            self.inner.tables().answers.remove(&tag);
            return Err(Error::SandboxGone);
        }
        receiver.await.map_err(|_| Error::SandboxGone)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
    }
}

impl Inner {
    /// `true` if no other task rescues.
    fn claim_rescue(&self) -> bool {
        !self.rescuing.swap(true, Ordering::AcqRel)
    }

    fn end_rescue(&self) {
        self.rescuing.store(false, Ordering::Release);
    }

    fn has_unanswered_starts(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) > 0 && !self.tables().gone
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, bytes: Vec<u8>, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        match pack(bytes)? {
            Packed::Inline(bytes) => self.send_packed(&bytes, fds).await,
            Packed::InFile(file) => {
                let mut all = vec![file.as_fd()];
                all.extend_from_slice(fds);
                self.send_packed(&[IN_MEMORY_FILE], &all).await
            }
        }
    }

    /// Tries first: the queue is hardly ever full.
    async fn send_packed(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        loop {
            match socket::send_waiting(self.socket.as_fd(), bytes, fds, Waiting::Forbidden) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    room(self.socket.as_fd()).await?;
                }
                done => return done,
            }
        }
    }

    async fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Answer>> {
        loop {
            let mut ready = self.socket.readable().await?;
            match socket::receive_waiting(self.socket.as_fd(), buffer, Waiting::Forbidden) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                Err(error) => return Err(error),
                Ok(None) => return Ok(None),
                Ok(Some((length, fds))) => return unpack(&buffer[..length], fds).map(Some),
            }
        }
    }

    fn dispatch(&self, (event, fds): Answer) {
        let tag = match event {
            Event::Exited { command, status, usage, alone } => {
                return self.tell(command, News::Exited { status, usage, alone });
            }
            Event::TreeEmpty { command } => return self.tell(command, News::TreeEmpty),
            Event::WardenLost { command } => return self.tell(command, News::WardenLost),
            Event::OrphanReaped => return self.reaped.send_modify(|count| *count += 1),
            Event::Spawned { tag, .. }
            | Event::SpawnFailed { tag, .. }
            | Event::Counted { tag, .. }
            | Event::Listed { tag, .. }
            | Event::Opened { tag }
            | Event::Failed { tag, .. }
            | Event::Pong { tag } => tag,
            // Answered before this task began; init never says them twice.
            Event::Ready { .. } | Event::SetupFailed { .. } => return,
        };
        if matches!(event, Event::Spawned { .. } | Event::SpawnFailed { .. }) {
            self.unanswered.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(waiting) = self.tables().answers.remove(&tag) {
            // Whoever asked may have stopped waiting; descriptors close with the answer.
            drop(waiting.send((event, fds)));
        }
    }

    fn tell(&self, command: u64, news: News) {
        if let Some(sender) = self.tables().commands.get(&command) {
            sender.try_send(news).ok();
        }
    }
}

async fn receive_all(inner: Arc<Inner>) {
    let mut buffer = vec![0; INLINE_MAX];
    while let Ok(Some(answer)) = inner.receive(&mut buffer).await {
        inner.dispatch(answer);
    }
    // An error of ours (too many open files) is an end for init too: it must not keep running unseen.
    rustix::net::shutdown(&inner.socket, rustix::net::Shutdown::Both).ok();
    let mut tables = inner.tables();
    // Dropping the senders is the message.
    *tables = Tables { gone: true, ..Tables::default() };
    drop(tables);
    // And those who wait for nothing else are woken.
    inner.reaped.send_modify(|count| *count += 1);
}

fn opened((event, mut fds): Answer) -> Result<io::Result<OwnedFd>, Error> {
    match (&event, fds.pop()) {
        (Event::Opened { .. }, Some(fd)) => Ok(Ok(fd)),
        (Event::Failed { errno, .. }, _) => Ok(Err(io::Error::from_raw_os_error(*errno))),
        _ => Err(unexpected(&event)),
    }
}

fn unexpected(event: &Event) -> Error {
    Error::Internal { what: format!("init answered out of turn: {event:?}") }
}

/// Waits for room to write. It is not listened to all the time: the kernel tells of it whenever init has read, which would
/// wake us once for each message.
async fn room(socket: BorrowedFd<'_>) -> io::Result<()> {
    let socket = listened_to(socket.try_clone_to_owned()?, Interest::WRITABLE)?;
    drop(socket.writable().await?);
    Ok(())
}

pub(crate) fn register<T: AsRawFd>(socket: T) -> io::Result<AsyncFd<T>> {
    listened_to(socket, Interest::READABLE | Interest::WRITABLE)
}

#[expect(
    deprecated,
    reason = "the replacement is unsafe for types that may lie about their descriptor; none that comes here does"
)]
fn listened_to<T: AsRawFd>(socket: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    AsyncFd::with_interest(socket, interest)
}
