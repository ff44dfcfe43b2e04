//! Directories that are deleted with their owner.
//!
//! A scratch directory may serve as the root of a container, with the host's
//! `/usr` bound into it. Removing it must never reach through such a mount, so
//! one that still has a mount beneath it is left in place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::BenchError;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// An empty directory of our own, removed on drop.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    name: String,
}

impl Scratch {
    /// Makes one in `under`, which must exist.
    pub(crate) fn new_in(under: &Path) -> Result<Self, BenchError> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("atoll-bench-{}-{number}", process::id());
        let doing = |path: &Path| BenchError::io(format!("create {}", path.display()));
        // Mount points in the kernel's list are absolute and free of symlinks.
        let path = under.canonicalize().map_err(doing(under))?.join(&name);
        fs::create_dir(&path).map_err(doing(&path))?;
        Ok(Self { path, name })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A name no other scratch directory of this machine has now.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Makes a directory inside and returns its path.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, BenchError> {
        let path = self.path.join(name);
        let doing = format!("create {}", path.display());
        fs::create_dir(&path).map_err(BenchError::io(doing))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The mount namespace is the thread's, not the process's.
        let Ok(mounts) = fs::read_to_string("/proc/thread-self/mountinfo") else {
            return;
        };
        if !has_mount_beneath(&mounts, &self.path) {
            // Nobody is left to tell; a leftover directory harms no figure.
            fs::remove_dir_all(&self.path).ok();
        }
    }
}

/// Whether the kernel's list names a mount at or beneath `path`.
///
/// The list escapes blanks, which our own names do not have but the directory
/// given may: compare by our last component then, which is unique.
fn has_mount_beneath(mountinfo: &str, path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return true;
    };
    let points = mountinfo.lines().filter_map(|line| line.split(' ').nth(4));
    points.flat_map(|point| point.split('/')).any(|component| component == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_gone_after_drop() {
        let scratch = Scratch::new_in(&std::env::temp_dir()).unwrap();
        let path = scratch.path().to_owned();
        fs::write(scratch.folder("inner").unwrap().join("file"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn two_never_share_a_name() {
        let under = std::env::temp_dir();
        let (one, two) = (Scratch::new_in(&under), Scratch::new_in(&under));
        assert_ne!(one.unwrap().name(), two.unwrap().name());
    }

    #[test]
    fn a_mount_beneath_is_seen_even_below_an_escaped_parent() {
        let list = "36 35 98:0 / /my\\040dir/atoll-bench-1-0/rootfs/usr rw - ext4 /dev/a rw\n";
        assert!(has_mount_beneath(list, Path::new("/my dir/atoll-bench-1-0")));
        assert!(!has_mount_beneath(list, Path::new("/my dir/atoll-bench-1-1")));
    }
}
