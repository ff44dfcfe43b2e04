//! Messages between a server and a pre-warmed agent, one line of JSON each: orders on the agent's standard input,
//! answers on its standard output. If its input closes before it serves, the agent exits and cleans up.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::SandboxSpec;

/// An order from the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpareOrder {
    /// Prepare a sandbox. Answered with [`SparePrepared`].
    Prepare {
        /// Create everything of a default sandbox except its name, with its files in this directory. The directory may
        /// be moved before the sandbox is served.
        storage: Option<PathBuf>,
    },
    /// Create the sandbox, or finish the prepared one, and serve it. Answered with [`AgentReady`] or an error. Sent
    /// once, as the last order.
    Serve {
        /// Options of the sandbox.
        spec: Box<SandboxSpec>,
        /// Directory of the sandbox, which contains the agent's socket, its log, and the sandbox's files.
        dir: PathBuf,
        /// Finish the prepared sandbox: its files are in the directory now.
        prepared: bool,
    },
}

/// Answer of an agent that waits for its sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparePrepared {
    /// Whether the sandbox was prepared; if not, the agent can still serve one.
    pub prepared: bool,
}

/// Answer of an agent that serves its sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReady {
    /// Always true.
    pub ready: bool,
    /// Name of the sandbox.
    pub name: String,
    /// Pid of the agent.
    pub pid: u32,
    /// Unix socket on which it listens for its own user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// TCP address on which it listens for clients with a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<std::net::SocketAddr>,
}
