//! The configuration of this server's previews, and their URLs.

use std::net::SocketAddr;

use atoll_protocol::{Preview, SandboxName};
use hyper::HeaderMap;
use hyper::header::HOST;

use super::address::{Domain, Label, PATH, bare_host};
use super::exposure::Exposure;
use super::link::Signer;

/// Where and how this server serves previews.
#[derive(Debug)]
pub(crate) struct PreviewConfig {
    pub(crate) domain: Domain,
    pub(crate) signer: Signer,
    /// The address of the preview listener; `None` if previews are not served.
    pub(crate) address: Option<SocketAddr>,
    /// `http` or `https`.
    pub(crate) scheme: &'static str,
}

impl PreviewConfig {
    /// Returns the URL with its own host name and the one below a path. `None` if previews are not served.
    pub(crate) fn urls(&self, label: &Label) -> Option<(String, String)> {
        let address = self.address?;
        let text = label.to_string();
        let own = format!("{}/", self.domain.origin(Some(&text), self.scheme, address.port()));
        let shared = self.domain.origin(None, self.scheme, address.port());
        Some((own, format!("{shared}{PATH}{text}/")))
    }

    /// Returns an exposed port as clients see it.
    pub(crate) fn preview(&self, name: &SandboxName, port: u16, exposure: &Exposure) -> Preview {
        let label = Label { port, name: name.clone(), token: exposure.token.clone() };
        let (url, path_url) = self.urls(&label).unzip();
        Preview {
            port,
            name: exposure.name.clone(),
            token: exposure.token.clone(),
            visibility: exposure.visibility,
            wake: exposure.wake,
            keep_prefix: exposure.keep_prefix,
            created_at: exposure.created_at,
            url,
            path_url,
        }
    }
}

/// Whether a request names a preview's host. The API must not respond to it.
pub(crate) fn is_preview_host(config: &PreviewConfig, headers: &HeaderMap, authority: Option<&str>) -> bool {
    let named = headers.get_all(HOST).iter().filter_map(|value| value.to_str().ok()).chain(authority);
    let mut hosts = named.filter_map(bare_host);
    hosts.any(|host| config.domain.label_of(&host).is_some_and(|label| Label::parse(label).is_some()))
}
