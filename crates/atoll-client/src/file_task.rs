//! Larger file operations: searching, finding by name, editing, patching, archives.

use atoll_protocol::{
    ArchiveExisting, ArchiveFormat, EditReceipt, EditRequest, GlobAnswer, GlobRequest, PatchReceipt, SearchAnswer,
    SearchLine, SearchRequest, UnpackReceipt,
};
use bytes::Bytes;
use futures_util::Stream;
use http::Method;
use http::header::ACCEPT;

use crate::client::{Client, empty, full, streamed};
use crate::error::Error;
use crate::file::{FileBytes, JsonLines, at, user};

/// Options for applying a patch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchFiles {
    /// Number of context lines that may differ.
    pub fuzz: u32,
    /// Number of leading path components to strip; `a/` and `b/` if not given.
    pub strip: Option<u32>,
    /// Check only whether the patch applies.
    pub dry_run: bool,
    /// User to patch as.
    pub user: Option<String>,
}

/// Options for packing a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackFiles {
    /// Archive format.
    pub format: ArchiveFormat,
    /// Globs of files to include; all files if empty.
    pub include: Vec<String>,
    /// Globs of files to leave out.
    pub exclude: Vec<String>,
    /// Leave out files that `.gitignore` and `.ignore` exclude.
    pub gitignore: bool,
    /// User to read as.
    pub user: Option<String>,
}

/// Options for unpacking an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnpackFiles {
    /// Archive format; detected from the first bytes if not given.
    pub format: Option<ArchiveFormat>,
    /// Number of leading path components to strip.
    pub strip: u32,
    /// What to do when a path already exists.
    pub existing: ArchiveExisting,
    /// User to write as.
    pub user: Option<String>,
}

/// The results of a search, as a stream.
#[derive(Debug)]
pub struct SearchStream {
    lines: JsonLines,
    over: bool,
}

impl SearchStream {
    /// Returns the next result, then the summary, then `None`. Dropping the stream cancels the search.
    pub async fn next(&mut self) -> Result<Option<SearchLine>, Error> {
        if self.over {
            return Ok(None);
        }
        match self.lines.next().await? {
            Some(SearchLine::Error(body)) => Err(Error::from_body(body)),
            Some(line) => {
                self.over = matches!(line, SearchLine::End(_));
                Ok(Some(line))
            }
            None => Err(Error::broken("the search ended prematurely")),
        }
    }
}

fn format_name(format: ArchiveFormat) -> &'static str {
    match format {
        ArchiveFormat::Tar => "tar",
        ArchiveFormat::TarZst => "tar.zst",
        ArchiveFormat::TarGz => "tar.gz",
        ArchiveFormat::Zip => "zip",
    }
}

impl Client {
    /// Searches files and waits for all results.
    pub async fn search_files(&self, request: &SearchRequest) -> Result<SearchAnswer, Error> {
        self.post("/files/search", request).await
    }

    /// Searches files and streams the results.
    pub async fn stream_search(&self, request: &SearchRequest) -> Result<SearchStream, Error> {
        let builder = self.request(Method::POST, "/files/search", &[])?;
        let answer = builder.header(ACCEPT.as_str(), "application/x-ndjson".to_owned()).send_json(request).await?;
        Ok(SearchStream { lines: JsonLines::new(answer), over: false })
    }

    /// Finds files by name.
    pub async fn glob_files(&self, request: &GlobRequest) -> Result<GlobAnswer, Error> {
        self.post("/files/glob", request).await
    }

    /// Replaces exact texts in a file: all of them or none.
    pub async fn edit_file(&self, request: &EditRequest) -> Result<EditReceipt, Error> {
        self.post("/files/edit", request).await
    }

    /// Applies a patch below a directory: all of it or none.
    pub async fn patch_files(
        &self,
        path: impl AsRef<[u8]>,
        patch: impl Into<Bytes>,
        how: &PatchFiles,
    ) -> Result<PatchReceipt, Error> {
        let mut query = vec![("fuzz", how.fuzz.to_string()), ("dry_run", how.dry_run.to_string())];
        query.extend(how.strip.map(|strip| ("strip", strip.to_string())));
        query.extend(user(how.user.as_ref()));
        let builder = self.request(Method::POST, &at("/files/patch", path.as_ref()), &query)?;
        builder.send(full(patch.into())).await?.json().await
    }

    /// Reads a file or a tree as an archive.
    pub async fn pack_files(&self, path: impl AsRef<[u8]>, what: &PackFiles) -> Result<FileBytes, Error> {
        let mut query =
            vec![("format", format_name(what.format).to_owned()), ("gitignore", what.gitignore.to_string())];
        query.extend(what.include.iter().map(|glob| ("include", glob.clone())));
        query.extend(what.exclude.iter().map(|glob| ("exclude", glob.clone())));
        query.extend(user(what.user.as_ref()));
        let builder = self.request(Method::GET, &at("/files/archive", path.as_ref()), &query)?;
        Ok(FileBytes::new(builder.send(empty()).await?))
    }

    /// Unpacks an archive into a directory while it is uploaded.
    pub async fn unpack_files(
        &self,
        path: impl AsRef<[u8]>,
        archive: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static,
        how: &UnpackFiles,
    ) -> Result<UnpackReceipt, Error> {
        let existing = match how.existing {
            ArchiveExisting::Replace => "replace",
            ArchiveExisting::Keep => "keep",
            ArchiveExisting::Refuse => "refuse",
        };
        let mut query = vec![("strip", how.strip.to_string()), ("existing", existing.to_owned())];
        query.extend(how.format.map(|format| ("format", format_name(format).to_owned())));
        query.extend(user(how.user.as_ref()));
        let builder = self.request(Method::PUT, &at("/files/archive", path.as_ref()), &query)?;
        builder.send(streamed(archive)).await?.json().await
    }
}
