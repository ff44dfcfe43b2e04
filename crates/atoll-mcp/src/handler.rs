//! The protocol: who we are, which tools there are, and calls of them.

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
use crate::guest::{Guest, Stay};

/// Whether a client is the same from one request to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// It is, or every request says by itself what it works with.
    Certain,
    /// Only within a session. From 2026-07-28 on the protocol has none, so a client that wants a sandbox of its own must
    /// speak an earlier one.
    OfSessions,
}

/// What one client speaks to.
#[derive(Debug)]
pub(crate) struct Handler {
    stay: Stay,
    memory: Memory,
}

impl Handler {
    pub(crate) fn new(stay: Stay, memory: Memory) -> Self {
        Self { stay, memory }
    }

    fn guest(&self) -> &Arc<Guest> {
        self.stay.guest()
    }

    fn instructions(&self) -> String {
        let (name, goes) = (self.guest().name(), if self.guest().is_own() { GOES } else { STAYS });
        format!("{ABOUT}\n\nYour sandbox is called `{name}`. {goes}")
    }
}

const ABOUT: &str = "Atoll gives you a Linux computer of your own, walled off from the user's. Work in /workspace. \
run_command is for single commands (nothing of its directory or variables stays); run_in_session is a bash that \
remembers cd, export, functions and background jobs; start_process is for servers and whatever takes long: follow it with \
wait_for and read_output, end it with kill_process. Long output is cut in the middle: the answer says how many bytes are \
missing and the cursor from which read_output gives them. There is no network unless the user allowed it; connections \
that were refused are listed with a command's result. To show the user what listens on a port inside, use preview_url.";
const GOES: &str = "It is removed, with everything in it, when this connection ends: give the user what should stay.";
const STAYS: &str = "It stays when this connection ends, with its files and what start_process started.";

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let us = Implementation::new("atoll", env!("CARGO_PKG_VERSION")).with_title("Atoll");
        ServerConfig::new(capabilities).with_server_info(us).with_instructions(self.instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(match self.memory {
            Memory::Certain => ProtocolVersion::KNOWN_VERSIONS,
            Memory::OfSessions => ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25),
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
        let _place = match self.guest().begin() {
            Ok(place) => place,
            Err(trouble) => return Ok(trouble.answer().into()),
        };
        let mut call = Call::new(Arc::clone(self.guest()), context);
        match catalog::call(&request.name, request.arguments, &mut call).await {
            Some(result) => Ok(result.into()),
            None => Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name.escape_debug()), None)),
        }
    }
}
