//! Idempotency keys: a repeated request refers to the same sandbox as the first one.
//!
//! The sandbox's name is chosen before anything is created, and stored under the key. Creating a sandbox by name is
//! idempotent, so nothing else has to be stored.

use atoll_protocol::{SandboxName, Timestamp};
use rusqlite::{OptionalExtension, params};

use super::Registry;
use crate::Error;

/// How long a key is stored.
const REMEMBERED_MS: u64 = 24 * 60 * 60 * 1000;

/// What a key refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claimed {
    /// A sandbox.
    Sandbox(String),
    /// A different request.
    Taken,
}

impl Registry {
    /// Returns what this token's key refers to; if it is new, stores it for `sandbox`. `request` is a hash of the
    /// request body.
    pub(crate) async fn claim_key(
        &self,
        token: String,
        key: String,
        request: Vec<u8>,
        sandbox: SandboxName,
        now: Timestamp,
    ) -> Result<Claimed, Error> {
        self.call("look up the idempotency key", move |connection| {
            let oldest = now.as_millis().saturating_sub(REMEMBERED_MS).cast_signed();
            connection.execute("DELETE FROM idempotency WHERE created_ms < ?1", [oldest])?;
            let sql = "SELECT request, sandbox FROM idempotency WHERE token = ?1 AND key = ?2";
            let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, String>(1)?));
            if let Some((earlier, name)) = connection.query_row(sql, params![token, key], read).optional()? {
                return Ok(if earlier == request { Claimed::Sandbox(name) } else { Claimed::Taken });
            }
            let sql = "INSERT INTO idempotency (token, key, request, sandbox, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
            let now = now.as_millis().cast_signed();
            connection.execute(sql, params![token, key, request, sandbox.as_str(), now])?;
            Ok(Claimed::Sandbox(sandbox.into()))
        })
        .await
    }
}
