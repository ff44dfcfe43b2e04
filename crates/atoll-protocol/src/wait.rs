//! Waiting for a process.

use serde::{Deserialize, Serialize};

use crate::{EndRecord, Stream};

/// What to wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// The end of the main process.
    Exit,
    /// The process blocks on reading its standard input.
    Input,
    /// Output that matches.
    Log(LogCondition),
    /// A port that accepts connections.
    Port(PortCondition),
}

/// Text to look for in the output. Exactly one of `text` and `regex` is required.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LogCondition {
    /// Text to find anywhere in the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Regular expression that a line must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// Position in the log to search from (default 0). Earlier output counts, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

/// A port that must accept connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PortCondition {
    /// Port number.
    pub port: u16,
    /// Require an HTTP response, not just a connection.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub http: Option<HttpCondition>,
}

/// An HTTP request that must succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct HttpCondition {
    /// Path to request with GET.
    pub path: String,
    /// Required status; any from 200 to 399 if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
}

/// Waits for a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WaitRequest {
    /// What to wait for.
    pub r#for: WaitFor,
    /// How long to wait; without it, there is no limit. A timeout does not affect the process.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
}

/// Output that matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LogMatch {
    /// Output stream of the match.
    pub stream: Stream,
    /// Position after the match.
    pub cursor: u64,
    /// The line of the match; bytes that are not valid UTF-8 are replaced.
    pub line: String,
}

/// Result of a wait whose condition was met.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WaitAnswer {
    /// How the process ended, if the wait was for its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<EndRecord>,
    /// The match, if the wait was for output.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found: Option<LogMatch>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_condition_is_tagged_by_its_kind() {
        let read = |text: &str| serde_json::from_str::<WaitRequest>(text);
        assert_eq!(read(r#"{"for":"exit"}"#).unwrap().r#for, WaitFor::Exit);
        let port = read(r#"{"for":{"port":{"port":80,"http":{"path":"/"}}},"timeout_ms":5}"#).unwrap();
        assert!(matches!(port.r#for, WaitFor::Port(PortCondition { port: 80, http: Some(_) })));
        assert!(read(r#"{"for":{"log":{"words":"x"}}}"#).unwrap_err().to_string().contains("unknown field `words`"));
        assert!(read(r#"{"for":"rain"}"#).unwrap_err().to_string().contains("unknown variant `rain`"));
    }
}
