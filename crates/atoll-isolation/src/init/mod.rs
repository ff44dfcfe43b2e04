//! PID 1 of a sandbox: applies the plan, then starts programs, reaps everything and reports ends, until its agent is gone.
//!
//! Single-threaded and synchronous. It interprets nothing that a user wrote: requests are binary and come from the
//! agent alone. It keeps no output and no state beyond which pid belongs to which command. When the socket closes
//! it ends, and the kernel ends everything in its PID namespace with it.

pub(crate) mod apply;
mod spawn;
mod tree;
mod warden;

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use crate::channel::Channel;
use crate::program::SOCKET;
use crate::sys::process::Reaped;
use crate::sys::vfork::Stack;
use crate::sys::{self, fd, identity, network, process, signal};
use crate::wire::{Event, Request, Setup, Spawn, SpawnStage, VERSION};

/// Runs init to its end. The exit code is for nobody: the agent learns everything over the socket.
pub(crate) fn run() -> ExitCode {
    let Ok(socket) = fd::inherited(SOCKET) else {
        return ExitCode::FAILURE;
    };
    let mut channel = Channel::new(socket);
    match set_up(&mut channel).and_then(|own_namespace| Init::new(channel, own_namespace)?.serve()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Waits for the plan and applies it. `true` if this is PID 1 of a namespace.
fn set_up(channel: &mut Channel) -> io::Result<bool> {
    identity::not_dumpable()?;
    signal::reset_all()?;
    let Some((Request::Setup { setup }, fds)) = channel.receive()? else {
        return Err(io::Error::from_raw_os_error(libc::EPROTO));
    };
    if let Err((step, error)) = prepare(&setup, fds) {
        let step = u32::try_from(step).unwrap_or(u32::MAX);
        channel.send(&Event::SetupFailed { step, errno: sys::errno(&error) }, &[])?;
        return Err(error);
    }
    let proc = fd::open_at(libc::AT_FDCWD, b"/proc", libc::O_PATH | libc::O_DIRECTORY, 0)?;
    channel.send(&Event::Ready { version: VERSION }, &[proc.as_fd()])?;
    Ok(std::process::id() == 1)
}

fn prepare(setup: &Setup, fds: Vec<OwnedFd>) -> Result<(), (usize, io::Error)> {
    if setup.version != VERSION {
        return Err((0, io::Error::from_raw_os_error(libc::EPROTONOSUPPORT)));
    }
    apply::apply(&setup.steps, fds)
}

/// What a known child of init is.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// The main process of a command.
    Command(u64),
    /// The warden over a command's tree.
    Warden(u64),
}

/// The serving state.
struct Init {
    channel: Channel,
    children: HashMap<u32, Role>,
    stack: Stack,
    own_namespace: bool,
}

impl Init {
    fn new(channel: Channel, own_namespace: bool) -> io::Result<Self> {
        signal::hold_child_signal()?;
        Ok(Self { channel, children: HashMap::new(), stack: Stack::new(), own_namespace })
    }

    fn serve(mut self) -> io::Result<()> {
        let outcome = self.serve_until_gone();
        if !self.own_namespace {
            // No namespace ends with us: end the tree by hand.
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
            orphans |= self.report(ended)?;
        }
        // A command that stops its own warden would never be told to have ended.
        while let Some(pid) = process::stopped_child() {
            if let Some(Role::Warden(_)) = self.children.get(&pid) {
                process::kill(pid, libc::SIGCONT)?;
            }
        }
        if orphans { self.channel.send(&Event::OrphanReaped, &[]) } else { Ok(()) }
    }

    /// Tells the agent of an end. `true` if it was an orphan that nobody asked about.
    fn report(&mut self, ended: Reaped) -> io::Result<bool> {
        let Reaped { pid, status, usage } = ended;
        match self.children.remove(&pid) {
            Some(Role::Command(command)) => {
                self.channel.send(&Event::Exited { command, status, usage, alone: false }, &[])?;
                Ok(false)
            }
            // A warden ends with 0 when its tree is empty, and has said so itself.
            Some(Role::Warden(_)) if status == 0 => Ok(false),
            Some(Role::Warden(command)) => {
                self.kill_strays();
                self.channel.send(&Event::WardenLost { command }, &[])?;
                Ok(false)
            }
            None => Ok(true),
        }
    }

    /// After a warden was killed its tree hangs below init, told apart from nothing: end what has no warden.
    fn kill_strays(&self) {
        let known: Vec<u32> = self.children.keys().copied().collect();
        tree::kill_below(std::process::id(), &known);
    }

    fn answer(&mut self, request: Request, fds: Vec<OwnedFd>) -> io::Result<()> {
        match request {
            Request::Setup { .. } => Err(io::Error::from_raw_os_error(libc::EPROTO)),
            Request::Spawn { tag, spawn } => self.spawn(tag, &spawn, &fds),
            Request::Sweep { tag, command, signal } => {
                let count = self.warden_of(command).map_or(0, |warden| tree::signal_below(warden, signal));
                self.channel.send(&Event::Counted { tag, count }, &[])
            }
            Request::List { tag, command } => {
                let pids = self.warden_of(command).map_or_else(Vec::new, tree::below);
                self.channel.send(&Event::Members { tag, pids }, &[])
            }
            Request::Open { tag, path, flags, mode } => {
                let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
                self.hand_out(tag, fd::open_without_magic(&path, flags, mode))
            }
            Request::Connect { tag, address } => self.hand_out(tag, network::connect(address.into())),
            Request::Ping { tag } => self.channel.send(&Event::Pong { tag }, &[]),
        }
    }

    fn hand_out(&self, tag: u32, result: io::Result<OwnedFd>) -> io::Result<()> {
        match result {
            Ok(fd) => self.channel.send(&Event::Opened { tag }, &[fd.as_fd()]),
            Err(error) => self.channel.send(&Event::Failed { tag, errno: sys::errno(&error) }, &[]),
        }
    }

    fn warden_of(&self, command: u64) -> Option<u32> {
        self.children.iter().find_map(|(pid, role)| match role {
            Role::Warden(of) if *of == command => Some(*pid),
            Role::Warden(_) | Role::Command(_) => None,
        })
    }

    fn spawn(&mut self, tag: u32, request: &Spawn, fds: &[OwnedFd]) -> io::Result<()> {
        if request.warden {
            return self.spawn_under_warden(tag, request, fds);
        }
        match spawn::spawn(&mut self.stack, request, fds) {
            Ok((pid, pidfd)) => {
                self.children.insert(pid, Role::Command(request.command));
                self.channel.send(&Event::Spawned { tag, pid }, &[pidfd.as_fd()])
            }
            Err((stage, error)) => self.refuse(tag, stage, &error),
        }
    }

    fn spawn_under_warden(&mut self, tag: u32, request: &Spawn, fds: &[OwnedFd]) -> io::Result<()> {
        match process::fork() {
            Ok(None) => process::exit_now(warden::run(&self.channel, &mut self.stack, tag, request, fds)),
            Ok(Some(pid)) => {
                self.children.insert(pid, Role::Warden(request.command));
                Ok(())
            }
            Err(error) => self.refuse(tag, SpawnStage::Clone, &error),
        }
    }

    fn refuse(&self, tag: u32, stage: SpawnStage, error: &io::Error) -> io::Result<()> {
        self.channel.send(&Event::SpawnFailed { tag, stage, errno: sys::errno(error) }, &[])
    }
}
