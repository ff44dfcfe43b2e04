//! What an archive may come to before it is taken for a bomb.

use crate::error::{Failure, Kind, Result};

/// Below so many bytes written no ratio counts: small archives of empty pages are honest.
const RATIO_FLOOR: u64 = 64 << 20;

/// How large what is unpacked may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Files, directories and links.
    pub entries: u64,
    /// Bytes of files, holes included; none for as many as the disk takes.
    pub bytes: Option<u64>,
    /// Bytes written for each byte of the archive that was read.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 1_000_000, bytes: None, ratio: 250 }
    }
}

/// What has been used of the limits.
#[derive(Debug, Default)]
pub(super) struct Used {
    entries: u64,
    bytes: u64,
    written: u64,
}

impl Used {
    /// Counts one member, before anything of it is made.
    pub(super) fn member(&mut self, limits: &Limits, path: &[u8], size: u64) -> Result<()> {
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(size);
        if self.entries > limits.entries {
            return Err(Failure::new(
                Kind::Limit,
                path,
                format!("the archive has more than {} entries", limits.entries),
            ));
        }
        if let Some(bytes) = limits.bytes
            && self.bytes > bytes
        {
            return Err(Failure::new(Kind::Limit, path, format!("the archive holds more than {bytes} bytes")));
        }
        Ok(())
    }

    /// Counts bytes that were written, against those of the archive that were read.
    pub(super) fn wrote(&mut self, limits: &Limits, path: &[u8], bytes: u64, read: u64) -> Result<()> {
        self.written = self.written.saturating_add(bytes);
        if self.written > RATIO_FLOOR && self.written / limits.ratio.max(1) > read.max(1) {
            let why = format!("the archive grows to more than {} times its size: it is taken for a bomb", limits.ratio);
            return Err(Failure::new(Kind::Limit, path, why));
        }
        Ok(())
    }

    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }
}
