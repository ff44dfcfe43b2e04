//! How a command's life goes: a pure state machine. Events in, effects out; no process, no clock, no I/O.
//!
//! The task in `run.rs` turns what happens into events, calls [`Life::on`], and does what the effects say.

use std::time::Duration;

use atoll_protocol::EndReason;

use crate::command::Background;

/// Something that happened to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// Its main process is over; so many of its tree live on.
    Exited { survivors: u64 },
    /// Nothing of its tree is left.
    TreeEmpty,
    /// Its time is up.
    TimedOut,
    /// It has been silent for too long.
    Idle,
    /// It has printed too much.
    TooMuchOutput,
    /// Somebody wants it ended.
    KillAsked { grace: Duration },
    /// The time that it was given to end is over.
    GraceOver,
    /// The kernel's side is gone: how it ended will never be known.
    Lost { reason: EndReason },
}

/// What has to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Ask the whole tree to end, and come back with `GraceOver` after so long.
    Terminate { grace: Duration },
    /// Kill the whole tree, again until none is left.
    Kill,
    /// The command is over: make its end record now. `None`: as its main process ended.
    Conclude { reason: Option<EndReason> },
    /// Nothing is left of it: close its log.
    Finish,
}

/// Where in its life it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The main process runs and nobody minds.
    Running,
    /// The tree is being ended; the main process is not over yet.
    Ending { reason: EndReason },
    /// The main process is over, the rest of the tree lives on by permission.
    Lingering,
    /// The main process is over, the rest is being ended. The command is over only with it, unless it was before.
    Clearing { then: Then },
    /// Nothing is left.
    Over,
}

/// What is still to be said when the tree is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Conclude { reason: Option<EndReason> },
    Nothing,
}

/// The life of one command.
#[derive(Debug)]
pub(crate) struct Life {
    phase: Phase,
    background: Background,
    grace: Duration,
}

impl Life {
    /// A command whose main process has just been started.
    pub(crate) fn new(background: Background, grace: Duration) -> Self {
        Self { phase: Phase::Running, background, grace }
    }

    /// Whether somebody is waiting for the tree to become empty.
    pub(crate) fn watches_tree(&self) -> bool {
        matches!(self.phase, Phase::Lingering | Phase::Clearing { .. })
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Decides.
    pub(crate) fn on(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Exited { survivors } => self.exited(survivors),
            Event::TreeEmpty => self.tree_empty(),
            Event::TimedOut => self.end(EndReason::Timeout, self.grace),
            Event::Idle => self.end(EndReason::IdleTimeout, self.grace),
            // It is printing faster than we want to read: no grace.
            Event::TooMuchOutput => self.end(EndReason::OutputLimit, Duration::ZERO),
            Event::KillAsked { grace } => self.kill_asked(grace),
            Event::GraceOver => self.grace_over(),
            Event::Lost { reason } => self.lost(reason),
        }
    }

    fn exited(&mut self, survivors: u64) -> Vec<Effect> {
        let (reason, ends_tree) = match self.phase {
            Phase::Running => (None, self.background == Background::Kill),
            Phase::Ending { reason } => (Some(reason), false),
            Phase::Lingering | Phase::Clearing { .. } | Phase::Over => return Vec::new(),
        };
        if survivors == 0 {
            self.phase = Phase::Over;
            return vec![Effect::Conclude { reason }, Effect::Finish];
        }
        if reason.is_some() {
            // Already being ended: the command is over when the tree is.
            self.phase = Phase::Clearing { then: Then::Conclude { reason } };
            return Vec::new();
        }
        if ends_tree {
            self.phase = Phase::Clearing { then: Then::Conclude { reason: None } };
            return vec![terminate(self.grace)];
        }
        self.phase = Phase::Lingering;
        vec![Effect::Conclude { reason: None }]
    }

    fn tree_empty(&mut self) -> Vec<Effect> {
        let effects = match self.phase {
            Phase::Lingering | Phase::Clearing { then: Then::Nothing } => vec![Effect::Finish],
            Phase::Clearing { then: Then::Conclude { reason } } => vec![Effect::Conclude { reason }, Effect::Finish],
            // The main process is part of the tree: its own end is still to be told.
            Phase::Running | Phase::Ending { .. } | Phase::Over => return Vec::new(),
        };
        self.phase = Phase::Over;
        effects
    }

    fn end(&mut self, reason: EndReason, grace: Duration) -> Vec<Effect> {
        match self.phase {
            Phase::Running => {
                self.phase = Phase::Ending { reason };
                vec![terminate(grace)]
            }
            // The first reason stays; limits do not apply to what lingers.
            Phase::Ending { .. } | Phase::Lingering | Phase::Clearing { .. } | Phase::Over => Vec::new(),
        }
    }

    fn kill_asked(&mut self, grace: Duration) -> Vec<Effect> {
        match self.phase {
            Phase::Running => return self.end(EndReason::Killed, grace),
            Phase::Lingering => self.phase = Phase::Clearing { then: Then::Nothing },
            // Asked again: perhaps less patiently.
            Phase::Ending { .. } | Phase::Clearing { .. } => {}
            Phase::Over => return Vec::new(),
        }
        vec![terminate(grace)]
    }

    fn grace_over(&mut self) -> Vec<Effect> {
        match self.phase {
            Phase::Ending { .. } | Phase::Clearing { .. } => vec![Effect::Kill],
            Phase::Running | Phase::Lingering | Phase::Over => Vec::new(),
        }
    }

    fn lost(&mut self, reason: EndReason) -> Vec<Effect> {
        let effects = match self.phase {
            Phase::Running | Phase::Ending { .. } => {
                vec![Effect::Conclude { reason: Some(reason) }, Effect::Finish]
            }
            Phase::Clearing { then: Then::Conclude { reason } } => vec![Effect::Conclude { reason }, Effect::Finish],
            Phase::Lingering | Phase::Clearing { then: Then::Nothing } => vec![Effect::Finish],
            Phase::Over => Vec::new(),
        };
        self.phase = Phase::Over;
        effects
    }
}

fn terminate(grace: Duration) -> Effect {
    if grace.is_zero() { Effect::Kill } else { Effect::Terminate { grace } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(2);
    const TERM: Effect = Effect::Terminate { grace: GRACE };
    const NATURAL: Effect = Effect::Conclude { reason: None };

    fn because(reason: EndReason) -> Effect {
        Effect::Conclude { reason: Some(reason) }
    }

    fn play(background: Background, steps: &[(Event, &[Effect])]) {
        let mut life = Life::new(background, GRACE);
        for (number, (event, expected)) in steps.iter().enumerate() {
            assert_eq!(life.on(*event), *expected, "step {number}: {event:?}");
        }
    }

    #[test]
    fn a_command_that_leaves_nothing_is_over_at_once() {
        play(Background::Keep, &[(Event::Exited { survivors: 0 }, &[NATURAL, Effect::Finish])]);
    }

    #[test]
    fn one_that_leaves_something_lingers_until_it_is_gone() {
        play(
            Background::Keep,
            &[
                (Event::Exited { survivors: 2 }, &[NATURAL]),
                (Event::TimedOut, &[]),
                (Event::TreeEmpty, &[Effect::Finish]),
                (Event::KillAsked { grace: GRACE }, &[]),
            ],
        );
    }

    #[test]
    fn what_lingers_can_be_killed_without_changing_the_record() {
        play(
            Background::Keep,
            &[
                (Event::Exited { survivors: 1 }, &[NATURAL]),
                (Event::KillAsked { grace: GRACE }, &[TERM]),
                (Event::GraceOver, &[Effect::Kill]),
                (Event::TreeEmpty, &[Effect::Finish]),
            ],
        );
    }

    #[test]
    fn background_kill_ends_the_rest_first() {
        play(
            Background::Kill,
            &[(Event::Exited { survivors: 1 }, &[TERM]), (Event::TreeEmpty, &[NATURAL, Effect::Finish])],
        );
    }

    #[test]
    fn a_timeout_is_over_only_with_its_tree() {
        play(
            Background::Keep,
            &[
                (Event::TimedOut, &[TERM]),
                (Event::TreeEmpty, &[]),
                (Event::Exited { survivors: 3 }, &[]),
                (Event::GraceOver, &[Effect::Kill]),
                (Event::TreeEmpty, &[because(EndReason::Timeout), Effect::Finish]),
            ],
        );
    }

    #[test]
    fn the_first_reason_wins() {
        play(
            Background::Keep,
            &[
                (Event::KillAsked { grace: GRACE }, &[TERM]),
                (Event::TimedOut, &[]),
                (Event::Idle, &[]),
                (Event::Exited { survivors: 0 }, &[because(EndReason::Killed), Effect::Finish]),
            ],
        );
    }

    #[test]
    fn impatience_and_floods_kill_without_grace() {
        play(Background::Keep, &[(Event::KillAsked { grace: Duration::ZERO }, &[Effect::Kill])]);
        play(
            Background::Keep,
            &[
                (Event::TooMuchOutput, &[Effect::Kill]),
                (Event::Exited { survivors: 0 }, &[because(EndReason::OutputLimit), Effect::Finish]),
            ],
        );
    }

    #[test]
    fn a_lost_machine_is_never_guessed_about() {
        let lost = Event::Lost { reason: EndReason::HostLost };
        play(Background::Keep, &[(lost, &[because(EndReason::HostLost), Effect::Finish]), (lost, &[])]);
        play(Background::Keep, &[(Event::Exited { survivors: 1 }, &[NATURAL]), (lost, &[Effect::Finish])]);
        play(
            Background::Keep,
            &[
                (Event::TimedOut, &[TERM]),
                (Event::Exited { survivors: 1 }, &[]),
                (lost, &[because(EndReason::Timeout), Effect::Finish]),
            ],
        );
    }

    /// Whatever happens in whatever order: concluded once, finished once, finished last.
    #[test]
    fn every_order_of_events_ends_well() {
        let events = [
            Event::Exited { survivors: 0 },
            Event::Exited { survivors: 1 },
            Event::TreeEmpty,
            Event::TimedOut,
            Event::TooMuchOutput,
            Event::KillAsked { grace: GRACE },
            Event::GraceOver,
            Event::Lost { reason: EndReason::HostLost },
        ];
        for sequence in 0..events.len().pow(5) {
            for background in [Background::Keep, Background::Kill] {
                let mut life = Life::new(background, GRACE);
                let picks = (0..5).map(|place| events[sequence / events.len().pow(place) % events.len()]);
                let effects: Vec<Effect> = picks.flat_map(|event| life.on(event)).collect();
                let concluded = effects.iter().filter(|effect| matches!(effect, Effect::Conclude { .. })).count();
                let finished = effects.iter().filter(|effect| **effect == Effect::Finish).count();
                assert!(concluded <= 1 && finished <= 1, "{effects:?}");
                assert_eq!(finished == 1, life.is_over(), "{effects:?}");
                assert!(finished == 0 || (concluded == 1 && effects.last() == Some(&Effect::Finish)), "{effects:?}");
            }
        }
    }
}
