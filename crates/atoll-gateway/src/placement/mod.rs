//! Where agents run. A placement starts, finds, stops and connects to agents. [`Local`] is the only one so far: a
//! process on this machine per sandbox.
//!
//! A placement knows nothing of tokens, labels or idle timeouts, and keeps no state that could be lost with the
//! gateway.

mod dial;
mod local;
mod prewarmed;
mod process;

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use atoll_protocol::{ErrorBody, SandboxName, SandboxSpec};
use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) use dial::{DialError, PortStream};
pub use local::{Local, LocalOptions};

/// A boxed future.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connection to an agent, of any kind.
pub(crate) type AgentStream = Box<dyn Duplex>;

/// A bidirectional byte stream.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Debug + Send + Unpin {
    /// For downcasts to the concrete type.
    fn as_any(&self) -> &dyn Any;
}

impl<T: AsyncRead + AsyncWrite + Debug + Send + Unpin + 'static> Duplex for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// An agent, running or not. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agent {
    /// The pid, which identifies the process only together with its start time.
    pub(crate) pid: u32,
    /// The start time in clock ticks since boot.
    pub(crate) start: u64,
    /// The path of its socket.
    pub(crate) address: Arc<str>,
}

/// Why an agent did not start.
#[derive(Debug, Clone)]
pub(crate) enum StartError {
    /// The agent returned an API error.
    Refused(ErrorBody),
    /// It exited, or did not respond in time.
    Failed(String),
}

/// The pool of pre-warmed sandboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PoolStatus {
    /// Sandboxes that are ready.
    pub(crate) ready: usize,
    /// The configured size of the pool.
    pub(crate) wanted: usize,
}

/// An environment that runs agents.
pub(crate) trait Placement: Send + Sync + Debug {
    /// Starts to fill the pool of pre-warmed sandboxes, in the background.
    fn fill_pool(&self) {}

    /// Returns the state of the pool.
    fn pool(&self) -> PoolStatus {
        PoolStatus::default()
    }

    /// Removes the pre-warmed sandboxes. The next start of a sandbox, or `fill_pool`, fills the pool again.
    fn drain_pool<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Removes the pool for good.
    fn close<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Starts an agent for this sandbox over its existing files. Returns when the agent responds.
    fn start<'a>(&'a self, name: &'a SandboxName, spec: &'a SandboxSpec) -> BoxFuture<'a, Result<Agent, StartError>>;

    /// Returns the running agent of this sandbox, whichever gateway started it.
    fn find<'a>(&'a self, name: &'a SandboxName) -> BoxFuture<'a, Option<Agent>>;

    /// Stops an agent with everything in its sandbox. Returns when it has exited.
    fn stop<'a>(&'a self, agent: &'a Agent) -> BoxFuture<'a, io::Result<()>>;

    /// Returns when the agent has exited for any reason.
    fn gone(&self, agent: &Agent) -> BoxFuture<'static, ()>;

    /// Connects to an agent.
    fn connect<'a>(&'a self, agent: &'a Agent) -> BoxFuture<'a, io::Result<AgentStream>>;

    /// Connects to a port inside a sandbox. By default, the agent relays the bytes.
    fn dial<'a>(&'a self, agent: &'a Agent, port: u16) -> BoxFuture<'a, Result<PortStream, DialError>> {
        Box::pin(async move { dial::through(self.connect(agent).await?, port).await })
    }

    /// Removes all files of a sandbox that has no agent.
    fn remove<'a>(&'a self, name: &'a SandboxName) -> BoxFuture<'a, io::Result<()>>;
}
