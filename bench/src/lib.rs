//! Measuring Atoll against what it stands on and what it competes with.
//!
//! A [`Plan`] holds [`Figure`]s; a figure is one question ("what does a command
//! cost?") put to several [`Contender`]s in the same run, turn by turn: the raw
//! floor, the subject, and the alternatives a user could pick instead. [`run`]
//! answers with a [`Report`] that prints as a table or as JSON. A [`Record`] of
//! a report is small enough to keep, and [`compare`] holds a later report
//! against it.
//!
//! This library knows nothing of Atoll: its caller, the program `atoll-bench`,
//! passes the subjects in as closures. It must not judge from numbers taken in different runs, must not
//! leave out an alternative without saying why, and must not write anywhere but
//! to the writer and the directory it was given.

pub mod alternatives;
mod compare;
mod error;
pub mod floors;
mod judge;
mod keys;
mod machine;
mod plan;
mod record;
mod report;
mod run;
mod sample;
mod scratch;
mod spawn;
mod stats;
mod table;
mod target;
mod turns;

pub use compare::{Change, Comparison, compare};
pub use error::BenchError;
pub use keys::key_to_echo;
pub use machine::{LoadAverage, Machine};
pub use plan::{Contender, Figure, Measure, Plan, Prepared, Role};
pub use record::{Record, RecordedContender, RecordedFigure, Source};
pub use report::{ContenderReport, FigureReport, Judgement, Outcome, Report, VersusFloor};
pub use run::run;
pub use sample::{Better, Sample, Unit};
pub use spawn::Argv;
pub use stats::{Noise, Summary};
pub use target::{Bound, Statistic, Target, Verdict};

/// Returns the build profile of this program: `release` or `debug`.
pub fn profile() -> &'static str {
    if cfg!(debug_assertions) { "debug" } else { "release" }
}
