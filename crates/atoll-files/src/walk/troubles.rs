//! What a walk could not look at: how much, and the first of it.

use std::sync::Mutex;

use crate::error::Failure;

/// How many are told in full. The rest is counted.
const MAX_TOLD: usize = 100;

/// Failures that do not end the work.
#[derive(Debug, Default)]
pub struct Troubles(Mutex<(u64, Vec<Failure>)>);

impl Troubles {
    /// Adds one.
    pub fn add(&self, failure: Failure) {
        let mut held = self.0.lock().expect("nobody panics with the lock held");
        held.0 += 1;
        if held.1.len() < MAX_TOLD {
            held.1.push(failure);
        }
    }

    /// How many there were, and the first hundred, ordered by path.
    #[must_use]
    pub fn into_told(self) -> (u64, Vec<Failure>) {
        let (count, mut told) = self.0.into_inner().expect("nobody panics with the lock held");
        told.sort_by(|a, b| a.path.cmp(&b.path));
        (count, told)
    }
}
