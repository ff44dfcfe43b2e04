//! Asking for a process: a command with a life of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Background, EgressRule, LogCondition, PortCondition, ProcessId};

/// Where a process's standard input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum StdinMode {
    /// Nowhere: a read ends at once.
    #[default]
    Closed,
    /// A pipe that is written to later.
    Pipe,
}

/// What happens when a process ends by itself with a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RestartPolicy {
    /// Nothing.
    #[default]
    Never,
    /// It is started again.
    OnFailure {
        /// At most so often (10).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        max: Option<u32>,
        /// Pause before the first restart; doubles with each (100).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        backoff_ms: Option<u64>,
        /// Longest pause (10000).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        backoff_max_ms: Option<u64>,
    },
}

/// When a process counts as ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReadyCondition {
    /// When it has printed this.
    Log(LogCondition),
    /// When this port answers.
    Port(PortCondition),
}

/// Asks for a process. Exactly one of `command` and `argv` is given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StartRequest {
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
    /// Where its standard input comes from.
    pub stdin: StdinMode,
    /// What happens when it fails.
    pub restart: RestartPolicy,
    /// When it counts as ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<ReadyCondition>,
}

impl StartRequest {
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
    fn a_policy_is_a_word_or_a_word_with_numbers() {
        let read = |text: &str| serde_json::from_str::<RestartPolicy>(text);
        assert_eq!(read(r#""never""#).unwrap(), RestartPolicy::Never);
        let three = RestartPolicy::OnFailure { max: Some(3), backoff_ms: None, backoff_max_ms: None };
        assert_eq!(read(r#"{"on_failure":{"max":3}}"#).unwrap(), three);
        assert!(read(r#"{"on_failure":{"times":3}}"#).unwrap_err().to_string().contains("unknown field `times`"));
    }
}
