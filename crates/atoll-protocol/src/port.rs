//! Ports inside a sandbox: which are listened on, and how they are seen from outside.

use serde::{Deserialize, Serialize};

use crate::{ProcessId, Timestamp};

/// A port inside on which something listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PortInfo {
    /// Its number.
    pub port: u16,
    /// Addresses inside that it is bound to: `127.0.0.1`, `::`.
    pub addresses: Vec<String>,
    /// Pid, inside, of a process that listens; absent if that cannot be known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pid: Option<u32>,
    /// How that process was started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// The process of this API that it belongs to, if it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<ProcessId>,
}

/// Every port inside on which something listens, lowest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PortList {
    /// These.
    pub ports: Vec<PortInfo>,
}

/// A port on which nothing listens any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PortClosed {
    /// Its number.
    pub port: u16,
}

/// Who may see a preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Whoever knows its URL.
    #[default]
    Public,
    /// Of those, who also has a token of this server for the sandbox, or a link that was signed by it.
    Private,
}

/// Expose a port. What is left out stays as it is, or takes its default if the port is not exposed yet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ExposePort {
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The secret part of its URL: 1 to 32 of `a-z`, `0-9` and `_`. Made up if not given; short ones can be guessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Who may see it (`public`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// Whether a request starts a sandbox that sleeps (no).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake: Option<bool>,
    /// Whether the program inside gets paths of the path form whole, `/preview/…` included (no).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_prefix: Option<bool>,
}

/// An exposed port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Preview {
    /// The port inside.
    pub port: u16,
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// The secret part of its URLs.
    pub token: String,
    /// Who may see it.
    pub visibility: Visibility,
    /// Whether a request starts a sandbox that sleeps.
    pub wake: bool,
    /// Whether the program inside gets paths of the path form whole.
    pub keep_prefix: bool,
    /// Since when.
    pub created_at: Timestamp,
    /// Where it is, with a host name of its own. Absent if this server listens nowhere for previews.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
    /// Where it is for clients that cannot resolve that name: below a path of a host that all previews share.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_url: Option<String>,
}

/// Exposed ports of a sandbox, lowest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PreviewList {
    /// These.
    pub previews: Vec<Preview>,
}

/// Sign a link to a private preview.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LinkRequest {
    /// For how long it is good, and what it lets in (an hour; at most 30 days).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
}

/// A link that lets in whoever has it, for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PreviewLink {
    /// With a host name of its own.
    pub url: String,
    /// Below a path of a host that all previews share.
    pub path_url: String,
    /// Until then.
    pub expires_at: Timestamp,
}
