//! Connections to ports inside sandboxes. An agent on this machine passes the connected socket itself (SCM_RIGHTS), so
//! that no byte goes through the agent; any other agent relays the bytes.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use atoll_http::{SpliceStream, Stream};
use atoll_protocol::{ErrorAnswer, ErrorBody};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::header::{CONNECTION, HOST, UPGRADE};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use super::AgentStream;

/// Largest error response that is read from an agent, in bytes.
const ERROR_MAX: usize = 64 * 1024;

/// Why a port could not be connected to.
#[derive(Debug)]
pub(crate) enum DialError {
    /// The agent returned an API error.
    Refused(ErrorBody),
    /// The agent did not respond.
    Unreachable(io::Error),
}

impl From<io::Error> for DialError {
    fn from(error: io::Error) -> Self {
        Self::Unreachable(error)
    }
}

/// A connection to a port inside a sandbox.
#[derive(Debug)]
pub(crate) enum PortStream {
    /// The connected socket itself.
    Socket(SpliceStream),
    /// Relayed by the agent.
    ViaAgent(AgentStream),
}

impl PortStream {
    /// Resets the connection, so that the program inside sees an error and not the end of the data.
    pub(crate) fn abort(&self) {
        if let Self::Socket(socket) = self {
            // Closing without lingering is a reset (tcp(7)). An agent does the same when its client disconnects.
            rustix::net::sockopt::set_socket_linger(socket.stream(), Some(Duration::ZERO)).ok();
        }
    }
}

macro_rules! either {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        match $self.get_mut() {
            Self::Socket(socket) => Pin::new(socket).$method($($argument),*),
            Self::ViaAgent(stream) => Pin::new(stream).$method($($argument),*),
        }
    };
}

impl AsyncRead for PortStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        either!(self.poll_read(context, buffer))
    }
}

impl AsyncWrite for PortStream {
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
            Self::ViaAgent(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.poll_shutdown(context))
    }
}

/// Connects to the port through the agent, which relays the bytes.
pub(super) async fn through(stream: AgentStream, port: u16) -> Result<PortStream, DialError> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection.with_upgrades());
    let request = Request::get(format!("/v1/ports/{port}/connect"))
        .header(HOST, "agent")
        .header(CONNECTION, "upgrade")
        .header(UPGRADE, "tcp")
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let body = Limited::new(response.into_body(), ERROR_MAX).collect().await.map_err(io::Error::other)?;
        return Err(dial_error(&body.to_bytes()));
    }
    let upgraded = hyper::upgrade::on(response).await.map_err(io::Error::other)?;
    Ok(PortStream::ViaAgent(Box::new(TokioIo::new(upgraded))))
}

fn dial_error(body: &[u8]) -> DialError {
    match serde_json::from_slice(body) {
        Ok(ErrorAnswer { error }) => DialError::Refused(error),
        Err(error) => DialError::Unreachable(io::Error::other(error)),
    }
}

/// Has an agent on this machine pass the connected socket. Parses the HTTP response by hand: the descriptor comes with
/// the byte after it, and is lost if that byte is read in any other way (unix(7)).
pub(super) async fn socket(mut agent: UnixStream, port: u16) -> Result<PortStream, DialError> {
    let request = format!(
        "GET /v1/ports/{port}/connect HTTP/1.1\r\nhost: agent\r\nconnection: upgrade\r\nupgrade: atoll-socket\r\n\r\n"
    );
    agent.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    loop {
        if let Some(socket) = more(&agent, &mut answer).await? {
            let stream = TcpStream::from_std(std::net::TcpStream::from(socket))?;
            // Send small writes at once, in both directions.
            stream.set_nodelay(true)?;
            return Ok(PortStream::Socket(SpliceStream::new(Stream::Tcp(stream))));
        }
        if let Some(body) = error_body(&answer)? {
            return Err(dial_error(body));
        }
    }
}

/// Reads more bytes, and the descriptor if it comes with them.
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

/// Returns the body of an error response, once it is complete.
fn error_body(answer: &[u8]) -> io::Result<Option<&[u8]>> {
    let wrong = || io::Error::from(io::ErrorKind::InvalidData);
    if answer.len() > ERROR_MAX {
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

    /// A relaying agent: sends the response head, then echoes everything.
    async fn carries(mut stream: tokio::io::DuplexStream, answer: &'static str) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = tokio::io::split(stream);
        drop(tokio::io::copy(&mut reader, &mut writer).await);
        writer.shutdown().await.unwrap();
        String::from_utf8(head).unwrap()
    }

    #[tokio::test]
    async fn remote_agent_relays_the_bytes() {
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
    async fn agent_error_is_returned() {
        let body = r#"{"error":{"code":"PORT_CLOSED","message":"nothing"}}"#;
        let answer = format!("HTTP/1.1 502 x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).leak();
        let (ours, theirs) = tokio::io::duplex(4096);
        tokio::spawn(carries(theirs, answer));
        let refused = through(Box::new(ours), 80).await.unwrap_err();
        assert!(matches!(refused, DialError::Refused(body) if body.code == atoll_protocol::ErrorCode::PortClosed));
    }

    #[test]
    fn error_body_is_parsed_once_complete() {
        let answer = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\nbody";
        for cut in 0..answer.len() {
            assert_eq!(error_body(&answer[..cut]).unwrap(), None, "{cut}");
        }
        assert_eq!(error_body(answer).unwrap(), Some(&b"body"[..]));
        assert_eq!(error_body(b"HTTP/1.1 101 Switching\r\nx: y\r\n\r\n\n").unwrap(), None);
        assert!(error_body(b"HTTP/1.1 500 Oh\r\n\r\n").is_err());
    }
}
