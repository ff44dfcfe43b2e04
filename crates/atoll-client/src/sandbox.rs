//! The sandbox as a whole.

use atoll_protocol::SandboxInfo;

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// The sandbox.
    pub async fn sandbox(&self) -> Result<SandboxInfo, Error> {
        self.get("/sandbox", &[]).await
    }

    /// Ends everything in it and removes everything of it.
    pub async fn delete_sandbox(&self) -> Result<(), Error> {
        self.delete("/sandbox", &[]).await.map(drop)
    }
}
