//! The target of a contender, and whether it was met.
//!
//! Owns the words of a target and the rule of judgement. It is handed finished
//! numbers and must not look at samples: see `judge` for where they come from.

use std::time::Duration;

use serde::Serialize;

use crate::sample::{Unit, unsigned};
use crate::stats::{Summary, percent};

/// Which number of a contender is held against the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The median.
    P50,
    /// The worst 1 %: p99 where less is better, p1 where more is.
    Tail,
    /// The best value: the smallest where less is better, else the largest.
    Best,
}

/// The limit itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Bound {
    /// At most a multiple of the floor's cost.
    TimesFloor {
        /// The largest ratio allowed.
        at_most: f64,
    },
    /// At least this share of what the floor reaches; 0.6 is 60 %.
    ShareOfFloor {
        /// The smallest share allowed.
        at_least: f64,
    },
    /// At least a multiple of the speed of another contender of the figure.
    FasterThan {
        /// The smallest factor allowed.
        at_least: f64,
        /// The other contender's name.
        than: String,
    },
    /// At most a fixed time longer than the floor.
    FloorPlus {
        /// The longest time beyond the floor's allowed, in seconds.
        at_most: f64,
    },
    /// At least a number per second: operations, or bytes for a throughput.
    PerSecond {
        /// The smallest number allowed.
        at_least: f64,
    },
    /// At most a number of bytes.
    Bytes {
        /// The largest amount allowed.
        at_most: u64,
    },
    /// At most this long.
    Seconds {
        /// The longest time allowed, in seconds.
        at_most: f64,
    },
}

/// A bound on one statistic of a contender.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Target {
    /// The limit.
    pub bound: Bound,
    /// The number it applies to.
    pub on: Statistic,
}

/// How a target came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Verdict {
    /// Reached.
    Met,
    /// Not reached.
    Missed,
    /// The noise seen could turn the answer round.
    TooNoisy {
        /// What was noisy.
        why: String,
    },
    /// There is nothing to judge by.
    NotMeasured {
        /// What is missing.
        why: String,
    },
}

impl Target {
    /// At most `ratio` times the floor's median cost.
    pub fn at_most_times_floor(ratio: f64) -> Self {
        Self::on_median(Bound::TimesFloor { at_most: ratio })
    }

    /// At least `share` of the floor's median performance; 0.6 is 60 %.
    pub fn at_least_share_of_floor(share: f64) -> Self {
        Self::on_median(Bound::ShareOfFloor { at_least: share })
    }

    /// At least `factor` times as fast as the contender called `than`.
    pub fn at_least_times_faster_than(factor: f64, than: impl Into<String>) -> Self {
        Self::on_median(Bound::FasterThan { at_least: factor, than: than.into() })
    }

    /// A median of at most the floor's and `time` more.
    pub fn at_most_floor_plus(time: Duration) -> Self {
        Self::on_median(Bound::FloorPlus { at_most: time.as_secs_f64() })
    }

    /// A median of at least `count` per second.
    pub fn at_least_per_second(count: f64) -> Self {
        Self::on_median(Bound::PerSecond { at_least: count })
    }

    /// A median of at most `bytes`.
    pub fn at_most_bytes(bytes: u64) -> Self {
        Self::on_median(Bound::Bytes { at_most: bytes })
    }

    /// A median of at most `time`.
    pub fn at_most(time: Duration) -> Self {
        Self::on_median(Bound::Seconds { at_most: time.as_secs_f64() })
    }

    /// The same bound on another statistic.
    #[must_use]
    pub fn on(mut self, statistic: Statistic) -> Self {
        self.on = statistic;
        self
    }

    fn on_median(bound: Bound) -> Self {
        Self { bound, on: Statistic::P50 }
    }

    /// The target as a person would say it.
    pub(crate) fn in_words(&self) -> String {
        let bound = match &self.bound {
            Bound::TimesFloor { at_most } => format!("at most {at_most} × floor"),
            Bound::ShareOfFloor { at_least } => {
                format!("at least {} of floor", percent(*at_least))
            }
            Bound::FasterThan { at_least, than } => {
                format!("at least {at_least} × faster than {than}")
            }
            Bound::FloorPlus { at_most } => format!("at most floor + {}", Unit::Latency.show(*at_most)),
            Bound::PerSecond { at_least } => format!("at least {at_least} per second"),
            Bound::Bytes { at_most } => {
                format!("at most {}", Unit::Bytes.show(unsigned(*at_most)))
            }
            Bound::Seconds { at_most } => format!("at most {}", Unit::Latency.show(*at_most)),
        };
        match self.on {
            Statistic::P50 => bound,
            Statistic::Tail => format!("{bound} in the tail"),
            Statistic::Best => format!("{bound} at best"),
        }
    }
}

impl Statistic {
    /// Picks this number out of a summary.
    pub(crate) fn of(self, summary: &Summary, unit: Unit) -> f64 {
        use crate::sample::Better::{Higher, Lower};
        match (self, unit.better()) {
            (Self::P50, Lower | Higher) => summary.p50,
            (Self::Tail, Lower) => summary.p99,
            (Self::Tail, Higher) => summary.p1,
            (Self::Best, Lower) => summary.min,
            (Self::Best, Higher) => summary.max,
        }
    }
}

/// Which side of the limit is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    AtMost,
    AtLeast,
}

/// Whether `observed` keeps the limit, or none if an error of `margin` (0.2 is
/// 20 %) in either direction would change the answer.
pub(crate) fn holds(observed: f64, limit: Limit, bound: f64, margin: f64) -> Option<bool> {
    let keeps = |value: f64| match limit {
        Limit::AtMost => value <= bound,
        Limit::AtLeast => value >= bound,
    };
    let (low, high) = (observed / (1.0 + margin), observed * (1.0 + margin));
    (keeps(low) == keeps(high)).then(|| keeps(observed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_read_as_sentences() {
        let words = |target: Target| target.in_words();
        assert_eq!(words(Target::at_most_times_floor(1.35)), "at most 1.35 × floor");
        assert_eq!(words(Target::at_least_share_of_floor(0.6)), "at least 60 % of floor");
        assert_eq!(words(Target::at_least_times_faster_than(4.0, "crun exec")), "at least 4 × faster than crun exec");
        let plus = Target::at_most_floor_plus(Duration::from_micros(200));
        assert_eq!(words(plus), "at most floor + 200 µs");
        assert_eq!(words(Target::at_least_per_second(5000.0)), "at least 5000 per second");
        assert_eq!(words(Target::at_most_bytes(4 << 20)), "at most 4.00 MiB");
        assert_eq!(words(Target::at_most(Duration::from_millis(5)).on(Statistic::Tail)), "at most 5.00 ms in the tail");
    }

    #[test]
    fn a_calm_value_is_judged_as_it_is() {
        assert_eq!(holds(1.34, Limit::AtMost, 1.35, 0.0), Some(true));
        assert_eq!(holds(1.36, Limit::AtMost, 1.35, 0.0), Some(false));
        assert_eq!(holds(0.59, Limit::AtLeast, 0.6, 0.0), Some(false));
    }

    #[test]
    fn noise_blocks_only_what_it_could_turn_round() {
        assert_eq!(holds(1.2, Limit::AtMost, 1.35, 0.2), None);
        assert_eq!(holds(1.5, Limit::AtMost, 1.35, 0.2), None);
        assert_eq!(holds(1.0, Limit::AtMost, 1.35, 0.2), Some(true));
        assert_eq!(holds(9.0, Limit::AtLeast, 4.0, 0.2), Some(true));
        assert_eq!(holds(2.0, Limit::AtLeast, 4.0, 0.2), Some(false));
    }
}
