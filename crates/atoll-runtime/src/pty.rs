//! One pseudo-terminal: the side that we keep, and the side that the program gets.
//!
//! It belongs to the sandbox's own devpts, so its name inside is a real one. Both sides are reached by descriptor: no
//! path is resolved out here. Must not know who looks at it or what is kept of it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use atoll_isolation::blocked::Awaited;
use atoll_protocol::WindowSize;
use rustix::fs::Uid;
use rustix::pty::OpenptFlags;
use rustix::termios::{InputModes, OptionalActions, Winsize};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::Error;
use crate::link::register;
use crate::shared::Shared;

/// A pseudo-terminal. The program's side is held open too: a program that closes its own for a while and opens
/// `/dev/tty` later has not ended it.
#[derive(Debug)]
pub(crate) struct Pty {
    master: AsyncFd<OwnedFd>,
    slave: OwnedFd,
}

impl Pty {
    /// Makes one inside. `owner` is the outside id of the user who shall be able to open it by its name.
    pub(crate) async fn open(shared: &Shared, size: WindowSize, owner: Option<u32>) -> Result<Self, Error> {
        let master = shared.link.terminal().await?;
        let made = master.and_then(|master| Self::prepare(master, size, owner));
        made.map_err(|error| Error::io("make a terminal", &error))
    }

    fn prepare(master: OwnedFd, size: WindowSize, owner: Option<u32>) -> io::Result<Self> {
        rustix::pty::unlockpt(&master)?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
        if let Some(uid) = owner {
            // The group stays: it is the one that may write messages to terminals.
            rustix::fs::fchown(&slave, Some(Uid::from_raw(uid)), None)?;
        }
        let mut modes = rustix::termios::tcgetattr(&slave)?;
        modes.input_modes |= InputModes::IUTF8;
        rustix::termios::tcsetattr(&slave, OptionalActions::Now, &modes)?;
        let pty = Self { master: register(master)?, slave };
        pty.resize(size)?;
        Ok(pty)
    }

    /// Another descriptor of the program's side.
    pub(crate) fn slave(&self) -> io::Result<OwnedFd> {
        self.slave.try_clone()
    }

    /// The kernel tells the foreground program by SIGWINCH, if the size is a new one.
    pub(crate) fn resize(&self, size: WindowSize) -> io::Result<()> {
        let size = Winsize { ws_col: size.cols(), ws_row: size.rows(), ws_xpixel: 0, ws_ypixel: 0 };
        Ok(rustix::termios::tcsetwinsize(&self.master, size)?)
    }

    pub(crate) async fn readable(&self) {
        // An error here is found again by the read that follows.
        drop(self.master.readable().await);
    }

    pub(crate) async fn writable(&self) {
        drop(self.master.writable().await);
    }

    /// Reads what the program printed. The kernel moves it on in the background; a read that finds nothing has waited
    /// for that, so "would block" means that nothing is under way.
    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.master.try_io(Interest::READABLE, |master| Ok(rustix::io::read(master, &mut *buffer)?))
    }

    /// As [`Self::try_read`], whether or not the kernel has announced something.
    pub(crate) fn read_now(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.master, buffer)?)
    }

    /// Types.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.master.try_io(Interest::WRITABLE, |master| Ok(rustix::io::write(master, bytes)?))
    }

    /// Bytes that a read by the program would get now: whole lines, unless it wants every key.
    pub(crate) fn unread(&self) -> u64 {
        rustix::io::ioctl_fionread(&self.slave).unwrap_or(0)
    }

    /// What a program that waits for a key is blocked on.
    pub(crate) fn awaited(&self) -> Option<Awaited> {
        let stat = rustix::fs::fstat(self.slave.as_fd()).ok()?;
        Some(Awaited::Terminal { dev: stat.st_dev, ino: stat.st_ino, device: stat.st_rdev })
    }
}
