//! Egress: policies, events and secrets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ProcessId, Timestamp};

/// Egress policy: what a sandbox may reach. Everything else is denied, so an empty list denies everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct NetworkPolicy {
    /// The rules that allow access.
    pub allow: Vec<EgressRule>,
    /// Fixed addresses of names, which are not looked up. The rules apply to them as to any other address.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, Vec<String>>,
    /// Name server to use, `ADDRESS:PORT`; the host's if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolver: Option<String>,
    /// CA certificates (PEM) to trust for inspected TLS, besides those that the host trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
}

/// A destination that the sandbox may reach. Exactly one of `set`, `domain` and `cidr` is required.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct EgressRule {
    /// A predefined set of names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<RuleSet>,
    /// A name, or `*.` and a name for all its subdomains. Use the `xn--` form for internationalized names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// An address or a block of addresses. Only such a rule allows private addresses, also for names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cidr: Option<String>,
    /// Ports (`443`) and port ranges (`8000-8999`). The default for a domain is 80 and 443; a block requires them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<Vec<String>>,
    /// Protocols to allow. The default for a domain is `http` and `tls`, for a block `tcp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocols: Option<Vec<EgressProtocol>>,
    /// Terminate TLS in Atoll, so that Atoll can check that each request is for this name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inspect: bool,
}

/// Protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum EgressProtocol {
    /// Plain HTTP/1. Atoll checks the host of every request.
    Http,
    /// TLS. Atoll checks the server name (SNI).
    Tls,
    /// Any TCP. Atoll does not inspect the content.
    Tcp,
}

/// Predefined sets of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleSet {
    /// PyPI: Python packages.
    Pypi,
    /// npm: Node packages.
    Npm,
    /// crates.io and the Rust toolchain.
    Crates,
    /// Debian packages.
    Debian,
    /// GitHub over HTTPS: repositories, releases and the API.
    Github,
}

/// Why a connection or a DNS query was denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DenialReason {
    /// No rule allows the name or address.
    NoRule,
    /// A rule allows the name or address, but not this port.
    PortNotAllowed,
    /// A rule allows the name and port, but not this protocol.
    ProtocolNotAllowed,
    /// The sandbox's rules allow it, but the command's rules do not.
    CommandNotAllowed,
    /// The address is private, of the host, or otherwise special, and no rule names it.
    AddressNotPublic,
    /// The connection is to an address without a name, and only a `cidr` rule could allow it.
    NoName,
    /// The name is not a valid host name.
    BadName,
    /// The connection was opened to one name and is used for another.
    NameMismatch,
    /// The server name is encrypted (encrypted client hello).
    HiddenName,
    /// The request or handshake is malformed or ambiguous.
    Malformed,
    /// The DNS query is not for an address.
    QueryType,
    /// Too many different names, or too long ones, below a wildcard.
    QueryLimit,
    /// The name has no address.
    NoAddress,
    /// The destination could not be reached.
    Unreachable,
    /// The destination's certificate is not trusted.
    Untrusted,
    /// The packet is UDP; only TCP is supported.
    UdpNotAllowed,
    /// The sandbox has reached its limit of connections.
    TooMany,
    /// The policy changed and no longer allows it.
    PolicyChanged,
}

/// A connection or DNS query that a command was denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Denial {
    /// When it was first denied.
    pub at: Timestamp,
    /// Why it was denied.
    pub reason: DenialReason,
    /// The requested name, if there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<String>,
    /// The requested address, if it adds to the name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<String>,
    /// The port; absent for DNS queries.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port: Option<u16>,
    /// How often it was denied.
    pub count: u64,
}

/// Kind of an egress event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EgressEventKind {
    /// A connection was allowed and opened.
    Opened,
    /// A connection was closed.
    Closed,
    /// A connection was denied.
    Denied,
    /// A DNS query was answered.
    Resolved,
    /// A DNS query was denied.
    NameDenied,
    /// The policy was changed.
    PolicyChanged,
}

/// One egress event. Fields that do not apply are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EgressEvent {
    /// Number of the event; consecutive.
    pub cursor: u64,
    /// When it happened.
    pub at: Timestamp,
    /// Kind of the event.
    pub kind: EgressEventKind,
    /// Id of the connection: the same in `opened` and `closed`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flow: Option<u64>,
    /// The command that opened the connection, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<ProcessId>,
    /// The requested name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<String>,
    /// The destination's address.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<String>,
    /// The destination's port.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port: Option<u16>,
    /// Protocol of the connection.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub protocol: Option<EgressProtocol>,
    /// The rule that allowed it, as text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rule: Option<String>,
    /// Why it was denied.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<DenialReason>,
    /// Bytes sent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes_out: Option<u64>,
    /// Bytes received.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes_in: Option<u64>,
    /// How long the connection was open.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// Number of requests in which a secret was inserted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub secrets_used: Option<u64>,
}

/// A page of egress events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EgressEventPage {
    /// The events.
    pub events: Vec<EgressEvent>,
    /// Value of `since` for the next page.
    pub next_cursor: u64,
    /// Number of requested events that are no longer retained.
    pub lost: u64,
}

/// Totals of a sandbox's egress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EgressTotals {
    /// Number of connections allowed.
    pub connections: u64,
    /// Number of connections that are open now.
    pub open: u64,
    /// Number of connections denied.
    pub denied: u64,
    /// Number of DNS queries answered.
    pub names: u64,
    /// Number of DNS queries denied.
    pub names_denied: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
}

/// Network state of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NetworkInfo {
    /// The current policy.
    pub policy: NetworkPolicy,
    /// Whether egress is open; it opens with the first rule.
    pub open: bool,
    /// Totals so far.
    pub totals: EgressTotals,
}

/// A secret that commands can use but not read. An environment variable of the same name holds a placeholder.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PutSecret {
    /// The secret itself. The API never returns it.
    pub value: String,
    /// The only servers that receive it, over HTTPS: `NAME`, or `NAME:PORT` for a port other than 443.
    pub hosts: Vec<String>,
    /// Request headers in which the placeholder is replaced (default `authorization`).
    #[serde(default = "authorization")]
    pub headers: Vec<String>,
}

fn authorization() -> Vec<String> {
    vec!["authorization".to_owned()]
}

impl std::fmt::Debug for PutSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { value: _, hosts, headers } = self;
        f.debug_struct("PutSecret").field("hosts", hosts).field("headers", headers).finish_non_exhaustive()
    }
}

/// A secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SecretInfo {
    /// Environment variable that holds the placeholder.
    pub name: String,
    /// The placeholder.
    pub placeholder: String,
    /// The servers that receive the secret.
    pub hosts: Vec<String>,
    /// The headers in which the placeholder is replaced.
    pub headers: Vec<String>,
}

/// The secrets of a sandbox, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SecretList {
    /// The secrets.
    pub secrets: Vec<SecretInfo>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn put_secret_debug_hides_the_value() {
        let secret = PutSecret { value: "hunter2".to_owned(), hosts: vec!["a.test".to_owned()], headers: Vec::new() };
        assert!(!format!("{secret:?}").contains("hunter2"));
    }

    #[test]
    fn egress_rule_serializes_only_set_fields() {
        let rule = EgressRule { domain: Some("a.test".to_owned()), ..EgressRule::default() };
        assert_eq!(serde_json::to_string(&rule).unwrap(), r#"{"domain":"a.test"}"#);
        assert!(serde_json::from_str::<EgressRule>(r#"{"domain":"a.test","port":1}"#).is_err());
    }
}
