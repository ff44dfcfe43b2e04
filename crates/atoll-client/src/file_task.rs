//! Files, the larger things: searching, names by pattern, editing, patching, archives.

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

/// How to apply a patch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchFiles {
    /// Lines of context that need not fit.
    pub fuzz: u32,
    /// Leading names of paths that are dropped; `a/` and `b/` if not given.
    pub strip: Option<u32>,
    /// Only look whether it fits.
    pub dry_run: bool,
    /// The user to patch as.
    pub user: Option<String>,
}

/// What to pack, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackFiles {
    /// The form.
    pub format: ArchiveFormat,
    /// Globs that a file must match, if there is any.
    pub include: Vec<String>,
    /// Globs of what is left out.
    pub exclude: Vec<String>,
    /// Leave out what `.gitignore` and `.ignore` name.
    pub gitignore: bool,
    /// The user to read as.
    pub user: Option<String>,
}

/// How to unpack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnpackFiles {
    /// The form; told by how the archive begins if not given.
    pub format: Option<ArchiveFormat>,
    /// Leading names of paths that are dropped.
    pub strip: u32,
    /// What to do where a name is taken.
    pub existing: ArchiveExisting,
    /// The user to write as.
    pub user: Option<String>,
}

/// What a search finds, as it does.
#[derive(Debug)]
pub struct SearchStream {
    lines: JsonLines,
    over: bool,
}

impl SearchStream {
    /// What was found next, and at last the summary; then `None`. Dropped, the search ends.
    pub async fn next(&mut self) -> Result<Option<SearchLine>, Error> {
        if self.over {
            return Ok(None);
        }
        match self.lines.next().await? {
            Some(SearchLine::Error(body)) => Err(Error::told(body)),
            Some(line) => {
                self.over = matches!(line, SearchLine::End(_));
                Ok(Some(line))
            }
            None => Err(Error::broken("the search ended too early")),
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
    /// Searches files, and waits for the end.
    pub async fn search_files(&self, request: &SearchRequest) -> Result<SearchAnswer, Error> {
        self.post("/files/search", request).await
    }

    /// Searches files, and tells as it finds.
    pub async fn stream_search(&self, request: &SearchRequest) -> Result<SearchStream, Error> {
        let ask = self.request(Method::POST, "/files/search", &[])?;
        let answer = ask.header(ACCEPT.as_str(), "application/x-ndjson".to_owned()).send_json(request).await?;
        Ok(SearchStream { lines: JsonLines::new(answer), over: false })
    }

    /// Finds names.
    pub async fn glob_files(&self, request: &GlobRequest) -> Result<GlobAnswer, Error> {
        self.post("/files/glob", request).await
    }

    /// Replaces exact texts in a file: all of them or none.
    pub async fn edit_file(&self, request: &EditRequest) -> Result<EditReceipt, Error> {
        self.post("/files/edit", request).await
    }

    /// Applies a patch below a directory: all of it or nothing.
    pub async fn patch_files(
        &self,
        path: impl AsRef<[u8]>,
        patch: impl Into<Bytes>,
        how: &PatchFiles,
    ) -> Result<PatchReceipt, Error> {
        let mut query = vec![("fuzz", how.fuzz.to_string()), ("dry_run", how.dry_run.to_string())];
        query.extend(how.strip.map(|strip| ("strip", strip.to_string())));
        query.extend(user(how.user.as_ref()));
        let ask = self.request(Method::POST, &at("/files/patch", path.as_ref()), &query)?;
        ask.send(full(patch.into())).await?.json().await
    }

    /// Reads a file or a tree as an archive.
    pub async fn pack_files(&self, path: impl AsRef<[u8]>, what: &PackFiles) -> Result<FileBytes, Error> {
        let mut query =
            vec![("format", format_name(what.format).to_owned()), ("gitignore", what.gitignore.to_string())];
        query.extend(what.include.iter().map(|glob| ("include", glob.clone())));
        query.extend(what.exclude.iter().map(|glob| ("exclude", glob.clone())));
        query.extend(user(what.user.as_ref()));
        let ask = self.request(Method::GET, &at("/files/archive", path.as_ref()), &query)?;
        Ok(FileBytes::new(ask.send(empty()).await?))
    }

    /// Unpacks an archive into a directory, as it is sent.
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
        let ask = self.request(Method::PUT, &at("/files/archive", path.as_ref()), &query)?;
        ask.send(streamed(archive)).await?.json().await
    }
}
