//! Watches whether the exposure of a port changes during a request.

use std::sync::Arc;

use atoll_protocol::Visibility;
use tokio::sync::watch;

use super::exposure::{Exposure, Exposures};

/// A port with this token and visibility. Connections through it end when either changes.
#[derive(Debug, Clone)]
pub(crate) struct ExposureWatch {
    exposed: watch::Receiver<Arc<Exposures>>,
    port: u16,
    token: String,
    visibility: Visibility,
}

impl ExposureWatch {
    pub(super) fn new(exposed: watch::Receiver<Arc<Exposures>>, port: u16, exposure: &Exposure) -> Self {
        Self { exposed, port, token: exposure.token.clone(), visibility: exposure.visibility }
    }

    /// Whether the port is still exposed this way.
    pub(crate) fn holds(&self) -> bool {
        self.exposed.has_changed().is_ok() && self.is_in(&self.exposed.borrow())
    }

    fn is_in(&self, exposed: &Exposures) -> bool {
        exposed.get(&self.port).is_some_and(|now| now.token == self.token && now.visibility == self.visibility)
    }

    /// Returns when it changes. A deleted sandbox exposes nothing.
    pub(crate) async fn ended(self) {
        let mut exposed = self.exposed.clone();
        // A closed channel means that the sandbox was deleted.
        drop(exposed.wait_for(|now| !self.is_in(now)).await);
    }
}

#[cfg(test)]
mod tests {
    use atoll_protocol::{ExposePort, SandboxName, Timestamp};

    use super::*;
    use crate::preview::{expose, rotate};

    #[tokio::test]
    async fn changed_token_or_visibility_ends_the_watch() {
        let (name, now) = (SandboxName::new("box").unwrap(), Timestamp::from_millis(7));
        let mut ports = Exposures::new();
        expose(&mut ports, &name, 80, ExposePort::default(), now).unwrap();
        let (sender, exposed) = watch::channel(Arc::new(ports.clone()));
        let shown = ExposureWatch::new(exposed.clone(), 80, &ports[&80]);
        expose(&mut ports, &name, 81, ExposePort::default(), now).unwrap();
        sender.send_replace(Arc::new(ports.clone()));
        assert!(shown.holds(), "another port changed");
        let closed = ExposePort { visibility: Some(Visibility::Private), ..ExposePort::default() };
        expose(&mut ports, &name, 80, closed, now).unwrap();
        sender.send_replace(Arc::new(ports.clone()));
        assert!(!shown.holds());
        shown.ended().await;
        let shown = ExposureWatch::new(exposed.clone(), 80, &ports[&80]);
        rotate(&mut ports, &name, 80, now).unwrap();
        sender.send_replace(Arc::new(ports.clone()));
        shown.ended().await;
        let shown = ExposureWatch::new(exposed, 80, &ports[&80]);
        drop(sender);
        assert!(!shown.holds());
        shown.ended().await;
    }
}
