//! The directories of one sandbox.
//!
//! Owns the mapping from a layout and a name to paths. Pure: it must not make or look at them.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::layout::{Controller, Layout, Tree};
use super::limits::{Home, Limit};

/// The longest name, so that every path stays far from NAME_MAX (255) with what is added to it.
const NAME_CAP: usize = 128;

/// Where one sandbox lives, whether made yet or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places {
    /// Its cgroup2 directory.
    pub(super) tree: Option<PathBuf>,
    pub(super) memory: Option<Home>,
    pub(super) pids: Option<Home>,
    pub(super) cpu: Option<Home>,
}

impl Places {
    pub(super) fn plan(layout: &Layout, name: &str) -> Self {
        let tree = match &layout.tree {
            Tree::Cgroup2 { parent, .. } => Some(parent.join(name)),
            Tree::Unavailable { .. } => None,
        };
        let home = |limit| match layout.controllers.get(limit) {
            Controller::V2 => tree.clone().map(Home::V2),
            Controller::V1(parent) => Some(Home::V1(parent.join(name))),
            Controller::Missing { .. } => None,
        };
        Self { memory: home(Limit::Memory), pids: home(Limit::Pids), cpu: home(Limit::Cpu), tree }
    }

    pub(super) fn home(&self, limit: Limit) -> Option<&Home> {
        match limit {
            Limit::Memory => self.memory.as_ref(),
            Limit::Pids => self.pids.as_ref(),
            Limit::Cpu => self.cpu.as_ref(),
        }
    }

    /// The v1 directories, each once: controllers may share a hierarchy.
    pub(super) fn v1(&self) -> Vec<&Path> {
        let mut found: Vec<&Path> = Vec::new();
        for limit in Limit::ALL {
            match self.home(limit) {
                Some(Home::V1(dir)) if !found.contains(&dir.as_path()) => found.push(dir),
                Some(Home::V1(_) | Home::V2(_)) | None => {}
            }
        }
        found
    }

    /// Every directory, the cgroup2 one first: removing it kills what is in the others.
    pub(super) fn all(&self) -> Vec<&Path> {
        self.tree.as_deref().into_iter().chain(self.v1()).collect()
    }

    /// The limits that cgroup2 carries.
    pub(super) fn limits_v2(&self) -> Vec<Limit> {
        let is_v2 = |limit: &Limit| matches!(self.home(*limit), Some(Home::V2(_)));
        Limit::ALL.into_iter().filter(is_v2).collect()
    }
}

/// Accepts only what can be neither a path nor an interface file of the kernel (those have dots).
pub(super) fn check_name(name: &str) -> Result<(), Error> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > NAME_CAP || !name.bytes().all(fits) {
        return Err(Error::BadName { name: name.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::layout::Controllers;
    use super::*;

    fn missing() -> Controller {
        Controller::Missing { why: "not here".to_owned() }
    }

    #[test]
    fn hybrid_has_the_tree_first_and_each_v1_directory_once() {
        let layout = Layout {
            tree: Tree::Cgroup2 { mount: "/c2".into(), parent: "/c2/atoll".into() },
            controllers: Controllers {
                memory: Controller::V1("/m/atoll".into()),
                pids: Controller::V1("/m/atoll".into()),
                cpu: Controller::V2,
            },
        };
        let places = Places::plan(&layout, "box");
        assert_eq!(places.all(), [Path::new("/c2/atoll/box"), Path::new("/m/atoll/box")]);
        assert_eq!(places.limits_v2(), [Limit::Cpu]);
        assert_eq!(places.home(Limit::Cpu), Some(&Home::V2("/c2/atoll/box".into())));
    }

    #[test]
    fn nothing_available_means_no_directories() {
        let layout = Layout {
            tree: Tree::Unavailable { why: "not here".to_owned() },
            controllers: Controllers { memory: missing(), pids: missing(), cpu: missing() },
        };
        assert!(Places::plan(&layout, "box").all().is_empty());
    }

    #[test]
    fn names_that_could_leave_the_directory_are_refused() {
        for name in ["", ".", "..", "a/b", "memory.max", "a b", "a\n", &"x".repeat(129)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        assert!(check_name("s-01H_z").is_ok());
    }
}
