//! Removes a directory with everything in it, whatever a sandbox made of it and while it may still be changing it.
//!
//! Every entry is reached by name from an open directory, never by a path and never through a link, so nothing outside is
//! touched however entries are exchanged meanwhile. Directories below a certain depth are first moved up to the top: neither
//! the stack nor the number of open descriptors grows with the depth of the tree, which a sandbox chooses.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::sys::{c_string, fd};

/// What a directory that is emptied must allow its owner.
const OWNER_ONLY: u32 = 0o700;

/// How directories that were moved up are called: the number makes the name.
const MOVED: &str = ".atoll-removed-";

/// Directories that are open at once. A move costs the kernel a walk over all levels above, so what is deep is moved in
/// pieces of this height.
const DEPTH: usize = 64;

/// How often a directory is read again that is not empty in the end: something is still writing to it.
const PASSES: usize = 64;

/// Removes the directory at `path`; one that is not there is fine. Fails if something inside keeps adding entries.
pub fn remove_directory(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    };
    // What is above belongs to Atoll: no link there is a sandbox's.
    let parent = match fd::open_at(libc::AT_FDCWD, parent.as_os_str().as_bytes(), libc::O_PATH | libc::O_DIRECTORY, 0) {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(()),
        opened => opened?,
    };
    Removal { top: None, moved: 0 }.entry(&parent, &c_string(name.as_bytes())?, 0)
}

/// What is found at a name.
enum Found {
    Directory(OwnedFd),
    Other,
    Nothing,
}

struct Removal {
    /// The directory that is removed, once it was opened.
    top: Option<OwnedFd>,
    /// How many directories were moved up to it.
    moved: u64,
}

impl Removal {
    /// Removes what is at a name, whatever it is.
    fn entry(&mut self, above: &OwnedFd, name: &CStr, depth: usize) -> io::Result<()> {
        match fd::unlink_at(above, name, 0) {
            // unlinkat(2): `EISDIR` on Linux, `EPERM` as POSIX has it.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EISDIR | libc::EPERM)) => {}
            removed => return unless_gone(removed),
        }
        for _ in 0..PASSES {
            let directory = match open_directory(above, name)? {
                Found::Directory(directory) => directory,
                Found::Other => return unless_gone(fd::unlink_at(above, name, 0)),
                Found::Nothing => return Ok(()),
            };
            if let Some(top) = self.top.as_ref().filter(|_| depth > DEPTH) {
                self.moved += 1;
                let new = c_string(format!("{MOVED}{}", self.moved).as_bytes())?;
                match fd::rename_without_replacing(above, name, top, &new) {
                    // The sandbox had one of this name: the next number may be free.
                    Err(error) if error.raw_os_error() == Some(libc::EEXIST) => continue,
                    moved => return unless_gone(moved),
                }
            }
            if depth == 0 && self.top.is_none() {
                self.top = Some(directory.try_clone()?);
            }
            // Another process may remove it at the same time.
            unless_gone(self.empty(&directory, depth))?;
            match fd::unlink_at(above, name, libc::AT_REMOVEDIR) {
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTEMPTY | libc::ENOTDIR)) => {}
                removed => return unless_gone(removed),
            }
        }
        Err(io::Error::from_raw_os_error(libc::ENOTEMPTY))
    }

    /// Removes what is in a directory. What is moved up to the top while it is read is met by the reading or left: then it
    /// is read again.
    fn empty(&mut self, directory: &OwnedFd, depth: usize) -> io::Result<()> {
        loop {
            let moved = self.moved;
            fd::rewind(directory)?;
            loop {
                let names: Vec<CString> = fd::next_names(directory)?;
                if names.is_empty() {
                    break;
                }
                for name in names {
                    self.entry(directory, &name, depth + 1)?;
                }
            }
            if depth > 0 || moved == self.moved {
                return Ok(());
            }
        }
    }
}

fn unless_gone(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
        other => other,
    }
}

/// Opens a directory for reading. One that its owner made inaccessible is changed first: by descriptor, so that it is this
/// directory and no other (an overlay's work directory always needs it, where we are not root).
fn open_directory(at: &OwnedFd, name: &CStr) -> io::Result<Found> {
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let found = match fd::open_at(at.as_raw_fd(), name.to_bytes(), flags, 0) {
        Err(error) => {
            return match error.raw_os_error() {
                Some(libc::ENOENT) => Ok(Found::Nothing),
                Some(libc::ENOTDIR | libc::ELOOP) => Ok(Found::Other),
                _ => Err(error),
            };
        }
        Ok(found) => found,
    };
    if fd::mode(&found)? & OWNER_ONLY != OWNER_ONLY {
        let exactly = c_string(format!("/proc/self/fd/{}", found.as_raw_fd()).as_bytes())?;
        match fd::change_mode(&exactly, OWNER_ONLY) {
            // Another user's, which root may empty all the same.
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
            changed => changed?,
        }
    }
    match fd::open_at(found.as_raw_fd(), b".", libc::O_RDONLY | libc::O_DIRECTORY, 0) {
        // Removed since it was found.
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(Found::Nothing),
        opened => opened.map(Found::Directory),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_tree_is_removed_whatever_is_in_it() {
        let home = tempfile::tempdir().unwrap();
        let (top, outside) = (home.path().join("top"), home.path().join("outside"));
        fs::create_dir_all(top.join("a/b/c")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "kept").unwrap();
        fs::write(top.join("a/b/file"), "x").unwrap();
        fs::create_dir(top.join(".atoll-removed-1")).unwrap();
        fs::write(top.join(".atoll-removed-1/file"), "x").unwrap();
        symlink(&outside, top.join("a/b/link")).unwrap();
        symlink(&outside, top.join("link")).unwrap();
        fs::set_permissions(top.join("a/b"), fs::Permissions::from_mode(0o000)).unwrap();
        remove_directory(&top).unwrap();
        assert!(!top.exists());
        assert_eq!(fs::read_to_string(outside.join("kept")).unwrap(), "kept");
        remove_directory(&top).unwrap();
        remove_directory(&home.path().join("nowhere/top")).unwrap();
    }

    #[test]
    fn a_link_in_place_of_the_directory_is_removed_and_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let (link, outside) = (home.path().join("link"), home.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        fs::set_permissions(&outside, fs::Permissions::from_mode(0o500)).unwrap();
        symlink(&outside, &link).unwrap();
        remove_directory(&link).unwrap();
        assert!(fs::symlink_metadata(&link).is_err());
        assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o500);
    }

    #[test]
    fn several_removals_at_once_do_not_fail() {
        let home = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let top = home.path().join(round.to_string());
            for name in ["a/b/c", "d/e", "f"] {
                fs::create_dir_all(top.join(name)).unwrap();
                fs::write(top.join(name).join("file"), "x").unwrap();
            }
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| remove_directory(&top).unwrap());
                }
            });
            assert!(!top.exists());
        }
    }

    /// Far deeper than there are descriptors, or room on a stack for a frame each.
    #[test]
    fn a_very_deep_tree_is_removed() {
        const DEPTH: usize = 20_000;
        let home = tempfile::tempdir().unwrap();
        let top = home.path().join("top");
        fs::create_dir(&top).unwrap();
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        let mut at = fd::open_at(libc::AT_FDCWD, top.as_os_str().as_bytes(), flags, 0).unwrap();
        for _ in 0..DEPTH {
            fd::make_directory_at(&at, c"d", 0o700).unwrap();
            at = fd::open_at(at.as_raw_fd(), b"d", flags, 0).unwrap();
        }
        drop(at);
        let remove = move || remove_directory(&top);
        std::thread::Builder::new().stack_size(128 * 1024).spawn(remove).unwrap().join().unwrap().unwrap();
    }
}
