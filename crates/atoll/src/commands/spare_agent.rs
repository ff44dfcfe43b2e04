//! `atoll spare-agent`: a pre-warmed agent. A server starts it in advance and assigns a sandbox later, with orders
//! (`SpareOrder`) on standard input. It exits when standard input closes.
//!
//! The command line's parser does not know this subcommand: an agent does not need the parser, which would take most of
//! its memory.

use std::fs::File;
use std::io::BufRead;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atoll_agent::{Agent, Listener};
use atoll_isolation::sys::process;
use atoll_protocol::{SandboxSpec, SpareOrder, SparePrepared};
use atoll_runtime::{Error, Home, Host, Prepared, Storage, programs};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::SignalKind;

use super::agent::{internal, ready, serve_until_stopped};
use crate::interrupts::Interrupts;
use crate::{daemonize, exit, printer};

/// The first argument. The paths of the programs that the server shares follow it.
pub(crate) const NAME: &str = "spare-agent";

/// The sandbox to serve.
struct Assignment {
    spec: SandboxSpec,
    dir: PathBuf,
    prepared: Option<Prepared>,
}

/// Runs the subcommand.
pub(crate) fn run() -> ExitCode {
    // First of all: Ctrl-C in the server's terminal must not reach the agent.
    drop(process::new_session());
    exit::report(work(), true)
}

fn work() -> Result<u8, Error> {
    programs::take(std::env::args_os().skip(2));
    let host = Host::new(Home::discover()?)?.making_here();
    // One thread serves all requests: a request wakes no other thread, and an idle agent is small. Large responses and
    // files are handled by other threads.
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| internal("start the async runtime", &error))?;
    match take_orders(&host, &runtime)? {
        Some(assignment) => runtime.block_on(serve(&host, assignment)),
        None => Ok(0),
    }
}

/// Handles orders until one assigns a sandbox. Returns `None` when standard input closes.
fn take_orders(host: &Host, runtime: &Runtime) -> Result<Option<Assignment>, Error> {
    let mut ready_made = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| internal("read an order", &error))?;
        match serde_json::from_str(&line).map_err(|error| Error::Invalid { what: format!("invalid order: {error}") })? {
            SpareOrder::Prepare { storage } => {
                ready_made = storage.and_then(|path| prepare(host, runtime, path));
                let answer = printer::json(&SparePrepared { prepared: ready_made.is_some() });
                answer.map_err(|error| internal("report that the sandbox is prepared", &error))?;
            }
            SpareOrder::Serve { spec, dir, prepared } => {
                return Ok(Some(Assignment { spec: *spec, dir, prepared: ready_made.filter(|_| prepared) }));
            }
        }
    }
    Ok(None)
}

/// Prepares a sandbox. On an error the sandbox is created on request, and that request returns the error.
fn prepare(host: &Host, runtime: &Runtime, path: PathBuf) -> Option<Prepared> {
    let prepared = runtime.block_on(host.prepare(Storage::Kept(path)));
    prepared.inspect_err(|error| printer::warning(&error.to_string())).ok()
}

async fn serve(host: &Host, assignment: Assignment) -> Result<u8, Error> {
    let mut interrupts = Interrupts::new(&[SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()])?;
    let Assignment { spec, dir, prepared } = assignment;
    let log = open_log(&dir)?;
    // Redirected before the sandbox is created, so that its errors are in the log.
    rustix::stdio::dup2_stderr(&log).map_err(|error| internal("redirect stderr to the log", &error.into()))?;
    let storage = Storage::Kept(dir.join("storage"));
    let agent = match prepared {
        Some(prepared) => Agent::finish(prepared, spec, storage).await?,
        None => Agent::create_over(host, spec, storage).await?,
    };
    let socket = dir.join("agent.sock");
    let announce = async {
        let listeners = vec![Listener::unix(&socket).map_err(|error| Error::Internal { what: error.to_string() })?];
        let printed = printer::json(&ready(&agent, Some(&socket), &listeners));
        printed.map_err(|error| internal("report that the agent is ready", &error))?;
        daemonize::release_caller(Some(&log)).map_err(|error| internal("detach from the server", &error))?;
        Ok(listeners)
    };
    serve_until_stopped(&agent, announce, &mut interrupts).await
}

fn open_log(dir: &Path) -> Result<File, Error> {
    let path = dir.join("agent.log");
    let opened = File::options().create(true).append(true).mode(0o600).open(&path);
    opened.map_err(|error| internal(&format!("open {}", path.display()), &error))
}
