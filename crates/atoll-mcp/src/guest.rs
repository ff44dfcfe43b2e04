//! A client of ours, and the sandbox that it works in: one that it named, or one of its own that goes when it goes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use atoll_client::Client;
use atoll_protocol::{CreateSandbox, ErrorCode, SandboxName};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, watch};

use crate::trouble::Trouble;

/// Calls of one client at once. A model makes a handful; more is a mistake, and each may hold a command.
const CALLS_MAX: u32 = 64;

/// The label of a sandbox that was made for a client and is to go with it.
pub(crate) const LABEL: &str = "atoll.mcp";

/// A sandbox that was made for a client sleeps when nothing was done in it for so long. It is woken by the next call; and
/// should this program be killed, what it leaves costs nothing but its files.
const SLEEP_AFTER_MS: u64 = 10 * 60 * 1000;

/// How long the last calls may take to end what they ran.
const ENDED_WITHIN: Duration = Duration::from_secs(8);

/// Which sandbox a client works in.
#[derive(Debug, Clone)]
pub enum Place {
    /// This one, which stays. It is made if it is not there.
    Named(SandboxName),
    /// One of its own, which goes with it.
    Own,
}

/// A client.
#[derive(Debug)]
pub(crate) struct Guest {
    server: Client,
    name: SandboxName,
    is_own: bool,
    /// How the sandbox is made, if it is made.
    options: CreateSandbox,
    /// What is inside, once it is known to be there.
    inside: OnceCell<Client>,
    gone: watch::Sender<bool>,
    calls: Arc<Semaphore>,
}

impl Guest {
    /// Nothing is asked of the server before the first call.
    pub(crate) fn new(server: Client, place: Place, options: CreateSandbox) -> Result<Self, Trouble> {
        let (name, is_own) = match place {
            Place::Named(name) => (name, false),
            Place::Own => (made_up()?, true),
        };
        let (gone, calls) = (watch::Sender::new(false), Arc::new(Semaphore::new(CALLS_MAX as usize)));
        Ok(Self { server, name, is_own, options, inside: OnceCell::new(), gone, calls })
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

    /// A place for one more call; it is given back when the permit is dropped.
    pub(crate) fn begin(&self) -> Result<OwnedSemaphorePermit, Trouble> {
        Arc::clone(&self.calls).try_acquire_owned().map_err(|_| {
            let message = format!("{CALLS_MAX} calls of this client are under way, or it has left");
            Trouble::new(ErrorCode::TooManyConnections, message).hint("wait for one of them to end")
        })
    }

    /// What is inside its sandbox, which is made by the first call.
    pub(crate) async fn inside(&self) -> Result<Client, Trouble> {
        self.inside.get_or_try_init(async || self.made().await).await.cloned()
    }

    async fn made(&self) -> Result<Client, Trouble> {
        let found = if self.is_own { None } else { Some(self.server.find_sandbox(&self.name).await) };
        match found {
            Some(Ok(_)) => {}
            // A token may be good for using a sandbox and not for looking at it.
            Some(Err(error)) if error.code() == Some(ErrorCode::Forbidden) => {}
            Some(Err(error)) if error.code() != Some(ErrorCode::SandboxNotFound) => return Err(error.into()),
            Some(Err(_)) | None => self.make().await?,
        }
        Ok(self.server.inside(&self.name))
    }

    async fn make(&self) -> Result<(), Trouble> {
        let mut asked = CreateSandbox { name: Some(self.name.clone()), ..self.options.clone() };
        if self.is_own {
            asked.labels = Some(BTreeMap::from([(LABEL.to_owned(), "own".to_owned())]));
            asked.sleep_after_ms = Some(SLEEP_AFTER_MS);
        }
        match self.server.create_sandbox(&asked).await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(ErrorCode::Forbidden) => Err(Trouble::from(error)
                .hint("this token may not make sandboxes: the user should name one that it may use (--sandbox, or the header Atoll-Sandbox)")),
            Err(error) => Err(error.into()),
        }
    }

    /// The client is gone: whatever it waits for ends, with what that ran.
    pub(crate) fn leave(&self) {
        self.gone.send_replace(true);
    }

    /// Returns when the client is gone.
    pub(crate) async fn gone(&self) {
        // The sender is ours, so it cannot be gone.
        drop(self.gone.subscribe().wait_for(|gone| *gone).await);
    }

    /// Removes the sandbox if it goes with the client, and with it all that runs there; else ends what the client ran.
    pub(crate) async fn clear(&self) {
        self.leave();
        if self.is_own && self.inside.initialized() {
            if let Err(error) = self.server.remove_sandbox(&self.name).await {
                tracing::warn!(sandbox = %self.name, %error, "a client's own sandbox cannot be removed");
            }
        } else {
            drop(tokio::time::timeout(ENDED_WITHIN, self.calls.acquire_many(CALLS_MAX)).await);
        }
        self.calls.close();
    }
}

/// A client of which nobody knows any more: removes its sandbox, if it goes with it.
#[derive(Debug)]
pub(crate) struct Stay {
    guest: Arc<Guest>,
    /// Held until everything is gone, so that somebody can wait for it.
    held: Option<tokio::sync::mpsc::Sender<()>>,
}

impl Stay {
    pub(crate) fn new(guest: Arc<Guest>, held: tokio::sync::mpsc::Sender<()>) -> Self {
        Self { guest, held: Some(held) }
    }

    pub(crate) fn guest(&self) -> &Arc<Guest> {
        &self.guest
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let (guest, held) = (Arc::clone(&self.guest), self.held.take());
        guest.leave();
        // Without a runtime the server has ended, and nothing can be asked of it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                guest.clear().await;
                drop(held);
            });
        }
    }
}

fn made_up() -> Result<SandboxName, Trouble> {
    let internal = |what: String| Trouble::new(ErrorCode::Internal, what);
    let mut random = [0; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| internal(format!("cannot make up a name: {error}")))?;
    SandboxName::new(format!("mcp-{:016x}", u64::from_ne_bytes(random))).map_err(|error| internal(error.to_string()))
}
