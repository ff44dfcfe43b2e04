//! Exposes ports. Changes are on disk before they are published.

use std::sync::Arc;

use atoll_protocol::ExposePort;

use super::{Actor, State};
use crate::preview::{self, Exposure, Exposures};
use crate::registry::Stored;
use crate::{Error, clock};

impl Actor {
    pub(super) async fn expose(&mut self, port: u16, requested: ExposePort) -> Result<(Exposure, bool), Error> {
        let mut exposed = self.exposures()?;
        let is_new = preview::expose(&mut exposed, &self.name, port, requested, clock::now())?;
        Ok((self.keep(port, exposed).await?, is_new))
    }

    pub(super) async fn rotate(&mut self, port: u16) -> Result<Exposure, Error> {
        let mut exposed = self.exposures()?;
        preview::rotate(&mut exposed, &self.name, port, clock::now())?;
        self.keep(port, exposed).await
    }

    /// Succeeds also if the port is not exposed.
    pub(super) async fn unexpose(&mut self, port: u16) -> Result<(), Error> {
        let mut exposed = self.exposures()?;
        if exposed.remove(&port).is_none() {
            return Ok(());
        }
        // Takes effect at once, even if the disk fails.
        self.exposed.send_replace(Arc::new(exposed.clone()));
        self.write(exposed).await
    }

    fn exposures(&self) -> Result<Exposures, Error> {
        let State::Present { stored, .. } = &self.state else { return Err(self.absent()) };
        Ok(stored.ports.clone())
    }

    async fn keep(&mut self, port: u16, exposed: Exposures) -> Result<Exposure, Error> {
        let kept = exposed.get(&port).cloned().ok_or(Error::PortNotExposed { port })?;
        self.write(exposed).await?;
        Ok(kept)
    }

    async fn write(&mut self, exposed: Exposures) -> Result<(), Error> {
        let State::Present { stored, .. } = &mut self.state else { return Err(self.absent()) };
        let changed = Stored { ports: exposed, ..Stored::clone(stored) };
        self.services().disk.write(&changed).map_err(|error| Error::internal("write the sandbox's options", error))?;
        if let State::Present { stored, .. } = &mut self.state {
            **stored = changed;
        }
        self.publish();
        self.save_row().await
    }
}
