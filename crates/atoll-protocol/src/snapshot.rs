//! Snapshots: the state of a session's shell.
//!
//! Shell texts are bytes. Each one is given as text if it is valid UTF-8, otherwise in base64, and says which.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Encoding;

/// Bytes, as text if they are valid UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExactText {
    /// The text, or its bytes in base64.
    pub data: String,
    /// Encoding of `data`.
    pub encoding: Encoding,
}

impl ExactText {
    /// Encodes bytes, as text if possible.
    pub fn new(bytes: &[u8]) -> Self {
        let encoding = if str::from_utf8(bytes).is_ok() { Encoding::Utf8 } else { Encoding::Base64 };
        let (data, _) = encoding.encode(bytes);
        Self { data, encoding }
    }

    /// Decodes the bytes. Returns `None` if `data` does not match its encoding.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        self.encoding.decode(&self.data)
    }
}

/// A shell variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ShellVariable {
    /// Name of the variable.
    pub name: String,
    /// Letters of `declare`: `a` array, `A` associative, `i` integer, `r` read-only, `x` exported and so on.
    pub attributes: String,
    /// Value of the variable, if it is set and not an array.
    pub value: Option<ExactText>,
    /// The part after the `=` of its declaration, quoted for a shell; `null` if it is declared but not set. Arrays
    /// have only this: `([0]="a" [1]="b")`.
    pub assignment: Option<ExactText>,
}

/// A shell function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ShellFunction {
    /// Name of the function.
    pub name: ExactText,
    /// Letters of `declare -f`: `r`, `t`, `x`.
    pub attributes: String,
    /// Its definition.
    pub text: ExactText,
}

/// A shell alias.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ShellAlias {
    /// Name of the alias.
    pub name: ExactText,
    /// Its expansion.
    pub value: ExactText,
}

/// A shell trap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ShellTrap {
    /// The signal, or `EXIT`, `DEBUG`, `ERR`, `RETURN`.
    pub on: String,
    /// Command to run; empty if the signal is ignored.
    pub action: ExactText,
}

/// A resource limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ResourceLimit {
    /// Name as in `RLIMIT_NOFILE`: `nofile`.
    pub resource: String,
    /// Soft limit; `null` is unlimited.
    pub soft: Option<u64>,
    /// Hard limit; `null` is unlimited.
    pub hard: Option<u64>,
}

/// State of the shell that a snapshot cannot restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NotCarriedInfo {
    /// Open file descriptors other than the standard three.
    pub descriptors: Vec<u32>,
    /// Whether the shell has background jobs.
    pub jobs: bool,
}

/// Everything that a session's snapshot contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SnapshotInfo {
    /// Working directory.
    pub cwd: ExactText,
    /// Exported variables, as programs receive them.
    pub env: BTreeMap<String, ExactText>,
    /// All variables, except those that bash computes or reserves.
    pub variables: Vec<ShellVariable>,
    /// Functions.
    pub functions: Vec<ShellFunction>,
    /// Aliases.
    pub aliases: Vec<ShellAlias>,
    /// Enabled `set -o` options.
    pub options: BTreeSet<String>,
    /// Enabled `shopt` options.
    pub shell_options: BTreeSet<String>,
    /// Traps.
    pub traps: Vec<ShellTrap>,
    /// File creation mask, in octal: `0022`.
    pub umask: String,
    /// Resource limits.
    pub limits: Vec<ResourceLimit>,
    /// Positional parameters.
    pub positional: Vec<ExactText>,
    /// State that the snapshot cannot restore.
    pub not_carried: NotCarriedInfo,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_text_is_utf8_or_base64() {
        let text = ExactText::new("é".as_bytes());
        assert_eq!((text.data.as_str(), text.encoding), ("é", Encoding::Utf8));
        let bytes = ExactText::new(b"\xff\x00");
        assert_eq!((bytes.data.as_str(), bytes.encoding), ("/wA=", Encoding::Base64));
        assert_eq!(bytes.bytes().as_deref(), Some(&b"\xff\x00"[..]));
    }
}
