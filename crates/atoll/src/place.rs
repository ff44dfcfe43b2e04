//! Paths as they are typed: `NAME:PATH` is in a sandbox, anything else is here.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use atoll_protocol::SandboxName;

use crate::failure::Failure;

/// A path somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// Standard input or output.
    Standard,
    /// On this machine.
    Here(PathBuf),
    /// In a sandbox. Without a path it is the directory in which commands start.
    Inside(Inside),
}

/// A path in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inside {
    pub(crate) name: SandboxName,
    pub(crate) path: Vec<u8>,
}

impl Inside {
    /// `NAME:PATH`, or `NAME` alone.
    pub(crate) fn parse(typed: &OsStr) -> Result<Self, Failure> {
        let bytes = typed.as_bytes();
        let (name, path) = match bytes.iter().position(|&byte| byte == b':') {
            Some(colon) => (&bytes[..colon], &bytes[colon + 1..]),
            None => (bytes, &b""[..]),
        };
        let name =
            SandboxName::new(String::from_utf8_lossy(name)).map_err(|error| Failure::invalid(error.to_string()))?;
        let path = if path.is_empty() { b".".to_vec() } else { path.to_vec() };
        Ok(Self { name, path })
    }

    /// The same as it was typed, for people.
    pub(crate) fn shown(&self) -> String {
        format!("{}:{}", self.name, String::from_utf8_lossy(&self.path))
    }
}

impl Place {
    /// A colon before the first slash makes it a sandbox's; `./a:b` is here.
    pub(crate) fn parse(typed: &OsStr) -> Result<Self, Failure> {
        let bytes = typed.as_bytes();
        if bytes == b"-" {
            return Ok(Self::Standard);
        }
        let colon = bytes.iter().position(|&byte| byte == b':');
        let slash = bytes.iter().position(|&byte| byte == b'/');
        if colon.is_some_and(|colon| colon > 0 && slash.is_none_or(|slash| colon < slash)) {
            return Inside::parse(typed).map(Self::Inside);
        }
        Ok(Self::Here(PathBuf::from(OsString::from_vec(bytes.to_vec()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colon_before_the_first_slash_is_a_sandbox() {
        let parse = |typed: &str| Place::parse(OsStr::new(typed)).ok();
        let inside = |name: &str, path: &[u8]| {
            let name = SandboxName::new(name).ok()?;
            Some(Place::Inside(Inside { name, path: path.to_vec() }))
        };
        assert_eq!(parse("box:/etc/x"), inside("box", b"/etc/x"));
        assert_eq!(parse("box:a:b"), inside("box", b"a:b"));
        assert_eq!(parse("box:"), inside("box", b"."));
        assert_eq!(parse("./a:b"), Some(Place::Here("./a:b".into())));
        assert_eq!(parse("a/b:c"), Some(Place::Here("a/b:c".into())));
        assert_eq!(parse("-"), Some(Place::Standard));
        assert_eq!(parse("not a name:x"), None);
    }
}
