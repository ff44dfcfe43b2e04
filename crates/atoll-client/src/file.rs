//! Files: content, metadata, lists and changes. Paths are bytes, so text works, too.

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

use crate::client::{Body, Client, RequestBuilder, empty, full, streamed};
use crate::error::Error;

/// Options for reading a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadFile {
    /// Offset to start from.
    pub offset: Option<u64>,
    /// Maximum number of bytes; requires `offset`.
    pub length: Option<u64>,
    /// Read only if the file has this etag.
    pub if_match: Option<String>,
    /// User to read as.
    pub user: Option<String>,
}

/// Options for writing a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteFile {
    /// Permission bits; the file's current bits if not given, or 0644 for a new file.
    pub mode: Option<u32>,
    /// Create missing parent directories.
    pub parents: bool,
    /// Append to the file.
    pub append: bool,
    /// Write only if the file does not exist.
    pub if_absent: bool,
    /// Write only if the file has this etag.
    pub if_match: Option<String>,
    /// User to write as.
    pub user: Option<String>,
}

/// Options for listing a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFiles {
    /// Number of levels.
    pub depth: u32,
    /// Include hidden files: names that begin with a dot.
    pub hidden: bool,
    /// Value of `next` of the previous page.
    pub after: Option<String>,
    /// Maximum number of entries.
    pub limit: Option<u64>,
    /// User to list as.
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

/// The content of a file, as a stream.
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

    /// Returns the etag of the version that is read.
    pub fn etag(&self) -> Option<&str> {
        Some(self.headers.get(ETAG)?.to_str().ok()?.trim_matches('"'))
    }

    /// Returns the number of bytes, if known in advance.
    pub fn length(&self) -> Option<u64> {
        self.headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }

    /// Returns the length of the whole file, if this is a part of it.
    pub fn whole_length(&self) -> Option<u64> {
        self.headers.get(CONTENT_RANGE)?.to_str().ok()?.rsplit('/').next()?.parse().ok()
    }

    /// Returns what an archive leaves out because it cannot be read or the format cannot represent it.
    pub fn omitted(&self) -> Omitted {
        let text = |name: &str| self.headers.get(name).and_then(|value| value.to_str().ok());
        let count = text("atoll-omitted").and_then(|count| count.parse().ok()).unwrap_or(0);
        let first = text("atoll-omitted-first").unwrap_or_default().split(',').filter(|path| !path.is_empty());
        Omitted { count, first: first.map(|path| PathText::new(&percent_decoded(path))).collect() }
    }

    /// Returns the next bytes, or `None` at the end. A premature end is an error.
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

    /// Reads all bytes.
    pub async fn collect(mut self) -> Result<Bytes, Error> {
        let mut all = BytesMut::new();
        while let Some(bytes) = self.next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok(all.freeze())
    }
}

/// A stream of JSON lines.
#[derive(Debug)]
pub(crate) struct JsonLines {
    bytes: FileBytes,
    buffer: BytesMut,
}

impl JsonLines {
    pub(crate) fn new(answer: crate::client::Answer) -> Self {
        Self { bytes: FileBytes::new(answer), buffer: BytesMut::new() }
    }

    /// Returns the next line, or `None` at the end.
    pub(crate) async fn next<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        let mut seen = 0;
        loop {
            if let Some(end) = self.buffer[seen..].iter().position(|&byte| byte == b'\n') {
                let line = self.buffer.split_to(seen + end + 1);
                return serde_json::from_slice(&line).map(Some).map_err(Error::invalid_response);
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

/// The entries of a directory, as a stream.
#[derive(Debug)]
pub struct FileEntries {
    lines: JsonLines,
    end: Option<FileListEnd>,
}

impl FileEntries {
    /// Returns the next entry, or `None` after the last one.
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
            Some(FileListLine::Error(body)) => Err(Error::from_body(body)),
            None => Err(Error::broken("the list ended prematurely")),
        }
    }

    /// Returns how the list ended, after the last entry.
    pub fn end(&self) -> Option<&FileListEnd> {
        self.end.as_ref()
    }
}

/// Builds a route with the percent-encoded path as query parameter.
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

/// Decodes percent-encoding.
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
        let mut builder = self.request(Method::GET, &at("/files/content", path.as_ref()), &query)?;
        if let Some(offset) = how.offset {
            let last = how.length.map(|length| (offset + length.max(1) - 1).to_string()).unwrap_or_default();
            builder = builder.header("range", format!("bytes={offset}-{last}"));
        }
        if let Some(tag) = &how.if_match {
            builder = builder.header("if-match", format!("\"{tag}\""));
        }
        Ok(FileBytes::new(builder.send(empty()).await?))
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

    /// Writes a file from a stream. The file changes only when the stream is complete.
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
        let mut builder: RequestBuilder<'_> = self.request(Method::PUT, &at("/files/content", path), &query)?;
        if how.if_absent {
            builder = builder.header("if-none-match", "*".to_owned());
        }
        if let Some(tag) = &how.if_match {
            builder = builder.header("if-match", format!("\"{tag}\""));
        }
        builder.send(body).await?.json().await
    }

    /// Writes a file whose content is in the JSON request.
    pub async fn write_text_file(&self, request: &WriteFileRequest) -> Result<WriteReceipt, Error> {
        self.post("/files/write", request).await
    }

    /// Returns metadata of a file, following symbolic links.
    pub async fn stat_file(&self, path: impl AsRef<[u8]>, as_user: Option<&String>) -> Result<FileInfo, Error> {
        let query: Vec<_> = user(as_user).into_iter().collect();
        self.get(&at("/files/stat", path.as_ref()), &query).await
    }

    /// Returns metadata of a path, without following a symbolic link.
    pub async fn stat_link(&self, path: impl AsRef<[u8]>, as_user: Option<&String>) -> Result<FileInfo, Error> {
        let mut query = vec![("link", "true".to_owned())];
        query.extend(user(as_user));
        self.get(&at("/files/stat", path.as_ref()), &query).await
    }

    /// Returns whether a file exists.
    pub async fn file_exists(&self, path: impl AsRef<[u8]>) -> Result<FileExists, Error> {
        self.get(&at("/files/exists", path.as_ref()), &[]).await
    }

    /// Returns a page of a directory list.
    pub async fn list_files(&self, path: impl AsRef<[u8]>, what: &ListFiles) -> Result<FileList, Error> {
        self.get(&at("/files/list", path.as_ref()), &what.query()).await
    }

    /// Lists a directory of any size as a stream.
    pub async fn stream_files(&self, path: impl AsRef<[u8]>, what: &ListFiles) -> Result<FileEntries, Error> {
        let builder = self.request(Method::GET, &at("/files/list", path.as_ref()), &what.query())?;
        let answer = builder.header(ACCEPT.as_str(), "application/x-ndjson".to_owned()).send(empty()).await?;
        Ok(FileEntries { lines: JsonLines::new(answer), end: None })
    }

    /// Removes a file, or, if `recursive` is set, a directory and its content.
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

    /// Creates a directory.
    pub async fn make_directory(&self, request: &MakeDirectoryRequest) -> Result<MakeDirectoryReceipt, Error> {
        self.post("/files/mkdir", request).await
    }

    /// Renames a file or directory atomically.
    pub async fn rename_file(&self, request: &FromToRequest) -> Result<FileInfo, Error> {
        self.post("/files/rename", request).await
    }

    /// Moves a file or directory, by copying it if necessary.
    pub async fn move_file(&self, request: &FromToRequest) -> Result<FileInfo, Error> {
        self.post("/files/move", request).await
    }

    /// Copies a file or a tree.
    pub async fn copy_file(&self, request: &FromToRequest) -> Result<FileCount, Error> {
        self.post("/files/copy", request).await
    }

    /// Sets permission bits.
    pub async fn set_file_mode(&self, request: &ModeRequest) -> Result<FileCount, Error> {
        self.post("/files/chmod", request).await
    }

    /// Creates a symbolic link.
    pub async fn make_symlink(&self, request: &SymlinkRequest) -> Result<FileInfo, Error> {
        self.post("/files/symlink", request).await
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_are_percent_encoded_byte_for_byte() {
        assert_eq!(super::at("/files", b"/a b/../\xff?&=+%"), "/files?path=/a%20b/../%FF%3F%26%3D%2B%25");
        assert_eq!(super::percent_decoded("/a%20b/../%FF%3F%zz%"), b"/a b/../\xff?%zz%");
    }
}
