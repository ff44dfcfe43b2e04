//! What the kernel counts per user and not per process, and how much of it one sandbox may use.
//!
//! The kernel charges what is made in a user namespace to the user who created that namespace as well (ucounts(9) has no
//! page; see namespaces(7) on `/proc/sys/user` and user_namespaces(7)). As root each namespace is created by ids that
//! belong to its sandbox alone (`launch/clone.rs`), so these counters are the sandbox's own. An ordinary user has one id for
//! everything, so each sandbox gets a share of what that user has.

use std::io;

use crate::sys::identity;

/// Of what an ordinary user has, one sandbox gets this fraction: enough for a large build, and several sandboxes at their
/// limit leave the user enough to work with.
const SHARE: u64 = 8;

/// Of open files one sandbox gets half. In-flight descriptors are counted per user and compared with the sender's own limit,
/// so init and the agent, which keep the whole, can always send.
const SHARE_OF_FILES: u64 = 2;

/// Resource numbers of setrlimit(2) whose use is counted per user: processes, locked memory, pending signals (timers are
/// counted as such), bytes in message queues.
const COUNTED: [u32; 4] = [6, 8, 11, 12];
const RLIMIT_NOFILE: u32 = 7;

/// Limits of a user namespace below `/proc/sys/user`.
const SETTINGS: [&str; 2] = ["max_inotify_instances", "max_inotify_watches"];

/// How much one sandbox may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quotas {
    /// Resource limits of init and everything inside: resource, soft and hard value.
    pub limits: Vec<(u32, u64, u64)>,
    /// Settings of its user namespace: name and value.
    pub settings: Vec<(String, u64)>,
    /// Soft and hard limit on open files of each program, if init has more.
    pub open_files: Option<(u64, u64)>,
}

impl Quotas {
    /// For sandboxes that this process makes. Also raises the process's own limit on open files to what it may have: a
    /// sandbox chooses how many connections it holds.
    pub fn new() -> io::Result<Self> {
        let (soft, hard) = identity::limit(RLIMIT_NOFILE)?;
        identity::set_limit(RLIMIT_NOFILE, hard, hard)?;
        if identity::user() == 0 {
            return Ok(Self { limits: vec![(RLIMIT_NOFILE, soft, hard)], ..Self::default() });
        }
        let most = hard / SHARE_OF_FILES;
        Ok(Self { open_files: Some((soft.min(most), most)), ..Self::shared()? })
    }

    fn shared() -> io::Result<Self> {
        let mut quotas = Self::default();
        for resource in COUNTED {
            let (_, hard) = identity::limit(resource)?;
            if hard != u64::MAX {
                quotas.limits.push((resource, hard / SHARE, hard / SHARE));
            }
        }
        for name in SETTINGS {
            // A kernel without inotify has no such limit.
            let Ok(text) = std::fs::read_to_string(format!("/proc/sys/user/{name}")) else { continue };
            let all: u64 = text.trim().parse().map_err(io::Error::other)?;
            quotas.settings.push((name.to_owned(), (all / SHARE).max(1)));
        }
        Ok(quotas)
    }
}
