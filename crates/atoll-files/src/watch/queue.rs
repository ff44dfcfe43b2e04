//! What the kernel has told and nobody has looked at yet, with both halves of a rename brought together.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::map::Number;
use crate::error::{At, Failure, Kind, Result};

/// What is read at once.
const BUFFER: usize = 64 << 10;
/// How many wait here; the kernel keeps the rest, and says when it can no more.
const MAX_WAITING: usize = 16_384;
/// The two halves of a rename are told one right after the other. How long the second is waited for.
const OTHER_HALF: Duration = Duration::from_millis(10);

/// What the kernel is asked to tell of each directory.
const WISHES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// One thing that the kernel told.
#[derive(Debug, Clone)]
pub(super) struct Raw {
    pub(super) number: Number,
    pub(super) flags: ReadFlags,
    pub(super) cookie: u32,
    pub(super) name: Vec<u8>,
}

impl Raw {
    pub(super) fn is_directory(&self) -> bool {
        self.flags.contains(ReadFlags::ISDIR)
    }
}

/// The kernel's queue, and what has been taken off it.
#[derive(Debug)]
pub(super) struct Queue {
    inotify: OwnedFd,
    waiting: VecDeque<Raw>,
    buffer: Vec<MaybeUninit<u8>>,
}

impl Queue {
    pub(super) fn new() -> Result<Self> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).map_err(|errno| match errno {
            Errno::MFILE => {
                let why = "the user has as many watches as the kernel allows (fs.inotify.max_user_instances)";
                Failure::new(Kind::Limit, b"", why)
            }
            errno => Failure::from_errno(errno, b""),
        })?;
        Ok(Self { inotify, waiting: VecDeque::new(), buffer: vec![MaybeUninit::uninit(); BUFFER] })
    }

    /// Watches an open directory, or says the number of one that is watched already.
    pub(super) fn watch(&self, directory: BorrowedFd<'_>) -> rustix::io::Result<Number> {
        use std::os::fd::AsRawFd;
        // By descriptor, so that it is surely this one.
        let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
        inotify::add_watch(&self.inotify, path, WISHES)
    }

    pub(super) fn forget(&self, number: Number) {
        // The kernel forgets by itself what is deleted.
        inotify::remove_watch(&self.inotify, number).ok();
    }

    /// Waits until something was told. False if who waits for it has gone.
    pub(super) fn wait(&self, hang_up: Option<BorrowedFd<'_>>, patience: Duration) -> Result<bool> {
        if !self.waiting.is_empty() {
            return Ok(true);
        }
        let patience = Timespec::try_from(patience).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        let mut waits = vec![PollFd::new(&self.inotify, PollFlags::IN)];
        if let Some(hang_up) = hang_up.as_ref() {
            waits.push(PollFd::new(hang_up, PollFlags::IN | PollFlags::RDHUP));
        }
        match poll(&mut waits, Some(&patience)) {
            Ok(_) | Err(Errno::INTR) => Ok(waits.get(1).is_none_or(|wait| wait.revents().is_empty())),
            Err(errno) => Err(Failure::from_errno(errno, b"")),
        }
    }

    /// Whether something waits here.
    pub(super) fn has_more(&mut self) -> bool {
        self.fill().is_ok() && !self.waiting.is_empty()
    }

    /// The next one, if there is any.
    pub(super) fn next(&mut self) -> Result<Option<Raw>> {
        if self.waiting.is_empty() {
            self.fill()?;
        }
        Ok(self.waiting.pop_front())
    }

    /// The second half of a rename whose first half was just taken. None if it went out of the tree.
    pub(super) fn other_half(&mut self, cookie: u32) -> Result<Option<Raw>> {
        for patience in [None, Some(Duration::ZERO), Some(OTHER_HALF)] {
            if let Some(patience) = patience {
                let before = self.waiting.len();
                if before == 0 {
                    self.wait(None, patience)?;
                }
                self.fill()?;
            }
            let is_other = |raw: &Raw| raw.cookie == cookie && raw.flags.contains(ReadFlags::MOVED_TO);
            if let Some(at) = self.waiting.iter().position(is_other) {
                return Ok(self.waiting.remove(at));
            }
        }
        Ok(None)
    }

    /// Takes what the kernel has, as long as there is room here.
    fn fill(&mut self) -> Result<()> {
        if self.waiting.len() >= MAX_WAITING {
            return Ok(());
        }
        // One buffer at a time; the reader must not be asked again when it is empty.
        let mut reader = Reader::new(self.inotify.as_fd(), &mut self.buffer);
        loop {
            match reader.next() {
                Ok(event) => self.waiting.push_back(Raw {
                    number: event.wd(),
                    flags: event.events(),
                    cookie: event.cookie(),
                    name: event.file_name().map_or_else(Vec::new, |name| name.to_bytes().to_vec()),
                }),
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno).at(b""),
            }
            if reader.is_buffer_empty() && self.waiting.len() >= MAX_WAITING / 2 {
                return Ok(());
            }
        }
    }
}
