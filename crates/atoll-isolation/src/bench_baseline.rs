//! The benchmark's baseline for creating a sandbox: the same clone3, the same plan and one program, without the rest of
//! Atoll. It measures the kernel's share of the time.
//!
//! Compiled only with the feature `bench`, which `atoll-bench` enables and the product does not. A small single-threaded
//! program of its own does the work, so that the init program has no code of the benchmark in any build.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[cfg(feature = "embed")]
use crate::carried::BASELINE;
use crate::channel::Channel;
use crate::init::apply;
#[cfg(feature = "embed")]
use crate::launch::Launcher;
use crate::launch::{self, LaunchError, clone};
use crate::plan::{Plan, Source};
use crate::program::SOCKET;
use crate::spec::IdMap;
use crate::sys::process::{self, Cloned, StringArray};
use crate::sys::{c_string, fd, identity};
use crate::wire;

/// One measurement: make the sandbox, run the program, wait for its exit.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    namespaces: u64,
    base: u32,
    count: u32,
    sources: Vec<(String, bool, bool)>,
    steps: Vec<crate::plan::Step>,
    argv: Vec<Vec<u8>>,
}
wire!(struct Order { namespaces, base, count, sources, steps, argv });

/// A running baseline program. Dropping it ends the program.
#[derive(Debug)]
pub struct Baseline {
    channel: Channel,
}

impl Baseline {
    /// Starts the program.
    #[cfg(feature = "embed")]
    pub fn start() -> Result<Self, LaunchError> {
        Launcher::of(&BASELINE)?.role("baseline").map(|channel| Self { channel })
    }

    /// Makes the sandbox that `plan` describes in `storage`, runs `argv` in it and waits for its exit. Returns the time that
    /// this took. Works for privileged plans only.
    pub fn measure(&mut self, plan: &Plan, storage: &Path, argv: &[&str]) -> Result<Duration, LaunchError> {
        let failed = |error| LaunchError::new("measure the baseline", error);
        let Some(IdMap::Range { base, count }) = plan.ids else {
            return Err(failed(io::Error::other("the baseline is measured as root only")));
        };
        launch::make_storage(plan, storage)?;
        let order = Order {
            namespaces: plan.namespaces,
            base,
            count,
            sources: plan.sources.iter().map(|tree| (tree.path.clone(), tree.read_only, tree.idmapped)).collect(),
            steps: [plan.steps.clone(), plan.closing("baseline")].concat(),
            argv: argv.iter().map(|word| word.as_bytes().to_vec()).collect(),
        };
        let started = Instant::now();
        self.channel.send(&order, &[]).map_err(failed)?;
        match self.channel.receive::<i32>().map_err(failed)? {
            Some((0, _)) => Ok(started.elapsed()),
            Some((status, _)) => Err(failed(io::Error::other(format!("the program exited with wait status {status}")))),
            None => Err(failed(io::Error::other("the baseline program has exited"))),
        }
    }
}

/// Entry of the baseline program: serves measurements until the benchmark closes its socket.
pub fn run() -> ExitCode {
    let served = fd::inherited(SOCKET).map(Channel::new).and_then(|channel| {
        while let Some((order, _)) = channel.receive::<Order>()? {
            let status = carry_out(order).unwrap_or_else(|error| -crate::sys::errno(&error));
            channel.send(&status, &[])?;
        }
        Ok(())
    });
    if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn carry_out(order: Order) -> io::Result<i32> {
    let ids = IdMap::Range { base: order.base, count: order.count };
    let (go_read, go_write) = io::pipe()?;
    let (trees_ours, trees_theirs) = crate::sys::socket::pair()?;
    let sources = order.sources.iter();
    let sources = sources.map(|(path, read_only, idmapped)| Source {
        path: path.clone(),
        read_only: *read_only,
        idmapped: *idmapped,
    });
    let plan = Plan {
        namespaces: order.namespaces,
        ids: Some(ids),
        storage: Vec::new(),
        sources: sources.collect(),
        steps: order.steps,
    };
    match process::clone_into(plan.namespaces, None)? {
        Cloned::Child => {
            drop((go_write, trees_ours));
            let error = become_program(&plan, ids, go_read, trees_theirs, &order.argv);
            process::exit_now(error.raw_os_error().unwrap_or(1))
        }
        Cloned::Parent(pid, _) => {
            clone::write_maps(pid, ids)?;
            let user_namespace = std::fs::File::open(format!("/proc/{pid}/ns/user"))?.into();
            let trees = launch::trees(&plan, Some(&user_namespace)).map_err(io::Error::other)?;
            Channel::new(trees_ours).send(&true, &trees.iter().map(std::os::fd::AsFd::as_fd).collect::<Vec<_>>())?;
            drop(go_write);
            process::reap(true)?.map(|ended| ended.status).ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD))
        }
    }
}

/// Applies the plan and executes the program. Runs in the child of a single-threaded process, so it may allocate and lock.
fn become_program(plan: &Plan, ids: IdMap, go: io::PipeReader, trees: OwnedFd, argv: &[Vec<u8>]) -> io::Error {
    let prepare = || {
        let received = Channel::new(trees).receive::<bool>()?;
        io::Read::read(&mut { go }, &mut [0; 1])?;
        clone::become_root(ids)?;
        identity::not_dumpable()?;
        let fds = received.map(|(_, fds)| fds).unwrap_or_default();
        apply::apply(&plan.steps, fds).map_err(|(_, error)| error)?;
        let env = StringArray::new(&["PATH=/usr/bin:/bin"])?;
        let program = c_string(argv.first().map(Vec::as_slice).unwrap_or_default())?;
        Ok::<_, io::Error>(process::execute(&program, &StringArray::new(argv)?, &env))
    };
    prepare().unwrap_or_else(|error| error)
}
