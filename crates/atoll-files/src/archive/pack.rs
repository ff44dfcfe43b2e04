//! From files to a stream.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use super::Format;
use super::member::{Extent, Member, MemberKind};
use super::tar::TarWriter;
use super::zip::ZipWriter;
use crate::error::{At, Failure, Kind, Result};
use crate::facts::{Facts, read_link};
use crate::path::{join, split_last};
use crate::stop::Stop;
use crate::tree::{Stat, Tree, readable};
use crate::walk::{Choice, Entry, EntryKind, Hidden, Ignored, MAX_DEPTH, Order, Troubles, Visitor, Walk};

/// How many files with several names are remembered. Of more, each name is a file of its own.
const MAX_LINKED: usize = 1 << 20;
/// A file in more pieces is packed with its holes as zeros.
const MAX_EXTENTS: usize = 1 << 17;
/// The kernel's limit on an extended attribute, and on all their names.
const MAX_ATTRIBUTE: usize = 64 << 10;
const ZSTD_LEVEL: i32 = 3;
const DEFLATE_LEVEL: u32 = 6;

/// What is packed, and how.
#[derive(Debug, Clone, Default)]
pub struct Pack {
    /// The form of the stream.
    pub format: Format,
    /// Globs that a file must match, if there is any.
    pub include: Vec<String>,
    /// Globs of what is left out.
    pub exclude: Vec<String>,
    /// What `.gitignore` and `.ignore` name.
    pub ignored: Ignored,
    /// What every path begins with; empty for paths from the root.
    pub prefix: Vec<u8>,
}

/// What was packed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packed {
    /// Files, directories and links.
    pub entries: u64,
    /// Bytes of files, holes included.
    pub bytes: u64,
    /// How much could not be packed, or changed while it was.
    pub troubles: u64,
    /// The first hundred of it.
    pub first_troubles: Vec<Failure>,
}

impl Pack {
    /// Packs the file or all below the directory at `root`, in the order of names.
    pub fn run(&self, tree: &Tree, root: &[u8], out: &mut (dyn Write + Send), stop: &Stop) -> Result<Packed> {
        self.pack(tree, root, Out::new(self.format, out).at(b"")?, stop)
    }

    /// What would be packed, and what could not be: opens everything and reads nothing.
    pub fn survey(&self, tree: &Tree, root: &[u8], stop: &Stop) -> Result<Packed> {
        self.pack(tree, root, Out::Nowhere { is_tar: self.format != Format::Zip }, stop)
    }

    fn pack(&self, tree: &Tree, root: &[u8], out: Out<'_>, stop: &Stop) -> Result<Packed> {
        let choice = Choice::new(&self.include, &self.exclude, Hidden::Included, self.ignored)?;
        let opened = tree.open(root, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())?;
        let stat = rustix::fs::fstat(&opened).at(root)?;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if !is_directory {
            readable(&opened, &stat, root)?;
        }
        let troubles = Troubles::default();
        let mut packer = Packer {
            out,
            prefix: &self.prefix,
            linked: HashMap::new(),
            told: Packed::default(),
            failed: None,
            troubles: &troubles,
        };
        if is_directory {
            let walk = Walk {
                root: opened,
                choice: &choice,
                order: Order::Sorted,
                depth: MAX_DEPTH,
                stop,
                troubles: &troubles,
            };
            let lent = std::sync::Mutex::new(&mut packer);
            walk.run(|| Lent(&lent));
        } else {
            let name = split_last(root).map_or(root, |(_, name)| name);
            packer.file(&File::from(opened), &stat, name).at(b"")?;
        }
        stop.check()?;
        if let Some(failure) = packer.failed {
            return Err(failure);
        }
        packer.out.finish().at(b"")?;
        let mut told = packer.told;
        (told.troubles, told.first_troubles) = troubles.into_told();
        Ok(told)
    }
}

/// The packer, for the one thread of a sorted walk.
struct Lent<'m, 'a, 'b, 'o>(&'m std::sync::Mutex<&'a mut Packer<'b, 'o>>);

impl Visitor for Lent<'_, '_, '_, '_> {
    fn entry(&mut self, entry: &Entry<'_>) -> ControlFlow<()> {
        self.0.lock().expect("one thread alone has it").entry(entry)
    }
}

struct Packer<'a, 'o> {
    out: Out<'o>,
    prefix: &'a [u8],
    /// Files with several names, and the first of these.
    linked: HashMap<(u64, u64), Vec<u8>>,
    told: Packed,
    failed: Option<Failure>,
    troubles: &'a Troubles,
}

impl Packer<'_, '_> {
    fn entry(&mut self, entry: &Entry<'_>) -> ControlFlow<()> {
        let path = entry.path;
        let found = match entry.kind {
            EntryKind::File => open(entry.directory, entry.name, OFlags::empty(), path),
            EntryKind::Directory => open(entry.directory, entry.name, OFlags::DIRECTORY, path),
            EntryKind::Link | EntryKind::Other => return self.unopened(entry),
        };
        let (opened, stat) = match found {
            Ok(found) => found,
            // Removed or exchanged since its name was read.
            Err(failure) if matches!(failure.kind, Kind::NotFound | Kind::NotDirectory | Kind::LinkLoop) => {
                return ControlFlow::Continue(());
            }
            Err(failure) => {
                self.troubles.add(failure);
                return ControlFlow::Continue(());
            }
        };
        let written = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.file(&File::from(opened), &stat, path),
            FileType::Directory => {
                let mut member = self.member(path, &stat, MemberKind::Directory);
                member.attributes = attributes(opened.as_fd());
                self.write(&member)
            }
            FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Ok(()),
        };
        self.unless_failed(written)
    }

    fn unopened(&mut self, entry: &Entry<'_>) -> ControlFlow<()> {
        let Ok(stat) = rustix::fs::statat(entry.directory, entry.name, AtFlags::SYMLINK_NOFOLLOW) else {
            return ControlFlow::Continue(());
        };
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => match read_link(entry.directory, entry.name.to_bytes()) {
                Ok(target) => MemberKind::Symlink { target },
                Err(_) => return ControlFlow::Continue(()),
            },
            FileType::Fifo if self.out.is_tar() => MemberKind::Fifo,
            FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice => {
                let why = "is a socket, a device or a pipe, which this form of archive does not hold";
                self.troubles.add(Failure::new(Kind::NotRegular, entry.path, why));
                return ControlFlow::Continue(());
            }
            FileType::RegularFile | FileType::Directory | FileType::Unknown => return ControlFlow::Continue(()),
        };
        let member = self.member(entry.path, &stat, kind);
        let written = self.write(&member);
        self.unless_failed(written)
    }

    fn file(&mut self, file: &File, stat: &Stat, path: &[u8]) -> io::Result<()> {
        let mut member = self.member(path, stat, MemberKind::File);
        if stat.st_nlink > 1 && self.out.is_tar() {
            if let Some(first) = self.linked.get(&(stat.st_dev, stat.st_ino)) {
                member.kind = MemberKind::HardLink { target: first.clone() };
                return self.write(&member);
            }
            if self.linked.len() < MAX_LINKED {
                self.linked.insert((stat.st_dev, stat.st_ino), member.path.clone());
            }
        }
        let facts = Facts::new(stat);
        member.size = facts.size;
        if self.out.is_tar() && !matches!(self.out, Out::Nowhere { .. }) {
            member.extents = if facts.allocated < facts.size { extents(file, facts.size) } else { None };
            member.attributes = attributes(file.as_fd());
        }
        self.told.entries += 1;
        self.told.bytes += member.size;
        if !self.out.file(&member, file)? {
            self.troubles.add(Failure::new(Kind::Io, path, "became shorter while it was packed"));
        }
        Ok(())
    }

    fn member(&self, path: &[u8], stat: &Stat, kind: MemberKind) -> Member {
        let facts = Facts::new(stat);
        Member {
            path: join(self.prefix, path),
            kind,
            mode: facts.mode,
            modified: Some(facts.modified),
            uid: facts.uid,
            gid: facts.gid,
            size: 0,
            extents: None,
            attributes: Vec::new(),
        }
    }

    fn write(&mut self, member: &Member) -> io::Result<()> {
        self.told.entries += 1;
        self.out.member(member)
    }

    fn unless_failed(&mut self, written: io::Result<()>) -> ControlFlow<()> {
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(Failure::from_io(&error, b""));
                ControlFlow::Break(())
            }
        }
    }
}

fn open(directory: BorrowedFd<'_>, name: &std::ffi::CStr, more: OFlags, path: &[u8]) -> Result<(OwnedFd, Stat)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    let opened = rustix::fs::openat(directory, name, flags, Mode::empty()).at(path)?;
    let stat = rustix::fs::fstat(&opened).at(path)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        readable(&opened, &stat, path)?;
    }
    Ok((opened, stat))
}

/// The parts of a file that are no holes. None if it is better taken whole.
fn extents(file: &File, size: u64) -> Option<Vec<Extent>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < size {
        let start = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => break,
            Err(_) => return None,
        };
        let end = rustix::fs::seek(file, SeekFrom::Hole(start)).ok()?.min(size);
        if start >= size || end <= start {
            break;
        }
        found.push(Extent { offset: start, length: end - start });
        if found.len() > MAX_EXTENTS {
            return None;
        }
        at = end;
    }
    let whole = matches!(found[..], [Extent { offset: 0, length }] if length == size);
    if whole { None } else { Some(found) }
}

/// The extended attributes that are a user's own.
fn attributes(file: BorrowedFd<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    // Most files have none: one call says so.
    if !matches!(rustix::fs::flistxattr_query(file), Ok(1..)) {
        return Vec::new();
    }
    let mut names = vec![0; MAX_ATTRIBUTE];
    let Ok(length) = rustix::fs::flistxattr(file, &mut names[..]) else { return Vec::new() };
    let mut value = vec![0; MAX_ATTRIBUTE];
    let mut found = Vec::new();
    for name in names[..length].split(|&byte| byte == 0).filter(|name| name.starts_with(b"user.")) {
        if let Ok(length) = rustix::fs::fgetxattr(file, name, &mut value[..]) {
            found.push((name.to_vec(), value[..length].to_vec()));
        }
    }
    found
}

/// The stream, in one of its forms.
enum Out<'a> {
    Tar(TarWriter<&'a mut (dyn Write + Send)>),
    Zst(TarWriter<zstd::stream::write::Encoder<'static, &'a mut (dyn Write + Send)>>),
    Gz(TarWriter<GzEncoder<&'a mut (dyn Write + Send)>>),
    Zip(ZipWriter<&'a mut (dyn Write + Send)>),
    /// Only to be counted.
    Nowhere {
        is_tar: bool,
    },
}

impl<'a> Out<'a> {
    fn new(format: Format, out: &'a mut (dyn Write + Send)) -> io::Result<Self> {
        Ok(match format {
            Format::Tar => Self::Tar(TarWriter::new(out)),
            Format::TarZst => Self::Zst(TarWriter::new(zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?)),
            Format::TarGz => Self::Gz(TarWriter::new(GzEncoder::new(out, Compression::new(DEFLATE_LEVEL)))),
            Format::Zip => Self::Zip(ZipWriter::new(out, DEFLATE_LEVEL)),
        })
    }

    fn is_tar(&self) -> bool {
        match self {
            Self::Tar(_) | Self::Zst(_) | Self::Gz(_) => true,
            Self::Zip(_) => false,
            Self::Nowhere { is_tar } => *is_tar,
        }
    }

    fn member(&mut self, member: &Member) -> io::Result<()> {
        match self {
            Self::Tar(tar) => tar.member(member),
            Self::Zst(tar) => tar.member(member),
            Self::Gz(tar) => tar.member(member),
            Self::Zip(zip) => zip.member(member),
            Self::Nowhere { .. } => Ok(()),
        }
    }

    fn file(&mut self, member: &Member, file: &File) -> io::Result<bool> {
        match self {
            Self::Tar(tar) => tar.file(member, file),
            Self::Zst(tar) => tar.file(member, file),
            Self::Gz(tar) => tar.file(member, file),
            Self::Zip(zip) => zip.file(member, file),
            Self::Nowhere { .. } => Ok(true),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Tar(tar) => tar.finish().map(drop),
            Self::Zst(tar) => tar.finish()?.finish().map(drop),
            Self::Gz(tar) => tar.finish()?.finish().map(drop),
            Self::Zip(zip) => zip.finish().map(drop),
            Self::Nowhere { .. } => Ok(()),
        }
    }
}
