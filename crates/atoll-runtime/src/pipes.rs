//! The three standard descriptors of a command: what the child gets, and what we keep.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use rustix::fs::{Gid, MemfdFlags, SealFlags, Uid};
use rustix::pipe::PipeFlags;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use atoll_isolation::blocked::Awaited;

use crate::Error;
use crate::command::Stdin;
use crate::ends::{Sink, Source};
use crate::pty::Pty;

/// The buffer of a command that prints little: most do.
const SMALL: usize = 4 * 1024;

/// As much as a pipe holds by default, for a command that has filled the small buffer.
const READ: usize = 64 * 1024;

/// For those that print a lot, with a pipe as large: three times the throughput of the default (fewer switches
/// between writer and reader).
const LARGE: usize = 256 * 1024;

/// Reads below this are copied out, so that a few bytes do not hold a whole buffer.
const COPY_BELOW: usize = 8 * 1024;

/// Reads in a row before other things get their turn.
const TURN: usize = 8;

/// The ends that the child gets.
#[derive(Debug)]
pub(crate) struct ChildEnds<'a> {
    pub(crate) stdin: Input<'a>,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// Where a child reads from.
#[derive(Debug)]
pub(crate) enum Input<'a> {
    /// The one /dev/null that all commands share.
    Null(BorrowedFd<'a>),
    /// Its own pipe or file.
    Own(OwnedFd),
}

impl AsFd for Input<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Null(fd) => *fd,
            Self::Own(fd) => fd.as_fd(),
        }
    }
}

/// The ends that we keep.
#[derive(Debug)]
pub(crate) struct OurEnds {
    pub(crate) stdin: Option<Writer>,
    pub(crate) stdout: Reader,
    /// A terminal has one output only.
    pub(crate) stderr: Option<Reader>,
    pub(crate) terminal: Option<Arc<Pty>>,
}

/// Makes both sides. `owner` is the outside id of the command's user: who owns a pipe may open it again by
/// `/dev/stdout`, and only they.
pub(crate) fn make<'a>(
    stdin: &Stdin,
    null: BorrowedFd<'a>,
    owner: Option<(u32, u32)>,
) -> io::Result<(ChildEnds<'a>, OurEnds)> {
    let (stdout_ours, stdout) = output_pipe(owner)?;
    let (stderr_ours, stderr) = output_pipe(owner)?;
    let (stdin_ours, stdin) = input(stdin, null, owner)?;
    let (stdout_ours, stderr_ours) = (Reader::of_pipe(stdout_ours), Reader::of_pipe(stderr_ours));
    let ours = OurEnds { stdin: stdin_ours, stdout: stdout_ours, stderr: Some(stderr_ours), terminal: None };
    Ok((ChildEnds { stdin, stdout, stderr }, ours))
}

/// Both sides of a terminal: it is all three for the child.
pub(crate) fn of_terminal(pty: Pty) -> io::Result<(ChildEnds<'static>, OurEnds)> {
    let theirs = ChildEnds { stdin: Input::Own(pty.slave()?), stdout: pty.slave()?, stderr: pty.slave()? };
    let pty = Arc::new(pty);
    let ours = OurEnds {
        stdin: Some(Writer::new(Sink::Terminal(Arc::clone(&pty)))),
        stdout: Reader::new(Source::Terminal(Arc::clone(&pty))),
        stderr: None,
        terminal: Some(pty),
    };
    Ok((theirs, ours))
}

/// A pipe to read from, and the end to write to it.
pub(crate) fn one_way() -> io::Result<(Reader, OwnedFd)> {
    let (ours, theirs) = output_pipe(None)?;
    let mut reader = Reader::of_pipe(ours);
    reader.listen()?;
    Ok((reader, theirs))
}

fn output_pipe(owner: Option<(u32, u32)>) -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    give(&theirs, owner)?;
    Ok((ours, theirs))
}

fn give(fd: &OwnedFd, owner: Option<(u32, u32)>) -> io::Result<()> {
    if let Some((uid, gid)) = owner {
        rustix::fs::fchown(fd, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
    }
    Ok(())
}

fn input<'a>(
    stdin: &Stdin,
    null: BorrowedFd<'a>,
    owner: Option<(u32, u32)>,
) -> io::Result<(Option<Writer>, Input<'a>)> {
    match stdin {
        Stdin::Closed => Ok((None, Input::Null(null))),
        Stdin::Bytes(bytes) => Ok((None, Input::Own(file_of(bytes)?))),
        Stdin::Pipe => {
            let (theirs, ours) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
            give(&theirs, owner)?;
            Ok((Some(Writer::new(Sink::Pipe(pipe::Sender::from_owned_fd(ours)?))), Input::Own(theirs)))
        }
    }
}

/// Given input is a sealed file in memory: nobody has to feed it, and it cannot be changed.
pub(crate) fn file_of(bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut rest = bytes;
    let mut at = 0;
    while !rest.is_empty() {
        let written = rustix::io::pwrite(&file, rest, at)?;
        at += written as u64;
        rest = &rest[written..];
    }
    rustix::fs::fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK)?;
    Ok(file)
}

/// What a read found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// These bytes.
    Bytes(Bytes),
    /// Nothing more for now.
    Empty,
    /// Nothing more ever.
    End,
}

/// Our end of an output.
#[derive(Debug)]
pub(crate) struct Reader {
    source: Source,
    buffer: BytesMut,
    size: usize,
}

impl Reader {
    fn new(source: Source) -> Self {
        Self { source, buffer: BytesMut::new(), size: SMALL }
    }

    fn of_pipe(fd: OwnedFd) -> Self {
        Self::new(Source::Unheard(fd))
    }

    /// From here on it can be waited for. Until then it is only drained.
    pub(crate) fn listen(&mut self) -> io::Result<()> {
        self.source.listen()
    }

    /// Returns when there may be something to read.
    pub(crate) async fn readable(&self) {
        self.source.readable().await;
    }

    /// Reads once, without waiting.
    pub(crate) fn read(&mut self) -> Read {
        if self.buffer.capacity() < COPY_BELOW.min(self.size) {
            self.buffer = BytesMut::with_capacity(self.size);
        }
        let room = self.buffer.capacity();
        match self.source.try_read(&mut self.buffer) {
            Ok(0) => Read::End,
            Ok(count) => {
                let bytes = self.take(count);
                if count == room {
                    self.enlarge();
                }
                Read::Bytes(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Read::Empty,
            Err(_) => Read::End,
        }
    }

    fn take(&mut self, count: usize) -> Bytes {
        if count < COPY_BELOW {
            let copy = Bytes::copy_from_slice(&self.buffer);
            self.buffer.clear();
            return copy;
        }
        self.buffer.split().freeze()
    }

    /// It prints more than fits.
    fn enlarge(&mut self) {
        match self.size {
            SMALL => self.size = READ,
            READ => {
                self.size = LARGE;
                self.source.enlarge(LARGE);
            }
            _ => {}
        }
    }

    /// What was printed and not read at this moment, and no more.
    pub(crate) fn drain(&mut self) -> Option<Bytes> {
        self.source.drain()
    }

    /// Reads in a row before other things get their turn.
    pub(crate) const TURN: usize = TURN;
}

/// A write that waits for room in the pipe.
#[derive(Debug)]
struct Pending {
    bytes: Bytes,
    done: oneshot::Sender<Result<u64, Error>>,
}

/// Where in the whole input a write belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// It begins at this byte: what was written before is skipped, a gap is refused.
    At(u64),
    /// Behind whatever was written before.
    End,
}

/// Our end of an input: writes are taken in order, each acknowledged when the other side has it all.
#[derive(Debug)]
pub(crate) struct Writer {
    sink: Sink,
    /// Bytes accepted so far, the pending ones included.
    offset: u64,
    pending: VecDeque<Pending>,
    closing: bool,
}

/// Writes that may wait at once; more means that a client does not wait for its answers.
const PENDING_MAX: usize = 64;

impl Writer {
    fn new(sink: Sink) -> Self {
        Self { sink, offset: 0, pending: VecDeque::new(), closing: false }
    }

    /// Takes bytes.
    pub(crate) fn accept(&mut self, at: Position, mut bytes: Bytes, done: oneshot::Sender<Result<u64, Error>>) {
        let offset = match at {
            Position::At(offset) => offset,
            Position::End => self.offset,
        };
        if offset > self.offset {
            drop(done.send(Err(Error::StdinGap { offset, expected: self.offset })));
            return;
        }
        if self.pending.len() >= PENDING_MAX {
            drop(done.send(Err(Error::invalid("too many writes are waiting for the process to read"))));
            return;
        }
        if self.closing {
            drop(done.send(Err(Error::invalid("standard input is being closed"))));
            return;
        }
        let known = usize::try_from(self.offset - offset).unwrap_or(usize::MAX).min(bytes.len());
        bytes.advance(known);
        self.offset += bytes.len() as u64;
        self.pending.push_back(Pending { bytes, done });
        // An error is told to the waiting writes.
        self.flush();
    }

    /// Whether something waits for room.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns when there may be room.
    pub(crate) async fn writable(&self) {
        self.sink.writable().await;
    }

    /// No more is taken; what waits is still written.
    pub(crate) fn close_when_written(&mut self) {
        self.closing = true;
    }

    /// Writes what fits. `false` when it is to be closed: all is written, or nobody can read any more.
    pub(crate) fn flush(&mut self) -> bool {
        while let Some(front) = self.pending.front_mut() {
            while !front.bytes.is_empty() {
                match self.sink.try_write(&front.bytes) {
                    Ok(count) => front.bytes.advance(count),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                    Err(_) => return false,
                }
            }
            if let Some(front) = self.pending.pop_front() {
                let remaining: u64 = self.pending.iter().map(|pending| pending.bytes.len() as u64).sum();
                drop(front.done.send(Ok(self.offset - remaining)));
            }
        }
        !self.closing
    }

    /// How many bytes the process has not read yet.
    pub(crate) fn unread(&self) -> u64 {
        self.sink.unread() + u64::from(self.has_pending())
    }

    /// What a process that waits for this input is blocked on.
    pub(crate) fn awaited(&self) -> Option<Awaited> {
        self.sink.awaited()
    }
}
