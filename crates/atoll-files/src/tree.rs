//! How engines open things: a directory descriptor, a path as bytes, and a rule for what lies between.
//!
//! Every lookup is one `openat2`: the kernel follows the path, so nothing can be exchanged between a check and a use.
//! What is opened never blocks: `O_NONBLOCK | O_NOCTTY`, then `fstat`; a fifo or a device is refused by its type.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::error::{At, Failure, Kind, Result};
use crate::facts::read_link;
use crate::path::{components, split_last};

/// As many links as the kernel follows.
const LINKS_MAX: usize = 40;

/// How far paths may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// As for any program of the user: links are followed wherever they lead. Only the links of `/proc` that are no
    /// paths (`/proc/self/fd/3`) are refused: they would reach what the worker itself has open.
    Anywhere,
    /// Links are followed while they stay below the directory.
    Beneath,
    /// Below the directory, and no link is followed on the way. For walks over trees that others may be changing.
    NoLinks,
}

/// A directory, and how far paths from it may lead.
#[derive(Debug)]
pub struct Tree {
    directory: OwnedFd,
    reach: Reach,
}

/// What the kernel knows of a file.
pub type Stat = rustix::fs::Stat;

impl Tree {
    /// Paths from this directory.
    #[must_use]
    pub fn new(directory: OwnedFd, reach: Reach) -> Self {
        Self { directory, reach }
    }

    /// Opens a directory by its absolute path, as any program would, and stays below it.
    pub fn beneath(path: &[u8], reach: Reach) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS).at(path)?;
        Ok(Self::new(directory, reach))
    }

    /// The directory itself.
    #[must_use]
    pub fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Opens as told. For everything that can be opened without harm: add `NONBLOCK | NOCTTY` unless it is `O_PATH`.
    pub fn open(&self, path: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        open(self.directory.as_fd(), path, flags, mode, self.reach)
    }

    /// Opens a regular file for reading. Never blocks; anything else is refused by what it is.
    pub fn read_file(&self, path: &[u8]) -> Result<(File, Stat)> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.open(path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file).at(path)?;
        readable(&file, &stat, path)?;
        Ok((file.into(), stat))
    }

    /// Opens a directory for reading its names.
    pub fn read_directory(&self, path: &[u8]) -> Result<OwnedFd> {
        self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK, Mode::empty())
    }

    /// The directory that a path's last name is in, to make, rename or remove that name with one call.
    pub fn parent<'a>(&self, path: &'a [u8]) -> Result<(OwnedFd, &'a [u8])> {
        let (directory, name) =
            split_last(path).ok_or_else(|| Failure::new(Kind::Invalid, path, "the path has no last name"))?;
        let directory = self.open(directory, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
        Ok((directory, name))
    }

    /// Where a file of this path is or would be: its directory and its name there, links at the end followed. With a
    /// mode, directories that are missing are made.
    pub fn place(&self, path: &[u8], parents: Option<Mode>) -> Result<(OwnedFd, Vec<u8>)> {
        let mut at = path.to_vec();
        for _ in 0..LINKS_MAX {
            let (directory, name) =
                split_last(&at).ok_or_else(|| Failure::new(Kind::IsDirectory, path, "is a directory"))?;
            let open = match parents {
                Some(mode) => self.make_directories(directory, mode),
                None => self.open(directory, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()),
            };
            let open = open.map_err(|failure| Failure { path: path.to_vec(), ..failure })?;
            match read_link(&open, name) {
                Ok(target) if target.starts_with(b"/") => at = target,
                Ok(target) => at = crate::path::join(directory, &target),
                // No link, or nothing at all.
                Err(Errno::INVAL | Errno::NOENT) => return Ok((open, name.to_vec())),
                Err(errno) => return Err(Failure::from_errno(errno, path)),
            }
        }
        Err(Failure::new(Kind::LinkLoop, path, "too many links"))
    }

    /// What is there. A link at the end is followed only if told so.
    pub fn stat(&self, path: &[u8], follow: bool) -> Result<Stat> {
        let last = if follow { OFlags::PATH } else { OFlags::PATH | OFlags::NOFOLLOW };
        let found = self.open(path, last, Mode::empty())?;
        rustix::fs::fstat(&found).at(path)
    }

    /// Makes a directory and all above it that are missing. The mode is for those that are made.
    pub fn make_directories(&self, path: &[u8], mode: Mode) -> Result<OwnedFd> {
        let walk = OFlags::PATH | OFlags::DIRECTORY;
        let start: &[u8] = if path.starts_with(b"/") { b"/" } else { b"." };
        let mut at = self.open(start, walk, Mode::empty())?;
        let mut done = if start == b"/" { b"/".to_vec() } else { Vec::new() };
        for name in components(path) {
            done = crate::path::join(&done, name);
            match rustix::fs::mkdirat(&at, name, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                // Where it cannot be made it may still be there: `/usr` on a read-only root.
                Err(errno) => {
                    if rustix::fs::statat(&at, name, AtFlags::empty()).is_err() {
                        return Err(Failure::from_errno(errno, &done));
                    }
                }
            }
            at = self.open(&done, walk, Mode::empty())?;
        }
        Ok(at)
    }
}

/// One `openat2`, tried again where the kernel asks for it (a rename on the way while it had to stay below).
pub(crate) fn open(from: BorrowedFd<'_>, path: &[u8], flags: OFlags, mode: Mode, reach: Reach) -> Result<OwnedFd> {
    let resolve = match reach {
        Reach::Anywhere => ResolveFlags::NO_MAGICLINKS,
        Reach::Beneath => ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
        Reach::NoLinks => ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
    };
    let mut patience = 128;
    loop {
        match rustix::fs::openat2(from, path, flags | OFlags::CLOEXEC, mode, resolve) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if patience > 0 => patience -= 1,
            // In these the kernel means: the path leads out.
            Err(Errno::XDEV) if reach != Reach::Anywhere => {
                return Err(Failure::new(Kind::Escapes, path, "the path leads out of its directory"));
            }
            other => return other.at(path),
        }
    }
}

/// Files of procfs that show the memory of a process (proc(5)), which contains its variables.
const MEMORY: [&[u8]; 2] = [b"environ", b"mem"];

/// The suffix of the name of an open file that was removed (proc(5)), as of a thread that has ended.
const GONE: &[u8] = b" (deleted)";

/// Refuses what is not a regular file, and files of procfs that show the memory of a process. Variables may be secrets, and
/// seeing them takes the right to run commands.
pub fn readable(file: impl AsFd, stat: &Stat, path: &[u8]) -> Result<()> {
    regular(stat, path)?;
    // Files of procfs have the size 0, so that other files need no further system call.
    if stat.st_size == 0 && is_memory(file.as_fd()).at(path)? {
        let why = "the variables and the memory of a process cannot be read as files: run a command \
                   (`cat /proc/PID/environ`), which needs the scope `exec`";
        return Err(Failure::new(Kind::Denied, path, why));
    }
    Ok(())
}

/// Decides by the kernel's own name of the open file: the path may have been a link, another spelling or a thread.
fn is_memory(file: BorrowedFd<'_>) -> Result<bool, Errno> {
    if rustix::fs::fstatfs(file)?.f_type != rustix::fs::PROC_SUPER_MAGIC {
        return Ok(false);
    }
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let named = rustix::fs::readlink(link, Vec::new())?.into_bytes();
    let named = named.strip_suffix(GONE).unwrap_or(&named);
    Ok(named.rsplit(|byte| *byte == b'/').next().is_some_and(|name| MEMORY.contains(&name)))
}

/// Refuses what is not a regular file, by what it is.
pub fn regular(stat: &Stat, path: &[u8]) -> Result<()> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Failure::new(Kind::IsDirectory, path, "is a directory")),
        FileType::Fifo => Err(Failure::new(Kind::NotRegular, path, "is a fifo")),
        FileType::Socket => Err(Failure::new(Kind::NotRegular, path, "is a socket")),
        FileType::Symlink => Err(Failure::new(Kind::NotRegular, path, "is a link")),
        FileType::CharacterDevice | FileType::BlockDevice => Err(Failure::new(Kind::NotRegular, path, "is a device")),
        FileType::Unknown => Err(Failure::new(Kind::NotRegular, path, "is no file")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_memory_of_a_process_is_refused_by_every_path() {
        let dir = tempfile::tempdir().unwrap();
        let pid = std::process::id();
        let link = |name: &str, target: &str| {
            std::os::unix::fs::symlink(target, dir.path().join(name)).unwrap();
            dir.path().join(name).to_str().unwrap().to_owned()
        };
        let tree = Tree::beneath(b"/", Reach::Anywhere).unwrap();
        for path in [
            "/proc/self/environ".to_owned(),
            format!("/proc/{pid}/environ"),
            format!("/proc/{pid}/task/{pid}/environ"),
            "/proc/thread-self/environ".to_owned(),
            format!("//proc/./self/task/../../{pid}/environ"),
            link("to-the-file", "/proc/self/environ"),
            format!("{}/self/environ", link("to-proc", "/proc")),
            format!("/proc/{pid}/mem"),
        ] {
            let refused = tree.read_file(path.as_bytes()).unwrap_err();
            assert_eq!(refused.kind, Kind::Denied, "{path}");
            assert!(refused.detail.contains("`exec`"), "{}", refused.detail);
        }
        let mut shown = String::new();
        tree.read_file(b"/proc/self/status").unwrap().0.read_to_string(&mut shown).unwrap();
        assert!(shown.contains("Name:"), "{shown}");
        std::fs::write(dir.path().join("environ"), "").unwrap();
        assert!(
            tree.read_file(dir.path().join("environ").as_os_str().as_encoded_bytes()).is_ok(),
            "an ordinary file of that name"
        );
    }

    #[test]
    fn a_thread_that_has_ended_has_the_same_memory() {
        let (send, receive) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            send.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
            ended.recv().ok();
        });
        let path = std::path::Path::new("/proc").join(receive.recv().unwrap()).join("environ");
        let file = File::open(&path).unwrap();
        drop(end);
        thread.join().unwrap();
        while std::fs::metadata(&path).is_ok() {
            std::thread::yield_now();
        }
        assert_eq!(is_memory(file.as_fd()), Ok(true));
    }
}
