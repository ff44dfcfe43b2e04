//! The names in one directory, in bounded memory: as they come, or the next so many in their order.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::{FileType, RawDir, SeekFrom};

/// So many names are put in order at once: a directory with more is read again for the next ones.
const AT_ONCE: usize = 250_000;

/// What the kernel gives at a time.
const BUFFER: usize = 32 * 1024;

/// A name, and whether it may be a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a> {
    /// The name.
    pub bytes: &'a [u8],
    /// What the directory says of it; unknown on some file systems.
    pub kind: FileType,
}

/// Calls `take` with every name but `.` and `..`, as the file system has them.
pub fn each(
    directory: impl AsFd,
    take: &mut dyn FnMut(Name<'_>) -> rustix::io::Result<bool>,
) -> rustix::io::Result<()> {
    let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
    let mut entries = RawDir::new(directory, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let bytes = entry.file_name().to_bytes();
        if bytes != b"." && bytes != b".." && !take(Name { bytes, kind: entry.file_type() })? {
            break;
        }
    }
    Ok(())
}

/// Names one behind the other in one piece of memory, in order.
#[derive(Debug, Default)]
pub struct Sorted {
    text: Vec<u8>,
    /// Begin and length in `text`.
    places: Vec<(u32, u8, FileType)>,
    /// There are more behind the last.
    pub more: bool,
}

impl Sorted {
    /// The first names from `from` on (or behind it), at most `limit`, that `wanted` lets through.
    pub fn read(
        directory: impl AsFd,
        from: Bound<'_>,
        limit: usize,
        wanted: &dyn Fn(&[u8]) -> bool,
    ) -> rustix::io::Result<Self> {
        let directory = directory.as_fd();
        rustix::fs::seek(directory, SeekFrom::Start(0))?;
        let limit = limit.clamp(1, AT_ONCE);
        let mut sorted = Self::default();
        each(directory, &mut |name| {
            if from.lets(name.bytes) && wanted(name.bytes) && !sorted.is_beyond(name.bytes, limit) {
                sorted.push(name);
                // Twice as many as wanted: throw the larger half away.
                if sorted.places.len() >= limit.saturating_mul(2) {
                    sorted.shrink(limit);
                }
            }
            Ok(true)
        })?;
        sorted.shrink(limit);
        Ok(sorted)
    }

    fn push(&mut self, name: Name<'_>) {
        let begin = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let length = u8::try_from(name.bytes.len()).unwrap_or(u8::MAX);
        self.text.extend_from_slice(name.bytes);
        self.places.push((begin, length, name.kind));
    }

    /// After one half was thrown away, what is larger than the rest need not be kept at all.
    fn is_beyond(&self, name: &[u8], limit: usize) -> bool {
        self.more && self.places.len() >= limit && name > self.bytes(limit - 1)
    }

    fn shrink(&mut self, limit: usize) {
        let text = std::mem::take(&mut self.text);
        let bytes = |&(begin, length, _): &(u32, u8, FileType)| &text[begin as usize..][..usize::from(length)];
        self.places.sort_unstable_by(|one, other| bytes(one).cmp(bytes(other)));
        if self.places.len() <= limit {
            self.text = text;
            return;
        }
        self.more = true;
        self.places.truncate(limit);
        // Only now what was thrown away gives its memory back.
        let kept: usize = self.places.iter().map(|place| usize::from(place.1)).sum();
        let mut packed = Vec::with_capacity(kept.saturating_mul(2));
        for place in &mut self.places {
            let begin = u32::try_from(packed.len()).unwrap_or(u32::MAX);
            packed.extend_from_slice(&text[place.0 as usize..][..usize::from(place.1)]);
            place.0 = begin;
        }
        self.text = packed;
    }

    fn bytes(&self, index: usize) -> &[u8] {
        let (begin, length, _) = self.places[index];
        &self.text[begin as usize..][..usize::from(length)]
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Name<'_>> {
        (index < self.places.len()).then(|| Name { bytes: self.bytes(index), kind: self.places[index].2 })
    }

    /// The last.
    #[must_use]
    pub fn last(&self) -> Option<&[u8]> {
        self.places.len().checked_sub(1).map(|last| self.bytes(last))
    }
}

/// Where names begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound<'a> {
    /// With the first.
    Start,
    /// With this one.
    At(&'a [u8]),
    /// Behind this one.
    Behind(&'a [u8]),
}

impl Bound<'_> {
    fn lets(self, name: &[u8]) -> bool {
        match self {
            Self::Start => true,
            Self::At(bound) => name >= bound,
            Self::Behind(bound) => name > bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_in_order_whatever_fits_into_memory() {
        let dir = tempfile::tempdir().unwrap();
        let mut names: Vec<String> = (0..500).map(|n| format!("{:03}", (n * 377) % 500)).collect();
        for name in &names {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        names.sort();
        let open = std::fs::File::open(dir.path()).unwrap();
        for limit in [1, 3, 100, 499, 500, 10_000] {
            let mut got = Vec::new();
            let mut last: Option<Vec<u8>> = None;
            loop {
                let bound = last.as_deref().map_or(Bound::Start, Bound::Behind);
                let page = Sorted::read(&open, bound, limit, &|_| true).unwrap();
                got.extend((0..).map_while(|index| page.get(index)).map(|name| name.bytes.to_vec()));
                last = page.last().map(<[u8]>::to_vec);
                if !page.more {
                    break;
                }
            }
            assert!(got.iter().map(Vec::as_slice).eq(names.iter().map(String::as_bytes)), "{limit}");
        }
    }
}
