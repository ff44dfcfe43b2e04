//! The `atoll` directory that all sandboxes of one place share, and the controllers in it.
//!
//! Owns making a directory below it, and taking it away when the last sandbox is gone, while
//! other processes do the same. It must not remove a directory that atoll has not named.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;

use super::error::Error;
use super::file;
use super::limits::Limit;

/// The shared directory's name; those of tests begin with it.
pub(super) const NAME: &str = "atoll";

/// Each failed attempt means that somebody else removed the shared directory in the microseconds
/// between our two calls: so many in a row are a fault.
const ATTEMPTS: u32 = 1000;

/// Makes `dir`, and the shared directory above it if need be. From then on it pins that one: a
/// cgroup with a child cannot be removed.
pub(super) fn pin(dir: &Path) -> Result<(), Error> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for _ in 0..ATTEMPTS {
        match fs::create_dir(dir) {
            Ok(()) => return Ok(()),
            Err(cause) if super::error::gone(&cause) => last = cause,
            Err(cause) => return Err(Error::io("make", dir, cause)),
        }
        if let Some(parent) = dir.parent() {
            make_parent(parent)?;
        }
        thread::yield_now();
    }
    Err(Error::io("make", dir, last))
}

/// Removes the shared directory above `dir` if it was the last. Someone else's child in it, or
/// someone else's removal of it, is not our failure.
pub(super) fn unpin(dir: &Path) {
    let Some(parent) = dir.parent() else { return };
    let named_by_us = parent.file_name().is_some_and(|name| name.to_string_lossy().starts_with(NAME));
    if named_by_us {
        fs::remove_dir(parent).ok();
    }
}

/// Enables the controllers behind `limits` for the directories in `parent`, on the whole way down
/// from `mount`; says for each why it could not. The caller has pinned `parent`.
///
/// A controller exists in a directory only if every directory above enables it for its children
/// (cgroup-v2.rst, "Enabling and Disabling").
pub(super) fn enable_down(mount: &Path, parent: &Path, limits: &[Limit]) -> Vec<(Limit, Result<(), Error>)> {
    let way: Vec<&Path> = ancestors_from(mount, parent);
    let enable_all = |limit: Limit| way.iter().try_for_each(|dir| enable(dir, limit.controller()));
    limits.iter().map(|limit| (*limit, enable_all(*limit))).collect()
}

/// Enables one controller for the children of `dir`, unless it is already.
pub(super) fn enable(dir: &Path, controller: &str) -> Result<(), Error> {
    let path = dir.join("cgroup.subtree_control");
    if lists(&file::read(&path)?, controller) {
        return Ok(());
    }
    file::write(&path, &format!("+{controller}"))
}

/// The limits whose controllers `dir` lacks, because a directory above has not enabled them.
pub(super) fn lacking(dir: &Path, limits: &[Limit]) -> Result<Vec<Limit>, Error> {
    let text = file::read(&dir.join("cgroup.controllers"))?;
    let lacks = |limit: &Limit| !lists(&text, limit.controller());
    Ok(limits.iter().copied().filter(lacks).collect())
}

fn lists(text: &str, controller: &str) -> bool {
    text.split_whitespace().any(|name| name == controller)
}

fn ancestors_from<'a>(mount: &Path, parent: &'a Path) -> Vec<&'a Path> {
    let mut way: Vec<_> = parent.ancestors().take_while(|dir| dir.starts_with(mount)).collect();
    way.reverse();
    way
}

fn make_parent(parent: &Path) -> Result<(), Error> {
    match fs::create_dir(parent) {
        Ok(()) => inherit_v1(parent),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(cause) => Err(Error::io("make", parent, cause)),
    }
}

/// Before Linux 5.11 a v1 memory cgroup counted its children only if told so while it had none
/// (memory.rst of v1, "Hierarchy support"). Other directories have no such file.
fn inherit_v1(parent: &Path) -> Result<(), Error> {
    let path = parent.join("memory.use_hierarchy");
    match file::read(&path) {
        Ok(text) if text.trim() == "0" => file::write(&path, "1"),
        Ok(_) => Ok(()),
        Err(error) if error.is_gone() => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_down_starts_at_the_mount_and_ends_at_the_parent() {
        let way = ancestors_from(Path::new("/c"), Path::new("/c/user.slice/atoll"));
        assert_eq!(way, ["/c", "/c/user.slice", "/c/user.slice/atoll"].map(Path::new));
    }

    #[test]
    fn a_controller_is_enabled_only_where_it_is_not() {
        let mount = tempfile::tempdir().unwrap();
        let parent = mount.path().join("atoll");
        fs::create_dir(&parent).unwrap();
        fs::write(mount.path().join("cgroup.subtree_control"), "memory pids\n").unwrap();
        fs::write(parent.join("cgroup.subtree_control"), "").unwrap();
        let results = enable_down(mount.path(), &parent, &[Limit::Memory]);
        assert!(matches!(results[..], [(Limit::Memory, Ok(()))]));
        let text = |dir: &Path| fs::read_to_string(dir.join("cgroup.subtree_control")).unwrap();
        assert_eq!(text(mount.path()), "memory pids\n");
        assert_eq!(text(&parent), "+memory");
    }

    #[test]
    fn only_a_directory_of_our_name_is_removed() {
        let place = tempfile::tempdir().unwrap();
        for (parent, stays) in [("user.slice", true), (NAME, false)] {
            let parent = place.path().join(parent);
            fs::create_dir(&parent).unwrap();
            unpin(&parent.join("box"));
            assert_eq!(parent.exists(), stays);
        }
    }
}
