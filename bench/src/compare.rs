//! A report beside an earlier record.
//!
//! Compares ratios to the floor where both runs have one, because they hardly
//! depend on the machine. Values without a floor are compared only between runs
//! on the same kind of machine. As with targets, noise that could change the
//! answer makes it "too noisy".

use std::io::{self, Write};

use crate::error::BenchError;
use crate::machine::Machine;
use crate::plan::Role;
use crate::record::{Record, RecordedContender, RecordedFigure};
use crate::report::Report;
use crate::sample::Unit;
use crate::stats::percent;
use crate::target::{Limit, holds};

/// How a subject changed. A cost is its earlier cost in multiples: 1.2 is 20 % worse.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// At most the margin worse, or better.
    Within {
        /// The change in cost.
        cost: f64,
    },
    /// Worse by more than the margin.
    Worse {
        /// The change in cost.
        cost: f64,
    },
    /// Noise of either run could change the answer.
    TooNoisy {
        /// The change in cost.
        cost: f64,
    },
    /// The runs have nothing to compare.
    NotCompared {
        /// What is missing.
        why: &'static str,
    },
}

/// One subject of one figure, in both runs.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    figure: String,
    subject: String,
    then: String,
    now: String,
    change: Change,
}

/// A report beside an earlier record.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    title: String,
    margin: f64,
    warnings: Vec<String>,
    rows: Vec<Row>,
}

/// Compares the subjects of every selected figure. `margin` is the share by which a subject may be worse.
pub fn compare(earlier: &Record, now: &Report, margin: f64, selects: impl Fn(&str) -> bool) -> Comparison {
    let figures: Vec<RecordedFigure> = now.figures.iter().map(RecordedFigure::new).collect();
    let like = earlier.machine.is_like(&now.machine);
    let then = earlier.figures.iter().filter(|figure| selects(&figure.name));
    let gone = then.filter(|figure| !figures.iter().any(|other| other.name == figure.name));
    let measured = figures.iter().flat_map(|figure| {
        let earlier = earlier.figures.iter().find(|other| other.name == figure.name && other.unit == figure.unit);
        rows(earlier, Some(figure), margin, like)
    });
    let rows = measured.chain(gone.flat_map(|figure| rows(Some(figure), None, margin, like))).collect();
    let dirty = if earlier.source.dirty { " with uncommitted changes" } else { "" };
    let title = format!("{}{dirty} of {}", earlier.source.commit, earlier.source.date);
    Comparison { title, margin, warnings: warnings(earlier, &now.machine), rows }
}

fn warnings(earlier: &Record, machine: &Machine) -> Vec<String> {
    let mut warnings = Vec::new();
    if !earlier.machine.is_like(machine) {
        let Machine { cores, cpu, .. } = &earlier.machine;
        warnings.push(format!("the record is of another machine ({cores} cores, {cpu}): only ratios are compared"));
    }
    let profile = &earlier.source.profile;
    if *profile != crate::profile() {
        warnings.push(format!("the record is of a {profile} build, this is a {} build", crate::profile()));
    }
    warnings
}

/// One row for each subject that either run has.
fn rows(then: Option<&RecordedFigure>, now: Option<&RecordedFigure>, margin: f64, like: bool) -> Vec<Row> {
    let Some(figure) = now.or(then) else { return Vec::new() };
    let mut names: Vec<&str> = Vec::new();
    for contender in [now, then].into_iter().flatten().flat_map(|figure| &figure.contenders) {
        if contender.role == Role::Subject && !names.contains(&contender.name.as_str()) {
            names.push(&contender.name);
        }
    }
    let row = |name: &str| {
        let then = then.and_then(|figure| Side::new(figure, name));
        let now = now.and_then(|figure| Side::new(figure, name));
        Row {
            figure: figure.name.clone(),
            subject: name.to_owned(),
            then: then.as_ref().map_or_else(dash, |side| side.shown(figure.unit)),
            now: now.as_ref().map_or_else(dash, |side| side.shown(figure.unit)),
            change: change(then.as_ref(), now.as_ref(), figure.unit, margin, like),
        }
    };
    names.into_iter().map(row).collect()
}

fn dash() -> String {
    "-".to_owned()
}

/// A subject in one run.
struct Side<'a> {
    subject: &'a RecordedContender,
    floor_noise: f64,
}

impl<'a> Side<'a> {
    fn new(figure: &'a RecordedFigure, name: &str) -> Option<Self> {
        let subject = figure.contenders.iter().find(|contender| contender.name == name)?;
        let floor = figure.contenders.iter().find(|contender| contender.role == Role::Floor);
        Some(Self { subject, floor_noise: floor.map_or(0.0, |floor| floor.noise) })
    }

    fn shown(&self, unit: Unit) -> String {
        let value = unit.show(self.subject.p50);
        self.subject.times_floor.map_or(value.clone(), |ratio| format!("{value}, {ratio:.2} × floor"))
    }
}

fn change(then: Option<&Side<'_>>, now: Option<&Side<'_>>, unit: Unit, margin: f64, like: bool) -> Change {
    let (then, now) = match (then, now) {
        (Some(then), Some(now)) => (then, now),
        (None, _) => return Change::NotCompared { why: "not in the record" },
        (_, None) => return Change::NotCompared { why: "not measured now" },
    };
    let own_noise = then.subject.noise.max(now.subject.noise);
    let (cost, noise) = match (then.subject.times_floor, now.subject.times_floor) {
        (Some(then_ratio), Some(now_ratio)) if then_ratio > 0.0 => {
            (Some(now_ratio / then_ratio), own_noise.max(then.floor_noise).max(now.floor_noise))
        }
        _ if like => (unit.cost_ratio(now.subject.p50, then.subject.p50), own_noise),
        _ => return Change::NotCompared { why: "no floor, and another machine" },
    };
    let Some(cost) = cost else { return Change::NotCompared { why: "no ratio of these values" } };
    match holds(cost, Limit::AtMost, 1.0 + margin, noise) {
        Some(true) => Change::Within { cost },
        Some(false) => Change::Worse { cost },
        None => Change::TooNoisy { cost },
    }
}

impl Comparison {
    /// Whether a subject is worse than its record by more than the margin.
    pub fn is_worse(&self) -> bool {
        self.worse() > 0
    }

    fn worse(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row.change, Change::Worse { .. })).count()
    }

    /// Writes the comparison as an aligned table.
    pub fn write_table(&self, out: &mut impl Write) -> Result<(), BenchError> {
        self.write_rows(out).map_err(BenchError::io("write the comparison"))
    }

    fn write_rows(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\ncompared with {}", self.title)?;
        for warning in &self.warnings {
            writeln!(out, "  warning: {warning}")?;
        }
        let header = ["figure", "subject", "then", "now"].map(str::to_owned);
        let cells: Vec<[String; 4]> = self.rows.iter().map(Row::cells).collect();
        let lines = || std::iter::once(&header).chain(&cells);
        let width = |column: usize| lines().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths = [width(0), width(1), width(2), width(3)];
        let changes = std::iter::once("change".to_owned()).chain(self.rows.iter().map(|row| row.change.in_words()));
        for (line, change) in lines().zip(changes) {
            write!(out, " ")?;
            for (cell, width) in line.iter().zip(widths) {
                write!(out, " {cell:<width$} ")?;
            }
            writeln!(out, " {change}")?;
        }
        writeln!(out, "  worse by more than {}: {} of {}", percent(self.margin), self.worse(), self.rows.len())
    }
}

impl Row {
    fn cells(&self) -> [String; 4] {
        [self.figure.clone(), self.subject.clone(), self.then.clone(), self.now.clone()]
    }
}

impl Change {
    fn in_words(&self) -> String {
        let signed = |cost: f64| format!("{:+.0} %", (cost - 1.0) * 100.0);
        match self {
            Self::Within { cost } => signed(*cost),
            Self::Worse { cost } => format!("{} worse", signed(*cost)),
            Self::TooNoisy { cost } => format!("{} too noisy to judge", signed(*cost)),
            Self::NotCompared { why } => (*why).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{report, source};

    fn record(subject_micros: u64) -> Record {
        Record::new(source(), &report(subject_micros))
    }

    fn compared(earlier: &Record, now: &Report) -> Comparison {
        compare(earlier, now, 0.15, |_| true)
    }

    #[test]
    fn a_change_within_the_margin_is_not_worse() {
        assert!(!compared(&record(150), &report(170)).is_worse());
        assert!(!compared(&record(150), &report(50)).is_worse());
    }

    #[test]
    fn a_change_beyond_the_margin_is_worse() {
        let compared = compared(&record(150), &report(180));
        assert!(compared.is_worse());
        let mut text = Vec::new();
        compared.write_table(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("compared with 1a2b3c4 of 2026-11-16"), "{text}");
        assert!(text.contains("150 µs, 1.50 × floor  180 µs, 1.80 × floor  +20 % worse"), "{text}");
        assert!(text.contains("worse by more than 15 %: 1 of 1"), "{text}");
    }

    #[test]
    fn noise_that_could_change_the_answer_is_not_worse() {
        let mut earlier = record(150);
        earlier.figures[0].contenders[0].noise = 0.3;
        assert!(!compared(&earlier, &report(180)).is_worse());
        assert!(compared(&earlier, &report(300)).is_worse());
    }

    #[test]
    fn values_without_a_floor_are_compared_on_the_same_machine_only() {
        let mut earlier = record(150);
        earlier.figures[0].contenders[1].times_floor = None;
        assert!(compared(&earlier, &report(180)).is_worse());
        earlier.machine.cores += 1;
        assert!(!compared(&earlier, &report(180)).is_worse());
    }

    #[test]
    fn figures_of_one_run_alone_are_listed_and_not_worse() {
        let mut earlier = record(150);
        earlier.figures[0].name = "another".into();
        let compared = compared(&earlier, &report(900));
        let whys: Vec<String> = compared.rows.iter().map(|row| row.change.in_words()).collect();
        assert_eq!(whys, ["not in the record", "not measured now"]);
        assert!(!compared.is_worse());
    }

    #[test]
    fn figures_that_are_not_selected_are_left_out() {
        let mut earlier = record(150);
        earlier.figures[0].name = "another".into();
        assert_eq!(compare(&earlier, &report(150), 0.15, |name| name == "exec").rows.len(), 1);
    }
}
