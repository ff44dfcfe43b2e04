//! Files of the workspace, and the workspace as an archive. Bodies are streamed in both directions.

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

use super::error::{ApiError, ErrorShape, Operation};
use super::sandbox::Sandbox;
use super::sessions::InSession;
use super::workspace;
use crate::routes::extract::json;

/// Success.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Done {
    /// Always true.
    pub(super) ok: bool,
}

/// An extracted archive.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Hydrated {
    /// Always true.
    ok: bool,
    /// Members that were skipped, if any: devices and sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<u64>,
}

/// Returns the file that a path names, encoded for a query parameter.
fn file(uri: &Uri) -> Result<String, ApiError> {
    // "", the sandbox, "file", and the rest.
    let rest = uri.path().splitn(4, '/').nth(3).unwrap_or_default();
    if rest.is_empty() {
        return Err(ApiError::invalid("the file's path is empty"));
    }
    let path = [b"/", percent::decoded(rest).as_slice()].concat();
    let path = workspace::resolved(&path).ok_or_else(|| ApiError::outside("the path"))?;
    Ok(percent::encoded(&path))
}

/// Read a file.
#[utoipa::path(get, path = "/v1/sandbox/{id}/file/{path}", tag = "files", operation_id = "readFile",
    params(("id" = String, Path, description = "The sandbox."),
        ("path" = String, Path, description = "The file's path without the leading slash, below `workspace`. Slashes are not escaped."),
        ("Session-Id" = Option<String>, Header, description = "Ignored: the path is absolute.")),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>),
        (status = 403, description = "The path is outside of the workspace.", body = ErrorShape),
        (status = 404, description = "There is no such file.", body = ErrorShape),
        (status = "default", body = ErrorShape)))]
pub(super) async fn read(sandbox: Sandbox, _: InSession, method: Method, uri: Uri) -> Result<Response, ApiError> {
    let rest = format!("files/content?path={}", file(&uri)?);
    let response = sandbox.send(Operation::Read, sandbox.request(method, &rest, Body::empty())?).await?;
    Ok(bytes(response))
}

/// Returns a response with the body only: a bridge has no conditional or range requests.
fn bytes(response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let mut passed = Response::new(body);
    passed.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    passed.headers_mut().insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    passed.headers_mut().extend(parts.headers.get(CONTENT_LENGTH).map(|length| (CONTENT_LENGTH, length.clone())));
    passed
}

/// Write a file of any size. Creates missing parent directories. Replaces an existing file atomically.
#[utoipa::path(put, path = "/v1/sandbox/{id}/file/{path}", tag = "files", operation_id = "writeFile",
    params(("id" = String, Path, description = "The sandbox."),
        ("path" = String, Path, description = "The file's path without the leading slash, below `workspace`. Slashes are not escaped."),
        ("Session-Id" = Option<String>, Header, description = "Ignored: the path is absolute.")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = Done),
        (status = 403, description = "The path is outside of the workspace.", body = ErrorShape),
        (status = "default", body = ErrorShape)))]
pub(super) async fn write(sandbox: Sandbox, _: InSession, request: Request) -> Result<Response, ApiError> {
    let rest = format!("files/content?path={}&parents=true", file(request.uri())?);
    sandbox.ensure_exists().await?;
    let requested = sandbox.request(Method::PUT, &rest, request.into_body())?;
    sandbox.fetch::<serde::de::IgnoredAny>(Operation::Write, requested).await?;
    Ok(json(StatusCode::OK, &Done { ok: true }))
}

/// Download the workspace as a tar archive.
#[utoipa::path(post, path = "/v1/sandbox/{id}/persist", tag = "workspace", operation_id = "persist",
    params(("id" = String, Path, description = "The sandbox."),
        ("excludes" = Option<String>, Query, description = "Comma-separated paths below the workspace to exclude, with everything below them.")),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>), (status = "default", body = ErrorShape)))]
pub(super) async fn persist(
    sandbox: Sandbox,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, ApiError> {
    let mut rest = format!("files/archive?path={}&format=tar", workspace::ROOT);
    for glob in excluded(&pairs)? {
        rest.push_str("&exclude=");
        rest.push_str(&percent::encoded(glob.as_bytes()));
    }
    sandbox.ensure_exists().await?;
    let response = sandbox.send(Operation::Persist, sandbox.request(Method::GET, &rest, Body::empty())?).await?;
    Ok(bytes(response))
}

fn excluded(pairs: &[(String, String)]) -> Result<Vec<String>, ApiError> {
    if let Some((name, _)) = pairs.iter().find(|(name, _)| name != "excludes") {
        return Err(ApiError::invalid(format!(
            "unknown query parameter `{}`: only `excludes` is supported",
            name.escape_debug()
        )));
    }
    let paths = pairs.iter().flat_map(|(_, value)| value.split(',')).filter(|path| !path.is_empty());
    let glob = |path: &str| {
        let wrong = || format!("excludes: `{}` is not a path below the workspace", path.escape_debug());
        workspace::glob(path).ok_or_else(|| ApiError::invalid(wrong()))
    };
    paths.map(glob).collect()
}

/// Extract a tar archive into the workspace. Fails at a member whose path leads out of it.
#[utoipa::path(post, path = "/v1/sandbox/{id}/hydrate", tag = "workspace", operation_id = "hydrate",
    params(("id" = String, Path, description = "The sandbox.")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = Hydrated), (status = "default", body = ErrorShape)))]
pub(super) async fn hydrate(sandbox: Sandbox, request: Request) -> Result<Response, ApiError> {
    let body = not_empty(request.into_body()).await?;
    sandbox.ensure_exists().await?;
    let rest = format!("files/archive?path={}", workspace::ROOT);
    let requested = sandbox.request(Method::PUT, &rest, body)?;
    let receipt: UnpackReceipt = sandbox.fetch(Operation::Hydrate, requested).await?;
    let skipped = Some(receipt.skipped).filter(|count| *count > 0);
    Ok(json(StatusCode::OK, &Hydrated { ok: true, skipped }))
}

/// Returns the body after its first bytes have arrived, or an error if it is empty.
async fn not_empty(mut body: Body) -> Result<Body, ApiError> {
    if body.size_hint().exact().is_some_and(|length| length > 0) {
        return Ok(body);
    }
    loop {
        let Some(frame) = body.frame().await else { return Err(ApiError::invalid("the archive is empty")) };
        let frame = frame.map_err(|_| ApiError::invalid("the body ended before its announced length"))?;
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
    fn file_paths_are_confined_to_the_workspace() {
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
    fn excludes_are_paths_below_the_workspace() {
        let of = |value: &str| excluded(&[("excludes".to_owned(), value.to_owned())]).ok();
        assert_eq!(of("./a,,b/c").unwrap(), ["/a", "/b/c"]);
        assert_eq!(of("").unwrap(), [""; 0]);
        assert!(of("a,../b").is_none() && of(".").is_none());
        assert!(excluded(&[("root".to_owned(), "/".to_owned())]).is_err());
    }
}
