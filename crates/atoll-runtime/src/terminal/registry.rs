//! The terminals of one sandbox: an id has one program at a time, and nothing that lives is forgotten.

use std::sync::{Mutex, MutexGuard, PoisonError};

use atoll_protocol::{ProcessState, TerminalId};

use super::handle::Terminal;
use crate::Error;

/// Ended terminals that are remembered, so that late viewers still learn how they ended.
const ENDED_MAX: usize = 64;

/// The table, oldest first. Locked for moments, never across a wait.
///
/// An id can be there twice: its program is over but something that it started lives on, and a new one has been opened.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    terminals: Mutex<Vec<Terminal>>,
}

/// What opening found.
#[derive(Debug)]
pub(crate) enum Reserved {
    /// The id is yours.
    New,
    /// The same program has it already.
    Existing(Terminal),
}

impl Registry {
    /// Puts a terminal in, unless its id has one that lives: of two at once exactly one is new.
    pub(crate) fn reserve(&self, terminal: &Terminal) -> Result<Reserved, Error> {
        let mut table = self.table();
        let id = terminal.id();
        if let Some(existing) = newest(&table, id).filter(|existing| existing.end().is_none()) {
            if existing.spec().same_as(terminal.spec()) {
                return Ok(Reserved::Existing(existing.clone()));
            }
            return Err(Error::TerminalAlreadyExists { id: id.to_string() });
        }
        forget(&mut table, |other| other.id() == id && other.state() == ProcessState::Ended);
        table.push(terminal.clone());
        Ok(Reserved::New)
    }

    /// Puts one in that an earlier life of the sandbox has ended.
    pub(crate) fn restore(&self, terminal: Terminal) {
        self.table().push(terminal);
    }

    /// The newest with this id.
    pub(crate) fn get(&self, id: &TerminalId) -> Result<Terminal, Error> {
        newest(&self.table(), id).cloned().ok_or_else(|| Error::TerminalNotFound { id: id.to_string() })
    }

    /// All with this id.
    pub(crate) fn all_of(&self, id: &TerminalId) -> Vec<Terminal> {
        self.table().iter().filter(|terminal| terminal.id() == id).cloned().collect()
    }

    pub(crate) fn list(&self) -> Vec<Terminal> {
        self.table().clone()
    }

    /// Takes one out.
    pub(crate) fn discard(&self, terminal: &Terminal) {
        forget(&mut self.table(), |other| other.is(terminal));
    }

    /// Forgets the oldest ended ones beyond what is to be remembered.
    pub(crate) fn prune(&self) {
        let mut table = self.table();
        let ended = |terminal: &Terminal| terminal.state() == ProcessState::Ended;
        let mut beyond = table.iter().filter(|terminal| ended(terminal)).count().saturating_sub(ENDED_MAX);
        forget(&mut table, |terminal| {
            let goes = beyond > 0 && ended(terminal);
            beyond -= usize::from(goes);
            goes
        });
    }

    fn table(&self) -> MutexGuard<'_, Vec<Terminal>> {
        self.terminals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes out those that go, and what is remembered of them.
fn forget(table: &mut Vec<Terminal>, mut goes: impl FnMut(&Terminal) -> bool) {
    table.retain(|terminal| {
        let goes = goes(terminal);
        if goes {
            terminal.process().forget();
        }
        !goes
    });
}

fn newest<'a>(table: &'a [Terminal], id: &TerminalId) -> Option<&'a Terminal> {
    table.iter().rfind(|terminal| terminal.id() == id)
}
