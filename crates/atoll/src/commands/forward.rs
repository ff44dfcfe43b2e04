//! `atoll forward`: forwards local TCP ports to ports of a sandbox.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use atoll_client::Client;
use atoll_protocol::SandboxName;
use clap::Args;
use serde_json::json;
use tokio::io::copy_bidirectional_with_sizes;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::SignalKind;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::error::CliError;
use crate::interrupts::Interrupts;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Limit for open connections; further clients wait to be accepted.
const CONNECTIONS_MAX: usize = 512;

/// Buffer size for each direction.
const BUFFER: usize = 64 * 1024;

/// Pause after a failed accept, usually for lack of descriptors: an immediate retry would fail as well.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Forward local TCP ports to ports of a sandbox, until Ctrl-C.
///
/// Listens on 127.0.0.1 only, and prints each local port.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll forward box 5432
  atoll forward box 8080:3000 :5432
  psql -h 127.0.0.1 -p $(atoll forward box :5432 --json | head -1 | jq .local_port)")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Ports to forward: 8080:3000, 5432 for the same local port, :5432 for any free one.
    #[arg(required = true, value_name = "[LOCAL:]REMOTE", value_parser = pair)]
    ports: Vec<(u16, u16)>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Parses a local and a remote port.
fn pair(text: &str) -> Result<(u16, u16), String> {
    let number = |text: &str| text.parse::<u16>().map_err(|_| format!("`{text}` is not a port number"));
    let (local, remote) = match text.split_once(':') {
        None => (number(text)?, number(text)?),
        Some(("", remote)) => (0, number(remote)?),
        Some((local, remote)) => (number(local)?, number(remote)?),
    };
    if remote == 0 { Err("the port of the sandbox must not be 0".to_owned()) } else { Ok((local, remote)) }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(forward(arguments), as_json)
}

async fn forward(arguments: Arguments) -> Result<u8, CliError> {
    let mut interrupts = Interrupts::new(&[SignalKind::interrupt(), SignalKind::terminate()])?;
    let client = arguments.server.client()?;
    // Fails now rather than at the first connection.
    client.find_sandbox(&arguments.name).await?;
    let inside = client.inside(&arguments.name);
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut listeners = JoinSet::new();
    for (local, remote) in &arguments.ports {
        let listener = listen(*local).await?;
        let address = listener.local_addr().map_err(|error| listen_error(*local, &error))?;
        if arguments.server.json {
            let (ip, port) = (address.ip(), address.port());
            printer::json(&json!({ "local_address": ip, "local_port": port, "remote_port": remote }))?;
        } else {
            printer::out(format!("{address} -> {}:{remote}\n", arguments.name).as_bytes())?;
        }
        listeners.spawn(accept_loop(listener, inside.clone(), *remote, Arc::clone(&permits)));
    }
    // Open connections end with this program, as the user requested.
    interrupts.next().await;
    Ok(0)
}

async fn listen(port: u16) -> Result<TcpListener, CliError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).await.map_err(|error| listen_error(port, &error))
}

fn listen_error(port: u16, error: &io::Error) -> CliError {
    CliError::invalid(format!("cannot listen on 127.0.0.1:{port}: {error}"))
}

async fn accept_loop(listener: TcpListener, inside: Client, port: u16, permits: Arc<Semaphore>) {
    let mut open = JoinSet::new();
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        while open.try_join_next().is_some() {}
        let Ok((here, _)) = listener.accept().await else {
            sleep(ACCEPT_RETRY).await;
            continue;
        };
        let inside = inside.clone();
        open.spawn(async move {
            relay(here, &inside, port).await;
            drop(permit);
        });
    }
}

/// Copies bytes in both directions until both have ended. An error on one side resets the other instead of closing it.
async fn relay(mut here: TcpStream, inside: &Client, port: u16) {
    // Small packets, such as typed keys and their echoes, must not be delayed.
    here.set_nodelay(true).ok();
    let mut there = match inside.connect_port(port).await {
        Ok(there) => there,
        Err(error) => {
            printer::note(&error.to_string());
            return reset_on_close(&here);
        }
    };
    if copy_bidirectional_with_sizes(&mut here, &mut there, BUFFER, BUFFER).await.is_err() {
        reset_on_close(&here);
        there.abort();
    }
}

/// Makes the close send a reset: SO_LINGER with time 0 (socket(7)).
fn reset_on_close(here: &TcpStream) {
    rustix::net::sockopt::set_socket_linger(here, Some(Duration::ZERO)).ok();
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[test]
    fn port_pairs_parse() {
        for (text, ports) in [("80", (80, 80)), ("8080:80", (8080, 80)), (":80", (0, 80)), ("0:80", (0, 80))] {
            assert_eq!(pair(text), Ok(ports), "{text}");
        }
        for bad in ["", ":", "80:", "80:0", "0", "x", "1:2:3", "70000"] {
            assert!(pair(bad).is_err(), "{bad}");
        }
    }
}
