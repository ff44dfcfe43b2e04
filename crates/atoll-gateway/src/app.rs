//! What every request works with.

use std::ops::Deref;
use std::sync::Arc;

use tokio::sync::watch;

use crate::auth::{Auth, Mode};
use crate::fleet::Fleet;
use crate::lease::Lease;
use crate::metrics::Metrics;
use crate::placement::Promise;
use crate::preview::Site;
use crate::registry::Registry;
use crate::routes::Origins;

/// Cheap to clone: that is done several times for each request.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Parts>);

/// Why a long-lived stream must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// The server is about to end.
    Draining,
    /// The credential that opened it was revoked or has expired.
    Revoked,
}

/// What it is made of. Nothing in it waits.
#[derive(Debug)]
pub(crate) struct Parts {
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

impl From<Parts> for App {
    fn from(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
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

    /// Returns when a long-lived stream must end, and why.
    pub(crate) fn closing(&self, lease: &Lease) -> Promise<'static, Closing> {
        let (drained, ended) = (self.drained(), lease.clone().ended());
        Box::pin(async move {
            tokio::select! {
                () = drained => Closing::Draining,
                () = ended => Closing::Revoked,
            }
        })
    }
}
