//! Features of a bridge that Atoll does not have: rejected explicitly, after validating the request.

use atoll_protocol::Verb;
use axum::extract::Path;
use axum::response::Response;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::{ApiError, ErrorShape};
use super::sandbox::Sandbox;
use crate::Error;
use crate::routes::extract::Json;

/// A bucket to mount.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Mount {
    /// The bucket's name.
    #[serde(default)]
    bucket: Option<String>,
    /// The bucket's binding.
    #[serde(default)]
    binding: Option<String>,
    /// The mount point.
    mount_path: String,
    /// Mount options.
    #[schema(value_type = Object)]
    #[expect(dead_code, reason = "only its presence is checked")]
    options: Map<String, Value>,
}

/// A mount to remove.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Unmount {
    /// The mount point.
    mount_path: String,
}

fn absolute(path: &str) -> Result<(), ApiError> {
    if path.starts_with('/') { Ok(()) } else { Err(ApiError::invalid("mountPath must be an absolute path")) }
}

fn not_implemented(code: &str, error: &str) -> ApiError {
    ApiError::new(StatusCode::NOT_IMPLEMENTED, code, error)
}

/// Mount a bucket: always rejected.
#[utoipa::path(post, path = "/v1/sandbox/{id}/mount", tag = "not available", operation_id = "mount",
    params(("id" = String, Path, description = "The sandbox.")), request_body = Mount,
    responses((status = 501, description = "Buckets cannot be mounted here.", body = ErrorShape), (status = "default", body = ErrorShape)))]
pub(super) async fn mount(sandbox: Sandbox, body: Result<Json<Mount>, Error>) -> Result<Response, ApiError> {
    let Json(Mount { bucket, binding, mount_path, .. }) = body?;
    absolute(&mount_path)?;
    if [bucket.as_deref(), binding.as_deref()].into_iter().flatten().all(str::is_empty) {
        return Err(ApiError::invalid("bucket must not be empty"));
    }
    sandbox.caller.must(Verb::Exec, &sandbox.name)?;
    Err(not_implemented("mount_error", "buckets cannot be mounted here: copy the files with file uploads or hydrate"))
}

/// Remove a mount: always rejected, since there is none.
#[utoipa::path(post, path = "/v1/sandbox/{id}/unmount", tag = "not available", operation_id = "unmount",
    params(("id" = String, Path, description = "The sandbox.")), request_body = Unmount,
    responses((status = 501, description = "Buckets cannot be mounted here.", body = ErrorShape), (status = "default", body = ErrorShape)))]
pub(super) async fn unmount(sandbox: Sandbox, body: Result<Json<Unmount>, Error>) -> Result<Response, ApiError> {
    let Json(Unmount { mount_path }) = body?;
    absolute(&mount_path)?;
    sandbox.caller.must(Verb::Exec, &sandbox.name)?;
    Err(not_implemented("unmount_error", "buckets cannot be mounted here, so there is none to unmount"))
}

/// Open a tunnel to a port: always rejected.
#[utoipa::path(post, path = "/v1/sandbox/{id}/tunnel/{port}", tag = "not available", operation_id = "openTunnel",
    params(("id" = String, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port.")),
    responses((status = 501, description = "There are no tunnels here.", body = ErrorShape), (status = "default", body = ErrorShape)))]
pub(super) async fn open_tunnel(
    sandbox: Sandbox,
    Path((_, port)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    no_tunnel(&sandbox, &port, "PUT")
}

/// Close a tunnel to a port: always rejected, since there is none.
#[utoipa::path(delete, path = "/v1/sandbox/{id}/tunnel/{port}", tag = "not available", operation_id = "closeTunnel",
    params(("id" = String, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port.")),
    responses((status = 501, description = "There are no tunnels here.", body = ErrorShape), (status = "default", body = ErrorShape)))]
pub(super) async fn close_tunnel(
    sandbox: Sandbox,
    Path((_, port)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    no_tunnel(&sandbox, &port, "DELETE")
}

fn no_tunnel(sandbox: &Sandbox, port: &str, method: &str) -> Result<Response, ApiError> {
    let port = port.parse::<u16>().ok().filter(|port| *port > 0);
    let port = port.ok_or_else(|| ApiError::invalid("the port must be a number from 1 to 65535"))?;
    sandbox.caller.must(Verb::Admin, &sandbox.name)?;
    let ours = format!("{method} /v1/sandboxes/{}/previews/{port}", sandbox.name);
    Err(not_implemented(
        "tunnel_error",
        &format!("there are no tunnels here: expose the port as a preview instead ({ours})"),
    ))
}
