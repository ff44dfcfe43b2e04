//! Several files put in place together, or none of them.
//!
//! Every new file is complete, in its directory, under a name of its own, before the first is put in place. A file that
//! is replaced changes places with the new one (`RENAME_EXCHANGE`), so what was there is at hand: if it is not what was
//! read, or if a later step fails, it goes back. A reader sees each file old or new and never neither.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use crate::error::{At, Failure, Kind, Result};
use crate::facts::{Facts, FileKind};
use crate::tree::{Tree, readable};
use crate::write::{make_named, random_name};

/// A file as it was read.
#[derive(Debug)]
pub(crate) struct Original {
    file: File,
    facts: Facts,
}

impl Original {
    /// Opens a regular file. A link at the end of the path is refused: it would be replaced, not followed.
    pub(crate) fn open(tree: &Tree, path: &[u8]) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        let file = tree.open(path, flags, Mode::empty()).map_err(|failure| {
            if failure.kind == Kind::LinkLoop { Failure::new(Kind::NotRegular, path, "is a link") } else { failure }
        })?;
        let stat = rustix::fs::fstat(&file).at(path)?;
        readable(&file, &stat, path)?;
        Ok(Self { file: file.into(), facts: Facts::new(&stat) })
    }

    /// What was known when it was opened.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// To be read.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Whether this is still the same content. Not by the time of change: a rename alters it; nor by the number of the
    /// file: an overlay may give it another when it is first written.
    fn is_still(&self, now: &Facts) -> bool {
        now.kind == FileKind::File && (now.size, now.modified) == (self.facts.size, self.facts.modified)
    }
}

/// One change that is ready.
#[derive(Debug)]
struct Change {
    path: Vec<u8>,
    directory: OwnedFd,
    name: Vec<u8>,
    /// The name, in the same directory, of the new file before, and of the old one afterwards.
    aside: Vec<u8>,
    kind: ChangeKind,
    state: State,
}

#[derive(Debug)]
enum ChangeKind {
    Create,
    Replace(Expectation),
    Delete(Expectation),
}

/// What the file must still be.
#[derive(Debug)]
struct Expectation(Original);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The new file waits under its other name.
    Ready,
    /// It is in place; the old one, if there was any, has the other name.
    Done,
    /// Nothing of ours is left.
    Over,
}

/// Changes that belong together.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    changes: Vec<Change>,
    /// Directories that were made for them, outermost first.
    made: Vec<(OwnedFd, Vec<u8>)>,
    committed: bool,
}

impl Stage {
    /// A new file. It takes owner and attributes from `origin`, if there is one.
    pub(crate) fn create(
        &mut self,
        tree: &Tree,
        path: &[u8],
        bytes: &[u8],
        mode: Option<u32>,
        origin: Option<&Original>,
    ) -> Result<()> {
        let (directory, name) = self.parent(tree, path)?;
        let aside = prepare(&directory, path, bytes, origin, mode)?;
        self.changes.push(Change {
            path: path.to_vec(),
            directory,
            name,
            aside,
            kind: ChangeKind::Create,
            state: State::Ready,
        });
        Ok(())
    }

    /// Another content for a file that is there.
    pub(crate) fn replace(
        &mut self,
        tree: &Tree,
        path: &[u8],
        bytes: &[u8],
        mode: Option<u32>,
        original: &Original,
    ) -> Result<()> {
        let (directory, name) = tree.parent(path)?;
        writable(&directory, name, path)?;
        let name = name.to_vec();
        let aside = prepare(&directory, path, bytes, Some(original), mode)?;
        let kind = ChangeKind::Replace(Expectation::of(original, path)?);
        self.changes.push(Change { path: path.to_vec(), directory, name, aside, kind, state: State::Ready });
        Ok(())
    }

    /// A file goes.
    pub(crate) fn delete(&mut self, tree: &Tree, path: &[u8], original: &Original) -> Result<()> {
        let (directory, name) = tree.parent(path)?;
        let (name, aside) = (name.to_vec(), random_name());
        let kind = ChangeKind::Delete(Expectation::of(original, path)?);
        self.changes.push(Change { path: path.to_vec(), directory, name, aside, kind, state: State::Ready });
        Ok(())
    }

    /// Puts everything in place. On failure nothing has changed, as far as the kernel lets us take it back.
    pub(crate) fn commit(mut self) -> Result<()> {
        for change in &mut self.changes {
            change.put()?;
        }
        self.committed = true;
        Ok(())
    }

    /// The directory of a new file; those that are missing are made, and remembered.
    fn parent(&mut self, tree: &Tree, path: &[u8]) -> Result<(OwnedFd, Vec<u8>)> {
        match tree.parent(path) {
            Ok((directory, name)) => return Ok((directory, name.to_vec())),
            Err(failure) if failure.kind == Kind::NotFound => {}
            Err(failure) => return Err(failure),
        }
        let names: Vec<&[u8]> = crate::path::components(path).collect();
        let walk = OFlags::PATH | OFlags::DIRECTORY;
        let mut at = tree.open(b".", walk, Mode::empty())?;
        for end in 1..names.len() {
            match rustix::fs::mkdirat(&at, names[end - 1], Mode::from_raw_mode(0o777)) {
                Ok(()) => self.made.push((rustix::io::fcntl_dupfd_cloexec(&at, 3).at(path)?, names[end - 1].to_vec())),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(Failure::from_errno(errno, path)),
            }
            at = tree.open(&names[..end].join(&b'/'), walk, Mode::empty())?;
        }
        let (directory, name) = tree.parent(path)?;
        Ok((directory, name.to_vec()))
    }
}

impl Drop for Stage {
    /// Takes back what is half done, and removes what is left aside.
    fn drop(&mut self) {
        for change in self.changes.iter_mut().rev() {
            if !self.committed && change.state == State::Done {
                change.take_back();
            }
            change.clean();
        }
        if !self.committed {
            for (directory, name) in self.made.iter().rev() {
                // Not empty: somebody else uses it now.
                rustix::fs::unlinkat(directory, &name[..], AtFlags::REMOVEDIR).ok();
            }
        }
    }
}

impl Change {
    fn put(&mut self) -> Result<()> {
        let path = self.path.clone();
        let put = match &self.kind {
            ChangeKind::Create => self.rename(&self.aside, &self.name, RenameFlags::NOREPLACE),
            ChangeKind::Replace(expected) => self.exchange(expected),
            ChangeKind::Delete(_) => self.rename(&self.name, &self.aside, RenameFlags::NOREPLACE),
        };
        match put {
            Ok(()) => self.state = State::Done,
            Err(Errno::EXIST) => {
                return Err(Failure::new(Kind::Precondition, &path, "came to be while the patch was applied"));
            }
            Err(Errno::NOENT) => {
                return Err(Failure::new(Kind::Precondition, &path, "went away while the patch was applied"));
            }
            Err(Errno::STALE) => return Err(changed(&path)),
            Err(errno) => return Err(Failure::from_errno(errno, &path)),
        }
        let (ChangeKind::Replace(expected) | ChangeKind::Delete(expected)) = &self.kind else { return Ok(()) };
        match Facts::of_name(&self.directory, &self.aside) {
            Ok(now) if expected.0.is_still(&now) => Ok(()),
            // Exchanged without an exchange: the old one is gone, and was looked at just before.
            Err(Errno::NOENT) => Ok(()),
            Ok(_) => Err(changed(&path)),
            Err(errno) => Err(Failure::from_errno(errno, &path)),
        }
    }

    fn exchange(&self, expected: &Expectation) -> rustix::io::Result<()> {
        match self.rename(&self.aside, &self.name, RenameFlags::EXCHANGE) {
            // The file system cannot exchange: look, keep a second name for the old one, and replace.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return done,
        }
        let now = Facts::of_name(&self.directory, &self.name)?;
        if !expected.0.is_still(&now) {
            return Err(Errno::STALE);
        }
        let kept = random_name();
        rustix::fs::linkat(&self.directory, &self.name[..], &self.directory, &kept[..], AtFlags::empty())?;
        match self.rename(&self.aside, &self.name, RenameFlags::empty()) {
            Ok(()) => self.rename(&kept, &self.aside, RenameFlags::NOREPLACE),
            Err(errno) => {
                rustix::fs::unlinkat(&self.directory, &kept[..], AtFlags::empty()).ok();
                Err(errno)
            }
        }
    }

    fn rename(&self, from: &[u8], to: &[u8], flags: RenameFlags) -> rustix::io::Result<()> {
        match rustix::fs::renameat_with(&self.directory, from, &self.directory, to, flags) {
            Err(Errno::INVAL | Errno::NOSYS) if flags == RenameFlags::NOREPLACE => {
                // Where the flag is not known, a look must do.
                if rustix::fs::statat(&self.directory, to, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                    return Err(Errno::EXIST);
                }
                rustix::fs::renameat(&self.directory, from, &self.directory, to)
            }
            done => done,
        }
    }

    fn take_back(&mut self) {
        let taken = match &self.kind {
            ChangeKind::Create => self.rename(&self.name, &self.aside, RenameFlags::NOREPLACE),
            ChangeKind::Replace(_) => self
                .rename(&self.aside, &self.name, RenameFlags::EXCHANGE)
                .or_else(|_| self.rename(&self.aside, &self.name, RenameFlags::empty())),
            ChangeKind::Delete(_) => self.rename(&self.aside, &self.name, RenameFlags::NOREPLACE),
        };
        // If even that fails, what was there keeps its other name: nothing is deleted that was not ours.
        self.state = if taken.is_ok() { State::Ready } else { State::Over };
    }

    /// Removes what has the other name: the new file if it never got to its place, the old one if it did.
    fn clean(&mut self) {
        let ours = match (&self.kind, self.state) {
            (_, State::Over) | (ChangeKind::Create, State::Done) | (ChangeKind::Delete(_), State::Ready) => false,
            (ChangeKind::Create | ChangeKind::Replace(_), State::Ready)
            | (ChangeKind::Replace(_) | ChangeKind::Delete(_), State::Done) => true,
        };
        if ours {
            rustix::fs::unlinkat(&self.directory, &self.aside[..], AtFlags::empty()).ok();
        }
        self.state = State::Over;
    }
}

impl Expectation {
    fn of(original: &Original, path: &[u8]) -> Result<Self> {
        let file = original.file.try_clone().at(path)?;
        Ok(Self(Original { file, facts: original.facts.clone() }))
    }
}

fn changed(path: &[u8]) -> Failure {
    Failure::new(Kind::Precondition, path, "was changed by somebody else at the same time")
}

/// A file that may not be written is not replaced either, though its directory would allow it.
fn writable(directory: &OwnedFd, name: &[u8], path: &[u8]) -> Result<()> {
    rustix::fs::accessat(directory, name, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS).at(path)
}

/// Writes the new file under a name of its own, complete, with all that it takes over.
fn prepare(
    directory: &OwnedFd,
    path: &[u8],
    bytes: &[u8],
    origin: Option<&Original>,
    mode: Option<u32>,
) -> Result<Vec<u8>> {
    let (mut file, aside) = make_named(directory.as_fd()).at(path)?;
    let filled = file.write_all(bytes).at(path).and_then(|()| match origin {
        Some(origin) => take_over(&file, origin, mode, path),
        None => plain_mode(&file, mode, path),
    });
    if let Err(failure) = filled {
        rustix::fs::unlinkat(directory, &aside[..], AtFlags::empty()).ok();
        return Err(failure);
    }
    Ok(aside)
}

fn take_over(file: &File, origin: &Original, mode: Option<u32>, path: &[u8]) -> Result<()> {
    let old = &origin.facts;
    let new = rustix::fs::fstat(file).at(path)?;
    if (new.st_uid, new.st_gid) != (old.uid, old.gid) {
        rustix::fs::fchown(file, Some(Uid::from_raw(old.uid)), Some(Gid::from_raw(old.gid))).map_err(|errno| {
            let why =
                format!("belongs to user {} and cannot be given back to it: {}", old.uid, std::io::Error::from(errno));
            Failure::new(Kind::Denied, path, why)
        })?;
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode.unwrap_or(old.mode))).at(path)?;
    crate::attributes::copy(&origin.file, file);
    Ok(())
}

/// The mode of a new file is less the umask, which the kernel applied when it was made; bits to execute are added where
/// it can be read.
fn plain_mode(file: &File, mode: Option<u32>, path: &[u8]) -> Result<()> {
    if mode.is_some_and(|mode| mode & 0o111 != 0) {
        let made = rustix::fs::fstat(file).at(path)?.st_mode & 0o777;
        rustix::fs::fchmod(file, Mode::from_raw_mode(made | ((made & 0o444) >> 2))).at(path)?;
    }
    Ok(())
}
