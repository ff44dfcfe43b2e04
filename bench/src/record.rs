//! A report in short, to compare later runs with.
//!
//! Owns the shape of the files in `bench/history`. A record holds medians,
//! ratios to the floor and verdicts, but no samples: a whole run fits in a
//! file that a reviewer can read.

use std::io;

use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::machine::Machine;
use crate::plan::Role;
use crate::report::{ContenderReport, FigureReport, Outcome, Report};
use crate::sample::Unit;
use crate::target::{Statistic, Verdict};

/// Raised when a field changes its meaning or is removed.
const SCHEMA: u32 = 1;

/// What was measured, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The day of the run in UTC, as `2026-11-16`.
    pub date: String,
    /// The commit that was checked out, abbreviated.
    pub commit: String,
    /// Whether the checkout had uncommitted changes.
    pub dirty: bool,
    /// The build profile: `release` or `debug`.
    pub profile: String,
}

/// One run in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this shape.
    pub schema: u32,
    /// What was measured, and when.
    #[serde(flatten)]
    pub source: Source,
    /// Where it ran.
    pub machine: Machine,
    /// The figures, in the order of the report.
    pub figures: Vec<RecordedFigure>,
}

/// One figure in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedFigure {
    /// The figure's name.
    pub name: String,
    /// The unit of all values of this figure.
    pub unit: Unit,
    /// Rounds measured.
    pub rounds: usize,
    /// The contenders that were measured.
    pub contenders: Vec<RecordedContender>,
}

/// One contender in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedContender {
    /// The contender's name.
    pub name: String,
    /// What it is to the figure.
    pub role: Role,
    /// The median.
    pub p50: f64,
    /// The worst 1 %: p99 where less is better, p1 where more is.
    pub tail: f64,
    /// The best value.
    pub best: f64,
    /// How far off the median may be, as a share; 0 when the run was calm.
    pub noise: f64,
    /// The median's cost in multiples of the floor's; none without a floor.
    pub times_floor: Option<f64>,
    /// Its targets in words, each with `met`, `missed`, `too noisy` or `not measured`.
    pub targets: Vec<(String, String)>,
}

impl Record {
    /// Shortens a report.
    pub fn new(source: Source, report: &Report) -> Self {
        let figures = report.figures.iter().map(RecordedFigure::new).collect();
        Self { schema: SCHEMA, source, machine: report.machine.clone(), figures }
    }

    /// Writes the record as JSON, indented, with a final newline.
    pub fn write(&self, out: &mut impl io::Write) -> Result<(), BenchError> {
        serde_json::to_writer_pretty(&mut *out, self)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
            .map_err(BenchError::io("write the record"))
    }

    /// Parses a record, and refuses one of another schema.
    pub fn parse(text: &str) -> Result<Self, BenchError> {
        let record: Self =
            serde_json::from_str(text).map_err(|error| BenchError::Unfit(format!("not a record: {error}")))?;
        match record.schema {
            SCHEMA => Ok(record),
            other => Err(BenchError::Unfit(format!("the record has schema {other}, this program reads {SCHEMA}"))),
        }
    }
}

impl RecordedFigure {
    pub(crate) fn new(figure: &FigureReport) -> Self {
        let contenders =
            figure.contenders.iter().filter_map(|contender| RecordedContender::new(contender, figure.unit));
        Self { name: figure.name.clone(), unit: figure.unit, rounds: figure.rounds, contenders: contenders.collect() }
    }
}

impl RecordedContender {
    fn new(contender: &ContenderReport, unit: Unit) -> Option<Self> {
        let Outcome::Measured { summary, noise, versus_floor, .. } = &contender.outcome else {
            return None;
        };
        let targets = contender.judgements.iter();
        Some(Self {
            name: contender.name.clone(),
            role: contender.role,
            p50: summary.p50,
            tail: Statistic::Tail.of(summary, unit),
            best: Statistic::Best.of(summary, unit),
            noise: noise.margin(),
            times_floor: versus_floor.and_then(|versus| versus.p50),
            targets: targets.map(|judged| (judged.words.clone(), name_of(&judged.verdict).to_owned())).collect(),
        })
    }
}

fn name_of(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::TooNoisy { .. } => "too noisy",
        Verdict::NotMeasured { .. } => "not measured",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::{Contender, Figure, Plan, Prepared};
    use crate::sample::Sample;
    use crate::target::Target;

    fn steady(micros: u64) -> Result<Prepared<'static>, BenchError> {
        Ok(Prepared::new(move || Ok(Sample::Took(Duration::from_micros(micros)))))
    }

    /// A report of one figure, in which the floor takes 100 µs.
    pub(crate) fn report(subject_micros: u64) -> Report {
        let figure = Figure::new("exec", Unit::Latency)
            .rounds(6)
            .warm_up(0)
            .with(Contender::floor("raw", steady(100)))
            .with(Contender::subject("atoll", steady(subject_micros)).target(Target::at_most_times_floor(2.0)))
            .with(Contender::alternative("crun", Err(BenchError::contender("not installed"))));
        crate::run(Plan::new().with(figure), Machine::unknown(), &mut io::sink()).unwrap()
    }

    pub(crate) fn source() -> Source {
        Source { date: "2026-11-16".into(), commit: "1a2b3c4".into(), dirty: false, profile: "release".into() }
    }

    #[test]
    fn record_keeps_ratios_and_verdicts_of_measured_contenders() {
        let record = Record::new(source(), &report(150));
        let contenders = &record.figures[0].contenders;
        assert_eq!(contenders.len(), 2, "{contenders:?}");
        assert_eq!(format!("{:.2?}", contenders[1].times_floor), "Some(1.50)");
        assert_eq!(contenders[1].targets, [("at most 2 × floor".to_owned(), "met".to_owned())]);
    }

    #[test]
    fn record_survives_being_written_and_parsed() {
        let record = Record::new(source(), &report(150));
        let mut text = Vec::new();
        record.write(&mut text).unwrap();
        assert_eq!(Record::parse(str::from_utf8(&text).unwrap()).unwrap(), record);
    }

    #[test]
    fn parse_refuses_another_schema() {
        let mut record = Record::new(source(), &report(150));
        record.schema = 2;
        let mut text = Vec::new();
        record.write(&mut text).unwrap();
        let error = Record::parse(str::from_utf8(&text).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "the record has schema 2, this program reads 1");
    }
}
