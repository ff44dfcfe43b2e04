//! Ports on which something listens, and URLs by which people see it.

use std::collections::BTreeMap;

use atoll_protocol::{ErrorCode, ExposePort, LinkRequest, Preview, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::tool::{Nature, Told, Tool};
use crate::trouble::Trouble;

pub(crate) struct ListPorts;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

impl Tool for ListPorts {
    const NAME: &'static str = "list_ports";
    const TITLE: &'static str = "List ports";
    const ABOUT: &'static str = "Show on which ports something listens inside the sandbox, what it is, and the URL of each \
        that was exposed with preview_url.";
    const NATURE: Nature = Nature::Looks;
    type Input = Nothing;
    type Output = Ports;

    async fn run(_: Nothing, call: &mut Call) -> Result<Ports, Trouble> {
        let inside = call.inside().await?;
        let listening = inside.ports().await?.ports;
        let exposed = match call.guest.server().previews(call.guest.name()).await {
            Ok(list) => list.previews,
            // A token may be good for looking, and not for ways in.
            Err(error) if error.code() == Some(ErrorCode::Forbidden) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let mut urls: BTreeMap<u16, String> =
            exposed.into_iter().filter_map(|preview| Some((preview.port, preview.url?))).collect();
        let mut ports: Vec<Port> = listening
            .into_iter()
            .map(|port| Port {
                preview_url: urls.remove(&port.port),
                port: port.port,
                listens: true,
                addresses: port.addresses,
                command: port.command,
                process: port.process.map(|id| id.to_string()),
            })
            .collect();
        let idle = |(port, url)| Port {
            port,
            listens: false,
            addresses: Vec::new(),
            command: None,
            process: None,
            preview_url: Some(url),
        };
        ports.extend(urls.into_iter().map(idle));
        Ok(Ports { ports })
    }
}

/// Ports.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ports {
    /// Those that are listened on, then those that are only exposed.
    ports: Vec<Port>,
}

/// A port.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Port {
    /// Its number.
    port: u16,
    /// Whether something listens.
    listens: bool,
    /// Addresses inside that it is bound to.
    addresses: Vec<String>,
    /// The program that listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// The process that it belongs to, for the other tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<String>,
    /// Where the user sees it, if it was exposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview_url: Option<String>,
}

impl Told for Ports {
    fn text(&self) -> String {
        if self.ports.is_empty() {
            return "nothing listens".to_owned();
        }
        let line = |port: &Port| {
            let who = match (&port.command, port.listens) {
                (Some(command), _) => command.clone(),
                (None, true) => port.addresses.join(", "),
                (None, false) => "nothing listens".to_owned(),
            };
            let url = port.preview_url.as_ref().map(|url| format!(" {url}")).unwrap_or_default();
            format!("{}: {who}{url}", port.port)
        };
        self.ports.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

pub(crate) struct PreviewUrl;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Show {
    /// The port inside on which a server listens, or will.
    port: u16,
    /// Let in only who has the link of the answer, which is good for an hour (false: whoever knows the URL).
    #[serde(default)]
    private: bool,
}

impl Tool for PreviewUrl {
    const NAME: &'static str = "preview_url";
    const TITLE: &'static str = "Get a preview URL";
    const ABOUT: &'static str = "Give a port of the sandbox a URL under which the user's browser sees what listens there \
        (HTTP and WebSocket). Asking again gives the same URL.";
    const NATURE: Nature = Nature::Adds;
    type Input = Show;
    type Output = Shown;

    async fn run(input: Show, call: &mut Call) -> Result<Shown, Trouble> {
        if input.port == 0 {
            return Err(Trouble::invalid("port: give 1 to 65535"));
        }
        call.inside().await?;
        let (server, name) = (call.guest.server(), call.guest.name());
        let visibility = if input.private { Visibility::Private } else { Visibility::Public };
        let asked = ExposePort { visibility: Some(visibility), ..ExposePort::default() };
        let Preview { port, url, path_url, .. } = server.expose(name, input.port, &asked).await?;
        let (Some(mut url), Some(mut path_url)) = (url, path_url) else {
            let message = "the port is exposed, but this Atoll server listens nowhere for previews";
            return Err(Trouble::new(ErrorCode::PreviewNotFound, message).hint(
                "the user must start it with `atoll serve`, which listens for them, instead of leaving that to us",
            ));
        };
        if input.private {
            let link = server.preview_link(name, port, &LinkRequest::default()).await?;
            (url, path_url) = (link.url, link.path_url);
        }
        Ok(Shown { port, url, path_url, private: input.private })
    }
}

/// Where a port is seen.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Shown {
    /// The port.
    port: u16,
    /// Where it is.
    url: String,
    /// The same for clients that cannot resolve that name.
    path_url: String,
    /// Whether only who has this link is let in.
    private: bool,
}

impl Told for Shown {
    fn text(&self) -> String {
        format!("port {} is at {}\n(or {} where that name cannot be resolved)", self.port, self.url, self.path_url)
    }
}
