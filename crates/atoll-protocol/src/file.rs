//! Files: what is known of one, lists of them, and what can be asked beside reading and writing bytes.
//!
//! A path is text where it can be. One that is no UTF-8 is told twice: as text with what cannot be shown replaced, and
//! exactly, in base64. A request gives either of the two; in a URL the bytes are percent-encoded, whatever they are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::{Encoding, ErrorBody, Timestamp};

/// A path, as text and if need be exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PathText {
    /// As text.
    pub path: String,
    /// Exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
}

impl PathText {
    /// Of these bytes.
    pub fn new(path: &[u8]) -> Self {
        let (path, path_base64) = told(path);
        Self { path, path_base64 }
    }

    /// The bytes.
    pub fn bytes(&self) -> Vec<u8> {
        exact(&self.path, self.path_base64.as_deref())
    }
}

/// A path as it is told: text, and base64 if that is not all.
pub(crate) fn told(path: &[u8]) -> (String, Option<String>) {
    match str::from_utf8(path) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (String::from_utf8_lossy(path).into_owned(), Some(STANDARD.encode(path))),
    }
}

/// What a name stands for.
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
    /// A device that is read in bytes.
    CharacterDevice,
    /// A device that is read in blocks.
    BlockDevice,
}

/// What is known of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileInfo {
    /// Its path: in a list below the directory that was listed, else as it was asked for.
    pub path: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// What it is.
    pub kind: FileKind,
    /// Its length in bytes.
    pub size: u64,
    /// Bytes that it takes on the disk: fewer than its length if it has holes.
    pub allocated: u64,
    /// Permission bits, in octal: `0644`.
    pub mode: String,
    /// Its owner, as numbered inside.
    pub uid: u32,
    /// Its group, as numbered inside.
    pub gid: u32,
    /// How many names it has.
    pub links: u64,
    /// When its content last changed.
    pub modified: Timestamp,
    /// Tells two states of it apart, for `If-Match` and `If-None-Match`.
    pub etag: String,
    /// Where it leads, if it is a symbolic link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<String>,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_base64: Option<String>,
}

impl FileInfo {
    /// Its path, exactly.
    pub fn path_bytes(&self) -> Vec<u8> {
        exact(&self.path, self.path_base64.as_deref())
    }

    /// Where it leads, exactly.
    pub fn target_bytes(&self) -> Option<Vec<u8>> {
        Some(exact(self.target.as_deref()?, self.target_base64.as_deref()))
    }

    /// Sets the path.
    #[must_use]
    pub fn at(mut self, path: &[u8]) -> Self {
        (self.path, self.path_base64) = told(path);
        self
    }

    /// Sets where it leads.
    #[must_use]
    pub fn leading_to(mut self, target: Option<&[u8]>) -> Self {
        (self.target, self.target_base64) = match target.map(told) {
            Some((text, base64)) => (Some(text), base64),
            None => (None, None),
        };
        self
    }
}

pub(crate) fn exact(text: &str, base64: Option<&str>) -> Vec<u8> {
    base64.and_then(|base64| STANDARD.decode(base64).ok()).unwrap_or_else(|| text.as_bytes().to_vec())
}

/// The bytes of a path that a request gives in one of two ways.
///
/// # Errors
/// What is wrong with it, for people: both, neither, or no base64.
pub fn given_path(field: &str, text: Option<&str>, base64: Option<&str>) -> Result<Vec<u8>, String> {
    match (text, base64) {
        (Some(text), None) => Ok(text.as_bytes().to_vec()),
        (None, Some(base64)) => STANDARD.decode(base64).map_err(|_| format!("{field}_base64: not base64")),
        (None, None) => Err(format!("missing field `{field}`")),
        (Some(_), Some(_)) => Err(format!("give `{field}` or `{field}_base64`, not both")),
    }
}

/// Whether something is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileExists {
    /// Whether.
    pub exists: bool,
    /// What it is, links followed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<FileKind>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileList {
    /// The entries.
    pub entries: Vec<FileInfo>,
    /// Give this as `after` for the next page; not there on the last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
    /// So many directories below could not be read.
    pub unreadable: u64,
}

/// One line of a list that is streamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileListLine {
    /// An entry.
    Entry(FileInfo),
    /// The last line.
    End(FileListEnd),
    /// The last line, if it went wrong in the middle.
    Error(ErrorBody),
}

/// How a list that is streamed ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileListEnd {
    /// Give this as `after` to go on; not there if that was all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
    /// So many directories below could not be read.
    pub unreadable: u64,
}

/// A file's content as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileText {
    /// The file.
    pub file: FileInfo,
    /// What was read of it.
    pub data: String,
    /// How it is put into JSON.
    pub encoding: Encoding,
    /// Bytes that are no UTF-8 were replaced.
    pub replaced: bool,
}

/// Write a file whose content is in the request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WriteFileRequest {
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// The content.
    pub data: String,
    /// How it is put into JSON.
    #[serde(default)]
    pub encoding: Encoding,
    /// Permission bits, in octal. Else those that it has, or 0644.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mode: Option<String>,
    /// Make the directories above it that are missing.
    #[serde(default)]
    pub parents: bool,
    /// Add to its end.
    #[serde(default)]
    pub append: bool,
    /// Only if it is not there.
    #[serde(default)]
    pub if_absent: bool,
    /// Only if it is in the state with this tag.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub if_match: Option<String>,
    /// The user to do it as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A file was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WriteReceipt {
    /// As it is now.
    pub file: FileInfo,
    /// It was not there before.
    pub created: bool,
    /// It was replaced in one step. If not, it was changed where it is: its directory may not be written, its owner not
    /// be given, or something was added to its end.
    pub atomic: bool,
}

/// Files were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UploadReceipt {
    /// Each of them.
    pub files: Vec<WriteReceipt>,
}

/// Make a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MakeDirectoryRequest {
    /// The directory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Those above it too; and it is no error that it is there.
    #[serde(default)]
    pub parents: bool,
    /// Its permission bits, in octal; else 0755.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mode: Option<String>,
    /// The user to do it as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A directory was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MakeDirectoryReceipt {
    /// The directory.
    pub file: FileInfo,
    /// It was not there before.
    pub created: bool,
}

/// Rename, move or copy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FromToRequest {
    /// What.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_base64: Option<String>,
    /// Its new name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to_base64: Option<String>,
    /// Replace what is there; a copy merges directories.
    #[serde(default)]
    pub replace: bool,
    /// Make the directories above the new name that are missing.
    #[serde(default)]
    pub parents: bool,
    /// Directories with all that is in them; for a copy only.
    #[serde(default)]
    pub recursive: bool,
    /// The user to do it as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Set permission bits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ModeRequest {
    /// What.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// In octal: `0755`.
    pub mode: String,
    /// Of all that is in it, too.
    #[serde(default)]
    pub recursive: bool,
    /// The user to do it as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Make a symbolic link.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SymlinkRequest {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Where it leads; taken as it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_base64: Option<String>,
    /// Replace what is there, if it is no directory.
    #[serde(default)]
    pub replace: bool,
    /// Make the directories above it that are missing.
    #[serde(default)]
    pub parents: bool,
    /// The user to do it as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// So many things were done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileCount {
    /// How many.
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_exactly() {
        assert_eq!(PathText::new(b"a b\n"), PathText { path: "a b\n".to_owned(), path_base64: None });
        let odd = PathText::new(b"a\xff");
        assert_eq!((odd.path.as_str(), odd.path_base64.as_deref()), ("a\u{fffd}", Some("Yf8=")));
        assert_eq!(exact(&odd.path, odd.path_base64.as_deref()), b"a\xff");
    }

    #[test]
    fn a_path_is_given_in_one_of_two_ways() {
        assert_eq!(given_path("path", Some("a"), None), Ok(b"a".to_vec()));
        assert_eq!(given_path("path", None, Some("Yf8=")), Ok(b"a\xff".to_vec()));
        for (text, base64) in [(None, None), (Some("a"), Some("YQ==")), (None, Some("!"))] {
            assert!(given_path("path", text, base64).is_err());
        }
    }
}
