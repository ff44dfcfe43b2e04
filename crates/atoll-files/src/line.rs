//! The worker's end of one request: frames in, frames out, and whether anybody still listens.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use atoll_isolation::wire::Wire;
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::ask::{Ask, FRAME_MAX, FrameKind, HEADER, Told, header, parse_header};
use crate::error::{At, Failure, Kind, Result};

/// Small frames go out together.
const TOGETHER: usize = 64 * 1024;

/// How long whoever asked may take nothing of what it asked for. Then it is taken for gone: its thread is needed.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3600);

/// One request's connection.
#[derive(Debug)]
pub(crate) struct Line {
    socket: UnixStream,
    out: Vec<u8>,
    /// What is still to come of the data frame that is being read.
    left: usize,
}

impl Line {
    pub(crate) fn new(socket: UnixStream) -> Self {
        socket.set_write_timeout(Some(PATIENCE)).ok();
        Self { socket, out: Vec::new(), left: 0 }
    }

    /// The question.
    pub(crate) fn ask(&mut self) -> Result<Ask> {
        let (kind, length) = self.head()?;
        if kind != FrameKind::Message {
            return Err(broken());
        }
        let mut bytes = vec![0; length];
        self.socket.read_exact(&mut bytes).at(b"")?;
        Ask::decode(&bytes).map_err(|_| broken())
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
        match self.socket.read(&mut buffer[..want]).at(b"")? {
            0 => Err(broken()),
            count => {
                self.left -= count;
                Ok(count)
            }
        }
    }

    fn head(&mut self) -> Result<(FrameKind, usize)> {
        let mut head = [0; HEADER];
        self.socket.read_exact(&mut head).map_err(|_| broken())?;
        parse_header(head).ok_or_else(broken)
    }

    /// Tells something. It may wait for more to come.
    pub(crate) fn tell(&mut self, told: &Told) -> Result<()> {
        let begin = self.out.len();
        self.out.extend_from_slice(&[0; HEADER]);
        told.put(&mut self.out);
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
            self.socket.write_all(piece).map_err(|_| gone())?;
        }
        Ok(())
    }

    /// The last word.
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
    }

    /// Sends what waits for more to come.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let sent = self.socket.write_all(&self.out);
        self.out.clear();
        sent.map_err(|_| gone())
    }

    /// A second handle, to be watched by another thread.
    pub(crate) fn watch(&self) -> Result<UnixStream> {
        self.socket.try_clone().at(b"")
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

fn gone() -> Failure {
    Failure::new(Kind::Cancelled, b"", "nobody listens any more")
}
