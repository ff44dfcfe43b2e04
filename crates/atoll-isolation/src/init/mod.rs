//! PID 1 of a sandbox: applies the plan, then starts programs, reaps everything and reports ends, until its agent is gone.
//!
//! Synchronous: one thread serves, and others only start programs beside it (`starters`). It interprets nothing that a user
//! wrote: requests are binary and come from the agent alone. It keeps no output and no state beyond which pid belongs to
//! which command. When the socket closes it ends, and the kernel ends everything in its PID namespace with it.

pub(crate) mod apply;
mod children;
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
        loop {
            let readable = fd::wait_input_or_child(self.channel.as_fd())?;
            // Ends first: an answer to a ping then means that all of them were told.
            self.reap_all()?;
            if readable {
                let Some((request, fds)) = self.channel.receive()? else {
                    return Ok(());
                };
                self.answer(request, fds)?;
            }
        }
    }

    fn reap_all(&mut self) -> io::Result<()> {
        let mut orphans = false;
        while let Ok(Some(ended)) = process::reap(false) {
            match self.children.ended(ended)? {
                Ended::Told => {}
                Ended::WardenLost(command) => {
                    self.kill_strays();
                    self.channel.send(&Event::WardenLost { command }, &[])?;
                }
                Ended::Orphan => orphans = true,
            }
        }
        self.children.keep_going()?;
        if orphans { self.channel.send(&Event::OrphanReaped, &[]) } else { Ok(()) }
    }

    /// After a warden was killed its tree hangs below init, told apart from nothing: end what has no warden.
    fn kill_strays(&self) {
        tree::kill_below(std::process::id(), &self.children.pids());
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
                let count = self.reach(members).map_or(0, |reach| reach.signal(signal));
                self.channel.send(&Event::Counted { tag, count }, &[])
            }
            Request::List { tag, members } => {
                let pids = self.reach(members).map_or_else(Vec::new, |reach| reach.pids());
                self.channel.send(&Event::Listed { tag, pids }, &[])
            }
            Request::Signal { tag, command, signal } => {
                // Not reaped yet, so the number is still its own.
                let sent = self.children.main_of(command).is_some_and(|pid| process::kill(pid, signal).is_ok());
                self.channel.send(&Event::Counted { tag, count: u32::from(sent) }, &[])
            }
            Request::Pidfds { tag, pids } => self.hand_out_pidfds(tag, &pids),
            Request::Listen { tag, name } => self.hand_out(tag, socket::listen(&name)),
            Request::Open { tag, path, flags, mode } => {
                let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
                self.hand_out(tag, fd::open_without_magic(&path, flags, mode))
            }
            Request::Connect { tag, address } => self.hand_out(tag, network::connect(address.into())),
            Request::Egress { tag } => self.open_egress(tag),
            Request::Diagnose { tag } => self.hand_out(tag, network::diagnose()),
            Request::Ping { tag } => self.channel.send(&Event::Pong { tag }, &[]),
        }
    }

    fn hand_out(&self, tag: u32, result: io::Result<OwnedFd>) -> io::Result<()> {
        match result {
            Ok(fd) => self.channel.send(&Event::Opened { tag }, &[fd.as_fd()]),
            Err(error) => self.channel.send(&Event::Failed { tag, errno: sys::errno(&error) }, &[]),
        }
    }

    fn open_egress(&self, tag: u32) -> io::Result<()> {
        match egress::open() {
            Ok(sockets) => {
                let fds: Vec<_> = sockets.iter().map(AsFd::as_fd).collect();
                self.channel.send(&Event::Opened { tag }, &fds)
            }
            Err(error) => self.channel.send(&Event::Failed { tag, errno: sys::errno(&error) }, &[]),
        }
    }

    fn hand_out_pidfds(&self, tag: u32, pids: &[u32]) -> io::Result<()> {
        let opened = pids.iter().filter_map(|pid| Some((*pid, process::open_pidfd(*pid).ok()?)));
        let (pids, pidfds): (Vec<u32>, Vec<OwnedFd>) = opened.take(socket::MAX_FDS).unzip();
        let fds: Vec<_> = pidfds.iter().map(AsFd::as_fd).collect();
        self.channel.send(&Event::Listed { tag, pids }, &fds)
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
