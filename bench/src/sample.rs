//! One measured value, and the unit that says how to read it.
//!
//! Owns the meaning of numbers: what a sample is worth in its figure's unit,
//! which direction is better, and how a value is written for people. It knows
//! nothing of contenders or targets.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// What a figure counts. Values are kept in the base unit named here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum Unit {
    /// Time per operation, in seconds.
    #[serde(rename = "seconds")]
    Latency,
    /// Bytes moved per second.
    #[serde(rename = "bytes_per_second")]
    Throughput,
    /// Operations per second.
    #[serde(rename = "per_second")]
    Rate,
    /// A plain amount of memory or disk; negative when it shrank.
    #[serde(rename = "bytes")]
    Bytes,
}

/// Which way a unit improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// What one turn of a contender found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// One operation took this long.
    Took(Duration),
    /// A number of bytes was moved in this time.
    Moved {
        /// Bytes moved.
        bytes: u64,
        /// Time it took.
        took: Duration,
    },
    /// A number of operations was done in this time.
    Counted {
        /// Operations done.
        count: u64,
        /// Time they took.
        took: Duration,
    },
    /// A plain amount in bytes.
    Bytes(i64),
}

impl Sample {
    /// Times one call. The result is dropped after the clock has stopped.
    pub fn time<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Self, BenchError>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let start = Instant::now();
        let result = work();
        let took = start.elapsed();
        result.map(|_| Self::Took(took)).map_err(BenchError::contender)
    }

    /// The value in `unit`, or why this kind of sample has none.
    pub(crate) fn value_in(self, unit: Unit) -> Result<f64, BenchError> {
        match (self, unit) {
            (Self::Took(took), Unit::Latency) => Ok(took.as_secs_f64()),
            (Self::Moved { bytes: n, took }, Unit::Throughput) | (Self::Counted { count: n, took }, Unit::Rate) => {
                per_second(n, took)
            }
            (Self::Bytes(amount), Unit::Bytes) => Ok(signed(amount)),
            (sample, unit) => {
                Err(BenchError::Unfit(format!("sample {sample:?} does not fit a figure in {}", unit.name())))
            }
        }
    }
}

impl Unit {
    /// Which way this unit improves.
    pub fn better(self) -> Better {
        match self {
            Self::Latency | Self::Bytes => Better::Lower,
            Self::Throughput | Self::Rate => Better::Higher,
        }
    }

    /// How many times as costly `value` is as `reference`: above 1 is worse,
    /// whichever way the unit improves. None where a ratio means nothing.
    pub(crate) fn cost_ratio(self, value: f64, reference: f64) -> Option<f64> {
        let (over, under) = match self.better() {
            Better::Lower => (value, reference),
            Better::Higher => (reference, value),
        };
        (over >= 0.0 && under > 0.0).then(|| over / under)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Latency => "seconds",
            Self::Throughput => "bytes per second",
            Self::Rate => "operations per second",
            Self::Bytes => "bytes",
        }
    }

    /// The value as people read it, with a unit of fitting size.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Latency => scaled(value * 1e9, 1000.0, &["ns", "µs", "ms", "s"]),
            Self::Throughput => scaled(value, 1024.0, &["B/s", "KiB/s", "MiB/s", "GiB/s"]),
            Self::Bytes => scaled(value, 1024.0, &["B", "KiB", "MiB", "GiB"]),
            Self::Rate => scaled(value, f64::INFINITY, &["/s"]),
        }
    }
}

/// Three significant digits are more than the noise leaves, and fit a column.
fn scaled(value: f64, step: f64, names: &[&str]) -> String {
    let mut value = value;
    let mut names = names.iter();
    let mut name = names.next().copied().unwrap_or_default();
    for larger in names {
        if value.abs() < step {
            break;
        }
        value /= step;
        name = larger;
    }
    let decimals = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {name}")
}

fn per_second(amount: u64, took: Duration) -> Result<f64, BenchError> {
    if took.is_zero() {
        return Err(BenchError::Unfit("no time passed on the clock".into()));
    }
    Ok(unsigned(amount) / took.as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "amounts beyond 2^53 lose digits far below the noise")]
pub(crate) fn unsigned(amount: u64) -> f64 {
    amount as f64
}

#[expect(clippy::cast_precision_loss, reason = "amounts beyond 2^53 lose digits far below the noise")]
fn signed(amount: i64) -> f64 {
    amount as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_with_a_fitting_unit() {
        assert_eq!(Unit::Latency.show(0.001_234), "1.23 ms");
        assert_eq!(Unit::Latency.show(0.000_042), "42.0 µs");
        assert_eq!(Unit::Latency.show(75.0), "75.0 s");
        assert_eq!(Unit::Throughput.show(1_610_612_736.0), "1.50 GiB/s");
        assert_eq!(Unit::Rate.show(1834.2), "1834 /s");
        assert_eq!(Unit::Bytes.show(-2048.0), "-2.00 KiB");
        assert_eq!(Unit::Bytes.show(0.0), "0 B");
    }

    #[test]
    fn a_sample_of_another_kind_is_refused() {
        let error = Sample::Bytes(1).value_in(Unit::Latency).unwrap_err();
        assert!(error.to_string().contains("does not fit"), "{error}");
    }

    #[test]
    fn cost_is_above_one_when_worse_in_either_direction() {
        assert_eq!(Unit::Latency.cost_ratio(3.0, 2.0), Some(1.5));
        assert_eq!(Unit::Throughput.cost_ratio(2.0, 3.0), Some(1.5));
        assert_eq!(Unit::Bytes.cost_ratio(3.0, 0.0), None);
        assert_eq!(Unit::Bytes.cost_ratio(-3.0, 1.0), None);
    }

    #[test]
    fn throughput_is_bytes_over_time() {
        let sample = Sample::Moved { bytes: 100, took: Duration::from_millis(500) };
        assert_eq!(sample.value_in(Unit::Throughput).unwrap(), 200.0);
    }
}
