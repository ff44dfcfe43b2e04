//! Files: bytes either way, facts, lists, changes. A path is bytes; text is good, too.

use atoll_protocol::{
    FileCount, FileExists, FileInfo, FileList, FileListEnd, FileListLine, FromToRequest, MakeDirectoryReceipt,
    MakeDirectoryRequest, ModeRequest, Omitted, PathText, SymlinkRequest, WriteFileRequest, WriteReceipt,
};
use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_RANGE, ETAG};
use http::{HeaderMap, Method};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::client::{Ask, Body, Client, empty, full, streamed};
use crate::error::Error;

/// Which part to read, in which state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadFile {
    /// From this byte on.
    pub offset: Option<u64>,
    /// At most so many; needs `offset`.
    pub length: Option<u64>,
    /// Only if it is in the state with this tag.
    pub if_match: Option<String>,
    /// The user to read as.
    pub user: Option<String>,
}

/// How to write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteFile {
    /// Permission bits; else those that it has, or 0644.
    pub mode: Option<u32>,
    /// Make the directories above it that are missing.
    pub parents: bool,
    /// Add to its end.
    pub append: bool,
    /// Only if it is not there.
    pub if_absent: bool,
    /// Only if it is in the state with this tag.
    pub if_match: Option<String>,
    /// The user to write as.
    pub user: Option<String>,
}

/// What to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFiles {
    /// How many levels.
    pub depth: u32,
    /// Names that begin with a dot, too.
    pub hidden: bool,
    /// The `next` of the page before.
    pub after: Option<String>,
    /// So many at most.
    pub limit: Option<u64>,
    /// The user to list as.
    pub user: Option<String>,
}

impl Default for ListFiles {
    fn default() -> Self {
        Self { depth: 1, hidden: true, after: None, limit: None, user: None }
    }
}

impl ListFiles {
    fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = vec![("depth", self.depth.to_string()), ("hidden", self.hidden.to_string())];
        query.extend(self.after.iter().map(|after| ("after", after.clone())));
        query.extend(self.limit.map(|limit| ("limit", limit.to_string())));
        query.extend(user(self.user.as_ref()));
        query
    }
}

/// Bytes of a file, as they come.
#[derive(Debug)]
pub struct FileBytes {
    headers: HeaderMap,
    body: Incoming,
}

impl FileBytes {
    pub(crate) fn new(answer: crate::client::Answer) -> Self {
        let (headers, body) = answer.into_parts();
        Self { headers, body }
    }

    /// The state that they are of.
    pub fn etag(&self) -> Option<&str> {
        Some(self.headers.get(ETAG)?.to_str().ok()?.trim_matches('"'))
    }

    /// How many there are, if that is known before.
    pub fn length(&self) -> Option<u64> {
        self.headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }

    /// The length of the whole file, if this is a part of it.
    pub fn whole_length(&self) -> Option<u64> {
        self.headers.get(CONTENT_RANGE)?.to_str().ok()?.rsplit('/').next()?.parse().ok()
    }

    /// Of an archive: what is not in it, because it cannot be read or the form has no place for it.
    pub fn omitted(&self) -> Omitted {
        let text = |name: &str| self.headers.get(name).and_then(|value| value.to_str().ok());
        let count = text("atoll-omitted").and_then(|count| count.parse().ok()).unwrap_or(0);
        let first = text("atoll-omitted-first").unwrap_or_default().split(',').filter(|path| !path.is_empty());
        Omitted { count, first: first.map(|path| PathText::new(&percent_decoded(path))).collect() }
    }

    /// The next bytes; `None` at the end. An end before the end is an error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(Error::broken(error)),
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    /// All of them.
    pub async fn collect(mut self) -> Result<Bytes, Error> {
        let mut all = BytesMut::new();
        while let Some(bytes) = self.next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok(all.freeze())
    }
}

/// Lines of JSON, as they come.
#[derive(Debug)]
pub(crate) struct JsonLines {
    bytes: FileBytes,
    buffer: BytesMut,
}

impl JsonLines {
    pub(crate) fn new(answer: crate::client::Answer) -> Self {
        Self { bytes: FileBytes::new(answer), buffer: BytesMut::new() }
    }

    /// The next line; `None` at the end.
    pub(crate) async fn next<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        let mut seen = 0;
        loop {
            if let Some(end) = self.buffer[seen..].iter().position(|&byte| byte == b'\n') {
                let line = self.buffer.split_to(seen + end + 1);
                return serde_json::from_slice(&line).map(Some).map_err(Error::nonsense);
            }
            seen = self.buffer.len();
            match self.bytes.next().await? {
                Some(bytes) => self.buffer.extend_from_slice(&bytes),
                None if self.buffer.is_empty() => return Ok(None),
                None => return Err(Error::broken("the stream ended in the middle of a line")),
            }
        }
    }
}

/// The entries of a directory, as they come.
#[derive(Debug)]
pub struct FileEntries {
    lines: JsonLines,
    end: Option<FileListEnd>,
}

impl FileEntries {
    /// The next; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<FileInfo>, Error> {
        if self.end.is_some() {
            return Ok(None);
        }
        match self.lines.next().await? {
            Some(FileListLine::Entry(info)) => Ok(Some(info)),
            Some(FileListLine::End(end)) => {
                self.end = Some(end);
                Ok(None)
            }
            Some(FileListLine::Error(body)) => Err(Error::told(body)),
            None => Err(Error::broken("the list ended too early")),
        }
    }

    /// After the last: how it ended.
    pub fn end(&self) -> Option<&FileListEnd> {
        self.end.as_ref()
    }
}

/// A path behind the `?`, byte for byte.
pub(crate) fn at(route: &str, path: &[u8]) -> String {
    use std::fmt::Write;
    let mut out = format!("{route}?path=");
    for &byte in path {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            write!(out, "%{byte:02X}").ok();
        }
    }
    out
}

/// The opposite.
fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = tail.get(..2).filter(|_| first == b'%').and_then(|digits| str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    bytes
}

pub(crate) fn user(user: Option<&String>) -> Option<(&'static str, String)> {
    user.map(|user| ("user", user.clone()))
}

impl Client {
    /// Reads a file.
    pub async fn read_file(&self, path: impl AsRef<[u8]>, how: &ReadFile) -> Result<FileBytes, Error> {
        let query: Vec<_> = user(how.user.as_ref()).into_iter().collect();
        let mut ask = self.request(Method::GET, &at("/files/content", path.as_ref()), &query)?;
        if let Some(offset) = how.offset {
            let last = how.length.map(|length| (offset + length.max(1) - 1).to_string()).unwrap_or_default();
            ask = ask.header("range", format!("bytes={offset}-{last}"));
        }
        if let Some(tag) = &how.if_match {
            ask = ask.header("if-match", format!("\"{tag}\""));
        }
        Ok(FileBytes::new(ask.send(empty()).await?))
    }

    /// Writes a file.
    pub async fn write_file(
        &self,
        path: impl AsRef<[u8]>,
        bytes: impl Into<Bytes>,
        how: &WriteFile,
    ) -> Result<WriteReceipt, Error> {
        self.put_file(path.as_ref(), full(bytes.into()), how).await
    }

    /// The same with bytes that are sent as they come. The file changes when the last is there.
    pub async fn stream_file(
        &self,
        path: impl AsRef<[u8]>,
        pieces: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static,
        how: &WriteFile,
    ) -> Result<WriteReceipt, Error> {
        self.put_file(path.as_ref(), streamed(pieces), how).await
    }

    async fn put_file(&self, path: &[u8], body: Body, how: &WriteFile) -> Result<WriteReceipt, Error> {
        let mut query = Vec::new();
        query.extend(how.mode.map(|mode| ("mode", format!("{mode:o}"))));
        query.extend(how.parents.then(|| ("parents", "true".to_owned())));
        query.extend(how.append.then(|| ("append", "true".to_owned())));
        query.extend(user(how.user.as_ref()));
        let mut ask: Ask<'_> = self.request(Method::PUT, &at("/files/content", path), &query)?;
        if how.if_absent {
            ask = ask.header("if-none-match", "*".to_owned());
        }
        if let Some(tag) = &how.if_match {
            ask = ask.header("if-match", format!("\"{tag}\""));
        }
        ask.send(body).await?.json().await
    }

    /// Writes a file whose content is in the request.
    pub async fn write_text_file(&self, request: &WriteFileRequest) -> Result<WriteReceipt, Error> {
        self.post("/files/write", request).await
    }

    /// What is known of a file, links followed.
    pub async fn stat_file(&self, path: impl AsRef<[u8]>, as_user: Option<&String>) -> Result<FileInfo, Error> {
        let query: Vec<_> = user(as_user).into_iter().collect();
        self.get(&at("/files/stat", path.as_ref()), &query).await
    }

    /// What is known of a name: of a link itself.
    pub async fn stat_link(&self, path: impl AsRef<[u8]>, as_user: Option<&String>) -> Result<FileInfo, Error> {
        let mut query = vec![("link", "true".to_owned())];
        query.extend(user(as_user));
        self.get(&at("/files/stat", path.as_ref()), &query).await
    }

    /// Whether something is there.
    pub async fn file_exists(&self, path: impl AsRef<[u8]>) -> Result<FileExists, Error> {
        self.get(&at("/files/exists", path.as_ref()), &[]).await
    }

    /// A page of a directory.
    pub async fn list_files(&self, path: impl AsRef<[u8]>, what: &ListFiles) -> Result<FileList, Error> {
        self.get(&at("/files/list", path.as_ref()), &what.query()).await
    }

    /// A directory, however large, as a stream.
    pub async fn stream_files(&self, path: impl AsRef<[u8]>, what: &ListFiles) -> Result<FileEntries, Error> {
        let ask = self.request(Method::GET, &at("/files/list", path.as_ref()), &what.query())?;
        let answer = ask.header(ACCEPT.as_str(), "application/x-ndjson".to_owned()).send(empty()).await?;
        Ok(FileEntries { lines: JsonLines::new(answer), end: None })
    }

    /// Removes a file; a directory with all that is in it only if told so.
    pub async fn remove_file(
        &self,
        path: impl AsRef<[u8]>,
        recursive: bool,
        as_user: Option<&String>,
    ) -> Result<FileCount, Error> {
        let mut query = vec![("recursive", recursive.to_string())];
        query.extend(user(as_user));
        self.delete(&at("/files", path.as_ref()), &query).await?.json().await
    }

    /// Makes a directory.
    pub async fn make_directory(&self, request: &MakeDirectoryRequest) -> Result<MakeDirectoryReceipt, Error> {
        self.post("/files/mkdir", request).await
    }

    /// Gives a thing another name, in one step.
    pub async fn rename_file(&self, request: &FromToRequest) -> Result<FileInfo, Error> {
        self.post("/files/rename", request).await
    }

    /// Moves a thing, by copying it if need be.
    pub async fn move_file(&self, request: &FromToRequest) -> Result<FileInfo, Error> {
        self.post("/files/move", request).await
    }

    /// Copies a file, or a tree.
    pub async fn copy_file(&self, request: &FromToRequest) -> Result<FileCount, Error> {
        self.post("/files/copy", request).await
    }

    /// Sets permission bits.
    pub async fn set_file_mode(&self, request: &ModeRequest) -> Result<FileCount, Error> {
        self.post("/files/chmod", request).await
    }

    /// Makes a symbolic link.
    pub async fn make_symlink(&self, request: &SymlinkRequest) -> Result<FileInfo, Error> {
        self.post("/files/symlink", request).await
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_are_sent_byte_for_byte() {
        assert_eq!(super::at("/files", b"/a b/../\xff?&=+%"), "/files?path=/a%20b/../%FF%3F%26%3D%2B%25");
        assert_eq!(super::percent_decoded("/a%20b/../%FF%3F%zz%"), b"/a b/../\xff?%zz%");
    }
}
