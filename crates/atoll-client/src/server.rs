//! A server of many sandboxes: getting, listing and ending them, and the tokens by which others may.

use std::collections::BTreeMap;

use atoll_protocol::{
    CreateSandbox, CreateToken, NewToken, PatchSandbox, SandboxList, SandboxName, SandboxRecord, TokenList,
};
use http::{HeaderValue, Method};
use serde_json::json;

use crate::client::{Client, empty};
use crate::error::Error;

impl Client {
    /// Asks with this token from now on.
    pub fn with_token(mut self, token: &str) -> Result<Self, Error> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| Error::invalid("the token has characters that cannot be sent"))?;
        value.set_sensitive(true);
        self.set_token(value);
        Ok(self)
    }

    /// What is inside a sandbox of this server: commands, processes, terminals.
    #[must_use]
    pub fn inside(&self, name: &SandboxName) -> Self {
        self.clone().below(format!("/v1/sandboxes/{name}"))
    }

    /// Gets or creates a sandbox.
    pub async fn create_sandbox(&self, asked: &CreateSandbox) -> Result<SandboxRecord, Error> {
        self.post("/sandboxes", asked).await
    }

    /// One sandbox of the server. Starts none.
    pub async fn find_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.get(&format!("/sandboxes/{name}"), &[]).await
    }

    /// Sandboxes behind `after`, by name, that have all the labels.
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

    /// Changes a sandbox's labels and idle clock.
    pub async fn change_sandbox(&self, name: &SandboxName, change: &PatchSandbox) -> Result<SandboxRecord, Error> {
        let ask = self.request(Method::PATCH, &format!("/sandboxes/{name}"), &[])?;
        ask.send_json(change).await?.json().await
    }

    /// Starts a sandbox that is stopped.
    pub async fn start_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.post(&format!("/sandboxes/{name}/start"), &json!({})).await
    }

    /// Ends what runs in a sandbox; its files stay.
    pub async fn stop_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.post(&format!("/sandboxes/{name}/stop"), &json!({})).await
    }

    /// Stops everything in a sandbox where it stands.
    pub async fn pause_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.post(&format!("/sandboxes/{name}/pause"), &json!({})).await
    }

    /// Lets a paused sandbox go on.
    pub async fn resume_sandbox(&self, name: &SandboxName) -> Result<SandboxRecord, Error> {
        self.post(&format!("/sandboxes/{name}/resume"), &json!({})).await
    }

    /// Removes a sandbox and everything of it.
    pub async fn remove_sandbox(&self, name: &SandboxName) -> Result<(), Error> {
        let ask = self.request(Method::DELETE, &format!("/sandboxes/{name}"), &[])?;
        ask.send(empty()).await.map(drop)
    }

    /// Makes a token.
    pub async fn create_token(&self, asked: &CreateToken) -> Result<NewToken, Error> {
        self.post("/tokens", asked).await
    }

    /// Every token, without its secret.
    pub async fn tokens(&self) -> Result<TokenList, Error> {
        self.get("/tokens", &[]).await
    }

    /// Ends a token.
    pub async fn revoke_token(&self, id: &str) -> Result<(), Error> {
        self.delete(&format!("/tokens/{id}"), &[]).await.map(drop)
    }
}
