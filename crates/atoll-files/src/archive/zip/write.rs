//! Writes a zip as a stream: what is not known before a member's content follows it.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::fields::{Fields, dos};
use super::{
    CENTRAL, DEFLATED, DESCRIPTOR, END, END_64, EXTRA_64, EXTRA_TIME, FLAG_DESCRIPTOR, FLAG_UTF8, LOCAL, LOCATOR_64,
    STORED, UNIX,
};
use crate::archive::member::{Member, MemberKind};
use crate::archive::spool::Spool;

const BUFFER: usize = 128 << 10;
/// From this size on, sizes are written with 64 bits: compressed, it may be a little larger.
const LARGE: u64 = 0xffff_0000;
const ALL_ONES: u64 = 0xffff_ffff;

/// A zip that is being written.
pub(in crate::archive) struct ZipWriter<W> {
    out: Counting<W>,
    directory: Spool,
    entries: u64,
    level: u32,
}

/// What is known of a member when it is written.
struct Written {
    method: u16,
    flags: u16,
    crc: u32,
    compressed: u64,
    size: u64,
    offset: u64,
}

impl<W: Write> ZipWriter<W> {
    pub(in crate::archive) fn new(out: W, level: u32) -> Self {
        Self { out: Counting { out, count: 0 }, directory: Spool::new(), entries: 0, level }
    }

    /// Writes a member that has no content but, for a link, where it leads.
    pub(in crate::archive) fn member(&mut self, member: &Member) -> io::Result<()> {
        let content: &[u8] = match &member.kind {
            MemberKind::Symlink { target } => target,
            MemberKind::File
            | MemberKind::Directory
            | MemberKind::HardLink { .. }
            | MemberKind::Fifo
            | MemberKind::Other { .. } => &[],
        };
        let offset = self.out.count;
        let crc = crc32fast::hash(content);
        let size = u64::try_from(content.len()).unwrap_or(0);
        let written = Written { method: STORED, flags: flags(member), crc, compressed: size, size, offset };
        self.local(member, &written)?;
        self.out.write_all(content)?;
        self.central(member, &written)
    }

    /// Writes a file. Gives whether it had as many bytes as it said.
    pub(in crate::archive) fn file(&mut self, member: &Member, file: &File) -> io::Result<bool> {
        let offset = self.out.count;
        let flags = flags(member) | FLAG_DESCRIPTOR;
        let large = member.size >= LARGE;
        let mut written = Written { method: DEFLATED, flags, crc: 0, compressed: 0, size: 0, offset };
        self.local(member, &Written { size: if large { member.size } else { 0 }, ..written })?;
        let start = self.out.count;
        let mut encoder = DeflateEncoder::new(&mut self.out, Compression::new(self.level));
        let mut crc = crc32fast::Hasher::new();
        let mut buffer = vec![0; BUFFER];
        while written.size < member.size {
            let want = usize::try_from(member.size - written.size).unwrap_or(usize::MAX).min(BUFFER);
            let count = file.read_at(&mut buffer[..want], written.size)?;
            if count == 0 {
                break;
            }
            crc.update(&buffer[..count]);
            encoder.write_all(&buffer[..count])?;
            written.size += u64::try_from(count).unwrap_or(0);
        }
        encoder.finish()?;
        written.crc = crc.finalize();
        written.compressed = self.out.count - start;
        let head = Fields::default().u32(DESCRIPTOR).u32(written.crc);
        let descriptor = if large {
            head.u64(written.compressed).u64(written.size)
        } else {
            head.u32(narrow(written.compressed)).u32(narrow(written.size))
        };
        self.out.write_all(&descriptor.0)?;
        self.central(member, &written)?;
        Ok(written.size == member.size)
    }

    pub(in crate::archive) fn finish(mut self) -> io::Result<W> {
        let start = self.out.count;
        self.directory.pour(&mut self.out)?;
        let (length, entries) = (self.out.count - start, self.entries);
        let mut end = Fields::default();
        if entries >= 0xffff || start >= ALL_ONES || length >= ALL_ONES {
            let at = self.out.count;
            end = end.u32(END_64).u64(44).u16(UNIX | 45).u16(45).u32(0).u32(0).u64(entries).u64(entries);
            end = end.u64(length).u64(start).u32(LOCATOR_64).u32(0).u64(at).u32(1);
        }
        let count = u16::try_from(entries).unwrap_or(u16::MAX);
        end = end.u32(END).u16(0).u16(0).u16(count).u16(count).u32(narrow(length)).u32(narrow(start)).u16(0);
        self.out.write_all(&end.0)?;
        self.out.flush()?;
        Ok(self.out.out)
    }

    fn local(&mut self, member: &Member, written: &Written) -> io::Result<()> {
        let name = name(member);
        let (time, date) = dos(seconds(member));
        let large = written.size >= LARGE;
        let mut extra = time_extra(member);
        let streamed = written.flags & FLAG_DESCRIPTOR != 0;
        let (compressed, size) =
            if large { (u32::MAX, u32::MAX) } else { (narrow(written.compressed), narrow(written.size)) };
        if large {
            extra = extra.u16(EXTRA_64).u16(16).u64(0).u64(0);
        }
        let (compressed, size) = if streamed && !large { (0, 0) } else { (compressed, size) };
        let head = Fields::default()
            .u32(LOCAL)
            .u16(if large { 45 } else { 20 })
            .u16(written.flags)
            .u16(written.method)
            .u16(time)
            .u16(date)
            .u32(if streamed { 0 } else { written.crc })
            .u32(compressed)
            .u32(size)
            .u16(length(&name)?)
            .u16(length(&extra.0)?)
            .bytes(&name)
            .bytes(&extra.0);
        self.out.write_all(&head.0)
    }

    fn central(&mut self, member: &Member, written: &Written) -> io::Result<()> {
        let name = name(member);
        let (time, date) = dos(seconds(member));
        let mut wide = Fields::default();
        for value in [written.size, written.compressed, written.offset] {
            if value >= ALL_ONES {
                wide = wide.u64(value);
            }
        }
        let mut extra = time_extra(member);
        if !wide.0.is_empty() {
            extra = extra.u16(EXTRA_64).u16(length(&wide.0)?).bytes(&wide.0);
        }
        let kind: u32 = match member.kind {
            MemberKind::Directory => 0o040_000,
            MemberKind::Symlink { .. } => 0o120_000,
            MemberKind::File | MemberKind::HardLink { .. } | MemberKind::Fifo | MemberKind::Other { .. } => 0o100_000,
        };
        let dos_directory = u32::from(member.kind == MemberKind::Directory) << 4;
        let entry = Fields::default()
            .u32(CENTRAL)
            .u16(UNIX | 45)
            .u16(45)
            .u16(written.flags)
            .u16(written.method)
            .u16(time)
            .u16(date)
            .u32(written.crc)
            .u32(narrow(written.compressed))
            .u32(narrow(written.size))
            .u16(length(&name)?)
            .u16(length(&extra.0)?)
            .u16(0)
            .u16(0)
            .u16(0)
            .u32((kind | member.mode & 0o7777) << 16 | dos_directory)
            .u32(narrow(written.offset))
            .bytes(&name)
            .bytes(&extra.0);
        self.entries += 1;
        self.directory.write(&entry.0)
    }
}

fn flags(member: &Member) -> u16 {
    if std::str::from_utf8(&member.path).is_ok() { FLAG_UTF8 } else { 0 }
}

fn name(member: &Member) -> Vec<u8> {
    let slash: &[u8] = if member.kind == MemberKind::Directory { b"/" } else { b"" };
    [&member.path[..], slash].concat()
}

fn seconds(member: &Member) -> i64 {
    member.modified.map_or(0, |moment| moment.seconds)
}

fn time_extra(member: &Member) -> Fields {
    match i32::try_from(seconds(member)) {
        Ok(seconds) => Fields::default().u16(EXTRA_TIME).u16(5).bytes(&[1]).bytes(&seconds.to_le_bytes()),
        Err(_) => Fields::default(),
    }
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn length(bytes: &[u8]) -> io::Result<u16> {
    u16::try_from(bytes.len()).map_err(|_| io::Error::other("a name is too long for a zip"))
}

/// Counts what goes through.
struct Counting<W> {
    out: W,
    count: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.count += u64::try_from(count).unwrap_or(0);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
