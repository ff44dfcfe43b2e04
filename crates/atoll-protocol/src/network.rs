//! The way out of a sandbox: what it may reach, what became of it when it tried, and what it may use without seeing it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ProcessId, Timestamp};

/// What a sandbox may reach. Nothing else is reachable, and a list that is empty allows nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct NetworkPolicy {
    /// What is allowed.
    pub allow: Vec<EgressRule>,
    /// Addresses of names that are not asked of anybody. They are subject to the rules like any other address.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, Vec<String>>,
    /// The name server to ask, `ADDRESS:PORT`; that of the machine if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolver: Option<String>,
    /// Certificates (PEM) that servers are believed by, beside those that the machine believes, where TLS ends at Atoll.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
}

/// Something that may be reached. Exactly one of `set`, `domain` and `cidr` is given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct EgressRule {
    /// A set of names that belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<RuleSet>,
    /// A name, or `*.` and a name for every name below it. Of names with other letters, the `xn--` form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// An address or a block of them. It is also what opens private addresses, for names too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cidr: Option<String>,
    /// Ports (`443`) and ranges of them (`8000-8999`). A domain without any means 80 and 443; a block must name them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<Vec<String>>,
    /// What may be spoken. A domain without any means `http` and `tls`, a block means `tcp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocols: Option<Vec<EgressProtocol>>,
    /// TLS ends at Atoll, so that each request is seen to be for this name, and begins there anew.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inspect: bool,
}

/// What is spoken on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum EgressProtocol {
    /// HTTP/1 in the clear. The host of every request is checked.
    Http,
    /// TLS. The name that it begins with is checked.
    Tls,
    /// Anything. What is said is not looked at.
    Tcp,
}

/// Names that belong together, to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleSet {
    /// Python packages.
    Pypi,
    /// Node packages.
    Npm,
    /// Rust crates, and the toolchain.
    Crates,
    /// Debian packages.
    Debian,
    /// Repositories, releases and the API of GitHub, by HTTPS.
    Github,
}

/// Why a connection or a question was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DenialReason {
    /// No rule allows the name or address.
    NoRule,
    /// A rule allows the name or address, but not this port.
    PortNotAllowed,
    /// A rule allows the name and port, but not what is spoken.
    ProtocolNotAllowed,
    /// The rules of the sandbox allow it, those of the command do not.
    CommandNotAllowed,
    /// The address is private, of the machine itself, or otherwise special, and no rule names it.
    AddressNotPublic,
    /// An address without a name: only a rule for addresses could allow it.
    NoName,
    /// What stands where a name belongs is none.
    BadName,
    /// The connection was opened to one name and is used for another.
    NameMismatch,
    /// The name that is meant is hidden (encrypted client hello).
    HiddenName,
    /// What is spoken does not follow its own rules, so that two readers could take it for two things.
    Malformed,
    /// A question for something other than addresses.
    QueryType,
    /// More different names below a wildcard, or longer ones, than a program has use for.
    QueryLimit,
    /// The name has no address.
    NoAddress,
    /// The other side could not be reached.
    Unreachable,
    /// Its certificate is not to be trusted.
    Untrusted,
    /// Only TCP goes out.
    UdpNotAllowed,
    /// There are as many connections as there may be.
    TooMany,
    /// The rules were changed and no longer allow it.
    PolicyChanged,
}

/// Something that a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Denial {
    /// When it was first refused.
    pub at: Timestamp,
    /// Why.
    pub reason: DenialReason,
    /// The name that was meant, if one was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<String>,
    /// The address that was meant, if it says more than the name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<String>,
    /// The port. Of a question to a name server there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port: Option<u16>,
    /// How often the same was refused.
    pub count: u64,
}

/// What happened on the way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EgressEventKind {
    /// A connection was allowed and stands.
    Opened,
    /// It is over.
    Closed,
    /// A connection was refused.
    Denied,
    /// A name was told.
    Resolved,
    /// A name was not told.
    NameDenied,
    /// The rules were changed.
    PolicyChanged,
}

/// One thing that happened on the way out. What does not apply is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EgressEvent {
    /// Its number; the next one has the next.
    pub cursor: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: EgressEventKind,
    /// Which connection: the same in `opened` and `closed`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flow: Option<u64>,
    /// The command that did it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<ProcessId>,
    /// The name that was meant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<String>,
    /// The address outside.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<String>,
    /// The port outside.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port: Option<u16>,
    /// What is spoken.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub protocol: Option<EgressProtocol>,
    /// The rule that allowed it, as text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rule: Option<String>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<DenialReason>,
    /// Bytes that went out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes_out: Option<u64>,
    /// Bytes that came in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes_in: Option<u64>,
    /// How long it stood.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// In how many requests a secret was put in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub secrets_used: Option<u64>,
}

/// Some events, by cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EgressEventPage {
    /// These.
    pub events: Vec<EgressEvent>,
    /// Give this as `since` for those behind them.
    pub next_cursor: u64,
    /// So many that were asked for are forgotten.
    pub lost: u64,
}

/// What has gone out so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EgressTotals {
    /// Connections that were allowed.
    pub connections: u64,
    /// Of these, those that stand now.
    pub open: u64,
    /// Connections that were refused.
    pub denied: u64,
    /// Names that were told.
    pub names: u64,
    /// Names that were not told.
    pub names_denied: u64,
    /// Bytes that went out.
    pub bytes_out: u64,
    /// Bytes that came in.
    pub bytes_in: u64,
}

/// The way out of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NetworkInfo {
    /// What may be reached.
    pub policy: NetworkPolicy,
    /// Whether there is a way out at all: there is none before the first rule.
    pub open: bool,
    /// What has gone out so far.
    pub totals: EgressTotals,
}

/// A secret that commands may use and not see. Its name is the name of a variable, which holds a stand-in for it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PutSecret {
    /// The secret itself. It is never told again.
    pub value: String,
    /// Names of the only servers that get it, by HTTPS: `NAME`, or `NAME:PORT` for another port than 443.
    pub hosts: Vec<String>,
    /// Headers of requests in which the stand-in is replaced (`authorization`).
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
    /// The variable that holds its stand-in.
    pub name: String,
    /// What commands see instead.
    pub placeholder: String,
    /// The servers that get it.
    pub hosts: Vec<String>,
    /// The headers in which it is put.
    pub headers: Vec<String>,
}

/// The secrets of a sandbox, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SecretList {
    /// These.
    pub secrets: Vec<SecretInfo>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_in_what_is_printed_for_debugging() {
        let secret = PutSecret { value: "hunter2".to_owned(), hosts: vec!["a.test".to_owned()], headers: Vec::new() };
        assert!(!format!("{secret:?}").contains("hunter2"));
    }

    #[test]
    fn a_rule_says_only_what_was_said() {
        let rule = EgressRule { domain: Some("a.test".to_owned()), ..EgressRule::default() };
        assert_eq!(serde_json::to_string(&rule).unwrap(), r#"{"domain":"a.test"}"#);
        assert!(serde_json::from_str::<EgressRule>(r#"{"domain":"a.test","port":1}"#).is_err());
    }
}
