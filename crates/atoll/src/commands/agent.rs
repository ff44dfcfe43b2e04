//! `atoll agent`: serves one sandbox over HTTP.

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

use crate::daemonize::{Caller, Fork, daemonize};
use crate::interrupts::Interrupts;
use crate::{exit, pid1, printer};

/// Create one sandbox and serve it over HTTP on a unix socket.
///
/// Prints one line of JSON when ready, then continues in the background until SIGTERM or DELETE /v1/sandbox. Removes
/// the sandbox at the end.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll agent --socket /run/box.sock
  echo '{\"name\":\"box\",\"limits\":{\"memory_bytes\":536870912}}' | atoll agent --socket /run/box.sock --spec -
  atoll agent --entrypoint --tcp 0.0.0.0:8080 --token-file /run/secrets/atoll
  curl --unix-socket /run/box.sock http://localhost/v1/exec -d '{\"command\":\"uname -a\"}' \\
       -H 'content-type: application/json'")]
pub(crate) struct Arguments {
    /// Listen on this unix socket, to which only you can connect.
    #[arg(long, value_name = "PATH", required_unless_present = "tcp")]
    socket: Option<PathBuf>,

    /// Read the JSON specification of the sandbox from this file; - reads standard input.
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,

    /// Keep the sandbox's files in this directory and reuse those already there [default: delete them].
    #[arg(long, value_name = "DIR")]
    storage: Option<PathBuf>,

    /// Also listen on this TCP address, for clients with the token (0.0.0.0:8080).
    #[arg(long, value_name = "ADDRESS", requires = "token_file")]
    tcp: Option<SocketAddr>,

    /// Read the token for --tcp from this file.
    #[arg(long, value_name = "FILE", requires = "tcp")]
    token_file: Option<PathBuf>,

    /// Run as the entrypoint of a container, pod or VM: stay in the foreground, act as PID 1, and continue with a
    /// warning if the kernel cannot isolate commands from this process.
    #[arg(long, requires = "tcp")]
    entrypoint: bool,

    /// Append messages to this file when in the background [default: discard them].
    #[arg(long, value_name = "FILE", conflicts_with_all = ["foreground", "entrypoint"])]
    log: Option<PathBuf>,

    /// Print errors as JSON on standard output.
    #[arg(long)]
    json: bool,

    /// Stay in the foreground.
    #[arg(long)]
    foreground: bool,
}

/// Whether commands must be isolated from this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsolationPolicy {
    /// As the specification says, or fail.
    Required,
    /// Isolated if the kernel allows it.
    BestEffort,
}

/// Everything that is read before the process detaches from its caller.
struct Prepared {
    spec: SandboxSpec,
    storage: Storage,
    isolation: IsolationPolicy,
    socket: Option<PathBuf>,
    tcp: Option<(SocketAddr, Token)>,
    log: Option<File>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.json;
    if arguments.entrypoint {
        match pid1::fork_init() {
            Ok(None) => {}
            Ok(Some(code)) => return code,
            Err(error) => return exit::report(Err(error), as_json),
        }
    }
    match prepare(&arguments) {
        Err(error) => exit::report(Err(error), as_json),
        Ok(prepared) if arguments.foreground || arguments.entrypoint => {
            exit::report(work(prepared, &mut None), as_json)
        }
        Ok(prepared) => match daemonize() {
            Ok(Fork::Caller(code)) => code,
            Ok(Fork::Daemon(caller)) => in_background(prepared, caller, as_json),
            Err(error) => exit::report(Err(internal("go into the background", &error)), as_json),
        },
    }
}

fn in_background(prepared: Prepared, caller: Caller, as_json: bool) -> ExitCode {
    let mut caller = Some(caller);
    let outcome = work(prepared, &mut caller);
    let code = outcome.as_ref().map_or_else(exit::of_error, |code| *code);
    let exit_code = exit::report(outcome, as_json);
    if let Some(caller) = caller {
        caller.exit_with(code);
    }
    exit_code
}

fn work(prepared: Prepared, caller: &mut Option<Caller>) -> Result<u8, Error> {
    // One thread serves all requests: a request wakes no other thread, and an idle agent is small. Large responses and
    // files are handled by other threads.
    exit::block_on(tokio::runtime::Builder::new_current_thread(), serve_sandbox(prepared, caller))
}

fn prepare(arguments: &Arguments) -> Result<Prepared, Error> {
    let socket = arguments.socket.as_ref().map(std::path::absolute).transpose();
    let socket = socket.map_err(|error| internal("resolve the path of the socket", &error))?;
    let isolation = if arguments.entrypoint { IsolationPolicy::BestEffort } else { IsolationPolicy::Required };
    let tcp = match (arguments.tcp, &arguments.token_file) {
        (Some(address), Some(file)) => Some((address, read_token(file)?)),
        _ => None,
    };
    let log = arguments.log.as_ref().map(|path| open_log(path)).transpose()?;
    let storage = match &arguments.storage {
        Some(path) => Storage::Kept(
            std::path::absolute(path).map_err(|error| internal("resolve the path of the storage", &error))?,
        ),
        None => Storage::Own,
    };
    Ok(Prepared { spec: read_spec(arguments.spec.as_deref())?, storage, isolation, socket, tcp, log })
}

fn read_spec(path: Option<&Path>) -> Result<SandboxSpec, Error> {
    let Some(path) = path else { return Ok(SandboxSpec::default()) };
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_string(&mut text)
    } else {
        File::open(path).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.map_err(|error| internal(&format!("read {}", path.display()), &error))?;
    serde_json::from_str(&text).map_err(|error| Error::Invalid { what: format!("{}: {error}", path.display()) })
}

fn read_token(path: &Path) -> Result<Token, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| internal(&format!("read {}", path.display()), &error))?;
    Token::new(text.trim()).ok_or_else(|| Error::Invalid {
        what: format!("{} does not contain a valid token (at least 22 characters without spaces)", path.display()),
    })
}

fn open_log(path: &Path) -> Result<File, Error> {
    let opened = File::options().append(true).create(true).mode(0o600).open(path);
    opened.map_err(|error| internal(&format!("open {}", path.display()), &error))
}

async fn serve_sandbox(prepared: Prepared, caller: &mut Option<Caller>) -> Result<u8, Error> {
    // Installed before the sandbox exists: from here on a signal removes the sandbox before the exit.
    let mut interrupts = Interrupts::new(&[SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()])?;
    let host = Host::new(Home::discover()?)?;
    let Prepared { spec, storage, isolation, socket, tcp, log } = prepared;
    let create = async {
        match isolation {
            IsolationPolicy::Required => Agent::create_over(&host, spec, storage).await,
            IsolationPolicy::BestEffort => Agent::create_as_possible(&host, spec, storage).await,
        }
    };
    let agent = tokio::select! {
        agent = create => agent?,
        number = interrupts.next() => return Ok(128 + number),
    };
    agent.sandbox().faults().for_each(printer::warning);
    if let Some(why) = agent.not_isolated() {
        printer::warning(&format!(
            "commands are not isolated from this process, only by the container it runs in: {why}"
        ));
    }
    let announce = async {
        let listeners = listen(socket.as_deref(), tcp).await?;
        let printed = printer::json(&ready(&agent, socket.as_deref(), &listeners));
        printed.map_err(|error| internal("report that the agent is ready", &error))?;
        if let Some(caller) = caller.take() {
            caller.ready(log).map_err(|error| internal("detach from the caller", &error))?;
        }
        Ok(listeners)
    };
    serve_until_stopped(&agent, announce, &mut interrupts).await
}

/// Announces the agent, then serves it until it is stopped. Clients can connect during the announcement, but get
/// responses only after it succeeded: if it fails the agent exits, and no client must have relied on it.
pub(super) async fn serve_until_stopped(
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
        listeners.push(listener.map_err(|error| internal(&format!("listen on {address}"), &error))?);
    }
    Ok(listeners)
}

/// Returns the line that announces the agent.
pub(super) fn ready(agent: &Agent, socket: Option<&Path>, listeners: &[Listener]) -> AgentReady {
    AgentReady {
        ready: true,
        name: agent.sandbox().name().to_string(),
        pid: std::process::id(),
        socket: socket.map(Path::to_owned),
        tcp: listeners.iter().find_map(Listener::address),
    }
}

pub(super) fn internal(what: &str, error: &std::io::Error) -> Error {
    Error::Internal { what: format!("failed to {what}: {error}") }
}
