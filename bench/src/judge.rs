//! Compares targets with what was measured.
//!
//! A verdict needs both parties of a comparison to have been measured, and must
//! survive the noise seen in either: when an error as large as that noise would
//! change the answer, the answer is that it is too noisy to judge. It must not
//! guess where a party is missing.

use crate::plan::Role;
use crate::report::{ContenderReport, Judgement};
use crate::sample::{Unit, unsigned};
use crate::stats::{Noise, Summary};
use crate::target::{Bound, Limit, Statistic, Target, Verdict, holds};

/// Judges every target of `subject` among `all` contenders of its figure.
pub(crate) fn judge_all(
    targets: Vec<Target>,
    subject: &ContenderReport,
    all: &[ContenderReport],
    unit: Unit,
) -> Vec<Judgement> {
    let judge = |target| judge(target, subject, all, unit);
    targets.into_iter().map(judge).collect()
}

/// What a bound compares, once its parties are found.
struct Comparison {
    observed: f64,
    limit: Limit,
    bound: f64,
    noise: Vec<(String, Noise)>,
}

fn judge(target: Target, subject: &ContenderReport, all: &[ContenderReport], unit: Unit) -> Judgement {
    let compared = compare(&target, subject, all, unit);
    let observed = compared.as_ref().ok().map(|found| found.observed);
    let verdict = compared.map_or_else(|why| Verdict::NotMeasured { why }, verdict_on);
    Judgement { words: target.in_words(), target, observed, verdict }
}

fn verdict_on(found: Comparison) -> Verdict {
    let margins = found.noise.iter().map(|(_, noise)| noise.margin());
    let margin = margins.fold(0.0, f64::max);
    match holds(found.observed, found.limit, found.bound, margin) {
        Some(true) => Verdict::Met,
        Some(false) => Verdict::Missed,
        None => Verdict::TooNoisy { why: complaints(&found.noise) },
    }
}

fn complaints(noise: &[(String, Noise)]) -> String {
    let words = noise.iter().filter_map(|(name, noise)| Some(format!("{name}: {}", noise.complaint()?)));
    words.collect::<Vec<_>>().join("; ")
}

/// Puts subject and reference into the terms of the bound, or says what lacks.
fn compare(
    target: &Target,
    subject: &ContenderReport,
    all: &[ContenderReport],
    unit: Unit,
) -> Result<Comparison, String> {
    let own = party(Some(subject), &subject.name)?;
    let reference = reference(&target.bound, all)?;
    let (limit, bound) = limit_of(target, reference.as_ref(), unit);
    let observed = match (&target.bound, &reference) {
        (Bound::TimesFloor { .. }, Some(floor)) => cost(target.on, &own, floor, unit)?,
        (bound @ Bound::FloorPlus { .. }, Some(_)) => absolute(target.on, &own, unit, bound)?,
        (_, Some(other)) => cost(target.on, other, &own, unit)?,
        (bound, None) => absolute(target.on, &own, unit, bound)?,
    };
    let parties = std::iter::once(own).chain(reference);
    Ok(Comparison { observed, limit, bound, noise: parties.map(|party| (party.name, party.noise)).collect() })
}

/// The contender a relative bound refers to; none for an absolute bound.
fn reference(bound: &Bound, all: &[ContenderReport]) -> Result<Option<Party>, String> {
    match bound {
        Bound::TimesFloor { .. } | Bound::ShareOfFloor { .. } | Bound::FloorPlus { .. } => {
            let floor = all.iter().find(|c| c.role == Role::Floor);
            party(floor, "the floor").map(Some)
        }
        Bound::FasterThan { than, .. } => {
            let other = all.iter().find(|c| c.name == *than);
            party(other, than).map(Some)
        }
        Bound::Bytes { .. } | Bound::Seconds { .. } | Bound::PerSecond { .. } => Ok(None),
    }
}

/// What is added to the floor is added here: both sides are times then, and the noise is that of times.
fn limit_of(target: &Target, reference: Option<&Party>, unit: Unit) -> (Limit, f64) {
    let floor = reference.map_or(0.0, |floor| target.on.of(&floor.summary, unit));
    match &target.bound {
        Bound::FloorPlus { at_most } => (Limit::AtMost, floor + at_most),
        Bound::PerSecond { at_least } => (Limit::AtLeast, *at_least),
        Bound::TimesFloor { at_most } | Bound::Seconds { at_most } => (Limit::AtMost, *at_most),
        Bound::Bytes { at_most } => (Limit::AtMost, unsigned(*at_most)),
        Bound::ShareOfFloor { at_least } | Bound::FasterThan { at_least, .. } => (Limit::AtLeast, *at_least),
    }
}

/// A measured contender on one side of a comparison.
struct Party {
    name: String,
    summary: Summary,
    noise: Noise,
}

fn party(contender: Option<&ContenderReport>, called: &str) -> Result<Party, String> {
    let contender = contender.ok_or_else(|| format!("{called} is not in this figure"))?;
    let (summary, noise) = contender.numbers().ok_or_else(|| format!("{called} was not measured"))?;
    Ok(Party { name: contender.name.clone(), summary: *summary, noise: *noise })
}

fn cost(on: Statistic, of: &Party, against: &Party, unit: Unit) -> Result<f64, String> {
    let (value, reference) = (on.of(&of.summary, unit), on.of(&against.summary, unit));
    unit.cost_ratio(value, reference).ok_or_else(|| format!("{} against {} has no ratio", of.name, against.name))
}

fn absolute(on: Statistic, own: &Party, unit: Unit, bound: &Bound) -> Result<f64, String> {
    let fits = match bound {
        Bound::Bytes { .. } => unit == Unit::Bytes,
        Bound::Seconds { .. } | Bound::FloorPlus { .. } => unit == Unit::Latency,
        Bound::PerSecond { .. } => matches!(unit, Unit::Rate | Unit::Throughput),
        Bound::TimesFloor { .. } | Bound::ShareOfFloor { .. } | Bound::FasterThan { .. } => false,
    };
    fits.then(|| on.of(&own.summary, unit))
        .ok_or_else(|| format!("the target does not fit a figure in {}", unit.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Outcome;

    fn measured(name: &str, role: Role, values: &[f64]) -> ContenderReport {
        ContenderReport {
            name: name.into(),
            role,
            note: None,
            outcome: Outcome::Measured {
                summary: Summary::of(values).unwrap(),
                noise: Noise::of(values),
                versus_floor: None,
                samples: values.to_vec(),
            },
            judgements: Vec::new(),
        }
    }

    fn verdict(target: Target, all: &[ContenderReport], unit: Unit) -> (Option<f64>, Verdict) {
        let judged = judge_all(vec![target], &all[0], all, unit).remove(0);
        (judged.observed, judged.verdict)
    }

    #[test]
    fn latency_is_held_against_the_floor() {
        let all = [measured("atoll", Role::Subject, &[1.2; 8]), measured("raw", Role::Floor, &[1.0; 8])];
        let (observed, met) = verdict(Target::at_most_times_floor(1.35), &all, Unit::Latency);
        assert_eq!((observed, met), (Some(1.2), Verdict::Met));
        let (_, missed) = verdict(Target::at_most_times_floor(1.1), &all, Unit::Latency);
        assert_eq!(missed, Verdict::Missed);
    }

    #[test]
    fn a_time_may_be_the_floors_and_some_more() {
        let all = [measured("atoll", Role::Subject, &[1.2; 8]), measured("raw", Role::Floor, &[1.0; 8])];
        let target = |millis| Target::at_most_floor_plus(std::time::Duration::from_millis(millis));
        assert_eq!(verdict(target(250), &all, Unit::Latency), (Some(1.2), Verdict::Met));
        assert_eq!(verdict(target(150), &all, Unit::Latency), (Some(1.2), Verdict::Missed));
        assert!(matches!(verdict(target(1), &all, Unit::Rate).1, Verdict::NotMeasured { .. }));
    }

    #[test]
    fn a_rate_may_be_asked_for_by_itself() {
        let all = [measured("atoll", Role::Subject, &[5000.0; 8])];
        assert_eq!(verdict(Target::at_least_per_second(4000.0), &all, Unit::Rate).1, Verdict::Met);
        assert_eq!(verdict(Target::at_least_per_second(6000.0), &all, Unit::Rate).1, Verdict::Missed);
    }

    #[test]
    fn throughput_is_a_share_of_the_floor() {
        let all = [measured("atoll", Role::Subject, &[300.0; 8]), measured("raw", Role::Floor, &[400.0; 8])];
        let target = Target::at_least_share_of_floor(0.6);
        let found = verdict(target, &all, Unit::Throughput);
        assert_eq!(found, (Some(0.75), Verdict::Met));
    }

    #[test]
    fn a_drifting_floor_leaves_a_close_call_open() {
        let drifting = [1.0, 1.0, 1.0, 1.0, 1.3, 1.3, 1.3, 1.3];
        let all = [measured("atoll", Role::Subject, &[1.5; 8]), measured("raw", Role::Floor, &drifting)];
        let (_, close) = verdict(Target::at_most_times_floor(1.35), &all, Unit::Latency);
        let Verdict::TooNoisy { why } = close else {
            panic!("a close call: {close:?}");
        };
        assert!(why.starts_with("raw: median moved 30 %"), "{why}");
        let (_, clear) = verdict(Target::at_most_times_floor(3.0), &all, Unit::Latency);
        assert_eq!(clear, Verdict::Met);
    }

    #[test]
    fn an_absent_rival_gives_no_verdict() {
        let all = [measured("atoll", Role::Subject, &[1.0; 8])];
        let target = Target::at_least_times_faster_than(4.0, "crun exec");
        let (observed, verdict) = verdict(target, &all, Unit::Latency);
        let why = "crun exec is not in this figure".to_owned();
        assert_eq!((observed, verdict), (None, Verdict::NotMeasured { why }));
    }

    #[test]
    fn shrinking_memory_meets_a_bound_in_bytes() {
        let all = [measured("atoll", Role::Subject, &[-4096.0])];
        let (_, met) = verdict(Target::at_most_bytes(1), &all, Unit::Bytes);
        assert_eq!(met, Verdict::Met);
        let (_, unfit) = verdict(Target::at_most_bytes(1), &all, Unit::Rate);
        assert!(matches!(unfit, Verdict::NotMeasured { .. }));
    }
}
