//! The fence: every `unsafe` block and raw system call of Atoll lives below this module.
//!
//! Each function is one system call (or one inseparable pair) turned into a safe, typed call that returns
//! `io::Result`. No policy here: what is called, and in which order, is decided by the modules above.
#![expect(unsafe_code, reason = "this is the one place for it; every block says why it is sound")]

pub mod fd;
pub mod identity;
pub mod mount;
pub mod netlink;
pub mod network;
pub mod process;
pub mod signal;
pub mod socket;
pub mod vfork;

use std::ffi::CString;
use std::io;

/// Turns a `-1 and errno` return into a `Result`.
pub(crate) fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The same for functions that return a C int.
pub(crate) fn check_int(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A byte path as the kernel wants it. A NUL inside is `EINVAL`, as the kernel would say of a bad path.
pub fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

/// Sends a plain result code through errno-free contexts: the OS error number of `error`, `EIO` if it has none.
pub fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
