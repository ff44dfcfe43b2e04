//! The registry: what is known of sandboxes, tokens and idempotency keys, in one SQLite file.
//!
//! One thread owns the connection; everybody else sends it work and waits for the answer. What matters of sandboxes is
//! on disk beside their files too (`disk.rs`), so a registry that is lost is made again at the next start. It decides
//! nothing and starts nothing.

mod disk;
mod keys;
mod sandboxes;
mod schema;
mod tokens;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

pub(crate) use disk::{Disk, Stored};
pub(crate) use keys::Claimed;
pub(crate) use sandboxes::{Kept, Listed, Row};
pub(crate) use tokens::TokenRow;

use crate::Error;

/// Work that may wait for the thread. Beyond it, whoever asks waits for a place.
const WAITING: usize = 1024;

/// Delay between the removal of a row and the truncation of the log: one truncation for many rows, and not while a create
/// waits for the registry.
const TRUNCATED_AFTER: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// Handle on the registry. The thread ends with the last one.
#[derive(Debug, Clone)]
pub(crate) struct Registry {
    jobs: mpsc::Sender<Job>,
    /// Whether a truncation of the log is scheduled.
    truncates: Arc<AtomicBool>,
}

impl Registry {
    /// Opens or makes the file. One that cannot be read is put aside, not overwritten.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let connection = schema::open(path).or_else(|error| {
            // A disk that is full or read-only today is no reason to part with what the file holds.
            if !schema::is_broken(&error) {
                return Err(error);
            }
            tracing::warn!(%error, "the registry cannot be used and is put aside; a new one is made from disk");
            schema::put_aside(path)?;
            schema::open(path)
        });
        let mut connection = connection.map_err(|error| match error {
            schema::SchemaError::Sqlite(error) => Error::registry("open the registry", &error),
            schema::SchemaError::Io(error) => Error::io("open the registry", &error),
            error @ (schema::SchemaError::Damaged(_) | schema::SchemaError::Newer { .. }) => {
                Error::internal("open the registry", error)
            }
        })?;
        let (jobs, mut waiting) = mpsc::channel::<Job>(WAITING);
        let work = move || {
            while let Some(job) = waiting.blocking_recv() {
                job(&mut connection);
            }
        };
        std::thread::Builder::new()
            .name("registry".to_owned())
            .spawn(work)
            .map_err(|error| Error::internal("start the registry", error))?;
        Ok(Self { jobs, truncates: Arc::default() })
    }

    /// Schedules a checkpoint that empties the write-ahead log. Otherwise a removed row stays in it until SQLite's own
    /// checkpoint, after 1000 pages.
    fn truncate_log_soon(&self) {
        if self.truncates.swap(true, Ordering::Relaxed) {
            return;
        }
        let registry = self.clone();
        tokio::spawn(async move {
            sleep(TRUNCATED_AFTER).await;
            registry.truncates.store(false, Ordering::Relaxed);
            if let Err(error) = registry.call("truncate the registry's log", schema::truncate_log).await {
                tracing::warn!(%error, "the registry's log may still contain removed rows");
            }
        });
    }

    /// Has the thread do something, and waits for what comes of it.
    async fn call<T: Send + 'static>(
        &self,
        what: &'static str,
        act: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let (tell, told) = oneshot::channel();
        // Whoever asked may have gone away meanwhile.
        let job: Job = Box::new(move |connection| drop(tell.send(act(connection))));
        let gone = || Error::internal(what, "the registry is gone");
        self.jobs.send(job).await.map_err(|_| gone())?;
        told.await.map_err(|_| gone())?.map_err(|error| Error::registry(what, &error))
    }

    /// Whether it answers.
    pub(crate) async fn check(&self) -> Result<(), Error> {
        self.call("ask the registry", |connection| connection.query_row("SELECT 1", [], |_| Ok(()))).await
    }
}
