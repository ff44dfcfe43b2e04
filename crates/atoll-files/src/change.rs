//! Single changes to a directory: making, renaming, linking, and permission bits.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::error::{At, Failure, Kind, Result};
use crate::facts::{Facts, FileKind};
use crate::path::split_last;
use crate::remove;
use crate::tree::Tree;
use crate::{copy, list};

/// Makes a directory. `true` if it was not there.
pub fn make_directory(tree: &Tree, path: &[u8], parents: bool, mode: Option<u32>) -> Result<(Facts, bool)> {
    let Some((above, name)) = split_last(path) else {
        // `/` and the like are always there.
        return if parents { Ok((list::stat(tree, path, true)?, false)) } else { Err(exists(path)) };
    };
    let directory = directory_of(tree, above, parents)?;
    let made = match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o777)) {
        Ok(()) => true,
        Err(Errno::EXIST) if parents => false,
        Err(errno) => return Err(Failure::from_errno(errno, path)),
    };
    let open = crate::tree::open(
        directory.as_fd(),
        name,
        OFlags::PATH | OFlags::DIRECTORY,
        Mode::empty(),
        crate::Reach::Anywhere,
    );
    let open = open.map_err(|failure| {
        let is_other = failure.kind == Kind::NotDirectory;
        if is_other { exists(path) } else { Failure { path: path.to_vec(), ..failure } }
    })?;
    if let (true, Some(mode)) = (made, mode) {
        rustix::fs::chmodat(&directory, name, Mode::from_raw_mode(mode), AtFlags::empty()).at(path)?;
    }
    Ok((Facts::of(&open, path)?, made))
}

/// Gives a thing another name.
pub fn rename(
    tree: &Tree,
    (from, to): (&[u8], &[u8]),
    replace: bool,
    parents: bool,
    across: bool,
    gone: &dyn Fn() -> bool,
) -> Result<Facts> {
    let (source, old) = tree.parent(from)?;
    let (above, new) = split_last(to).ok_or_else(|| exists(to))?;
    let target = directory_of(tree, above, parents)?;
    let flags = if replace { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
    match rustix::fs::renameat_with(&source, old, &target, new, flags) {
        Ok(()) => {}
        Err(Errno::XDEV) if across => {
            copy::copy(tree, (from, to), copy::Options { recursive: true, replace, parents }, gone)?;
            remove::remove(tree, from, true, gone)?;
        }
        // The kernel's word for a directory that is to be moved into itself.
        Err(Errno::INVAL) => return Err(Failure::new(Kind::Invalid, to, "is inside of what is to be renamed")),
        Err(Errno::EXIST) => return Err(exists(to)),
        Err(errno) => {
            let missing = errno == Errno::NOENT && Facts::of_name(&source, old).is_ok();
            return Err(Failure::from_errno(errno, if missing { to } else { from }));
        }
    }
    Facts::of_name(&target, new).at(to)
}

/// Makes a symbolic link.
pub fn make_link(tree: &Tree, path: &[u8], target: &[u8], replace: bool, parents: bool) -> Result<Facts> {
    if target.is_empty() || target.contains(&0) {
        return Err(Failure::new(Kind::Invalid, path, "a link leads somewhere: its target is empty or has a NUL"));
    }
    let (above, name) = split_last(path).ok_or_else(|| exists(path))?;
    let directory = directory_of(tree, above, parents)?;
    match rustix::fs::symlinkat(target, &directory, name) {
        Err(Errno::EXIST) if replace => {
            let temporary = crate::write::random_name();
            rustix::fs::symlinkat(target, &directory, &temporary[..]).at(path)?;
            let moved = rustix::fs::renameat(&directory, &temporary[..], &directory, name);
            if moved.is_err() {
                rustix::fs::unlinkat(&directory, &temporary[..], AtFlags::empty()).ok();
            }
            moved.at(path)?;
        }
        made => made.at(path)?,
    }
    Facts::of_name(&directory, name).at(path)
}

/// Sets permission bits: of a file, or of all in a directory too. Links are not followed below it. Returns how many.
pub fn set_mode(tree: &Tree, path: &[u8], mode: u32, recursive: bool, gone: &dyn Fn() -> bool) -> Result<u64> {
    let found = tree.open(path, OFlags::PATH, Mode::empty())?;
    let mode = Mode::from_raw_mode(mode & 0o7777);
    let mut count = 1;
    if recursive && Facts::of(&found, path)?.kind == FileKind::Directory {
        // From the bottom: a directory that is closed to us afterwards is done by then.
        let directory = tree.read_directory(path)?;
        count += set_below(&directory, path, mode, gone, 0)?;
    }
    by_descriptor(&found, mode).at(path)?;
    Ok(count)
}

fn set_below(directory: &OwnedFd, path: &[u8], mode: Mode, gone: &dyn Fn() -> bool, depth: u32) -> Result<u64> {
    if depth >= list::DEPTH_MAX {
        return Err(Failure::new(Kind::Limit, path, format!("is more than {} levels deep", list::DEPTH_MAX)));
    }
    let mut count = 0;
    let mut outcome = Ok(());
    crate::names::each(directory, &mut |name| {
        outcome = set_one(directory, path, name.bytes, mode, gone, depth).map(|more| count += more);
        Ok(outcome.is_ok())
    })
    .at(path)?;
    outcome.map(|()| count)
}

fn set_one(
    directory: &OwnedFd,
    path: &[u8],
    name: &[u8],
    mode: Mode,
    gone: &dyn Fn() -> bool,
    depth: u32,
) -> Result<u64> {
    if gone() {
        return Err(Failure::new(Kind::Cancelled, path, "called off"));
    }
    let path = crate::path::join(path, name);
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(0),
        found => found.at(&path)?,
    };
    let mut count = 0;
    match Facts::of(&found, &path)?.kind {
        FileKind::Symlink => return Ok(0),
        FileKind::Directory => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let inner = rustix::fs::openat(directory, name, flags, Mode::empty()).at(&path)?;
            count += set_below(&inner, &path, mode, gone, depth + 1)?;
        }
        FileKind::File | FileKind::Fifo | FileKind::Socket | FileKind::CharacterDevice | FileKind::BlockDevice => {}
    }
    by_descriptor(&found, mode).at(&path)?;
    Ok(count + 1)
}

/// The kernel changes no mode by a descriptor that was opened as a path; by its name in `/proc` it does.
fn by_descriptor(found: &OwnedFd, mode: Mode) -> rustix::io::Result<()> {
    let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(found));
    rustix::fs::chmod(name.as_bytes(), mode)
}

/// The directory in which a name is to be made.
pub(crate) fn directory_of(tree: &Tree, above: &[u8], parents: bool) -> Result<OwnedFd> {
    if parents {
        return tree.make_directories(above, Mode::from_raw_mode(0o777));
    }
    tree.open(above, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())
}

fn exists(path: &[u8]) -> Failure {
    Failure::new(Kind::Exists, path, "is there already")
}
