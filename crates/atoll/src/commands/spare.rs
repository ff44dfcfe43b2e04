//! `atoll spare-agent`: an agent that a server starts ahead of its time, and tells later what to be. For servers alone:
//! it takes orders (`SpareOrder`) on standard input and ends with it.
//!
//! Not known to the command line's parser, which an agent never needs and which would be most of its memory.

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

use super::agent::{failure, ready, serve_until_told};
use crate::interrupts::Interrupts;
use crate::{detach, exit, printer};

/// The first argument. Behind it stand the paths of the programs that the server shares.
pub(crate) const NAME: &str = "spare-agent";

/// What is to be served.
struct Wanted {
    spec: SandboxSpec,
    dir: PathBuf,
    prepared: Option<Prepared>,
}

/// Runs the role.
pub(crate) fn run() -> ExitCode {
    // At once: keys that are pressed at the server's terminal are not for it.
    drop(process::new_session());
    exit::told(work(), true)
}

fn work() -> Result<u8, Error> {
    programs::take(std::env::args_os().skip(2));
    let host = Host::new(Home::discover()?)?.making_here();
    // One thread serves: a request then wakes nobody but the one who answers it, and an idle agent is small. What takes
    // long, large answers and files, is done by others.
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failure("start", &error))?;
    match take_orders(&host, &runtime)? {
        Some(wanted) => runtime.block_on(serve(&host, wanted)),
        None => Ok(0),
    }
}

/// Waits until it is told what to serve; `None` if it is not to.
fn take_orders(host: &Host, runtime: &Runtime) -> Result<Option<Wanted>, Error> {
    let mut held = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| failure("read an order", &error))?;
        match serde_json::from_str(&line).map_err(|error| Error::Invalid { what: format!("an order: {error}") })? {
            SpareOrder::Prepare { storage } => {
                held = storage.and_then(|path| prepare(host, runtime, path));
                let answer = printer::json(&SparePrepared { prepared: held.is_some() });
                answer.map_err(|error| failure("say that it is prepared", &error))?;
            }
            SpareOrder::Serve { spec, dir, prepared } => {
                return Ok(Some(Wanted { spec: *spec, dir, prepared: held.filter(|_| prepared) }));
            }
        }
    }
    Ok(None)
}

/// What cannot be made ahead is made when it is asked for; whoever asks then is told why not.
fn prepare(host: &Host, runtime: &Runtime, path: PathBuf) -> Option<Prepared> {
    let prepared = runtime.block_on(host.prepare(Storage::Kept(path)));
    prepared.inspect_err(|error| printer::warning(&error.to_string())).ok()
}

async fn serve(host: &Host, wanted: Wanted) -> Result<u8, Error> {
    let mut interrupts = Interrupts::new(&[SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()])?;
    let Wanted { spec, dir, prepared } = wanted;
    let log = open_log(&dir)?;
    // From here on, so that the last words of one that fails can be read.
    rustix::stdio::dup2_stderr(&log).map_err(|error| failure("write its log", &error.into()))?;
    let storage = Storage::Kept(dir.join("storage"));
    let agent = match prepared {
        Some(prepared) => Agent::finish(prepared, spec, storage).await?,
        None => Agent::create_over(host, spec, storage).await?,
    };
    let socket = dir.join("agent.sock");
    let announce = async {
        let listeners = vec![Listener::unix(&socket).map_err(|error| Error::Internal { what: error.to_string() })?];
        let said = printer::json(&ready(&agent, Some(&socket), &listeners));
        said.map_err(|error| failure("say that it is ready", &error))?;
        detach::let_go(Some(&log)).map_err(|error| failure("let go of the server", &error))?;
        Ok(listeners)
    };
    serve_until_told(&agent, announce, &mut interrupts).await
}

fn open_log(dir: &Path) -> Result<File, Error> {
    let path = dir.join("agent.log");
    let opened = File::options().create(true).append(true).mode(0o600).open(&path);
    opened.map_err(|error| failure(&format!("open {}", path.display()), &error))
}
