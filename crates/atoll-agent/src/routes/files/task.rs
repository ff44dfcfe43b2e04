//! Larger things: searching, finding names, editing, patching, and trees as archives.

use atoll_http::percent;
use atoll_protocol::{
    ArchiveExisting, ArchiveFormat, EditReceipt, EditRequest, ErrorCode, GlobAnswer, GlobRequest, Omitted, PackOptions,
    PatchReceipt, SearchAnswer, SearchLine, SearchRequest, UnpackOptions, UnpackReceipt, given_path,
};
use atoll_runtime::Error;
use atoll_runtime::files::{PatchOptions, Searching, Sending};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, HeaderName, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::content::{Lines, refused};
use super::list::{LINES, TOGETHER, accepts_lines};
use crate::agent::Agent;
use crate::error::{self, Refusal};
use crate::extract;
use crate::file::{self, AtPath, AtTree};

/// The most of a search that one answer holds. A stream has no such limit.
const ANSWER_BYTES: u64 = 16 * 1024 * 1024;

/// Names of what is left out of an archive, and how many are told.
const OMITTED_FIRST: HeaderName = HeaderName::from_static("atoll-omitted-first");
const OMITTED_TOLD: usize = 20;

/// Search files for a pattern.
///
/// Ripgrep's engine: `.gitignore` is honoured, hidden files and binary files are left out, unless told otherwise. With
/// `accept: application/x-ndjson` the answer is a stream of lines (SearchLine) as they are found; whoever hangs up ends
/// the search.
#[utoipa::path(post, path = "/v1/files/search", tag = "files", operation_id = "searchFiles",
    request_body = SearchRequest,
    responses((status = 200, content((SearchAnswer = "application/json"), (SearchLine = "application/x-ndjson")))))]
pub(in crate::routes) async fn search(
    State(agent): State<Agent>,
    headers: HeaderMap,
    extract::Json(request): extract::Json<SearchRequest>,
) -> Result<Response, Refusal> {
    let path = below(request.path.as_deref(), request.path_base64.as_deref())?;
    let lines = accepts_lines(&headers);
    if !lines && request.max_bytes.is_some_and(|max| max > ANSWER_BYTES) {
        return Err(Refusal::invalid(format!("max_bytes: one answer holds at most {ANSWER_BYTES}"))
            .hint("ask for a stream: `accept: application/x-ndjson`"));
    }
    let mut searching = agent.sandbox().files(request.user.clone()).search(&path, &request).await?;
    if lines {
        return Ok(stream_of(searching));
    }
    let mut answer = SearchAnswer::default();
    while let Some(line) = searching.next().await? {
        match line {
            SearchLine::Match(found) => answer.matches.push(found),
            SearchLine::File(found) | SearchLine::Binary(found) => answer.files.push(found),
            SearchLine::End(summary) => answer.summary = summary,
            SearchLine::Error(_) => return Err(Refusal::new(ErrorCode::Internal, "the search said nonsense")),
        }
    }
    Ok(Json(answer).into_response())
}

fn stream_of(searching: Searching) -> Response {
    let body = Body::from_stream(stream::unfold(Some(searching), |searching| async move {
        let mut searching = searching?;
        let mut out = Vec::with_capacity(TOGETHER);
        let over = lines(&mut searching, &mut out).await;
        let bytes: Lines = Ok(Bytes::from(out));
        Some((bytes, (!over).then_some(searching)))
    }));
    ([(CONTENT_TYPE, LINES)], body).into_response()
}

/// What is found next, and whatever else is there already. `true` at the end.
async fn lines(searching: &mut Searching, out: &mut Vec<u8>) -> bool {
    loop {
        let next = searching.next();
        let line = if out.is_empty() {
            next.await
        } else {
            // What was found is not kept waiting for what is still to be found.
            match tokio::time::timeout(std::time::Duration::ZERO, next).await {
                Ok(line) => line,
                Err(_) => return false,
            }
        };
        let line = match line {
            Ok(Some(line)) => line,
            Ok(None) => return true,
            Err(failed) => SearchLine::Error(error::body(&failed)),
        };
        // Our own words are always JSON, and memory is always writable.
        serde_json::to_writer(&mut *out, &line).ok();
        out.push(b'\n');
        if matches!(line, SearchLine::Error(_)) {
            return true;
        }
        if out.len() >= TOGETHER {
            return false;
        }
    }
}

/// Find names by pattern.
///
/// In the order of names. `.gitignore` is honoured and hidden names are left out, unless told otherwise.
#[utoipa::path(post, path = "/v1/files/glob", tag = "files", operation_id = "globFiles",
    request_body = GlobRequest, responses((status = 200, body = GlobAnswer)))]
pub(in crate::routes) async fn glob(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<GlobRequest>,
) -> Result<Json<GlobAnswer>, Refusal> {
    let path = below(request.path.as_deref(), request.path_base64.as_deref())?;
    Ok(Json(agent.sandbox().files(request.user.clone()).glob(&path, &request).await?))
}

/// The directory in which commands start, unless another is given.
fn below(text: Option<&str>, base64: Option<&str>) -> Result<Vec<u8>, Refusal> {
    if text.is_none() && base64.is_none() {
        return Ok(b".".to_vec());
    }
    given_path("path", text, base64).map_err(Refusal::invalid)
}

/// Replace exact texts in a file.
///
/// Each old text must be there as often as it is said, once if nothing is said; else nothing changes, and the message
/// says where it is, or what looks like it.
#[utoipa::path(post, path = "/v1/files/edit", tag = "files", operation_id = "editFile",
    request_body = EditRequest, responses((status = 200, body = EditReceipt)))]
pub(in crate::routes) async fn edit(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<EditRequest>,
) -> Result<Response, Refusal> {
    let path = given_path("path", request.path.as_deref(), request.path_base64.as_deref()).map_err(Refusal::invalid)?;
    let (facts, lines) = agent.sandbox().files(request.user.clone()).edit(&path, &request).await?;
    let tag = [(ETAG, file::etag(&facts))];
    Ok((tag, Json(EditReceipt { file: file::info(&path, &facts), lines })).into_response())
}

/// How to patch.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct HowToPatch {
    /// Lines of context at each end of a hunk that need not fit.
    #[param(required = false)]
    fuzz: usize,
    /// Leading names of paths that are dropped; `a/` and `b/` if not given.
    strip: Option<usize>,
    /// Only look whether it fits.
    #[param(required = false)]
    dry_run: bool,
    /// The user to patch as.
    user: Option<String>,
}

/// Apply a patch to the files below a directory: all of it, or nothing.
///
/// The body is a unified diff, as `diff -u` and git write it, or a patch in the form `*** Begin Patch`. When it does not
/// fit the message says which hunk of which file, and what is there instead.
#[utoipa::path(post, path = "/v1/files/patch", tag = "files", operation_id = "patchFiles",
    params(("path" = String, Query, description = "The directory; percent-encoded bytes."), HowToPatch),
    request_body(content = String, content_type = "text/x-patch"),
    responses((status = 200, body = PatchReceipt)))]
pub(in crate::routes) async fn patch(
    State(agent): State<Agent>,
    AtPath { path, rest: how }: AtPath<HowToPatch>,
    mut body: Body,
) -> Result<Json<PatchReceipt>, Refusal> {
    let HowToPatch { fuzz, strip, dry_run, user } = how;
    let files = agent.sandbox().files(user);
    let mut sending = files.patch(&path, PatchOptions { fuzz, strip, dry_run }).await?;
    pour(&mut body, &mut sending).await?;
    Ok(Json(sending.finish().await?))
}

/// How to pack.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct HowToPack {
    /// The form.
    #[param(required = false, inline)]
    format: ArchiveFormat,
    /// Leave out what `.gitignore` and `.ignore` name.
    #[param(required = false)]
    gitignore: bool,
    /// The user to read as.
    user: Option<String>,
}

/// Read a file or a tree as an archive.
///
/// Paths in it are those below the directory. Modes, times, links and, in a tar, owners, attributes and holes are kept.
/// What may not be read, and what the form has no place for (a socket), is left out: `atoll-omitted` says how much that
/// is, `atoll-omitted-first` which (percent-encoded, with commas between them, at most 20). Should more turn out to be
/// missing while it is packed, the answer breaks off.
#[utoipa::path(get, path = "/v1/files/archive", tag = "files", operation_id = "packFiles",
    params(("path" = String, Query, description = "What; percent-encoded bytes."), HowToPack,
        ("include" = Option<Vec<String>>, Query, description = "Globs that a file must match."),
        ("exclude" = Option<Vec<String>>, Query, description = "Globs of what is left out.")),
    responses((status = 200, content((Vec<u8> = "application/x-tar"), (Vec<u8> = "application/zstd"),
        (Vec<u8> = "application/gzip"), (Vec<u8> = "application/zip")))))]
pub(in crate::routes) async fn pack(
    State(agent): State<Agent>,
    AtTree { path, include, exclude, rest: how }: AtTree<HowToPack>,
) -> Result<Response, Refusal> {
    let HowToPack { format, gitignore, user } = how;
    let options = PackOptions { format, include, exclude, gitignore };
    let packing = agent.sandbox().files(user).pack(&path, &options).await?;
    let missing = omitted(&packing.omitted);
    let body = Body::from_stream(stream::try_unfold(packing, |mut packing| async move {
        Ok::<_, Error>(packing.next().await?.map(|bytes| (bytes, packing)))
    }));
    let (kind, name) = match format {
        ArchiveFormat::Tar => ("application/x-tar", "attachment; filename=\"files.tar\""),
        ArchiveFormat::TarZst => ("application/zstd", "attachment; filename=\"files.tar.zst\""),
        ArchiveFormat::TarGz => ("application/gzip", "attachment; filename=\"files.tar.gz\""),
        ArchiveFormat::Zip => ("application/zip", "attachment; filename=\"files.zip\""),
    };
    let headers =
        [(CONTENT_TYPE, HeaderValue::from_static(kind)), (CONTENT_DISPOSITION, HeaderValue::from_static(name))];
    Ok((headers, missing, body).into_response())
}

/// Headers that say what is not in an archive.
fn omitted(omitted: &Omitted) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if omitted.count > 0 {
        headers.insert("atoll-omitted", HeaderValue::from(omitted.count));
        let first: Vec<String> =
            omitted.first.iter().take(OMITTED_TOLD).map(|path| percent::encoded(&path.bytes())).collect();
        // Escaped, it is always a header; were it none, the count is still told.
        headers.extend(HeaderValue::from_str(&first.join(",")).map(|value| (OMITTED_FIRST, value)));
    }
    headers
}

/// How to unpack.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct HowToUnpack {
    /// The form; told by how the archive begins if not given.
    #[param(inline)]
    format: Option<ArchiveFormat>,
    /// Leading names of paths that are dropped.
    #[param(required = false)]
    strip: u32,
    /// What to do where a name is taken.
    #[param(required = false, inline)]
    existing: ArchiveExisting,
    /// Members at most (1000000).
    max_entries: Option<u64>,
    /// Bytes of files at most; as many as the disk takes if not given.
    max_bytes: Option<u64>,
    /// The user to write as.
    user: Option<String>,
}

/// Unpack an archive into a directory, which is made if it is missing.
///
/// A tar, also in zstd or gzip, or a zip. A member that would lead out of the directory, by its name or through a link,
/// ends it; so does an archive that grows out of all proportion. Each file is complete or not there.
#[utoipa::path(put, path = "/v1/files/archive", tag = "files", operation_id = "unpackFiles",
    params(("path" = String, Query, description = "The directory; percent-encoded bytes."), HowToUnpack),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = UnpackReceipt)))]
pub(in crate::routes) async fn unpack(
    State(agent): State<Agent>,
    AtPath { path, rest: how }: AtPath<HowToUnpack>,
    mut body: Body,
) -> Result<Json<UnpackReceipt>, Refusal> {
    let HowToUnpack { format, strip, existing, max_entries, max_bytes, user } = how;
    let options = UnpackOptions { format, strip, existing, max_entries, max_bytes };
    let mut sending = agent.sandbox().files(user).unpack(&path, &options).await?;
    pour(&mut body, &mut sending).await?;
    Ok(Json(sending.finish().await?))
}

/// Sends a body on as it comes; a refusal is told before the rest of it is there.
async fn pour<T: DeserializeOwned>(body: &mut Body, sending: &mut Sending<T>) -> Result<(), Refusal> {
    loop {
        let piece = tokio::select! {
            biased;
            piece = extract::piece(body) => piece?,
            error = sending.refused() => return Err(refused(body, error).await),
        };
        let Some(bytes) = piece else { return Ok(()) };
        if let Err(error) = sending.send(&bytes).await {
            return Err(refused(body, error).await);
        }
    }
}
