//! Percent-encoding of arbitrary bytes in URLs and headers.

/// Decodes percent-escapes to bytes. An invalid escape is copied as it is.
pub fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    bytes
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Encodes a path for a header or a query parameter: escapes everything but ASCII letters, digits and `-._~/`.
pub fn encoded(path: &[u8]) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(path.len());
    for &byte in path {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            write!(out, "%{byte:02X}").ok();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_utf8_bytes_round_trip() {
        for bytes in [&b"caf\xe9"[..], b"a b", b"100%", b"\xff\x00+&=?#"] {
            assert_eq!(decoded(&encoded(bytes)), bytes);
        }
        assert_eq!(decoded("a%2Fb%zz%4"), b"a/b%zz%4");
        assert_eq!(encoded(b"/workspace/a b+c"), "/workspace/a%20b%2Bc");
    }
}
