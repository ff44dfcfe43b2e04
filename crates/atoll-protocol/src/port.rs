//! Ports inside a sandbox: listening ports, and previews of them.

use serde::{Deserialize, Serialize};

use crate::{ProcessId, Timestamp};

/// A listening port inside a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PortInfo {
    /// Port number.
    pub port: u16,
    /// Addresses that it is bound to: `127.0.0.1`, `::`.
    pub addresses: Vec<String>,
    /// Pid inside the sandbox of a listening process; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pid: Option<u32>,
    /// Command line of that process.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// Id of the API process that it belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<ProcessId>,
}

/// The listening ports of a sandbox, lowest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PortList {
    /// The ports.
    pub ports: Vec<PortInfo>,
}

/// A port that no longer listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PortClosed {
    /// Port number.
    pub port: u16,
}

/// Who may open a preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Anyone who knows its URL.
    #[default]
    Public,
    /// Anyone who knows its URL and has a token for the sandbox or a signed link.
    Private,
}

/// Exposes a port. Omitted options stay as they are, or take their defaults if the port is not exposed yet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ExposePort {
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Secret part of the URL: 1 to 32 characters of `a-z`, `0-9` and `_`. Generated if not given; short ones can be
    /// guessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Who may open the preview (default `public`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// Whether a request wakes a stopped sandbox (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake: Option<bool>,
    /// Whether the program inside receives the full path of a path URL, including `/preview/…` (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_prefix: Option<bool>,
}

/// An exposed port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Preview {
    /// Port inside the sandbox.
    pub port: u16,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Secret part of its URLs.
    pub token: String,
    /// Who may open the preview.
    pub visibility: Visibility,
    /// Whether a request wakes a stopped sandbox.
    pub wake: bool,
    /// Whether the program inside receives the full path of a path URL.
    pub keep_prefix: bool,
    /// When the port was exposed.
    pub created_at: Timestamp,
    /// URL with a host name of its own. Absent if the server has no preview listener.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
    /// URL with a path on a shared host name, for clients that cannot resolve the host name of `url`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_url: Option<String>,
}

/// Exposed ports of a sandbox, lowest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PreviewList {
    /// The previews.
    pub previews: Vec<Preview>,
}

/// Requests a signed link to a private preview.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LinkRequest {
    /// How long the link, and access through it, is valid (default one hour, at most 30 days).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
}

/// A link that grants access to a private preview until it expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PreviewLink {
    /// URL with a host name of its own.
    pub url: String,
    /// URL with a path on a shared host name.
    pub path_url: String,
    /// When the link expires.
    pub expires_at: Timestamp,
}
