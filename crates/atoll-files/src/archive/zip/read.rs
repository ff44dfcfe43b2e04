//! Reads a zip by the directory at its end.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;

use flate2::read::DeflateDecoder;

use super::fields::{Cursor, from_dos};
use super::{CENTRAL, DEFLATED, END, END_64, EXTRA_64, EXTRA_TIME, FLAG_ENCRYPTED, LOCAL, LOCATOR_64, STORED};
use crate::archive::member::{Member, MemberKind};
use crate::archive::spool::fill;
use crate::error::{At, Failure, Kind, Result};
use crate::facts::Moment;

/// The end of the directory, and the longest comment that may follow it.
const MAX_END: u64 = 22 + 65_535;
const END_LENGTH: usize = 22;
const LOCAL_LENGTH: u64 = 30;
const CENTRAL_LENGTH: usize = 46;
/// The longest target of a link.
const MAX_TARGET: u64 = 4096;

/// One member, as the directory has it.
#[derive(Debug, Clone)]
pub(in crate::archive) struct ZipMember {
    pub(in crate::archive) member: Member,
    method: u16,
    crc: u32,
    compressed: u64,
    offset: u64,
}

/// A zip that is being read.
pub(in crate::archive) struct ZipReader {
    file: File,
    length: u64,
    /// Where the directory begins, how long it is, and how many entries it says it has.
    directory: (u64, u64, u64),
}

fn bad(path: &[u8], why: &str) -> Failure {
    Failure::new(Kind::Content, path, format!("the archive cannot be read: {why}"))
}

impl ZipReader {
    pub(in crate::archive) fn new(file: File) -> Result<Self> {
        let length = file.metadata().at(b"")?.len();
        let directory = find_directory(&file, length)?;
        let end = directory.0.checked_add(directory.1);
        if end.is_none_or(|end| end > length) {
            return Err(bad(b"", "its directory lies behind its end"));
        }
        Ok(Self { file, length, directory })
    }

    /// How many members the directory says there are.
    pub(in crate::archive) fn entries(&self) -> u64 {
        self.directory.2
    }

    /// Reads the directory; ends early if `each` fails.
    pub(in crate::archive) fn each(&self, mut each: impl FnMut(ZipMember) -> Result<()>) -> Result<()> {
        let (offset, left, entries) = self.directory;
        let mut reader = BufReader::with_capacity(64 << 10, At64 { file: &self.file, offset, left });
        for _ in 0..entries {
            each(central(&mut reader)?)?;
        }
        Ok(())
    }

    /// Refuses members that share bytes with another, or with the directory.
    pub(in crate::archive) fn check_overlaps(&self, most: u64) -> Result<()> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        if self.entries() > most {
            return Err(Failure::new(Kind::Limit, b"", format!("the archive has more than {most} entries")));
        }
        self.each(|entry| {
            let end = entry.offset.checked_add(entry.compressed).and_then(|end| end.checked_add(LOCAL_LENGTH));
            let end = end.filter(|end| *end <= self.directory.0);
            ranges.push((entry.offset, end.ok_or_else(|| bad(&entry.member.path, "a member lies behind its end"))?));
            Ok(())
        })?;
        ranges.sort_unstable();
        match ranges.windows(2).any(|pair| pair[1].0 < pair[0].1) {
            true => Err(bad(b"", "two members share the same bytes, as in a bomb")),
            false => Ok(()),
        }
    }

    /// The content of a member, which ends with an error if it is not what the directory says.
    pub(in crate::archive) fn content(&self, entry: &ZipMember) -> Result<impl Read> {
        let path = &entry.member.path;
        let mut head = [0; 30];
        self.file.read_exact_at(&mut head, entry.offset).map_err(|_| bad(path, "a member lies behind its end"))?;
        let mut fields = Cursor(&head);
        let (signature, mut rest) = (fields.u32(), Cursor(&head[26..]));
        let (name, extra) = (rest.u16().unwrap_or(0), rest.u16().unwrap_or(0));
        if signature != Some(LOCAL) {
            return Err(bad(path, "a member is not where the directory says"));
        }
        let offset = entry.offset + LOCAL_LENGTH + u64::from(name) + u64::from(extra);
        if offset.checked_add(entry.compressed).is_none_or(|end| end > self.length) {
            return Err(bad(path, "a member lies behind its end"));
        }
        let raw = BufReader::new(At64 { file: &self.file, offset, left: entry.compressed });
        let plain: Box<dyn Read + '_> = match entry.method {
            STORED => Box::new(raw),
            DEFLATED => Box::new(DeflateDecoder::new(raw)),
            method => {
                return Err(bad(path, &format!("a member is compressed by method {method}, which is not supported")));
            }
        };
        Ok(Checked { inner: plain, left: entry.member.size, crc: crc32fast::Hasher::new(), told: entry.crc })
    }

    /// A link's target is its content; it is read here, and the member is a link afterwards.
    pub(in crate::archive) fn resolve(&self, entry: &mut ZipMember) -> Result<()> {
        let is_link = matches!(&entry.member.kind, MemberKind::Symlink { .. });
        if !is_link {
            return Ok(());
        }
        if entry.member.size > MAX_TARGET {
            return Err(bad(&entry.member.path, "a link leads to a name that is too long"));
        }
        let mut target = Vec::new();
        self.content(entry)?.read_to_end(&mut target).at(&entry.member.path)?;
        entry.member.kind = MemberKind::Symlink { target };
        entry.member.size = 0;
        Ok(())
    }
}

fn find_directory(file: &File, length: u64) -> Result<(u64, u64, u64)> {
    let no_zip = || bad(b"", "it has no directory at its end; it may be no zip");
    let start = length.saturating_sub(MAX_END);
    let mut tail = vec![0; usize::try_from(length - start).unwrap_or(0)];
    file.read_exact_at(&mut tail, start).at(b"")?;
    let last = tail.len().checked_sub(END_LENGTH).ok_or_else(no_zip)?;
    let at = (0..=last).rev().find(|at| tail[*at..].starts_with(&END.to_le_bytes())).ok_or_else(no_zip)?;
    let mut fields = Cursor(&tail[at + 4..]);
    let (disk, _, _) = (fields.u16(), fields.u16(), fields.u16());
    let (entries, size, offset) = (fields.u16(), fields.u32(), fields.u32());
    let (Some(0 | 0xffff), Some(entries), Some(size), Some(offset)) = (disk, entries, size, offset) else {
        return Err(bad(b"", "it is one part of several"));
    };
    if entries != u16::MAX && size != u32::MAX && offset != u32::MAX {
        return Ok((u64::from(offset), u64::from(size), u64::from(entries)));
    }
    let locator = at.checked_sub(20).map(|locator| &tail[locator..]).ok_or_else(no_zip)?;
    let mut fields = Cursor(locator);
    let (signature, _, end) = (fields.u32(), fields.u32(), fields.u64());
    if signature != Some(LOCATOR_64) {
        return Ok((u64::from(offset), u64::from(size), u64::from(entries)));
    }
    let mut end_64 = [0; 56];
    file.read_exact_at(&mut end_64, end.unwrap_or(u64::MAX >> 1)).map_err(|_| no_zip())?;
    let mut fields = Cursor(&end_64);
    if fields.u32() != Some(END_64) || fields.take(28).is_none() {
        return Err(no_zip());
    }
    match (fields.u64(), fields.u64(), fields.u64()) {
        (Some(entries), Some(size), Some(offset)) => Ok((offset, size, entries)),
        _ => Err(no_zip()),
    }
}

fn central(reader: &mut dyn Read) -> Result<ZipMember> {
    let cut = || bad(b"", "its directory ends early");
    let mut head = [0; CENTRAL_LENGTH];
    if fill(reader, &mut head).at(b"")? < CENTRAL_LENGTH {
        return Err(cut());
    }
    let mut fields = Cursor(&head);
    let mut two = || fields.u16().unwrap_or(0);
    let (signature, made) = (u32::from(two()) | u32::from(two()) << 16, two());
    let (_, flags, method, time, date) = (two(), two(), two(), two(), two());
    let mut four = || fields.u32().unwrap_or(0);
    let (crc, compressed, size) = (four(), four(), four());
    let mut two = || usize::from(fields.u16().unwrap_or(0));
    let (name, extra, comment, _, _) = (two(), two(), two(), two(), two());
    let mut four = || fields.u32().unwrap_or(0);
    let (attributes, offset) = (four(), four());
    let mut rest = vec![0; name + extra + comment];
    if signature != CENTRAL || fill(reader, &mut rest).at(b"")? < rest.len() {
        return Err(cut());
    }
    let path = rest[..name].to_vec();
    if flags & FLAG_ENCRYPTED != 0 {
        return Err(bad(&path, "a member is encrypted"));
    }
    let mut wide = Wide { size: size.into(), compressed: compressed.into(), offset: offset.into(), modified: None };
    wide.take(&rest[name..name + extra]);
    let seconds = wide.modified.unwrap_or_else(|| from_dos(time, date));
    // Zips of other systems have no mode.
    let mode = if made >> 8 == 3 { attributes >> 16 } else { 0 };
    let is_directory = path.ends_with(b"/");
    let kind = match mode & 0o170_000 {
        _ if is_directory => MemberKind::Directory,
        0o120_000 => MemberKind::Symlink { target: Vec::new() },
        0o040_000 => MemberKind::Directory,
        0 | 0o100_000 => MemberKind::File,
        _ => MemberKind::Other { what: "of a kind that is not made from a zip" },
    };
    let usual = if is_directory { 0o755 } else { 0o644 };
    let member = Member {
        path,
        kind,
        mode: if mode == 0 { usual } else { mode & 0o7777 },
        modified: Some(Moment { seconds, nanos: 0 }),
        uid: 0,
        gid: 0,
        size: wide.size,
        extents: None,
        attributes: Vec::new(),
    };
    Ok(ZipMember { member, method, crc, compressed: wide.compressed, offset: wide.offset })
}

struct Wide {
    size: u64,
    compressed: u64,
    offset: u64,
    modified: Option<i64>,
}

impl Wide {
    /// What the extra fields say.
    fn take(&mut self, extra: &[u8]) {
        let mut fields = Cursor(extra);
        while let (Some(id), Some(length)) = (fields.u16(), fields.u16()) {
            let Some(content) = fields.take(length.into()) else { return };
            let mut content = Cursor(content);
            match id {
                EXTRA_64 => {
                    for value in [&mut self.size, &mut self.compressed, &mut self.offset] {
                        if *value == u64::from(u32::MAX)
                            && let Some(wide) = content.u64()
                        {
                            *value = wide;
                        }
                    }
                }
                EXTRA_TIME => {
                    if content.take(1).is_some_and(|flags| flags[0] & 1 == 1)
                        && let Some(seconds) = content.u32()
                    {
                        self.modified = Some(i64::from(seconds.cast_signed()));
                    }
                }
                _ => {}
            }
        }
    }
}

/// A part of a file, read without moving it.
struct At64<'a> {
    file: &'a File,
    offset: u64,
    left: u64,
}

impl Read for At64<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let want = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.file.read_at(&mut buffer[..want], self.offset)?;
        let moved = u64::try_from(count).unwrap_or(0);
        (self.offset, self.left) = (self.offset + moved, self.left - moved);
        Ok(count)
    }
}

/// Content that must have the length and the checksum that the directory says.
struct Checked<R> {
    inner: R,
    left: u64,
    crc: crc32fast::Hasher,
    told: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
        let count = self.inner.read(buffer)?;
        let bytes = u64::try_from(count).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(bytes).ok_or_else(|| wrong("a member is longer than the directory says"))?;
        self.crc.update(&buffer[..count]);
        if count == 0 && !buffer.is_empty() {
            if self.left > 0 {
                return Err(wrong("a member is shorter than the directory says"));
            }
            if self.crc.clone().finalize() != self.told {
                return Err(wrong("a member has a wrong checksum"));
            }
        }
        Ok(count)
    }
}
