//! The bytes of files: read and written as they are, or as text inside JSON.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use atoll_http::{Pipe, RawBody, SPLICE_REQUEST_MIN, SPLICE_RESPONSE_MIN, SpliceHandle};
use atoll_protocol::{Encoding, ErrorCode, FileText, WriteFileRequest, WriteReceipt, given_path};
use atoll_runtime::Error;
use atoll_runtime::files::{Condition, Content, Files, ReadOptions, Reading, Upload, WHOLE_MAX, WriteOptions, Written};
use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderValue, LAST_MODIFIED};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use utoipa::IntoParams;

use super::passing::Passing;
use crate::agent::Agent;
use crate::error::Refusal;
use crate::extract;
use crate::file::{self, AtPath};
use crate::large;

/// What is answered in one piece.
const SMALL: u64 = 64 * 1024;

/// What is read of a body after it was refused, and for how long.
const UNREAD_MAX: usize = 256 * 1024 * 1024;
const UNREAD_WITHIN: Duration = Duration::from_secs(5);

/// The most that is put into JSON.
const TEXT_MAX: u64 = 16 * 1024 * 1024;

/// How to read.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct HowToRead {
    /// As text inside JSON instead of as it is: at most 16 MiB.
    encoding: Option<Encoding>,
    /// The user to read as.
    user: Option<String>,
}

/// Read a file.
///
/// The answer is the bytes as they are, with an `etag`. `range` asks for a part, `if-none-match` for an answer only if
/// it has changed, `if-match` for one only if it has not. With `encoding` the answer is JSON. A file that the kernel
/// makes while it is read (`/proc`) has no length. A fifo or a device is refused: it could make the reader wait.
#[utoipa::path(get, path = "/v1/files/content", tag = "files", operation_id = "readFile",
    params(("path" = String, Query, description = "The file; percent-encoded bytes."), HowToRead,
        ("range" = Option<String>, Header), ("if-match" = Option<String>, Header),
        ("if-none-match" = Option<String>, Header), ("if-range" = Option<String>, Header)),
    responses((status = 200, content((Vec<u8> = "application/octet-stream"), (FileText = "application/json"))),
        (status = 206, description = "The part that was asked for.", content_type = "application/octet-stream", body = Vec<u8>),
        (status = 304, description = "It has not changed.")))]
pub(in crate::routes) async fn read(
    State(agent): State<Agent>,
    method: Method,
    AtPath { path, rest: how }: AtPath<HowToRead>,
    headers: HeaderMap,
    splice: Option<Extension<Arc<SpliceHandle>>>,
) -> Result<Response, Refusal> {
    let files = agent.sandbox().files(how.user);
    let (condition, unless) = file::read_conditions(&headers)?;
    let head = method == Method::HEAD;
    if let Some(encoding) = how.encoding {
        let options = ReadOptions { condition, unless, ..ReadOptions::default() };
        return as_text(&files, &path, options, encoding).await;
    }
    let mut options = ReadOptions { range: file::range(&headers), condition, unless, head };
    if let (Some(tag), true) = (file::if_range(&headers), options.range.is_some()) {
        // A part of another state would not fit to what the asker has.
        let same = files.stat(&path, true).await.is_ok_and(|facts| facts.tag() == tag);
        options.range = options.range.filter(|_| same);
    }
    let partial = options.range.is_some();
    match files.read(&path, options).await? {
        Reading::Open(content) => {
            let (status, headers) = described(&content, partial);
            let body = if head { Body::empty() } else { body(content, splice.as_deref()).await? };
            Ok((status, headers, body).into_response())
        }
        Reading::Unchanged(facts) => {
            let headers = [(ETAG, file::etag(&facts)), (LAST_MODIFIED, file::last_modified(&facts))];
            Ok((StatusCode::NOT_MODIFIED, headers).into_response())
        }
        Reading::OutOfRange(facts) => {
            let refusal = Refusal::new(ErrorCode::RangeNotSatisfiable, format!("the file has {} bytes", facts.size));
            let range = HeaderValue::from_str(&format!("bytes */{}", facts.size));
            let mut response = refusal.into_response();
            response.headers_mut().extend(range.ok().map(|range| (CONTENT_RANGE, range)));
            Ok(response)
        }
    }
}

fn described(content: &Content, partial: bool) -> (StatusCode, HeaderMap) {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(ETAG, file::etag(&content.facts));
    headers.insert(LAST_MODIFIED, file::last_modified(&content.facts));
    if let Some(length) = content.length {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let mut status = StatusCode::OK;
    if let (true, Some(length)) = (partial, content.length) {
        status = StatusCode::PARTIAL_CONTENT;
        let (first, size) = (content.offset, content.facts.size);
        let range = format!("bytes {first}-{}/{size}", first + length - 1);
        headers.extend(HeaderValue::from_str(&range).ok().map(|range| (CONTENT_RANGE, range)));
    }
    (status, headers)
}

async fn body(mut content: Content, splice: Option<&Arc<SpliceHandle>>) -> Result<Body, Refusal> {
    if content.length.is_some_and(|length| length <= SMALL) {
        return Ok(Body::from(whole(&mut content).await?));
    }
    let room = splice.filter(|_| content.length.is_some_and(|length| length >= SPLICE_RESPONSE_MIN));
    Ok(match room.and_then(|client| Some((client, client.open_pipe()?))) {
        Some((client, into)) => Body::new(Passing::new(content, Arc::clone(client), into)),
        None => Body::from_stream(stream::try_unfold(content, |mut content| async move {
            Ok::<_, Error>(content.next().await?.map(|bytes| (bytes, content)))
        })),
    })
}

/// A small one: in one piece if it came so.
async fn whole(content: &mut Content) -> Result<Bytes, Error> {
    let Some(first) = content.next().await? else { return Ok(Bytes::new()) };
    let Some(second) = content.next().await? else { return Ok(first) };
    let mut all = BytesMut::from(first);
    all.extend_from_slice(&second);
    while let Some(more) = content.next().await? {
        all.extend_from_slice(&more);
    }
    Ok(all.freeze())
}

async fn as_text(files: &Files, path: &[u8], options: ReadOptions, encoding: Encoding) -> Result<Response, Refusal> {
    let mut content = match files.read(path, options).await? {
        Reading::Open(content) => content,
        Reading::Unchanged(facts) => {
            return Ok((StatusCode::NOT_MODIFIED, [(ETAG, file::etag(&facts))]).into_response());
        }
        Reading::OutOfRange(_) => return Err(Refusal::new(ErrorCode::Internal, "no range was asked for")),
    };
    let too_large = || {
        Refusal::new(ErrorCode::FileTooLarge, format!("in JSON a file has at most {} MiB", TEXT_MAX / 1024 / 1024))
            .hint("read it without `encoding`, or a part of it with `range`")
    };
    if content.length.is_some_and(|length| length > TEXT_MAX) {
        return Err(too_large());
    }
    let mut bytes = BytesMut::new();
    while let Some(more) = content.next().await? {
        bytes.extend_from_slice(&more);
        // One without a length may go on for ever.
        if bytes.len() as u64 > TEXT_MAX {
            return Err(too_large());
        }
    }
    let info = file::info(path, &content.facts);
    let tag = [(ETAG, file::etag(&content.facts))];
    let answer = large::answer(bytes.len(), move || {
        let (data, replaced) = encoding.encode(&bytes);
        (tag, Json(FileText { file: info, data, encoding, replaced })).into_response()
    });
    Ok(answer.await)
}

/// How to write.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct HowToWrite {
    /// Permission bits, in octal. Else those that the file has, or 0644.
    mode: Option<String>,
    /// Make the directories above it that are missing.
    #[param(required = false)]
    parents: bool,
    /// Add to its end.
    #[param(required = false)]
    append: bool,
    /// The user to write as.
    user: Option<String>,
}

/// Write a file.
///
/// The body is taken as it is, of any length. The file is replaced when all of it is there, in one step; until then, and
/// if the request breaks off, nothing has changed. Mode and owner of a file that is replaced are kept. `if-match` and
/// `if-none-match: *` say in which state it must be at that moment.
#[utoipa::path(put, path = "/v1/files/content", tag = "files", operation_id = "writeFile",
    params(("path" = String, Query, description = "The file; percent-encoded bytes."), HowToWrite,
        ("if-match" = Option<String>, Header), ("if-none-match" = Option<String>, Header)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = WriteReceipt), (status = 201, body = WriteReceipt, description = "It is new.")))]
pub(in crate::routes) async fn write(
    State(agent): State<Agent>,
    AtPath { path, rest: how }: AtPath<HowToWrite>,
    headers: HeaderMap,
    splice: Option<Extension<Arc<SpliceHandle>>>,
    mut body: Body,
) -> Result<Response, Refusal> {
    let HowToWrite { mode, parents, append, user } = how;
    let condition = file::condition(&headers)?;
    let options = WriteOptions { parents, append, mode: file::mode(mode.as_deref())?, condition };
    let files = agent.sandbox().files(user);
    if body.size_hint().upper().is_some_and(|most| most <= WHOLE_MAX as u64) {
        let bytes = extract::whole(&mut body).await?;
        return Ok(written(&path, &files.write_whole(&path, options, &bytes).await?));
    }
    let mut upload = match files.write(&path, options).await {
        Ok(upload) => upload,
        Err(error) => return Err(refused(&mut body, error).await),
    };
    let length = body.size_hint().exact().filter(|length| *length >= SPLICE_REQUEST_MIN);
    if let (Some(Extension(client)), Some(length)) = (splice, length) {
        pour_past(&mut RawBody::new(client, body, length), &mut upload).await?;
    } else {
        pour(&mut body, &mut upload).await?;
    }
    Ok(written(&path, &upload.finish().await?))
}

/// The same as [`pour`] with bytes that go past us.
async fn pour_past(raw: &mut RawBody, upload: &mut Upload) -> Result<(), Refusal> {
    while let Some(bytes) = std::future::poll_fn(|context| raw.poll_buffered(context)).await {
        let bytes = bytes.map_err(broke_off)?;
        if let Err(error) = upload.send(&bytes).await {
            return Err(refused_past(raw, error).await);
        }
    }
    let pipe = Pipe::new().map_err(broke_off)?;
    while raw.remaining() > 0 {
        let moved = tokio::select! {
            biased;
            moved = raw.fill(&pipe) => moved.map_err(broke_off)?,
            error = upload.refused() => return Err(refused_past(raw, error).await),
        };
        if let Err(error) = upload.send_piped(&pipe.out, moved).await {
            return Err(refused_past(raw, error).await);
        }
    }
    Ok(())
}

fn broke_off(error: impl std::fmt::Display) -> Refusal {
    Refusal::invalid(format!("the body broke off: {error}"))
}

/// Sends a body on as it comes; a refusal is told before the rest of it is there.
async fn pour(body: &mut Body, upload: &mut Upload) -> Result<(), Refusal> {
    loop {
        let piece = tokio::select! {
            biased;
            piece = extract::piece(body) => piece?,
            error = upload.refused() => return Err(refused(body, error).await),
        };
        let Some(bytes) = piece else { return Ok(()) };
        if let Err(error) = upload.send(&bytes).await {
            return Err(refused(body, error).await);
        }
    }
}

/// Whoever is busy sending does not listen: most clients see the answer only when all was taken off their hands. So it
/// is, for a while.
pub(super) async fn refused(body: &mut Body, error: Error) -> Refusal {
    let rest = Limited::new(body, UNREAD_MAX);
    drop(tokio::time::timeout(UNREAD_WITHIN, swallow(rest)).await);
    error.into()
}

async fn refused_past(raw: &mut RawBody, error: Error) -> Refusal {
    drop(tokio::time::timeout(UNREAD_WITHIN, raw.discard(UNREAD_MAX as u64)).await);
    error.into()
}

async fn swallow(mut rest: Limited<&mut Body>) {
    while let Some(Ok(_)) = rest.frame().await {}
}

pub(super) fn written(path: &[u8], written: &Written) -> Response {
    let status = if written.created { StatusCode::CREATED } else { StatusCode::OK };
    (status, [(ETAG, file::etag(&written.facts))], Json(receipt(path, written))).into_response()
}

pub(super) fn receipt(path: &[u8], written: &Written) -> WriteReceipt {
    WriteReceipt { file: file::info(path, &written.facts), created: written.created, atomic: written.atomic }
}

/// Write a file whose content is text, or base64, inside the request.
///
/// For more than a few megabytes send the bytes as they are: `PUT /v1/files/content`.
#[utoipa::path(post, path = "/v1/files/write", tag = "files", operation_id = "writeTextFile",
    request_body = WriteFileRequest,
    responses((status = 200, body = WriteReceipt), (status = 201, body = WriteReceipt, description = "It is new.")))]
pub(in crate::routes) async fn write_text(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<WriteFileRequest>,
) -> Result<Response, Refusal> {
    let WriteFileRequest { path, path_base64, data, encoding, mode, parents, append, if_absent, if_match, user } =
        request;
    let path = given_path("path", path.as_deref(), path_base64.as_deref()).map_err(Refusal::invalid)?;
    let bytes = encoding.decode(&data).ok_or_else(|| Refusal::invalid("data: not base64"))?;
    let condition = match (if_absent, if_match) {
        (true, Some(_)) => return Err(Refusal::invalid("if_absent and if_match exclude each other")),
        (true, None) => Condition::Absent,
        (false, Some(tag)) => Condition::Tagged { tags: vec![tag.trim_matches('"').to_owned()] },
        (false, None) => Condition::Any,
    };
    let options = WriteOptions { parents, append, mode: file::mode(mode.as_deref())?, condition };
    let done = agent.sandbox().files(user).write_whole(&path, options, &bytes).await?;
    Ok(written(&path, &done))
}

/// A stream that tells its own end.
pub(super) type Lines = Result<Bytes, Infallible>;
