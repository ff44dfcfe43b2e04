//! Tokens: who may do what with which sandboxes.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// What may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Look: states, lists, output.
    Read,
    /// Run, write to, signal and kill what is inside.
    Exec,
    /// Make, change, stop and delete the sandbox itself.
    Admin,
}

/// These verbs, on the sandboxes that a pattern means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// A sandbox's name, in which `*` stands for any number of letters.
    pub sandboxes: String,
    /// What may be done with them.
    pub verbs: Vec<Verb>,
}

/// Make a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// What it is for, for people.
    #[serde(default)]
    pub name: String,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// For how long it is good, if not for ever.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_in_ms: Option<u64>,
}

/// A token as it is listed: everything but the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TokenInfo {
    /// Names it; also the middle of the token itself.
    pub id: String,
    /// What it is for, for people.
    pub name: String,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it ceases to be good.
    pub expires_at: Option<Timestamp>,
}

/// A new token. The only time that its secret is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NewToken {
    /// What it is.
    pub info: TokenInfo,
    /// To be sent as `Authorization: Bearer …`.
    pub token: String,
}

/// Every token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TokenList {
    /// Oldest first.
    pub tokens: Vec<TokenInfo>,
}
