//! Reads a tar, from whoever wrote it: ustar, PAX, and GNU's long names and sparse files.

use std::io::Read;

use super::header::{Header, number};
use super::{BLOCK, BLOCK_BYTES, padding, pax};
use crate::archive::member::{Extent, Member, MemberKind};
use crate::archive::spool::fill;
use crate::error::{At, Failure, Kind, Result};
use crate::facts::Moment;

/// The longest name or set of records before a member.
const MAX_EXTENDED: u64 = 1 << 20;
/// How many pieces a sparse file may have.
const MAX_EXTENTS: usize = 1 << 18;
/// How many extended attributes.
const MAX_ATTRIBUTES: usize = 256;

/// A tar that is being read.
pub(in crate::archive) struct TarReader<R> {
    input: R,
    /// What is left of the content of the last member, and what fills its last block.
    left: u64,
    padding: u64,
}

/// What headers before a member's own have said about it.
#[derive(Default)]
struct Extended {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    modified: Option<Moment>,
    owner: (Option<u32>, Option<u32>),
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    sparse: Sparse,
}

#[derive(Default)]
struct Sparse {
    major: Option<u64>,
    name: Option<Vec<u8>>,
    size: Option<u64>,
    map: Vec<u64>,
    seen: bool,
}

fn bad(path: &[u8], why: &str) -> Failure {
    Failure::new(Kind::Content, path, format!("the archive cannot be read: {why}"))
}

impl<R: Read> TarReader<R> {
    pub(in crate::archive) fn new(input: R) -> Self {
        Self { input, left: 0, padding: 0 }
    }

    pub(in crate::archive) fn into_inner(self) -> R {
        self.input
    }

    /// The next member. What was not read of the last one is passed over.
    pub(in crate::archive) fn next(&mut self) -> Result<Option<Member>> {
        self.pass_over(self.left)?;
        self.pass_over(self.padding)?;
        (self.left, self.padding) = (0, 0);
        let mut extended = Extended::default();
        loop {
            let Some(header) = self.header()? else { return Ok(None) };
            match header.kind() {
                b'x' => {
                    let records = self.extended(&header)?;
                    extended.take(&records)?;
                }
                b'g' => drop(self.extended(&header)?),
                b'L' => extended.path = Some(without_nul(self.extended(&header)?)),
                b'K' => extended.link = Some(without_nul(self.extended(&header)?)),
                _ => return self.member(&header, extended).map(Some),
            }
        }
    }

    /// Reads content of the member that `next` gave; zero at its end.
    pub(in crate::archive) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let want = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if want == 0 {
            return Ok(0);
        }
        let count = fill(&mut self.input, &mut buffer[..want]).at(b"")?;
        if count < want {
            return Err(bad(b"", "it ends within a file"));
        }
        self.left -= u64::try_from(count).unwrap_or(0);
        Ok(count)
    }

    fn header(&mut self) -> Result<Option<Header>> {
        let mut block = [0; BLOCK];
        match fill(&mut self.input, &mut block).at(b"")? {
            0 => return Ok(None),
            BLOCK => {}
            _ => return Err(bad(b"", "it ends within a header")),
        }
        let header = Header(block);
        if header.is_zero() {
            return Ok(None);
        }
        if !header.is_sound() {
            return Err(bad(b"", "a header has a wrong checksum; it may be no tar"));
        }
        Ok(Some(header))
    }

    fn extended(&mut self, header: &Header) -> Result<Vec<u8>> {
        let size = header.size().filter(|size| *size <= MAX_EXTENDED);
        let size = size.ok_or_else(|| bad(b"", "a name or its records are longer than 1 MiB"))?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        if fill(&mut self.input, &mut bytes).at(b"")? < bytes.len() {
            return Err(bad(b"", "it ends within a name"));
        }
        self.pass_over(padding(size))?;
        Ok(bytes)
    }

    fn member(&mut self, header: &Header, extended: Extended) -> Result<Member> {
        let path = extended.sparse.name.clone().or(extended.path.clone()).unwrap_or_else(|| header.name());
        let size = extended.size.or_else(|| header.size()).ok_or_else(|| bad(&path, "a size is no number"))?;
        let link = extended.link.clone().unwrap_or_else(|| header.link());
        let kind = match header.kind() {
            b'0' | b'7' | 0 | b'S' if !path.ends_with(b"/") => MemberKind::File,
            b'0' | b'7' | 0 | b'5' | b'D' => MemberKind::Directory,
            b'1' => MemberKind::HardLink { target: link },
            b'2' => MemberKind::Symlink { target: link },
            b'3' => MemberKind::Other { what: "a character device" },
            b'4' => MemberKind::Other { what: "a block device" },
            b'6' => MemberKind::Fifo,
            _ => MemberKind::Other { what: "of a kind that is not known" },
        };
        // Some writers give links a size, and no content.
        self.left = if matches!(kind, MemberKind::HardLink { .. } | MemberKind::Symlink { .. }) { 0 } else { size };
        self.padding = padding(self.left);
        let (extents, size) = self.extents(header, &extended.sparse, &path, size)?;
        let (uid, gid) = header.owner();
        Ok(Member {
            path,
            kind,
            mode: header.mode() & 0o7777,
            modified: extended.modified.or(Some(Moment { seconds: header.mtime(), nanos: 0 })),
            uid: extended.owner.0.unwrap_or(uid),
            gid: extended.owner.1.unwrap_or(gid),
            size,
            extents,
            attributes: extended.attributes,
        })
    }

    /// The pieces of a sparse file, in whichever of four ways they are told, and its whole length.
    fn extents(
        &mut self,
        header: &Header,
        sparse: &Sparse,
        path: &[u8],
        size: u64,
    ) -> Result<(Option<Vec<Extent>>, u64)> {
        let numbers = if header.kind() == b'S' {
            self.old_sparse(header, path)?
        } else if sparse.major == Some(1) {
            self.map(path)?
        } else if sparse.seen {
            sparse.map.clone()
        } else {
            return Ok((None, size));
        };
        let whole = match header.kind() {
            b'S' => number(&header.0[483..495]),
            _ => sparse.size,
        };
        let whole = whole.ok_or_else(|| bad(path, "a sparse file does not say its length"))?;
        let extents: Vec<Extent> = numbers
            .chunks_exact(2)
            .map(|pair| Extent { offset: pair[0], length: pair[1] })
            .filter(|extent| extent.length > 0)
            .collect();
        let mut end = 0;
        let mut stored = 0_u64;
        for extent in &extents {
            let behind = extent.offset.checked_add(extent.length).filter(|behind| *behind <= whole);
            match behind {
                Some(behind) if extent.offset >= end => end = behind,
                _ => return Err(bad(path, "the pieces of a sparse file are not in order")),
            }
            stored += extent.length;
        }
        if stored != self.left {
            return Err(bad(path, "the pieces of a sparse file do not add up"));
        }
        Ok((Some(extents), whole))
    }

    /// GNU's oldest form: four pieces in the header, and more in blocks behind it.
    fn old_sparse(&mut self, header: &Header, path: &[u8]) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        let mut take = |bytes: &[u8]| {
            for pair in bytes.chunks_exact(24).filter(|pair| pair[0] != 0) {
                numbers.extend([number(&pair[..12]).unwrap_or(u64::MAX), number(&pair[12..]).unwrap_or(u64::MAX)]);
            }
            numbers.len() / 2 <= MAX_EXTENTS
        };
        take(&header.0[386..482]);
        let mut more = header.0[482] != 0;
        while more {
            let mut block = [0; BLOCK];
            if fill(&mut self.input, &mut block).at(path)? < BLOCK || !take(&block[..504]) {
                return Err(bad(path, "a sparse file has too many pieces"));
            }
            more = block[504] != 0;
        }
        Ok(numbers)
    }

    /// The map at the beginning of the content: a count, then offsets and lengths, a line each, to the end of a block.
    fn map(&mut self, path: &[u8]) -> Result<Vec<u64>> {
        let (mut numbers, mut digits, mut wanted) = (Vec::new(), 0_u64, None);
        loop {
            if self.left < BLOCK_BYTES {
                return Err(bad(path, "the map of a sparse file is cut short"));
            }
            let mut block = [0; BLOCK];
            self.read(&mut block)?;
            for byte in block {
                match byte {
                    b'0'..=b'9' => {
                        let next = digits.checked_mul(10).and_then(|sum| sum.checked_add(u64::from(byte - b'0')));
                        digits = next.ok_or_else(|| bad(path, "a number in the map of a sparse file is too large"))?;
                    }
                    b'\n' => {
                        let line = std::mem::take(&mut digits);
                        match wanted {
                            None => wanted = usize::try_from(line).ok().filter(|count| *count <= MAX_EXTENTS),
                            Some(_) => numbers.push(line),
                        }
                        let count = wanted.ok_or_else(|| bad(path, "a sparse file has too many pieces"))?;
                        if numbers.len() == count * 2 {
                            return Ok(numbers);
                        }
                    }
                    _ => return Err(bad(path, "the map of a sparse file cannot be read")),
                }
            }
        }
    }

    fn pass_over(&mut self, mut left: u64) -> Result<()> {
        let mut buffer = [0; 16 << 10];
        while left > 0 {
            let want = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let count = fill(&mut self.input, &mut buffer[..want]).at(b"")?;
            if count < want {
                return Err(bad(b"", "it ends within a file"));
            }
            left -= u64::try_from(count).unwrap_or(left);
        }
        Ok(())
    }
}

impl Extended {
    fn take(&mut self, records: &[u8]) -> Result<()> {
        for (key, value) in pax::parse(records)? {
            let number = || std::str::from_utf8(value).ok().and_then(|text| text.parse::<u64>().ok());
            let small = || number().and_then(|value| u32::try_from(value).ok());
            match key {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                b"size" => self.size = number(),
                b"mtime" => self.modified = pax::moment(value),
                b"uid" => self.owner.0 = small(),
                b"gid" => self.owner.1 = small(),
                b"GNU.sparse.major" => self.sparse.major = number(),
                b"GNU.sparse.name" => self.sparse.name = Some(value.to_vec()),
                b"GNU.sparse.realsize" | b"GNU.sparse.size" => {
                    self.sparse.seen = true;
                    self.sparse.size = number();
                }
                b"GNU.sparse.offset" | b"GNU.sparse.numbytes" => self.sparse.map.extend(number()),
                b"GNU.sparse.map" => {
                    let text = String::from_utf8_lossy(value);
                    self.sparse.map = text.split(',').filter_map(|part| part.parse().ok()).collect();
                }
                _ => {
                    if let Some(name) = key.strip_prefix(b"SCHILY.xattr.")
                        && name.starts_with(b"user.")
                        && self.attributes.len() < MAX_ATTRIBUTES
                    {
                        self.attributes.push((name.to_vec(), value.to_vec()));
                    }
                }
            }
        }
        Ok(())
    }
}

fn without_nul(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    bytes.truncate(end);
    bytes
}
