//! Measures a plan: rounds, turns, and the handling of failures.
//!
//! Contenders of a figure take turns within each round, so that other load on
//! the machine affects all of them alike. A contender that fails is out for the
//! rest of the figure; the others continue. `report` judges the results.

use std::io;
use std::time::{Duration, Instant, SystemTime};

use crate::error::BenchError;
use crate::machine::Machine;
use crate::plan::{Contender, Figure, Measure, Plan, Role};
use crate::report::{FigureReport, Report};
use crate::sample::Unit;
use crate::target::Target;
use crate::turns::turn_order;

/// A contender during and after its figure.
pub(crate) struct Lane<'a> {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) note: Option<String>,
    pub(crate) targets: Vec<Target>,
    pub(crate) state: State<'a>,
}

/// A contender is measurable until its first error.
pub(crate) enum State<'a> {
    Running { measure: Measure<'a>, values: Vec<f64> },
    Out { why: String },
}

/// Measures every figure in turn, telling `progress` what is going on.
///
/// Fails only if `progress` cannot be written; a contender's failure is part of
/// the report. Contenders are dropped, and so cleaned up, with their figure.
pub fn run(plan: Plan<'_>, mut machine: Machine, progress: &mut impl io::Write) -> Result<Report, BenchError> {
    let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut figures = Vec::new();
    for figure in plan.figures {
        announce(&figure, progress).map_err(BenchError::io("write progress"))?;
        figures.push(measure_figure(figure));
    }
    machine.note_load_after();
    Ok(Report::new(started, machine, figures))
}

fn announce(figure: &Figure<'_>, progress: &mut impl io::Write) -> io::Result<()> {
    let ready = figure.contenders.iter().filter(|c| c.start.is_ok()).count();
    writeln!(progress, "measuring {}: {} rounds of {ready} contenders", figure.name, figure.rounds)?;
    progress.flush()
}

fn measure_figure(figure: Figure<'_>) -> FigureReport {
    let Figure { name, unit, rounds, warm_up, budget, contenders } = figure;
    let mut lanes: Vec<Lane<'_>> = contenders.into_iter().map(Lane::new).collect();
    for round in 0..warm_up {
        play_round(&mut lanes, round, unit);
    }
    lanes.iter_mut().for_each(Lane::forget);
    let done = play_rounds(&mut lanes, rounds, budget, unit);
    FigureReport::new(name, unit, done, warm_up, lanes)
}

/// Plays up to `rounds` whole rounds, at least one, and says how many.
fn play_rounds(lanes: &mut [Lane<'_>], rounds: usize, budget: Option<Duration>, unit: Unit) -> usize {
    let start = Instant::now();
    let mut done = 0;
    while done < rounds {
        play_round(lanes, done, unit);
        done += 1;
        if budget.is_some_and(|budget| start.elapsed() >= budget) {
            break;
        }
    }
    done
}

/// Those who are out are left out of the order, or it would not be balanced.
fn play_round(lanes: &mut [Lane<'_>], round: usize, unit: Unit) {
    let running = |lane: &&mut Lane<'_>| matches!(lane.state, State::Running { .. });
    let mut ready: Vec<&mut Lane<'_>> = lanes.iter_mut().filter(running).collect();
    for index in turn_order(round, ready.len()) {
        if let Some(lane) = ready.get_mut(index) {
            lane.take_turn(unit);
        }
    }
}

impl<'a> Lane<'a> {
    fn new(contender: Contender<'a>) -> Self {
        let state = match contender.start {
            Ok(measure) => State::Running { measure, values: Vec::new() },
            Err(error) => State::Out { why: error.in_one_line() },
        };
        Self { name: contender.name, role: contender.role, note: contender.note, targets: contender.targets, state }
    }

    fn take_turn(&mut self, unit: Unit) {
        let State::Running { measure, values } = &mut self.state else {
            return;
        };
        match measure().and_then(|sample| sample.value_in(unit)) {
            Ok(value) => values.push(value),
            Err(error) => {
                let why = format!("failed in turn {}: {}", values.len() + 1, error.in_one_line());
                self.state = State::Out { why };
            }
        }
    }

    /// Throws the warm-up away.
    fn forget(&mut self) {
        if let State::Running { values, .. } = &mut self.state {
            values.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::plan::Prepared;
    use crate::report::Outcome;
    use crate::sample::Sample;
    use crate::target::Verdict;

    fn steady(ms: u64) -> Result<Prepared<'static>, BenchError> {
        Ok(Prepared::new(move || Ok(Sample::Took(Duration::from_millis(ms)))))
    }

    fn run_one(figure: Figure<'_>) -> FigureReport {
        let report = run(Plan::new().with(figure), Machine::unknown(), &mut io::sink());
        report.unwrap().figures.remove(0)
    }

    #[test]
    fn contenders_take_turns_and_warm_up_is_thrown_away() {
        let log = RefCell::new(String::new());
        let player = |name: char| {
            let log = &log;
            Ok(Prepared::new(move || {
                log.borrow_mut().push(name);
                Ok(Sample::Took(Duration::from_millis(1)))
            }))
        };
        let figure = Figure::new("turns", Unit::Latency)
            .rounds(3)
            .warm_up(1)
            .with(Contender::floor("a", player('a')))
            .with(Contender::subject("b", player('b')))
            .with(Contender::alternative("c", player('c')));
        let report = run_one(figure);
        assert_eq!(*log.borrow(), "abcabcbcacab");
        let Outcome::Measured { samples, .. } = &report.contenders[0].outcome else {
            panic!("the floor was measured");
        };
        assert_eq!(samples.len(), 3);
    }

    #[test]
    fn a_failing_contender_is_out_and_the_others_continue() {
        let mut turns = 0;
        let fails = Prepared::new(|| {
            turns += 1;
            match turns {
                1 | 2 => Ok(Sample::Took(Duration::from_millis(1))),
                _ => Err(BenchError::contender("session is gone")),
            }
        });
        let figure = Figure::new("failing", Unit::Latency)
            .rounds(5)
            .warm_up(0)
            .with(Contender::floor("floor", steady(1)))
            .with(Contender::subject("subject", Ok(fails)).target(Target::at_most_times_floor(2.0)));
        let report = run_one(figure);
        let why = "failed in turn 3: session is gone".to_owned();
        assert_eq!(report.contenders[1].outcome, Outcome::NotMeasured { why });
        let judged = &report.contenders[1].judgements[0];
        assert!(matches!(judged.verdict, Verdict::NotMeasured { .. }));
        assert!(matches!(report.contenders[0].outcome, Outcome::Measured { .. }));
    }

    #[test]
    fn a_spent_budget_ends_after_a_whole_round() {
        let figure = Figure::new("slow", Unit::Latency)
            .rounds(100)
            .budget(Duration::ZERO)
            .with(Contender::floor("floor", steady(1)))
            .with(Contender::subject("subject", steady(1)));
        assert_eq!(run_one(figure).rounds, 1);
    }

    #[test]
    fn a_sample_in_the_wrong_unit_is_a_failure_not_a_number() {
        let figure = Figure::new("wrong", Unit::Bytes).with(Contender::subject("subject", steady(1)));
        let report = run_one(figure);
        assert!(matches!(report.contenders[0].outcome, Outcome::NotMeasured { .. }));
    }
}
