//! Where members of an archive go: always below one directory, never through a link, never onto something by accident.
//!
//! The directory of each member is looked up by the kernel in one step that follows no link and does not leave the root
//! (`RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS`); the last name is made new (`O_EXCL`), or a complete file is renamed over
//! it. So neither an archive's own links nor anybody who exchanges directories meanwhile can lead a write elsewhere.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;

use super::member::Member;
use crate::error::{At, Failure, Kind, Result};
use crate::facts::Moment;
use crate::path::{components, split_last};
use crate::tree::{Reach, open};
use crate::write::{make_named, random_name};

/// What to do where something has a member's name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// It is replaced; a directory by a directory only, and what is in it stays.
    #[default]
    Replace,
    /// It stays, and the member is told as skipped.
    Keep,
    /// That is an error.
    Refuse,
}

/// Permission bits that a file gets. Not the bits that lend the owner's rights: whoever unpacks owns the file.
const FILE_BITS: u32 = 0o777;
/// A directory's, with the one that protects its files from others.
const DIRECTORY_BITS: u32 = 0o1777;

/// The directory into which an archive is unpacked.
pub(super) struct Places {
    root: OwnedFd,
    existing: Existing,
    strip: usize,
    /// The directory that was used last: members of one come one after the other.
    last: Option<(Vec<u8>, OwnedFd)>,
    /// Directories whose mode and time are set when nothing is made in them any longer.
    open: Vec<(Vec<u8>, u32, Option<Moment>)>,
}

/// What became of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    Yes,
    /// Something was there, and stays.
    Kept,
}

/// A file that is being written. Removed unless it gets to its place.
pub(super) struct NewFile {
    pub(super) file: File,
    directory: OwnedFd,
    /// The name it has until it is complete.
    aside: Option<Vec<u8>>,
    name: Vec<u8>,
    done: bool,
}

impl Places {
    pub(super) fn new(root: OwnedFd, existing: Existing, strip: usize) -> Self {
        Self { root, existing, strip, last: None, open: Vec::new() }
    }

    pub(super) fn root(&self) -> std::os::fd::BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// A member's path below the root. None if all of it is stripped off. What would lead out is refused.
    pub(super) fn path(&self, raw: &[u8]) -> Result<Option<Vec<u8>>> {
        let escapes = |why: &str| Failure::new(Kind::Escapes, raw, format!("the archive names {why}"));
        if raw.starts_with(b"/") {
            return Err(escapes("an absolute path"));
        }
        if components(raw).any(|name| name == b"..") {
            return Err(escapes("a path with `..`"));
        }
        let path = components(raw).skip(self.strip).collect::<Vec<_>>().join(&b'/');
        if path.is_empty() {
            return Ok(None);
        }
        crate::path::check(&path)?;
        Ok(Some(path))
    }

    pub(super) fn directory(&mut self, path: &[u8], member: &Member) -> Result<Made> {
        let (parent, name) = self.parent(path)?;
        match rustix::fs::mkdirat(&parent, name, Mode::RWXU) {
            Ok(()) => {}
            Err(Errno::EXIST) => match (kind_of(&parent, name), self.existing) {
                (Some(FileType::Directory), Existing::Replace | Existing::Refuse) => {}
                (Some(FileType::Directory), Existing::Keep) => return Ok(Made::Yes),
                (_, Existing::Keep) => return Ok(Made::Kept),
                (_, Existing::Refuse) => return Err(exists(path)),
                (_, Existing::Replace) => {
                    rustix::fs::unlinkat(&parent, name, AtFlags::empty()).at(path)?;
                    rustix::fs::mkdirat(&parent, name, Mode::RWXU).at(path)?;
                }
            },
            Err(errno) => return Err(Failure::from_errno(errno, path)),
        }
        self.set_attributes(path, member)?;
        self.open.push((path.to_vec(), member.mode & DIRECTORY_BITS, member.modified));
        Ok(Made::Yes)
    }

    /// Begins a file. None if something was there, and stays.
    pub(super) fn file(&mut self, path: &[u8]) -> Result<Option<NewFile>> {
        let existing = self.existing;
        let (directory, name) = self.parent(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = name.to_vec();
        match rustix::fs::openat(&directory, &name[..], flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Some(NewFile { file: file.into(), directory, aside: None, name, done: false })),
            Err(Errno::EXIST) => match (existing, kind_of(&directory, &name)) {
                (Existing::Keep, _) => Ok(None),
                (Existing::Refuse, _) => Err(exists(path)),
                (Existing::Replace, Some(FileType::Directory)) => Err(directory_there(path)),
                (Existing::Replace, _) => {
                    let (file, aside) = make_named(&directory).at(path)?;
                    Ok(Some(NewFile { file, directory, aside: Some(aside), name, done: false }))
                }
            },
            Err(errno) => Err(Failure::from_errno(errno, path)),
        }
    }

    pub(super) fn symlink(&mut self, path: &[u8], target: &[u8], member: &Member) -> Result<Made> {
        if target.is_empty() || target.contains(&0) {
            return Err(Failure::new(Kind::Content, path, "the archive has a link that leads nowhere"));
        }
        let (directory, made) = self.make(path, &|directory, name| rustix::fs::symlinkat(target, directory, name))?;
        if made == Made::Yes
            && let Some((_, name)) = split_last(path)
        {
            // A link's own time; it has no mode.
            rustix::fs::utimensat(&directory, name, &times(member.modified), AtFlags::SYMLINK_NOFOLLOW).ok();
        }
        Ok(made)
    }

    /// Another name of a file below the root. Where it leads is looked up like any member's path.
    pub(super) fn hard_link(&mut self, path: &[u8], target: &[u8]) -> Result<Made> {
        let Some(target) = self.path(target)? else {
            return Err(Failure::new(
                Kind::Escapes,
                path,
                "the archive has a hard link to nothing below its directory",
            ));
        };
        let (from, old) = self.parent(&target)?;
        let old = old.to_vec();
        match kind_of(&from, &old) {
            Some(FileType::RegularFile) => {}
            Some(_) => return Err(Failure::new(Kind::Content, path, "the archive has a hard link to what is no file")),
            None => {
                return Err(Failure::new(
                    Kind::Content,
                    path,
                    "the archive has a hard link to a file that is not there",
                ));
            }
        }
        if target == path {
            return Ok(Made::Kept);
        }
        let (_, made) =
            self.make(path, &|directory, name| rustix::fs::linkat(&from, &old[..], directory, name, AtFlags::empty()))?;
        Ok(made)
    }

    pub(super) fn fifo(&mut self, path: &[u8], member: &Member) -> Result<Made> {
        let mode = Mode::from_raw_mode(member.mode & FILE_BITS);
        let (directory, made) =
            self.make(path, &|directory, name| rustix::fs::mknodat(directory, name, FileType::Fifo, mode, 0))?;
        if made == Made::Yes
            && let Some((_, name)) = split_last(path)
        {
            rustix::fs::chmodat(&directory, name, mode, AtFlags::empty()).ok();
            rustix::fs::utimensat(&directory, name, &times(member.modified), AtFlags::SYMLINK_NOFOLLOW).ok();
        }
        Ok(made)
    }

    /// Sets modes and times of directories, the inner ones first.
    pub(super) fn close(&mut self) -> Result<()> {
        while let Some((path, mode, modified)) = self.open.pop() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            // Replaced or removed meanwhile by somebody inside: then it is theirs.
            let Ok(directory) = open(self.root.as_fd(), &path, flags, Mode::empty(), Reach::NoLinks) else { continue };
            rustix::fs::fchmod(&directory, Mode::from_raw_mode(mode)).at(&path)?;
            rustix::fs::futimens(&directory, &times(modified)).at(&path)?;
        }
        Ok(())
    }

    /// Makes something that is not opened: under its name, or under another and then renamed over what is there.
    fn make(
        &mut self,
        path: &[u8],
        make: &dyn Fn(&OwnedFd, &[u8]) -> rustix::io::Result<()>,
    ) -> Result<(OwnedFd, Made)> {
        let existing = self.existing;
        let (directory, name) = self.parent(path)?;
        match make(&directory, name) {
            Ok(()) => return Ok((directory, Made::Yes)),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(Failure::from_errno(errno, path)),
        }
        match existing {
            Existing::Keep => return Ok((directory, Made::Kept)),
            Existing::Refuse => return Err(exists(path)),
            Existing::Replace if kind_of(&directory, name) == Some(FileType::Directory) => {
                return Err(directory_there(path));
            }
            Existing::Replace => {}
        }
        let aside = random_name();
        make(&directory, &aside).at(path)?;
        let renamed = rustix::fs::renameat(&directory, &aside[..], &directory, name).at(path);
        // Two names of one file: the rename does nothing, and the other name is left.
        rustix::fs::unlinkat(&directory, &aside[..], AtFlags::empty()).ok();
        renamed.map(|()| (directory, Made::Yes))
    }

    fn set_attributes(&self, path: &[u8], member: &Member) -> Result<()> {
        if member.attributes.is_empty() {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = open(self.root.as_fd(), path, flags, Mode::empty(), Reach::NoLinks).map_err(through_a_link)?;
        set_attributes(&directory, member);
        Ok(())
    }

    /// The directory of a path, made if it is missing, and the last name.
    fn parent<'a>(&mut self, path: &'a [u8]) -> Result<(OwnedFd, &'a [u8])> {
        let (directory, name) = split_last(path)
            .ok_or_else(|| Failure::new(Kind::Escapes, path, "the archive has a path without a name"))?;
        let duplicate = |fd: &OwnedFd| rustix::io::fcntl_dupfd_cloexec(fd, 3).at(path);
        if let Some((last, fd)) = &self.last
            && last == directory
        {
            return Ok((duplicate(fd)?, name));
        }
        let found = self.find(directory).map_err(through_a_link)?;
        let copy = duplicate(&found)?;
        self.last = Some((directory.to_vec(), found));
        Ok((copy, name))
    }

    fn find(&self, directory: &[u8]) -> Result<OwnedFd> {
        let walk = OFlags::PATH | OFlags::DIRECTORY;
        let root = self.root.as_fd();
        match open(root, directory, walk, Mode::empty(), Reach::NoLinks) {
            Err(failure) if failure.kind == Kind::NotFound => {}
            found => return found,
        }
        let names: Vec<&[u8]> = components(directory).collect();
        let mut at = open(root, b".", walk, Mode::empty(), Reach::NoLinks)?;
        for end in 1..=names.len() {
            match rustix::fs::mkdirat(&at, names[end - 1], Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(Failure::from_errno(errno, directory)),
            }
            at = open(root, &names[..end].join(&b'/'), walk, Mode::empty(), Reach::NoLinks)?;
        }
        Ok(at)
    }
}

impl NewFile {
    /// Gives the complete file what the member says, and puts it in its place.
    pub(super) fn finish(mut self, path: &[u8], member: &Member) -> Result<()> {
        set_attributes(&self.file, member);
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(member.mode & FILE_BITS)).at(path)?;
        rustix::fs::futimens(&self.file, &times(member.modified)).at(path)?;
        if let Some(aside) = &self.aside {
            rustix::fs::renameat(&self.directory, &aside[..], &self.directory, &self.name[..]).at(path)?;
        }
        self.done = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.done {
            let name = self.aside.as_ref().unwrap_or(&self.name);
            rustix::fs::unlinkat(&self.directory, &name[..], AtFlags::empty()).ok();
        }
    }
}

fn set_attributes(file: impl AsFd, member: &Member) {
    for (name, value) in &member.attributes {
        // Not every file system has them; the file is worth having without.
        rustix::fs::fsetxattr(file.as_fd(), &name[..], value, XattrFlags::empty()).ok();
    }
}

fn times(modified: Option<Moment>) -> Timestamps {
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    let last_modification =
        modified.map_or(now, |moment| Timespec { tv_sec: moment.seconds, tv_nsec: moment.nanos.into() });
    Timestamps { last_access: now, last_modification }
}

fn kind_of(directory: &OwnedFd, name: &[u8]) -> Option<FileType> {
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

fn exists(path: &[u8]) -> Failure {
    Failure::new(Kind::Exists, path, "the archive has something of this name, but it is there already")
}

fn directory_there(path: &[u8]) -> Failure {
    Failure::new(Kind::IsDirectory, path, "is a directory, and the archive has something else of this name")
}

/// A link on the way is somebody's attempt to lead the write elsewhere.
fn through_a_link(failure: Failure) -> Failure {
    if failure.kind == Kind::LinkLoop {
        return Failure {
            kind: Kind::Escapes,
            detail: "the archive has a path that leads through a link".into(),
            ..failure
        };
    }
    failure
}
