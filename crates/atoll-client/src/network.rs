//! The way out of a sandbox: its rules, what happened there, and its secrets.

use atoll_protocol::{
    EgressEvent, EgressEventPage, Gap, NetworkInfo, NetworkPolicy, PutSecret, SecretInfo, SecretList,
};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::follow::{read, refused};
use crate::subscription::{AfterBreak, Question, Subscription};

impl Client {
    /// What may be reached, and what has gone out.
    pub async fn network(&self) -> Result<NetworkInfo, Error> {
        self.get("/network", &[]).await
    }

    /// Says what may be reached from now on.
    pub async fn set_network(&self, policy: &NetworkPolicy) -> Result<NetworkInfo, Error> {
        self.request(Method::PUT, "/network", &[])?.send_json(policy).await?.json().await
    }

    /// What happened on the way out, from this cursor on.
    pub async fn egress_events(&self, since: u64, limit: Option<usize>) -> Result<EgressEventPage, Error> {
        let mut query = vec![("since", since.to_string())];
        query.extend(limit.map(|limit| ("limit", limit.to_string())));
        self.get("/egress/events", &query).await
    }

    /// The same as it happens, over however many connections that takes.
    pub fn follow_egress(&self, since: u64) -> EgressFollow {
        let (method, path) = (Method::GET, "/egress/events".to_owned());
        let question = Question { method, path, query: vec![("since", since.to_string())], body: None };
        EgressFollow { subscription: Subscription::new(self, question, Some(since), AfterBreak::Resume) }
    }

    /// Secrets, without their values.
    pub async fn secrets(&self) -> Result<Vec<SecretInfo>, Error> {
        let list: SecretList = self.get("/secrets", &[]).await?;
        Ok(list.secrets)
    }

    /// Gives commands a secret that they may use and not see.
    pub async fn put_secret(&self, name: &str, secret: &PutSecret) -> Result<SecretInfo, Error> {
        self.request(Method::PUT, &path_of(name)?, &[])?.send_json(secret).await?.json().await
    }

    /// Takes a secret away.
    pub async fn remove_secret(&self, name: &str) -> Result<(), Error> {
        self.delete(&path_of(name)?, &[]).await.map(drop)
    }
}

/// A name goes into a path, so it must be one.
fn path_of(name: &str) -> Result<String, Error> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(Error::invalid(format!("`{}` is no name for a secret", name.escape_debug())));
    }
    Ok(format!("/secrets/{name}"))
}

/// What a follower of the way out is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EgressNews {
    /// Something happened.
    Event(Box<EgressEvent>),
    /// What happened here is forgotten.
    Gap(Gap),
}

/// A follower of the way out.
#[derive(Debug)]
pub struct EgressFollow {
    subscription: Subscription,
}

impl EgressFollow {
    /// What comes next.
    pub async fn next(&mut self) -> Result<EgressNews, Error> {
        loop {
            let event = self.subscription.next().await?;
            match event.name.as_str() {
                "egress" => {
                    let told: EgressEvent = read(&event)?;
                    self.subscription.reached(told.cursor + 1);
                    return Ok(EgressNews::Event(Box::new(told)));
                }
                "gap" => {
                    let gap: Gap = read(&event)?;
                    self.subscription.reached(gap.to);
                    return Ok(EgressNews::Gap(gap));
                }
                "error" => return Err(refused(&event)),
                // Of a later version.
                _ => {}
            }
        }
    }
}
