//! A mount namespace in which crun runs.
//!
//! crun refuses to run while the cgroup v2 tree of a hybrid machine holds a
//! controller ("drop all controllers from cgroupv2"), and taking that controller
//! away would change the whole machine. So a thread of its own gets a private
//! mount namespace without the v2 tree, and crun is started from there. The
//! clock runs on that thread too: handing a turn over costs the contender
//! nothing. It must not change any mount the rest of the process sees.

use std::fs;
use std::sync::mpsc;
use std::thread;

use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::thread::UnshareFlags;

use crate::error::BenchError;

const UNIFIED: &str = "/sys/fs/cgroup/unified";

type Job = Box<dyn FnOnce() + Send>;

/// Where commands of a contender are started.
pub(super) enum Stage {
    /// On the calling thread: nothing is in crun's way.
    Here,
    /// On a thread with mounts of its own, which ends when this is dropped.
    Apart(mpsc::Sender<Job>),
}

impl Stage {
    /// A place without the v2 tree of a hybrid machine.
    pub(super) fn without_hybrid_cgroups() -> Result<Self, BenchError> {
        let controllers = fs::read_to_string(format!("{UNIFIED}/cgroup.controllers"));
        match controllers {
            Ok(names) if !names.trim().is_empty() => Self::apart(),
            Ok(_) | Err(_) => Ok(Self::Here),
        }
    }

    /// What a reader of the figure should know about the place.
    pub(super) fn note(&self) -> Option<&'static str> {
        match self {
            Self::Here => None,
            Self::Apart(_) => Some("cgroup v2 hidden from it, as crun refuses hybrid trees"),
        }
    }

    /// Runs `work` there and waits for its result.
    pub(super) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, BenchError> {
        let Self::Apart(jobs) = self else {
            return Ok(work());
        };
        let (result, answer) = mpsc::sync_channel(1);
        // The receiver may have been dropped: the result is then unused.
        let job: Job = Box::new(move || drop(result.send(work())));
        jobs.send(job).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())
    }

    fn apart() -> Result<Self, BenchError> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let (ready, set_up) = mpsc::sync_channel(1);
        let worker = move || {
            let hidden = hide_unified();
            let usable = hidden.is_ok();
            if ready.send(hidden).is_ok() && usable {
                inbox.iter().for_each(|job| job());
            }
        };
        let thread = thread::Builder::new().name("crun stage".into());
        let doing = || BenchError::io("hide cgroup v2 in a mount namespace");
        thread.spawn(worker).map_err(doing())?;
        let hidden = set_up.recv().map_err(|_| gone())?;
        hidden.map_err(|error| doing()(error.into()))?;
        Ok(Self::Apart(jobs))
    }
}

fn gone() -> BenchError {
    BenchError::Unfit("the thread that starts crun is gone".into())
}

/// Gives the calling thread mounts of its own and takes the v2 tree out.
#[expect(deprecated, reason = "deprecated as unsound with FILES only; NEWNS touches no descriptor")]
fn hide_unified() -> rustix::io::Result<()> {
    rustix::thread::unshare(UnshareFlags::NEWNS)?;
    let recursive = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    mount_change("/", recursive)?;
    unmount(UNIFIED, UnmountFlags::DETACH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_and_answered_wherever_it_runs() {
        assert_eq!(Stage::Here.run(|| 7).unwrap(), 7);
        // Needs root; without it the error is the answer.
        if let Ok(stage) = Stage::apart() {
            assert_eq!(stage.run(|| 7).unwrap(), 7);
        }
    }

    #[test]
    fn hiding_changes_nothing_for_other_threads() {
        let seen = || fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
        let before = seen();
        if let Ok(stage) = Stage::apart() {
            assert!(!stage.run(seen).unwrap().contains(UNIFIED));
        }
        assert_eq!(seen(), before);
    }
}
