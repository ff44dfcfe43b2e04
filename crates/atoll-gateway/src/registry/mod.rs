//! The registry: sandboxes, tokens and idempotency keys in one SQLite file.
//!
//! One thread owns the connection; all others send it jobs and wait for the results. The options of sandboxes are also
//! on disk beside their files (`disk.rs`), so a lost registry is rebuilt at the next start. The registry only stores;
//! it makes no decisions.

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
pub(crate) use sandboxes::{Listed, Row, SandboxStatus};
pub(crate) use tokens::TokenRow;

use crate::Error;

/// Jobs that can be queued for the thread. Further callers wait.
const QUEUE_MAX: usize = 1024;

/// Delay between the removal of a row and the truncation of the log: one truncation for many rows, and not while a create
/// waits for the registry.
const TRUNCATED_AFTER: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// A handle on the registry. The thread ends with the last one.
#[derive(Debug, Clone)]
pub(crate) struct Registry {
    jobs: mpsc::Sender<Job>,
    /// Whether a truncation of the log is scheduled.
    truncates: Arc<AtomicBool>,
}

impl Registry {
    /// Opens or creates the file. A damaged one is quarantined, not overwritten.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let connection = schema::open(path).or_else(|error| {
            // A full or read-only disk is no reason to discard an intact file.
            if !schema::is_broken(&error) {
                return Err(error);
            }
            tracing::warn!(%error, "the registry is unusable and was moved aside; rebuilding it from disk");
            schema::quarantine(path)?;
            schema::open(path)
        });
        let mut connection = connection.map_err(|error| match error {
            schema::SchemaError::Sqlite(error) => Error::registry("open the registry", &error),
            schema::SchemaError::Io(error) => Error::io("open the registry", &error),
            error @ (schema::SchemaError::Damaged(_) | schema::SchemaError::Newer { .. }) => {
                Error::internal("open the registry", error)
            }
        })?;
        let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE_MAX);
        let work = move || {
            while let Some(job) = queue.blocking_recv() {
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

    /// Runs a job on the registry's thread and waits for its result.
    async fn call<T: Send + 'static>(
        &self,
        what: &'static str,
        act: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, result) = oneshot::channel();
        // The caller may have gone.
        let job: Job = Box::new(move |connection| drop(reply.send(act(connection))));
        let gone = || Error::internal(what, "the registry thread has ended");
        self.jobs.send(job).await.map_err(|_| gone())?;
        result.await.map_err(|_| gone())?.map_err(|error| Error::registry(what, &error))
    }

    /// Checks whether the registry responds.
    pub(crate) async fn check(&self) -> Result<(), Error> {
        self.call("query the registry", |connection| connection.query_row("SELECT 1", [], |_| Ok(()))).await
    }
}
