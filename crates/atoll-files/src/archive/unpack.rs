//! From a stream to files.

use std::cell::Cell;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::Format;
use super::limits::{Limits, Used};
use super::member::{Extent, Member, MemberKind};
use super::place::{Existing, Made, Places};
use super::spool::{self, fill};
use super::tar::TarReader;
use super::zip::ZipReader;
use crate::error::{At, Failure, Kind, Result};
use crate::stop::Stop;
use crate::tree::Tree;

const BUFFER: usize = 128 << 10;
/// The largest window of zstd that is accepted, as a power of two: what its own tools accept.
const WINDOW_LOG: u32 = 27;
/// How many skipped members are told in full.
const MAX_SKIPPED: usize = 1000;

/// How an archive is unpacked.
#[derive(Debug, Clone, Default)]
pub struct Unpack {
    /// Its form; none to tell by how it begins.
    pub format: Option<Format>,
    /// How many leading names of paths are dropped.
    pub strip: usize,
    /// What to do where something is there already.
    pub existing: Existing,
    /// When it is too much.
    pub limits: Limits,
}

/// A member that was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its path in the archive.
    pub path: Vec<u8>,
    /// Why.
    pub why: &'static str,
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unpacked {
    /// The archive's form.
    pub format: Format,
    /// Files.
    pub files: u64,
    /// Directories that the archive names.
    pub directories: u64,
    /// Symbolic and hard links, and named pipes.
    pub links: u64,
    /// Bytes written to files.
    pub bytes: u64,
    /// How many members were not made.
    pub skipped: u64,
    /// The first thousand of them.
    pub first_skipped: Vec<Skipped>,
}

impl Unpack {
    /// Unpacks into the directory `root`, which is made if it is missing.
    ///
    /// A member that would lead out, and a limit that is reached, end it; what was unpacked before stays.
    pub fn run(&self, tree: &Tree, root: &[u8], input: impl Read, stop: &Stop) -> Result<Unpacked> {
        tree.make_directories(root, Mode::from_raw_mode(0o777))?;
        let directory = tree.open(root, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        let read = Rc::new(Cell::new(0));
        let mut input = Counted { input, read: Rc::clone(&read), stop };
        let mut beginning = [0; Format::MAGIC];
        let count = fill(&mut input, &mut beginning).at(b"")?;
        let format = self.format.unwrap_or_else(|| Format::of(&beginning[..count]));
        let mut work = Work {
            options: self,
            places: Places::new(directory, self.existing, self.strip),
            used: Used::default(),
            told: Unpacked { format, ..Unpacked::default() },
            read,
            stop,
            buffer: vec![0; BUFFER],
        };
        let whole = beginning[..count].chain(&mut input);
        let done = match format {
            Format::Tar => work.tar(whole),
            Format::TarZst => decoder(whole).and_then(|decoder| work.tar(decoder)),
            Format::TarGz => work.tar(MultiGzDecoder::new(BufReader::new(whole))),
            Format::Zip => work.zip(whole),
        };
        // Modes and times of directories that are there are set in any case.
        let closed = work.places.close();
        let entries = work.used.entries();
        done.map_err(|failure| after(failure, entries))?;
        closed?;
        work.told.bytes = work.used.written();
        Ok(work.told)
    }
}

fn decoder<R: Read>(input: R) -> Result<zstd::stream::read::Decoder<'static, BufReader<R>>> {
    let mut decoder = zstd::stream::read::Decoder::new(input).at(b"")?;
    decoder.window_log_max(WINDOW_LOG).at(b"")?;
    Ok(decoder)
}

/// Says how far it got.
fn after(failure: Failure, entries: u64) -> Failure {
    let detail = format!("{} (after {} entries)", failure.detail, entries.saturating_sub(1));
    // The decoders say `Io` of bytes that are no archive.
    let kind = if failure.kind == Kind::Io { Kind::Content } else { failure.kind };
    Failure { kind, detail, ..failure }
}

struct Work<'a> {
    options: &'a Unpack,
    places: Places,
    used: Used,
    told: Unpacked,
    read: Rc<Cell<u64>>,
    stop: &'a Stop,
    buffer: Vec<u8>,
}

impl Work<'_> {
    fn tar(&mut self, input: impl Read) -> Result<()> {
        let mut reader = TarReader::new(input);
        while let Some(member) = reader.next()? {
            self.stop.check()?;
            self.member(&member, &mut |buffer| reader.read(buffer))?;
        }
        // What follows the end is nothing, but whoever sends it wants to be rid of it.
        io::copy(&mut reader.into_inner(), &mut io::sink()).at(b"")?;
        Ok(())
    }

    fn zip(&mut self, mut input: impl Read) -> Result<()> {
        let mut file = spool::file(self.places.root()).at(b"")?;
        loop {
            let count = fill(&mut input, &mut self.buffer).at(b"")?;
            if count == 0 {
                break;
            }
            file.write_all(&self.buffer[..count]).at(b"")?;
        }
        let reader = ZipReader::new(file)?;
        reader.check_overlaps(self.options.limits.entries)?;
        reader.each(|mut entry| {
            self.stop.check()?;
            reader.resolve(&mut entry)?;
            let mut content = reader.content(&entry)?;
            let path = entry.member.path.clone();
            self.member(&entry.member, &mut |buffer| fill(&mut content, buffer).at(&path))
        })
    }

    fn member(&mut self, member: &Member, content: &mut dyn FnMut(&mut [u8]) -> Result<usize>) -> Result<()> {
        self.used.member(&self.options.limits, &member.path, member.size)?;
        let Some(path) = self.places.path(&member.path)? else { return Ok(()) };
        let made = match &member.kind {
            MemberKind::File => self.file(&path, member, content)?,
            MemberKind::Directory => self.places.directory(&path, member)?,
            MemberKind::Symlink { target } => self.places.symlink(&path, target, member)?,
            MemberKind::HardLink { target } => self.places.hard_link(&path, target)?,
            MemberKind::Fifo => self.places.fifo(&path, member)?,
            MemberKind::Other { what } => {
                self.skip(member, what);
                return Ok(());
            }
        };
        if made == Made::Kept {
            self.skip(member, "something of this name is there already");
            return Ok(());
        }
        match &member.kind {
            MemberKind::File => self.told.files += 1,
            MemberKind::Directory => self.told.directories += 1,
            MemberKind::Symlink { .. } | MemberKind::HardLink { .. } | MemberKind::Fifo => self.told.links += 1,
            MemberKind::Other { .. } => {}
        }
        Ok(())
    }

    fn skip(&mut self, member: &Member, why: &'static str) {
        self.told.skipped += 1;
        if self.told.first_skipped.len() < MAX_SKIPPED {
            self.told.first_skipped.push(Skipped { path: member.path.clone(), why });
        }
    }

    fn file(
        &mut self,
        path: &[u8],
        member: &Member,
        content: &mut dyn FnMut(&mut [u8]) -> Result<usize>,
    ) -> Result<Made> {
        let Some(new) = self.places.file(path)? else { return Ok(Made::Kept) };
        let whole = [Extent { offset: 0, length: member.size }];
        let extents = member.extents.as_deref().unwrap_or(&whole);
        for extent in extents {
            let (mut offset, end) = (extent.offset, extent.offset + extent.length);
            while offset < end {
                let want = usize::try_from(end - offset).unwrap_or(usize::MAX).min(BUFFER);
                let count = content(&mut self.buffer[..want])?;
                if count == 0 {
                    return Err(Failure::new(Kind::Content, path, "the archive ends within this file"));
                }
                new.file.write_all_at(&self.buffer[..count], offset).at(path)?;
                let count = u64::try_from(count).unwrap_or(0);
                offset += count;
                self.used.wrote(&self.options.limits, path, count, self.read.get())?;
                self.stop.check()?;
            }
        }
        // Content that goes on behind its end, or has another sum, is found here; a tar has nothing left.
        if content(&mut self.buffer[..1])? != 0 {
            return Err(Failure::new(Kind::Content, path, "the archive has more of this file than it says"));
        }
        if member.extents.is_some() {
            new.file.set_len(member.size).at(path)?;
        }
        new.finish(path, member)?;
        Ok(Made::Yes)
    }
}

/// Counts what is read, and ends when it is to end.
struct Counted<'a, R> {
    input: R,
    read: Rc<Cell<u64>>,
    stop: &'a Stop,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.why().is_some() {
            return Err(Errno::CANCELED.into());
        }
        let count = self.input.read(buffer)?;
        self.read.set(self.read.get() + u64::try_from(count).unwrap_or(0));
        Ok(count)
    }
}
