//! Writing a file so that nobody ever sees half of it.
//!
//! What is written gathers in a spool: in memory while it is small, then in a file without a name in the same directory.
//! Only the end puts it in its place, with one rename, in the state that the file was asked to be in. Mode, owner and
//! extended attributes of a file that is replaced are kept. Where one step is not to be had (the directory may not be
//! written, the owner not be given, the file is a mount), the file is changed where it is, and the answer says so.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::ask::{Condition, WriteOptions};
use crate::error::{At, Failure, Kind, Result};
use crate::facts::{Facts, FileKind};
use crate::tree::Tree;
use crate::turn::{Key, Turn};

/// More than this goes to a file while it comes.
const IN_MEMORY: usize = 64 * 1024;

/// Where a spool may be if the directory itself may not be written.
const ELSEWHERE: [&[u8]; 3] = [b"/tmp", b"/var/tmp", b"/dev/shm"];

/// How a write went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file as it is now.
    pub facts: Facts,
    /// It was not there before.
    pub created: bool,
    /// Done in one step.
    pub atomic: bool,
}

/// A file that is being written. Dropped before [`Writing::finish`], nothing has happened.
#[derive(Debug)]
pub struct Writing {
    place: Place,
    options: WriteOptions,
    path: Vec<u8>,
    spool: Spool,
}

/// Where the file is or will be: its directory, and its name there.
#[derive(Debug)]
struct Place {
    directory: Rc<OwnedFd>,
    name: Vec<u8>,
}

impl Writing {
    /// Finds the place.
    pub fn at(tree: &Tree, path: &[u8], options: WriteOptions) -> Result<Self> {
        if path.ends_with(b"/") {
            return Err(Failure::new(Kind::IsDirectory, path, "names a directory: it ends with a slash"));
        }
        let made = options.parents.then_some(Mode::from_raw_mode(0o777));
        let (directory, name) = tree.place(path, made)?;
        let place = Place { directory: Rc::new(directory), name };
        Ok(Self { place, options, path: path.to_vec(), spool: Spool::Memory(Vec::new()) })
    }

    /// Refuses what can be refused before anything is sent. The end looks again.
    pub fn check_early(&self) -> Result<()> {
        self.check(self.found()?.as_ref())
    }

    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.spool {
            Spool::Memory(held) if held.len() + bytes.len() <= IN_MEMORY => held.extend_from_slice(bytes),
            Spool::Memory(held) => {
                let held = std::mem::take(held);
                let (mut file, here) = self.spool_file()?;
                file.write_all(&held).and_then(|()| file.write_all(bytes)).at(&self.path)?;
                self.spool = Spool::File { file, here };
            }
            Spool::File { file, .. } => file.write_all(bytes).at(&self.path)?,
        }
        Ok(())
    }

    /// The file to which more bytes can be added by others, and the path that is meant, if there is one by now.
    pub(crate) fn spooled(&self) -> Option<(&File, &[u8])> {
        match &self.spool {
            Spool::File { file, .. } => Some((file, &self.path)),
            Spool::Memory(_) => None,
        }
    }

    /// Puts it in its place. A file that is replaced is left open in `old`: only when that is closed are its blocks given
    /// back, which takes longer than all the rest, and which nobody needs to wait for.
    pub fn finish(mut self, old: &mut Option<File>) -> Result<Written> {
        let _turn = Turn::take(vec![Key::of(&self.place.directory, &self.place.name).at(&self.path)?]);
        let found = self.found()?;
        self.check(found.as_ref())?;
        if self.options.append && found.is_some() {
            return self.in_place(found.as_ref());
        }
        match self.replace(found.as_ref(), old)? {
            Some(facts) => Ok(Written { facts, created: found.is_none(), atomic: true }),
            None => self.in_place(found.as_ref()),
        }
    }

    fn found(&self) -> Result<Option<Facts>> {
        match Facts::of_name(&self.place.directory, &self.place.name) {
            Ok(facts) => Ok(Some(facts)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(Failure::from_errno(errno, &self.path)),
        }
    }

    fn check(&self, found: Option<&Facts>) -> Result<()> {
        if !self.options.condition.holds(found) {
            return Err(unexpected(&self.options.condition, found, &self.path));
        }
        let Some(facts) = found else { return Ok(()) };
        match facts.kind {
            FileKind::File => {}
            FileKind::Directory => return Err(Failure::new(Kind::IsDirectory, &self.path, "is a directory")),
            FileKind::Symlink | FileKind::Fifo | FileKind::Socket => {
                return Err(Failure::new(Kind::NotRegular, &self.path, "is no regular file"));
            }
            FileKind::CharacterDevice | FileKind::BlockDevice => {
                return Err(Failure::new(Kind::NotRegular, &self.path, "is a device"));
            }
        }
        // A file that may not be written is not replaced either, though its directory would allow it.
        let access = rustix::fs::Access::WRITE_OK;
        rustix::fs::accessat(&self.place.directory, &self.place.name[..], access, AtFlags::EACCESS).at(&self.path)
    }

    /// A file without a name: in the directory itself if possible.
    fn spool_file(&self) -> Result<(File, bool)> {
        let here = match nameless(&self.place.directory, b".") {
            Ok(file) => return Ok((file, true)),
            Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::ROFS)) => errno,
            Err(errno) => errno,
        };
        if matches!(here, Errno::NOSPC | Errno::DQUOT | Errno::ROFS) {
            return Err(Failure::from_errno(here, &self.path));
        }
        let elsewhere = ELSEWHERE.iter().find_map(|directory| nameless(rustix::fs::CWD, directory).ok());
        elsewhere.map(|file| (file, false)).ok_or_else(|| Failure::from_errno(here, &self.path))
    }

    /// Replaces in one step. `None` if that cannot be done here.
    fn replace(&mut self, found: Option<&Facts>, old: &mut Option<File>) -> Result<Option<Facts>> {
        let mut temporary = match self.temporary() {
            Ok(Some(temporary)) => temporary,
            Ok(None) => return Ok(None),
            Err(failure) if failure.kind == Kind::Denied && found.is_some() => return Ok(None),
            Err(failure) => return Err(failure),
        };
        if let Some(facts) = found
            && !self.keep(&temporary.file, facts, old)?
        {
            return Ok(None);
        }
        if let Some(mode) = self.options.mode {
            rustix::fs::fchmod(&temporary.file, Mode::from_raw_mode(mode)).at(&self.path)?;
        }
        temporary.name_it(&self.place.directory, found.is_none(), &self.place.name).at(&self.path)?;
        match temporary.rename(&self.place, found.is_none()) {
            Ok(()) => Facts::of(&temporary.file, &self.path).map(Some),
            // It came to be in between: ours was to be new, or is to take its place after all.
            Err(Errno::EXIST) if self.options.condition == Condition::Absent => {
                Err(Failure::new(Kind::Precondition, &self.path, "is there already"))
            }
            Err(Errno::EXIST) => {
                temporary.rename(&self.place, false).at(&self.path)?;
                Facts::of(&temporary.file, &self.path).map(Some)
            }
            Err(Errno::BUSY | Errno::XDEV) if found.is_some() => Ok(None),
            Err(errno) => Err(Failure::from_errno(errno, &self.path)),
        }
    }

    /// The new file, complete, in the directory. `None` if it gathered elsewhere.
    fn temporary(&mut self) -> Result<Option<Temporary>> {
        match std::mem::replace(&mut self.spool, Spool::Memory(Vec::new())) {
            Spool::File { file, here: true } => Ok(Some(Temporary { file, name: None, directory: self.directory() })),
            elsewhere @ Spool::File { here: false, .. } => {
                self.spool = elsewhere;
                Ok(None)
            }
            Spool::Memory(held) => {
                let made = self.named();
                // Whatever happens next may need it.
                self.spool = Spool::Memory(held);
                let mut temporary = made?;
                if let Spool::Memory(held) = &self.spool {
                    temporary.file.write_all(held).at(&self.path)?;
                }
                Ok(Some(temporary))
            }
        }
    }

    fn directory(&self) -> Rc<OwnedFd> {
        Rc::clone(&self.place.directory)
    }

    fn named(&self) -> Result<Temporary> {
        let directory = self.directory();
        let (file, name) = make_named(&directory).at(&self.path)?;
        Ok(Temporary { file, name: Some(name), directory })
    }

    /// Gives the new file what the old one has. `false` if its owner cannot be given.
    fn keep(&self, file: &File, old: &Facts, opened: &mut Option<File>) -> Result<bool> {
        let new = rustix::fs::fstat(file).at(&self.path)?;
        let is_given = (new.st_uid, new.st_gid) != (old.uid, old.gid);
        if is_given {
            let owner = (rustix::fs::Uid::from_raw(old.uid), rustix::fs::Gid::from_raw(old.gid));
            match rustix::fs::fchown(file, Some(owner.0), Some(owner.1)) {
                Ok(()) => {}
                Err(Errno::PERM | Errno::INVAL | Errno::OVERFLOW) => return Ok(false),
                Err(errno) => return Err(Failure::from_errno(errno, &self.path)),
            }
        }
        // To give a file away takes bits off it.
        if is_given || new.st_mode & 0o7777 != old.mode {
            rustix::fs::fchmod(file, Mode::from_raw_mode(old.mode)).at(&self.path)?;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        // What may not be read has no attributes that we could keep.
        if let Ok(old) = rustix::fs::openat(&self.place.directory, &self.place.name[..], flags, Mode::empty()) {
            crate::attributes::copy(&old, file);
            *opened = Some(old.into());
        }
        Ok(true)
    }

    /// Changes the file where it is.
    fn in_place(self, found: Option<&Facts>) -> Result<Written> {
        let Place { directory, name } = &self.place;
        let how = if self.options.append { OFlags::APPEND } else { OFlags::TRUNC };
        let make = if found.is_none() { OFlags::CREATE } else { OFlags::empty() };
        let safely = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file =
            rustix::fs::openat(directory, &name[..], OFlags::WRONLY | how | make | safely, Mode::from_raw_mode(0o666));
        let mut file = File::from(file.at(&self.path)?);
        crate::tree::regular(&rustix::fs::fstat(&file).at(&self.path)?, &self.path)?;
        match self.spool {
            Spool::Memory(held) => file.write_all(&held).at(&self.path)?,
            Spool::File { file: mut spool, .. } => {
                spool.seek(SeekFrom::Start(0)).at(&self.path)?;
                pour(&mut spool, &mut file).at(&self.path)?;
            }
        }
        if let Some(mode) = self.options.mode {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode)).at(&self.path)?;
        }
        let facts = Facts::of(&file, &self.path)?;
        Ok(Written { facts, created: found.is_none(), atomic: false })
    }
}

fn pour(from: &mut File, to: &mut File) -> std::io::Result<()> {
    let mut buffer = vec![0; IN_MEMORY];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            count => to.write_all(&buffer[..count])?,
        }
    }
}

/// Why the state is not the one that was asked for.
pub(crate) fn unexpected(condition: &Condition, found: Option<&Facts>, path: &[u8]) -> Failure {
    let what = match (condition, found) {
        (Condition::Absent, _) => "is there already".to_owned(),
        (_, None) => "is not there".to_owned(),
        (_, Some(facts)) => format!("has changed: its tag is now {}", facts.tag()),
    };
    Failure::new(Kind::Precondition, path, what)
}

/// What gathers before the end.
#[derive(Debug)]
enum Spool {
    Memory(Vec<u8>),
    /// `here`: in the directory where it is to be.
    File {
        file: File,
        here: bool,
    },
}

/// A complete new file that is not in its place yet. Removes itself if it never gets there.
#[derive(Debug)]
struct Temporary {
    file: File,
    name: Option<Vec<u8>>,
    directory: Rc<OwnedFd>,
}

impl Temporary {
    /// Gives a nameless file a name: the last one itself if that is free and only has to be taken.
    fn name_it(&mut self, directory: &OwnedFd, fresh: bool, last: &[u8]) -> rustix::io::Result<()> {
        if self.name.is_some() {
            return Ok(());
        }
        let from = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&self.file));
        let link = |name: &[u8]| {
            rustix::fs::linkat(rustix::fs::CWD, from.as_bytes(), directory, name, AtFlags::SYMLINK_FOLLOW)
        };
        if fresh && link(last).is_ok() {
            return Ok(());
        }
        let name = random_name();
        link(&name)?;
        self.name = Some(name);
        Ok(())
    }

    /// Moves it to its place; a nameless one that needed no other name is there already.
    fn rename(&mut self, place: &Place, fresh: bool) -> rustix::io::Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        let flags = if fresh { RenameFlags::NOREPLACE } else { RenameFlags::empty() };
        rustix::fs::renameat_with(&self.directory, &name[..], &place.directory, &place.name[..], flags)?;
        self.name = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Somebody inside may have been faster.
            rustix::fs::unlinkat(&self.directory, &name[..], AtFlags::empty()).ok();
        }
    }
}

fn nameless(directory: impl AsFd, path: &[u8]) -> rustix::io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::openat(directory, path, flags, Mode::from_raw_mode(0o666)).map(File::from)
}

/// A new file under a name that nobody else has.
pub(crate) fn make_named(directory: impl AsFd) -> rustix::io::Result<(File, Vec<u8>)> {
    let directory = directory.as_fd();
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let name = random_name();
        match rustix::fs::openat(directory, &name[..], flags, Mode::from_raw_mode(0o666)) {
            Err(Errno::EXIST) => {}
            made => return made.map(|file| (file.into(), name)),
        }
    }
}

/// A name for a moment.
pub(crate) fn random_name() -> Vec<u8> {
    let mut bytes = [0; 8];
    // Should there be no randomness, the clash is found by the kernel.
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).ok();
    format!(".atoll-{:016x}.tmp", u64::from_ne_bytes(bytes)).into_bytes()
}
