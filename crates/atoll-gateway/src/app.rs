//! What every request works with.

use std::sync::Arc;

use tokio::sync::watch;

use crate::auth::{Auth, Mode};
use crate::fleet::Fleet;
use crate::metrics::Metrics;
use crate::placement::Promise;
use crate::preview::Site;
use crate::registry::Registry;
use crate::routes::Origins;

/// Cheap to clone. Nothing in it waits.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) fleet: Fleet,
    pub(crate) auth: Arc<Auth>,
    pub(crate) mode: Mode,
    pub(crate) registry: Registry,
    pub(crate) metrics: Arc<Metrics>,
    /// Where previews are.
    pub(crate) preview: Arc<Site>,
    pub(crate) json_max: usize,
    /// Whose pages may use the API.
    pub(crate) origins: Origins,
    /// The OpenAPI document.
    pub(crate) document: &'static str,
    pub(crate) draining: watch::Receiver<bool>,
}

impl App {
    /// Whether the server is about to end.
    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Returns when the server is about to end.
    pub(crate) fn drained(&self) -> Promise<'static, ()> {
        let mut draining = self.draining.clone();
        // A server that is gone has drained.
        Box::pin(async move { drop(draining.wait_for(|draining| *draining).await) })
    }
}
