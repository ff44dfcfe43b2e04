//! Executables that the binary carries, as sealed files in memory.
//!
//! Executing from a sealed memory file means that nothing inside can overwrite what runs next (CVE-2019-5736), and
//! that one binary on disk is all there is to install. Mode 0711 keeps it unreadable to the sandbox's users: the
//! kernel then ties the process to the user namespace *outside* (`would_dump`), so that no capability inside lets
//! anybody trace it or read its memory.
//!
//! A server makes each file once, for all of its agents: they open it through the server's `/proc`. An agent of another
//! build has other programs, and makes its own.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::sys::fd;

/// PID 1 of every sandbox.
pub static INIT: Carried = Carried::new(
    concat!("atoll-init-", env!("ATOLL_INIT_MARK")),
    include_bytes!(concat!(env!("OUT_DIR"), "/atoll-init")),
);

/// The program of [`crate::bench_baseline`].
#[cfg(feature = "bench")]
pub(crate) static BASELINE: Carried = Carried::new(
    concat!("atoll-bench-baseline-", env!("ATOLL_BASELINE_MARK")),
    include_bytes!(concat!(env!("OUT_DIR"), "/atoll-bench-baseline")),
);

/// One of them.
#[derive(Debug)]
pub struct Carried {
    /// Another content has another name.
    name: &'static str,
    bytes: &'static [u8],
    file: OnceLock<OwnedFd>,
}

impl Carried {
    /// Nothing is made yet. The name must tell it from every other version of it.
    pub const fn new(name: &'static str, bytes: &'static [u8]) -> Self {
        Self { name, bytes, file: OnceLock::new() }
    }

    /// The file: made by the first who needs it, shared by all.
    pub fn file(&self) -> io::Result<BorrowedFd<'_>> {
        if let Some(file) = self.file.get() {
            return Ok(file.as_fd());
        }
        let made = self.make()?;
        Ok(self.file.get_or_init(|| made).as_fd())
    }

    /// Makes the file, and tells the path by which processes of the same user can open it while this one lives.
    pub fn share(&self) -> io::Result<PathBuf> {
        let number = self.file()?.as_raw_fd();
        Ok(format!("/proc/{}/fd/{number}", std::process::id()).into())
    }

    /// Takes the file that another process made, if it is this one.
    pub fn take(&self, path: &Path) -> io::Result<()> {
        let file = File::open(path)?;
        let name = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        if name != Path::new(&format!("/memfd:{} (deleted)", self.name)) || !fd::is_sealed(file.as_fd())? {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is another program"));
        }
        self.file.set(file.into()).map_err(|_| io::ErrorKind::AlreadyExists.into())
    }

    fn make(&self) -> io::Result<OwnedFd> {
        let mut file = File::from(fd::executable_memfd(self.name)?);
        if self.copy(&mut file).is_err() {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(self.bytes)?;
        }
        fd::set_mode(file.as_fd(), 0o711)?;
        fd::seal(file.as_fd())?;
        Ok(file.into())
    }

    /// From file to file: what is only passed on need not be in our own memory.
    fn copy(&self, file: &mut File) -> io::Result<()> {
        let at = offset_in_executable(self.bytes).ok_or(io::ErrorKind::NotFound)?;
        let mut executable = File::open("/proc/self/exe")?;
        executable.seek(SeekFrom::Start(at))?;
        let copied = io::copy(&mut executable.take(self.bytes.len() as u64), file)?;
        if copied == self.bytes.len() as u64 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Where in this process's executable a constant is.
fn offset_in_executable(constant: &'static [u8]) -> Option<u64> {
    let executable = std::fs::read_link("/proc/self/exe").ok()?;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let first = constant.as_ptr().addr();
    maps.lines().find_map(|line| offset_by(line, executable.to_str()?, first..first + constant.len()))
}

/// The same by one line of proc_pid_maps(5): `start-end rwxp offset device inode path`.
fn offset_by(line: &str, executable: &str, wanted: std::ops::Range<usize>) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let (rights, offset) = (fields.next()?, fields.next()?);
    let own = line.ends_with(executable) && !rights.contains('w') && start <= wanted.start && wanted.end <= end;
    let offset = u64::from_str_radix(offset, 16).ok().filter(|_| own)?;
    Some(offset + u64::try_from(wanted.start - start).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(file: BorrowedFd<'_>) -> Vec<u8> {
        std::fs::read(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap()
    }

    #[test]
    fn the_file_is_what_is_carried_and_cannot_be_changed() {
        let mut file = File::from(fd::executable_memfd("copied").unwrap());
        INIT.copy(&mut file).unwrap();
        assert!(content(file.as_fd()) == INIT.bytes, "copied from the executable");
        let made = INIT.file().unwrap();
        assert!(content(made) == INIT.bytes);
        assert!(fd::is_sealed(made).unwrap());
    }

    #[test]
    fn a_file_is_taken_from_another_only_if_it_is_the_same() {
        static OTHER: Carried = Carried::new("other", b"other");
        static SAME: Carried = Carried::new("other", b"other");
        static ANOTHER: Carried = Carried::new("another", b"another");
        let path = OTHER.share().unwrap();
        ANOTHER.take(&path).unwrap_err();
        SAME.take(&path).unwrap();
        assert_eq!(content(SAME.file().unwrap()), b"other");
        let loose = File::from(fd::executable_memfd("another").unwrap());
        let path = format!("/proc/self/fd/{}", loose.as_raw_fd());
        ANOTHER.take(Path::new(&path)).unwrap_err();
        assert_eq!(content(ANOTHER.file().unwrap()), b"another", "it makes its own");
    }
}
