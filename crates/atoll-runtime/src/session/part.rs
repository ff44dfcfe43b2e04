//! The processes of one command of a session: a part of the session's tree.
//!
//! They are what is below the shell, but for what earlier commands have left there. Once the command is over they are
//! what it has left, and what comes of that.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use atoll_egress::Policy;
use atoll_isolation::sys::process;
use atoll_isolation::wire::Members;
use atoll_protocol::{ProcessId, Signal};
use atoll_shell::message::GIVE_UP;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::Error;
use crate::link::{Link, News};
use crate::network::{Narrowed, Registered};

/// How long a shell that was told to give up its command may go on after everything else of it was killed. It takes
/// microseconds, unless the shell is inside something that never looks up.
const STUCK_AFTER: Duration = Duration::from_secs(1);

/// The shell as its commands know it.
#[derive(Debug)]
pub(crate) struct ShellProcess {
    /// Inside.
    pub(crate) pid: u32,
    /// Here, where it leads a process group of the same number.
    pub(crate) outside: u32,
    pub(crate) pidfd: OwnedFd,
    doing: Mutex<Doing>,
    /// As the owner of connections.
    pub(crate) registered: Option<Registered>,
}

/// What the shell does. Locked while it is signalled: a signal that is meant for one command never hits the next.
#[derive(Debug, Default)]
struct Doing {
    /// The command that it runs; 0 is none.
    turn: u64,
    /// Its command has been told to end.
    ending: bool,
    /// It was killed because it could not be brought back.
    given_up: bool,
}

impl ShellProcess {
    pub(crate) fn new(pid: u32, pidfd: OwnedFd, registered: Option<Registered>) -> std::io::Result<Self> {
        let outside = process::pid_of(pidfd.as_fd())?.unwrap_or(0);
        Ok(Self { pid, outside, pidfd, doing: Mutex::default(), registered })
    }

    /// Connections of the shell and of what it runs are this command's from now on, and held to its rules.
    pub(crate) fn owns(&self, command: &ProcessId, rules: Option<Arc<Policy>>) -> Result<Option<Narrowed>, Error> {
        match (&self.registered, rules) {
            (Some(registered), rules) => Ok(registered.runs(command.clone(), rules)),
            (None, None) => Ok(None),
            // Whose connections are whose is not known, so it cannot be held to less.
            (None, Some(_)) => Err(Error::Internal { what: "the session's shell is not known as an owner".to_owned() }),
        }
    }

    /// A command begins.
    pub(crate) fn begin(&self, turn: u64) {
        let mut doing = self.doing();
        (doing.turn, doing.ending) = (turn, false);
    }

    /// The command is over. Whether it had been told to end.
    pub(crate) fn end(&self) -> bool {
        let mut doing = self.doing();
        doing.turn = 0;
        doing.ending
    }

    /// Whether it was killed to be replaced.
    pub(crate) fn was_given_up(&self) -> bool {
        self.doing().given_up
    }

    /// As Ctrl-C would: the shell and everything that it runs in the foreground. `false` if it runs another command.
    fn interrupt(&self, turn: u64) -> bool {
        self.tell(turn, |_| {
            // Gone already is fine. It leads its group until it is reaped, so the number is still its own.
            if process::signal_pidfd(self.pidfd.as_fd(), 0).is_ok() {
                process::signal_group(self.outside, Signal::INT.number()).ok();
            }
        })
    }

    fn give_up(&self, turn: u64) {
        self.tell(turn, |_| drop(process::signal_pidfd(self.pidfd.as_fd(), GIVE_UP)));
    }

    fn replace(&self, turn: u64) {
        self.tell(turn, |doing| {
            doing.given_up = true;
            drop(process::signal_pidfd(self.pidfd.as_fd(), Signal::KILL.number()));
        });
    }

    /// Kills it, to be replaced, with any command that it runs.
    pub(crate) fn distrust(&self) {
        self.doing().given_up = true;
        drop(process::signal_pidfd(self.pidfd.as_fd(), Signal::KILL.number()));
    }

    fn tell(&self, turn: u64, signal: impl FnOnce(&mut Doing)) -> bool {
        let mut doing = self.doing();
        let current = doing.turn == turn;
        if current {
            doing.ending = true;
            signal(&mut doing);
        }
        current
    }

    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One command's part.
#[derive(Debug)]
pub(crate) struct Part {
    shell: Arc<ShellProcess>,
    turn: u64,
    /// What earlier commands have left, as pids inside.
    spared: Vec<u32>,
    /// What this one has left; known when it is over.
    left: Option<Vec<u32>>,
    killing_since: Option<Instant>,
}

impl Part {
    pub(crate) fn new(shell: Arc<ShellProcess>, turn: u64, spared: Vec<u32>) -> Self {
        Self { shell, turn, spared, left: None, killing_since: None }
    }

    /// Connections that the shell and what it runs open from now on are no longer this command's.
    pub(crate) fn disown(&self, command: &ProcessId) {
        if let Some(registered) = &self.shell.registered {
            registered.done(command);
        }
    }

    /// The command is over and has left these.
    pub(crate) fn over(&mut self, left: Vec<u32>) {
        self.left = Some(left);
    }

    pub(crate) fn members(&self) -> Members {
        match &self.left {
            None => Members::Below { top: self.shell.pid, spared: self.spared.clone() },
            Some(roots) => Members::Of { roots: roots.clone() },
        }
    }

    pub(crate) async fn count(&self, link: &Link) -> u64 {
        link.members(self.members()).await.map_or(0, |pids| pids.len() as u64)
    }

    /// A signal that is to end the command also makes the shell give it up: else it would only start the next part.
    pub(crate) async fn signal(&self, link: &Link, signal: i32) -> Result<u64, Error> {
        if signal == Signal::INT.number() && self.shell.interrupt(self.turn) {
            // With job control (`set -m`) what runs in the foreground has a group of its own.
            let jobs = Members::Jobs { top: self.shell.pid, spared: self.spared.clone() };
            return link.sweep(jobs, signal).await.map(|count| count + 1);
        }
        if signal == Signal::TERM.number() {
            self.shell.give_up(self.turn);
        }
        link.sweep(self.members(), signal).await
    }

    pub(crate) async fn kill(&mut self, link: &Link) -> u64 {
        self.shell.give_up(self.turn);
        let killed = link.sweep(self.members(), Signal::KILL.number()).await.unwrap_or(0);
        let since = *self.killing_since.get_or_insert_with(Instant::now);
        if since.elapsed() > STUCK_AFTER {
            self.shell.replace(self.turn);
        }
        killed
    }
}

/// Tells when nothing is left of these processes, and holds the session to their rules until then.
pub(crate) async fn watch(
    shared: Arc<crate::shared::Shared>,
    roots: Vec<u32>,
    news: mpsc::Sender<News>,
    narrowed: Option<Narrowed>,
) {
    loop {
        let Ok(pids) = shared.link.members(Members::Of { roots: roots.clone() }).await else { return };
        if pids.is_empty() {
            drop(narrowed);
            news.send(News::TreeEmpty).await.ok();
            return;
        }
        let Ok(pidfds) = shared.link.pidfds(pids).await else { return };
        for pidfd in pidfds {
            ended(pidfd).await;
        }
    }
}

/// A pidfd is readable when its process is over.
async fn ended(pidfd: OwnedFd) {
    if let Ok(pidfd) = crate::link::register(pidfd) {
        drop(pidfd.readable().await);
    }
}
