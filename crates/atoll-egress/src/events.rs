//! What happened on the way out: the newest events, by cursor; totals; and what each command was refused.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use atoll_protocol::{Denial, EgressEvent, EgressEventKind, EgressEventPage, EgressTotals, ProcessId, Timestamp};
use tokio::sync::watch;

use crate::stream::Counts;

/// Events remembered.
const EVENTS_MAX: usize = 4096;

/// Different refusals remembered of one command.
const DENIALS_MAX: usize = 32;

/// Commands whose refusals are remembered until they end.
const COMMANDS_MAX: usize = 4096;

/// See the module.
#[derive(Debug)]
pub struct Events {
    state: Mutex<State>,
    next: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    recent: VecDeque<EgressEvent>,
    next: u64,
    /// Of connections that are over; what stands is counted when somebody asks.
    totals: EgressTotals,
    standing: BTreeMap<u64, Arc<Counts>>,
    denials: BTreeMap<ProcessId, (Vec<Denial>, u64)>,
}

/// An event without its number.
pub(crate) fn event(kind: EgressEventKind) -> EgressEvent {
    EgressEvent {
        cursor: 0,
        at: Timestamp::from(SystemTime::now()),
        kind,
        flow: None,
        command: None,
        host: None,
        address: None,
        port: None,
        protocol: None,
        rule: None,
        reason: None,
        bytes_out: None,
        bytes_in: None,
        duration_ms: None,
        secrets_used: None,
    }
}

impl Events {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), next: watch::Sender::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection stands, of which these are the bytes.
    pub(crate) fn opened(&self, event: EgressEvent, counts: &Arc<Counts>) {
        if let Some(flow) = event.flow {
            self.state().standing.insert(flow, Arc::clone(counts));
        }
        self.tell(event);
    }

    pub(crate) fn tell(&self, mut event: EgressEvent) {
        let mut state = self.state();
        event.cursor = state.next;
        state.next += 1;
        state.count(&event);
        if state.recent.len() >= EVENTS_MAX {
            state.recent.pop_front();
        }
        state.recent.push_back(event);
        let next = state.next;
        drop(state);
        self.next.send_replace(next);
    }

    /// Events from this cursor on, at most so many.
    pub fn since(&self, cursor: u64, limit: usize) -> EgressEventPage {
        let state = self.state();
        let first = state.next - state.recent.len() as u64;
        let from = cursor.clamp(first, state.next);
        let skip = usize::try_from(from - first).unwrap_or(usize::MAX);
        let events: Vec<_> = state.recent.iter().skip(skip).take(limit).cloned().collect();
        let next_cursor = from + events.len() as u64;
        EgressEventPage { events, next_cursor, lost: from.saturating_sub(cursor) }
    }

    /// Changes with each event; holds the cursor of the next.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.next.subscribe()
    }

    /// What has gone out so far.
    pub fn totals(&self) -> EgressTotals {
        let state = self.state();
        let mut totals = state.totals;
        for counts in state.standing.values() {
            totals.bytes_out += counts.out.load(Ordering::Relaxed);
            totals.bytes_in += counts.back.load(Ordering::Relaxed);
        }
        totals
    }

    /// What a command was refused so far, and how often.
    pub fn denials(&self, command: &ProcessId) -> (Vec<Denial>, u64) {
        self.state().denials.get(command).cloned().unwrap_or_default()
    }

    /// The command is over: nobody asks again.
    pub fn forget(&self, command: &ProcessId) {
        self.state().denials.remove(command);
    }
}

impl State {
    fn count(&mut self, event: &EgressEvent) {
        match event.kind {
            EgressEventKind::Opened => {
                self.totals.connections += 1;
                self.totals.open += 1;
            }
            EgressEventKind::Closed => {
                self.totals.open = self.totals.open.saturating_sub(1);
                event.flow.and_then(|flow| self.standing.remove(&flow));
                self.totals.bytes_out += event.bytes_out.unwrap_or(0);
                self.totals.bytes_in += event.bytes_in.unwrap_or(0);
                if event.reason.is_some() {
                    self.remember(event);
                }
            }
            EgressEventKind::Denied => {
                self.totals.denied += 1;
                self.remember(event);
            }
            EgressEventKind::Resolved => self.totals.names += 1,
            EgressEventKind::NameDenied => {
                self.totals.names_denied += 1;
                self.remember(event);
            }
            EgressEventKind::PolicyChanged => {}
        }
    }

    fn remember(&mut self, event: &EgressEvent) {
        let (Some(command), Some(reason)) = (&event.command, event.reason) else { return };
        if self.denials.len() >= COMMANDS_MAX && !self.denials.contains_key(command) {
            return;
        }
        let (denials, count) = self.denials.entry(command.clone()).or_default();
        *count += 1;
        let same = |denial: &Denial| {
            (denial.reason, &denial.host, &denial.address, denial.port)
                == (reason, &event.host, &event.address, event.port)
        };
        match denials.iter().position(same) {
            Some(at) => denials[at].count += 1,
            None if denials.len() >= DENIALS_MAX => {}
            None => denials.push(Denial {
                at: event.at,
                reason,
                host: event.host.clone(),
                address: event.address.clone(),
                port: event.port,
                count: 1,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use atoll_protocol::DenialReason;

    use super::*;

    fn denied(command: &str, host: &str) -> EgressEvent {
        EgressEvent {
            command: Some(ProcessId::new(command).unwrap()),
            host: Some(host.to_owned()),
            reason: Some(DenialReason::NoRule),
            ..event(EgressEventKind::Denied)
        }
    }

    #[test]
    fn the_oldest_events_go_and_that_is_told() {
        let events = Events::new();
        for number in 0..EVENTS_MAX + 10 {
            events.tell(denied("a", &format!("h{number}")));
        }
        let page = events.since(4, 3);
        assert_eq!((page.events.len(), page.lost, page.next_cursor), (3, 6, 13));
        assert_eq!(page.events[0].cursor, 10);
        let end = events.since(u64::MAX, 3);
        assert_eq!((end.events.len(), end.lost, end.next_cursor), (0, 0, EVENTS_MAX as u64 + 10));
        let (denials, count) = events.denials(&ProcessId::new("a").unwrap());
        assert_eq!((denials.len(), count), (DENIALS_MAX, EVENTS_MAX as u64 + 10));
    }

    #[test]
    fn the_same_refusal_is_counted_and_belongs_to_its_command() {
        let events = Events::new();
        events.tell(denied("a", "x.test"));
        events.tell(denied("a", "x.test"));
        events.tell(denied("b", "x.test"));
        let a = ProcessId::new("a").unwrap();
        assert_eq!(events.denials(&a).0[0].count, 2);
        events.forget(&a);
        assert_eq!(events.denials(&a), (Vec::new(), 0));
        assert_eq!(events.totals().denied, 3);
    }
}
