//! The processes of one sandbox by id: who is there, who was, and for how long that is remembered.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use atoll_protocol::{ProcessId, ProcessState, SessionId};

use super::handle::Process;
use super::spec::ProcessSpec;
use crate::Error;

/// How much of ended processes is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// At most so many.
    pub count: usize,
    /// With at most so many bytes of output together.
    pub bytes: u64,
}

impl Default for Retention {
    /// Enough to look back on a day's work of an agent, little enough for a laptop's disk.
    fn default() -> Self {
        Self { count: 256, bytes: 8 * 1024 * 1024 * 1024 }
    }
}

/// Which processes are meant.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those in this state.
    pub state: Option<ProcessState>,
    /// Only those of this session: its commands, and what was started from it.
    pub session: Option<SessionId>,
    /// Only those that have all of these labels.
    pub labels: BTreeMap<String, String>,
}

/// The table. Locked for moments, never across a wait; a line of the journal is written under it, so that an id is free
/// again only when nothing is remembered of it.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    table: Mutex<Table>,
    retention: Retention,
}

#[derive(Debug, Default)]
struct Table {
    processes: HashMap<ProcessId, Process>,
    /// In order of arrival, oldest first.
    order: Vec<ProcessId>,
}

/// What a start found.
pub(crate) enum Reserved {
    /// The id is yours.
    New,
    /// The same command has it already.
    Existing(Process),
}

impl Registry {
    pub(crate) fn new(retention: Retention) -> Self {
        Self { table: Mutex::default(), retention }
    }

    /// Puts a process in, unless its id is taken: of two at once exactly one is new.
    pub(crate) fn reserve(&self, process: &Process, spec: &ProcessSpec) -> Result<Reserved, Error> {
        let mut table = self.table();
        let id = process.id();
        match table.processes.get(id) {
            Some(existing) if existing.is_what(spec) => Ok(Reserved::Existing(existing.clone())),
            Some(_) => Err(Error::ProcessAlreadyExists { id: id.to_string() }),
            None => {
                table.processes.insert(id.clone(), process.clone());
                table.order.push(id.clone());
                Ok(Reserved::New)
            }
        }
    }

    /// Puts one in that an earlier life of the sandbox has ended.
    pub(crate) fn restore(&self, process: Process) {
        let mut table = self.table();
        let id = process.id().clone();
        if table.processes.insert(id.clone(), process).is_none() {
            table.order.push(id);
        }
    }

    pub(crate) fn get(&self, id: &ProcessId) -> Result<Process, Error> {
        self.table().processes.get(id).cloned().ok_or_else(|| Error::ProcessNotFound { id: id.to_string() })
    }

    pub(crate) fn list(&self, filter: &Filter) -> Vec<Process> {
        let table = self.table();
        let all = table.order.iter().filter_map(|id| table.processes.get(id));
        all.filter(|process| matches(process, filter)).cloned().collect()
    }

    /// Takes an ended process out.
    pub(crate) fn remove(&self, id: &ProcessId) -> Result<(), Error> {
        let mut table = self.table();
        match table.processes.get(id).map(Process::state) {
            None => Err(Error::ProcessNotFound { id: id.to_string() }),
            Some(ProcessState::Ended) => {
                table.forget(id);
                Ok(())
            }
            Some(_) => Err(Error::ProcessRunning { id: id.to_string() }),
        }
    }

    /// Takes out one that never came to be, or whose answer told everything.
    pub(crate) fn discard(&self, id: &ProcessId) {
        self.table().forget(id);
    }

    /// Forgets the oldest ended ones beyond what is to be remembered.
    pub(crate) fn prune(&self) {
        let mut table = self.table();
        let ended: Vec<(ProcessId, u64)> = table
            .order
            .iter()
            .filter_map(|id| table.processes.get(id))
            .filter(|process| process.state() == ProcessState::Ended)
            .map(|process| (process.id().clone(), process.log().end()))
            .collect();
        let mut count = ended.len();
        let mut bytes: u64 = ended.iter().map(|(_, size)| size).sum();
        for (id, size) in ended {
            if count <= self.retention.count && bytes <= self.retention.bytes {
                break;
            }
            table.forget(&id);
            count -= 1;
            bytes -= size;
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn forget(&mut self, id: &ProcessId) {
        if let Some(process) = self.processes.remove(id) {
            process.forget();
        }
        self.order.retain(|other| other != id);
    }
}

fn matches(process: &Process, filter: &Filter) -> bool {
    let state = filter.state.is_none_or(|state| process.state() == state);
    let session = filter.session.is_none() || filter.session == process.spec().session;
    let labels = &process.spec().labels;
    state && session && filter.labels.iter().all(|(name, value)| labels.get(name) == Some(value))
}
