//! One MCP client and its sandbox: an existing one that the client named, or its own, which is removed when it
//! disconnects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use atoll_client::Client;
use atoll_protocol::{CreateSandbox, ErrorCode, SandboxName};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, watch};

use crate::error::ToolError;

/// Maximum number of concurrent calls of one client. A model makes a handful; more is a mistake, and each may hold a
/// command.
const CALLS_MAX: u32 = 64;

/// Label of sandboxes that were created for a client and are removed with it.
pub(crate) const LABEL: &str = "atoll.mcp";

/// A sandbox that was created for a client is stopped after this time without use, and the next call starts it again.
/// If this process is killed, the leftover sandbox costs nothing but disk space.
const SLEEP_AFTER_MS: u64 = 10 * 60 * 1000;

/// How long disconnecting waits for the last calls to kill their commands.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(8);

/// Which sandbox a client works in.
#[derive(Debug, Clone)]
pub enum SandboxTarget {
    /// This one, which persists. It is created if it does not exist.
    Named(SandboxName),
    /// The client's own, which is removed when the client disconnects.
    Own,
}

/// One MCP client and its sandbox.
#[derive(Debug)]
pub(crate) struct ClientSession {
    server: Client,
    name: SandboxName,
    is_own: bool,
    /// Options of the sandbox, if it has to be created.
    options: CreateSandbox,
    /// Client of the sandbox, once the sandbox is known to exist.
    sandbox: OnceCell<Client>,
    disconnected: watch::Sender<bool>,
    calls: Arc<Semaphore>,
}

impl ClientSession {
    /// Creates a session. Sends no request to the server: that is left to the first call.
    pub(crate) fn new(server: Client, target: SandboxTarget, options: CreateSandbox) -> Result<Self, ToolError> {
        let (name, is_own) = match target {
            SandboxTarget::Named(name) => (name, false),
            SandboxTarget::Own => (generate_name()?, true),
        };
        let (disconnected, calls) = (watch::Sender::new(false), Arc::new(Semaphore::new(CALLS_MAX as usize)));
        Ok(Self { server, name, is_own, options, sandbox: OnceCell::new(), disconnected, calls })
    }

    pub(crate) fn server(&self) -> &Client {
        &self.server
    }

    pub(crate) fn name(&self) -> &SandboxName {
        &self.name
    }

    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }

    /// Reserves one of the concurrent calls. The permit releases it when dropped.
    pub(crate) fn begin_call(&self) -> Result<OwnedSemaphorePermit, ToolError> {
        Arc::clone(&self.calls).try_acquire_owned().map_err(|_| {
            let message = format!("{CALLS_MAX} calls of this client are running, or it has disconnected");
            ToolError::new(ErrorCode::TooManyConnections, message).hint("wait until one of them has finished")
        })
    }

    /// Returns a client of the sandbox. The first call creates the sandbox.
    pub(crate) async fn sandbox(&self) -> Result<Client, ToolError> {
        self.sandbox.get_or_try_init(async || self.find_or_create().await).await.cloned()
    }

    async fn find_or_create(&self) -> Result<Client, ToolError> {
        let found = if self.is_own { None } else { Some(self.server.find_sandbox(&self.name).await) };
        match found {
            Some(Ok(_)) => {}
            // A token may allow `exec` but not `read`.
            Some(Err(error)) if error.code() == Some(ErrorCode::Forbidden) => {}
            Some(Err(error)) if error.code() != Some(ErrorCode::SandboxNotFound) => return Err(error.into()),
            Some(Err(_)) | None => self.create().await?,
        }
        Ok(self.server.inside(&self.name))
    }

    async fn create(&self) -> Result<(), ToolError> {
        let mut request = CreateSandbox { name: Some(self.name.clone()), ..self.options.clone() };
        if self.is_own {
            request.labels = Some(BTreeMap::from([(LABEL.to_owned(), "own".to_owned())]));
            request.sleep_after_ms = Some(SLEEP_AFTER_MS);
        }
        match self.server.create_sandbox(&request).await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(ErrorCode::Forbidden) => Err(ToolError::from(error)
                .hint(
                "this token cannot create sandboxes: ask the user to name one that it can use (--sandbox, or the header \
                 Atoll-Sandbox)",
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// Marks the client as disconnected, which cancels its calls and kills their commands.
    pub(crate) fn disconnect(&self) {
        self.disconnected.send_replace(true);
    }

    /// Returns when the client has disconnected.
    pub(crate) async fn disconnected(&self) {
        // Cannot fail: `self` owns the sender.
        drop(self.disconnected.subscribe().wait_for(|disconnected| *disconnected).await);
    }

    /// Removes the client's own sandbox with everything in it. In a named sandbox, waits until the client's calls have
    /// killed their commands.
    pub(crate) async fn close(&self) {
        self.disconnect();
        if self.is_own && self.sandbox.initialized() {
            if let Err(error) = self.server.remove_sandbox(&self.name).await {
                tracing::warn!(sandbox = %self.name, %error, "cannot remove the sandbox of a disconnected client");
            }
        } else {
            drop(tokio::time::timeout(CLEANUP_TIMEOUT, self.calls.acquire_many(CALLS_MAX)).await);
        }
        self.calls.close();
    }
}

/// A guard that closes the session when it is dropped.
#[derive(Debug)]
pub(crate) struct SessionGuard {
    session: Arc<ClientSession>,
    /// Dropped when the session is closed, so that the server can wait for it.
    closed_tx: Option<tokio::sync::mpsc::Sender<()>>,
}

impl SessionGuard {
    pub(crate) fn new(session: Arc<ClientSession>, closed_tx: tokio::sync::mpsc::Sender<()>) -> Self {
        Self { session, closed_tx: Some(closed_tx) }
    }

    pub(crate) fn session(&self) -> &Arc<ClientSession> {
        &self.session
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        let (session, closed_tx) = (Arc::clone(&self.session), self.closed_tx.take());
        session.disconnect();
        // Without a runtime the server has exited, and no request can be sent.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                session.close().await;
                drop(closed_tx);
            });
        }
    }
}

fn generate_name() -> Result<SandboxName, ToolError> {
    let internal = |what: String| ToolError::new(ErrorCode::Internal, what);
    let mut random = [0; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| internal(format!("cannot generate a sandbox name: {error}")))?;
    SandboxName::new(format!("mcp-{:016x}", u64::from_ne_bytes(random))).map_err(|error| internal(error.to_string()))
}
