//! `atoll forward`: a port here that is a port inside.

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

use crate::failure::Failure;
use crate::interrupts::Interrupts;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Connections at once. Others wait to be accepted.
const CONNECTIONS_MAX: usize = 512;

/// What is read at once in each direction.
const PIECE: usize = 64 * 1024;

/// A pause after a failed accept, which is mostly for want of descriptors: the next one would fail as well.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Make ports of a sandbox reachable as ports of this machine, as raw TCP, until Ctrl-C.
///
/// Listens on 127.0.0.1 alone. A local port that is left out or 0 is chosen, and printed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll forward box 5432
  atoll forward box 8080:3000 :5432
  psql -h 127.0.0.1 -p $(atoll forward box :5432 --json | head -1 | jq .local_port)")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// LOCAL:REMOTE, REMOTE for the same number here, :REMOTE for any.
    #[arg(required = true, value_name = "[LOCAL:]REMOTE", value_parser = pair)]
    ports: Vec<(u16, u16)>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Local and remote port.
fn pair(text: &str) -> Result<(u16, u16), String> {
    let number = |text: &str| text.parse::<u16>().map_err(|_| format!("`{text}` is no port"));
    let (local, remote) = match text.split_once(':') {
        None => (number(text)?, number(text)?),
        Some(("", remote)) => (0, number(remote)?),
        Some((local, remote)) => (number(local)?, number(remote)?),
    };
    if remote == 0 { Err("0 is no port inside".to_owned()) } else { Ok((local, remote)) }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(forward(arguments), as_json)
}

async fn forward(arguments: Arguments) -> Result<u8, Failure> {
    let mut interrupts = Interrupts::new(&[SignalKind::interrupt(), SignalKind::terminate()])?;
    let client = arguments.server.client()?;
    // Better now than at the first connection.
    client.find_sandbox(&arguments.name).await?;
    let inside = client.inside(&arguments.name);
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut doors = JoinSet::new();
    for (local, remote) in &arguments.ports {
        let listener = listen(*local).await?;
        let address = listener.local_addr().map_err(|error| refused(*local, &error))?;
        if arguments.server.json {
            let (ip, port) = (address.ip(), address.port());
            printer::json(&json!({ "local_address": ip, "local_port": port, "remote_port": remote }))?;
        } else {
            printer::out(format!("{address} -> {}:{remote}\n", arguments.name).as_bytes())?;
        }
        doors.spawn(keep_open(listener, inside.clone(), *remote, Arc::clone(&places)));
    }
    // Connections end with us: what is in them is the user's, who has asked for it.
    interrupts.next().await;
    Ok(0)
}

async fn listen(port: u16) -> Result<TcpListener, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).await.map_err(|error| refused(port, &error))
}

fn refused(port: u16, error: &io::Error) -> Failure {
    Failure::invalid(format!("cannot listen on 127.0.0.1:{port}: {error}"))
}

async fn keep_open(listener: TcpListener, inside: Client, port: u16, places: Arc<Semaphore>) {
    let mut open = JoinSet::new();
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        while open.try_join_next().is_some() {}
        let Ok((here, _)) = listener.accept().await else {
            sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let inside = inside.clone();
        open.spawn(async move {
            carry(here, &inside, port).await;
            drop(place);
        });
    }
}

/// Bytes both ways until both halves have ended. What breaks on one side is broken off on the other, not ended.
async fn carry(mut here: TcpStream, inside: &Client, port: u16) {
    // Keys and their echoes are small and must not wait for more.
    here.set_nodelay(true).ok();
    let mut there = match inside.connect_port(port).await {
        Ok(there) => there,
        Err(error) => {
            printer::note(&error.to_string());
            return break_off(&here);
        }
    };
    if copy_bidirectional_with_sizes(&mut here, &mut there, PIECE, PIECE).await.is_err() {
        break_off(&here);
        there.abort();
    }
}

/// Closing without lingering is a reset (tcp(7)).
fn break_off(here: &TcpStream) {
    rustix::net::sockopt::set_socket_linger(here, Some(Duration::ZERO)).ok();
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[test]
    fn ports_are_read_in_every_form() {
        for (text, ports) in [("80", (80, 80)), ("8080:80", (8080, 80)), (":80", (0, 80)), ("0:80", (0, 80))] {
            assert_eq!(pair(text), Ok(ports), "{text}");
        }
        for bad in ["", ":", "80:", "80:0", "0", "x", "1:2:3", "70000"] {
            assert!(pair(bad).is_err(), "{bad}");
        }
    }
}
