//! Tools for ports: `list_ports` and `preview_url`.

use std::collections::BTreeMap;

use atoll_protocol::{ErrorCode, ExposePort, LinkRequest, Preview, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::error::ToolError;
use crate::tool::{Effect, Tool, ToolOutput};

pub(crate) struct ListPorts;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoArguments {}

impl Tool for ListPorts {
    const NAME: &'static str = "list_ports";
    const TITLE: &'static str = "List ports";
    const ABOUT: &'static str = "List the ports on which processes in the sandbox listen, with the process, and the \
        URL of each port that was exposed with preview_url.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = NoArguments;
    type Output = Ports;

    async fn run(_: NoArguments, call: &mut Call) -> Result<Ports, ToolError> {
        let sandbox = call.sandbox().await?;
        let listening = sandbox.ports().await?.ports;
        let exposed = match call.session.server().previews(call.session.name()).await {
            Ok(list) => list.previews,
            // A token may allow `read`, but not listing previews.
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
        let unused = |(port, url)| Port {
            port,
            listens: false,
            addresses: Vec::new(),
            command: None,
            process: None,
            preview_url: Some(url),
        };
        ports.extend(urls.into_iter().map(unused));
        Ok(Ports { ports })
    }
}

/// A list of ports.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ports {
    /// Listening ports, then exposed ports on which no process listens.
    ports: Vec<Port>,
}

/// A port.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Port {
    /// Port number.
    port: u16,
    /// Whether a process listens on it.
    listens: bool,
    /// Addresses that it is bound to.
    addresses: Vec<String>,
    /// Command line of the listening process.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Process id for the other tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<String>,
    /// Preview URL, if the port is exposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview_url: Option<String>,
}

impl ToolOutput for Ports {
    fn text(&self) -> String {
        if self.ports.is_empty() {
            return "no process listens on a port".to_owned();
        }
        let line = |port: &Port| {
            let who = match (&port.command, port.listens) {
                (Some(command), _) => command.clone(),
                (None, true) => port.addresses.join(", "),
                (None, false) => "no process listens".to_owned(),
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
pub(crate) struct PreviewArguments {
    /// Port inside the sandbox on which a server listens, or will listen.
    port: u16,
    /// Require the link in the result, which is valid for one hour (default false: the URL works for anyone who knows
    /// it).
    #[serde(default)]
    private: bool,
}

impl Tool for PreviewUrl {
    const NAME: &'static str = "preview_url";
    const TITLE: &'static str = "Get a preview URL";
    const ABOUT: &'static str = "Expose a port of the sandbox at a URL for the user's browser (HTTP and WebSocket). \
        Repeating the call returns the same URL.";
    const EFFECT: Effect = Effect::Additive;
    type Input = PreviewArguments;
    type Output = PreviewResult;

    async fn run(input: PreviewArguments, call: &mut Call) -> Result<PreviewResult, ToolError> {
        if input.port == 0 {
            return Err(ToolError::invalid("port: must be 1 to 65535"));
        }
        call.sandbox().await?;
        let (server, name) = (call.session.server(), call.session.name());
        let visibility = if input.private { Visibility::Private } else { Visibility::Public };
        let request = ExposePort { visibility: Some(visibility), ..ExposePort::default() };
        let Preview { port, url, path_url, .. } = server.expose(name, input.port, &request).await?;
        let (Some(mut url), Some(mut path_url)) = (url, path_url) else {
            let message = "the port is exposed, but this Atoll server has no preview listener";
            return Err(ToolError::new(ErrorCode::PreviewNotFound, message).hint(
                "ask the user to start the server with `atoll serve`, which has a preview listener, before `atoll mcp`",
            ));
        };
        if input.private {
            let link = server.preview_link(name, port, &LinkRequest::default()).await?;
            (url, path_url) = (link.url, link.path_url);
        }
        Ok(PreviewResult { port, url, path_url, private: input.private })
    }
}

/// Preview URL of a port.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PreviewResult {
    /// The port.
    port: u16,
    /// URL of the preview.
    url: String,
    /// URL for clients that cannot resolve the host name of url.
    path_url: String,
    /// Whether the preview requires this link.
    private: bool,
}

impl ToolOutput for PreviewResult {
    fn text(&self) -> String {
        format!("port {} is at {}\n(or {} where that host name cannot be resolved)", self.port, self.url, self.path_url)
    }
}
