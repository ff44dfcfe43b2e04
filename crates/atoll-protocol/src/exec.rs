//! Running one command to completion.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EgressRule, Encoding, ProcessId};

/// What happens to processes that a command leaves in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Background {
    /// They keep running; the command is then `lingering`.
    #[default]
    Keep,
    /// They are killed with the command.
    Kill,
}

/// What happens to a command whose client disconnects before it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnDisconnect {
    /// It keeps running, and can be found by its id.
    #[default]
    Keep,
    /// Its whole process tree is killed.
    Kill,
}

/// Runs one command to completion. Exactly one of `command` and `argv` is required.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ExecRequest {
    /// Shell command line, run by bash, or by sh if there is no bash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Program and arguments, run without a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// Working directory; relative paths are below the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Changes to the default environment; `null` unsets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Option<String>>,
    /// User inside the sandbox: a name or an id, optionally with `:group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Time limit, after which the whole process tree is killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Limit of time without output, after which the whole process tree is killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// Output limit, above which the whole process tree is killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_bytes: Option<u64>,
    /// Memory limit of this command, within the sandbox's own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Egress rules of this command, within those of the sandbox; the sandbox's rules if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Vec<EgressRule>>,
    /// Time between SIGTERM and SIGKILL when the process tree is killed (default 2000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
    /// What happens to processes that it leaves in the background.
    pub background: Background,
    /// Id of the command, which makes retries safe; generated if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ProcessId>,
    /// Labels to find it by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Standard input as text. Closed if neither this nor `stdin_base64` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Standard input in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin_base64: Option<String>,
    /// Maximum number of bytes of each output in the response (default 1 MiB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_bytes: Option<u64>,
    /// Encoding of the output in the response.
    pub encoding: Encoding,
    /// What happens if the client disconnects.
    pub on_disconnect: OnDisconnect,
}

impl ExecRequest {
    /// Returns a request for a shell command line, with default options.
    pub fn shell(command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..Self::default() }
    }

    /// Returns a request for a program and its arguments, with default options.
    pub fn argv<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self { argv: Some(argv.into_iter().map(Into::into).collect()), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_field_is_refused_by_name() {
        let refused = serde_json::from_str::<ExecRequest>(r#"{"command":"true","timeout":5}"#).unwrap_err();
        assert!(refused.to_string().starts_with("unknown field `timeout`, expected one of"), "{refused}");
        let env = r#"{"command":"true","env":{"A":"1","B":null},"background":"kill"}"#;
        let read: ExecRequest = serde_json::from_str(env).unwrap();
        assert_eq!(read.env["B"], None);
        assert_eq!(read.background, Background::Kill);
    }

    #[test]
    fn unset_options_are_not_serialized() {
        let sent = serde_json::to_string(&ExecRequest::shell("true")).unwrap();
        assert_eq!(sent, r#"{"command":"true","background":"keep","encoding":"utf8","on_disconnect":"keep"}"#);
    }
}
