//! The state that every request handler shares.

use std::ops::Deref;
use std::sync::Arc;

use tokio::sync::watch;

use crate::auth::{Auth, Mode};
use crate::lease::Lease;
use crate::metrics::Metrics;
use crate::placement::BoxFuture;
use crate::preview::PreviewConfig;
use crate::registry::Registry;
use crate::routes::Origins;
use crate::sandboxes::Sandboxes;

/// Shared state of the request handlers. Cheap to clone, which happens several times per request.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Parts>);

/// Why a long-lived stream must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// The server is shutting down.
    Draining,
    /// The credential that opened it was revoked or has expired.
    Revoked,
}

/// The parts of [`App`]. None of them blocks.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) sandboxes: Sandboxes,
    pub(crate) auth: Arc<Auth>,
    pub(crate) mode: Mode,
    pub(crate) registry: Registry,
    pub(crate) metrics: Arc<Metrics>,
    /// The configuration of previews.
    pub(crate) preview: Arc<PreviewConfig>,
    pub(crate) json_max: usize,
    /// Origins whose pages may use the API.
    pub(crate) origins: Origins,
    /// The OpenAPI document, as JSON.
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
    /// Whether the server is shutting down.
    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Returns when the server is shutting down.
    pub(crate) fn drained(&self) -> BoxFuture<'static, ()> {
        let mut draining = self.draining.clone();
        // A closed channel means that the server has gone, so it has drained.
        Box::pin(async move { drop(draining.wait_for(|draining| *draining).await) })
    }

    /// Returns when a long-lived stream must end, and why.
    pub(crate) fn closing(&self, lease: &Lease) -> BoxFuture<'static, Closing> {
        let (drained, ended) = (self.drained(), lease.clone().ended());
        Box::pin(async move {
            tokio::select! {
                () = drained => Closing::Draining,
                () = ended => Closing::Revoked,
            }
        })
    }
}
