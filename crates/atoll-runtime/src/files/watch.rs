//! Watches: a worker tells what happens in a tree; here it is numbered and kept for a while, for readers that come and
//! go. One task each takes what is told; nobody who reads slows it. A watch that nobody reads ends by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use atoll_files::ask::{Ask, Told};
use atoll_files::watch::{Change, Event, Log, TooOld};
use atoll_protocol::{ErrorBody, Timestamp, WatchId};
use tokio::sync::watch;
use tokio::time::Instant;

pub use atoll_files::watch::{Change as WatchChange, Event as WatchEvent, Watch as WatchOptions};

use super::Files;
use super::call::{Call, Frame, lost};
use crate::Error;

/// How many events are retained, and how many bytes they may take. A sandbox chooses both, and the agent that retains them
/// is outside of the sandbox's memory limit.
const KEPT_EVENTS: usize = 65_536;
const KEPT_BYTES: usize = 4 * 1024 * 1024;

/// How many watches a sandbox may have. Each is a thread inside, and up to 4 MiB here.
const WATCHES: usize = 32;

/// How long a watch may go unread.
const UNREAD: Duration = Duration::from_secs(600);

/// The watches of a sandbox, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Watches(Mutex<Vec<Watch>>);

/// A watch. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Watch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: WatchId,
    path: Vec<u8>,
    created_at: Timestamp,
    state: Mutex<State>,
    /// Changes with every event, and with the end.
    news: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    log: Log,
    end: Option<End>,
    read_at: Instant,
    task: Option<tokio::task::AbortHandle>,
}

/// How a watch ended.
#[derive(Debug, Clone)]
enum End {
    /// The directory is gone.
    Gone,
    Failed(Box<ErrorBody>),
}

/// What happened since a cursor.
#[derive(Debug, Clone)]
pub struct WatchRead {
    /// With their cursors.
    pub events: Vec<(u64, Event)>,
    /// Where to go on.
    pub next_cursor: u64,
    /// Nothing follows what is told here.
    pub ended: bool,
    /// Why it failed.
    pub error: Option<ErrorBody>,
}

impl Watches {
    fn all(&self) -> MutexGuard<'_, Vec<Watch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn list(&self) -> Vec<Watch> {
        self.all().clone()
    }

    pub(crate) fn get(&self, id: &WatchId) -> Result<Watch, Error> {
        let found = self.all().iter().find(|watch| watch.id() == id).cloned();
        found.ok_or_else(|| Error::WatchNotFound { id: id.to_string() })
    }

    /// Takes one out, and ends it.
    pub(crate) fn remove(&self, id: &WatchId) -> Result<(), Error> {
        let watch = self.get(id)?;
        self.all().retain(|other| !Arc::ptr_eq(&other.0, &watch.0));
        watch.end(None);
        Ok(())
    }

    fn add(&self, watch: &Watch) -> Result<(), Error> {
        let mut all = self.all();
        // What is over makes room; its last words were there to be read.
        if all.len() >= WATCHES
            && let Some(over) = all.iter().position(|watch| watch.state().end.is_some())
        {
            all.remove(over);
        }
        if all.iter().any(|other| other.id() == watch.id()) {
            return Err(Error::WatchAlreadyExists { id: watch.id().to_string() });
        }
        if all.len() >= WATCHES {
            return Err(Error::WatchLimit { max: WATCHES });
        }
        all.push(watch.clone());
        Ok(())
    }
}

impl Files {
    /// Watches a directory. Returns when it is watched: whatever happens afterwards is told.
    pub async fn watch(&self, id: Option<WatchId>, path: &[u8], options: WatchOptions) -> Result<Watch, Error> {
        let absolute = self.path(path)?;
        let id = match id {
            Some(id) => id,
            None => WatchId::new(format!("w{}", self.shared.next_number()))
                .map_err(|error| Error::invalid(error.to_string()))?,
        };
        let state = State { log: Log::new(KEPT_EVENTS, KEPT_BYTES), end: None, read_at: Instant::now(), task: None };
        let watch = Watch(Arc::new(Inner {
            id,
            path: absolute.clone(),
            created_at: SystemTime::now().into(),
            state: Mutex::new(state),
            news: watch::Sender::new(()),
        }));
        self.shared.watches.add(&watch)?;
        let begun = self.begin(&watch, &Ask::Watch { path: absolute, watch: options }).await;
        if begun.is_err() {
            self.shared.watches.remove(watch.id()).ok();
        }
        begun.map(|()| watch)
    }

    async fn begin(&self, watch: &Watch, ask: &Ask) -> Result<(), Error> {
        let mut call = self.call(ask).await?;
        loop {
            if watch.take(call.next().await?)? {
                break;
            }
        }
        let (watch, shared) = (watch.clone(), Arc::downgrade(&self.shared));
        let handle = watch.clone();
        let task = tokio::spawn(async move {
            watch.follow(call).await;
            if watch.is_unread()
                && let Some(shared) = shared.upgrade()
            {
                shared.watches.remove(watch.id()).ok();
            }
        });
        handle.state().task = Some(task.abort_handle());
        Ok(())
    }
}

impl Watch {
    /// Its id.
    pub fn id(&self) -> &WatchId {
        &self.0.id
    }

    /// The directory.
    pub fn path(&self) -> &[u8] {
        &self.0.path
    }

    /// When it began.
    pub fn created_at(&self) -> Timestamp {
        self.0.created_at
    }

    /// The cursor of the next event, whether none will follow, and why.
    pub fn progress(&self) -> (u64, bool, Option<ErrorBody>) {
        let state = self.state();
        (state.log.next(), state.end.is_some(), state.error())
    }

    /// What happened since a cursor, waited for if it is nothing yet.
    pub async fn read(&self, since: u64, limit: usize, wait: Option<Duration>) -> Result<WatchRead, Error> {
        let mut news = self.0.news.subscribe();
        let deadline = Instant::now() + wait.unwrap_or_default();
        loop {
            news.borrow_and_update();
            let read = self.state().read(since, limit)?;
            if !read.events.is_empty() || read.ended || wait.is_none() {
                return Ok(read);
            }
            match tokio::time::timeout_at(deadline, news.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return Ok(read),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the worker says. True when all that was there has been told.
    fn take(&self, frame: Frame) -> Result<bool, Error> {
        match frame {
            Frame::Told(Told::Happened { event }) => {
                let (settled, gone) = (event.change == Change::Settled, event.change == Change::Gone);
                let mut state = self.state();
                state.log.push(event);
                if gone {
                    state.end = Some(End::Gone);
                }
                drop(state);
                self.0.news.send_replace(());
                Ok(settled)
            }
            Frame::End => {
                self.end(Some(End::Gone));
                Ok(true)
            }
            Frame::Told(_) | Frame::Data(_) => Err(lost()),
        }
    }

    async fn follow(&self, mut call: Call) {
        loop {
            let unread = self.state().read_at + UNREAD;
            let told = tokio::select! {
                told = call.next() => told,
                () = tokio::time::sleep_until(unread) => {
                    if self.is_unread() {
                        return;
                    }
                    continue;
                }
            };
            if let Err(error) = told.and_then(|frame| self.take(frame)) {
                return self.end(Some(End::Failed(Box::new(error.body()))));
            }
            if self.state().end.is_some() {
                return;
            }
        }
    }

    fn is_unread(&self) -> bool {
        self.state().read_at + UNREAD <= Instant::now()
    }

    fn end(&self, end: Option<End>) {
        let mut state = self.state();
        let end = end.unwrap_or(End::Gone);
        state.end.get_or_insert(end);
        if let Some(task) = state.task.take() {
            task.abort();
        }
        drop(state);
        self.0.news.send_replace(());
    }
}

impl State {
    fn read(&mut self, since: u64, limit: usize) -> Result<WatchRead, Error> {
        self.read_at = Instant::now();
        let told = self.log.since(since, limit);
        let told = told.map_err(|TooOld { oldest }| Error::CursorTooOld { cursor: since, oldest })?;
        let events: Vec<_> = told.map(|(cursor, event)| (cursor, event.clone())).collect();
        let next_cursor = events.last().map_or(since, |(cursor, _)| cursor + 1);
        let ended = self.end.is_some() && next_cursor >= self.log.next();
        Ok(WatchRead { events, next_cursor, ended, error: self.error().filter(|_| ended) })
    }

    fn error(&self) -> Option<ErrorBody> {
        match &self.end {
            Some(End::Failed(body)) => Some((**body).clone()),
            Some(End::Gone) | None => None,
        }
    }
}
