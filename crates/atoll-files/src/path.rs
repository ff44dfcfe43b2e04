//! Paths as bytes: what is refused before the kernel is asked, and how they are taken apart.

use crate::error::{Failure, Kind, Result};

/// The longest name the kernel takes.
pub const MAX_NAME: usize = 255;
/// The longest path the kernel takes, its closing NUL included.
pub const MAX_PATH: usize = 4096;

/// Refuses what no path can be: nothing at all, a NUL, more bytes than the kernel takes.
pub fn check(path: &[u8]) -> Result<()> {
    if path.is_empty() {
        return Err(Failure::new(Kind::Invalid, path, "the path is empty"));
    }
    if path.contains(&0) {
        return Err(Failure::new(Kind::Invalid, path, "the path has a NUL byte"));
    }
    if path.len() >= MAX_PATH || path.split(|&byte| byte == b'/').any(|name| name.len() > MAX_NAME) {
        return Err(Failure::new(Kind::NameTooLong, path, "a name has at most 255 bytes and a path 4095"));
    }
    Ok(())
}

/// The names of a path, without empty ones and without `.`; `..` is kept.
pub fn components(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".")
}

/// The directory and the last name: `a/b/c` is `a/b` and `c`, `c` is `.` and `c`. Slashes at the end are dropped.
///
/// None where there is no last name to speak of: `/`, `.` and `..`.
#[must_use]
pub fn split_last(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let kept = path.iter().rposition(|&byte| byte != b'/')? + 1;
    let path = &path[..kept];
    let (directory, name) = match path.iter().rposition(|&byte| byte == b'/') {
        Some(0) => (&b"/"[..], &path[1..]),
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&b"."[..], path),
    };
    (name != b"." && name != b"..").then_some((directory, name))
}

/// A name below a directory.
#[must_use]
pub fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(directory.len() + 1 + name.len());
    path.extend_from_slice(directory);
    if !directory.is_empty() && !directory.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_is_split_off() {
        assert_eq!(split_last(b"a/b/c"), Some((&b"a/b"[..], &b"c"[..])));
        assert_eq!(split_last(b"/c//"), Some((&b"/"[..], &b"c"[..])));
        assert_eq!(split_last(b"c"), Some((&b"."[..], &b"c"[..])));
        for none in [&b"/"[..], b"///", b".", b"..", b"a/..", b"a/.", b""] {
            assert_eq!(split_last(none), None, "{none:?}");
        }
    }

    #[test]
    fn paths_that_cannot_be_are_refused() {
        assert_eq!(check(b"").map_err(|failure| failure.kind), Err(Kind::Invalid));
        assert_eq!(check(b"a\0b").map_err(|failure| failure.kind), Err(Kind::Invalid));
        assert_eq!(check(&[b'a'; 256]).map_err(|failure| failure.kind), Err(Kind::NameTooLong));
        assert_eq!(check(&b"a/".repeat(2048)).map_err(|failure| failure.kind), Err(Kind::NameTooLong));
        check(&[b'\xff'; 255]).unwrap_or_else(|failure| panic!("{failure}"));
    }
}
