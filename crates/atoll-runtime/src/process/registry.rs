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
    processes: HashMap<ProcessId, Entry>,
    /// In order of arrival, oldest first.
    order: BTreeMap<u64, ProcessId>,
    arrived: u64,
    /// How many have ended, and how much they have printed.
    ended: usize,
    ended_bytes: u64,
}

#[derive(Debug)]
struct Entry {
    process: Process,
    place: u64,
    /// What it printed, once it has ended.
    printed: Option<u64>,
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
        match table.processes.get(id).map(|entry| &entry.process) {
            Some(existing) if existing.is_what(spec) => Ok(Reserved::Existing(existing.clone())),
            Some(_) => Err(Error::ProcessAlreadyExists { id: id.to_string() }),
            None => {
                table.arrive(process.clone());
                Ok(Reserved::New)
            }
        }
    }

    /// Puts one in that an earlier life of the sandbox has ended; of two with one id, the later one.
    pub(crate) fn restore(&self, process: Process) {
        let mut table = self.table();
        let id = process.id().clone();
        table.arrive(process);
        table.end(&id);
        table.prune(self.retention);
    }

    pub(crate) fn get(&self, id: &ProcessId) -> Result<Process, Error> {
        let table = self.table();
        let entry = table.processes.get(id).ok_or_else(|| Error::ProcessNotFound { id: id.to_string() })?;
        Ok(entry.process.clone())
    }

    pub(crate) fn list(&self, filter: &Filter) -> Vec<Process> {
        let table = self.table();
        let all = table.order.values().filter_map(|id| Some(&table.processes.get(id)?.process));
        all.filter(|process| matches(process, filter)).cloned().collect()
    }

    /// Takes an ended process out.
    pub(crate) fn remove(&self, id: &ProcessId) -> Result<(), Error> {
        let mut table = self.table();
        match table.processes.get(id).map(|entry| entry.process.state()) {
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

    /// One has ended. Forgets the oldest ended ones beyond what is to be remembered.
    pub(crate) fn ended(&self, id: &ProcessId) {
        let mut table = self.table();
        table.end(id);
        table.prune(self.retention);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// In the place of the one that has its id, if there is one.
    fn arrive(&mut self, process: Process) {
        self.arrived += 1;
        let (id, place) = (process.id().clone(), self.arrived);
        self.order.insert(place, id.clone());
        let replaced = self.processes.insert(id, Entry { process, place, printed: None });
        if let Some(entry) = replaced {
            self.leave(&entry);
        }
    }

    fn leave(&mut self, entry: &Entry) {
        self.order.remove(&entry.place);
        self.ended -= usize::from(entry.printed.is_some());
        self.ended_bytes -= entry.printed.unwrap_or(0);
    }

    /// Counts it among the ended ones, if it is there, has ended, and is not counted yet.
    fn end(&mut self, id: &ProcessId) {
        let entry = self.processes.get_mut(id).filter(|entry| entry.printed.is_none());
        if let Some(entry) = entry.filter(|entry| entry.process.state() == ProcessState::Ended) {
            let printed = entry.process.log().end();
            entry.printed = Some(printed);
            self.ended += 1;
            self.ended_bytes += printed;
        }
    }

    fn prune(&mut self, retention: Retention) {
        while self.ended > retention.count || self.ended_bytes > retention.bytes {
            let is_ended = |id: &&ProcessId| self.processes.get(*id).is_some_and(|entry| entry.printed.is_some());
            let Some(oldest) = self.order.values().find(is_ended).cloned() else { return };
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, id: &ProcessId) {
        if let Some(entry) = self.processes.remove(id) {
            entry.process.forget();
            self.leave(&entry);
        }
    }
}

fn matches(process: &Process, filter: &Filter) -> bool {
    let state = filter.state.is_none_or(|state| process.state() == state);
    let session = filter.session.is_none() || filter.session == process.spec().session;
    let labels = &process.spec().labels;
    state && session && filter.labels.iter().all(|(name, value)| labels.get(name) == Some(value))
}
