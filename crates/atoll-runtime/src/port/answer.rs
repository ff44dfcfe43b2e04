//! Asking whether a port inside answers. The connection is made on the inside and passed out; nothing listens outside.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::ByPort;
use super::connect::{LOOPBACK, elsewhere, made};
use crate::Error;
use crate::link::Link;
use crate::wait::{HttpCheck, PortCheck};

/// Longest that a server may take for one answer; then it is asked again.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Enough for a status line.
const STATUS_LINE_MAX: usize = 1024;

/// One look. `false` is "not yet".
pub(crate) async fn answers(link: &Link, seen: &ByPort, check: &PortCheck) -> Result<bool, Error> {
    for ip in LOOPBACK.into_iter().chain(elsewhere(seen, check.port)) {
        let Ok(socket) = link.connect(SocketAddr::new(ip, check.port)).await? else {
            continue;
        };
        let answered = timeout(ANSWER_WITHIN, talk(socket, check)).await;
        if matches!(answered, Ok(Ok(true))) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn talk(socket: OwnedFd, check: &PortCheck) -> io::Result<bool> {
    let mut stream = TcpStream::from_std(std::net::TcpStream::from(socket))?;
    made(&stream).await?;
    match &check.http {
        None => Ok(true),
        Some(http) => get(&mut stream, http).await,
    }
}

async fn get(stream: &mut TcpStream, check: &HttpCheck) -> io::Result<bool> {
    let path = if check.path.starts_with('/') { check.path.clone() } else { format!("/{}", check.path) };
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nUser-Agent: atoll\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut line = Vec::new();
    while line.len() < STATUS_LINE_MAX && !line.contains(&b'\n') {
        if stream.read_buf(&mut line).await? == 0 {
            break;
        }
    }
    Ok(status(&line).is_some_and(|status| (check.statuses.0..=check.statuses.1).contains(&status)))
}

/// `HTTP/1.1 200 OK` → 200.
fn status(line: &[u8]) -> Option<u16> {
    let rest = line.strip_prefix(b"HTTP/1.")?;
    std::str::from_utf8(rest.get(2..5)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::status;

    #[test]
    fn status_lines_are_read() {
        assert_eq!(status(b"HTTP/1.1 204 No Content\r\n"), Some(204));
        assert_eq!(status(b"HTTP/1.0 500"), Some(500));
        assert_eq!(status(b"SSH-2.0-x"), None);
        assert_eq!(status(b"HTTP/1.1 2"), None);
    }
}
