//! Opens the registry's file and migrates its schema. `user_version` is the schema's version.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

/// One step of the migration.
#[derive(Clone, Copy)]
enum Step {
    /// Statements, in one transaction.
    Sql(&'static str),
    /// Rewrites the whole file, so that its free space contains no removed values.
    Rewrite,
}

/// Each entry raises the version by one. Entries are never changed, only added.
const STEPS: [Step; 3] = [
    Step::Sql(TABLES),
    // The registry must not contain values of variables and tokens of previews.
    Step::Sql("UPDATE sandboxes SET stored = json_remove(stored, '$.version', '$.env', '$.network', '$.ports')"),
    Step::Rewrite,
];

const TABLES: &str = "
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
";

/// Suffixes of SQLite's files.
const FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Why the file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaError {
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the file is damaged: {0}")]
    Damaged(String),
    #[error("the file was written by a newer version of Atoll (schema {found}; this version supports up to {known})")]
    Newer { found: u32, known: u32 },
}

/// Opens the file and migrates it.
pub(super) fn open(path: &Path) -> Result<Connection, SchemaError> {
    make_private(path)?;
    let mut connection = Connection::open(path)?;
    // SQLite overwrites removed values with zeros, and writes no temporary files.
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // The state directory is locked, so no other process uses the file, and the log's index can be in memory. On a
    // full disk, an index file could not be created.
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
        match step {
            Step::Sql(text) => {
                let transaction = connection.transaction()?;
                transaction.execute_batch(text)?;
                transaction.pragma_update(None, "user_version", version)?;
                transaction.commit()?;
            }
            // A new file has no removed values.
            Step::Rewrite if found == 0 => connection.pragma_update(None, "user_version", version)?,
            Step::Rewrite => {
                let rewritten = connection.execute_batch("VACUUM").and_then(|()| truncate_log(connection));
                if let Err(error) = rewritten {
                    // Usually a full disk. The file is usable as it is; the next start retries.
                    tracing::warn!(%error, "cannot rewrite the registry: it may still contain values of variables (free disk space and restart)");
                    return Ok(());
                }
                connection.pragma_update(None, "user_version", version)?;
            }
        }
    }
    Ok(())
}

/// Runs a checkpoint that empties the write-ahead log.
pub(super) fn truncate_log(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Sets mode 0600, regardless of the umask. SQLite gives its other files the mode of the first.
fn make_private(path: &Path) -> io::Result<()> {
    match File::options().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    for file in FILES.map(|suffix| beside(path, suffix)) {
        match std::fs::metadata(&file) {
            Ok(found) if found.mode() & 0o077 != 0 => {
                std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600))?;
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Whether the file is damaged for good. Other errors are temporary, or of this version only.
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

/// Renames the file and its companions, so that nothing is lost.
pub(super) fn quarantine(path: &Path) -> Result<(), SchemaError> {
    let when = crate::clock::now().as_millis();
    for suffix in FILES {
        match std::fs::rename(beside(path, suffix), beside(path, &format!(".aside-{when}{suffix}"))) {
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
    fn file_is_migrated_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.db");
        drop(open(&path).unwrap());
        let again = open(&path).unwrap();
        let version: u32 = again.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, 3);
    }

    /// Whether any file of the directory contains a text.
    fn holds(dir: &Path, text: &str) -> bool {
        let files = std::fs::read_dir(dir).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
        files.into_iter().any(|bytes| memchr::memmem::find(&bytes, text.as_bytes()).is_some())
    }

    #[test]
    fn migration_removes_values_of_variables() {
        let lived = tempfile::tempdir().unwrap();
        let old = Connection::open(lived.path().join("registry.db")).unwrap();
        old.pragma_update(None, "journal_mode", "WAL").unwrap();
        old.execute_batch(TABLES).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        for (name, value) in [("there", "value-of-one"), ("gone", "value-of-other")] {
            let stored = format!(
                r#"{{"version":1,"name":"{name}","created_at":"1970-01-01T00:00:00.007Z","isolation":"namespaces","limits":{{}},
                "env":{{"KEY":"{value}"}},"labels":{{"team":"a"}},"sleep_after_ms":null,"keep_alive":false,
                "ports":{{"80":{{"token":"{value}"}}}}}}"#
            );
            let sql = "INSERT INTO sandboxes (name, stored, state, used_ms) VALUES (?1, ?2, '\"stopped\"', 7)";
            old.execute(sql, [name, stored.as_str()]).unwrap();
        }
        old.execute("DELETE FROM sandboxes WHERE name = 'gone'", []).unwrap();
        // The files as a killed server leaves them, with the log.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.db");
        for suffix in ["", "-wal"] {
            let to = beside(&path, suffix);
            std::fs::copy(lived.path().join(format!("registry.db{suffix}")), &to).unwrap();
            std::fs::set_permissions(&to, PermissionsExt::from_mode(0o644)).unwrap();
        }
        drop(old);
        assert!(holds(dir.path(), "value-of-one") && holds(dir.path(), "value-of-other"));
        let connection = open(&path).unwrap();
        for value in ["value-of-one", "value-of-other"] {
            assert!(!holds(dir.path(), value), "{value}");
        }
        let stored: String = connection.query_row("SELECT stored FROM sandboxes", [], |row| row.get(0)).unwrap();
        assert!(stored.contains("team") && !stored.contains("KEY"), "{stored}");
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().mode() & 0o777, 0o600, "{:?}", entry.path());
        }
    }

    #[test]
    fn newer_and_damaged_files_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.db");
        open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let newer = open(&path).unwrap_err();
        assert!(matches!(newer, SchemaError::Newer { found: 99, .. }) && !is_broken(&newer));
        std::fs::write(&path, b"this is not a database, but it is long enough to be read as one").unwrap();
        assert!(is_broken(&open(&path).unwrap_err()));
        quarantine(&path).unwrap();
        assert!(open(&path).is_ok());
    }
}
