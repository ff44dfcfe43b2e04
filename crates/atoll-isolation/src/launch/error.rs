//! Why a sandbox could not be made, in the user's words.

use std::io;

use crate::plan::Step;

/// A sandbox was not made; nothing of it is left.
#[derive(Debug)]
pub struct LaunchError {
    what: String,
    source: io::Error,
    hint: Option<&'static str>,
}

impl LaunchError {
    pub(crate) fn new(what: impl Into<String>, source: io::Error) -> Self {
        Self { what: what.into(), source, hint: None }
    }

    /// Failures of the clone itself have few causes, each with a cure.
    pub(super) fn cloning(namespaces: bool, source: io::Error) -> Self {
        let hint = match source.raw_os_error() {
            Some(libc::EPERM) if namespaces => Some(
                "this host forbids user namespaces to this user: run as root, or allow them \
                 (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0); \
                 isolation \"none\" runs commands without a wall",
            ),
            Some(libc::ENOSPC) => Some("a limit on namespaces is reached: see /proc/sys/user/max_*_namespaces"),
            Some(libc::EAGAIN) => Some("no more processes may be made: see ulimit -u and the pids cgroup"),
            Some(libc::EACCES) => Some("the cgroup of the sandbox may not be entered"),
            _ => None,
        };
        Self { what: "make a process in new namespaces".to_owned(), source, hint }
    }

    /// The host lets programs that changed their user be traced.
    pub(super) fn shared_dumps() -> Self {
        let source = io::Error::other("fs.suid_dumpable is 1, so programs inside could trace and change PID 1");
        Self { what: "isolate PID 1".to_owned(), source, hint: Some("set it to 0 or 2: sysctl fs.suid_dumpable=0") }
    }

    pub(super) fn step(step: Option<&Step>, errno: i32) -> Self {
        let source = io::Error::from_raw_os_error(errno);
        let what = step.map_or_else(|| "start".to_owned(), ToString::to_string);
        let hint = match step {
            Some(Step::Proc { .. }) if errno == libc::EPERM => Some(
                "a container hides parts of /proc, so no new one may be mounted: start it with --security-opt systempaths=unconfined",
            ),
            Some(Step::Overlay { .. }) => Some(
                "the sandbox's storage must be on a filesystem that can be an overlay's upper layer (ext4, xfs, btrfs, tmpfs; not overlay or nfs)",
            ),
            _ => None,
        };
        Self { what, source, hint }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint
    }
}

impl std::fmt::Display for LaunchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "failed to {}: {}", self.what, self.source)
    }
}

impl std::error::Error for LaunchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
