//! Path arguments: `NAME:PATH` is in a sandbox, any other path is on this machine.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use atoll_protocol::SandboxName;

use crate::error::CliError;

/// A path argument of `atoll cp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathArg {
    /// Standard input or output.
    Stdio,
    /// On this machine.
    Local(PathBuf),
    /// In a sandbox. Without a path: the directory in which commands start.
    Sandbox(SandboxPath),
}

/// A path in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SandboxPath {
    pub(crate) name: SandboxName,
    pub(crate) path: Vec<u8>,
}

impl SandboxPath {
    /// Parses `NAME:PATH`, or `NAME` alone.
    pub(crate) fn parse(typed: &OsStr) -> Result<Self, CliError> {
        let bytes = typed.as_bytes();
        let (name, path) = match bytes.iter().position(|&byte| byte == b':') {
            Some(colon) => (&bytes[..colon], &bytes[colon + 1..]),
            None => (bytes, &b""[..]),
        };
        let name =
            SandboxName::new(String::from_utf8_lossy(name)).map_err(|error| CliError::invalid(error.to_string()))?;
        let path = if path.is_empty() { b".".to_vec() } else { path.to_vec() };
        Ok(Self { name, path })
    }

    /// Returns `NAME:PATH` for messages.
    pub(crate) fn display(&self) -> String {
        format!("{}:{}", self.name, String::from_utf8_lossy(&self.path))
    }
}

impl PathArg {
    /// Parses a path argument. A colon before the first slash makes it a sandbox's path; `./a:b` is local.
    pub(crate) fn parse(typed: &OsStr) -> Result<Self, CliError> {
        let bytes = typed.as_bytes();
        if bytes == b"-" {
            return Ok(Self::Stdio);
        }
        let colon = bytes.iter().position(|&byte| byte == b':');
        let slash = bytes.iter().position(|&byte| byte == b'/');
        if colon.is_some_and(|colon| colon > 0 && slash.is_none_or(|slash| colon < slash)) {
            return SandboxPath::parse(typed).map(Self::Sandbox);
        }
        Ok(Self::Local(PathBuf::from(OsString::from_vec(bytes.to_vec()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colon_before_first_slash_names_a_sandbox() {
        let parse = |typed: &str| PathArg::parse(OsStr::new(typed)).ok();
        let inside = |name: &str, path: &[u8]| {
            let name = SandboxName::new(name).ok()?;
            Some(PathArg::Sandbox(SandboxPath { name, path: path.to_vec() }))
        };
        assert_eq!(parse("box:/etc/x"), inside("box", b"/etc/x"));
        assert_eq!(parse("box:a:b"), inside("box", b"a:b"));
        assert_eq!(parse("box:"), inside("box", b"."));
        assert_eq!(parse("./a:b"), Some(PathArg::Local("./a:b".into())));
        assert_eq!(parse("a/b:c"), Some(PathArg::Local("a/b:c".into())));
        assert_eq!(parse("-"), Some(PathArg::Stdio));
        assert_eq!(parse("not a name:x"), None);
    }
}
