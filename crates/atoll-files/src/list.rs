//! Lists of what is in a directory and below it: in the order of names, page by page if wanted, never all in memory.
//!
//! A page goes on by the path of the last entry that was told, whatever became of it: the order is that of names, a
//! directory before what is in it. Nobody who stays there is told twice or left out.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::ask::ListOptions;
use crate::error::{At, Failure, Kind, Result};
use crate::facts::{Facts, FileKind};
use crate::names::{self, Bound, Name, Sorted};
use crate::path::join;
use crate::tree::{Reach, Tree, open};

/// The deepest that a list goes.
pub const DEPTH_MAX: u32 = 256;

/// How a list ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Listed {
    /// There is more behind the last entry.
    pub more: bool,
    /// Directories below that could not be read.
    pub unreadable: u64,
}

/// What a walk does with a name before anything else is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// It is to be told.
    pub tell: bool,
    /// What is in it may be of interest.
    pub enter: bool,
}

/// A walk under way.
pub struct Walk<'a> {
    options: &'a ListOptions,
    interest: &'a dyn Fn(&[u8]) -> Interest,
    tell: &'a mut dyn FnMut(&[u8], &Facts) -> Result<()>,
    left: u64,
    listed: Listed,
    root: &'a [u8],
}

impl std::fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walk").field("options", self.options).field("left", &self.left).finish_non_exhaustive()
    }
}

/// Tells the entries of a directory, one by one.
pub fn list(
    tree: &Tree,
    path: &[u8],
    options: &ListOptions,
    tell: &mut dyn FnMut(&[u8], &Facts) -> Result<()>,
) -> Result<Listed> {
    walk(tree, path, options, &|_| Interest { tell: true, enter: true }, tell)
}

/// The same for those of interest only; `interest` gets the path below the directory.
pub fn walk(
    tree: &Tree,
    path: &[u8],
    options: &ListOptions,
    interest: &dyn Fn(&[u8]) -> Interest,
    tell: &mut dyn FnMut(&[u8], &Facts) -> Result<()>,
) -> Result<Listed> {
    if options.depth == 0 || options.depth > DEPTH_MAX {
        return Err(Failure::new(Kind::Invalid, path, format!("the depth is 1 to {DEPTH_MAX}")));
    }
    if options.after.is_some() && !options.sorted {
        return Err(Failure::new(Kind::Invalid, path, "going on needs the order of names"));
    }
    let directory = tree.read_directory(path)?;
    let left = options.limit.unwrap_or(u64::MAX);
    let mut walk = Walk { options, interest, tell, left, listed: Listed::default(), root: path };
    let after: Vec<&[u8]> =
        options.after.as_deref().map(|after| crate::components(after).collect()).unwrap_or_default();
    if options.sorted {
        walk.sorted(&directory, b"", 1, &after)?;
    } else {
        walk.unsorted(&directory, b"", 1)?;
    }
    Ok(walk.listed)
}

impl Walk<'_> {
    /// `false` when the page is full.
    fn sorted(&mut self, directory: &OwnedFd, below: &[u8], depth: u32, after: &[&[u8]]) -> Result<bool> {
        let mut last: Option<Vec<u8>> = None;
        loop {
            let bound = match (&last, after.first()) {
                (Some(last), _) => Bound::Behind(last),
                (None, Some(first)) => Bound::At(first),
                (None, None) => Bound::Start,
            };
            // One more than the page holds tells whether it is the last.
            let room = usize::try_from(self.left).unwrap_or(usize::MAX).saturating_add(1 + after.len());
            let hidden = self.options.hidden;
            let names = Sorted::read(directory, bound, room, &|name| hidden || !name.starts_with(b"."))
                .map_err(|errno| self.failure(errno, below))?;
            let mut index = 0;
            while let Some(name) = names.get(index) {
                index += 1;
                let met = after.first().is_some_and(|first| *first == name.bytes) && last.is_none();
                let after = if met { &after[1..] } else { &[] };
                if !self.entry(directory, below, name, depth, met, after)? {
                    return Ok(false);
                }
            }
            match (names.more, names.last()) {
                (true, Some(name)) => last = Some(name.to_vec()),
                _ => return Ok(true),
            }
        }
    }

    fn unsorted(&mut self, directory: &OwnedFd, below: &[u8], depth: u32) -> Result<bool> {
        let (hidden, mut outcome) = (self.options.hidden, Ok(true));
        names::each(directory, &mut |name| {
            if hidden || !name.bytes.starts_with(b".") {
                outcome = self.entry(directory, below, name, depth, false, &[]);
            }
            Ok(matches!(outcome, Ok(true)))
        })
        .map_err(|errno| self.failure(errno, below))?;
        outcome
    }

    /// Tells one, unless it was told (`met`), and what is below it. `false` when the page is full.
    fn entry(
        &mut self,
        directory: &OwnedFd,
        below: &[u8],
        name: Name<'_>,
        depth: u32,
        met: bool,
        after: &[&[u8]],
    ) -> Result<bool> {
        let path = join(below, name.bytes);
        let interest = (self.interest)(&path);
        let mut is_directory = matches!(name.kind, FileType::Directory);
        if interest.tell && !met {
            let facts = match Facts::of_name(directory, name.bytes) {
                Ok(facts) => facts,
                // Gone since it was read.
                Err(Errno::NOENT) => return Ok(true),
                Err(errno) => return Err(self.failure(errno, &path)),
            };
            if self.left == 0 {
                self.listed.more = true;
                return Ok(false);
            }
            self.left -= 1;
            is_directory = facts.kind == FileKind::Directory;
            (self.tell)(&path, &facts)?;
        } else if matches!(name.kind, FileType::Unknown) {
            let stat = rustix::fs::statat(directory, name.bytes, AtFlags::SYMLINK_NOFOLLOW);
            is_directory = stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
        }
        if !is_directory || !interest.enter || depth >= self.options.depth {
            return Ok(true);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        match open(std::os::fd::AsFd::as_fd(directory), name.bytes, flags, Mode::empty(), Reach::NoLinks) {
            Ok(inner) if self.options.sorted => self.sorted(&inner, &path, depth + 1, after),
            Ok(inner) => self.unsorted(&inner, &path, depth + 1),
            // Became something else, or is gone.
            Err(failure) if matches!(failure.kind, Kind::NotFound | Kind::NotDirectory | Kind::LinkLoop) => Ok(true),
            Err(failure) if failure.kind == Kind::Denied => {
                self.listed.unreadable += 1;
                Ok(true)
            }
            Err(failure) => Err(Failure { path: join(self.root, &path), ..failure }),
        }
    }

    fn failure(&self, errno: Errno, below: &[u8]) -> Failure {
        Failure::from_errno(errno, &join(self.root, below))
    }
}

/// What is there, told as one entry.
pub fn stat(tree: &Tree, path: &[u8], follow: bool) -> Result<Facts> {
    let last = if follow { OFlags::PATH } else { OFlags::PATH | OFlags::NOFOLLOW };
    let found = tree.open(path, last, Mode::empty())?;
    let mut facts = Facts::of(&found, path)?;
    if facts.kind == FileKind::Symlink {
        // An empty path means the link itself.
        facts.target = Some(crate::facts::read_link(&found, b"").at(path)?);
    }
    Ok(facts)
}
