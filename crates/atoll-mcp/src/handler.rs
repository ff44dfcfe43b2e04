//! The MCP server handler: server info, the list of tools, and tool calls.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use crate::call::Call;
use crate::catalog;
use crate::client_session::{ClientSession, SessionGuard};

/// Which protocol versions a client may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Versions {
    /// All versions: the client does not depend on protocol sessions.
    All,
    /// Only versions with sessions. Version 2026-07-28 removed sessions, and the client's own sandbox is bound to its
    /// session.
    WithSessions,
}

/// The MCP server of one client.
#[derive(Debug)]
pub(crate) struct Handler {
    guard: SessionGuard,
    versions: Versions,
}

impl Handler {
    pub(crate) fn new(guard: SessionGuard, versions: Versions) -> Self {
        Self { guard, versions }
    }

    fn session(&self) -> &Arc<ClientSession> {
        self.guard.session()
    }

    fn instructions(&self) -> String {
        let (name, lifetime) = (self.session().name(), if self.session().is_own() { REMOVED } else { PERSISTS });
        format!("{ABOUT}\n\nYour sandbox is called `{name}`. {lifetime}")
    }
}

const ABOUT: &str = "Atoll gives you your own Linux machine, isolated from the user's. Work in /workspace. \
run_command runs single commands: their directory and variables do not persist. run_in_session runs commands in a \
bash that keeps its directory, variables, functions and background jobs. start_process starts servers and long \
commands: follow them with wait_for and read_output, and end them with kill_process. Long output is truncated in the \
middle: the result has the number of omitted bytes and the cursor from which read_output returns them. There is no \
network access unless the user allowed it; a command's result lists the connections that were denied. To show the \
user a server on a port inside the sandbox, use preview_url.";
const REMOVED: &str =
    "It is removed, with everything in it, when this connection ends: hand results to the user before.";
const PERSISTS: &str = "It persists when this connection ends, with its files and the processes of start_process.";

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let us = Implementation::new("atoll", env!("CARGO_PKG_VERSION")).with_title("Atoll");
        ServerConfig::new(capabilities).with_server_info(us).with_instructions(self.instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(match self.versions {
            Versions::All => ProtocolVersion::KNOWN_VERSIONS,
            Versions::WithSessions => ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25),
        })
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalog::tools().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        catalog::tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _permit = match self.session().begin_call() {
            Ok(permit) => permit,
            Err(error) => return Ok(error.into_result().into()),
        };
        let mut call = Call::new(Arc::clone(self.session()), context);
        match catalog::call(&request.name, request.arguments, &mut call).await {
            Some(result) => Ok(result.into()),
            None => Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name.escape_debug()), None)),
        }
    }
}
