//! The table of sandboxes.

use std::collections::BTreeMap;

use atoll_protocol::{Isolation, SandboxLimits, SandboxName, SandboxRecord, SandboxState, StopReason, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};
use serde::{Deserialize, Serialize};

use super::{Registry, Stored};
use crate::Error;
use crate::placement::Agent;

/// The state of a sandbox, which changes without a client's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SandboxStatus {
    pub(crate) state: SandboxState,
    pub(crate) stop_reason: Option<StopReason>,
    pub(crate) used_at: Timestamp,
    pub(crate) agent: Option<Agent>,
}

/// The options that the registry stores: those that lists show. Values of variables, network rules and tokens of previews
/// are only in `sandbox.json`, which is removed with the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) name: SandboxName,
    pub(crate) created_at: Timestamp,
    pub(crate) isolation: Isolation,
    pub(crate) limits: SandboxLimits,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) sleep_after_ms: Option<u64>,
    pub(crate) keep_alive: bool,
}

impl From<&Stored> for Listed {
    fn from(stored: &Stored) -> Self {
        Self {
            name: stored.name.clone(),
            created_at: stored.created_at,
            isolation: stored.isolation,
            limits: stored.limits,
            labels: stored.labels.clone(),
            sleep_after_ms: stored.sleep_after_ms,
            keep_alive: stored.keep_alive,
        }
    }
}

/// The row of one sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) listed: Listed,
    pub(crate) status: SandboxStatus,
}

impl Row {
    /// Returns the sandbox as clients see it.
    pub(crate) fn record(&self) -> SandboxRecord {
        let Self { listed, status } = self;
        SandboxRecord {
            name: listed.name.clone(),
            state: status.state,
            stop_reason: status.stop_reason,
            isolation: listed.isolation,
            limits: listed.limits,
            labels: listed.labels.clone(),
            sleep_after_ms: listed.sleep_after_ms,
            keep_alive: listed.keep_alive,
            created_at: listed.created_at,
            last_used_at: status.used_at,
            live: None,
        }
    }
}

impl Registry {
    /// Inserts or replaces a sandbox.
    pub(crate) async fn put(&self, row: Row) -> Result<(), Error> {
        self.call("record the sandbox", move |connection| put(connection, &row)).await
    }

    /// Deletes a sandbox's row.
    pub(crate) async fn forget(&self, name: SandboxName) -> Result<(), Error> {
        self.call("delete the sandbox's record", move |connection| {
            connection.execute("DELETE FROM sandboxes WHERE name = ?1", [name.as_str()]).map(drop)
        })
        .await?;
        self.truncate_log_soon();
        Ok(())
    }

    /// Returns one sandbox.
    pub(crate) async fn sandbox(&self, name: SandboxName) -> Result<Option<Row>, Error> {
        self.call("look up the sandbox", move |connection| {
            let sql = "SELECT stored, state, stop_reason, used_ms, agent_pid, agent_start, address
                       FROM sandboxes WHERE name = ?1";
            connection.query_row(sql, [name.as_str()], read).optional()
        })
        .await
    }

    /// Returns up to `limit` sandboxes after `after`, by name, that have all the labels and pass `allowed`.
    pub(crate) async fn list(
        &self,
        after: Option<SandboxName>,
        limit: usize,
        labels: BTreeMap<String, String>,
        allowed: impl Fn(&SandboxName) -> bool + Send + 'static,
    ) -> Result<Vec<Row>, Error> {
        let fits = move |row: &Row| {
            let has = |(name, value): (&String, &String)| row.listed.labels.get(name) == Some(value);
            allowed(&row.listed.name) && labels.iter().all(has)
        };
        self.call("list the sandboxes", move |connection| {
            let sql = "SELECT stored, state, stop_reason, used_ms, agent_pid, agent_start, address
                       FROM sandboxes WHERE name > ?1 ORDER BY name";
            let mut statement = connection.prepare_cached(sql)?;
            let after = after.map(String::from).unwrap_or_default();
            let rows = statement.query_map([after], read)?;
            let wanted = rows.filter(|row| row.as_ref().map_or(true, &fits));
            wanted.take(limit).collect()
        })
        .await
    }
}

fn put(connection: &Connection, row: &Row) -> rusqlite::Result<()> {
    let SandboxStatus { state, stop_reason, used_at, agent } = &row.status;
    let sql = "INSERT OR REPLACE INTO sandboxes
               (name, stored, state, stop_reason, used_ms, agent_pid, agent_start, address)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let parameters = params![
        row.listed.name.as_str(),
        to_text(&row.listed)?,
        to_text(state)?,
        stop_reason.as_ref().map(to_text).transpose()?,
        used_at.as_millis().cast_signed(),
        agent.as_ref().map(|agent| agent.pid),
        agent.as_ref().map(|agent| agent.start.cast_signed()),
        agent.as_ref().map(|agent| &*agent.address),
    ];
    connection.prepare_cached(sql)?.execute(parameters).map(drop)
}

fn read(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let agent = match (row.get::<_, Option<u32>>(4)?, row.get::<_, Option<i64>>(5)?, row.get(6)?) {
        (Some(pid), Some(start), Some(address)) => Some(Agent { pid, start: start.cast_unsigned(), address }),
        _ => None,
    };
    let stop_reason = row.get::<_, Option<String>>(2)?.map(|text| from_text(2, &text)).transpose()?;
    Ok(Row {
        listed: from_text(0, &row.get::<_, String>(0)?)?,
        status: SandboxStatus {
            state: from_text(1, &row.get::<_, String>(1)?)?,
            stop_reason,
            used_at: Timestamp::from_millis(row.get::<_, i64>(3)?.cast_unsigned()),
            agent,
        },
    })
}

pub(super) fn to_text(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

pub(super) fn from_text<T: serde::de::DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into()))
}
