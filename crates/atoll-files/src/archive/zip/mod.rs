//! Zip: written as a stream, read from a file that can be sought in, because its directory is at its end.
//!
//! What the directory says counts; the headers before each member are only passed over. Two members that share bytes are
//! refused: that is how a small zip holds petabytes.

mod fields;
mod read;
mod write;

pub(super) use read::ZipReader;
pub(super) use write::ZipWriter;

const LOCAL: u32 = 0x0403_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
/// Made on Unix: the upper half of the external attributes is a mode.
const UNIX: u16 = 3 << 8;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Sizes follow the content.
const FLAG_DESCRIPTOR: u16 = 1 << 3;
const FLAG_ENCRYPTED: u16 = 1;
const FLAG_UTF8: u16 = 1 << 11;
/// A field of its own says more: 64-bit sizes.
const EXTRA_64: u16 = 1;
/// Seconds since 1970.
const EXTRA_TIME: u16 = 0x5455;
