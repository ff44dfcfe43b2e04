//! PAX records: `length key=value\n`, one after the other. Values are bytes; the length counts the whole record.

use crate::error::{Failure, Kind, Result};
use crate::facts::Moment;

/// Adds a record.
pub(super) fn add(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + digits(rest);
    if digits(length) != digits(rest) {
        length = rest + digits(length);
    }
    out.extend_from_slice(length.to_string().as_bytes());
    out.push(b' ');
    out.extend_from_slice(key);
    out.push(b'=');
    out.extend_from_slice(value);
    out.push(b'\n');
}

fn digits(number: usize) -> usize {
    number.to_string().len()
}

/// The records of a block, as key and value.
pub(super) fn parse(mut bytes: &[u8]) -> Result<Vec<(&[u8], &[u8])>> {
    let bad = || Failure::new(Kind::Content, b"", "the archive has a PAX record that cannot be read");
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let blank = bytes.iter().position(|&byte| byte == b' ').ok_or_else(bad)?;
        let length: usize =
            std::str::from_utf8(&bytes[..blank]).ok().and_then(|text| text.parse().ok()).ok_or_else(bad)?;
        let record = bytes.get(blank + 1..length).and_then(|record| record.strip_suffix(b"\n")).ok_or_else(bad)?;
        let equals = record.iter().position(|&byte| byte == b'=').ok_or_else(bad)?;
        records.push((&record[..equals], &record[equals + 1..]));
        bytes = &bytes[length..];
    }
    Ok(records)
}

/// A moment as PAX writes it: seconds, and a fraction if there is one.
pub(super) fn moment_text(moment: Moment) -> String {
    if moment.nanos == 0 {
        return moment.seconds.to_string();
    }
    // The fraction counts upwards from the second below; for a moment before 1970 the text counts downwards.
    if moment.seconds < 0 {
        return format!("-{}.{:09}", -(moment.seconds + 1), 1_000_000_000 - moment.nanos);
    }
    format!("{}.{:09}", moment.seconds, moment.nanos)
}

/// Reads it.
pub(super) fn moment(text: &[u8]) -> Option<Moment> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    let nanos: u32 = if fraction.is_empty() { 0 } else { format!("{fraction:0<9}").get(..9)?.parse().ok()? };
    if whole.starts_with('-') && nanos > 0 {
        return Some(Moment { seconds: seconds.checked_sub(1)?, nanos: 1_000_000_000 - nanos });
    }
    Some(Moment { seconds, nanos })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_say_their_own_length() {
        for length in 0..2000 {
            let mut out = Vec::new();
            let value = vec![b'x'; length];
            add(&mut out, b"key", &value);
            assert_eq!(parse(&out).unwrap(), [(&b"key"[..], &value[..])]);
        }
        for bad in [&b"9 a=b\n"[..], b"x a=b\n", b"6 ab\n", b"6 a=b", b"0 a=b\n", b"18446744073709551615 a=b\n"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn moments_survive() {
        for (seconds, nanos) in [(0, 0), (1, 5), (-1, 999_999_999), (-1, 0), (-7, 1), (1 << 40, 123_456_789)] {
            let told = Moment { seconds, nanos };
            assert_eq!(moment(moment_text(told).as_bytes()), Some(told), "{told:?}");
        }
    }
}
