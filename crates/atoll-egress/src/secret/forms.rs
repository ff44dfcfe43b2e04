//! The forms in which an answer may contain a value: as it is, and as common encodings write it.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Returns every byte string that an answer is searched for on account of this value.
///
/// A host that chooses another encoding (hexadecimal, compression, reversal) is not detected: the list covers what
/// servers do to a value without meaning to hide it.
pub(super) fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_vec()];
    for offset in 0..3 {
        forms.push(base64(value, offset, |bytes| STANDARD_NO_PAD.encode(bytes)));
        forms.push(base64(value, offset, |bytes| URL_SAFE_NO_PAD.encode(bytes)));
    }
    for digits in [b"0123456789ABCDEF", b"0123456789abcdef"] {
        // RFC 3986 as URI components are written, as paths are (`/` stays), and as forms are (a space is `+`).
        forms.push(percent(value, digits, |byte| is_unreserved(byte).then_some(byte)));
        forms.push(percent(value, digits, |byte| (is_unreserved(byte) || byte == b'/').then_some(byte)));
        forms.push(percent(
            value,
            digits,
            |byte| if byte == b' ' { Some(b'+') } else { is_unreserved(byte).then_some(byte) },
        ));
    }
    forms.push(json(value, b"\"\\"));
    forms.push(json(value, b"\"\\/"));
    forms.sort();
    forms.dedup();
    forms
}

/// The characters of Base64 text that depend on the value alone, where the value begins `offset` bytes (modulo 3) into
/// the encoded bytes. This finds `Basic` credentials whatever the user name is.
fn base64(value: &[u8], offset: usize, encode: impl Fn(&[u8]) -> String) -> Vec<u8> {
    let text = encode(&[&[0; 2][..offset], value].concat());
    let (first, end) = ((offset * 8).div_ceil(6), (offset + value.len()) * 8 / 6);
    text.as_bytes()[first..end].to_vec()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// `plain` returns the byte that stands for this one, or `None` if it is written as `%XX`.
fn percent(value: &[u8], digits: &[u8; 16], plain: impl Fn(u8) -> Option<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for byte in value {
        match plain(*byte) {
            Some(byte) => out.push(byte),
            None => out.extend([b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]),
        }
    }
    out
}

fn json(value: &[u8], escaped: &[u8]) -> Vec<u8> {
    let escape = |byte: &u8| if escaped.contains(byte) { vec![b'\\', *byte] } else { vec![*byte] };
    value.iter().flat_map(escape).collect()
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn found(value: &str, text: &str) -> bool {
        forms(value.as_bytes()).iter().any(|form| memchr::memmem::find(text.as_bytes(), form).is_some())
    }

    #[test]
    fn base64_is_found_at_every_offset() {
        for user in ["", "a", "ab", "abc", "abcd", "me:", "user:"] {
            for behind in ["", "x", "xy", "xyz"] {
                let text = STANDARD.encode(format!("{user}sk-live-0123{behind}"));
                assert!(found("sk-live-0123", &text), "{user} {behind}");
                assert!(found("a?>~a?>~", &URL_SAFE_NO_PAD.encode(format!("{user}a?>~a?>~{behind}"))));
            }
        }
        assert!(!found("sk-live-0123", &STANDARD.encode("sk-live-0124")));
    }

    #[test]
    fn escaped_values_are_found() {
        for text in ["a%2Fb%2B%22c%5C%20d", "a%2fb%2b%22c%5c%20d", "a/b%2B%22c%5C%20d", "a%2Fb%2B%22c%5C+d"] {
            assert!(found("a/b+\"c\\ d", text), "{text}");
        }
        assert!(found("a/b+\"c\\ d", r#"{"key": "a/b+\"c\\ d"}"#));
        assert!(found("a/b+\"c\\ d", r#"{"key": "a\/b+\"c\\ d"}"#));
        assert!(forms(b"plain-value_1.2~3").len() <= 7, "plain text is the same in all but Base64");
    }
}
