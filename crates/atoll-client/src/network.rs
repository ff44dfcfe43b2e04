//! Egress of a sandbox: its policy, its events and its secrets.

use atoll_protocol::{
    EgressEvent, EgressEventPage, Gap, NetworkInfo, NetworkPolicy, PutSecret, SecretInfo, SecretList,
};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::follow::{read, refused};
use crate::subscription::{AfterBreak, StreamRequest, Subscription};

impl Client {
    /// Returns the egress policy and totals.
    pub async fn network(&self) -> Result<NetworkInfo, Error> {
        self.get("/network", &[]).await
    }

    /// Replaces the egress policy.
    pub async fn set_network(&self, policy: &NetworkPolicy) -> Result<NetworkInfo, Error> {
        self.request(Method::PUT, "/network", &[])?.send_json(policy).await?.json().await
    }

    /// Returns a page of egress events from this cursor on.
    pub async fn egress_events(&self, since: u64, limit: Option<usize>) -> Result<EgressEventPage, Error> {
        let mut query = vec![("since", since.to_string())];
        query.extend(limit.map(|limit| ("limit", limit.to_string())));
        self.get("/egress/events", &query).await
    }

    /// Follows egress events, across reconnects.
    pub fn follow_egress(&self, since: u64) -> EgressFollow {
        let (method, path) = (Method::GET, "/egress/events".to_owned());
        let stream_request = StreamRequest { method, path, query: vec![("since", since.to_string())], body: None };
        EgressFollow { subscription: Subscription::new(self, stream_request, Some(since), AfterBreak::Resume) }
    }

    /// Lists secrets, without their values.
    pub async fn secrets(&self) -> Result<Vec<SecretInfo>, Error> {
        let list: SecretList = self.get("/secrets", &[]).await?;
        Ok(list.secrets)
    }

    /// Sets a secret that commands can use but not read.
    pub async fn put_secret(&self, name: &str, secret: &PutSecret) -> Result<SecretInfo, Error> {
        self.request(Method::PUT, &path_of(name)?, &[])?.send_json(secret).await?.json().await
    }

    /// Removes a secret.
    pub async fn remove_secret(&self, name: &str) -> Result<(), Error> {
        self.delete(&path_of(name)?, &[]).await.map(drop)
    }
}

/// Checks a name, because it becomes part of a path.
fn path_of(name: &str) -> Result<String, Error> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(Error::invalid(format!("`{}` is not a valid name of a secret", name.escape_debug())));
    }
    Ok(format!("/secrets/{name}"))
}

/// An event of followed egress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EgressFollowEvent {
    /// An egress event.
    Event(Box<EgressEvent>),
    /// Events at this position are no longer available.
    Gap(Gap),
}

/// Follows egress events. It reconnects by itself after a dropped connection.
#[derive(Debug)]
pub struct EgressFollow {
    subscription: Subscription,
}

impl EgressFollow {
    /// Returns the next event. Cancel safe: dropping the future loses no events.
    pub async fn next(&mut self) -> Result<EgressFollowEvent, Error> {
        loop {
            let event = self.subscription.next().await?;
            match event.name.as_str() {
                "egress" => {
                    let egress: EgressEvent = read(&event)?;
                    self.subscription.reached(egress.cursor + 1);
                    return Ok(EgressFollowEvent::Event(Box::new(egress)));
                }
                "gap" => {
                    let gap: Gap = read(&event)?;
                    self.subscription.reached(gap.to);
                    return Ok(EgressFollowEvent::Gap(gap));
                }
                "error" => return Err(refused(&event)),
                // A later server may send other events.
                _ => {}
            }
        }
    }
}
