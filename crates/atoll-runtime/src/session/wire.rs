//! The way to a session's shell and back.
//!
//! The shell writes a report into memory that it shares with us and connects to our listener; the next order goes back over
//! that connection. Nothing is ever received from inside: a connection only says that there is a report, and the kernel
//! says whose it is. Other processes that connect get no answer.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use atoll_isolation::Untrusted;
use atoll_isolation::sys::fd;
use atoll_isolation::sys::socket::{self, Waiting};
use atoll_shell::message::{self, Report, Task};
use tokio::io::unix::AsyncFd;

use super::order;
use crate::Error;
use crate::link;
use crate::shared::Shared;

/// How long to wait for a descriptor when we have none for a connection: others are closed all the time.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

/// A report, and where the shell is.
#[derive(Debug)]
pub(super) struct Reported {
    pub(super) report: Report,
    pub(super) cwd: Vec<u8>,
}

/// The memory that one shell shares with us.
#[derive(Debug)]
pub(crate) struct Page {
    file: File,
}

impl Page {
    pub(super) fn new() -> Result<Self, Error> {
        let made = fd::shared_memory("atoll-report", message::PAGE_SIZE as u64);
        let file = made.map_err(|error| Error::io("make the memory that the shell reports by", &error))?;
        Ok(Self { file: file.into() })
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Whether the shell that we started still is what its process runs: `exec` takes its mappings away.
    fn is_mapped(&self) -> bool {
        fd::is_mapped(self.file.as_fd())
    }

    fn read(&self) -> io::Result<Reported> {
        let mut bytes = [0; message::REPORT + message::DIRECTORY];
        self.file.read_exact_at(&mut bytes, 0)?;
        let (head, directory) = bytes.split_at(message::REPORT);
        let report = Report::decode(head).ok_or(io::ErrorKind::InvalidData)?;
        let length = usize::try_from(report.directory).unwrap_or(usize::MAX);
        let cwd = directory.get(..length).ok_or(io::ErrorKind::InvalidData)?.to_vec();
        Ok(Reported { report, cwd })
    }
}

/// The way to one shell.
#[derive(Debug)]
pub(super) struct Wire {
    /// The shell's pid, here.
    shell: u32,
    listener: AsyncFd<Untrusted>,
    page: Page,
    /// The connection on which it waits for an order.
    waiting: Option<Untrusted>,
    /// The number of the last order; 0 before the first.
    order: u64,
    flags: u8,
}

impl Wire {
    pub(super) fn new(shell: u32, listener: AsyncFd<Untrusted>, page: Page) -> Self {
        Self { shell, listener, page, waiting: None, order: 0, flags: 0 }
    }

    /// Waits for the shell's next report. Nothing is lost if the wait is given up.
    pub(super) async fn next_report(&mut self) -> io::Result<Reported> {
        loop {
            let mut ready = self.listener.readable().await?;
            match self.listener.get_ref().accept() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
                Ok(connection) if self.is_shell(&connection) => {
                    self.waiting = Some(connection);
                    // Others may wait behind it, so there may be more to accept: a queue that is full stays so.
                    return self.check(self.page.read()?);
                }
                // Another process inside.
                Ok(_) => {}
            }
        }
    }

    /// The process is the shell's, and so is the program in it. The second makes the first certain: the number cannot have
    /// passed to another process while the shell has its memory.
    fn is_shell(&self, connection: &Untrusted) -> bool {
        socket::peer_pid(connection.as_fd()).is_ok_and(|pid| pid == self.shell) && self.page.is_mapped()
    }

    /// A report on something else than the last order is not a report.
    fn check(&self, reported: Reported) -> io::Result<Reported> {
        if reported.report.order != self.order {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        Ok(reported)
    }

    /// Lets a shell that waits for an order go without one.
    pub(super) fn dismiss(&mut self) {
        self.waiting = None;
    }

    /// Sends the waiting shell an order.
    pub(super) fn order(&mut self, task: Task, payload: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let connection = self.waiting.take().ok_or(io::ErrorKind::NotConnected)?;
        self.order += 1;
        let message = order::message(task, std::mem::take(&mut self.flags), self.order, payload)?;
        let mut all = fds.to_vec();
        all.extend(message.file.as_ref().map(AsFd::as_fd));
        socket::send_waiting(connection.as_fd(), &message.bytes, &all, Waiting::Forbidden)
    }

    /// The command that was just reported had been interrupted: a late interrupt must not hit the next one.
    pub(super) fn forget_interrupts(&mut self) {
        self.flags |= message::FORGET_INTERRUPTS;
    }
}

/// Makes a listener of this name inside.
pub(super) async fn listen(shared: &Shared, name: &str) -> Result<AsyncFd<Untrusted>, Error> {
    let socket: io::Result<OwnedFd> = shared.link.make_listener(name.as_bytes()).await?;
    socket
        .and_then(|socket| link::register(Untrusted::new(socket)))
        .map_err(|error| Error::io("make the session's socket", &error))
}
