//! Changes that carry no bytes: removing, making directories and links, renaming, copying, permission bits.

use atoll_protocol::{
    FileCount, FileInfo, FromToRequest, MakeDirectoryReceipt, MakeDirectoryRequest, ModeRequest, SymlinkRequest,
    given_path,
};
use atoll_runtime::files::Naming;
use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::agent::Agent;
use crate::error::Refusal;
use crate::extract;
use crate::file::{self, AtPath};

/// How to remove.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct HowToRemove {
    /// A directory with all that is in it.
    #[param(required = false)]
    recursive: bool,
    /// It is no error that it is not there.
    #[param(required = false)]
    missing_ok: bool,
    /// The user to remove as.
    user: Option<String>,
}

/// Remove a file or a directory.
///
/// A symbolic link is removed, never what it leads to. `if-match` says in which state it must be.
#[utoipa::path(delete, path = "/v1/files", tag = "files", operation_id = "removeFile",
    params(("path" = String, Query, description = "What; percent-encoded bytes."), HowToRemove,
        ("if-match" = Option<String>, Header)),
    responses((status = 200, body = FileCount, description = "So many things were removed.")))]
pub(in crate::routes) async fn remove(
    State(agent): State<Agent>,
    AtPath { path, rest: how }: AtPath<HowToRemove>,
    headers: HeaderMap,
) -> Result<Json<FileCount>, Refusal> {
    let condition = file::condition(&headers)?;
    let files = agent.sandbox().files(how.user);
    let count = files.remove(&path, how.recursive, how.missing_ok, condition).await?;
    Ok(Json(FileCount { count }))
}

/// Make a directory.
#[utoipa::path(post, path = "/v1/files/mkdir", tag = "files", operation_id = "makeDirectory",
    request_body = MakeDirectoryRequest, responses((status = 200, body = MakeDirectoryReceipt)))]
pub(in crate::routes) async fn make_directory(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<MakeDirectoryRequest>,
) -> Result<Json<MakeDirectoryReceipt>, Refusal> {
    let MakeDirectoryRequest { path, path_base64, parents, mode, user } = request;
    let path = given("path", path.as_deref(), path_base64.as_deref())?;
    let mode = file::mode(mode.as_deref())?;
    let (facts, created) = agent.sandbox().files(user).make_directory(&path, parents, mode).await?;
    Ok(Json(MakeDirectoryReceipt { file: file::info(&path, &facts), created }))
}

/// Give a file or a directory another name, in one step.
///
/// Never copies: where the two names are on different file systems it is refused, and `move` is the way.
#[utoipa::path(post, path = "/v1/files/rename", tag = "files", operation_id = "renameFile",
    request_body = FromToRequest, responses((status = 200, body = FileInfo)))]
pub(in crate::routes) async fn rename(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<FromToRequest>,
) -> Result<Json<FileInfo>, Refusal> {
    let FromTo { from, to, naming, user } = FromTo::not_recursive(&request)?;
    let facts = agent.sandbox().files(user).rename(&from, &to, naming).await?;
    Ok(Json(file::info(&to, &facts)))
}

/// Move a file or a directory.
///
/// A rename where that can be had; else everything is copied, and removed when the copy is complete.
#[utoipa::path(post, path = "/v1/files/move", tag = "files", operation_id = "moveFile",
    request_body = FromToRequest, responses((status = 200, body = FileInfo)))]
pub(in crate::routes) async fn move_to(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<FromToRequest>,
) -> Result<Json<FileInfo>, Refusal> {
    let FromTo { from, to, naming, user } = FromTo::not_recursive(&request)?;
    let facts = agent.sandbox().files(user).move_to(&from, &to, naming).await?;
    Ok(Json(file::info(&to, &facts)))
}

/// Copy a file, or a directory with all that is in it.
///
/// Blocks are shared where the file system can do that, holes stay holes; modes, times and links are kept.
#[utoipa::path(post, path = "/v1/files/copy", tag = "files", operation_id = "copyFile",
    request_body = FromToRequest,
    responses((status = 200, body = FileCount, description = "So many things were copied.")))]
pub(in crate::routes) async fn copy(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<FromToRequest>,
) -> Result<Json<FileCount>, Refusal> {
    let FromTo { from, to, naming, user } = FromTo::new(&request)?;
    let count = agent.sandbox().files(user).copy(&from, &to, request.recursive, naming).await?;
    Ok(Json(FileCount { count }))
}

/// Set permission bits.
#[utoipa::path(post, path = "/v1/files/chmod", tag = "files", operation_id = "setFileMode",
    request_body = ModeRequest,
    responses((status = 200, body = FileCount, description = "So many things were changed.")))]
pub(in crate::routes) async fn set_mode(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<ModeRequest>,
) -> Result<Json<FileCount>, Refusal> {
    let path = given("path", request.path.as_deref(), request.path_base64.as_deref())?;
    let mode = file::mode(Some(&request.mode))?.unwrap_or_default();
    let count = agent.sandbox().files(request.user).set_mode(&path, mode, request.recursive).await?;
    Ok(Json(FileCount { count }))
}

/// Make a symbolic link.
#[utoipa::path(post, path = "/v1/files/symlink", tag = "files", operation_id = "makeSymlink",
    request_body = SymlinkRequest, responses((status = 200, body = FileInfo)))]
pub(in crate::routes) async fn make_link(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<SymlinkRequest>,
) -> Result<Json<FileInfo>, Refusal> {
    let SymlinkRequest { path, path_base64, target, target_base64, replace, parents, user } = request;
    let path = given("path", path.as_deref(), path_base64.as_deref())?;
    let target = given("target", target.as_deref(), target_base64.as_deref())?;
    let facts = agent.sandbox().files(user).make_link(&path, &target, Naming { replace, parents }).await?;
    Ok(Json(file::info(&path, &facts)))
}

struct FromTo {
    from: Vec<u8>,
    to: Vec<u8>,
    naming: Naming,
    user: Option<String>,
}

impl FromTo {
    fn new(request: &FromToRequest) -> Result<Self, Refusal> {
        Ok(Self {
            from: given("from", request.from.as_deref(), request.from_base64.as_deref())?,
            to: given("to", request.to.as_deref(), request.to_base64.as_deref())?,
            naming: Naming { replace: request.replace, parents: request.parents },
            user: request.user.clone(),
        })
    }

    fn not_recursive(request: &FromToRequest) -> Result<Self, Refusal> {
        if request.recursive {
            return Err(Refusal::invalid("recursive: only a copy asks for that; a directory is renamed as a whole"));
        }
        Self::new(request)
    }
}

fn given(field: &str, text: Option<&str>, base64: Option<&str>) -> Result<Vec<u8>, Refusal> {
    given_path(field, text, base64).map_err(Refusal::invalid)
}
