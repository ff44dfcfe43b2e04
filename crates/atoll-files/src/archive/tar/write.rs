//! Writes a tar. A header that cannot say something is preceded by PAX records that can.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use super::header::Header;
use super::{BLOCK, padding, pax};
use crate::archive::member::{Extent, Member, MemberKind};

/// How much is copied at once.
const BUFFER: usize = 128 << 10;

/// A tar that is being written.
pub(in crate::archive) struct TarWriter<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> TarWriter<W> {
    pub(in crate::archive) fn new(out: W) -> Self {
        Self { out, buffer: vec![0; BUFFER] }
    }

    /// Writes a member that has no content.
    pub(in crate::archive) fn member(&mut self, member: &Member) -> io::Result<()> {
        self.head(member, 0, &[])
    }

    /// Writes a file. Gives whether it had all its bytes: one that shrinks meanwhile is filled up with zeros.
    pub(in crate::archive) fn file(&mut self, member: &Member, file: &File) -> io::Result<bool> {
        match &member.extents {
            None => {
                self.head(member, member.size, &[])?;
                let whole = self.copy(file, Extent { offset: 0, length: member.size })?;
                self.pad(member.size)?;
                Ok(whole)
            }
            Some(extents) => self.sparse(member, file, extents),
        }
    }

    pub(in crate::archive) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&[0; 2 * BLOCK])?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// The form that GNU calls 1.0: the map of what is no hole is the beginning of the content.
    fn sparse(&mut self, member: &Member, file: &File, extents: &[Extent]) -> io::Result<bool> {
        let mut map = format!("{}\n", extents.len() + 1);
        for Extent { offset, length } in extents {
            map.push_str(&format!("{offset}\n{length}\n"));
        }
        // The end of the file, which may be in a hole.
        map.push_str(&format!("{}\n0\n", member.size));
        let map_length = u64::try_from(map.len()).unwrap_or(0);
        let stored: u64 = extents.iter().map(|extent| extent.length).sum();
        let mut records = Vec::new();
        pax::add(&mut records, b"GNU.sparse.major", b"1");
        pax::add(&mut records, b"GNU.sparse.minor", b"0");
        pax::add(&mut records, b"GNU.sparse.name", &member.path);
        pax::add(&mut records, b"GNU.sparse.realsize", member.size.to_string().as_bytes());
        let size = map_length + padding(map_length) + stored;
        self.head(member, size, &records)?;
        self.out.write_all(map.as_bytes())?;
        self.pad(map_length)?;
        let mut whole = true;
        for extent in extents {
            whole &= self.copy(file, *extent)?;
        }
        self.pad(size)?;
        Ok(whole)
    }

    fn head(&mut self, member: &Member, size: u64, sparse: &[u8]) -> io::Result<()> {
        let (kind, link) = match &member.kind {
            MemberKind::File | MemberKind::Other { .. } => (b'0', None),
            MemberKind::HardLink { target } => (b'1', Some(target)),
            MemberKind::Symlink { target } => (b'2', Some(target)),
            MemberKind::Directory => (b'5', None),
            MemberKind::Fifo => (b'6', None),
        };
        let mut records = sparse.to_vec();
        let mut header = Header::new(kind);
        let slash: &[u8] = if member.kind == MemberKind::Directory { b"/" } else { b"" };
        let path = [&member.path[..], slash].concat();
        if !header.set_name(&path) || !path.is_ascii() {
            pax::add(&mut records, b"path", &path);
        }
        if let Some(link) = link
            && (!header.set_link(link) || !link.is_ascii())
        {
            pax::add(&mut records, b"linkpath", link);
        }
        header.set_mode(member.mode & 0o7777);
        if !header.set_owner(member.uid, member.gid) {
            pax::add(&mut records, b"uid", member.uid.to_string().as_bytes());
            pax::add(&mut records, b"gid", member.gid.to_string().as_bytes());
        }
        if !header.set_size(size) {
            pax::add(&mut records, b"size", size.to_string().as_bytes());
        }
        if let Some(modified) = member.modified
            && (!header.set_mtime(modified.seconds) || modified.nanos != 0)
        {
            pax::add(&mut records, b"mtime", pax::moment_text(modified).as_bytes());
        }
        for (name, value) in &member.attributes {
            pax::add(&mut records, &[b"SCHILY.xattr.", &name[..]].concat(), value);
        }
        if !records.is_empty() {
            self.records(&member.path, &records)?;
        }
        self.out.write_all(&header.sealed())
    }

    fn records(&mut self, path: &[u8], records: &[u8]) -> io::Result<()> {
        // Names that are no UTF-8 are bytes all the same; the first record says so.
        let mut all = Vec::new();
        if std::str::from_utf8(records).is_err() {
            pax::add(&mut all, b"hdrcharset", b"BINARY");
        }
        all.extend_from_slice(records);
        let length = u64::try_from(all.len()).unwrap_or(0);
        let mut header = Header::new(b'x');
        let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        header.set_name(&[b"PaxHeaders/", &last[..last.len().min(80)]].concat());
        header.set_mode(0o644);
        header.set_owner(0, 0);
        header.set_size(length);
        header.set_mtime(0);
        self.out.write_all(&header.sealed())?;
        self.out.write_all(&all)?;
        self.pad(length)
    }

    fn copy(&mut self, file: &File, extent: Extent) -> io::Result<bool> {
        let Extent { mut offset, length: mut left } = extent;
        let mut whole = true;
        while left > 0 {
            let want = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            let mut count = if whole { file.read_at(&mut self.buffer[..want], offset)? } else { 0 };
            if count == 0 {
                whole = false;
                count = want;
                self.buffer[..want].fill(0);
            }
            self.out.write_all(&self.buffer[..count])?;
            let count = u64::try_from(count).unwrap_or(left);
            (offset, left) = (offset + count, left - count);
        }
        Ok(whole)
    }

    fn pad(&mut self, length: u64) -> io::Result<()> {
        let zeros = usize::try_from(padding(length)).unwrap_or(0);
        self.out.write_all(&[0; BLOCK][..zeros])
    }
}
