//! Starting processes: commands that run independently of the client.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Background, EgressRule, LogCondition, PortCondition, ProcessId};

/// Source of a process's standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum StdinMode {
    /// Closed: a read returns end of file.
    #[default]
    Closed,
    /// A pipe, which clients write to later.
    Pipe,
}

/// What happens when a process fails by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RestartPolicy {
    /// It is not restarted.
    #[default]
    Never,
    /// It is restarted.
    OnFailure {
        /// Maximum number of restarts (default 10).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        max: Option<u32>,
        /// Delay before the first restart; doubles with each restart (default 100).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        backoff_ms: Option<u64>,
        /// Maximum delay (default 10000).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        backoff_max_ms: Option<u64>,
    },
}

/// When a process is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReadyCondition {
    /// When its output matches.
    Log(LogCondition),
    /// When this port accepts connections.
    Port(PortCondition),
}

/// Starts a process. Exactly one of `command` and `argv` is required.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StartRequest {
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
    /// Id of the process, which makes retries safe; generated if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ProcessId>,
    /// Labels to find it by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Source of its standard input.
    pub stdin: StdinMode,
    /// What happens when it fails.
    pub restart: RestartPolicy,
    /// When the process is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<ReadyCondition>,
}

impl StartRequest {
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
    fn restart_policy_is_a_name_or_an_object() {
        let read = |text: &str| serde_json::from_str::<RestartPolicy>(text);
        assert_eq!(read(r#""never""#).unwrap(), RestartPolicy::Never);
        let three = RestartPolicy::OnFailure { max: Some(3), backoff_ms: None, backoff_max_ms: None };
        assert_eq!(read(r#"{"on_failure":{"max":3}}"#).unwrap(), three);
        assert!(read(r#"{"on_failure":{"times":3}}"#).unwrap_err().to_string().contains("unknown field `times`"));
    }
}
