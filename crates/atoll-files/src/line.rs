//! The worker's end of a connection: frames in, frames out, and whether anybody still listens.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use atoll_isolation::wire::Wire;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use crate::ask::{Ask, FRAME_MAX, FrameKind, HEADER, Told, header, parse_header};
use crate::error::{At, Failure, Kind, Result};
use crate::facts::Facts;

/// Small frames go out together.
const TOGETHER: usize = 64 * 1024;

/// What is read ahead: a question and the data of a small file come with one call.
const AHEAD: usize = 16 * 1024;

/// How long whoever asked may take nothing of what it asked for. Then it is taken for gone: its thread is needed.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3600);

/// One connection.
#[derive(Debug)]
pub(crate) struct Line {
    socket: Arc<UnixStream>,
    /// What was read and not yet taken, from `at` on.
    ahead: Vec<u8>,
    at: usize,
    out: Vec<u8>,
    /// What is still to come of the data frame that is being read.
    left: usize,
    /// Closed when the answer is out: that may take a while.
    later: Option<File>,
    /// By which bytes of files go out without being copied; made when it is first needed.
    pipe: Option<Pipe>,
}

/// Both ends of a pipe that is empty between two pieces.
#[derive(Debug)]
struct Pipe {
    out: OwnedFd,
    into: OwnedFd,
}

impl Line {
    pub(crate) fn new(socket: UnixStream) -> Self {
        socket.set_write_timeout(Some(PATIENCE)).ok();
        Self { socket: Arc::new(socket), ahead: Vec::new(), at: 0, out: Vec::new(), left: 0, later: None, pipe: None }
    }

    /// The next question; `None` if there is none: whoever asked has hung up in good order.
    pub(crate) fn ask(&mut self) -> Result<Option<Ask>> {
        if self.waiting().is_empty() && self.more()? == 0 {
            return Ok(None);
        }
        let (kind, length) = self.head()?;
        if kind != FrameKind::Message {
            return Err(broken());
        }
        let mut bytes = vec![0; length];
        self.exactly(&mut bytes)?;
        Ask::decode(&bytes).map(Some).map_err(|_| broken())
    }

    /// More of the data that comes with the question; 0 at its end. That the connection ends is no such end.
    pub(crate) fn data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.left == 0 {
            match self.head()? {
                (FrameKind::Data, length) => self.left = length,
                (FrameKind::End, 0) => return Ok(0),
                _ => return Err(broken()),
            }
        }
        let want = self.left.min(buffer.len());
        let count = self.some(&mut buffer[..want])?;
        self.left -= count;
        Ok(count)
    }

    /// Moves data that comes with the question into a file, if much of it is still to come; 0 if it is not, or cannot be
    /// moved. The kernel takes it from the socket by reference, and copies it once.
    pub(crate) fn data_into(&mut self, file: &File, path: &[u8]) -> Result<usize> {
        if self.left < AHEAD || !self.waiting().is_empty() || !self.has_pipe() {
            return Ok(0);
        }
        let Some(pipe) = &self.pipe else { return Ok(0) };
        let count = match splice(&*self.socket, None, &pipe.into, None, self.left, SpliceFlags::MOVE) {
            Err(Errno::INTR) => return Ok(0),
            Ok(0) | Err(_) => return Err(broken()),
            Ok(count) => count,
        };
        self.left -= count;
        let written = pipe.empty_into(file, count).at(path);
        if written.is_err() {
            // What is left in it belongs to nobody.
            self.pipe = None;
        }
        written.map(|()| count)
    }

    fn has_pipe(&mut self) -> bool {
        if self.pipe.is_none() {
            self.pipe = Pipe::new().ok();
        }
        self.pipe.is_some()
    }

    /// Whether all data of the question, to its end, is here already.
    pub(crate) fn has_all_data(&self) -> bool {
        let mut rest = self.waiting();
        while let Some((head, behind)) = rest.split_first_chunk::<HEADER>() {
            match parse_header(*head) {
                Some((FrameKind::Data, length)) if length <= behind.len() => rest = &behind[length..],
                Some((FrameKind::End, 0)) => return true,
                Some(_) | None => return false,
            }
        }
        false
    }

    fn head(&mut self) -> Result<(FrameKind, usize)> {
        let mut head = [0; HEADER];
        self.exactly(&mut head)?;
        parse_header(head).ok_or_else(broken)
    }

    fn waiting(&self) -> &[u8] {
        &self.ahead[self.at..]
    }

    /// Reads ahead; nothing may be left of what was read before. 0 if the connection has ended.
    fn more(&mut self) -> Result<usize> {
        self.ahead.resize(AHEAD, 0);
        let read = (&*self.socket).read(&mut self.ahead);
        self.at = 0;
        self.ahead.truncate(*read.as_ref().unwrap_or(&0));
        read.at(b"")
    }

    /// At least one byte.
    fn some(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.waiting().is_empty() {
            if buffer.len() >= AHEAD {
                return match (&*self.socket).read(buffer).at(b"")? {
                    0 => Err(broken()),
                    count => Ok(count),
                };
            }
            if self.more()? == 0 {
                return Err(broken());
            }
        }
        let count = self.waiting().len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.waiting()[..count]);
        self.at += count;
        Ok(count)
    }

    fn exactly(&mut self, mut buffer: &mut [u8]) -> Result<()> {
        while !buffer.is_empty() {
            let count = self.some(buffer)?;
            buffer = &mut buffer[count..];
        }
        Ok(())
    }

    /// Tells something. It may wait for more to come.
    pub(crate) fn tell(&mut self, told: &Told) -> Result<()> {
        self.message(|out| told.put(out))
    }

    /// Tells an entry of a list: there may be very many.
    pub(crate) fn tell_entry(&mut self, path: &[u8], facts: &Facts) -> Result<()> {
        self.message(|out| Told::put_entry(path, facts, out))
    }

    fn message(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let begin = self.out.len();
        self.out.extend_from_slice(&[0; HEADER]);
        put(&mut self.out);
        let length = self.out.len() - begin - HEADER;
        self.out[begin..begin + HEADER].copy_from_slice(&header(FrameKind::Message, length));
        if self.out.len() >= TOGETHER { self.flush() } else { Ok(()) }
    }

    /// Sends bytes of a file.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(FRAME_MAX) {
            self.out.extend_from_slice(&header(FrameKind::Data, piece.len()));
            if self.out.len() + piece.len() <= TOGETHER {
                self.out.extend_from_slice(piece);
                continue;
            }
            self.flush()?;
            (&*self.socket).write_all(piece).map_err(|_| self.hang_up())?;
        }
        Ok(())
    }

    /// Sends up to `length` bytes of a file from `offset` on, by reference: the kernel moves its pages into the socket.
    /// Returns how many there were; `None` if the file has no pages to be moved.
    pub(crate) fn send_pages(&mut self, file: &File, offset: u64, length: u64) -> Result<Option<usize>> {
        self.has_pipe();
        let Some(pipe) = &self.pipe else { return Ok(None) };
        let want = usize::try_from(length).unwrap_or(FRAME_MAX).min(FRAME_MAX);
        let mut from = offset;
        let moved = match splice(file, Some(&mut from), &pipe.into, None, want, SpliceFlags::MOVE) {
            Ok(0) => return Ok(Some(0)),
            Ok(moved) => moved,
            Err(_) => return Ok(None),
        };
        self.out.extend_from_slice(&header(FrameKind::Data, moved));
        let sent = self.flush().and_then(|()| self.empty_pipe(moved));
        if sent.is_err() {
            // What is left in it belongs to nobody.
            self.pipe = None;
        }
        sent.map(|()| Some(moved))
    }

    fn empty_pipe(&self, mut left: usize) -> Result<()> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        while left > 0 {
            match splice(&pipe.out, None, &*self.socket, None, left, SpliceFlags::MOVE) {
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => return Err(self.hang_up()),
                Ok(count) => left -= count,
            }
        }
        Ok(())
    }

    /// The last word on a question.
    pub(crate) fn end(&mut self, outcome: Result<()>) {
        match outcome {
            Ok(()) => self.out.extend_from_slice(&header(FrameKind::End, 0)),
            Err(failure) => {
                let bytes = failure.encode();
                self.out.extend_from_slice(&header(FrameKind::Failed, bytes.len()));
                self.out.extend_from_slice(&bytes);
            }
        }
        // Who went away needs no last word.
        self.flush().ok();
        self.later = None;
    }

    /// Keeps a file open until the question is answered.
    pub(crate) fn close_later(&mut self, file: Option<File>) {
        self.later = file;
    }

    /// Sends what waits for more to come.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let sent = (&*self.socket).write_all(&self.out);
        self.out.clear();
        sent.map_err(|_| self.hang_up())
    }

    /// After half a frame nothing can be said any more: what came next would be taken for its rest.
    fn hang_up(&self) -> Failure {
        self.socket.shutdown(Shutdown::Both).ok();
        Failure::new(Kind::Cancelled, b"", "nobody listens any more")
    }

    /// A second handle, to be looked at while the line is in use.
    pub(crate) fn watch(&self) -> Arc<UnixStream> {
        Arc::clone(&self.socket)
    }
}

impl Pipe {
    fn new() -> rustix::io::Result<Self> {
        let (out, into) = pipe_with(PipeFlags::CLOEXEC)?;
        // A smaller one does as well, in more steps.
        fcntl_setpipe_size(&into, FRAME_MAX).ok();
        Ok(Self { out, into })
    }

    fn empty_into(&self, file: &File, mut left: usize) -> io::Result<()> {
        while left > 0 {
            match splice(&self.out, None, file, None, left, SpliceFlags::MOVE) {
                Err(Errno::INTR) => {}
                // Files of this kind take no pages.
                Err(Errno::INVAL) => return self.copy_into(file, left),
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                moved => left -= moved?,
            }
        }
        Ok(())
    }

    fn copy_into(&self, mut file: &File, mut left: usize) -> io::Result<()> {
        let mut buffer = vec![0; left.min(TOGETHER)];
        while left > 0 {
            let want = left.min(buffer.len());
            let count = rustix::io::read(&self.out, &mut buffer[..want])?;
            file.write_all(&buffer[..count])?;
            left -= count;
        }
        Ok(())
    }
}

/// Whether the other end of a request has hung up.
pub(crate) fn is_gone(socket: &UnixStream) -> bool {
    let mut polled = [PollFd::new(socket, PollFlags::RDHUP)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let hung_up = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
    rustix::event::poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().intersects(hung_up)
}

fn broken() -> Failure {
    Failure::new(Kind::Cancelled, b"", "the request broke off")
}
