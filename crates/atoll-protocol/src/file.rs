//! Files: metadata, lists, and operations other than streaming reads and writes.
//!
//! A path is text if it is valid UTF-8. Any other path is given twice: as text with replacement characters, and
//! exactly, in base64. A request gives one of the two; in a URL the bytes are percent-encoded.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::{Encoding, ErrorBody, Timestamp};

/// A path as text and, if it is not valid UTF-8, as exact bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PathText {
    /// Path as text.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
}

impl PathText {
    /// Creates it from bytes.
    pub fn new(path: &[u8]) -> Self {
        let (path, path_base64) = text_and_base64(path);
        Self { path, path_base64 }
    }

    /// Returns the exact bytes.
    pub fn bytes(&self) -> Vec<u8> {
        exact(&self.path, self.path_base64.as_deref())
    }
}

/// Splits a path into its text and, if it is not valid UTF-8, its base64.
pub(crate) fn text_and_base64(path: &[u8]) -> (String, Option<String>) {
    match str::from_utf8(path) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (String::from_utf8_lossy(path).into_owned(), Some(STANDARD.encode(path))),
    }
}

/// Type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
}

/// Metadata of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileInfo {
    /// Path of the file: relative to the directory in a list, otherwise as requested.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Type of the file.
    pub kind: FileKind,
    /// Length in bytes.
    pub size: u64,
    /// Bytes allocated on disk: fewer than the length if the file has holes.
    pub allocated: u64,
    /// Permission bits, in octal: `0644`.
    pub mode: String,
    /// User id of the owner, inside the sandbox.
    pub uid: u32,
    /// Group id, inside the sandbox.
    pub gid: u32,
    /// Number of hard links.
    pub links: u64,
    /// When the content last changed.
    pub modified: Timestamp,
    /// Identifies this version of the file, for `If-Match` and `If-None-Match`.
    pub etag: String,
    /// Target, if the file is a symbolic link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<String>,
    /// Exact target in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_base64: Option<String>,
}

impl FileInfo {
    /// Returns the exact bytes of the path.
    pub fn path_bytes(&self) -> Vec<u8> {
        exact(&self.path, self.path_base64.as_deref())
    }

    /// Returns the exact bytes of the link's target.
    pub fn target_bytes(&self) -> Option<Vec<u8>> {
        Some(exact(self.target.as_deref()?, self.target_base64.as_deref()))
    }

    /// Sets the path.
    #[must_use]
    pub fn at(mut self, path: &[u8]) -> Self {
        (self.path, self.path_base64) = text_and_base64(path);
        self
    }

    /// Sets the link's target.
    #[must_use]
    pub fn leading_to(mut self, target: Option<&[u8]>) -> Self {
        (self.target, self.target_base64) = match target.map(text_and_base64) {
            Some((text, base64)) => (Some(text), base64),
            None => (None, None),
        };
        self
    }
}

pub(crate) fn exact(text: &str, base64: Option<&str>) -> Vec<u8> {
    base64.and_then(|base64| STANDARD.decode(base64).ok()).unwrap_or_else(|| text.as_bytes().to_vec())
}

/// Returns the bytes of a path that a request gives as text or in base64.
///
/// # Errors
/// Returns a message for people if both are given, neither is, or the base64 is not valid.
pub fn given_path(field: &str, text: Option<&str>, base64: Option<&str>) -> Result<Vec<u8>, String> {
    match (text, base64) {
        (Some(text), None) => Ok(text.as_bytes().to_vec()),
        (None, Some(base64)) => STANDARD.decode(base64).map_err(|_| format!("{field}_base64: not base64")),
        (None, None) => Err(format!("missing field `{field}`")),
        (Some(_), Some(_)) => Err(format!("give `{field}` or `{field}_base64`, not both")),
    }
}

/// Whether a file exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileExists {
    /// Whether it exists.
    pub exists: bool,
    /// Its type, with links followed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<FileKind>,
}

/// A page of a directory list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileList {
    /// The entries.
    pub entries: Vec<FileInfo>,
    /// Value of `after` for the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
    /// Number of directories that could not be read.
    pub unreadable: u64,
}

/// One line of a streamed list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileListLine {
    /// An entry.
    Entry(FileInfo),
    /// The last line.
    End(FileListEnd),
    /// The last line, if the list failed midway.
    Error(ErrorBody),
}

/// End of a streamed list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileListEnd {
    /// Value of `after` to continue; absent if the list is complete.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
    /// Number of directories that could not be read.
    pub unreadable: u64,
}

/// Content of a file as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileText {
    /// The file.
    pub file: FileInfo,
    /// The content.
    pub data: String,
    /// Encoding of `data`.
    pub encoding: Encoding,
    /// Whether bytes that are not valid UTF-8 were replaced.
    pub replaced: bool,
}

/// Writes a file with the content in the request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WriteFileRequest {
    /// Path of the file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Exact path in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// The content.
    pub data: String,
    /// Encoding of `data`.
    #[serde(default)]
    pub encoding: Encoding,
    /// Permission bits in octal; the file's current bits if not given, or 0644 for a new file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mode: Option<String>,
    /// Create missing parent directories.
    #[serde(default)]
    pub parents: bool,
    /// Append to the file.
    #[serde(default)]
    pub append: bool,
    /// Write only if the file does not exist.
    #[serde(default)]
    pub if_absent: bool,
    /// Write only if the file has this etag.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub if_match: Option<String>,
    /// User to write as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Result of a write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WriteReceipt {
    /// The file after the write.
    pub file: FileInfo,
    /// Whether the file is new.
    pub created: bool,
    /// Whether the file was replaced atomically. Otherwise it was changed in place, because its directory is not
    /// writable, its owner cannot be preserved, or the write appended to it.
    pub atomic: bool,
}

/// Result of an upload of several files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UploadReceipt {
    /// The written files.
    pub files: Vec<WriteReceipt>,
}

/// Creates a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MakeDirectoryRequest {
    /// Path of the directory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Exact path in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Create missing parent directories, too, and do not fail if the directory exists.
    #[serde(default)]
    pub parents: bool,
    /// Permission bits in octal (default 0755).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mode: Option<String>,
    /// User to create it as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Result of creating a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MakeDirectoryReceipt {
    /// The directory.
    pub file: FileInfo,
    /// Whether the directory is new.
    pub created: bool,
}

/// Renames, moves or copies a file or directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FromToRequest {
    /// Source path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Exact source path in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_base64: Option<String>,
    /// Destination path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
    /// Exact destination path in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to_base64: Option<String>,
    /// Replace the destination if it exists; a copy merges directories.
    #[serde(default)]
    pub replace: bool,
    /// Create missing parent directories of the destination.
    #[serde(default)]
    pub parents: bool,
    /// Copy directories with their content; for copies only.
    #[serde(default)]
    pub recursive: bool,
    /// User to do it as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Sets permission bits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ModeRequest {
    /// Path of the file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Exact path in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Permission bits in octal: `0755`.
    pub mode: String,
    /// Apply to everything in the directory, too.
    #[serde(default)]
    pub recursive: bool,
    /// User to do it as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Creates a symbolic link.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SymlinkRequest {
    /// Path of the link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Exact path in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Target, stored unchanged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<String>,
    /// Exact target in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_base64: Option<String>,
    /// Replace an existing file, but not a directory.
    #[serde(default)]
    pub replace: bool,
    /// Create missing parent directories.
    #[serde(default)]
    pub parents: bool,
    /// User to do it as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Number of files that an operation changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileCount {
    /// Number of files.
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_keeps_its_exact_bytes() {
        assert_eq!(PathText::new(b"a b\n"), PathText { path: "a b\n".to_owned(), path_base64: None });
        let odd = PathText::new(b"a\xff");
        assert_eq!((odd.path.as_str(), odd.path_base64.as_deref()), ("a\u{fffd}", Some("Yf8=")));
        assert_eq!(exact(&odd.path, odd.path_base64.as_deref()), b"a\xff");
    }

    #[test]
    fn path_is_given_as_text_or_base64() {
        assert_eq!(given_path("path", Some("a"), None), Ok(b"a".to_vec()));
        assert_eq!(given_path("path", None, Some("Yf8=")), Ok(b"a\xff".to_vec()));
        for (text, base64) in [(None, None), (Some("a"), Some("YQ==")), (None, Some("!"))] {
            assert!(given_path("path", text, base64).is_err());
        }
    }
}
