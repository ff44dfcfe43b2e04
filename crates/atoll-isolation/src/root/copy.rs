//! Copies what everybody may read, and nothing else.

use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Larger files are not configuration.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Copies a file, link or directory tree, leaving out whatever is not readable by every user. Absent is fine.
pub(super) fn public(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(found) = from.symlink_metadata() else {
        return Ok(());
    };
    let mode = found.permissions().mode();
    if found.is_symlink() {
        parent(to)?;
        symlink(std::fs::read_link(from)?, to)
    } else if found.is_dir() && mode & 0o005 == 0o005 {
        directory(from, to, mode)
    } else if found.is_file() && mode & 0o004 != 0 && found.len() <= LARGEST {
        parent(to)?;
        std::fs::copy(from, to).map(drop)
    } else {
        Ok(())
    }
}

fn directory(from: &Path, to: &Path, mode: u32) -> io::Result<()> {
    make_directories(to)?;
    std::fs::set_permissions(to, PermissionsExt::from_mode(mode & 0o755))?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        public(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn parent(to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), make_directories)
}

/// Creates a directory and its missing parents with mode 0755, regardless of the umask.
pub(super) fn make_directories(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    parent(path)?;
    match std::fs::create_dir(path) {
        // Another process made it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.and_then(|()| std::fs::set_permissions(path, PermissionsExt::from_mode(0o755))),
    }
}
