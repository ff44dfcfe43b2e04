//! Serves MCP from the gateway: joins `atoll-mcp` and `atoll-gateway`, which do not depend on each other.

use std::sync::Arc;

use atoll_client::Client;
use atoll_gateway::adapter::{BoxFuture, Caller, ProtocolAdapter, Request, Response, body};
use atoll_mcp::{HttpCaller, Mount};

/// The path that MCP clients connect to.
const PATH: &str = "/mcp";

/// The Model Context Protocol, as an adapter of the gateway.
#[derive(Debug, Default)]
pub(crate) struct Mcp(Mount);

impl ProtocolAdapter for Mcp {
    fn path(&self) -> &'static str {
        PATH
    }

    fn handle(self: Arc<Self>, caller: Caller, request: Request) -> BoxFuture<Response> {
        let Caller { id, is_allowed_page, api } = caller;
        let server = Client::in_process(move |stream| api.serve(stream));
        let given = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let token = given.and_then(|value| value.split_once(' ')).map(|(_, token)| token.trim().to_owned());
        Box::pin(async move {
            // A token that came in a header is a valid header value, so this cannot fail.
            let server = match token.map(|token| server.clone().with_token(&token)) {
                Some(Ok(server)) => server,
                Some(Err(_)) | None => server,
            };
            self.0
                .handle(HttpCaller { token_id: id, is_allowed_origin: is_allowed_page, server }, request)
                .await
                .map(body)
        })
    }

    fn close(self: Arc<Self>) -> BoxFuture<()> {
        Box::pin(async move { self.0.close().await })
    }
}
