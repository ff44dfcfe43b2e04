//! One directory of a walk: its descriptor, its path, the rules that hold in it, and its names in packs.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::rules::{self, Choice, Ignored, Rules};
use super::{Context, EntryKind};
use crate::error::{At, Failure, Kind, Result};

/// What one read of a directory takes. The kernel's own tools use as much.
const READ_BUFFER: usize = 32 * 1024;

/// File systems whose files are made up as they are read: their magic numbers, from `linux/magic.h`.
const MADE_UP: &[u32] = &[
    0x0000_9fa0, // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6165_676c, // pstore
    0xcafe_4a11, // bpf
    0x6265_6570, // configfs
    0x0000_1cd1, // devpts
    0x1980_0202, // mqueue
    0x4249_4e4d, // binfmt_misc
];

/// A directory that is being walked.
#[derive(Debug)]
pub(super) struct Directory {
    fd: OwnedFd,
    /// From where the rules' paths begin; with a closing slash, or empty.
    full: Vec<u8>,
    /// How much of it lies before the root of the walk.
    lead: usize,
    rules: Arc<Rules>,
    depth: usize,
    device: u64,
}

impl Directory {
    pub(super) fn root(fd: OwnedFd, choice: &Choice) -> Result<Self> {
        let device = rustix::fs::fstat(&fd).at(b"")?.st_dev;
        let (mut full, mut above) = (Vec::new(), Arc::new(Rules::default()));
        if choice.ignored == Ignored::Skipped
            && let Some(mut path) = rules::canonical(fd.as_fd())
        {
            above = Rules::above(&path);
            if !path.ends_with(b"/") {
                path.push(b'/');
            }
            full = path;
        }
        let lead = full.len();
        let rules = match choice.ignored {
            Ignored::Skipped => Rules::enter(&above, fd.as_fd(), lead).0,
            Ignored::Included => above,
        };
        Ok(Self { fd, full, lead, rules, depth: 0, device })
    }

    /// Goes down one name. None where there is a reason not to that is no trouble.
    pub(super) fn enter(&self, name: &CStr, context: &Context<'_>) -> Option<Self> {
        let mut full = self.full.clone();
        full.extend_from_slice(name.to_bytes());
        let entered = self.open(name, context).map(|(fd, device)| {
            full.push(b'/');
            let (rules, trouble) = match context.choice.ignored {
                Ignored::Skipped => Rules::enter(&self.rules, fd.as_fd(), full.len()),
                Ignored::Included => (Arc::clone(&self.rules), None),
            };
            if let Some(mut trouble) = trouble {
                trouble.path = [&full[self.lead..], &trouble.path].concat();
                context.troubles.add(trouble);
            }
            Self { fd, full: full.clone(), lead: self.lead, rules, depth: self.depth + 1, device }
        });
        match entered {
            Ok(directory) => Some(directory),
            // Removed, or exchanged for something else, since its name was read.
            Err(failure) if matches!(failure.kind, Kind::NotFound | Kind::NotDirectory | Kind::LinkLoop) => None,
            Err(mut failure) => {
                failure.path = full[self.lead..].to_vec();
                context.troubles.add(failure);
                None
            }
        }
    }

    fn open(&self, name: &CStr, context: &Context<'_>) -> Result<(OwnedFd, u64)> {
        if self.depth + 1 > context.depth {
            return Err(Failure::new(Kind::Limit, b"", format!("more than {} levels deep", context.depth)));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty()).at(b"")?;
        let device = rustix::fs::fstat(&fd).at(b"")?.st_dev;
        if device != self.device && made_up(&fd) {
            return Err(Failure::new(Kind::NotDirectory, b"", "made up by the kernel"));
        }
        Ok((fd, device))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Whether what is in its directories is still to be walked.
    pub(super) fn goes_deeper(&self, context: &Context<'_>) -> bool {
        // One more than allowed is tried, so that it is told of; a caller's own smaller depth is no trouble.
        self.depth + 1 < context.depth || context.depth == super::MAX_DEPTH
    }

    /// The path of a name in it, from the root of the walk, in a buffer that is used again.
    pub(super) fn path<'a>(&self, name: &CStr, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        buffer.clear();
        buffer.extend_from_slice(&self.full);
        buffer.extend_from_slice(name.to_bytes());
        &buffer[self.lead..]
    }

    /// Calls with every name that is to be looked at. Ends at the first failure or when `each` says so.
    pub(super) fn read(&self, context: &Context<'_>, mut each: impl FnMut(&CStr, EntryKind) -> bool) {
        let mut buffer = Vec::<u8>::with_capacity(READ_BUFFER);
        let space: &mut [MaybeUninit<u8>] = buffer.spare_capacity_mut();
        let mut entries = RawDir::new(&self.fd, space);
        let mut path = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(Errno::NOENT) => return, // removed meanwhile
                Err(errno) => {
                    let place = self.full[self.lead..].to_vec();
                    return context.troubles.add(Failure::from_errno(errno, &place));
                }
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let Some(kind) = self.kind(name, entry.file_type()) else { continue };
            let relative = self.path(name, &mut path).len();
            let taken = {
                let full = &path[..];
                context.choice.takes(&self.rules, full, &full[full.len() - relative..], kind == EntryKind::Directory)
            };
            if taken && !each(name, kind) {
                return;
            }
        }
    }

    fn kind(&self, name: &CStr, told: FileType) -> Option<EntryKind> {
        let known = if told == FileType::Unknown {
            let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            FileType::from_raw_mode(stat.st_mode)
        } else {
            told
        };
        Some(match known {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => EntryKind::Other,
        })
    }
}

fn made_up(fd: &OwnedFd) -> bool {
    let Ok(stat) = rustix::fs::fstatfs(fd) else { return false };
    u32::try_from(stat.f_type).is_ok_and(|magic| MADE_UP.contains(&magic))
}

/// Names in one allocation, each with its closing NUL.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<u8>);

impl Names {
    pub(super) fn push(&mut self, name: &CStr) {
        self.0.extend_from_slice(name.to_bytes_with_nul());
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name that begins at this byte.
    pub(super) fn at(&self, start: usize) -> Option<&CStr> {
        CStr::from_bytes_until_nul(self.0.get(start..)?).ok()
    }

    /// Gives away every second name from this byte on, if there are two.
    pub(super) fn take_half(&mut self, start: usize) -> Option<Self> {
        let rest = self.0.split_off(start.min(self.0.len()));
        let mut given = Vec::new();
        for (index, name) in rest.split_inclusive(|&byte| byte == 0).enumerate() {
            let to = if index % 2 == 0 { &mut self.0 } else { &mut given };
            to.extend_from_slice(name);
        }
        (!given.is_empty()).then_some(Self(given))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &CStr> {
        self.0.split_inclusive(|&byte| byte == 0).filter_map(|name| CStr::from_bytes_with_nul(name).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_is_left_is_given_away_and_none_twice() {
        let mut names = Names::default();
        for name in [c"a", c"bb", c"c", c"dd", c"e"] {
            names.push(name);
        }
        let given = names.take_half(2).unwrap();
        assert!(names.iter().eq([c"a", c"bb", c"dd"]));
        assert!(given.iter().eq([c"c", c"e"]));
        assert_eq!(names.at(2), Some(c"bb"));
        assert!(names.take_half(8).is_none(), "nothing is left");
        assert_eq!(names.at(8), None);
    }
}
