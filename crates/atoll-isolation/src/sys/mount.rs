//! Mounts: the classic calls, and the descriptor-based ones for trees that are handed over between namespaces.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use super::{c_string, check, check_int, fd};

/// `mount(2)`. Empty `kind` or `data` are passed as null, as the kernel expects for binds and remounts.
pub fn mount(source: &[u8], target: &[u8], kind: &str, flags: u64, data: &[u8]) -> io::Result<()> {
    let (source, target) = (c_string(source)?, c_string(target)?);
    let (kind_text, data_text) = (c_string(kind.as_bytes())?, c_string(data)?);
    let kind = if kind.is_empty() { std::ptr::null() } else { kind_text.as_ptr() };
    let data = if data.is_empty() { std::ptr::null() } else { data_text.as_ptr().cast() };
    // SAFETY: every pointer is null or a NUL-terminated string that lives through the call.
    check_int(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind, flags, data) }).map(drop)
}

/// Takes the old root away lazily after a pivot; `.` is the old root then.
pub fn detach(path: &[u8]) -> io::Result<()> {
    let path = c_string(path)?;
    // SAFETY: `path` is NUL-terminated and lives through the call.
    check_int(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) }).map(drop)
}

/// Makes the current directory the root and leaves the old root stacked on it (pivot_root(2), "pivot_root(".", ".")").
pub fn pivot_here() -> io::Result<()> {
    let dot = c".";
    // SAFETY: both arguments are NUL-terminated constants.
    check(unsafe { libc::syscall(libc::SYS_pivot_root, dot.as_ptr(), dot.as_ptr()) }).map(drop)
}

/// A detached copy of the mount tree at `path`.
pub fn clone_tree(path: &[u8]) -> io::Result<OwnedFd> {
    let path = c_string(path)?;
    let recursive = u32::try_from(libc::AT_RECURSIVE).expect("a small positive constant");
    let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | recursive;
    // SAFETY: `path` is NUL-terminated and lives through the call.
    let tree = check(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) })?;
    fd::owned(RawFd::try_from(tree).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?)
}

/// Puts a detached tree into this namespace at `target`.
pub fn attach_tree(tree: BorrowedFd<'_>, target: &[u8]) -> io::Result<()> {
    let target = c_string(target)?;
    // The tree itself is meant, and a target given as /proc/self/fd/N is followed to what it stands for.
    let flags = libc::MOVE_MOUNT_F_EMPTY_PATH | libc::MOVE_MOUNT_T_SYMLINKS;
    // SAFETY: both paths are NUL-terminated and live through the call.
    check(unsafe {
        libc::syscall(libc::SYS_move_mount, tree.as_raw_fd(), c"".as_ptr(), libc::AT_FDCWD, target.as_ptr(), flags)
    })
    .map(drop)
}

/// Makes a detached tree read-only, and shows its owners through the id map of `userns` if one is given.
pub fn restrict_tree(tree: BorrowedFd<'_>, read_only: bool, userns: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut set = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    if read_only {
        set |= libc::MOUNT_ATTR_RDONLY;
    }
    let mut mapped_by = 0;
    if let Some(userns) = userns {
        set |= libc::MOUNT_ATTR_IDMAP;
        mapped_by = u64::try_from(userns.as_raw_fd()).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    }
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: mapped_by };
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    // SAFETY: `attributes` lives through the call and its size is given; the path is an empty constant.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    })
    .map(drop)
}
