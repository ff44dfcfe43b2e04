//! Ids in a bridge's format: 16 random bytes in base32, which is also a valid sandbox name.

use std::io;

use atoll_protocol::SandboxName;

use crate::Error;

/// Random bytes of an id.
const BYTES: usize = 16;

/// RFC 4648, in lower case.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Generates an id.
pub(super) fn generate() -> Result<SandboxName, Error> {
    let random = || -> io::Result<[u8; BYTES]> {
        let mut bytes = [0; BYTES];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        Ok(bytes)
    };
    let bytes = random().map_err(|error| Error::internal("generate an id", error))?;
    SandboxName::new(base32(&bytes)).map_err(|error| Error::internal("generate an id", error))
}

/// Encodes without padding.
fn base32(bytes: &[u8]) -> String {
    let bit = |index: usize| bytes.get(index / 8).is_some_and(|byte| byte & (0x80 >> (index % 8)) != 0);
    let letter = |at: usize| {
        let value = (0..5).fold(0, |value, offset| value * 2 + usize::from(bit(at * 5 + offset)));
        char::from(LETTERS[value])
    };
    (0..(bytes.len() * 8).div_ceil(5)).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_base32_and_a_valid_name() {
        // RFC 4648, 10.
        for (bytes, text) in [("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foobar", "mzxw6ytboi")] {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_eq!(one.as_str().len(), 26);
        assert_ne!(one, other);
    }
}
