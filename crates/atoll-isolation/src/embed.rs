//! The init executable that this library carries, as a sealed file in memory.
//!
//! Executing from a sealed memory file means that nothing inside can overwrite what runs next (CVE-2019-5736), and
//! that one binary on disk is all there is to install. Mode 0711 keeps it unreadable to the sandbox's users: the
//! kernel then ties the process to the user namespace *outside* (`would_dump`), so that no capability inside lets
//! anybody trace it or read its memory.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

use crate::sys::fd;

static INIT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/atoll-init"));

/// Makes the executable file. Once per agent.
pub(crate) fn init_program() -> io::Result<OwnedFd> {
    let mut file = std::fs::File::from(fd::executable_memfd("init")?);
    file.write_all(INIT)?;
    fd::set_mode(file.as_fd(), 0o711)?;
    fd::seal(file.as_fd())?;
    Ok(file.into())
}
