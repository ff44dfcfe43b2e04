//! `atoll agent`: one sandbox, served over HTTP until it is told to end.

use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atoll_agent::{Agent, Listener, Token, serve};
use atoll_protocol::{AgentReady, SandboxSpec};
use atoll_runtime::{Error, Home, Host, Storage};
use clap::Args;
use tokio::signal::unix::SignalKind;

use crate::detach::{Parent, Side, detach};
use crate::interrupts::Interrupts;
use crate::{exit, first_process, printer};

/// Make a sandbox and serve it over HTTP on a unix socket.
///
/// When it is ready, one line of JSON is printed and this command ends; the sandbox is then served in the background
/// until SIGTERM, or until it is asked to end with DELETE /v1/sandbox. Nothing of it is left afterwards.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll agent --socket /run/box.sock
  echo '{\"name\":\"box\",\"limits\":{\"memory_bytes\":536870912}}' | atoll agent --socket /run/box.sock --spec -
  atoll agent --entrypoint --tcp 0.0.0.0:8080 --token-file /run/secrets/atoll
  curl --unix-socket /run/box.sock http://localhost/v1/exec -d '{\"command\":\"uname -a\"}' \\
       -H 'content-type: application/json'")]
pub(crate) struct Arguments {
    /// Where to listen. Only the user who runs this may connect.
    #[arg(long, value_name = "PATH", required_unless_present = "tcp")]
    socket: Option<PathBuf>,

    /// How the sandbox should be: a file with JSON, or - for standard input.
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,

    /// Keep the sandbox's files in this directory, and use those that are there already [default: thrown away].
    #[arg(long, value_name = "DIR")]
    storage: Option<PathBuf>,

    /// Listen on this address as well, for those who know the token.
    #[arg(long, value_name = "ADDRESS", requires = "token_file")]
    tcp: Option<SocketAddr>,

    /// A file with the token for --tcp.
    #[arg(long, value_name = "FILE", requires = "tcp")]
    token_file: Option<PathBuf>,

    /// This is the program of a container, a pod or a VM: stay in the foreground, do what PID 1 has to, and go on without
    /// a wall between commands and this program where the kernel gives none, with a warning: the container is one.
    #[arg(long, requires = "tcp")]
    entrypoint: bool,

    /// Where messages go once it is in the background [default: nowhere].
    #[arg(long, value_name = "FILE", conflicts_with_all = ["foreground", "entrypoint"])]
    log: Option<PathBuf>,

    /// Tell a failure as JSON on standard output.
    #[arg(long)]
    json: bool,

    /// Stay in the foreground.
    #[arg(long)]
    foreground: bool,
}

/// Whether commands must be walled off from this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wall {
    AsAskedFor,
    IfPossible,
}

/// Everything that is read before we go on without our caller.
struct Prepared {
    spec: SandboxSpec,
    storage: Storage,
    wall: Wall,
    socket: Option<PathBuf>,
    tcp: Option<(SocketAddr, Token)>,
    log: Option<File>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.json;
    if arguments.entrypoint {
        match first_process::stand_by() {
            Ok(None) => {}
            Ok(Some(code)) => return code,
            Err(error) => return exit::told(Err(error), as_json),
        }
    }
    match prepare(&arguments) {
        Err(error) => exit::told(Err(error), as_json),
        Ok(prepared) if arguments.foreground || arguments.entrypoint => exit::told(work(prepared, &mut None), as_json),
        Ok(prepared) => match detach() {
            Ok(Side::Started(code)) => code,
            Ok(Side::Detached(parent)) => in_background(prepared, parent, as_json),
            Err(error) => exit::told(Err(failure("go into the background", &error)), as_json),
        },
    }
}

fn in_background(prepared: Prepared, parent: Parent, as_json: bool) -> ExitCode {
    let mut parent = Some(parent);
    let outcome = work(prepared, &mut parent);
    let code = outcome.as_ref().map_or_else(exit::of_error, |code| *code);
    let told = exit::told(outcome, as_json);
    if let Some(parent) = parent {
        parent.failed(code);
    }
    told
}

fn work(prepared: Prepared, parent: &mut Option<Parent>) -> Result<u8, Error> {
    // One thread serves: a request then wakes nobody but the one who answers it, and an idle agent is small. What takes
    // long, large answers and files, is done by others.
    exit::outcome(tokio::runtime::Builder::new_current_thread(), serve_sandbox(prepared, parent))
}

fn prepare(arguments: &Arguments) -> Result<Prepared, Error> {
    let socket = arguments.socket.as_ref().map(std::path::absolute).transpose();
    let socket = socket.map_err(|error| failure("find the socket's place", &error))?;
    let wall = if arguments.entrypoint { Wall::IfPossible } else { Wall::AsAskedFor };
    let tcp = match (arguments.tcp, &arguments.token_file) {
        (Some(address), Some(file)) => Some((address, read_token(file)?)),
        _ => None,
    };
    let log = arguments.log.as_ref().map(|path| open_log(path)).transpose()?;
    let storage = match &arguments.storage {
        Some(path) => Storage::Kept(std::path::absolute(path).map_err(|error| failure("find the storage", &error))?),
        None => Storage::Own,
    };
    Ok(Prepared { spec: read_spec(arguments.spec.as_deref())?, storage, wall, socket, tcp, log })
}

fn read_spec(path: Option<&Path>) -> Result<SandboxSpec, Error> {
    let Some(path) = path else { return Ok(SandboxSpec::default()) };
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_string(&mut text)
    } else {
        File::open(path).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.map_err(|error| failure(&format!("read {}", path.display()), &error))?;
    serde_json::from_str(&text).map_err(|error| Error::Invalid { what: format!("{}: {error}", path.display()) })
}

fn read_token(path: &Path) -> Result<Token, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| failure(&format!("read {}", path.display()), &error))?;
    Token::new(text.trim()).ok_or_else(|| Error::Invalid {
        what: format!("{} holds no token: at least 22 characters without spaces", path.display()),
    })
}

fn open_log(path: &Path) -> Result<File, Error> {
    let opened = File::options().append(true).create(true).mode(0o600).open(path);
    opened.map_err(|error| failure(&format!("open {}", path.display()), &error))
}

async fn serve_sandbox(prepared: Prepared, parent: &mut Option<Parent>) -> Result<u8, Error> {
    // Before anything is made: from here on a signal ends the sandbox first.
    let mut interrupts = Interrupts::new(&[SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()])?;
    let host = Host::new(Home::discover()?)?;
    let Prepared { spec, storage, wall, socket, tcp, log } = prepared;
    let made = async {
        match wall {
            Wall::AsAskedFor => Agent::create_over(&host, spec, storage).await,
            Wall::IfPossible => Agent::create_as_possible(&host, spec, storage).await,
        }
    };
    let agent = tokio::select! {
        agent = made => agent?,
        number = interrupts.next() => return Ok(128 + number),
    };
    agent.sandbox().faults().for_each(printer::warning);
    if let Some(why) = agent.not_isolated() {
        printer::warning(&format!("commands are not walled off from this program, only by what it runs in: {why}"));
    }
    let announce = async {
        let listeners = listen(socket.as_deref(), tcp).await?;
        let said = printer::json(&ready(&agent, socket.as_deref(), &listeners));
        said.map_err(|error| failure("say that it is ready", &error))?;
        if let Some(parent) = parent.take() {
            parent.ready(log).map_err(|error| failure("let go of the caller", &error))?;
        }
        Ok(listeners)
    };
    serve_until_told(&agent, announce, &mut interrupts).await
}

/// Clients can connect while it is announced, but are answered only when it is certain that we go on: an agent that
/// cannot say that it is ready ends, and nobody must have relied on it by then.
pub(super) async fn serve_until_told(
    agent: &Agent,
    announce: impl Future<Output = Result<Vec<Listener>, Error>>,
    interrupts: &mut Interrupts,
) -> Result<u8, Error> {
    match announce.await {
        Err(error) => {
            agent.stop().await?;
            Err(error)
        }
        Ok(listeners) => {
            let serving = tokio::spawn(serve(agent.clone(), listeners));
            tokio::pin!(serving);
            tokio::select! {
                _ = &mut serving => return Ok(0),
                _ = interrupts.next() => agent.stop().await?,
            }
            drop(serving.await);
            Ok(0)
        }
    }
}

async fn listen(socket: Option<&Path>, tcp: Option<(SocketAddr, Token)>) -> Result<Vec<Listener>, Error> {
    let mut listeners = Vec::new();
    if let Some(socket) = socket {
        listeners.push(Listener::unix(socket).map_err(|error| Error::Internal { what: error.to_string() })?);
    }
    if let Some((address, token)) = tcp {
        let listener = Listener::tcp(address, token).await;
        listeners.push(listener.map_err(|error| failure(&format!("listen on {address}"), &error))?);
    }
    Ok(listeners)
}

pub(super) fn ready(agent: &Agent, socket: Option<&Path>, listeners: &[Listener]) -> AgentReady {
    AgentReady {
        ready: true,
        name: agent.sandbox().name().to_string(),
        pid: std::process::id(),
        socket: socket.map(Path::to_owned),
        tcp: listeners.iter().find_map(Listener::address),
    }
}

pub(super) fn failure(what: &str, error: &std::io::Error) -> Error {
    Error::Internal { what: format!("failed to {what}: {error}") }
}
