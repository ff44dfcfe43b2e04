//! One client over a pair of pipes: the client is whoever started us, and gone when its end of them is closed.

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

use crate::guest::{Guest, Place, Stay};
use crate::handler::{Handler, Memory};

/// What still runs so long after the last message was read is ended. Not at once: a script may write its requests, close
/// the pipe, and read the answers.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Bytes of one message: as much as the server takes of JSON.
const MESSAGE_MAX: usize = 16 * 1024 * 1024;

/// Serves one client until its end, or until `end`. What it ran in the foreground ends with it; its sandbox, too, if it
/// was made for it.
///
/// # Errors
/// The pipes broke before the client had said who it is.
pub async fn serve(
    server: Client,
    place: Place,
    options: CreateSandbox,
    (input, output): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let guest = Guest::new(server, place, options).map_err(|trouble| io::Error::other(format!("{trouble:?}")))?;
    let guest = Arc::new(guest);
    let (held, mut left) = mpsc::channel(1);
    let closed = Arc::new(Notify::new());
    let input = Watched { input, closed: Arc::clone(&closed) };
    let handler = Handler::new(Stay::new(Arc::clone(&guest), held), Memory::Certain);
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MESSAGE_MAX);
    let served = tokio::select! {
        served = speak(handler, transport) => served,
        () = gone(&closed) => Ok(()),
        () = end => Ok(()),
    };
    guest.leave();
    drop(guest);
    // Everything of the client has been let go of by now, or is about to be: nothing follows but the end of its calls.
    left.recv().await;
    served
}

async fn speak<T>(handler: Handler, transport: T) -> io::Result<()>
where
    T: rmcp::transport::Transport<rmcp::RoleServer> + 'static,
{
    let running = match serve_server(handler, transport).await {
        Ok(running) => running,
        // A client that goes before it has begun is no failure.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    drop(running.waiting().await);
    Ok(())
}

async fn gone(closed: &Notify) {
    closed.notified().await;
    tokio::time::sleep(LAST_ANSWERS).await;
}

/// Input whose end is told as soon as it is read.
struct Watched<R> {
    input: R,
    closed: Arc<Notify>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.input).poll_read(context, buffer);
        if let Poll::Ready(outcome) = &read
            && (outcome.is_err() || (buffer.filled().len() == before && buffer.remaining() > 0))
        {
            this.closed.notify_one();
        }
        read
    }
}
