//! Many files in one request, as browsers and `curl -F` send them.

use atoll_protocol::{Encoding, UploadReceipt};
use atoll_runtime::files::{Files, WriteOptions, Written, join};
use axum::Json;
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Request, State};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::content::receipt;
use crate::agent::Agent;
use crate::error::Refusal;
use crate::file::AtPath;

/// Receipts are kept until the end; a tree of more files goes better as an archive.
const FILES_MAX: usize = 10_000;

/// How to upload.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct HowToUpload {
    /// The user to write as.
    user: Option<String>,
}

/// The form; parts of other names are files like those called `file`.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "only a description: the form is read part by part")]
pub(in crate::routes) struct UploadForm {
    /// Files, each with its path as `filename`.
    #[schema(value_type = Option<Vec<String>>)]
    file: (),
    /// Files, each with its path in base64 as `filename`.
    #[schema(value_type = Option<Vec<String>>)]
    file_base64: (),
}

/// Write many files.
///
/// Each part of the form is a file; its `filename` is the path below the directory, and directories are made as needed. A
/// name that is no UTF-8 is given in base64, in a part called `file_base64`. Each file is replaced in one step; should
/// one fail, those before it are written and those behind it are not, and the details say how many.
#[utoipa::path(post, path = "/v1/files/upload", tag = "files", operation_id = "uploadFiles",
    params(("path" = String, Query, description = "The directory; percent-encoded bytes."), HowToUpload),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 200, body = UploadReceipt)))]
pub(in crate::routes) async fn upload(
    State(agent): State<Agent>,
    AtPath { path, rest: how }: AtPath<HowToUpload>,
    request: Request,
) -> Result<Json<UploadReceipt>, Refusal> {
    let parts = Multipart::from_request(request, &()).await;
    let mut parts =
        parts.map_err(|error| Refusal::new(atoll_protocol::ErrorCode::UnsupportedMediaType, error.body_text()))?;
    let files = agent.sandbox().files(how.user);
    let mut done = Vec::new();
    while let Some(part) = parts.next_field().await.map_err(|error| broken(&error))? {
        if done.len() >= FILES_MAX {
            return Err(Refusal::invalid(format!("a form has at most {FILES_MAX} files")).details(so_far(done.len())));
        }
        let name = name(&part)?;
        let whole = join(&path, &name);
        let written = one(&files, &whole, part).await.map_err(|refusal| refusal.details(so_far(done.len())))?;
        done.push(receipt(&whole, &written));
    }
    if done.is_empty() {
        return Err(Refusal::invalid("the form has no file").hint("give each file as a part with a filename"));
    }
    Ok(Json(UploadReceipt { files: done }))
}

async fn one(files: &Files, path: &[u8], mut part: Field<'_>) -> Result<Written, Refusal> {
    let options = WriteOptions { parents: true, ..WriteOptions::default() };
    let mut upload = files.write(path, options).await?;
    while let Some(bytes) = part.chunk().await.map_err(|error| broken(&error))? {
        upload.send(&bytes).await?;
    }
    Ok(upload.finish().await?)
}

/// The path of a part, which stays below the directory.
fn name(part: &Field<'_>) -> Result<Vec<u8>, Refusal> {
    let given = part.file_name().ok_or_else(|| Refusal::invalid("a part of the form has no filename"))?;
    let exact = part.name() == Some("file_base64");
    let encoding = if exact { Encoding::Base64 } else { Encoding::Utf8 };
    let name = encoding.decode(given).ok_or_else(|| Refusal::invalid(format!("filename `{given}`: not base64")))?;
    let leaves = name.starts_with(b"/") || name.split(|&byte| byte == b'/').any(|name| name == b"..");
    if leaves || name.is_empty() {
        return Err(Refusal::invalid(format!("filename `{given}`: not a path below the directory")));
    }
    Ok(name)
}

fn so_far(written: usize) -> serde_json::Value {
    serde_json::json!({ "written": written })
}

fn broken(error: &MultipartError) -> Refusal {
    Refusal::invalid(format!("the form broke off: {}", error.body_text()))
}
