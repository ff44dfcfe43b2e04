//! Archives: directory trees as one stream.

use serde::{Deserialize, Serialize};

use crate::PathText;

/// Format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ArchiveFormat {
    /// tar, uncompressed.
    #[default]
    #[serde(rename = "tar")]
    Tar,
    /// tar, compressed with zstd.
    #[serde(rename = "tar.zst")]
    TarZst,
    /// tar, compressed with gzip.
    #[serde(rename = "tar.gz")]
    TarGz,
    /// zip.
    #[serde(rename = "zip")]
    Zip,
}

/// What to do when a member's path already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArchiveExisting {
    /// Replace it. A directory is replaced only by a directory, and keeps its content.
    #[default]
    Replace,
    /// Keep it, and report the member as skipped.
    Keep,
    /// Fail.
    Refuse,
}

/// Options for packing a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PackOptions {
    /// Archive format.
    pub format: ArchiveFormat,
    /// Globs of files to include; all files if empty.
    pub include: Vec<String>,
    /// Globs of files to leave out.
    pub exclude: Vec<String>,
    /// Leave out files that `.gitignore` and `.ignore` exclude.
    pub gitignore: bool,
}

/// Files left out of an archive because they cannot be read or the format cannot represent them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Omitted {
    /// Number of files left out.
    pub count: u64,
    /// The first of them, relative to the packed directory.
    pub first: Vec<PathText>,
}

/// Options for unpacking an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnpackOptions {
    /// Archive format; detected from the first bytes if not given.
    pub format: Option<ArchiveFormat>,
    /// Number of leading path components to strip.
    pub strip: u32,
    /// What to do when a path already exists.
    pub existing: ArchiveExisting,
    /// Maximum number of members (default 1000000).
    pub max_entries: Option<u64>,
    /// Maximum number of bytes in files; limited only by the disk if not given.
    pub max_bytes: Option<u64>,
}

/// A member of an archive that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkippedMember {
    /// Path in the archive.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Why it was skipped.
    pub why: String,
}

/// Result of unpacking an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UnpackReceipt {
    /// Format of the archive.
    pub format: ArchiveFormat,
    /// Number of files created.
    pub files: u64,
    /// Number of directories in the archive.
    pub directories: u64,
    /// Number of links and named pipes created.
    pub links: u64,
    /// Number of bytes written to files.
    pub bytes: u64,
    /// Number of members skipped: devices, sockets, and paths that already exist.
    pub skipped: u64,
    /// The first skipped members.
    pub first_skipped: Vec<SkippedMember>,
}
