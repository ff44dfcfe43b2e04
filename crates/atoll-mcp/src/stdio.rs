//! The stdio transport: one client, which started this process and disconnects by closing the pipes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use atoll_client::Client;
use atoll_protocol::CreateSandbox;
use rmcp::serve_server;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, mpsc};

use crate::client_session::{ClientSession, SandboxTarget, SessionGuard};
use crate::handler::{Handler, Versions};

/// Calls that still run this long after the input was closed are cancelled. Not at once: a script may write its
/// requests, close the pipe, and then read the responses.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum size of a message, equal to the server's limit for JSON bodies.
const MESSAGE_MAX: usize = 16 * 1024 * 1024;

/// Serves one client until it disconnects or `end` completes. Foreground commands of the client are killed then, and
/// the client's own sandbox is removed.
///
/// # Errors
/// Returns an error if the pipes broke before the client sent `initialize`.
pub async fn serve(
    server: Client,
    target: SandboxTarget,
    options: CreateSandbox,
    (input, output): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let session =
        ClientSession::new(server, target, options).map_err(|error| io::Error::other(format!("{error:?}")))?;
    let session = Arc::new(session);
    let (closed_tx, mut closed_rx) = mpsc::channel(1);
    let eof = Arc::new(Notify::new());
    let input = NotifyOnEof { input, eof: Arc::clone(&eof) };
    let handler = Handler::new(SessionGuard::new(Arc::clone(&session), closed_tx), Versions::All);
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MESSAGE_MAX);
    let served = tokio::select! {
        served = run(handler, transport) => served,
        () = input_closed(&eof) => Ok(()),
        () = end => Ok(()),
    };
    session.disconnect();
    drop(session);
    // All references to the session are dropped by now or about to be; only the cleanup of its calls remains.
    closed_rx.recv().await;
    served
}

async fn run<T>(handler: Handler, transport: T) -> io::Result<()>
where
    T: rmcp::transport::Transport<rmcp::RoleServer> + 'static,
{
    let running = match serve_server(handler, transport).await {
        Ok(running) => running,
        // A client that disconnects before `initialize` is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    drop(running.waiting().await);
    Ok(())
}

async fn input_closed(eof: &Notify) {
    eof.notified().await;
    tokio::time::sleep(DRAIN_TIMEOUT).await;
}

/// An input that notifies as soon as its end is read.
struct NotifyOnEof<R> {
    input: R,
    eof: Arc<Notify>,
}

impl<R: AsyncRead + Unpin> AsyncRead for NotifyOnEof<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.input).poll_read(context, buffer);
        if let Poll::Ready(outcome) = &read
            && (outcome.is_err() || (buffer.filled().len() == before && buffer.remaining() > 0))
        {
            this.eof.notify_one();
        }
        read
    }
}
