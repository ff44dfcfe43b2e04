//! Freezing and thawing a cgroup2 directory.
//!
//! Owns `cgroup.freeze` and what `cgroup.events` says about it. It must not remember who froze
//! what: that is the caller's state.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::error::Error;
use super::file;
use super::patience::Patience;

/// Stops every process at or below `dir` and waits until all have stopped.
///
/// The kernel stops them one by one, when each leaves the kernel; only `frozen 1` says that none
/// runs any more (cgroup-v2.rst, "cgroup.freeze"). If that takes too long, they are thawed.
pub(super) fn freeze(dir: &Path, events: &File, within: Duration) -> Result<(), Error> {
    file::write(&dir.join("cgroup.freeze"), "1")?;
    let stopped = wait_until_frozen(dir, events, within);
    if stopped.is_err() {
        thaw(dir)?;
    }
    stopped
}

/// Lets the processes run again. They can from the moment the write returns: nothing to wait for.
pub(super) fn thaw(dir: &Path) -> Result<(), Error> {
    file::write(&dir.join("cgroup.freeze"), "0")
}

/// Opens `cgroup.events` of `dir`.
pub(super) fn open_events(dir: &Path) -> Result<File, Error> {
    let path = dir.join("cgroup.events");
    File::open(&path).map_err(|cause| Error::io("open", &path, cause))
}

fn wait_until_frozen(dir: &Path, events: &File, within: Duration) -> Result<(), Error> {
    let mut patience = Patience::new(within);
    while file::reread_key(events, dir, "frozen")? == 0 {
        if !patience.wait() {
            return Err(Error::NotInTime { action: "freeze", path: dir.to_owned(), within });
        }
    }
    Ok(())
}
