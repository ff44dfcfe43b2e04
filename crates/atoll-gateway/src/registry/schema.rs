//! The file: how it is opened, and which tables it has. `user_version` says how far it has come.

use std::io;
use std::path::Path;

use rusqlite::Connection;

/// Each entry takes the file one version further. Entries are never changed, only added.
const STEPS: [&str; 1] = ["
    CREATE TABLE sandboxes (
        name TEXT PRIMARY KEY,
        stored TEXT NOT NULL,
        state TEXT NOT NULL,
        stop_reason TEXT,
        used_ms INTEGER NOT NULL,
        agent_pid INTEGER,
        agent_start INTEGER,
        address TEXT
    ) STRICT;
    CREATE TABLE tokens (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        hash BLOB NOT NULL,
        scopes TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        used_ms INTEGER,
        expires_ms INTEGER
    ) STRICT;
    CREATE TABLE idempotency (
        token TEXT NOT NULL,
        key TEXT NOT NULL,
        request BLOB NOT NULL,
        sandbox TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        PRIMARY KEY (token, key)
    ) STRICT;
"];

/// What stands between us and a usable file.
#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaError {
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is damaged: {0}")]
    Damaged(String),
    #[error("it was written by a newer version of Atoll (schema {found}, this one knows {known})")]
    Newer { found: u32, known: u32 },
}

/// Opens the file and brings it up to date.
pub(super) fn open(path: &Path) -> Result<Connection, SchemaError> {
    let mut connection = Connection::open(path)?;
    // Nobody else uses it (the state is locked), so the index of the log need not be a file: on a full disk that could
    // not be made.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    // A commit survives a crash of this process at once, and of the machine a moment later: what is lost then is still
    // on disk beside the sandbox.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Err(SchemaError::Damaged(found));
    }
    migrate(&mut connection)?;
    Ok(connection)
}

fn migrate(connection: &mut Connection) -> Result<(), SchemaError> {
    let found: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let steps = (1..).zip(STEPS);
    if let Some((known, _)) = steps.clone().last().filter(|(known, _)| found > *known) {
        return Err(SchemaError::Newer { found, known });
    }
    for (version, step) in steps.filter(|(version, _)| *version > found) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Whether nothing more can be had from the file. Else it is only this moment, or this version, that cannot read it.
pub(super) fn is_broken(error: &SchemaError) -> bool {
    match error {
        SchemaError::Damaged(_) => true,
        SchemaError::Sqlite(error) => matches!(
            error.sqlite_error_code(),
            Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt)
        ),
        SchemaError::Io(_) | SchemaError::Newer { .. } => false,
    }
}

/// Renames the file and its companions, so that nothing of it is lost.
pub(super) fn put_aside(path: &Path) -> Result<(), SchemaError> {
    let when = crate::clock::now().as_millis();
    for suffix in ["", "-wal", "-shm"] {
        let mut from = path.as_os_str().to_owned();
        from.push(suffix);
        let mut to = path.as_os_str().to_owned();
        to.push(format!(".aside-{when}{suffix}"));
        match std::fs::rename(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_brought_up_to_date_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.db");
        drop(open(&path).unwrap());
        let again = open(&path).unwrap();
        let version: u32 = again.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, 1);
    }

    #[test]
    fn a_newer_file_and_a_broken_one_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.db");
        open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let newer = open(&path).unwrap_err();
        assert!(matches!(newer, SchemaError::Newer { found: 99, .. }) && !is_broken(&newer));
        std::fs::write(&path, b"this is no database, but it is long enough to be looked at as one").unwrap();
        assert!(is_broken(&open(&path).unwrap_err()));
        put_aside(&path).unwrap();
        assert!(open(&path).is_ok());
    }
}
