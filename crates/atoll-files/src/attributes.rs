//! Extended attributes: taken over from one file to another, as far as the user may.

use std::os::fd::AsFd;

use rustix::fs::XattrFlags;

/// The kernel's own limit on one value, and on the list of names.
const MOST: usize = 64 * 1024;

/// Copies what can be copied. What may not be set (`security.*` for most) is left out.
pub(crate) fn copy(from: impl AsFd, to: impl AsFd) {
    let (from, to) = (from.as_fd(), to.as_fd());
    // Most files have none: one call says so.
    if !matches!(rustix::fs::flistxattr_query(from), Ok(1..)) {
        return;
    }
    let mut names = vec![0; MOST];
    let Ok(length) = rustix::fs::flistxattr(from, &mut names[..]) else { return };
    let mut value = vec![0; MOST];
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(length) = rustix::fs::fgetxattr(from, name, &mut value[..]) {
            rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty()).ok();
        }
    }
}
