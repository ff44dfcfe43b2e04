//! The report as aligned plain text.
//!
//! Only lays out what `report` holds: no number is computed here, so the text
//! and the JSON cannot disagree.

use std::io::{self, Write};

use crate::machine::Machine;
use crate::plan::Role;
use crate::report::{ContenderReport, FigureReport, Judgement, Outcome, Report, VersusFloor};
use crate::sample::{Better, Unit};
use crate::stats::{Summary, percent};
use crate::target::{Bound, Statistic, Verdict};

const COLUMNS: usize = 9;
type Row = [String; COLUMNS];

/// Below this many rounds the tail column is close to the single worst value.
const FEW_ROUNDS: usize = 100;

const NOISE_RULE: &str = "a verdict on these is given only if an error that large cannot change it";

pub(crate) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_machine(&report.machine, out)?;
    for figure in &report.figures {
        writeln!(out)?;
        write_figure(figure, out)?;
    }
    Ok(())
}

fn write_machine(machine: &Machine, out: &mut impl Write) -> io::Result<()> {
    let Machine { cores, kernel, cpu, load_before, load_after, tools } = machine;
    writeln!(out, "machine: {cores} cores, {cpu}, linux {kernel}")?;
    let load = |load: &Option<crate::LoadAverage>| load.map_or_else(|| "unknown".into(), |load| load.to_string());
    let (before, after) = (load(load_before), load(load_after));
    writeln!(out, "load:    {before} before, {after} after")?;
    for (tool, version) in tools {
        writeln!(out, "{:<9}{version}", format!("{tool}:"))?;
    }
    if let Some(complaint) = machine.complaint() {
        writeln!(out, "warning: {complaint}")?;
    }
    Ok(())
}

fn write_figure(figure: &FigureReport, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", figure.name)?;
    writeln!(out, "  {}", conditions(figure))?;
    write_rows(figure, out)?;
    write_notes(figure, out)?;
    write_noise(figure, out)?;
    for contender in &figure.contenders {
        for judgement in &contender.judgements {
            writeln!(out, "  target: {}: {}", contender.name, verdict(judgement))?;
        }
    }
    Ok(())
}

fn conditions(figure: &FigureReport) -> String {
    let (rounds, warm_up) = (figure.rounds, figure.warm_up);
    let few = if rounds < FEW_ROUNDS { "; below 100 rounds the tail column is nearly the worst value" } else { "" };
    format!("{rounds} rounds, turn by turn, after {warm_up} to warm up{few}")
}

fn write_rows(figure: &FigureReport, out: &mut impl Write) -> io::Result<()> {
    let rows: Vec<Row> = figure.contenders.iter().filter_map(|contender| row(contender, figure.unit)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let header = header(figure.better);
    let widths = widths(std::iter::once(&header).chain(&rows));
    for row in std::iter::once(&header).chain(&rows) {
        write_row(row, &widths, out)?;
    }
    Ok(())
}

fn header(better: Better) -> Row {
    let (tail, best) = match better {
        Better::Lower => ("p99", "min"),
        Better::Higher => ("p1", "max"),
    };
    let cost_at_best = format!("{best} × floor");
    ["contender", "role", "p50", tail, best, "mean", "spread", "p50 × floor", &cost_at_best].map(str::to_owned)
}

fn row(contender: &ContenderReport, unit: Unit) -> Option<Row> {
    let Outcome::Measured { summary, versus_floor, .. } = &contender.outcome else {
        return None;
    };
    let value = |on: Statistic| unit.show(on.of(summary, unit));
    let (p50, best) = cost_cells(versus_floor.as_ref());
    Some([
        contender.name.clone(),
        role(contender.role).to_owned(),
        value(Statistic::P50),
        value(Statistic::Tail),
        value(Statistic::Best),
        unit.show(summary.mean),
        spread(summary),
        p50,
        best,
    ])
}

fn cost_cells(versus: Option<&VersusFloor>) -> (String, String) {
    let cell = |ratio: Option<f64>| ratio.map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}"));
    (cell(versus.and_then(|versus| versus.p50)), cell(versus.and_then(|versus| versus.best)))
}

fn spread(summary: &Summary) -> String {
    summary.spread.map_or_else(|| "-".into(), percent)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Floor => "floor",
        Role::Subject => "subject",
        Role::Alternative => "alternative",
    }
}

fn widths<'a>(rows: impl Iterator<Item = &'a Row>) -> [usize; COLUMNS] {
    rows.fold([0; COLUMNS], |mut widths, row| {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
        widths
    })
}

/// Names to the left, numbers to the right, so that digits line up.
fn write_row(row: &Row, widths: &[usize; COLUMNS], out: &mut impl Write) -> io::Result<()> {
    write!(out, " ")?;
    for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
        match column {
            0 => write!(out, " {cell:<width$}")?,
            1 => write!(out, "  {cell:<width$}")?,
            _ => write!(out, "  {cell:>width$}")?,
        }
    }
    writeln!(out)
}

fn write_notes(figure: &FigureReport, out: &mut impl Write) -> io::Result<()> {
    for contender in &figure.contenders {
        let name = &contender.name;
        if let Outcome::NotMeasured { why } = &contender.outcome {
            writeln!(out, "  {name}: not measured: {why}")?;
        }
        if let Some(note) = &contender.note {
            writeln!(out, "  note: {name}: {note}")?;
        }
    }
    Ok(())
}

/// Says in words who was noisy and how; verdicts had to survive that much.
fn write_noise(figure: &FigureReport, out: &mut impl Write) -> io::Result<()> {
    let measured = || {
        let contenders = figure.contenders.iter();
        contenders.filter_map(|c| Some((&c.name, *c.numbers()?.1)))
    };
    let judged = measured().any(|(_, noise)| noise.drift.or(noise.spread).is_some());
    let noisy: Vec<_> = measured().filter_map(|(name, noise)| Some((name, noise.complaint()?))).collect();
    for (name, complaint) in &noisy {
        writeln!(out, "  noise: {name}: {complaint}")?;
    }
    match (judged, noisy.is_empty()) {
        (false, _) => writeln!(out, "  noise: not judged, too few rounds or values around zero"),
        (true, true) => writeln!(out, "  noise: calm, medians and spreads within bounds"),
        (true, false) => writeln!(out, "  noise: {NOISE_RULE}"),
    }
}

fn verdict(judgement: &Judgement) -> String {
    let words = &judgement.words;
    let observed =
        judgement.observed.map_or_else(String::new, |value| format!(" ({})", observed(&judgement.target.bound, value)));
    match &judgement.verdict {
        Verdict::Met => format!("{words}: met{observed}"),
        Verdict::Missed => format!("{words}: missed{observed}"),
        Verdict::TooNoisy { why } => format!("{words}: too noisy to judge{observed}: {why}"),
        Verdict::NotMeasured { why } => format!("{words}: not measured ({why})"),
    }
}

fn observed(bound: &Bound, value: f64) -> String {
    match bound {
        Bound::TimesFloor { .. } => format!("{value:.2} ×"),
        Bound::ShareOfFloor { .. } => percent(value),
        Bound::FasterThan { .. } => format!("{value:.1} ×"),
        Bound::Bytes { .. } => Unit::Bytes.show(value),
        Bound::Seconds { .. } | Bound::FloorPlus { .. } => Unit::Latency.show(value),
        Bound::PerSecond { .. } => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests;
