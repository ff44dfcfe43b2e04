//! Files of the workspace, and the workspace as an archive. Bytes go through as they come, both ways.

use atoll_http::percent;
use atoll_protocol::UnpackReceipt;
use axum::body::{Body, HttpBody};
use axum::extract::{Query, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use serde::Serialize;

use super::refusal::{ErrorShape, Operation, Refusal};
use super::sandbox::Sandbox;
use super::sessions::InSession;
use super::workspace;
use crate::routes::extract::json;

/// It was done.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Done {
    /// It was.
    pub(super) ok: bool,
}

/// An archive was unpacked.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Hydrated {
    /// It was.
    ok: bool,
    /// Members that cannot be made here, if there were any: devices and sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<u64>,
}

/// The file that a path names, as the value of a parameter.
fn file(uri: &Uri) -> Result<String, Refusal> {
    // "", the sandbox, "file", and the rest.
    let rest = uri.path().splitn(4, '/').nth(3).unwrap_or_default();
    if rest.is_empty() {
        return Err(Refusal::invalid("the path of the file is empty"));
    }
    let path = [b"/", percent::decoded(rest).as_slice()].concat();
    let path = workspace::resolved(&path).ok_or_else(|| Refusal::outside("the path"))?;
    Ok(percent::encoded(&path))
}

/// Read a file.
#[utoipa::path(get, path = "/v1/sandbox/{id}/file/{path}", tag = "files", operation_id = "readFile",
    params(("id" = String, Path, description = "The sandbox."),
        ("path" = String, Path, description = "Its path without the first slash, in `workspace`; slashes stand for themselves."),
        ("Session-Id" = Option<String>, Header, description = "Makes no difference: the path is absolute.")),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>),
        (status = 403, description = "It is not in the workspace.", body = ErrorShape),
        (status = 404, description = "There is no such file.", body = ErrorShape),
        (status = "default", body = ErrorShape)))]
pub(super) async fn read(sandbox: Sandbox, _: InSession, method: Method, uri: Uri) -> Result<Response, Refusal> {
    let rest = format!("files/content?path={}", file(&uri)?);
    let response = sandbox.ask(Operation::Read, sandbox.request(method, &rest, Body::empty())?).await?;
    Ok(bytes(response))
}

/// Only what is known of the bytes: conditions and ranges are no part of a bridge.
fn bytes(response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let mut passed = Response::new(body);
    passed.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    passed.headers_mut().insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    passed.headers_mut().extend(parts.headers.get(CONTENT_LENGTH).map(|length| (CONTENT_LENGTH, length.clone())));
    passed
}

/// Write a file of any length; directories above it that are missing are made. It is replaced in one step.
#[utoipa::path(put, path = "/v1/sandbox/{id}/file/{path}", tag = "files", operation_id = "writeFile",
    params(("id" = String, Path, description = "The sandbox."),
        ("path" = String, Path, description = "Its path without the first slash, in `workspace`; slashes stand for themselves."),
        ("Session-Id" = Option<String>, Header, description = "Makes no difference: the path is absolute.")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = Done),
        (status = 403, description = "It is not in the workspace.", body = ErrorShape),
        (status = "default", body = ErrorShape)))]
pub(super) async fn write(sandbox: Sandbox, _: InSession, request: Request) -> Result<Response, Refusal> {
    let rest = format!("files/content?path={}&parents=true", file(request.uri())?);
    sandbox.make_sure().await?;
    let asked = sandbox.request(Method::PUT, &rest, request.into_body())?;
    sandbox.ask_for::<serde::de::IgnoredAny>(Operation::Write, asked).await?;
    Ok(json(StatusCode::OK, &Done { ok: true }))
}

/// Read the workspace as a tar.
#[utoipa::path(post, path = "/v1/sandbox/{id}/persist", tag = "workspace", operation_id = "persist",
    params(("id" = String, Path, description = "The sandbox."),
        ("excludes" = Option<String>, Query, description = "Paths below the workspace that are left out with all below them, with commas between.")),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>), (status = "default", body = ErrorShape)))]
pub(super) async fn persist(sandbox: Sandbox, Query(pairs): Query<Vec<(String, String)>>) -> Result<Response, Refusal> {
    let mut rest = format!("files/archive?path={}&format=tar", workspace::ROOT);
    for glob in excluded(&pairs)? {
        rest.push_str("&exclude=");
        rest.push_str(&percent::encoded(glob.as_bytes()));
    }
    sandbox.make_sure().await?;
    let response = sandbox.ask(Operation::Persist, sandbox.request(Method::GET, &rest, Body::empty())?).await?;
    Ok(bytes(response))
}

fn excluded(pairs: &[(String, String)]) -> Result<Vec<String>, Refusal> {
    if let Some((name, _)) = pairs.iter().find(|(name, _)| name != "excludes") {
        return Err(Refusal::invalid(format!("`{}` is no parameter: give `excludes`", name.escape_debug())));
    }
    let paths = pairs.iter().flat_map(|(_, value)| value.split(',')).filter(|path| !path.is_empty());
    let glob = |path: &str| {
        let wrong = || format!("excludes: `{}` is no path below the workspace", path.escape_debug());
        workspace::glob(path).ok_or_else(|| Refusal::invalid(wrong()))
    };
    paths.map(glob).collect()
}

/// Unpack a tar into the workspace. A member that would lead out of it ends that.
#[utoipa::path(post, path = "/v1/sandbox/{id}/hydrate", tag = "workspace", operation_id = "hydrate",
    params(("id" = String, Path, description = "The sandbox.")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = Hydrated), (status = "default", body = ErrorShape)))]
pub(super) async fn hydrate(sandbox: Sandbox, request: Request) -> Result<Response, Refusal> {
    let body = not_empty(request.into_body()).await?;
    sandbox.make_sure().await?;
    let rest = format!("files/archive?path={}", workspace::ROOT);
    let asked = sandbox.request(Method::PUT, &rest, body)?;
    let receipt: UnpackReceipt = sandbox.ask_for(Operation::Hydrate, asked).await?;
    let skipped = Some(receipt.skipped).filter(|count| *count > 0);
    Ok(json(StatusCode::OK, &Hydrated { ok: true, skipped }))
}

/// The same body, of which something has come.
async fn not_empty(mut body: Body) -> Result<Body, Refusal> {
    if body.size_hint().exact().is_some_and(|length| length > 0) {
        return Ok(body);
    }
    loop {
        let Some(frame) = body.frame().await else { return Err(Refusal::invalid("the archive is empty")) };
        let frame = frame.map_err(|_| Refusal::invalid("the body ended too early"))?;
        let first = frame.into_data().unwrap_or_default();
        if !first.is_empty() {
            let first = stream::once(async move { Ok::<Bytes, axum::Error>(first) });
            return Ok(Body::from_stream(first.chain(body.into_data_stream())));
        }
    }
}

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_in_the_workspace() {
        let path = |uri: &str| file(&uri.parse().unwrap()).ok();
        assert_eq!(path("/box/file/workspace/a%20b.txt").as_deref(), Some("/workspace/a%20b.txt"));
        assert_eq!(path("/box/file/workspace/a/%2e%2e/b").as_deref(), Some("/workspace/b"));
        for bad in [
            "/box/file/",
            "/box/file/etc/passwd",
            "/box/file/workspace/../etc",
            "/box/file/workspace/%2E./x",
            "/box/file/workspace%2f..%2fetc",
        ] {
            assert_eq!(path(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_left_out_is_a_path_of_the_workspace() {
        let of = |value: &str| excluded(&[("excludes".to_owned(), value.to_owned())]).ok();
        assert_eq!(of("./a,,b/c").unwrap(), ["/a", "/b/c"]);
        assert_eq!(of("").unwrap(), [""; 0]);
        assert!(of("a,../b").is_none() && of(".").is_none());
        assert!(excluded(&[("root".to_owned(), "/".to_owned())]).is_err());
    }
}
