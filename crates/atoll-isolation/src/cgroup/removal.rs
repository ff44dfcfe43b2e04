//! Taking directories away, and what is in them.
//!
//! Owns killing and removing by path alone, so that a separate process can clean up after one
//! that died. It must not touch anything but directories: rmdir(2) is all that it calls.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::{Error, gone};
use super::file;
use super::members;
use super::parent;
use super::patience::Patience;

/// Kills every process at and below `dir` and removes it, and the shared directory above it if
/// that is empty then. Fine if it is gone already.
///
/// A v1 directory has no `cgroup.kill`: remove the cgroup2 one of the same sandbox first, then
/// its processes are dead.
pub fn kill_and_remove(dir: &Path, within: Duration) -> Result<(), Error> {
    let mut patience = Patience::new(within);
    loop {
        // Again each time: someone outside may still have been starting a process into it.
        kill(dir)?;
        let mut left = Vec::new();
        let Some(cause) = remove_below(dir, &mut left) else {
            parent::unpin(dir);
            return Ok(());
        };
        if !worth_waiting(&cause) || !patience.wait() {
            return Err(Error::Left { paths: left, cause });
        }
    }
}

/// Does it for several, in order, and goes on after a failure; the error names all that is left.
pub(super) fn kill_and_remove_all(dirs: &[&Path], within: Duration) -> Result<(), Error> {
    let mut failure: Option<Error> = None;
    for dir in dirs {
        failure = match (failure, kill_and_remove(dir, within)) {
            (failure, Ok(())) => failure,
            (Some(first), Err(next)) => Some(merge(first, next)),
            (None, Err(next)) => Some(next),
        };
    }
    failure.map_or(Ok(()), Err)
}

/// Kills every process at and below a cgroup2 directory, forks in flight included
/// (cgroup-v2.rst, "cgroup.kill"). Nothing happens where there is no such file.
fn kill(dir: &Path) -> Result<(), Error> {
    match file::write(&dir.join("cgroup.kill"), "1") {
        Err(error) if error.is_gone() => Ok(()),
        result => result,
    }
}

/// Removes children before parents, as far as it goes. Notes what is left, and why the last of
/// them, which is `dir` itself, would not go.
fn remove_below(dir: &Path, left: &mut Vec<PathBuf>) -> Option<io::Error> {
    for child in members::children(dir).unwrap_or_default() {
        remove_below(&child, left);
    }
    let cause = fs::remove_dir(dir).err().filter(|cause| !gone(cause))?;
    left.push(dir.to_owned());
    Some(cause)
}

/// EBUSY: processes are still dying, or a child is. An ordinary directory says ENOTEMPTY.
fn worth_waiting(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::DirectoryNotEmpty)
}

fn merge(first: Error, next: Error) -> Error {
    match (first, next) {
        (Error::Left { mut paths, cause }, Error::Left { paths: more, .. }) => {
            paths.extend(more);
            Error::Left { paths, cause }
        }
        (first, _) => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_needs_no_removal() {
        kill_and_remove(Path::new("/nonexistent/atoll/box"), Duration::ZERO).unwrap();
    }

    #[test]
    fn removes_children_first_and_the_shared_directory_last() {
        let place = tempfile::tempdir().unwrap();
        let parent = place.path().join("atoll");
        fs::create_dir_all(parent.join("box/leaf-1")).unwrap();
        fs::create_dir_all(parent.join("box/init")).unwrap();
        kill_and_remove(&parent.join("box"), Duration::ZERO).unwrap();
        assert!(!parent.exists());
    }

    #[test]
    fn never_removes_a_file_and_names_all_that_is_left() {
        let place = tempfile::tempdir().unwrap();
        let dirs = ["a", "b"].map(|name| place.path().join(name));
        for dir in &dirs {
            fs::create_dir(dir).unwrap();
            fs::write(dir.join("kept"), "").unwrap();
        }
        let paths: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
        let error = kill_and_remove_all(&paths, Duration::from_millis(1)).unwrap_err();
        assert!(matches!(&error, Error::Left { paths, .. } if *paths == dirs), "{error}");
        assert!(dirs[0].join("kept").exists());
    }
}
