//! Waiting for something that a process does.

use serde::{Deserialize, Serialize};

use crate::{EndRecord, Stream};

/// What to wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// The end of its main process.
    Exit,
    /// That it blocks on reading its input.
    Input,
    /// Output.
    Log(LogCondition),
    /// A port that answers.
    Port(PortCondition),
}

/// What to look for in the output. Exactly one of `text` and `regex` is given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LogCondition {
    /// This text, anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A line that this regular expression matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// From this position of the log on (0): what was printed before the wait counts too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

/// When a port counts as open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PortCondition {
    /// Its number.
    pub port: u16,
    /// Set to ask for a page instead of a mere connection.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub http: Option<HttpCondition>,
}

/// An HTTP request that must be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct HttpCondition {
    /// Path to get.
    pub path: String,
    /// The status that it must have; without it any from 200 to 399.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
}

/// Asks to be told when something has happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WaitRequest {
    /// What to wait for.
    pub r#for: WaitFor,
    /// How long to wait; the process is never touched by it. Without it as long as it takes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
}

/// Where the output was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LogMatch {
    /// On which output.
    pub stream: Stream,
    /// Position behind it.
    pub cursor: u64,
    /// The line that it is in; what is no UTF-8 is replaced.
    pub line: String,
}

/// It has happened.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WaitAnswer {
    /// How it ended, if that was waited for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<EndRecord>,
    /// What was found, if output was waited for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found: Option<LogMatch>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_says_what_it_is_for() {
        let read = |text: &str| serde_json::from_str::<WaitRequest>(text);
        assert_eq!(read(r#"{"for":"exit"}"#).unwrap().r#for, WaitFor::Exit);
        let port = read(r#"{"for":{"port":{"port":80,"http":{"path":"/"}}},"timeout_ms":5}"#).unwrap();
        assert!(matches!(port.r#for, WaitFor::Port(PortCondition { port: 80, http: Some(_) })));
        assert!(read(r#"{"for":{"log":{"words":"x"}}}"#).unwrap_err().to_string().contains("unknown field `words`"));
        assert!(read(r#"{"for":"rain"}"#).unwrap_err().to_string().contains("unknown variant `rain`"));
    }
}
