//! The sandbox as a whole.

use atoll_protocol::SandboxInfo;

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Returns the state of the sandbox.
    pub async fn sandbox(&self) -> Result<SandboxInfo, Error> {
        self.get("/sandbox", &[]).await
    }

    /// Deletes the sandbox with all processes and files.
    pub async fn delete_sandbox(&self) -> Result<(), Error> {
        self.delete("/sandbox", &[]).await.map(drop)
    }
}
