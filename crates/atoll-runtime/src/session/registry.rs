//! The sessions of one sandbox by id.

use std::sync::{Mutex, MutexGuard, PoisonError};

use atoll_protocol::SessionId;

use super::budget::Budget;
use super::handle::Session;
use crate::Error;

/// Sessions that a sandbox can have at once: each is a bash.
const SESSIONS_MAX: usize = 1024;

/// The table, oldest first. Locked for moments, never across a wait.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    table: Mutex<Table>,
    budget: Budget,
}

#[derive(Debug, Default)]
struct Table {
    sessions: Vec<Session>,
    /// Ids whose shells are just being started.
    reserved: Vec<SessionId>,
}

impl Registry {
    /// Takes an id, so that of two who want it at once exactly one gets it.
    pub(crate) fn reserve(&self, id: &SessionId) -> Result<Reservation<'_>, Error> {
        let mut table = self.table();
        let taken = table.reserved.contains(id) || table.sessions.iter().any(|session| session.id() == id);
        if taken {
            return Err(Error::SessionAlreadyExists { id: id.to_string() });
        }
        if table.sessions.len() + table.reserved.len() >= SESSIONS_MAX {
            return Err(Error::SessionLimit { max: SESSIONS_MAX });
        }
        table.reserved.push(id.clone());
        Ok(Reservation { registry: self, id: id.clone() })
    }

    /// Puts one in that an earlier life of the sandbox has left.
    pub(crate) fn restore(&self, session: Session) {
        self.table().sessions.push(session);
    }

    pub(crate) fn get(&self, id: &SessionId) -> Result<Session, Error> {
        let table = self.table();
        let found = table.sessions.iter().find(|session| session.id() == id).cloned();
        found.ok_or_else(|| Error::SessionNotFound { id: id.to_string() })
    }

    pub(crate) fn list(&self) -> Vec<Session> {
        self.table().sessions.clone()
    }

    /// Whether there is none, and none on its way.
    pub(crate) fn is_empty(&self) -> bool {
        let table = self.table();
        table.sessions.is_empty() && table.reserved.is_empty()
    }

    /// What snapshots may take in memory.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(crate) fn forget(&self, id: &SessionId) {
        self.table().sessions.retain(|session| session.id() != id);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An id that nobody else can take while this lives.
#[derive(Debug)]
pub(crate) struct Reservation<'a> {
    registry: &'a Registry,
    id: SessionId,
}

impl Reservation<'_> {
    /// The session is there.
    pub(crate) fn fill(self, session: Session) {
        self.registry.table().sessions.push(session);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.registry.table().reserved.retain(|id| *id != self.id);
    }
}
