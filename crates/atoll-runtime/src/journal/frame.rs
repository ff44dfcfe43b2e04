//! The bytes of a journal: one header, then frames. Owns the format and its version. Must not open files, nor know what
//! a frame means. All numbers are little endian.
//!
//! ```text
//! header, 16 bytes:  magic 8 | version 4 | zero 4
//! frame:             length 4 | check 8 | payload
//! ```
//!
//! The check is over length and payload. Each of its steps is a bijection of the sum so far, so that a single changed
//! byte of the payload is always seen. Whatever follows a frame that is not whole is not read: without it, what comes
//! later may not be true.

/// First bytes of every journal.
const MAGIC: [u8; 8] = *b"ATOLLJNL";

/// Version of everything that is in the file, the payloads included. A reader refuses any other.
pub(super) const VERSION: u32 = 1;

/// Size of the header.
pub(super) const HEADER: usize = 16;

/// Size of what comes before a payload.
const FRAME: usize = 12;

/// Longest payload. A command line with its labels fits many times; what claims to be longer is damage.
pub(super) const PAYLOAD_MAX: usize = 4 * 1024 * 1024;

/// The beginning of a journal.
pub(super) fn header() -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes
}

/// A payload in its frame; `None` if it is too long.
pub(super) fn frame(payload: &[u8]) -> Option<Vec<u8>> {
    let len = u32::try_from(payload.len()).ok().filter(|_| payload.len() <= PAYLOAD_MAX)?.to_le_bytes();
    Some([&len[..], &check(&[&len, payload]).to_le_bytes(), payload].concat())
}

/// What a journal's bytes hold.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scan<'a> {
    /// These payloads, and whether that is all there was.
    Frames(Vec<&'a [u8]>, Rest),
    /// It was written by another version.
    Version(u32),
}

/// What follows the last whole frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    Clean,
    /// The beginning of a frame whose writer died.
    Torn,
    /// Bytes that are no frame: the disk or somebody else has changed them.
    Damaged,
}

/// Takes a journal apart, up to the first frame that is not whole.
pub(super) fn scan(bytes: &[u8]) -> Scan<'_> {
    let Some((head, mut rest)) = bytes.split_at_checked(HEADER) else {
        return Scan::Frames(Vec::new(), if bytes.is_empty() { Rest::Clean } else { Rest::Torn });
    };
    let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    match head == header() {
        true => {}
        false if head[..8] == MAGIC && head[12..] == [0; 4] && is_plausible(version) => return Scan::Version(version),
        false => return Scan::Frames(Vec::new(), Rest::Damaged),
    }
    let mut payloads = Vec::new();
    while !rest.is_empty() {
        match take(rest) {
            Ok((payload, after)) => {
                payloads.push(payload);
                rest = after;
            }
            Err(why) => return Scan::Frames(payloads, why),
        }
    }
    Scan::Frames(payloads, Rest::Clean)
}

/// Versions are counted up by one; a number far away is a changed byte.
fn is_plausible(version: u32) -> bool {
    (1..1000).contains(&version)
}

fn take(bytes: &[u8]) -> Result<(&[u8], &[u8]), Rest> {
    let (head, rest) = bytes.split_at_checked(FRAME).ok_or(Rest::Torn)?;
    let (len, sum) = head.split_at(4);
    let claimed = u32::from_le_bytes([len[0], len[1], len[2], len[3]]);
    let claimed = usize::try_from(claimed).ok().filter(|len| *len <= PAYLOAD_MAX).ok_or(Rest::Damaged)?;
    let (payload, after) = rest.split_at_checked(claimed).ok_or(Rest::Torn)?;
    let whole = check(&[len, payload]).to_le_bytes() == sum;
    if whole { Ok((payload, after)) } else { Err(Rest::Damaged) }
}

/// FNV-1a: it has to catch accidents, not forgers, and zeroes must not pass.
fn check(parts: &[&[u8]]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    parts.iter().copied().flatten().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn journal(payloads: &[Vec<u8>]) -> Vec<u8> {
        payloads.iter().fold(header().to_vec(), |mut bytes, payload| {
            bytes.extend(frame(payload).unwrap());
            bytes
        })
    }

    fn read(bytes: &[u8]) -> (Vec<Vec<u8>>, Rest) {
        match scan(bytes) {
            Scan::Frames(payloads, rest) => (payloads.into_iter().map(<[u8]>::to_vec).collect(), rest),
            Scan::Version(version) => panic!("version {version}"),
        }
    }

    fn payloads() -> impl Strategy<Value = Vec<Vec<u8>>> {
        proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..12)
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(payloads in payloads()) {
            prop_assert_eq!(read(&journal(&payloads)), (payloads, Rest::Clean));
        }

        #[test]
        fn any_prefix_gives_a_prefix(payloads in payloads(), cut in any::<prop::sample::Index>()) {
            let bytes = journal(&payloads);
            let cut = cut.index(bytes.len() + 1);
            let (found, rest) = read(&bytes[..cut]);
            prop_assert_eq!(&payloads[..found.len()], &found[..]);
            prop_assert!(rest != Rest::Damaged);
            let whole = journal(&found);
            prop_assert!(cut < HEADER || whole.len() <= cut && (whole.len() == cut) == (rest == Rest::Clean));
        }

        #[test]
        fn any_changed_byte_gives_the_frames_before_it(
            payloads in payloads(), at in any::<prop::sample::Index>(), flip in 1..=255_u8,
        ) {
            let mut bytes = journal(&payloads);
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            let found = match scan(&bytes) {
                Scan::Version(_) => { prop_assert!(at < HEADER); return Ok(()) }
                Scan::Frames(found, rest) => { prop_assert!(rest != Rest::Clean); found }
            };
            let before = (0..payloads.len()).filter(|count| journal(&payloads[..=*count]).len() <= at).count();
            prop_assert_eq!(found, payloads[..before].iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
    }
}
