//! Where agents live. The gateway needs four things of a place: start an agent, find those that live, end one, reach
//! one. [`Local`] is the only place so far: a process of this machine for each sandbox.
//!
//! A placement knows nothing of tokens, labels or idle clocks, and keeps nothing in memory that could be lost with the
//! gateway.

mod dial;
mod local;
mod process;
mod spare;

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use atoll_protocol::{ErrorBody, SandboxName, SandboxSpec};
use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) use dial::{DialError, Inside};
pub use local::{Local, LocalOptions};

/// What a placement promises.
pub(crate) type Promise<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connection to an agent, whatever it is made of.
pub(crate) type Wire = Box<dyn Duplex>;

/// Bytes both ways.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Debug + Send + Unpin {
    /// To look at what it is.
    fn as_any(&self) -> &dyn Any;
}

impl<T: AsyncRead + AsyncWrite + Debug + Send + Unpin + 'static> Duplex for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A living agent, or one that lived. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agent {
    /// Its pid, which means it only together with when it was started.
    pub(crate) pid: u32,
    /// When it was started, in the kernel's count.
    pub(crate) start: u64,
    /// How it is reached.
    pub(crate) address: Arc<str>,
}

/// Why there is no agent.
#[derive(Debug, Clone)]
pub(crate) enum StartError {
    /// It said so itself, in the one error shape.
    Refused(ErrorBody),
    /// It ended, or said nothing in time.
    Failed(String),
}

/// Sandboxes that are made before anybody asks for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Pool {
    /// How many there are.
    pub(crate) waiting: usize,
    /// How many there should be.
    pub(crate) wanted: usize,
}

/// A place for agents.
pub(crate) trait Placement: Send + Sync + Debug {
    /// Does ahead what can be done before anybody asks for a sandbox. Does not wait for it.
    fn get_ready(&self) {}

    /// What was done ahead.
    fn pool(&self) -> Pool {
        Pool::default()
    }

    /// Ends the sandboxes that nobody has asked for yet. It is done ahead again with the next start, or when asked for.
    fn let_go<'a>(&'a self) -> Promise<'a, ()> {
        Box::pin(async {})
    }

    /// Ends what was done ahead and is not needed; nothing is done ahead from here on.
    fn close<'a>(&'a self) -> Promise<'a, ()> {
        Box::pin(async {})
    }

    /// Starts an agent that makes this sandbox over the files that it has; returns when it answers.
    fn start<'a>(&'a self, name: &'a SandboxName, spec: &'a SandboxSpec) -> Promise<'a, Result<Agent, StartError>>;

    /// The agent of this sandbox, if one lives, whoever started it.
    fn find<'a>(&'a self, name: &'a SandboxName) -> Promise<'a, Option<Agent>>;

    /// Ends an agent with everything in its sandbox; returns when it is gone.
    fn stop<'a>(&'a self, agent: &'a Agent) -> Promise<'a, io::Result<()>>;

    /// Returns when the agent is gone, however that came about.
    fn gone(&self, agent: &Agent) -> Promise<'static, ()>;

    /// Connects to an agent.
    fn connect<'a>(&'a self, agent: &'a Agent) -> Promise<'a, io::Result<Wire>>;

    /// Connects to a port inside a sandbox. Where the connection itself cannot be had, its agent carries the bytes.
    fn dial<'a>(&'a self, agent: &'a Agent, port: u16) -> Promise<'a, Result<Inside, DialError>> {
        Box::pin(async move { dial::through(self.connect(agent).await?, port).await })
    }

    /// Removes everything of a sandbox that has no agent.
    fn remove<'a>(&'a self, name: &'a SandboxName) -> Promise<'a, io::Result<()>>;
}
