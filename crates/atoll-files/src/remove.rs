//! Removing: one name, or a tree. Every step is taken from an open directory and follows no link, so that nothing but
//! what was in the tree is removed, whoever moves things around meanwhile.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::ask::Condition;
use crate::error::{At, Failure, Kind, Result};
use crate::facts::Facts;
use crate::path::join;
use crate::tree::{Reach, Tree, open};

/// Descriptors that are held on the way down. What is deeper is first moved up: it is to go anyway.
const DEPTH: usize = 100;

/// Directories that others fill while they are emptied are tried again so often.
const TRIES: usize = 16;

/// Removes. Returns how many things were.
pub fn remove(tree: &Tree, path: &[u8], recursive: bool, gone: &dyn Fn() -> bool) -> Result<u64> {
    let (directory, name) = tree.parent(path)?;
    if path.ends_with(b"/") {
        // `link/` means what it leads to, and only directories are written so.
        tree.open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    }
    match rustix::fs::unlinkat(&directory, name, AtFlags::empty()) {
        Ok(()) => return Ok(1),
        // POSIX allows either word for a directory.
        Err(errno @ (Errno::ISDIR | Errno::PERM)) => {
            if Facts::of_name(&directory, name).at(path)?.kind != crate::FileKind::Directory {
                return Err(Failure::from_errno(errno, path));
            }
        }
        Err(errno) => return Err(Failure::from_errno(errno, path)),
    }
    if !recursive {
        return match rustix::fs::unlinkat(&directory, name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(1),
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                Err(Failure::new(Kind::NotEmpty, path, "the directory is not empty"))
            }
            Err(errno) => Err(Failure::from_errno(errno, path)),
        };
    }
    let mut removal = Removal { gone, count: 0, top: None, moved: false };
    removal.directory(directory.as_fd(), name, path, 0)?;
    Ok(removal.count)
}

/// Checks the state before: for `if-match`.
pub fn check(tree: &Tree, path: &[u8], condition: &Condition) -> Result<()> {
    if *condition == Condition::Any {
        return Ok(());
    }
    let (directory, name) = tree.parent(path)?;
    let found = Facts::of_name(&directory, name).ok();
    if condition.holds(found.as_ref()) {
        Ok(())
    } else {
        Err(crate::write::unexpected(condition, found.as_ref(), path))
    }
}

struct Removal<'a> {
    gone: &'a dyn Fn() -> bool,
    count: u64,
    /// The directory that is removed, to which what is too deep is moved.
    top: Option<OwnedFd>,
    /// Something was, since the top was last emptied.
    moved: bool,
}

impl Removal<'_> {
    /// Empties and removes a directory.
    fn directory(&mut self, above: std::os::fd::BorrowedFd<'_>, name: &[u8], path: &[u8], depth: usize) -> Result<()> {
        let mut tries = 0;
        while tries < TRIES {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            let inner = match open(above, name, flags, Mode::empty(), Reach::NoLinks) {
                Ok(inner) => inner,
                Err(failure) if failure.kind == Kind::NotFound => return Ok(()),
                // Exchanged for something that is no directory: that is removed by its name.
                Err(failure) if matches!(failure.kind, Kind::NotDirectory | Kind::LinkLoop) => {
                    return self.name(above, name, path);
                }
                Err(failure) => return Err(Failure { path: path.to_vec(), ..failure }),
            };
            if depth == 0 && self.top.is_none() {
                self.top = Some(rustix::io::fcntl_dupfd_cloexec(&inner, 3).at(path)?);
            }
            self.empty(&inner, path, depth)?;
            match rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR) {
                Ok(()) => {
                    self.count += 1;
                    return Ok(());
                }
                Err(Errno::NOENT) => return Ok(()),
                Err(Errno::NOTEMPTY | Errno::EXIST) => {
                    let is_ours = depth == 0 && std::mem::take(&mut self.moved);
                    tries += usize::from(!is_ours);
                }
                Err(Errno::NOTDIR) => return self.name(above, name, path),
                Err(errno) => return Err(Failure::from_errno(errno, path)),
            }
        }
        Err(Failure::new(Kind::NotEmpty, path, "others keep filling the directory"))
    }

    fn name(&mut self, above: std::os::fd::BorrowedFd<'_>, name: &[u8], path: &[u8]) -> Result<()> {
        match rustix::fs::unlinkat(above, name, AtFlags::empty()) {
            Ok(()) => self.count += 1,
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(Failure::from_errno(errno, path)),
        }
        Ok(())
    }

    fn empty(&mut self, directory: &OwnedFd, path: &[u8], depth: usize) -> Result<()> {
        let mut outcome = Ok(());
        crate::names::each(directory, &mut |name| {
            outcome = self.one(directory, name.bytes, name.kind, path, depth);
            Ok(outcome.is_ok())
        })
        .at(path)?;
        outcome
    }

    fn one(&mut self, directory: &OwnedFd, name: &[u8], kind: FileType, path: &[u8], depth: usize) -> Result<()> {
        if (self.gone)() {
            return Err(Failure::new(Kind::Cancelled, path, "called off"));
        }
        let path = join(path, name);
        if kind != FileType::Directory {
            match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
                Ok(()) => {
                    self.count += 1;
                    return Ok(());
                }
                Err(Errno::NOENT) => return Ok(()),
                Err(Errno::ISDIR | Errno::PERM) => {}
                Err(errno) => return Err(Failure::from_errno(errno, &path)),
            }
        }
        if depth >= DEPTH
            && let Some(top) = &self.top
        {
            let moved = crate::write::random_name();
            // Found there when the top is emptied again.
            match rustix::fs::renameat(directory, name, top, &moved[..]) {
                Ok(()) => {
                    self.moved = true;
                    return Ok(());
                }
                Err(Errno::NOENT) => return Ok(()),
                Err(errno) => return Err(Failure::from_errno(errno, &path)),
            }
        }
        self.directory(directory.as_fd(), name, &path, depth + 1)
    }
}
