//! Asking for one command, run to its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EgressRule, Encoding, ProcessId};

/// What happens to what a command leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Background {
    /// It goes on; the command is then lingering.
    #[default]
    Keep,
    /// It is ended with the command.
    Kill,
}

/// What happens to a command whose caller goes away before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnDisconnect {
    /// It goes on, and can be found by its id.
    #[default]
    Keep,
    /// Its whole tree is ended.
    Kill,
}

/// Asks for one command, run to its end. Exactly one of `command` and `argv` is given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ExecRequest {
    /// A shell string, run by bash, or by sh where there is no bash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A program and its arguments; no shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// Working directory; relative ones are below the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Changes to the default environment; `null` unsets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Option<String>>,
    /// User inside: a name, a number, or either with `:group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Ends the whole tree after so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Ends the whole tree after so long without output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// Ends the whole tree when it has printed more than so much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_bytes: Option<u64>,
    /// Memory that this command may use, within the sandbox's own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What it may reach, within what the sandbox may; all of that if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Vec<EgressRule>>,
    /// How long a tree that was told to end may take before it is killed (2000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
    /// What happens to what it leaves behind.
    pub background: Background,
    /// Its id, so that asking again finds it; made up if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ProcessId>,
    /// For finding it again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Standard input as text. Without this and `stdin_base64` it is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Standard input, exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin_base64: Option<String>,
    /// Bytes of each output that the answer may hold (1 MiB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_bytes: Option<u64>,
    /// How output is put into the answer.
    pub encoding: Encoding,
    /// What happens if the caller goes away.
    pub on_disconnect: OnDisconnect,
}

impl ExecRequest {
    /// A shell string, with every option at its default.
    pub fn shell(command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..Self::default() }
    }

    /// A program and its arguments, with every option at its default.
    pub fn argv<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self { argv: Some(argv.into_iter().map(Into::into).collect()), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_not_known_is_refused_by_its_name() {
        let refused = serde_json::from_str::<ExecRequest>(r#"{"command":"true","timeout":5}"#).unwrap_err();
        assert!(refused.to_string().starts_with("unknown field `timeout`, expected one of"), "{refused}");
        let env = r#"{"command":"true","env":{"A":"1","B":null},"background":"kill"}"#;
        let read: ExecRequest = serde_json::from_str(env).unwrap();
        assert_eq!(read.env["B"], None);
        assert_eq!(read.background, Background::Kill);
    }

    #[test]
    fn what_was_not_asked_for_is_not_sent() {
        let sent = serde_json::to_string(&ExecRequest::shell("true")).unwrap();
        assert_eq!(sent, r#"{"command":"true","background":"keep","encoding":"utf8","on_disconnect":"keep"}"#);
    }
}
