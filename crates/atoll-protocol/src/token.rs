//! Tokens and their scopes.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// A permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Read state, lists and output.
    Read,
    /// Run, signal and kill commands, and write inside the sandbox.
    Exec,
    /// Create, change, stop and delete the sandbox itself.
    Admin,
}

/// Grants permissions on the sandboxes whose names match a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Name of a sandbox, in which `*` matches any characters.
    pub sandboxes: String,
    /// The permissions.
    pub verbs: Vec<Verb>,
}

/// Creates a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// Display name.
    #[serde(default)]
    pub name: String,
    /// Scopes of the token.
    pub scopes: Vec<Scope>,
    /// How long the token is valid; without it, it does not expire.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_in_ms: Option<u64>,
}

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TokenInfo {
    /// Id of the token, which is also the middle part of the token itself.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Scopes of the token.
    pub scopes: Vec<Scope>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
}

/// A new token. The secret is returned only once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NewToken {
    /// The token without its secret.
    pub info: TokenInfo,
    /// The secret, to send as `Authorization: Bearer …`.
    pub token: String,
}

/// A list of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TokenList {
    /// Tokens, oldest first.
    pub tokens: Vec<TokenInfo>,
}
