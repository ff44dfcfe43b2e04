//! The OpenAPI document of a server: the gateway's routes, and an agent's routes below the name of its sandbox.
//!
//! The document is a checked-in file, so that a change of the API is a visible diff and the server does not generate it
//! at run time. A test compares the file with the document that the types generate.

/// The document, as JSON.
pub(crate) const DOCUMENT: &str = include_str!("../openapi.json");

#[cfg(test)]
mod document;
#[cfg(test)]
mod rules;
