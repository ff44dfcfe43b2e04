//! What a session's shell holds, as the API shows it.
//!
//! A shell's texts are bytes. Each is told as text if it is one, else exactly in base64, and says which.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Encoding;

/// A text that may be no UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExactText {
    /// The text itself, or its bytes in base64.
    pub data: String,
    /// Which of them.
    pub encoding: Encoding,
}

impl ExactText {
    /// As text if it can be.
    pub fn new(bytes: &[u8]) -> Self {
        let encoding = if str::from_utf8(bytes).is_ok() { Encoding::Utf8 } else { Encoding::Base64 };
        let (data, _) = encoding.encode(bytes);
        Self { data, encoding }
    }

    /// The bytes again. `None` if they were not encoded as it says.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        self.encoding.decode(&self.data)
    }
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ShellVariable {
    /// Its name.
    pub name: String,
    /// Letters of `declare`: `a` array, `A` associative, `i` integer, `r` read-only, `x` exported and so on.
    pub attributes: String,
    /// Its value, if it is set and no array.
    pub value: Option<ExactText>,
    /// What follows the `=` of its declaration, quoted for a shell; `null` if it is declared but not set. An array is
    /// told by this alone: `([0]="a" [1]="b")`.
    pub assignment: Option<ExactText>,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ShellFunction {
    /// Its name.
    pub name: ExactText,
    /// Letters of `declare -f`: `r`, `t`, `x`.
    pub attributes: String,
    /// Its definition.
    pub text: ExactText,
}

/// An alias.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ShellAlias {
    /// Its name.
    pub name: ExactText,
    /// What it stands for.
    pub value: ExactText,
}

/// A trap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ShellTrap {
    /// The signal, or `EXIT`, `DEBUG`, `ERR`, `RETURN`.
    pub on: String,
    /// What is run then; empty if it is ignored.
    pub action: ExactText,
}

/// A resource limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ResourceLimit {
    /// Its name, as in `RLIMIT_NOFILE`: `nofile`.
    pub resource: String,
    /// What holds now; `null` is unlimited.
    pub soft: Option<u64>,
    /// How far it may be raised; `null` is unlimited.
    pub hard: Option<u64>,
}

/// What there is in the shell that cannot be carried into another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NotCarriedInfo {
    /// Open descriptors beyond the standard three.
    pub descriptors: Vec<u32>,
    /// Whether it has background jobs.
    pub jobs: bool,
}

/// Everything that a session remembers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SnapshotInfo {
    /// Where it is.
    pub cwd: ExactText,
    /// The exported variables, as programs get them.
    pub env: BTreeMap<String, ExactText>,
    /// All variables, but for those that bash computes or keeps for itself.
    pub variables: Vec<ShellVariable>,
    /// Functions.
    pub functions: Vec<ShellFunction>,
    /// Aliases.
    pub aliases: Vec<ShellAlias>,
    /// `set -o` options that are on.
    pub options: BTreeSet<String>,
    /// `shopt` options that are on.
    pub shell_options: BTreeSet<String>,
    /// Traps.
    pub traps: Vec<ShellTrap>,
    /// File creation mask, in octal: `0022`.
    pub umask: String,
    /// Resource limits.
    pub limits: Vec<ResourceLimit>,
    /// Positional parameters.
    pub positional: Vec<ExactText>,
    /// What there was besides.
    pub not_carried: NotCarriedInfo,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text_and_the_rest_is_exact() {
        let text = ExactText::new("é".as_bytes());
        assert_eq!((text.data.as_str(), text.encoding), ("é", Encoding::Utf8));
        let bytes = ExactText::new(b"\xff\x00");
        assert_eq!((bytes.data.as_str(), bytes.encoding), ("/wA=", Encoding::Base64));
        assert_eq!(bytes.bytes().as_deref(), Some(&b"\xff\x00"[..]));
    }
}
