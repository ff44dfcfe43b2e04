//! What a server and an agent that it started ahead of its time say to each other, a line of JSON each: orders on the
//! agent's standard input, answers on its standard output. An agent whose input ends before it serves ends too, and
//! leaves nothing.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::SandboxSpec;

/// From the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpareOrder {
    /// Get ready. Answered with [`SparePrepared`].
    Prepare {
        /// Make all of a plain sandbox but its name, with its files here. It may be moved before it is served.
        storage: Option<PathBuf>,
    },
    /// Make the sandbox, or finish the one that was prepared, and serve it. Answered with [`AgentReady`], or with what
    /// went wrong. Comes once, and is the last.
    Serve {
        /// What it should be.
        spec: Box<SandboxSpec>,
        /// The sandbox's directory: the agent's socket, its log, and the sandbox's files are in it.
        dir: PathBuf,
        /// Finish what was prepared: its files are in the directory now.
        prepared: bool,
    },
}

/// From an agent that waits for its sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparePrepared {
    /// Whether there is what was asked for; if not, it can serve all the same.
    pub prepared: bool,
}

/// From an agent that serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReady {
    /// Always.
    pub ready: bool,
    /// The sandbox's name.
    pub name: String,
    /// The agent's own pid.
    pub pid: u32,
    /// Where it listens for its own user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// Where it listens for those who know the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<std::net::SocketAddr>,
}
