//! A server of many sandboxes: its sandboxes and its tokens.

use std::collections::BTreeMap;

use atoll_protocol::{
    CreateSandbox, CreateToken, NewToken, PatchSandbox, SandboxList, SandboxName, SandboxRecord, TokenList,
};
use http::{HeaderValue, Method};
use serde_json::json;

use crate::client::{Client, empty};
use crate::error::Error;

impl Client {
    /// Sets the token to send.
    pub fn with_token(mut self, token: &str) -> Result<Self, Error> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| Error::invalid("the token has characters that are not allowed in a header"))?;
        value.set_sensitive(true);
        self.set_token(value);
        Ok(self)
    }

    /// Returns a client of a sandbox of this server: for commands, processes, terminals and files.
    #[must_use]
    pub fn inside(&self, name: &SandboxName) -> Self {
        self.clone().below(format!("/v1/sandboxes/{name}"))
    }

    /// Gets or creates a sandbox.
    pub async fn create_sandbox(&self, request: &CreateSandbox) -> Result<SandboxRecord, Error> {
        self.post("/sandboxes", request).await
    }

    /// Returns a sandbox of the server. Does not start it.
    pub async fn find_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.get(&format!("/sandboxes/{name}"), &[]).await
    }

    /// Lists sandboxes after `after` that have all the labels, sorted by name.
    pub async fn list_sandboxes(
        &self,
        labels: &BTreeMap<String, String>,
        after: Option<&SandboxName>,
    ) -> Result<SandboxList, Error> {
        let mut query: Vec<(&str, String)> =
            labels.iter().map(|(name, value)| ("label", format!("{name}={value}"))).collect();
        query.extend(after.map(|name| ("after", name.to_string())));
        self.get("/sandboxes", &query).await
    }

    /// Changes a sandbox's labels and idle timeout.
    pub async fn change_sandbox(&self, name: &SandboxName, change: &PatchSandbox) -> Result<SandboxRecord, Error> {
        let builder = self.request(Method::PATCH, &format!("/sandboxes/{name}"), &[])?;
        builder.send_json(change).await?.json().await
    }

    /// Starts a stopped sandbox.
    pub async fn start_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.post(&format!("/sandboxes/{name}/start"), &json!({})).await
    }

    /// Stops a sandbox: kills its processes and keeps its files.
    pub async fn stop_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.post(&format!("/sandboxes/{name}/stop"), &json!({})).await
    }

    /// Freezes all processes of a sandbox.
    pub async fn pause_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.post(&format!("/sandboxes/{name}/pause"), &json!({})).await
    }

    /// Resumes a paused sandbox.
    pub async fn resume_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.post(&format!("/sandboxes/{name}/resume"), &json!({})).await
    }

    /// Deletes a sandbox with all its files.
    pub async fn remove_sandbox(&self, name: &SandboxName) -> Result<(), Error> {
        let builder = self.request(Method::DELETE, &format!("/sandboxes/{name}"), &[])?;
        builder.send(empty()).await.map(drop)
    }

    /// Creates a token.
    pub async fn create_token(&self, request: &CreateToken) -> Result<NewToken, Error> {
        self.post("/tokens", request).await
    }

    /// Lists all tokens, without their secrets.
    pub async fn tokens(&self) -> Result<TokenList, Error> {
        self.get("/tokens", &[]).await
    }

    /// Revokes a token.
    pub async fn revoke_token(&self, id: &str) -> Result<(), Error> {
        self.delete(&format!("/tokens/{id}"), &[]).await.map(drop)
    }
}
