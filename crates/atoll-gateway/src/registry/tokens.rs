//! The table of tokens. It stores hashes, never secrets.

use atoll_protocol::{Timestamp, TokenInfo};
use rusqlite::{Connection, Row as SqlRow, params};

use super::Registry;
use super::sandboxes::{from_text, to_text};
use crate::Error;

/// The row of one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenRow {
    pub(crate) info: TokenInfo,
    pub(crate) hash: Vec<u8>,
}

impl Registry {
    /// Returns all tokens, oldest first.
    pub(crate) async fn tokens(&self) -> Result<Vec<TokenRow>, Error> {
        self.call("list the tokens", |connection| {
            let sql = "SELECT id, name, hash, scopes, created_ms, used_ms, expires_ms FROM tokens
                       ORDER BY created_ms, id";
            connection.prepare_cached(sql)?.query_map([], read)?.collect()
        })
        .await
    }

    /// Inserts a new token.
    pub(crate) async fn put_token(&self, row: TokenRow) -> Result<(), Error> {
        self.call("record the token", move |connection| {
            let TokenInfo { id, name, scopes, created_at, last_used_at, expires_at } = &row.info;
            let millis = |time: &Timestamp| time.as_millis().cast_signed();
            let sql = "INSERT INTO tokens (id, name, hash, scopes, created_ms, used_ms, expires_ms)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let (used, expires) = (last_used_at.as_ref().map(millis), expires_at.as_ref().map(millis));
            let parameters = params![id, name, row.hash, to_text(scopes)?, millis(created_at), used, expires];
            on_the_device(connection, |connection| connection.execute(sql, parameters).map(drop))
        })
        .await
    }

    /// Deletes a token. Returns whether it existed.
    pub(crate) async fn forget_token(&self, id: String) -> Result<bool, Error> {
        self.call("delete the token", move |connection| {
            let sql = "DELETE FROM tokens WHERE id = ?1";
            on_the_device(connection, |connection| connection.execute(sql, [id]).map(|count| count > 0))
        })
        .await
        .inspect(|_| self.truncate_log_soon())
    }

    /// Records a token's use.
    pub(crate) async fn token_used(&self, id: String, at: Timestamp) -> Result<(), Error> {
        self.call("record a token's use", move |connection| {
            let sql = "UPDATE tokens SET used_ms = ?2 WHERE id = ?1";
            connection.execute(sql, params![id, at.as_millis().cast_signed()]).map(drop)
        })
        .await
    }
}

/// Commits with fsync. The registry is the only record of tokens: one that was returned must be valid after a power
/// loss, and a revoked one must not. Other commits do not wait for the device.
fn on_the_device<T>(
    connection: &Connection,
    act: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    let done = act(connection);
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    done
}

fn read(row: &SqlRow<'_>) -> rusqlite::Result<TokenRow> {
    let time = |millis: i64| Timestamp::from_millis(millis.cast_unsigned());
    let info = TokenInfo {
        id: row.get(0)?,
        name: row.get(1)?,
        scopes: from_text(3, &row.get::<_, String>(3)?)?,
        created_at: time(row.get(4)?),
        last_used_at: row.get::<_, Option<i64>>(5)?.map(time),
        expires_at: row.get::<_, Option<i64>>(6)?.map(time),
    };
    Ok(TokenRow { info, hash: row.get(2)? })
}
