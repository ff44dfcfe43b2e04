//! Order statistics and the definition of noise.
//!
//! Owns every formula, so that a number in the report has one source. It knows
//! neither units nor contenders.

use serde::Serialize;

/// Below this the halves hold too few rounds for their medians to mean anything.
const FEWEST_FOR_NOISE: usize = 6;
/// The median may move this much between the halves of a run.
const DRIFT_BOUND: f64 = 0.15;
/// The middle 80 % may be this wide, relative to the median.
const SPREAD_BOUND: f64 = 0.60;

/// What a row of values looks like.
///
/// Quantiles interpolate between neighbours, so the p99 of fewer than 100
/// values is close to the largest of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// How many values.
    pub count: usize,
    /// The smallest value.
    pub min: f64,
    /// 1 % of values lie below: the tail where more is better.
    pub p1: f64,
    /// 10 % of values lie below.
    pub p10: f64,
    /// 25 % of values lie below.
    pub p25: f64,
    /// The median.
    pub p50: f64,
    /// 75 % of values lie below.
    pub p75: f64,
    /// 90 % of values lie below.
    pub p90: f64,
    /// 99 % of values lie below: the tail where less is better.
    pub p99: f64,
    /// The largest value.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median distance from the median.
    pub mad: f64,
    /// (p90 - p10) / p50; none where the median is not above zero.
    pub spread: Option<f64>,
}

impl Summary {
    /// Sums up `values`, or none of an empty row.
    pub fn of(values: &[f64]) -> Option<Self> {
        let sorted = sorted(values);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let p50 = quantile(&sorted, 0.5);
        let (p10, p90) = (quantile(&sorted, 0.1), quantile(&sorted, 0.9));
        let distances: Vec<f64> = sorted.iter().map(|value| (value - p50).abs()).collect();
        Some(Self {
            count: sorted.len(),
            min,
            p1: quantile(&sorted, 0.01),
            p10,
            p25: quantile(&sorted, 0.25),
            p50,
            p75: quantile(&sorted, 0.75),
            p90,
            p99: quantile(&sorted, 0.99),
            max,
            mean: sorted.iter().sum::<f64>() / length(&sorted),
            mad: median(&distances),
            spread: (p50 > 0.0).then(|| (p90 - p10) / p50),
        })
    }
}

/// How steady one contender's values were over the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Noise {
    /// How far the median of the second half lies from that of the first,
    /// relative to the smaller; none with too few values.
    pub drift: Option<f64>,
    /// (p90 - p10) / p50; none with too few values.
    pub spread: Option<f64>,
}

impl Noise {
    /// Judges `values` in the order in which they were measured.
    pub fn of(values: &[f64]) -> Self {
        if values.len() < FEWEST_FOR_NOISE {
            return Self { drift: None, spread: None };
        }
        let (first, second) = values.split_at(values.len() / 2);
        let (first, second) = (median(first), median(second));
        let (low, high) = (first.min(second), first.max(second));
        Self {
            drift: (low > 0.0).then(|| high / low - 1.0),
            spread: Summary::of(values).and_then(|summary| summary.spread),
        }
    }

    /// How far off the median may be; zero when the run was calm.
    ///
    /// A typical value lies within half the spread of the median, so that is
    /// the doubt a wide spread casts on it.
    pub fn margin(&self) -> f64 {
        let drift = self.drift.filter(|drift| *drift > DRIFT_BOUND);
        let spread = self.spread.filter(|spread| *spread > SPREAD_BOUND);
        drift.unwrap_or(0.0).max(spread.map_or(0.0, |spread| spread / 2.0))
    }

    /// What was noisy, in words; none when the run was calm.
    pub fn complaint(&self) -> Option<String> {
        let drift = self.drift.filter(|drift| *drift > DRIFT_BOUND).map(|drift| {
            let (seen, bound) = (percent(drift), percent(DRIFT_BOUND));
            format!("median moved {seen} between the halves of the run (bound {bound})")
        });
        let spread = self.spread.filter(|spread| *spread > SPREAD_BOUND).map(|spread| {
            let (seen, bound) = (percent(spread), percent(SPREAD_BOUND));
            format!("middle 80 % is {seen} of the median wide (bound {bound})")
        });
        let words: Vec<String> = drift.into_iter().chain(spread).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// A share in whole per cent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn median(values: &[f64]) -> f64 {
    quantile(&sorted(values), 0.5)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Linear interpolation between the two nearest ranks (Hyndman and Fan, type 7).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the rank lies between 0 and the length")]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.last() else {
        return f64::NAN;
    };
    let rank = share * (length(sorted) - 1.0);
    let below = rank.floor() as usize;
    let low = sorted.get(below).unwrap_or(last);
    let high = sorted.get(below + 1).unwrap_or(last);
    low + (high - low) * rank.fract()
}

fn length(values: &[f64]) -> f64 {
    crate::sample::unsigned(values.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn quantiles_of_one_to_a_hundred_and_one() {
        let values: Vec<f64> = (1..=101).rev().map(f64::from).collect();
        let summary = Summary::of(&values).unwrap();
        assert_eq!(summary.count, 101);
        assert!(close(summary.p1, 2.0));
        assert!(close(summary.p10, 11.0));
        assert!(close(summary.p50, 51.0));
        assert!(close(summary.p90, 91.0));
        assert!(close(summary.p99, 100.0));
        assert!(close(summary.mean, 51.0));
        assert!(close(summary.mad, 25.0));
        assert!(close(summary.spread.unwrap(), 80.0 / 51.0));
    }

    #[test]
    fn an_even_row_has_its_median_between_two_values() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert!(close(summary.p50, 2.5));
        assert!(close(summary.p25, 1.75));
    }

    #[test]
    fn one_value_is_every_quantile() {
        let summary = Summary::of(&[7.0]).unwrap();
        assert_eq!((summary.p1, summary.p50, summary.p99), (7.0, 7.0, 7.0));
        assert_eq!(summary.mad, 0.0);
    }

    #[test]
    fn an_empty_row_has_no_summary() {
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn a_row_around_zero_has_no_spread() {
        assert_eq!(Summary::of(&[-1.0, 0.0, 1.0]).unwrap().spread, None);
    }

    #[test]
    fn a_steady_row_is_calm() {
        let noise = Noise::of(&[1.0, 1.1, 1.0, 1.1, 1.0, 1.1]);
        assert_eq!(noise.complaint(), None);
        assert_eq!(noise.margin(), 0.0);
    }

    #[test]
    fn a_step_half_way_is_drift() {
        let noise = Noise::of(&[1.0, 1.0, 1.0, 1.3, 1.3, 1.3]);
        assert!(close(noise.margin(), 0.3));
        let words = noise.complaint().unwrap();
        assert!(words.contains("moved 30 %"), "{words}");
    }

    #[test]
    fn wild_values_are_spread() {
        let noise = Noise::of(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.5, 1.5]);
        let words = noise.complaint().unwrap();
        assert!(words.contains("middle 80 %"), "{words}");
        assert!(noise.margin() > 0.3);
    }

    #[test]
    fn few_values_are_not_judged() {
        assert_eq!(Noise::of(&[1.0, 9.0, 1.0]).complaint(), None);
        assert_eq!(Noise::of(&[1.0, 9.0, 1.0]).drift, None);
    }
}
