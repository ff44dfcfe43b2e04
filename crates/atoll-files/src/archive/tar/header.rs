//! The block before each member of a tar: fields at fixed places, numbers in octal or, if too large, in base 256.

use super::BLOCK;

const NAME: std::ops::Range<usize> = 0..100;
const MODE: std::ops::Range<usize> = 100..108;
const UID: std::ops::Range<usize> = 108..116;
const GID: std::ops::Range<usize> = 116..124;
const SIZE: std::ops::Range<usize> = 124..136;
const MTIME: std::ops::Range<usize> = 136..148;
const CHECKSUM: std::ops::Range<usize> = 148..156;
const KIND: usize = 156;
const LINK: std::ops::Range<usize> = 157..257;
const MAGIC: std::ops::Range<usize> = 257..265;
const PREFIX: std::ops::Range<usize> = 345..500;

/// One header.
#[derive(Debug, Clone)]
pub(super) struct Header(pub(super) [u8; BLOCK]);

impl Header {
    pub(super) fn new(kind: u8) -> Self {
        let mut header = Self([0; BLOCK]);
        header.0[KIND] = kind;
        header.0[MAGIC].copy_from_slice(b"ustar\x0000");
        header
    }

    pub(super) fn kind(&self) -> u8 {
        self.0[KIND]
    }

    /// Sets the name, if it fits.
    pub(super) fn set_name(&mut self, path: &[u8]) -> bool {
        if path.len() <= NAME.len() {
            self.0[NAME][..path.len()].copy_from_slice(path);
            return true;
        }
        let split = path
            .iter()
            .enumerate()
            .position(|(at, &byte)| byte == b'/' && at <= PREFIX.len() && path.len() - at - 1 <= NAME.len());
        match split {
            Some(slash) if slash > 0 && slash + 1 < path.len() => {
                self.0[PREFIX][..slash].copy_from_slice(&path[..slash]);
                let name = &path[slash + 1..];
                self.0[NAME][..name.len()].copy_from_slice(name);
                true
            }
            _ => {
                // For readers that know no PAX: at least the end of it.
                self.0[NAME].copy_from_slice(&path[path.len() - NAME.len()..]);
                false
            }
        }
    }

    pub(super) fn set_link(&mut self, target: &[u8]) -> bool {
        let fits = target.len() <= LINK.len();
        let kept = &target[..target.len().min(LINK.len())];
        self.0[LINK][..kept.len()].copy_from_slice(kept);
        fits
    }

    pub(super) fn set_mode(&mut self, mode: u32) {
        octal(&mut self.0[MODE], u64::from(mode));
    }

    pub(super) fn set_owner(&mut self, uid: u32, gid: u32) -> bool {
        let fits = uid < 1 << 21 && gid < 1 << 21;
        octal(&mut self.0[UID], if fits { u64::from(uid) } else { 0 });
        octal(&mut self.0[GID], if fits { u64::from(gid) } else { 0 });
        fits
    }

    pub(super) fn set_size(&mut self, size: u64) -> bool {
        let fits = size < 1 << 33;
        octal(&mut self.0[SIZE], if fits { size } else { 0 });
        fits
    }

    pub(super) fn set_mtime(&mut self, seconds: i64) -> bool {
        let kept = u64::try_from(seconds).ok().filter(|seconds| *seconds < 1 << 33);
        octal(&mut self.0[MTIME], kept.unwrap_or(0));
        kept.is_some()
    }

    /// With its checksum, ready to be written.
    pub(super) fn sealed(mut self) -> [u8; BLOCK] {
        let sum = self.checksum();
        octal(&mut self.0[CHECKSUM][..7], sum);
        self.0[CHECKSUM][7] = b' ';
        self.0
    }

    /// Whether its checksum is right. Some old tars summed signed bytes.
    pub(super) fn is_sound(&self) -> bool {
        let Some(told) = number(&self.0[CHECKSUM]) else { return false };
        let signed: i64 = self.summed().map(|byte| i64::from(byte.cast_signed())).sum();
        told == self.checksum() || i64::try_from(told) == Ok(signed)
    }

    fn checksum(&self) -> u64 {
        self.summed().map(u64::from).sum()
    }

    fn summed(&self) -> impl Iterator<Item = u8> {
        self.0.iter().enumerate().map(|(at, &byte)| if CHECKSUM.contains(&at) { b' ' } else { byte })
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.iter().all(|&byte| byte == 0)
    }

    pub(super) fn name(&self) -> Vec<u8> {
        let name = text(&self.0[NAME]);
        // GNU's own form has other things where the prefix is.
        if !self.0[MAGIC].starts_with(b"ustar\x00") || self.0[PREFIX.start] == 0 {
            return name.to_vec();
        }
        [text(&self.0[PREFIX]), b"/", name].concat()
    }

    pub(super) fn link(&self) -> Vec<u8> {
        text(&self.0[LINK]).to_vec()
    }

    pub(super) fn mode(&self) -> u32 {
        field(&self.0[MODE])
    }

    pub(super) fn owner(&self) -> (u32, u32) {
        (field(&self.0[UID]), field(&self.0[GID]))
    }

    pub(super) fn size(&self) -> Option<u64> {
        number(&self.0[SIZE])
    }

    pub(super) fn mtime(&self) -> i64 {
        signed(&self.0[MTIME])
    }
}

fn text(field: &[u8]) -> &[u8] {
    field.split(|&byte| byte == 0).next().unwrap_or(field)
}

fn octal(field: &mut [u8], value: u64) {
    let digits = field.len() - 1;
    let text = format!("{value:0digits$o}");
    field[..digits].copy_from_slice(&text.as_bytes()[text.len() - digits..]);
}

fn field(bytes: &[u8]) -> u32 {
    number(bytes).and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
}

fn signed(bytes: &[u8]) -> i64 {
    if bytes[0] == 0xff {
        // Base 256, below zero: before 1970.
        return bytes[1..].iter().fold(-1_i64, |sum, &byte| sum.wrapping_shl(8) | i64::from(byte));
    }
    number(bytes).and_then(|value| i64::try_from(value).ok()).unwrap_or(0)
}

/// A number as tars write it: octal digits between blanks and NULs, or base 256 behind a first byte of 0x80.
pub(super) fn number(bytes: &[u8]) -> Option<u64> {
    if bytes[0] & 0x80 != 0 {
        let first = u64::from(bytes[0] & 0x7f);
        return bytes[1..].iter().try_fold(first, |sum, &byte| sum.checked_mul(256)?.checked_add(u64::from(byte)));
    }
    let digits = bytes.split(|&byte| byte == 0).next()?.trim_ascii();
    digits.iter().try_fold(0_u64, |sum, &byte| match byte {
        b'0'..=b'7' => sum.checked_mul(8)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    })
}
