//! What a journal tells, one entry at a time. Owns the words; must not know files, nor what becomes of them.
//!
//! An entry says what happened, never what is: what is follows from all of them in order (`past`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use atoll_protocol::{EndRecord, ProcessId, Resized, SessionId, Timestamp, WindowSize};
use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use crate::session::SessionSpec;

/// Names one thing in a journal, and its files. Never used again over the same storage.
pub(crate) type Number = u64;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A command is about to be run.
    Began { number: Number, began: Began },
    /// It runs again.
    Restarted { number: Number, restarts: u32, at: Timestamp },
    /// A terminal's window changed.
    Resized { number: Number, change: Resized },
    /// A command is over.
    Ended { number: Number, ended: EndedEntry },
    /// A session was made.
    Session { number: Number, made: Made },
    /// Its shell has ended.
    Died { number: Number, end: EndRecord },
    /// It was brought back.
    Revived { number: Number },
    /// Nothing of it is to be remembered.
    Forgotten { number: Number },
    /// The sandbox was stopped in good order; what has no end by now ended so.
    Stopped { at: Timestamp },
}

/// A command as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Began {
    pub(crate) id: ProcessId,
    pub(crate) command: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) session: Option<SessionId>,
    /// Of all that was asked for: variables may be secrets, so their values are not written down.
    pub(crate) fingerprint: Fingerprint,
    pub(crate) at: Timestamp,
    /// If it is a terminal's.
    pub(crate) terminal: Option<TerminalMade>,
}

/// What is remembered of how a terminal was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TerminalMade {
    pub(crate) size: WindowSize,
    pub(crate) term: String,
}

/// How a command ended, and how long its log was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndedEntry {
    pub(crate) end: EndRecord,
    /// Where the log stood when its main process was over.
    pub(crate) cursor: u64,
    pub(crate) session_reset: bool,
    pub(crate) log_end: u64,
    pub(crate) log_stdout: u64,
}

/// A session as it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Made {
    pub(crate) id: SessionId,
    pub(crate) at: Timestamp,
    cwd: Option<PathBuf>,
    env: Vec<(OsString, Option<OsString>)>,
    user: Option<String>,
    timeout: Option<Duration>,
    options: Vec<String>,
}

impl Made {
    pub(crate) fn new(id: SessionId, at: Timestamp, spec: &SessionSpec) -> Self {
        let SessionSpec { id: _, cwd, env, user, timeout, options } = spec.clone();
        Self { id, at, cwd, env: env.into_iter().collect(), user, timeout, options }
    }

    pub(crate) fn spec(&self) -> SessionSpec {
        let Self { id, at: _, cwd, env, user, timeout, options } = self.clone();
        SessionSpec { id: Some(id), cwd, env: env.into_iter().collect(), user, timeout, options }
    }
}
