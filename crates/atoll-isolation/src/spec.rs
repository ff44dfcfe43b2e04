//! What a sandbox should be, in the caller's words. Pure data; [`crate::Plan`] turns it into steps.

use std::path::PathBuf;

use crate::quota::Quotas;

/// How strongly commands are walled off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// All namespaces, own root, filters. If the host cannot do it, creation fails; it never degrades.
    #[default]
    Namespaces,
    /// None at all: commands run on the host as it is. Only when asked for by name.
    None,
}

/// Which outside ids the inside's ids are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdMap {
    /// Ids 0..count inside are base..base+count outside: needs privilege, gives the inside many users.
    Range {
        /// First outside id.
        base: u32,
        /// How many.
        count: u32,
    },
    /// Root inside is the calling user outside; no other id exists inside. Needs no privilege.
    Own {
        /// The caller's user id.
        uid: u32,
        /// The caller's group id.
        gid: u32,
    },
}

impl IdMap {
    /// Whether a user or group of this number exists inside.
    pub fn contains(&self, id: u32) -> bool {
        match self {
            Self::Range { count, .. } => id < *count,
            Self::Own { .. } => id == 0,
        }
    }

    /// Outside user and group of root inside.
    pub fn root(&self) -> (u32, u32) {
        match self {
            Self::Range { base, .. } => (*base, *base),
            Self::Own { uid, gid } => (*uid, *gid),
        }
    }
}

/// Where the sandbox's own files are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// A directory that belongs to this sandbox alone.
    pub path: PathBuf,
}

/// One sandbox to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The id map.
    pub ids: IdMap,
    /// The prepared base of the root: /etc and empty mount points.
    pub base: PathBuf,
    /// The host's system directories that are laid under the root (`usr`, and on unmerged systems `bin`, `lib`, …).
    pub system: Vec<String>,
    /// Those of them to which the base adds something.
    pub added_to: Vec<String>,
    /// The sandbox's writable storage.
    pub disk: Disk,
    /// Whether the launcher can pass prepared mounts (it is privileged) or init must clone them itself.
    pub privileged: bool,
    /// Whether the passed system mounts show the host's root as root inside.
    pub idmapped: bool,
    /// How much it may use of what the kernel counts per user.
    pub quotas: Quotas,
}
