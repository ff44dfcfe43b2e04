//! MCP as a face of our server: joins the two, which know nothing of each other.

use std::sync::Arc;

use atoll_client::Client;
use atoll_gateway::face::{Doing, Face, Request, Response, Visitor, body};
use atoll_mcp::{HttpCaller, Mount};

/// Where it is.
const PATH: &str = "/mcp";

/// The Model Context Protocol.
#[derive(Debug, Default)]
pub(crate) struct Mcp(Mount);

impl Face for Mcp {
    fn path(&self) -> &'static str {
        PATH
    }

    fn answer(self: Arc<Self>, visitor: Visitor, request: Request) -> Doing<Response> {
        let Visitor { id, is_allowed_page, way } = visitor;
        let server = Client::in_process(move |stream| way.serve(stream));
        let given = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let token = given.and_then(|value| value.split_once(' ')).map(|(_, token)| token.trim().to_owned());
        Box::pin(async move {
            // What came in a header can go out in one.
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

    fn close(self: Arc<Self>) -> Doing<()> {
        Box::pin(async move { self.0.close().await })
    }
}
