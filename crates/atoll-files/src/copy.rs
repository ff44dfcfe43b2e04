//! Copying: a file, or a tree. Blocks are shared where the file system can do that; holes stay holes; modes, times,
//! extended attributes and, where the user may, owners are kept. Links are copied as links.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, SeekFrom, Timespec, Timestamps};
use rustix::io::Errno;

use crate::change::directory_of;
use crate::error::{At, Failure, Kind, Result};
use crate::facts::{Facts, FileKind, read_link};
use crate::list::DEPTH_MAX;
use crate::path::{join, split_last};
use crate::tree::{Reach, Stat, Tree, open};

/// What is copied at a time: between two pieces it may be called off.
const PIECE: usize = 16 * 1024 * 1024;

/// How a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Directories, with all that is in them.
    pub recursive: bool,
    /// Replace files that are there; directories are merged.
    pub replace: bool,
    /// Make the directories above the copy that are missing.
    pub parents: bool,
}

/// Copies. Returns how many things were.
pub fn copy(tree: &Tree, (from, to): (&[u8], &[u8]), options: Options, gone: &dyn Fn() -> bool) -> Result<u64> {
    let (source, old) = tree.parent(from)?;
    let found = Facts::of_name(&source, old).at(from)?;
    if found.kind == FileKind::Directory && !options.recursive {
        return Err(Failure::new(Kind::IsDirectory, from, "is a directory; ask for it with all that is in it"));
    }
    let (above, new) = split_last(to).ok_or_else(|| Failure::new(Kind::Exists, to, "is there already"))?;
    let target = directory_of(tree, above, options.parents)?;
    if found.kind == FileKind::Directory {
        refuse_into_itself(&source, old, &target, to)?;
    }
    // The last step looks again; what is known before is not copied first.
    if !options.replace && rustix::fs::statat(&target, new, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Err(Failure::new(Kind::Exists, to, "is there already"));
    }
    let mut copying = Copying { options, gone, count: 0 };
    copying.one((source.as_fd(), old, from), (target.as_fd(), new, to), 0)?;
    Ok(copying.count)
}

/// A copy below its own source would never end.
fn refuse_into_itself(source: &OwnedFd, name: &[u8], target: &OwnedFd, to: &[u8]) -> Result<()> {
    let source = rustix::fs::statat(source, name, AtFlags::SYMLINK_NOFOLLOW).at(to)?;
    let mut at = rustix::io::fcntl_dupfd_cloexec(target, 3).at(to)?;
    loop {
        let here = rustix::fs::fstat(&at).at(to)?;
        if (here.st_dev, here.st_ino) == (source.st_dev, source.st_ino) {
            return Err(Failure::new(Kind::Invalid, to, "is inside of what is to be copied"));
        }
        let above = rustix::fs::openat(&at, "..", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let above = above.at(to)?;
        let next = rustix::fs::fstat(&above).at(to)?;
        if (next.st_dev, next.st_ino) == (here.st_dev, here.st_ino) {
            return Ok(());
        }
        at = above;
    }
}

/// A directory, a name in it, and the whole path for people.
type At3<'a> = (BorrowedFd<'a>, &'a [u8], &'a [u8]);

struct Copying<'a> {
    options: Options,
    gone: &'a dyn Fn() -> bool,
    count: u64,
}

impl Copying<'_> {
    fn check(&self, path: &[u8]) -> Result<()> {
        if (self.gone)() { Err(Failure::new(Kind::Cancelled, path, "called off")) } else { Ok(()) }
    }

    fn one(&mut self, from: At3<'_>, to: At3<'_>, depth: u32) -> Result<()> {
        self.check(from.2)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let found = open(from.0, from.1, flags, Mode::empty(), Reach::NoLinks);
        let stat = match found {
            // A link is opened as itself.
            Ok(found) => rustix::fs::fstat(&found).at(from.2)?,
            Err(failure) if failure.kind == Kind::LinkLoop => {
                rustix::fs::statat(from.0, from.1, AtFlags::SYMLINK_NOFOLLOW).at(from.2)?
            }
            Err(failure) => return Err(Failure { path: from.2.to_vec(), ..failure }),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.directory(from, to, &stat, depth)?,
            FileType::RegularFile => self.file(from, to)?,
            FileType::Symlink => self.link(from, to, &stat)?,
            FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice => {
                self.node(to, &stat)?;
            }
            FileType::Unknown => return Err(Failure::new(Kind::NotRegular, from.2, "is nothing that can be copied")),
        }
        self.count += 1;
        Ok(())
    }

    fn directory(&mut self, from: At3<'_>, to: At3<'_>, stat: &Stat, depth: u32) -> Result<()> {
        if depth >= DEPTH_MAX {
            return Err(Failure::new(Kind::Limit, from.2, format!("is more than {DEPTH_MAX} levels deep")));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let inside = |failure: Failure, path: &[u8]| Failure { path: path.to_vec(), ..failure };
        let source = open(from.0, from.1, flags, Mode::empty(), Reach::NoLinks).map_err(|it| inside(it, from.2))?;
        match rustix::fs::mkdirat(to.0, to.1, Mode::from_raw_mode(0o700)) {
            Ok(()) => {}
            Err(Errno::EXIST) if self.options.replace => {}
            Err(errno) => return Err(Failure::from_errno(errno, to.2)),
        }
        let target = open(to.0, to.1, flags, Mode::empty(), Reach::NoLinks).map_err(|it| inside(it, to.2))?;
        let mut outcome = Ok(());
        crate::names::each(&source, &mut |name| {
            let (old, new) = (join(from.2, name.bytes), join(to.2, name.bytes));
            outcome = self.one((source.as_fd(), name.bytes, &old), (target.as_fd(), name.bytes, &new), depth + 1);
            Ok(outcome.is_ok())
        })
        .at(from.2)?;
        outcome?;
        keep(&source, &target, stat, to.2)
    }

    fn file(&self, from: At3<'_>, to: At3<'_>) -> Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let source = open(from.0, from.1, flags, Mode::empty(), Reach::NoLinks)
            .map_err(|failure| Failure { path: from.2.to_vec(), ..failure })?;
        let stat = rustix::fs::fstat(&source).at(from.2)?;
        crate::tree::readable(&source, &stat, from.2)?;
        let source = File::from(source);
        let (mut file, name) = crate::write::make_named(to.0).at(to.2)?;
        let done =
            self.content(&source, &mut file, &stat, from.2)
                .map_err(|failure| {
                    if failure.kind == Kind::NoSpace { Failure { path: to.2.to_vec(), ..failure } } else { failure }
                })
                .and_then(|()| keep(&source, &file, &stat, to.2))
                .and_then(|()| self.settle(to, &name));
        if done.is_err() {
            rustix::fs::unlinkat(to.0, &name[..], AtFlags::empty()).ok();
        }
        done
    }

    /// Gives what was made under a passing name its own.
    fn settle(&self, to: At3<'_>, name: &[u8]) -> Result<()> {
        use rustix::fs::RenameFlags;
        let flags = if self.options.replace { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        rustix::fs::renameat_with(to.0, name, to.0, to.1, flags).at(to.2)
    }

    fn content(&self, from: &File, to: &mut File, stat: &Stat, path: &[u8]) -> Result<()> {
        if rustix::fs::ioctl_ficlone(&*to, from).is_ok() {
            return Ok(());
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size == 0 {
            // Empty, or made while it is read.
            return self.pour(from, to, path);
        }
        rustix::fs::ftruncate(&*to, size).at(path)?;
        let mut at = 0;
        while at < size {
            let (begin, end) = match rustix::fs::seek(from, SeekFrom::Data(at)) {
                Ok(begin) => (begin, rustix::fs::seek(from, SeekFrom::Hole(begin)).at(path)?),
                // Nothing but a hole is left.
                Err(Errno::NXIO) => return Ok(()),
                // It knows no holes.
                Err(Errno::INVAL) => (at, size),
                Err(errno) => return Err(Failure::from_errno(errno, path)),
            };
            self.extent(from, to, (begin, end.min(size)), path)?;
            at = end;
        }
        Ok(())
    }

    fn extent(&self, from: &File, to: &mut File, (begin, end): (u64, u64), path: &[u8]) -> Result<()> {
        let (mut read, mut written) = (begin, begin);
        while read < end {
            self.check(path)?;
            let want = usize::try_from(end - read).unwrap_or(usize::MAX).min(PIECE);
            match rustix::fs::copy_file_range(from, Some(&mut read), &*to, Some(&mut written), want) {
                // It became shorter.
                Ok(0) => return Ok(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => {
                    return self.by_hand(from, to, (read, end), path);
                }
                Err(errno) => return Err(Failure::from_errno(errno, path)),
            }
        }
        Ok(())
    }

    fn by_hand(&self, from: &File, to: &File, (mut at, end): (u64, u64), path: &[u8]) -> Result<()> {
        use std::os::unix::fs::FileExt;
        let mut buffer = vec![0; 256 * 1024];
        while at < end {
            self.check(path)?;
            let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(buffer.len());
            let count = from.read_at(&mut buffer[..want], at).at(path)?;
            if count == 0 {
                return Ok(());
            }
            to.write_all_at(&buffer[..count], at).at(path)?;
            at += count as u64;
        }
        Ok(())
    }

    fn pour(&self, mut from: &File, to: &mut File, path: &[u8]) -> Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            self.check(path)?;
            match from.read(&mut buffer).at(path)? {
                0 => return Ok(()),
                count => to.write_all(&buffer[..count]).at(path)?,
            }
        }
    }

    fn link(&self, from: At3<'_>, to: At3<'_>, stat: &Stat) -> Result<()> {
        let target = read_link(from.0, from.1).at(from.2)?;
        let name = crate::write::random_name();
        rustix::fs::symlinkat(&target[..], to.0, &name[..]).at(to.2)?;
        let times = times(stat);
        rustix::fs::utimensat(to.0, &name[..], &times, AtFlags::SYMLINK_NOFOLLOW).ok();
        self.settled(to, &name)
    }

    fn node(&self, to: At3<'_>, stat: &Stat) -> Result<()> {
        let name = crate::write::random_name();
        let kind = FileType::from_raw_mode(stat.st_mode);
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        rustix::fs::mknodat(to.0, &name[..], kind, mode, stat.st_rdev).at(to.2)?;
        // Under a name that nobody else knows; should it be exchanged all the same, it is the user's own doing.
        rustix::fs::chmodat(to.0, &name[..], mode, AtFlags::empty()).ok();
        rustix::fs::utimensat(to.0, &name[..], &times(stat), AtFlags::SYMLINK_NOFOLLOW).ok();
        self.settled(to, &name)
    }

    fn settled(&self, to: At3<'_>, name: &[u8]) -> Result<()> {
        let done = self.settle(to, name);
        if done.is_err() {
            rustix::fs::unlinkat(to.0, name, AtFlags::empty()).ok();
        }
        done
    }
}

/// Gives the copy what the original has.
fn keep(from: impl AsFd, to: impl AsFd, stat: &Stat, path: &[u8]) -> Result<()> {
    let to = to.as_fd();
    let owner = (rustix::fs::Uid::from_raw(stat.st_uid), rustix::fs::Gid::from_raw(stat.st_gid));
    // Only root gives things away; for others the copy is theirs.
    rustix::fs::fchown(to, Some(owner.0), Some(owner.1)).ok();
    crate::attributes::copy(from, to);
    rustix::fs::fchmod(to, Mode::from_raw_mode(stat.st_mode & 0o7777)).at(path)?;
    rustix::fs::futimens(to, &times(stat)).at(path)
}

fn times(stat: &Stat) -> Timestamps {
    let moment = |tv_sec, nanos: u64| Timespec { tv_sec, tv_nsec: i64::try_from(nanos).unwrap_or(0) };
    Timestamps {
        last_access: moment(stat.st_atime, stat.st_atime_nsec),
        last_modification: moment(stat.st_mtime, stat.st_mtime_nsec),
    }
}
