//! What the connections of one sandbox may use of the machine: memory in the agent, and new connections per second. The more
//! of them there are, the less memory each gets, so that a sandbox whose peers do not read cannot fill the machine with bytes
//! that wait.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::net::sockopt;
use rustix::pipe::{self, PipeFlags};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Connections at once. Each is a task with buffers and two descriptors.
const FLOWS_MAX: usize = 1024;

/// New connections to the outside: this many at once, then one per interval. Each uses a port of the host and an entry of its
/// connection tracking for about a minute after its end, of which there are 28,000 for one destination.
const BURST: u32 = 1000;
const INTERVAL: Duration = Duration::from_millis(10);

/// Connections that are few: up to here each may use what makes one transfer fastest. Package managers use as many.
const FEW: usize = 16;

/// Bytes read at once where connections are few and where they are many. As much waits in memory while the other side does
/// not read.
const PIECE_FEW: usize = 256 * 1024;
const PIECE_MANY: usize = 16 * 1024;

/// Bytes of the head of a request or an answer, which are also those of each buffer of HTTP, of which a connection has about
/// five. Servers accept 8 to 32 KiB.
const HEAD_FEW: usize = 64 * 1024;
const HEAD_MANY: usize = 32 * 1024;

/// Size of each buffer of a socket where connections are many; the kernel uses twice as much. It is the size that Linux
/// begins with (tcp(7), `tcp_rmem`), less would not hold a segment of the loopback interface.
const SOCKET_MANY: usize = 64 * 1024;

/// Bytes that all pipes of a sandbox may hold. An ordinary user has 64 MiB for all processes together (pipe(7),
/// `pipe-user-pages-soft`), beyond which each new pipe has two pages.
const PIPES_MAX: usize = 8 * 1024 * 1024;

/// Most and fewest bytes of one pipe.
const PIPE_MAX: usize = 1024 * 1024;
const PIPE_MIN: usize = 64 * 1024;

/// What the connections of a sandbox use.
#[derive(Debug)]
pub(crate) struct Budget {
    flows: Arc<Semaphore>,
    pipes: Arc<AtomicUsize>,
    /// When the next connection would be made if they came one per interval.
    due: Mutex<Option<Instant>>,
}

/// A pipe whose size is counted for as long as this lives.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) reader: OwnedFd,
    pub(crate) writer: OwnedFd,
    pub(crate) size: usize,
    used: Arc<AtomicUsize>,
    share: usize,
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.used.fetch_sub(self.share, Ordering::Relaxed);
    }
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { flows: Arc::new(Semaphore::new(FLOWS_MAX)), pipes: Arc::default(), due: Mutex::default() }
    }

    /// Waits until one more connection to the outside may be made.
    pub(crate) async fn pace(&self) {
        let now = Instant::now();
        let due = {
            let mut next = self.due.lock().unwrap_or_else(PoisonError::into_inner);
            let due = next.map_or(now, |next| next.max(now));
            *next = Some(due + INTERVAL);
            due
        };
        // A connection may be early by a whole burst.
        if let Some(at) = due.checked_sub(INTERVAL * (BURST - 1)).filter(|at| *at > now) {
            tokio::time::sleep_until(at).await;
        }
    }

    /// A place for one more connection; `None` if there are too many.
    pub(crate) fn flow(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.flows).try_acquire_owned().ok()
    }

    fn are_few(&self) -> bool {
        FLOWS_MAX - self.flows.available_permits() <= FEW
    }

    /// Bytes that a connection may read at once.
    pub(crate) fn piece(&self) -> usize {
        if self.are_few() { PIECE_FEW } else { PIECE_MANY }
    }

    /// Bytes that the head of a request or an answer may have.
    pub(crate) fn head(&self) -> usize {
        if self.are_few() { HEAD_FEW } else { HEAD_MANY }
    }

    /// Bounds what the kernel buffers for a connection, if there are many.
    pub(crate) fn limit(&self, stream: &TcpStream) {
        if !self.are_few() {
            // A socket that refuses has the kernel's own bounds.
            sockopt::set_socket_recv_buffer_size(stream, SOCKET_MANY).ok();
            sockopt::set_socket_send_buffer_size(stream, SOCKET_MANY).ok();
        }
    }

    /// A pipe for a bulk transfer: a quarter of what is left. `None` if nothing is; then bytes are copied.
    pub(crate) fn pipe(&self) -> Option<Pipe> {
        let mut share = 0;
        let take = |used: usize| {
            let quarter = ((PIPES_MAX - used) / 4).clamp(PIPE_MIN, PIPE_MAX);
            share = 1 << quarter.ilog2();
            (used + share <= PIPES_MAX).then_some(used + share)
        };
        self.pipes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        let made = make(share);
        if made.is_err() {
            self.pipes.fetch_sub(share, Ordering::Relaxed);
        }
        let (reader, writer, size) = made.ok()?;
        Some(Pipe { reader, writer, size, used: Arc::clone(&self.pipes), share })
    }
}

fn make(size: usize) -> io::Result<(OwnedFd, OwnedFd, usize)> {
    let (reader, writer) = pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // A user over the limit keeps what the pipe has: it works as well, only slower.
    let size = pipe::fcntl_setpipe_size(&writer, size).or_else(|_| pipe::fcntl_getpipe_size(&writer))?;
    Ok((reader, writer, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_get_smaller_and_never_exceed_the_budget() {
        let budget = Budget::new();
        let pipes: Vec<Pipe> = std::iter::from_fn(|| budget.pipe()).collect();
        let sizes: Vec<usize> = pipes.iter().map(|pipe| pipe.size).collect();
        assert_eq!(sizes[..5], [PIPE_MAX; 5], "few transfers are as fast as they can be");
        assert!(sizes.is_sorted_by(|one, next| one >= next) && sizes.last() == Some(&PIPE_MIN), "{sizes:?}");
        let really: usize = pipes.iter().map(|pipe| pipe::fcntl_getpipe_size(&pipe.writer).unwrap()).sum();
        assert!(really <= PIPES_MAX && really > PIPES_MAX - PIPE_MIN, "{really}");
        drop(pipes);
        assert_eq!(budget.pipes.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn connections_beyond_a_burst_are_paced() {
        let budget = Budget::new();
        let begun = Instant::now();
        for _ in 0..BURST {
            budget.pace().await;
        }
        assert_eq!(begun.elapsed(), Duration::ZERO, "a burst is not delayed");
        for _ in 0..100 {
            budget.pace().await;
        }
        assert_eq!(begun.elapsed(), INTERVAL * 100);
        tokio::time::advance(INTERVAL * BURST * 2).await;
        let begun = Instant::now();
        for _ in 0..=BURST {
            budget.pace().await;
        }
        assert_eq!(begun.elapsed(), INTERVAL, "no more than one burst is saved up");
    }

    #[tokio::test]
    async fn many_connections_have_small_buffers() {
        let budget = Budget::new();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let few: Vec<_> = (0..FEW).map(|_| budget.flow().unwrap()).collect();
        let before = sockopt::socket_recv_buffer_size(&stream).unwrap();
        budget.limit(&stream);
        assert_eq!((budget.piece(), sockopt::socket_recv_buffer_size(&stream).unwrap()), (PIECE_FEW, before));
        let more = budget.flow().unwrap();
        budget.limit(&stream);
        assert_eq!((budget.piece(), budget.head()), (PIECE_MANY, HEAD_MANY));
        assert_eq!(sockopt::socket_recv_buffer_size(&stream).unwrap(), 2 * SOCKET_MANY);
        assert_eq!(sockopt::socket_send_buffer_size(&stream).unwrap(), 2 * SOCKET_MANY);
        drop(more);
        assert_eq!(budget.piece(), PIECE_FEW);
        let rest: Vec<_> = std::iter::from_fn(|| budget.flow()).collect();
        assert_eq!(few.len() + rest.len(), FLOWS_MAX);
    }
}
