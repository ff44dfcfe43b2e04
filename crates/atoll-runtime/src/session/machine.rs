//! What a session does next: a pure state machine. Events in, effects out; no shell, no clock, no I/O.
//!
//! The task in `owner` turns what happens into events, calls [`Machine::on`], and does what the effects say. Jobs are
//! numbers here; what they are is the owner's business.

use std::collections::VecDeque;

/// Commands that may wait at once. More means that a client does not wait for its answers.
pub(crate) const QUEUE_MAX: usize = 256;

/// What is asked of the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Run a command.
    Run,
    /// Write down what the shell holds.
    Dump,
}

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// Somebody asks for something.
    Asked { job: u64, kind: Kind },
    /// Somebody no longer wants what waits.
    Cancelled { job: u64 },
    /// The shell is done with its command. If that was being ended, what it started may still be dying.
    Reported { settled: bool },
    /// What a command that was ended had started is gone.
    Settled,
    /// The shell has written down what it holds.
    Dumped,
    /// Nothing was asked for some time.
    Rested,
    /// The last snapshot is old, and there has been no rest.
    Due,
    /// The shell has ended; it was killed to be replaced, or it did so by itself.
    ShellEnded { replace: bool },
    /// A new shell holds what the snapshot says.
    Restored,
    /// It does not.
    NotRestored,
    /// Somebody wants a dead session to live again.
    RestartAsked,
}

/// What has to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Give this command to the shell.
    Begin { job: u64 },
    /// Ask the shell what it holds; for this job, or for ourselves.
    Dump { job: Option<u64> },
    /// Tell that the command is over, as the shell reported.
    Conclude { job: u64 },
    /// Tell that the command is over because its shell was replaced.
    ConcludeReset { job: u64 },
    /// Tell that the command is over because its shell is.
    ConcludeLost { job: u64 },
    /// Give away the snapshot.
    Snapshot { job: u64 },
    /// Say that it waits no more.
    Cancel { job: u64 },
    /// Say that too many wait.
    RefuseFull { job: u64 },
    /// Say that the shell has ended.
    RefuseDead { job: u64 },
    /// Start a new shell, from the last snapshot.
    Replace,
    /// The session is dead from here on.
    Die,
}

/// What the shell is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Running {
        job: u64,
    },
    /// Its command is over but not gone.
    Settling,
    Dumping {
        job: Option<u64>,
    },
    /// A new shell is being started; this command was what the old one was doing.
    Restoring {
        job: Option<u64>,
    },
    Dead,
}

/// One session.
#[derive(Debug)]
pub(crate) struct Machine {
    phase: Phase,
    queue: VecDeque<(u64, Kind)>,
    /// Something has run since the last snapshot.
    stale: bool,
    /// A snapshot is taken before the next command.
    due: bool,
}

impl Machine {
    /// A session whose shell waits for its first command.
    pub(crate) fn new() -> Self {
        Self { phase: Phase::Idle, queue: VecDeque::new(), stale: true, due: false }
    }

    /// Whether something has run since the last snapshot.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale && !self.is_dead()
    }

    /// A session whose shell ended in an earlier life of the sandbox.
    pub(crate) fn dead() -> Self {
        Self { phase: Phase::Dead, queue: VecDeque::new(), stale: false, due: false }
    }

    /// Whether a snapshot should be taken when nothing is asked for a while.
    pub(crate) fn wants_rest(&self) -> bool {
        self.stale && self.phase == Phase::Idle
    }

    /// The command that the shell runs.
    pub(crate) fn running(&self) -> Option<u64> {
        match self.phase {
            Phase::Running { job } => Some(job),
            Phase::Idle | Phase::Settling | Phase::Dumping { .. } | Phase::Restoring { .. } | Phase::Dead => None,
        }
    }

    /// Commands that wait.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Whether the shell has ended for good.
    pub(crate) fn is_dead(&self) -> bool {
        self.phase == Phase::Dead
    }

    /// Decides.
    pub(crate) fn on(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = match event {
            Event::Asked { job, kind } => self.asked(job, kind),
            Event::Cancelled { job } => self.cancelled(job),
            Event::Reported { settled } => self.reported(settled),
            Event::Settled => self.settled(),
            Event::Dumped => self.dumped(),
            Event::Rested => self.rested(),
            Event::Due => {
                self.due = self.stale;
                Vec::new()
            }
            Event::ShellEnded { replace } => self.shell_ended(replace),
            Event::Restored => self.restored(),
            Event::NotRestored => self.not_restored(),
            Event::RestartAsked => self.restart_asked(),
        };
        effects.extend(self.next());
        effects
    }

    fn asked(&mut self, job: u64, kind: Kind) -> Vec<Effect> {
        if self.is_dead() {
            return vec![Effect::RefuseDead { job }];
        }
        if self.queue.len() >= QUEUE_MAX {
            return vec![Effect::RefuseFull { job }];
        }
        self.queue.push_back((job, kind));
        Vec::new()
    }

    fn cancelled(&mut self, job: u64) -> Vec<Effect> {
        let waiting = self.queue.len();
        self.queue.retain(|(other, _)| *other != job);
        if self.queue.len() < waiting { vec![Effect::Cancel { job }] } else { Vec::new() }
    }

    fn reported(&mut self, settled: bool) -> Vec<Effect> {
        let Phase::Running { job } = self.phase else { return Vec::new() };
        self.phase = if settled { Phase::Idle } else { Phase::Settling };
        self.stale = true;
        vec![Effect::Conclude { job }]
    }

    fn settled(&mut self) -> Vec<Effect> {
        if self.phase == Phase::Settling {
            self.phase = Phase::Idle;
        }
        Vec::new()
    }

    fn dumped(&mut self) -> Vec<Effect> {
        let Phase::Dumping { job } = self.phase else { return Vec::new() };
        self.phase = Phase::Idle;
        (self.stale, self.due) = (false, false);
        job.map(|job| Effect::Snapshot { job }).into_iter().collect()
    }

    fn rested(&mut self) -> Vec<Effect> {
        if !self.wants_rest() {
            return Vec::new();
        }
        self.phase = Phase::Dumping { job: None };
        vec![Effect::Dump { job: None }]
    }

    fn shell_ended(&mut self, replace: bool) -> Vec<Effect> {
        let job = match self.phase {
            Phase::Running { job } => Some(job),
            Phase::Dumping { job } => job,
            Phase::Idle | Phase::Settling => None,
            Phase::Restoring { .. } | Phase::Dead => return Vec::new(),
        };
        if replace {
            self.phase = Phase::Restoring { job };
            return vec![Effect::Replace];
        }
        self.die(job)
    }

    fn restored(&mut self) -> Vec<Effect> {
        let Phase::Restoring { job } = self.phase else { return Vec::new() };
        self.phase = Phase::Idle;
        job.map(|job| Effect::ConcludeReset { job }).into_iter().collect()
    }

    fn not_restored(&mut self) -> Vec<Effect> {
        let Phase::Restoring { job } = self.phase else { return Vec::new() };
        self.die(job)
    }

    fn die(&mut self, job: Option<u64>) -> Vec<Effect> {
        self.phase = Phase::Dead;
        let running = job.map(|job| Effect::ConcludeLost { job });
        let waiting = self.queue.drain(..).map(|(job, _)| Effect::RefuseDead { job });
        [Effect::Die].into_iter().chain(running).chain(waiting).collect()
    }

    fn restart_asked(&mut self) -> Vec<Effect> {
        if !self.is_dead() {
            return Vec::new();
        }
        self.phase = Phase::Restoring { job: None };
        vec![Effect::Replace]
    }

    /// An idle shell takes what has waited longest.
    fn next(&mut self) -> Option<Effect> {
        if self.phase != Phase::Idle {
            return None;
        }
        if self.due {
            self.phase = Phase::Dumping { job: None };
            return Some(Effect::Dump { job: None });
        }
        let (job, kind) = self.queue.pop_front()?;
        Some(match kind {
            Kind::Run => {
                self.phase = Phase::Running { job };
                Effect::Begin { job }
            }
            Kind::Dump => {
                self.phase = Phase::Dumping { job: Some(job) };
                Effect::Dump { job: Some(job) }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: Event = Event::Reported { settled: true };
    const EXIT: Event = Event::ShellEnded { replace: false };
    const RESET: Event = Event::ShellEnded { replace: true };

    fn run(job: u64) -> Event {
        Event::Asked { job, kind: Kind::Run }
    }

    fn dump(job: u64) -> Event {
        Event::Asked { job, kind: Kind::Dump }
    }

    fn play(steps: &[(Event, &[Effect])]) {
        let mut machine = Machine::new();
        for (number, (event, expected)) in steps.iter().enumerate() {
            assert_eq!(machine.on(*event), *expected, "step {number}: {event:?}");
        }
    }

    #[test]
    fn commands_run_one_at_a_time_in_order() {
        play(&[
            (run(1), &[Effect::Begin { job: 1 }]),
            (run(2), &[]),
            (run(3), &[]),
            (DONE, &[Effect::Conclude { job: 1 }, Effect::Begin { job: 2 }]),
            (DONE, &[Effect::Conclude { job: 2 }, Effect::Begin { job: 3 }]),
            (DONE, &[Effect::Conclude { job: 3 }]),
            (DONE, &[]),
        ]);
    }

    #[test]
    fn what_waits_can_be_cancelled_and_what_runs_cannot() {
        play(&[
            (run(1), &[Effect::Begin { job: 1 }]),
            (run(2), &[]),
            (run(3), &[]),
            (Event::Cancelled { job: 2 }, &[Effect::Cancel { job: 2 }]),
            (Event::Cancelled { job: 2 }, &[]),
            (Event::Cancelled { job: 1 }, &[]),
            (DONE, &[Effect::Conclude { job: 1 }, Effect::Begin { job: 3 }]),
        ]);
    }

    #[test]
    fn the_next_waits_until_what_was_ended_is_gone() {
        play(&[
            (run(1), &[Effect::Begin { job: 1 }]),
            (run(2), &[]),
            (Event::Reported { settled: false }, &[Effect::Conclude { job: 1 }]),
            (Event::Settled, &[Effect::Begin { job: 2 }]),
            (Event::Settled, &[]),
        ]);
    }

    #[test]
    fn a_snapshot_takes_its_turn() {
        play(&[
            (run(1), &[Effect::Begin { job: 1 }]),
            (dump(2), &[]),
            (run(3), &[]),
            (DONE, &[Effect::Conclude { job: 1 }, Effect::Dump { job: Some(2) }]),
            (Event::Dumped, &[Effect::Snapshot { job: 2 }, Effect::Begin { job: 3 }]),
        ]);
    }

    #[test]
    fn a_rest_is_used_once() {
        play(&[
            (Event::Rested, &[Effect::Dump { job: None }]),
            (Event::Rested, &[]),
            (run(1), &[]),
            (Event::Dumped, &[Effect::Begin { job: 1 }]),
            (Event::Rested, &[]),
            (DONE, &[Effect::Conclude { job: 1 }]),
            (Event::Rested, &[Effect::Dump { job: None }]),
            (Event::Dumped, &[]),
            (Event::Rested, &[]),
        ]);
    }

    #[test]
    fn a_session_that_never_rests_is_written_down_all_the_same() {
        play(&[
            (run(1), &[Effect::Begin { job: 1 }]),
            (run(2), &[]),
            (Event::Due, &[]),
            (DONE, &[Effect::Conclude { job: 1 }, Effect::Dump { job: None }]),
            (Event::Dumped, &[Effect::Begin { job: 2 }]),
            (DONE, &[Effect::Conclude { job: 2 }]),
            (Event::Due, &[Effect::Dump { job: None }]),
            (Event::Dumped, &[]),
            (Event::Due, &[]),
        ]);
    }

    #[test]
    fn a_shell_that_ends_takes_the_queue_with_it() {
        play(&[
            (run(1), &[Effect::Begin { job: 1 }]),
            (run(2), &[]),
            (EXIT, &[Effect::Die, Effect::ConcludeLost { job: 1 }, Effect::RefuseDead { job: 2 }]),
            (run(3), &[Effect::RefuseDead { job: 3 }]),
            (EXIT, &[]),
            (Event::RestartAsked, &[Effect::Replace]),
            (run(4), &[]),
            (Event::Restored, &[Effect::Begin { job: 4 }]),
        ]);
    }

    #[test]
    fn a_shell_that_is_replaced_keeps_the_queue() {
        play(&[
            (run(1), &[Effect::Begin { job: 1 }]),
            (run(2), &[]),
            (RESET, &[Effect::Replace]),
            (EXIT, &[]),
            (Event::Restored, &[Effect::ConcludeReset { job: 1 }, Effect::Begin { job: 2 }]),
        ]);
        play(&[
            (run(1), &[Effect::Begin { job: 1 }]),
            (run(2), &[]),
            (RESET, &[Effect::Replace]),
            (Event::NotRestored, &[Effect::Die, Effect::ConcludeLost { job: 1 }, Effect::RefuseDead { job: 2 }]),
        ]);
    }

    #[test]
    fn a_living_session_is_not_restarted() {
        play(&[(Event::RestartAsked, &[]), (run(1), &[Effect::Begin { job: 1 }]), (Event::RestartAsked, &[])]);
    }

    #[test]
    fn a_queue_has_an_end() {
        let mut machine = Machine::new();
        machine.on(run(0));
        for job in 1..=QUEUE_MAX as u64 {
            assert_eq!(machine.on(run(job)), []);
        }
        assert_eq!(machine.on(run(999)), [Effect::RefuseFull { job: 999 }]);
        assert_eq!(machine.queued(), QUEUE_MAX);
    }

    /// Whatever happens in whatever order: each job is answered at most once, and never two run at once.
    #[test]
    fn every_order_of_events_answers_each_job_once() {
        let events = [
            run(0),
            dump(0),
            Event::Cancelled { job: 1 },
            DONE,
            Event::Reported { settled: false },
            Event::Settled,
            Event::Dumped,
            Event::Rested,
            Event::Due,
            EXIT,
            RESET,
            Event::Restored,
            Event::NotRestored,
            Event::RestartAsked,
        ];
        for sequence in 0..events.len().pow(5) {
            let mut machine = Machine::new();
            let mut answered = std::collections::HashSet::new();
            for place in 0..5 {
                let mut event = events[sequence / events.len().pow(place) % events.len()];
                if let Event::Asked { job, .. } = &mut event {
                    *job = u64::from(place) + 1;
                }
                let mut begun = 0;
                for effect in machine.on(event) {
                    let answer = match effect {
                        Effect::Begin { .. } | Effect::Dump { .. } => {
                            begun += 1;
                            assert_eq!(begun, 1, "two at once: {sequence}");
                            None
                        }
                        Effect::Conclude { job } | Effect::ConcludeReset { job } | Effect::Snapshot { job } => {
                            Some(job)
                        }
                        Effect::ConcludeLost { job } => Some(job),
                        Effect::Cancel { job } | Effect::RefuseDead { job } | Effect::RefuseFull { job } => Some(job),
                        Effect::Replace | Effect::Die => None,
                    };
                    assert!(answer.is_none_or(|job| answered.insert(job)), "answered twice: {sequence}");
                }
            }
        }
    }
}
