//! The results of a run, with verdicts, ready to print.
//!
//! Owns the shape of the JSON. It measures nothing and decides nothing: `judge`
//! compares targets with these numbers, `table` formats them for people.

use std::io;
use std::time::Duration;

use serde::Serialize;

use crate::error::BenchError;
use crate::judge::judge_all;
use crate::machine::Machine;
use crate::plan::Role;
use crate::run::{Lane, State};
use crate::sample::{Better, Unit};
use crate::stats::{Noise, Summary};
use crate::target::{Statistic, Target, Verdict};

/// Raised when a field changes its meaning or is removed.
const SCHEMA: u32 = 1;

/// Everything one run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Version of this shape.
    pub schema: u32,
    /// When the run began, in seconds since 1970.
    pub started: u64,
    /// Where it ran.
    pub machine: Machine,
    /// The figures, in the order of the plan.
    pub figures: Vec<FigureReport>,
}

/// What one figure found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureReport {
    /// The figure's name.
    pub name: String,
    /// What all values of this figure are in.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// Rounds measured.
    pub rounds: usize,
    /// Rounds thrown away first.
    pub warm_up: usize,
    /// The contenders, in the order of the plan.
    pub contenders: Vec<ContenderReport>,
}

/// What one contender did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContenderReport {
    /// The contender's name.
    pub name: String,
    /// What it is to the figure.
    pub role: Role,
    /// A condition under which it ran.
    pub note: Option<String>,
    /// Its numbers, or why there are none.
    pub outcome: Outcome,
    /// Its targets and how they came out.
    pub judgements: Vec<Judgement>,
}

/// Numbers, or the reason for their absence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum Outcome {
    /// It took every turn.
    Measured {
        /// Its order statistics.
        summary: Summary,
        /// How steady it was.
        noise: Noise,
        /// Its cost against the floor's; none without a floor.
        versus_floor: Option<VersusFloor>,
        /// Every value, in the order measured.
        samples: Vec<f64>,
    },
    /// It could not be prepared, or failed.
    NotMeasured {
        /// What went wrong.
        why: String,
    },
}

/// Times the floor's cost: 1 is as good, above 1 is worse in every unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct VersusFloor {
    /// Median against median.
    pub p50: Option<f64>,
    /// Best value against best value.
    pub best: Option<f64>,
}

/// One target and how it came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The target.
    pub target: Target,
    /// The target in words.
    pub words: String,
    /// The number compared with the bound, in the bound's terms.
    pub observed: Option<f64>,
    /// How it came out.
    pub verdict: Verdict,
}

impl Report {
    pub(crate) fn new(started: Duration, machine: Machine, figures: Vec<FigureReport>) -> Self {
        Self { schema: SCHEMA, started: started.as_secs(), machine, figures }
    }

    /// Writes all of it as JSON, indented, with a final newline.
    pub fn write_json(&self, out: &mut impl io::Write) -> Result<(), BenchError> {
        serde_json::to_writer_pretty(&mut *out, self)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
            .map_err(BenchError::io("write the report as json"))
    }

    /// Writes it as tables for people.
    pub fn write_table(&self, out: &mut impl io::Write) -> Result<(), BenchError> {
        crate::table::write(self, out).map_err(BenchError::io("write the report as a table"))
    }

    /// Every verdict of the run.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        let contenders = self.figures.iter().flat_map(|figure| &figure.contenders);
        contenders.flat_map(|contender| &contender.judgements).map(|judgement| &judgement.verdict)
    }
}

impl FigureReport {
    pub(crate) fn new(name: String, unit: Unit, rounds: usize, warm_up: usize, lanes: Vec<Lane<'_>>) -> Self {
        let (mut contenders, targets): (Vec<_>, Vec<_>) = lanes.into_iter().map(split_lane).unzip();
        compare_to_floor(&mut contenders, unit);
        let judged: Vec<Vec<Judgement>> = targets
            .into_iter()
            .zip(&contenders)
            .map(|(targets, subject)| judge_all(targets, subject, &contenders, unit))
            .collect();
        for (contender, judgements) in contenders.iter_mut().zip(judged) {
            contender.judgements = judgements;
        }
        Self { name, unit, better: unit.better(), rounds, warm_up, contenders }
    }
}

fn split_lane(lane: Lane<'_>) -> (ContenderReport, Vec<Target>) {
    let report = ContenderReport {
        name: lane.name,
        role: lane.role,
        note: lane.note,
        outcome: outcome_of(lane.state),
        judgements: Vec::new(),
    };
    (report, lane.targets)
}

fn outcome_of(state: State<'_>) -> Outcome {
    match state {
        State::Out { why } => Outcome::NotMeasured { why },
        State::Running { values, .. } => match Summary::of(&values) {
            None => Outcome::NotMeasured { why: "no round was run".into() },
            Some(summary) => {
                Outcome::Measured { summary, noise: Noise::of(&values), versus_floor: None, samples: values }
            }
        },
    }
}

fn compare_to_floor(contenders: &mut [ContenderReport], unit: Unit) {
    let floor = contenders.iter().find(|c| c.role == Role::Floor);
    let Some((floor, _)) = floor.and_then(ContenderReport::numbers) else {
        return;
    };
    let floor = *floor;
    for contender in contenders {
        if let Outcome::Measured { summary, versus_floor, .. } = &mut contender.outcome {
            let ratio = |on: Statistic| unit.cost_ratio(on.of(summary, unit), on.of(&floor, unit));
            *versus_floor = Some(VersusFloor { p50: ratio(Statistic::P50), best: ratio(Statistic::Best) });
        }
    }
}

impl ContenderReport {
    pub(crate) fn numbers(&self) -> Option<(&Summary, &Noise)> {
        match &self.outcome {
            Outcome::Measured { summary, noise, .. } => Some((summary, noise)),
            Outcome::NotMeasured { .. } => None,
        }
    }
}
