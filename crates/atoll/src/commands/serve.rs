//! `atoll serve`: many sandboxes behind one HTTP API.

use std::fs::File;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use atoll_gateway::{
    AuthMode, DiskError, Domain, Gateway, Limits, LocalOptions, Options, Origins, PreviewListen, PreviewOptions,
    ROOT_TOKEN, Rate, SOCKET, TlsFiles,
};
use atoll_runtime::{Error, Home, programs};
use clap::{Args, ValueEnum};
use tokio::signal::unix::SignalKind;
use tracing_subscriber::EnvFilter;

use super::{serve_stop, spare};
use crate::detach::{Parent, Side, detach};
use crate::interrupts::Interrupts;
use crate::mcp::Mcp;
use crate::{api, exit, log, parse, printer};

/// What is logged if RUST_LOG does not say otherwise.
const LOGGED: &str = "warn,atoll_gateway=info";

/// The log of a server in the background.
pub(crate) const LOG: &str = "server.log";

/// Serve many sandboxes over HTTP.
///
/// Each sandbox has a process of its own that goes on when this server ends; the next one finds it again. Every request
/// needs a token: the first one is in the state directory, and `atoll token` makes others. SIGTERM ends the server, not
/// the sandboxes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll serve
  atoll serve --listen 0.0.0.0:7070 --tls-cert server.pem --tls-key server.key
  atoll serve --background && atoll serve --stop
  curl -X PUT -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7070/v1/sandboxes/box
  curl -H \"Authorization: Bearer $TOKEN\" -H 'content-type: application/json' \\
       http://127.0.0.1:7070/v1/sandboxes/box/exec -d '{\"command\":\"uname -a\"}'")]
pub(crate) struct Arguments {
    /// Where to listen; may be given more than once.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    listen: Vec<SocketAddr>,

    /// Listen nowhere but on the socket in the state directory, for this user alone.
    #[arg(long, conflicts_with = "listen")]
    no_tcp: bool,

    /// Where to listen for previews of what sandboxes serve; the API is never there. May be given more than once
    /// [default: one port behind --listen].
    #[arg(long, value_name = "ADDRESS")]
    preview_listen: Vec<SocketAddr>,

    /// Listen nowhere for previews.
    #[arg(long, conflicts_with = "preview_listen")]
    no_preview: bool,

    /// Below which domain previews have their host names: DOMAIN, DOMAIN:PORT or https://DOMAIN as others reach it.
    /// Every name below it must lead here.
    #[arg(long, value_name = "DOMAIN", default_value = "localhost")]
    preview_domain: String,

    /// Go on in the background once clients are heard; the log is then in the state directory, in server.log.
    #[arg(long)]
    background: bool,

    /// End the server of this user that runs, instead of starting one. Sandboxes go on.
    #[arg(long, conflicts_with_all = ["background", "no_tcp", "listen"])]
    stop: bool,

    /// A PEM file with the server's certificate and those that vouch for it.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// A PEM file with its key.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Listen where others can connect although there is no TLS: tokens can then be read on the way.
    #[arg(long)]
    allow_plaintext: bool,

    /// Ask for no token: whoever can connect may do everything. Only on loopback.
    #[arg(long)]
    no_auth: bool,

    /// Let pages of this origin, such as https://app.example.org, use the API with a token; may be given more than once
    /// [default: none but the server's own].
    #[arg(long, value_name = "ORIGIN", conflicts_with = "no_auth")]
    allow_origin: Vec<String>,

    /// Stop a sandbox when nobody used it for so long, unless it says otherwise [default: never].
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    sleep_after: Option<Duration>,

    /// Sandboxes that there may be.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    max_sandboxes: usize,

    /// Sandboxes that are made ahead of their time: one that is created without limits is then there at once.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    warm: usize,

    /// Connections at once.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().connections, value_parser = connections)]
    max_connections: usize,

    /// Requests per second that one token may send in the long run; ten times as many at once. 0: no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    rate: u32,

    /// How long a client may take for the head of a request.
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    head_timeout: Option<Duration>,

    /// How the log on standard error is written.
    #[arg(long, value_enum, default_value_t = LogForm::Text)]
    log: LogForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogForm {
    /// For people.
    Text,
    /// One object per line.
    Json,
}

fn connections(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "give a number that is more than 0".to_owned())
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    if arguments.stop {
        return exit::told(state().and_then(|state| serve_stop::stop(&state.join(SOCKET))), false);
    }
    log_as(arguments.log);
    if !arguments.background {
        return exit::told(work(arguments, &mut None), false);
    }
    match detach() {
        Ok(Side::Started(code)) => code,
        Ok(Side::Detached(parent)) => in_background(arguments, parent),
        Err(error) => exit::told(Err(failure("go into the background", &error)), false),
    }
}

fn in_background(arguments: Arguments, parent: Parent) -> ExitCode {
    let mut parent = Some(parent);
    let outcome = work(arguments, &mut parent);
    let code = outcome.as_ref().map_or_else(exit::of_error, |code| *code);
    let told = exit::told(outcome, false);
    if let Some(parent) = parent {
        parent.failed(code);
    }
    told
}

fn work(arguments: Arguments, parent: &mut Option<Parent>) -> Result<u8, Error> {
    let _kept = log::keep().map_err(|error| failure("keep a log", &error))?;
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    threads.worker_threads(half_of_the_cores());
    exit::outcome(threads, serve(arguments, parent))
}

/// A server only passes on what others do: the other half is for them, and threads that wake each other for little work
/// cost more than they do.
fn half_of_the_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1))
}

fn log_as(form: LogForm) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(LOGGED));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(log::Lines);
    match form {
        LogForm::Text => builder.with_ansi(std::io::stderr().is_terminal()).init(),
        LogForm::Json => builder.json().init(),
    }
}

async fn serve(arguments: Arguments, parent: &mut Option<Parent>) -> Result<u8, Error> {
    let mut interrupts = Interrupts::new(&[SignalKind::terminate(), SignalKind::interrupt()])?;
    let scheme = if arguments.tls_cert.is_some() { "https" } else { "http" };
    let options = options(arguments)?;
    let state = options.state.clone();
    let gateway = Gateway::start(options).await.map_err(told)?;
    let mut said: String =
        gateway.addresses().iter().map(|address| format!("listening on {scheme}://{address}\n")).collect();
    said.push_str(&format!("listening on unix:{}\n", state.join(SOCKET).display()));
    said.push_str(&format!("the first token is in {}\n", state.join(ROOT_TOKEN).display()));
    for address in gateway.preview_addresses() {
        said.push_str(&format!("previews on {scheme}://{address}\n"));
    }
    // Whoever started us may not care.
    drop(printer::out(said.as_bytes()));
    if let Some(parent) = parent.take() {
        let file = open_log(&state.join(LOG)).map_err(|error| failure("open the log", &error))?;
        log::flush();
        parent.ready(Some(file)).map_err(|error| failure("let go of the caller", &error))?;
    }
    gateway.run(async { _ = interrupts.next().await }).await;
    Ok(0)
}

fn open_log(path: &Path) -> std::io::Result<File> {
    File::options().append(true).create(true).mode(0o600).open(path)
}

fn failure(what: &str, error: &std::io::Error) -> Error {
    Error::Internal { what: format!("failed to {what}: {error}") }
}

/// The role of an agent, and the programs that all agents of this server share.
fn agent_arguments() -> Result<Vec<String>, Error> {
    let shared = programs::share().map_err(|error| failure("make the programs that run inside", &error))?;
    let paths = shared.into_iter().map(|path| path.to_string_lossy().into_owned());
    Ok(std::iter::once(spare::NAME.to_owned()).chain(paths).collect())
}

fn options(arguments: Arguments) -> Result<Options, Error> {
    let is_local = arguments.listen.iter().all(|address| address.ip().is_loopback());
    if arguments.no_auth && !is_local {
        return Err(Error::Invalid { what: "--no-auth is for loopback addresses only".to_owned() });
    }
    let program = std::env::current_exe().map_err(|error| Error::Internal { what: format!("who am I? {error}") })?;
    let limits = Limits { connections: arguments.max_connections, ..Limits::default() };
    let rate = f64::from(arguments.rate);
    let previews = match (arguments.no_preview, arguments.preview_listen) {
        (true, _) => PreviewListen::Nowhere,
        (false, addresses) if addresses.is_empty() => PreviewListen::BesideTheApi,
        (false, addresses) => PreviewListen::At(addresses),
    };
    Ok(Options {
        state: state()?,
        listen: if arguments.no_tcp { Vec::new() } else { arguments.listen },
        tls: arguments.tls_cert.zip(arguments.tls_key).map(|(certificates, key)| TlsFiles { certificates, key }),
        plaintext_anywhere: arguments.allow_plaintext,
        auth: if arguments.no_auth { AuthMode::Open } else { AuthMode::Tokens },
        rate: (arguments.rate > 0).then_some(Rate { per_second: rate, burst: rate * 10.0 }),
        local: LocalOptions {
            program,
            arguments: agent_arguments()?,
            warm: arguments.warm,
            remove: atoll_isolation::remove_directory,
        },
        sleep_after: arguments.sleep_after,
        sandboxes_max: arguments.max_sandboxes,
        limits: Limits { head_within: arguments.head_timeout.unwrap_or(limits.head_within), ..limits },
        preview: PreviewOptions { listen: previews, domain: Domain::parse(&arguments.preview_domain).map_err(told)? },
        origins: Origins::parse(&arguments.allow_origin).map_err(told)?,
        document: api::DOCUMENT,
        adapters: vec![Arc::new(Mcp::default())],
    })
}

/// Where the server keeps everything.
pub(crate) fn state() -> Result<PathBuf, Error> {
    Ok(Home::discover()?.state.join("server"))
}

/// Bad options are the user's to mend; the rest is ours.
fn told(error: atoll_gateway::Error) -> Error {
    if let atoll_gateway::Error::Disk { cause, what } = error {
        return match cause {
            DiskError::Full => Error::DiskFull { what },
            DiskError::ReadOnly => Error::DiskReadOnly { what },
        };
    }
    let what = error.to_string();
    let is_invalid = matches!(error, atoll_gateway::Error::Invalid { .. });
    if is_invalid { Error::Invalid { what } } else { Error::Internal { what } }
}
