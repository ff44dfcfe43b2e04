//! The worker's executable. It may be executed by anybody inside and read by nobody, which also makes the kernel refuse to
//! let anybody inside trace what runs from it.

use std::os::fd::BorrowedFd;

use atoll_isolation::carried::Carried;

use crate::Error;

/// Compiled by the build script.
pub(crate) static WORKER: Carried = Carried::new(
    concat!("atoll-files-", env!("ATOLL_FILES_MARK")),
    include_bytes!(concat!(env!("OUT_DIR"), "/atoll-files")),
);

pub(super) fn program() -> Result<BorrowedFd<'static>, Error> {
    WORKER.file().map_err(|error| Error::io("make the file worker's program", &error))
}
