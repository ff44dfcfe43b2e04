//! What is there: one file's facts, and lists of directories, by page or as a stream of lines.

use atoll_protocol::{Encoding, FileExists, FileInfo, FileList, FileListEnd, FileListLine};
use atoll_runtime::Error;
use atoll_runtime::files::{Entries, ListOptions};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};
use serde::Deserialize;
use utoipa::IntoParams;

use super::content::Lines;
use crate::agent::Agent;
use crate::error::{self, Refusal};
use crate::file::{self, AtPath};

/// Entries of a page, if not told otherwise, and at most.
const PAGE: u64 = 1000;
const PAGE_MAX: u64 = 10_000;

/// Lines are sent together up to this many bytes.
pub(super) const TOGETHER: usize = 64 * 1024;

/// Lines of JSON.
pub(super) const LINES: &str = "application/x-ndjson";

/// How to look.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct HowToLook {
    /// At a symbolic link itself, instead of what it leads to.
    #[param(required = false)]
    link: bool,
    /// The user to look as.
    user: Option<String>,
}

/// Tell what is known of a file.
#[utoipa::path(get, path = "/v1/files/stat", tag = "files", operation_id = "statFile",
    params(("path" = String, Query, description = "What; percent-encoded bytes."), HowToLook),
    responses((status = 200, body = FileInfo)))]
pub(in crate::routes) async fn stat(
    State(agent): State<Agent>,
    AtPath { path, rest: how }: AtPath<HowToLook>,
) -> Result<Json<FileInfo>, Refusal> {
    let facts = agent.sandbox().files(how.user).stat(&path, !how.link).await?;
    Ok(Json(file::info(&path, &facts)))
}

/// Tell whether something is there.
///
/// A link that leads nowhere is not. What may not be looked at is an error: nobody knows.
#[utoipa::path(get, path = "/v1/files/exists", tag = "files", operation_id = "fileExists",
    params(("path" = String, Query, description = "What; percent-encoded bytes."), HowToLook),
    responses((status = 200, body = FileExists)))]
pub(in crate::routes) async fn exists(
    State(agent): State<Agent>,
    AtPath { path, rest: how }: AtPath<HowToLook>,
) -> Result<Json<FileExists>, Refusal> {
    use atoll_protocol::ErrorCode;
    match agent.sandbox().files(how.user).stat(&path, !how.link).await {
        Ok(facts) => Ok(Json(FileExists { exists: true, kind: Some(file::kind(facts.kind)) })),
        Err(error) if matches!(error.code(), ErrorCode::FileNotFound | ErrorCode::NotDirectory) => {
            Ok(Json(FileExists { exists: false, kind: None }))
        }
        Err(error) => Err(error.into()),
    }
}

/// What to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct HowToList {
    /// How many levels, at most 256. 1 is the directory alone.
    #[param(required = false)]
    depth: u32,
    /// Names that begin with a dot, too.
    #[param(required = false)]
    hidden: bool,
    /// In the order of names. Else as the file system has them, which only a stream can tell.
    #[param(required = false)]
    sorted: bool,
    /// The `next` of the page before.
    after: Option<String>,
    /// Entries of a page (1000, never more than 10000), or of a stream (all).
    #[param(minimum = 1)]
    limit: Option<u64>,
    /// The user to list as.
    user: Option<String>,
}

impl Default for HowToList {
    fn default() -> Self {
        Self { depth: 1, hidden: true, sorted: true, after: None, limit: None, user: None }
    }
}

/// List a directory.
///
/// Entries come in the order of their names, byte by byte, a directory before what is in it. With `accept:
/// application/x-ndjson` the answer is a stream of lines (FileListLine), however many there are; else a page, and `next`
/// goes on from there, whatever has changed meanwhile.
#[utoipa::path(get, path = "/v1/files/list", tag = "files", operation_id = "listFiles",
    params(("path" = String, Query, description = "The directory; percent-encoded bytes."), HowToList),
    responses((status = 200, content((FileList = "application/json"), (FileListLine = "application/x-ndjson")))))]
pub(in crate::routes) async fn list(
    State(agent): State<Agent>,
    AtPath { path, rest: how }: AtPath<HowToList>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let HowToList { depth, hidden, sorted, after, limit, user } = how;
    let lines = accepts_lines(&headers);
    let after = match after {
        None => None,
        Some(text) => Some(Encoding::Base64.decode(&text).ok_or_else(|| Refusal::invalid("query: after: no `next`"))?),
    };
    if !lines && !sorted {
        return Err(Refusal::invalid("query: sorted: a page needs the order of names")
            .hint("ask for a stream: `accept: application/x-ndjson`"));
    }
    if limit == Some(0) {
        return Err(Refusal::invalid("query: limit: at least one"));
    }
    // Of a longer list, `next` tells the rest.
    let limit = if lines { limit } else { Some(limit.unwrap_or(PAGE).min(PAGE_MAX)) };
    let options = ListOptions { depth, hidden, sorted, after, limit };
    let entries = agent.sandbox().files(user).list(&path, options).await?;
    if lines { Ok(stream_of(entries)) } else { Ok(Json(page(entries).await?).into_response()) }
}

pub(super) fn accepts_lines(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|kind| kind.split(';').next().unwrap_or_default().trim() == LINES)
}

async fn page(mut entries: Entries) -> Result<FileList, Error> {
    let mut list = FileList { entries: Vec::new(), next: None, unreadable: 0 };
    while let Some(entry) = entries.next().await? {
        list.entries.push(file::info(&entry.path, &entry.facts));
    }
    list.unreadable = entries.unreadable();
    let last = list.entries.last().map(FileInfo::path_bytes);
    list.next = last.filter(|_| entries.has_more()).map(|last| Encoding::Base64.encode(&last).0);
    Ok(list)
}

/// Where a stream is.
struct Streaming {
    entries: Entries,
    last: Vec<u8>,
    over: bool,
}

fn stream_of(entries: Entries) -> Response {
    let streaming = Streaming { entries, last: Vec::new(), over: false };
    let body = Body::from_stream(stream::unfold(streaming, |mut streaming| async move {
        if streaming.over {
            return None;
        }
        let bytes: Lines = Ok(streaming.lines().await);
        Some((bytes, streaming))
    }));
    ([(CONTENT_TYPE, LINES)], body).into_response()
}

impl Streaming {
    /// The next few.
    async fn lines(&mut self) -> Bytes {
        let mut out = Vec::with_capacity(TOGETHER + 1024);
        while out.len() < TOGETHER && !self.over {
            let line = match self.entries.next().await {
                Ok(Some(entry)) => {
                    let info = file::info(&entry.path, &entry.facts);
                    self.last = entry.path;
                    FileListLine::Entry(info)
                }
                Ok(None) => {
                    self.over = true;
                    let more = self.entries.has_more();
                    let next = more.then(|| Encoding::Base64.encode(&self.last).0);
                    FileListLine::End(FileListEnd { next, unreadable: self.entries.unreadable() })
                }
                Err(failed) => {
                    self.over = true;
                    FileListLine::Error(error::body(&failed))
                }
            };
            // Our own words are always JSON, and memory is always writable.
            serde_json::to_writer(&mut out, &line).ok();
            out.push(b'\n');
        }
        out.into()
    }
}
