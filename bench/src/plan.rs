//! What is to be measured: figures and who takes part in them.
//!
//! A plan is inert. Building one may prepare contenders (start a container,
//! say), but nothing is timed before `run`. It must not hold results.

use std::fmt;
use std::time::Duration;

use crate::error::BenchError;
use crate::sample::{Sample, Unit};
use crate::target::Target;

/// Enough rounds for a steady median, few enough to finish a figure in seconds.
const ROUNDS: usize = 40;
/// Fills the page cache and lets lazy set-up happen unmeasured.
const WARM_UP: usize = 3;

/// One turn of a contender. Whatever it owns lives until its figure is done.
///
/// It times itself, so that preparing a turn costs nothing in the report. An
/// async subject blocks on its runtime inside.
pub type Measure<'a> = Box<dyn FnMut() -> Result<Sample, BenchError> + 'a>;

/// A contender that is ready, with what a reader must know about how it ran.
pub struct Prepared<'a> {
    /// One turn.
    pub measure: Measure<'a>,
    /// A condition to print under the table, if any.
    pub note: Option<String>,
}

/// What a contender is to the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The least that the work can cost.
    Floor,
    /// The thing on trial.
    Subject,
    /// What a user could pick instead.
    Alternative,
}

/// One participant of a figure.
pub struct Contender<'a> {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) start: Result<Measure<'a>, BenchError>,
    pub(crate) note: Option<String>,
    pub(crate) targets: Vec<Target>,
}

/// One question, put to all contenders turn by turn.
#[derive(Debug)]
pub struct Figure<'a> {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) rounds: usize,
    pub(crate) warm_up: usize,
    pub(crate) budget: Option<Duration>,
    pub(crate) contenders: Vec<Contender<'a>>,
}

/// All figures of one run.
#[derive(Debug, Default)]
pub struct Plan<'a> {
    pub(crate) figures: Vec<Figure<'a>>,
}

impl<'a> Prepared<'a> {
    /// Wraps a closure that needs no note.
    pub fn new(measure: impl FnMut() -> Result<Sample, BenchError> + 'a) -> Self {
        Self { measure: Box::new(measure), note: None }
    }

    /// Adds a condition to print under the table.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

impl<'a> From<Measure<'a>> for Prepared<'a> {
    fn from(measure: Measure<'a>) -> Self {
        Self { measure, note: None }
    }
}

impl<'a> Contender<'a> {
    /// The least that the work can cost. A figure has at most one.
    pub fn floor(name: impl Into<String>, start: Result<Prepared<'a>, BenchError>) -> Self {
        Self::new(name.into(), Role::Floor, start)
    }

    /// The thing on trial.
    pub fn subject(name: impl Into<String>, start: Result<Prepared<'a>, BenchError>) -> Self {
        Self::new(name.into(), Role::Subject, start)
    }

    /// What a user could pick instead. An error is reported as the reason why
    /// it was not measured.
    pub fn alternative(name: impl Into<String>, start: Result<Prepared<'a>, BenchError>) -> Self {
        Self::new(name.into(), Role::Alternative, start)
    }

    /// Adds something to reach.
    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.targets.push(target);
        self
    }

    fn new(name: String, role: Role, start: Result<Prepared<'a>, BenchError>) -> Self {
        let (start, note) = match start {
            Ok(Prepared { measure, note }) => (Ok(measure), note),
            Err(error) => (Err(error), None),
        };
        Self { name, role, start, note, targets: Vec::new() }
    }
}

impl<'a> Figure<'a> {
    /// A figure without contenders.
    pub fn new(name: impl Into<String>, unit: Unit) -> Self {
        Self { name: name.into(), unit, rounds: ROUNDS, warm_up: WARM_UP, budget: None, contenders: Vec::new() }
    }

    /// How often each contender is measured; at least once.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds.max(1);
        self
    }

    /// How many rounds are run first and thrown away.
    #[must_use]
    pub fn warm_up(mut self, rounds: usize) -> Self {
        self.warm_up = rounds;
        self
    }

    /// Starts no further round once this much time has passed. Rounds are
    /// whole, so every contender is still measured equally often.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Adds a contender; the report keeps this order.
    #[must_use]
    pub fn with(mut self, contender: Contender<'a>) -> Self {
        self.contenders.push(contender);
        self
    }
}

impl<'a> Plan<'a> {
    /// A plan without figures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a figure; figures are measured in this order.
    #[must_use]
    pub fn with(mut self, figure: Figure<'a>) -> Self {
        self.figures.push(figure);
        self
    }
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("note", &self.note).finish_non_exhaustive()
    }
}

impl fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contender")
            .field("name", &self.name)
            .field("role", &self.role)
            .field("missing", &self.start.as_ref().err())
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}
