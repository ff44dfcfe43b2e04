//! Connections to ports inside. An agent of this machine passes the connection itself, so that none of its bytes goes
//! through the agent; through any other the bytes are carried.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use atoll_http::{Slipway, Stream};
use atoll_protocol::{ErrorAnswer, ErrorBody};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::header::{CONNECTION, HOST, UPGRADE};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use super::Wire;

/// The most that an agent's refusal may hold.
const REFUSAL_MAX: usize = 64 * 1024;

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum DialError {
    /// The agent said so, in the one error shape.
    Refused(ErrorBody),
    /// The agent did not answer.
    Unreachable(io::Error),
}

impl From<io::Error> for DialError {
    fn from(error: io::Error) -> Self {
        Self::Unreachable(error)
    }
}

/// A connection to a port inside.
#[derive(Debug)]
pub(crate) enum Inside {
    /// The connection itself.
    Socket(Slipway),
    /// By way of an agent.
    Through(Wire),
}

impl Inside {
    /// Breaks it off: the program inside is told that it broke, not that it ended.
    pub(crate) fn abort(&self) {
        if let Self::Socket(socket) = self {
            // Closing without lingering is a reset (tcp(7)). An agent does so when its client hangs up.
            rustix::net::sockopt::set_socket_linger(socket.stream(), Some(Duration::ZERO)).ok();
        }
    }
}

macro_rules! either {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        match $self.get_mut() {
            Self::Socket(socket) => Pin::new(socket).$method($($argument),*),
            Self::Through(wire) => Pin::new(wire).$method($($argument),*),
        }
    };
}

impl AsyncRead for Inside {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        either!(self.poll_read(context, buffer))
    }
}

impl AsyncWrite for Inside {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        either!(self.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self.poll_write_vectored(context, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Socket(socket) => socket.is_write_vectored(),
            Self::Through(wire) => wire.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.poll_shutdown(context))
    }
}

/// Has an agent carry the bytes.
pub(super) async fn through(wire: Wire, port: u16) -> Result<Inside, DialError> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(wire)).await.map_err(io::Error::other)?;
    tokio::spawn(connection.with_upgrades());
    let request = Request::get(format!("/v1/ports/{port}/connect"))
        .header(HOST, "agent")
        .header(CONNECTION, "upgrade")
        .header(UPGRADE, "tcp")
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let body = Limited::new(response.into_body(), REFUSAL_MAX).collect().await.map_err(io::Error::other)?;
        return Err(refusal(&body.to_bytes()));
    }
    let upgraded = hyper::upgrade::on(response).await.map_err(io::Error::other)?;
    Ok(Inside::Through(Box::new(TokioIo::new(upgraded))))
}

fn refusal(body: &[u8]) -> DialError {
    match serde_json::from_slice(body) {
        Ok(ErrorAnswer { error }) => DialError::Refused(error),
        Err(error) => DialError::Unreachable(io::Error::other(error)),
    }
}

/// Has an agent of this machine pass the connection itself. The few bytes of HTTP are read by hand: the descriptor comes
/// with the byte behind them, and whoever reads that byte otherwise loses it (unix(7)).
pub(super) async fn socket(mut agent: UnixStream, port: u16) -> Result<Inside, DialError> {
    let request = format!(
        "GET /v1/ports/{port}/connect HTTP/1.1\r\nhost: agent\r\nconnection: upgrade\r\nupgrade: atoll-socket\r\n\r\n"
    );
    agent.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    loop {
        if let Some(socket) = more(&agent, &mut answer).await? {
            let stream = TcpStream::from_std(std::net::TcpStream::from(socket))?;
            // Small pieces at once, both ways.
            stream.set_nodelay(true)?;
            return Ok(Inside::Socket(Slipway::new(Stream::Tcp(stream))));
        }
        if let Some(body) = whole_refusal(&answer)? {
            return Err(refusal(body));
        }
    }
}

/// Reads some, and the descriptor if it comes with it.
async fn more(agent: &UnixStream, answer: &mut Vec<u8>) -> io::Result<Option<OwnedFd>> {
    let mut piece = [0; 4096];
    let (length, passed) = agent
        .async_io(Interest::READABLE, || {
            let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut room);
            let mut parts = [IoSliceMut::new(&mut piece)];
            let got = rustix::net::recvmsg(agent, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
            let passed = control.drain().find_map(|message| {
                if let RecvAncillaryMessage::ScmRights(mut passed) = message { passed.next() } else { None }
            });
            Ok((got.bytes, passed))
        })
        .await?;
    if length == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    answer.extend_from_slice(&piece[..length]);
    Ok(passed)
}

/// The body of an answer that is no 101, once it is all there.
fn whole_refusal(answer: &[u8]) -> io::Result<Option<&[u8]>> {
    let wrong = || io::Error::from(io::ErrorKind::InvalidData);
    if answer.len() > REFUSAL_MAX {
        return Err(wrong());
    }
    let Some(at) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let head = str::from_utf8(&answer[..at]).map_err(|_| wrong())?.to_ascii_lowercase();
    if head.starts_with("http/1.1 101 ") {
        return Ok(None);
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.and_then(|length| length.trim().parse().ok()).ok_or_else(wrong)?;
    Ok(answer.get(at + 4..at + 4 + length))
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// An agent that carries bytes: answers the head, then sends everything back.
    async fn carries(mut wire: tokio::io::DuplexStream, answer: &'static str) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(wire.read_u8().await.unwrap());
        }
        wire.write_all(answer.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = tokio::io::split(wire);
        drop(tokio::io::copy(&mut reader, &mut writer).await);
        writer.shutdown().await.unwrap();
        String::from_utf8(head).unwrap()
    }

    #[tokio::test]
    async fn an_agent_of_another_machine_carries_the_bytes() {
        let (ours, theirs) = tokio::io::duplex(64);
        let agent = tokio::spawn(carries(theirs, "HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: tcp\r\n\r\n"));
        let mut inside = through(Box::new(ours), 80).await.unwrap();
        inside.write_all(&[7; 50]).await.unwrap();
        inside.shutdown().await.unwrap();
        let mut back = Vec::new();
        inside.read_to_end(&mut back).await.unwrap();
        assert_eq!(back, [7; 50]);
        assert!(agent.await.unwrap().starts_with("GET /v1/ports/80/connect HTTP/1.1\r\n"));
    }

    #[tokio::test]
    async fn an_agents_refusal_is_told() {
        let body = r#"{"error":{"code":"PORT_CLOSED","message":"nothing"}}"#;
        let answer = format!("HTTP/1.1 502 x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).leak();
        let (ours, theirs) = tokio::io::duplex(4096);
        tokio::spawn(carries(theirs, answer));
        let refused = through(Box::new(ours), 80).await.unwrap_err();
        assert!(matches!(refused, DialError::Refused(body) if body.code == atoll_protocol::ErrorCode::PortClosed));
    }

    #[test]
    fn a_refusal_is_read_when_it_is_whole() {
        let answer = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\nbody";
        for cut in 0..answer.len() {
            assert_eq!(whole_refusal(&answer[..cut]).unwrap(), None, "{cut}");
        }
        assert_eq!(whole_refusal(answer).unwrap(), Some(&b"body"[..]));
        assert_eq!(whole_refusal(b"HTTP/1.1 101 Switching\r\nx: y\r\n\r\n\n").unwrap(), None);
        assert!(whole_refusal(b"HTTP/1.1 500 Oh\r\n\r\n").is_err());
    }
}
