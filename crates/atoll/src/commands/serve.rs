//! `atoll serve`: serves many sandboxes over one HTTP API.

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

use super::{serve_stop, spare_agent};
use crate::daemonize::{Caller, Fork, daemonize};
use crate::interrupts::Interrupts;
use crate::mcp::Mcp;
use crate::{api, exit, log, parse, printer};

/// The log filter if RUST_LOG is not set.
const DEFAULT_FILTER: &str = "warn,atoll_gateway=info";

/// File name of the log of a background server, in the state directory.
pub(crate) const LOG: &str = "server.log";

/// Serve many sandboxes over HTTP.
///
/// Sandboxes keep running when the server stops (SIGTERM, or `atoll serve --stop`), and the next server finds them.
/// Every request requires a token: the first token is in the state directory, and `atoll token create` adds others.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll serve
  atoll serve --listen 0.0.0.0:7070 --tls-cert server.pem --tls-key server.key
  atoll serve --background && atoll serve --stop
  curl -X PUT -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7070/v1/sandboxes/box
  curl -H \"Authorization: Bearer $TOKEN\" -H 'content-type: application/json' \\
       http://127.0.0.1:7070/v1/sandboxes/box/exec -d '{\"command\":\"uname -a\"}'")]
pub(crate) struct Arguments {
    /// Listen on this address (0.0.0.0:7070). Repeatable.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    listen: Vec<SocketAddr>,

    /// Listen only on the unix socket in the state directory, to which only you can connect.
    #[arg(long, conflicts_with = "listen")]
    no_tcp: bool,

    /// Listen on this address for previews of sandbox ports; the API is not served there. Repeatable [default: the port
    /// after --listen].
    #[arg(long, value_name = "ADDRESS")]
    preview_listen: Vec<SocketAddr>,

    /// Do not serve previews.
    #[arg(long, conflicts_with = "preview_listen")]
    no_preview: bool,

    /// Give previews host names below this domain, as clients reach it: DOMAIN, DOMAIN:PORT or https://DOMAIN
    /// (preview.example.org). Every name below it must resolve to this server.
    #[arg(long, value_name = "DOMAIN", default_value = "localhost")]
    preview_domain: String,

    /// Continue in the background once ready, and log to server.log in the state directory.
    #[arg(long)]
    background: bool,

    /// Stop your running server. Sandboxes keep running.
    #[arg(long, conflicts_with_all = ["background", "no_tcp", "listen"])]
    stop: bool,

    /// Serve TLS with the certificate chain in this PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Private key of --tls-cert, a PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Allow --listen on public addresses without TLS. Tokens are then sent unencrypted.
    #[arg(long)]
    allow_plaintext: bool,

    /// Require no token: every client that can connect has full access. Loopback addresses only.
    #[arg(long)]
    no_auth: bool,

    /// Allow browsers to use the API from pages of this origin (https://app.example.org). Repeatable [default: only the
    /// server's own].
    #[arg(long, value_name = "ORIGIN", conflicts_with = "no_auth")]
    allow_origin: Vec<String>,

    /// Stop a sandbox after this time without use (10m), unless it has its own setting [default: never].
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    sleep_after: Option<Duration>,

    /// Limit the number of sandboxes.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    max_sandboxes: usize,

    /// Number of pre-warmed sandboxes to keep ready, for creations without limits.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    warm: usize,

    /// Limit the number of open connections.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().connections, value_parser = connections)]
    max_connections: usize,

    /// Limit the requests per second of each token, with bursts of ten times as many; 0 disables the limit.
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    rate: u32,

    /// Close a connection whose request headers take longer than this (30s).
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    head_timeout: Option<Duration>,

    /// Format of the log on standard error.
    #[arg(long, value_enum, default_value_t = LogForm::Text)]
    log: LogForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogForm {
    /// Lines of text.
    Text,
    /// One JSON object per line.
    Json,
}

fn connections(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "expected a number greater than 0".to_owned())
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    if arguments.stop {
        return exit::report(state().and_then(|state| serve_stop::stop(&state.join(SOCKET))), false);
    }
    init_log(arguments.log);
    if !arguments.background {
        return exit::report(work(arguments, &mut None), false);
    }
    match daemonize() {
        Ok(Fork::Caller(code)) => code,
        Ok(Fork::Daemon(caller)) => in_background(arguments, caller),
        Err(error) => exit::report(Err(internal("go into the background", &error)), false),
    }
}

fn in_background(arguments: Arguments, caller: Caller) -> ExitCode {
    let mut caller = Some(caller);
    let outcome = work(arguments, &mut caller);
    let code = outcome.as_ref().map_or_else(exit::of_error, |code| *code);
    let exit_code = exit::report(outcome, false);
    if let Some(caller) = caller {
        caller.exit_with(code);
    }
    exit_code
}

fn work(arguments: Arguments, caller: &mut Option<Caller>) -> Result<u8, Error> {
    let _flush_guard = log::start().map_err(|error| internal("start the log", &error))?;
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    threads.worker_threads(half_the_cores());
    exit::block_on(threads, serve(arguments, caller))
}

/// Number of worker threads. A server mostly proxies: the agents need the other half of the cores, and more threads
/// would cost more in wake-ups than they gain.
fn half_the_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1))
}

fn init_log(form: LogForm) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(log::LogWriter);
    match form {
        LogForm::Text => builder.with_ansi(std::io::stderr().is_terminal()).init(),
        LogForm::Json => builder.json().init(),
    }
}

async fn serve(arguments: Arguments, caller: &mut Option<Caller>) -> Result<u8, Error> {
    let mut interrupts = Interrupts::new(&[SignalKind::terminate(), SignalKind::interrupt()])?;
    let scheme = if arguments.tls_cert.is_some() { "https" } else { "http" };
    let options = options(arguments)?;
    let state = options.state.clone();
    let gateway = Gateway::start(options).await.map_err(runtime_error)?;
    let mut banner: String =
        gateway.addresses().iter().map(|address| format!("listening on {scheme}://{address}\n")).collect();
    banner.push_str(&format!("listening on unix:{}\n", state.join(SOCKET).display()));
    banner.push_str(&format!("the first token is in {}\n", state.join(ROOT_TOKEN).display()));
    for address in gateway.preview_addresses() {
        banner.push_str(&format!("previews on {scheme}://{address}\n"));
    }
    // A closed standard output is not an error.
    drop(printer::out(banner.as_bytes()));
    if let Some(caller) = caller.take() {
        let file = open_log(&state.join(LOG)).map_err(|error| internal("open the log", &error))?;
        log::flush();
        caller.ready(Some(file)).map_err(|error| internal("detach from the caller", &error))?;
    }
    gateway.run(async { _ = interrupts.next().await }).await;
    Ok(0)
}

fn open_log(path: &Path) -> std::io::Result<File> {
    File::options().append(true).create(true).mode(0o600).open(path)
}

fn internal(what: &str, error: &std::io::Error) -> Error {
    Error::Internal { what: format!("failed to {what}: {error}") }
}

/// Returns the arguments of an agent: its subcommand, and the programs that all agents of this server share.
fn agent_arguments() -> Result<Vec<String>, Error> {
    let shared = programs::share().map_err(|error| internal("write the programs that run in sandboxes", &error))?;
    let paths = shared.into_iter().map(|path| path.to_string_lossy().into_owned());
    Ok(std::iter::once(spare_agent::NAME.to_owned()).chain(paths).collect())
}

fn options(arguments: Arguments) -> Result<Options, Error> {
    let is_local = arguments.listen.iter().all(|address| address.ip().is_loopback());
    if arguments.no_auth && !is_local {
        return Err(Error::Invalid {
            what: "--no-auth is for loopback addresses only (remove it, or listen on 127.0.0.1)".to_owned(),
        });
    }
    let program = std::env::current_exe()
        .map_err(|error| Error::Internal { what: format!("failed to find the path of this program: {error}") })?;
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
        preview: PreviewOptions {
            listen: previews,
            domain: Domain::parse(&arguments.preview_domain).map_err(runtime_error)?,
        },
        origins: Origins::parse(&arguments.allow_origin).map_err(runtime_error)?,
        document: api::DOCUMENT,
        adapters: vec![Arc::new(Mcp::default())],
    })
}

/// Returns the state directory of the server.
pub(crate) fn state() -> Result<PathBuf, Error> {
    Ok(Home::discover()?.state.join("server"))
}

/// Converts an error of the gateway. Invalid options are the user's to correct, everything else is internal.
fn runtime_error(error: atoll_gateway::Error) -> Error {
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
