//! Watches: changes in a directory tree, followed across reconnects.

use std::time::Duration;

use atoll_protocol::{WatchEvent, WatchId, WatchInfo, WatchList, WatchPage, WatchRequest};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::follow::{read, refused};
use crate::subscription::{AfterBreak, StreamRequest, Subscription};

/// Follows the events of a watch. It reconnects by itself after a dropped connection.
#[derive(Debug)]
pub struct Watching {
    subscription: Subscription,
    over: bool,
}

impl Client {
    /// Creates a watch. Every change after this returns is reported.
    pub async fn watch(&self, request: &WatchRequest) -> Result<WatchInfo, Error> {
        self.post("/watches", request).await
    }

    /// Lists watches, oldest first.
    pub async fn watches(&self) -> Result<Vec<WatchInfo>, Error> {
        let list: WatchList = self.get("/watches", &[]).await?;
        Ok(list.watches)
    }

    /// Returns the watch with this id.
    pub async fn find_watch(&self, id: &WatchId) -> Result<WatchInfo, Error> {
        self.get(&format!("/watches/{id}"), &[]).await
    }

    /// Deletes a watch.
    pub async fn delete_watch(&self, id: &WatchId) -> Result<(), Error> {
        self.delete(&format!("/watches/{id}"), &[]).await.map(drop)
    }

    /// Returns the changes since a cursor, waiting up to this time if there are none yet.
    pub async fn changes(&self, id: &WatchId, since: u64, wait: Option<Duration>) -> Result<WatchPage, Error> {
        let mut query = vec![("since", since.to_string())];
        query.extend(wait.map(|wait| ("wait_ms", wait.as_millis().to_string())));
        self.get(&format!("/watches/{id}/events"), &query).await
    }

    /// Follows the changes from a cursor on.
    pub fn watching(&self, id: &WatchId, since: u64) -> Watching {
        let path = format!("/watches/{id}/events");
        let stream_request = StreamRequest { method: Method::GET, path, query: Vec::new(), body: None };
        Watching { subscription: Subscription::new(self, stream_request, Some(since), AfterBreak::Resume), over: false }
    }
}

impl Watching {
    /// Returns the cursor of the next event.
    pub fn cursor(&self) -> u64 {
        self.subscription.cursor().unwrap_or(0)
    }

    /// Returns the next event, or `None` after the last one. Cancel safe: dropping the future loses no events.
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
                // A later server may send other events.
                _ => {}
            }
        }
        Ok(None)
    }
}
