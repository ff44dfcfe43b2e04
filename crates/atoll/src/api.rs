//! The API of a server as one OpenAPI document: the gateway's own routes, and an agent's below the name of its sandbox.
//!
//! The document is a file, so that a change of the API is a visible diff, and so that nobody has to make it when it is
//! asked for. A test compares it with what the types say.

/// The document, as JSON.
pub(crate) const DOCUMENT: &str = include_str!("../openapi.json");

#[cfg(test)]
mod made;
#[cfg(test)]
mod rules;
