//! What this machine offers: a tree for the processes, and a controller for each limit.
//!
//! Owns the answer and how it is shown. How it is found out is in `probe`; it must not change
//! after detection, so that two sandboxes never disagree about where they live.

use std::fmt;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::limits::{Limit, Limits};
use super::mounts::Mounts;
use super::probe;

/// What this machine offers, and why not more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Where the processes of sandboxes are grouped.
    pub tree: Tree,
    /// How each limit is enforced.
    pub controllers: Controllers,
}

/// The cgroup2 tree: kill, freeze and membership.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// Sandboxes are made in `parent`.
    Cgroup2 {
        /// Where the file system is mounted.
        mount: PathBuf,
        /// The shared directory of all sandboxes, made and removed as needed.
        parent: PathBuf,
    },
    /// There is none that can be used.
    Unavailable {
        /// Why not.
        why: String,
    },
}

/// How each limit is enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controllers {
    /// Memory.
    pub memory: Controller,
    /// Processes and threads.
    pub pids: Controller,
    /// Processor time.
    pub cpu: Controller,
}

/// How one limit is enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Controller {
    /// By the sandbox's directory in the [`Tree`].
    V2,
    /// By a directory of its own in this one, in a v1 hierarchy.
    V1(PathBuf),
    /// Not at all.
    Missing {
        /// Why not.
        why: String,
    },
}

impl Layout {
    /// Finds out what can be used, by trying it: directories are made and removed again, and
    /// missing controllers are enabled on the way to our place in cgroup2.
    pub fn detect() -> Self {
        Self::detect_telling(&|_| {})
    }

    /// As [`Self::detect`]; `known` is told of each directory that is made for a trial, before it is made.
    pub fn detect_telling(known: &dyn Fn(&Path)) -> Self {
        match probe::Facts::read() {
            Ok(facts) => Self::of(&facts.mounts, facts.uid, known),
            Err(error) => Self::nothing(&error.to_string()),
        }
    }

    fn of(mounts: &Mounts, uid: u32, known: &dyn Fn(&Path)) -> Self {
        let found = probe::tree(mounts.cgroup2.as_ref(), uid, known);
        Self {
            controllers: Controllers {
                memory: Controller::choose(&found, mounts, Limit::Memory, known),
                pids: Controller::choose(&found, mounts, Limit::Pids, known),
                cpu: Controller::choose(&found, mounts, Limit::Cpu, known),
            },
            tree: match found {
                Ok(probe::Found { mount, parent, .. }) => Tree::Cgroup2 { mount, parent },
                Err(why) => Tree::Unavailable { why },
            },
        }
    }

    fn nothing(why: &str) -> Self {
        let missing = || Controller::Missing { why: why.to_owned() };
        Self {
            tree: Tree::Unavailable { why: why.to_owned() },
            controllers: Controllers { memory: missing(), pids: missing(), cpu: missing() },
        }
    }

    /// An error if a limit is asked for that cannot be enforced here.
    pub fn require(&self, limits: &Limits) -> Result<(), Error> {
        for limit in Limit::ALL {
            match (limits.get(limit), self.controllers.get(limit)) {
                (Some(_), Controller::Missing { why }) => {
                    let why = why.clone();
                    return Err(Error::NoController { limit, why });
                }
                (Some(_), Controller::V2 | Controller::V1(_)) | (None, _) => {}
            }
        }
        Ok(())
    }
}

impl Controller {
    /// cgroup2 where it can, else v1, else neither, with both reasons.
    fn choose(found: &Result<probe::Found, String>, mounts: &Mounts, limit: Limit, known: &dyn Fn(&Path)) -> Self {
        let in_tree = found.as_ref().map_err(Clone::clone);
        let Err(why_not_v2) = in_tree.and_then(|found| found.offer(limit)) else {
            return Self::V2;
        };
        match probe::v1(mounts.v1(limit), limit, known) {
            Ok(parent) => Self::V1(parent),
            Err(why) => Self::Missing { why: format!("{why_not_v2}; {why}") },
        }
    }
}

impl Controllers {
    /// The one for `limit`.
    pub fn get(&self, limit: Limit) -> &Controller {
        match limit {
            Limit::Memory => &self.memory,
            Limit::Pids => &self.pids,
            Limit::Cpu => &self.cpu,
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "process tree: {}", self.tree)?;
        for limit in Limit::ALL {
            let controller = self.controllers.get(limit);
            writeln!(f, "limit on {limit}: {controller}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cgroup2 { parent, .. } => write!(f, "cgroup2 in {}", parent.display()),
            Self::Unavailable { why } => write!(f, "unavailable: {why}"),
        }
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V2 => f.write_str("cgroup2"),
            Self::V1(parent) => write!(f, "cgroup v1 in {}", parent.display()),
            Self::Missing { why } => write!(f, "unavailable: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hybrid() -> Layout {
        Layout {
            tree: Tree::Cgroup2 { mount: "/c/unified".into(), parent: "/c/unified/atoll".into() },
            controllers: Controllers {
                memory: Controller::V1("/c/memory/atoll".into()),
                pids: Controller::V2,
                cpu: Controller::Missing { why: "no cpu controller is mounted".to_owned() },
            },
        }
    }

    #[test]
    fn the_report_says_what_is_used_and_why_not() {
        let expected = "process tree: cgroup2 in /c/unified/atoll\n\
            limit on memory: cgroup v1 in /c/memory/atoll\n\
            limit on processes: cgroup2\n\
            limit on cpu: unavailable: no cpu controller is mounted\n";
        assert_eq!(hybrid().to_string(), expected);
    }

    #[test]
    fn only_a_limit_that_is_asked_for_must_be_there() {
        let mut limits = Limits { memory_bytes: Some(1 << 30), pids: Some(9), cpu_millis: None };
        assert!(hybrid().require(&limits).is_ok());
        limits.cpu_millis = Some(500);
        let error = hybrid().require(&limits).unwrap_err();
        assert_eq!(error.to_string(), "cannot limit cpu on this machine: no cpu controller is mounted");
    }

    #[test]
    fn a_machine_without_any_is_described_not_refused() {
        let layout = Layout::of(&Mounts::default(), 1000, &|_| {});
        assert_eq!(
            layout.to_string().lines().collect::<Vec<_>>(),
            [
                "process tree: unavailable: no cgroup2 file system is mounted",
                "limit on memory: unavailable: no cgroup2 file system is mounted; no v1 memory controller is mounted",
                "limit on processes: unavailable: no cgroup2 file system is mounted; no v1 pids controller is mounted",
                "limit on cpu: unavailable: no cgroup2 file system is mounted; no v1 cpu controller is mounted",
            ]
        );
    }
}
