//! Watches: what happens in a tree, over however many connections that takes.

use std::time::Duration;

use atoll_protocol::{WatchEvent, WatchId, WatchInfo, WatchList, WatchPage, WatchRequest};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::follow::{read, refused};
use crate::subscription::{AfterBreak, Question, Subscription};

/// What happens, as it happens. A dropped connection is not noticed but for the time that it takes to come back.
#[derive(Debug)]
pub struct Watching {
    subscription: Subscription,
    over: bool,
}

impl Client {
    /// Watches a directory. Whatever happens once this returns is told.
    pub async fn watch(&self, request: &WatchRequest) -> Result<WatchInfo, Error> {
        self.post("/watches", request).await
    }

    /// Watches, oldest first.
    pub async fn watches(&self) -> Result<Vec<WatchInfo>, Error> {
        let list: WatchList = self.get("/watches", &[]).await?;
        Ok(list.watches)
    }

    /// The watch with this id.
    pub async fn find_watch(&self, id: &WatchId) -> Result<WatchInfo, Error> {
        self.get(&format!("/watches/{id}"), &[]).await
    }

    /// Ends a watch.
    pub async fn delete_watch(&self, id: &WatchId) -> Result<(), Error> {
        self.delete(&format!("/watches/{id}"), &[]).await.map(drop)
    }

    /// What happened since a cursor, waited for so long if it is nothing yet.
    pub async fn changes(&self, id: &WatchId, since: u64, wait: Option<Duration>) -> Result<WatchPage, Error> {
        let mut query = vec![("since", since.to_string())];
        query.extend(wait.map(|wait| ("wait_ms", wait.as_millis().to_string())));
        self.get(&format!("/watches/{id}/events"), &query).await
    }

    /// What happens from a cursor on.
    pub fn watching(&self, id: &WatchId, since: u64) -> Watching {
        let path = format!("/watches/{id}/events");
        let question = Question { method: Method::GET, path, query: Vec::new(), body: None };
        Watching { subscription: Subscription::new(self, question, Some(since), AfterBreak::Resume), over: false }
    }
}

impl Watching {
    /// The cursor of the next event.
    pub fn cursor(&self) -> u64 {
        self.subscription.cursor().unwrap_or(0)
    }

    /// The next event; `None` after the last. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<WatchEvent>, Error> {
        while !self.over {
            let event = self.subscription.next().await?;
            match event.name.as_str() {
                "change" => {
                    let change: WatchEvent = read(&event)?;
                    if change.cursor >= self.cursor() {
                        self.subscription.reached(change.cursor + 1);
                        return Ok(Some(change));
                    }
                }
                "end" => self.over = true,
                "error" => return Err(refused(&event)),
                // A later server may tell more.
                _ => {}
            }
        }
        Ok(None)
    }
}
