//! Random text from the kernel's generator.

use std::io;

/// Returns `length` characters of Crockford's base32 in lower case: five random bits each, without letters that look
/// alike.
pub(crate) fn text(length: usize) -> io::Result<String> {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = vec![0; length];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}
