//! What a terminal should be.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use atoll_protocol::{TerminalId, WindowSize};

use crate::command::{Command, Invocation};

/// What programs are told that their terminal can do, if not told otherwise.
const TERM: &str = "xterm-256color";

/// A terminal to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalSpec {
    /// Chosen by the client, so that opening it again finds the one that is there; else made up.
    pub id: Option<TerminalId>,
    /// What to run in it.
    pub invocation: Invocation,
    /// Working directory; relative ones are below the default.
    pub cwd: Option<PathBuf>,
    /// Changes to the default environment; `None` unsets.
    pub env: BTreeMap<OsString, Option<OsString>>,
    /// User inside: a name, an id, or either with `:group`.
    pub user: Option<String>,
    /// How large it is at first.
    pub size: WindowSize,
    /// The variable `TERM`, unless `env` has one.
    pub term: OsString,
}

impl Default for TerminalSpec {
    /// The interactive shell in 80 columns and 24 rows.
    fn default() -> Self {
        Self::new(Invocation::Interactive)
    }
}

impl TerminalSpec {
    /// With every option at its default.
    pub fn new(invocation: Invocation) -> Self {
        Self {
            id: None,
            invocation,
            cwd: None,
            env: BTreeMap::new(),
            user: None,
            size: WindowSize::default(),
            term: TERM.into(),
        }
    }

    /// Whether two specs ask for the same program. Size and `TERM` are the viewer's matter.
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        self.invocation == other.invocation && self.cwd == other.cwd && self.env == other.env && self.user == other.user
    }

    /// The command that it comes down to.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.invocation.clone());
        command.cwd.clone_from(&self.cwd);
        command.user.clone_from(&self.user);
        command.env.insert("TERM".into(), Some(self.term.clone()));
        command.env.extend(self.env.clone());
        command
    }
}
