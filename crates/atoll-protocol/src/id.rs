//! Names and ids, and their rules.

use serde::{Deserialize, Serialize};

/// A name or id that does not follow its rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidId {
    what: &'static str,
    rule: &'static str,
    given: String,
}

impl std::fmt::Display for InvalidId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not a valid {}: {}", self.given.escape_debug(), self.what, self.rule)
    }
}

impl std::error::Error for InvalidId {}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[cfg_attr(feature = "schema", schema(value_type = String))]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks the rule and creates the value.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
                let given = text.into();
                let check: fn(&str) -> bool = $check;
                if check(&given) { Ok(Self(given)) } else { Err(InvalidId { what: $what, rule: $rule, given }) }
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// Name of a sandbox. It is also the sandbox's host name and part of preview URLs, so it is a DNS label.
    SandboxName,
    "sandbox name",
    "1 to 63 characters of a-z, 0-9 and -, without - at either end",
    |text| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&text.len())
            && text.bytes().all(inner)
            && !text.starts_with('-')
            && !text.ends_with('-')
    }
);

name!(
    /// Id of a command within its sandbox.
    ProcessId,
    "process id",
    "1 to 64 letters, digits and . _ - : starting with a letter or digit, and not `kill`",
    // `/processes/kill` is the route that kills all processes.
    |text| is_word(text) && text != "kill"
);

name!(
    /// Id of a session within its sandbox.
    SessionId,
    "session id",
    "1 to 64 letters, digits and . _ - : starting with a letter or digit",
    is_word
);

name!(
    /// Id of a terminal within its sandbox.
    TerminalId,
    "terminal id",
    "1 to 64 letters, digits and . _ - : starting with a letter or digit",
    is_word
);

name!(
    /// Id of a watch within its sandbox.
    WatchId,
    "watch id",
    "1 to 64 letters, digits and . _ - : starting with a letter or digit",
    is_word
);

fn is_word(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(inner) && text.as_bytes()[0].is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_their_rules() {
        for good in ["a", "box-1", "0", &"x".repeat(63)] {
            assert!(SandboxName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", "a/b", "a b", "\u{e4}", &"x".repeat(64)] {
            assert!(SandboxName::new(bad).is_err(), "{bad}");
        }
        for bad in ["", ".", "..", "-x", "a/b", "a\n", &"x".repeat(65)] {
            assert!(ProcessId::new(bad).is_err(), "{bad}");
        }
        assert!(ProcessId::new("kill").is_err() && SessionId::new("kill").is_ok() && ProcessId::new("kill2").is_ok());
        let error = SandboxName::new("A\n").unwrap_err().to_string();
        assert_eq!(
            error,
            "`A\\n` is not a valid sandbox name: 1 to 63 characters of a-z, 0-9 and -, without - at either end"
        );
    }
}
