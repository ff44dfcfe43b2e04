//! What a bridge does and Atoll does not: refused by name, after the request itself was looked at.

use atoll_protocol::Verb;
use axum::extract::Path;
use axum::response::Response;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::refusal::{ErrorShape, Refusal};
use super::sandbox::Sandbox;
use crate::Error;
use crate::routes::extract::Json;

/// A bucket to be mounted.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Mount {
    /// Its name.
    #[serde(default)]
    bucket: Option<String>,
    /// Or what it is bound to.
    #[serde(default)]
    binding: Option<String>,
    /// Where.
    mount_path: String,
    /// How.
    #[schema(value_type = Object)]
    #[expect(dead_code, reason = "it is looked at as far as that it is there")]
    options: Map<String, Value>,
}

/// A mount to be removed.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Unmount {
    /// Where.
    mount_path: String,
}

fn absolute(path: &str) -> Result<(), Refusal> {
    if path.starts_with('/') { Ok(()) } else { Err(Refusal::invalid("mountPath must be an absolute path")) }
}

fn not_here(code: &str, error: &str) -> Refusal {
    Refusal::new(StatusCode::NOT_IMPLEMENTED, code, error)
}

/// Mount a bucket: always refused.
#[utoipa::path(post, path = "/v1/sandbox/{id}/mount", tag = "not available", operation_id = "mount",
    params(("id" = String, Path, description = "The sandbox.")), request_body = Mount,
    responses((status = 501, description = "Buckets cannot be mounted here.", body = ErrorShape), (status = "default", body = ErrorShape)))]
pub(super) async fn mount(sandbox: Sandbox, body: Result<Json<Mount>, Error>) -> Result<Response, Refusal> {
    let Json(Mount { bucket, binding, mount_path, .. }) = body?;
    absolute(&mount_path)?;
    if [bucket.as_deref(), binding.as_deref()].into_iter().flatten().all(str::is_empty) {
        return Err(Refusal::invalid("bucket must be a name"));
    }
    sandbox.caller.must(Verb::Exec, &sandbox.name)?;
    Err(not_here("mount_error", "buckets cannot be mounted here: copy what is needed with files or hydrate"))
}

/// Remove a mount: always refused, since there is none.
#[utoipa::path(post, path = "/v1/sandbox/{id}/unmount", tag = "not available", operation_id = "unmount",
    params(("id" = String, Path, description = "The sandbox.")), request_body = Unmount,
    responses((status = 501, description = "Buckets cannot be mounted here.", body = ErrorShape), (status = "default", body = ErrorShape)))]
pub(super) async fn unmount(sandbox: Sandbox, body: Result<Json<Unmount>, Error>) -> Result<Response, Refusal> {
    let Json(Unmount { mount_path }) = body?;
    absolute(&mount_path)?;
    sandbox.caller.must(Verb::Exec, &sandbox.name)?;
    Err(not_here("unmount_error", "buckets cannot be mounted here, so there is none to unmount"))
}

/// Open a tunnel to a port: always refused.
#[utoipa::path(post, path = "/v1/sandbox/{id}/tunnel/{port}", tag = "not available", operation_id = "openTunnel",
    params(("id" = String, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port.")),
    responses((status = 501, description = "There are no tunnels here.", body = ErrorShape), (status = "default", body = ErrorShape)))]
pub(super) async fn open_tunnel(
    sandbox: Sandbox,
    Path((_, port)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    no_tunnel(&sandbox, &port, "PUT")
}

/// Close a tunnel to a port: always refused, since there is none.
#[utoipa::path(delete, path = "/v1/sandbox/{id}/tunnel/{port}", tag = "not available", operation_id = "closeTunnel",
    params(("id" = String, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port.")),
    responses((status = 501, description = "There are no tunnels here.", body = ErrorShape), (status = "default", body = ErrorShape)))]
pub(super) async fn close_tunnel(
    sandbox: Sandbox,
    Path((_, port)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    no_tunnel(&sandbox, &port, "DELETE")
}

fn no_tunnel(sandbox: &Sandbox, port: &str, method: &str) -> Result<Response, Refusal> {
    let port = port.parse::<u16>().ok().filter(|port| *port > 0);
    let port = port.ok_or_else(|| Refusal::invalid("the port must be a number from 1 to 65535"))?;
    sandbox.caller.must(Verb::Admin, &sandbox.name)?;
    let ours = format!("{method} /v1/sandboxes/{}/previews/{port}", sandbox.name);
    Err(not_here("tunnel_error", &format!("there are no tunnels here: a port is shown by a preview ({ours})")))
}
