//! The worker's executable: a sealed file in memory that may be executed by anybody inside and read by nobody, which
//! also makes the kernel refuse to let anybody inside trace what runs from it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use atoll_isolation::sys::fd;

use crate::Error;

/// Compiled by the build script.
const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/atoll-files"));

/// Made by the first who needs it, shared by all.
pub(super) fn program() -> Result<BorrowedFd<'static>, Error> {
    static FILE: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(file) = FILE.get() {
        return Ok(file.as_fd());
    }
    let made = sealed().map_err(|error| Error::io("make the file worker's program", &error))?;
    Ok(FILE.get_or_init(|| made).as_fd())
}

fn sealed() -> io::Result<OwnedFd> {
    let mut file = std::fs::File::from(fd::executable_memfd("atoll-files")?);
    io::Write::write_all(&mut file, BYTES)?;
    fd::set_mode(file.as_fd(), 0o711)?;
    fd::seal(file.as_fd())?;
    Ok(file.into())
}
