//! PID 1 of a sandbox: applies the plan, then starts programs, reaps everything and reports ends, until its agent is gone.
//!
//! Synchronous: one thread serves, and others only start programs beside it (`starters`). It interprets nothing that a user
//! wrote: requests are binary and come from the agent alone. It keeps no output and no state beyond which pid belongs to
//! which command. When the socket closes it ends, and the kernel ends everything in its PID namespace with it.

pub(crate) mod apply;
mod children;
mod privileges;
mod spawn;
mod starters;
mod tree;
mod warden;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::sync::Arc;

use self::children::{Children, Ended};
use self::spawn::Starter;
use self::starters::{Job, Starters};
use crate::channel::Channel;
use crate::egress;
use crate::program::SOCKET;
use crate::sys::{self, fd, identity, network, process, signal, socket};
use crate::wire::{Event, Members, Request, Setup, SpawnStage, VERSION};

/// How many ended or stopped children are looked at before the socket is looked at again. Each look costs the kernel a walk
/// over all children, of which a sandbox may have thousands, and more may end than can be reaped.
const CHILDREN_PER_TURN: usize = 64;

/// Turns after which a ping is answered although children still end: then they end faster than they are reaped.
const TURNS_PER_PING: usize = 64;

/// Runs init to its end. The exit code is for nobody: the agent learns everything over the socket.
pub(crate) fn run() -> ExitCode {
    let Ok(socket) = fd::inherited(SOCKET) else {
        return ExitCode::FAILURE;
    };
    let channel = Channel::new(socket);
    match set_up(&channel).and_then(|own_namespace| Init::new(channel, own_namespace)?.serve()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Waits for the plan and applies it. `true` if this is PID 1 of a namespace.
fn set_up(channel: &Channel) -> io::Result<bool> {
    identity::not_dumpable()?;
    signal::reset_all()?;
    let Some((Request::Setup { setup }, fds)) = channel.receive()? else {
        return Err(io::Error::from_raw_os_error(libc::EPROTO));
    };
    let before = setup.steps.len();
    prepare(&setup, fds).or_else(|(step, error)| refuse_to_be(channel, step, error))?;
    // A sandbox made ahead of its time waits here. Should its agent end, so does this.
    let Some((Request::Close { steps }, _)) = channel.receive()? else {
        return Err(io::Error::from_raw_os_error(libc::EPROTO));
    };
    apply::apply(&steps, Vec::new()).or_else(|(step, error)| refuse_to_be(channel, before + step, error))?;
    let proc = fd::open_at(libc::AT_FDCWD, b"/proc", libc::O_PATH | libc::O_DIRECTORY, 0)?;
    channel.send(&Event::Ready { version: VERSION }, &[proc.as_fd()])?;
    Ok(std::process::id() == 1)
}

/// Tells which step failed, and ends.
fn refuse_to_be(channel: &Channel, step: usize, error: io::Error) -> io::Result<()> {
    let step = u32::try_from(step).unwrap_or(u32::MAX);
    channel.send(&Event::SetupFailed { step, errno: sys::errno(&error) }, &[])?;
    Err(error)
}

fn prepare(setup: &Setup, fds: Vec<OwnedFd>) -> Result<(), (usize, io::Error)> {
    if setup.version != VERSION {
        return Err((0, io::Error::from_raw_os_error(libc::EPROTONOSUPPORT)));
    }
    apply::apply(&setup.steps, fds)
}

/// The serving state.
struct Init {
    channel: Arc<Channel>,
    children: Arc<Children>,
    starter: Starter,
    starters: Starters,
    own_namespace: bool,
}

impl Init {
    fn new(channel: Channel, own_namespace: bool) -> io::Result<Self> {
        signal::hold_child_signal()?;
        let channel = Arc::new(channel);
        let children = Arc::new(Children::new(Arc::clone(&channel)));
        let starters = Starters::new(Arc::clone(&children));
        Ok(Self { channel, children, starter: Starter::new(), starters, own_namespace })
    }

    fn serve(mut self) -> io::Result<()> {
        let outcome = self.serve_until_gone();
        if !self.own_namespace {
            // No namespace ends with us: end the tree by hand, when nothing is added to it any more.
            self.children.rest();
            tree::end_own();
        }
        outcome
    }

    fn serve_until_gone(&mut self) -> io::Result<()> {
        let mut more = false;
        loop {
            let readable = if more {
                fd::wait_readable(self.channel.as_fd(), 0)?
            } else {
                fd::wait_input_or_child(self.channel.as_fd())?
            };
            // Ends first: an answer to a ping then means that all of them were told.
            more = self.reap_some()?;
            if readable {
                let Some((request, fds)) = self.channel.receive()? else {
                    return Ok(());
                };
                self.answer(request, fds)?;
            }
        }
    }

    /// Reaps and continues children. `true` if there may be more.
    fn reap_some(&mut self) -> io::Result<bool> {
        let mut orphans = false;
        let mut reaped = 0;
        while reaped < CHILDREN_PER_TURN
            && let Ok(Some(ended)) = process::reap(false)
        {
            reaped += 1;
            match self.children.ended(ended)? {
                Ended::Told => {}
                Ended::WardenLost(command) => {
                    self.kill_strays()?;
                    self.channel.send(&Event::WardenLost { command }, &[])?;
                }
                Ended::Orphan => orphans = true,
            }
        }
        let continued = self.children.keep_going(CHILDREN_PER_TURN)?;
        if orphans {
            self.channel.send(&Event::OrphanReaped, &[])?;
        }
        Ok(reaped == CHILDREN_PER_TURN || continued == CHILDREN_PER_TURN)
    }

    /// After a warden was killed its tree hangs below init, told apart from nothing: end what has no warden.
    fn kill_strays(&self) -> io::Result<()> {
        tree::kill_below(std::process::id(), &self.children.pids()).map(drop)
    }

    fn answer(&mut self, request: Request, fds: Vec<OwnedFd>) -> io::Result<()> {
        if !matches!(&request, Request::Spawn { spawn, .. } if !spawn.warden) {
            // Only starts go side by side; a fork may not meet other threads at work, either.
            self.children.rest();
        }
        match request {
            Request::Setup { .. } | Request::Close { .. } => Err(io::Error::from_raw_os_error(libc::EPROTO)),
            Request::Spawn { tag, spawn } => self.spawn(Job { tag, spawn, fds }),
            Request::Sweep { tag, members, signal } => {
                let swept = self.reach(members).map_or(Ok(0), |reach| reach.signal(signal));
                self.report(tag, swept.map(|count| Event::Counted { tag, count }))
            }
            Request::List { tag, members } => {
                let listed = self.reach(members).map_or_else(|| Ok(Vec::new()), |reach| reach.pids());
                self.report(tag, listed.map(|pids| Event::Listed { tag, pids }))
            }
            Request::Signal { tag, command, signal } => {
                // Not reaped yet, so the number is still its own.
                let sent = self.children.main_of(command).is_some_and(|pid| process::kill(pid, signal).is_ok());
                self.channel.send(&Event::Counted { tag, count: u32::from(sent) }, &[])
            }
            Request::Pidfds { tag, pids } => self.hand_out_pidfds(tag, &pids),
            Request::Listen { tag, name } => self.hand_out(tag, socket::listen(&name)),
            Request::Read { tag, path } => self.hand_out(tag, fd::open_regular(&path)),
            Request::Terminal { tag } => self.hand_out(tag, self.open_terminal()),
            Request::Connect { tag, address } => self.hand_out(tag, network::connect(address.into())),
            Request::Egress { tag } => self.open_egress(tag),
            Request::Diagnose { tag } => self.hand_out(tag, network::diagnose()),
            Request::Ping { tag } => {
                for _ in 0..TURNS_PER_PING {
                    if !self.reap_some()? {
                        break;
                    }
                }
                self.channel.send(&Event::Pong { tag }, &[])
            }
        }
    }

    /// Sends an answer, or why there is none.
    fn report(&self, tag: u32, answer: io::Result<Event>) -> io::Result<()> {
        let answer = answer.unwrap_or_else(|error| Event::Failed { tag, errno: sys::errno(&error) });
        self.channel.send(&answer, &[])
    }

    /// Without a namespace of its own the host's devpts is used, whose `/dev/pts/ptmx` only root may open.
    fn open_terminal(&self) -> io::Result<OwnedFd> {
        if self.own_namespace {
            return fd::open_terminal();
        }
        fd::open_at(libc::AT_FDCWD, b"/dev/ptmx", libc::O_RDWR | libc::O_NONBLOCK | libc::O_NOCTTY, 0)
    }

    fn hand_out(&self, tag: u32, result: io::Result<OwnedFd>) -> io::Result<()> {
        match result {
            Ok(fd) => self.channel.send(&Event::Opened { tag }, &[fd.as_fd()]),
            Err(error) => self.channel.send(&Event::Failed { tag, errno: sys::errno(&error) }, &[]),
        }
    }

    fn open_egress(&self, tag: u32) -> io::Result<()> {
        match privileges::with_network(egress::open) {
            Ok(sockets) => {
                let fds: Vec<_> = sockets.iter().map(AsFd::as_fd).collect();
                self.channel.send(&Event::Opened { tag }, &fds)
            }
            Err(error) => self.channel.send(&Event::Failed { tag, errno: sys::errno(&error) }, &[]),
        }
    }

    fn hand_out_pidfds(&self, tag: u32, pids: &[u32]) -> io::Result<()> {
        let mut living = Vec::new();
        let mut pidfds = Vec::new();
        for pid in pids.iter().copied() {
            if pidfds.len() == socket::MAX_FDS {
                break;
            }
            match process::open_pidfd(pid) {
                Ok(pidfd) => {
                    living.push(pid);
                    pidfds.push(pidfd);
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return self.report(tag, Err(error)),
            }
        }
        let fds: Vec<_> = pidfds.iter().map(AsFd::as_fd).collect();
        self.channel.send(&Event::Listed { tag, pids: living }, &fds)
    }

    /// `None` if the command has no warden (any more).
    fn reach(&self, members: Members) -> Option<tree::Reach> {
        Some(match members {
            Members::Command { command } => {
                tree::Reach::Below { top: self.children.warden_of(command)?, spared: Vec::new() }
            }
            Members::Below { top, spared } => tree::Reach::Below { top, spared },
            Members::Jobs { top, spared } => tree::Reach::Jobs { top, spared },
            Members::Of { roots } => tree::Reach::Of { roots },
        })
    }

    fn spawn(&mut self, job: Job) -> io::Result<()> {
        if job.spawn.warden {
            return self.spawn_under_warden(&job);
        }
        let ours = if job.spawn.beside { self.starters.give(job, &self.starter) } else { Some(job) };
        let Some(Job { tag, spawn, fds }) = ours else { return Ok(()) };
        let outcome = self.starter.spawn(&spawn, &fds, spawn.pidfd);
        self.children.started(tag, &spawn, outcome)
    }

    fn spawn_under_warden(&mut self, job: &Job) -> io::Result<()> {
        let Job { tag, spawn, fds } = job;
        match process::fork() {
            Ok(None) => process::exit_now(warden::run(&self.channel, &mut self.starter, *tag, spawn, fds)),
            Ok(Some(pid)) => {
                self.children.guarded(pid, spawn.command);
                Ok(())
            }
            Err(error) => self.children.started(*tag, spawn, Err((SpawnStage::Clone, error))),
        }
    }
}
