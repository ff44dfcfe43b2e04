//! Whose turn it is to change a file. Changes of one file that this worker makes come one after the other, from the look
//! at what is there to the step that replaces it; so of two that were asked for at once, the second sees what the first
//! did. Somebody else inside, who changes files without us, is found out by what the file is then.

use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// As many changes may be at their last step at once; two of one file never are.
const LOCKS: usize = 64;
static TURNS: [Mutex<()>; LOCKS] = [const { Mutex::new(()) }; LOCKS];

/// A file, or others that happen to share its lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(usize);

/// Nobody else changes the files for as long as this lives.
#[derive(Debug)]
pub(crate) struct Turn {
    _held: Vec<MutexGuard<'static, ()>>,
}

impl Key {
    /// Of a name in a directory.
    pub(crate) fn of(directory: impl AsFd, name: &[u8]) -> rustix::io::Result<Self> {
        Ok(Self::mixed(rustix::fs::fstat(directory)?.st_ino, name))
    }

    /// Of a path whose directory is not there yet.
    pub(crate) fn of_path(path: &[u8]) -> Self {
        Self::mixed(0, path)
    }

    fn mixed(start: u64, bytes: &[u8]) -> Self {
        let mixed = bytes.iter().fold(start, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        Self(usize::try_from(mixed % LOCKS as u64).unwrap_or(0))
    }
}

impl Turn {
    /// Waits for all of them, in an order of their own: two who need the same never wait for each other.
    pub(crate) fn take(mut keys: Vec<Key>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        let held = keys.into_iter().map(|Key(index)| TURNS[index].lock().unwrap_or_else(PoisonError::into_inner));
        Self { _held: held.collect() }
    }
}
