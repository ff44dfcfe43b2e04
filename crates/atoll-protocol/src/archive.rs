//! Trees of files as one stream.

use serde::{Deserialize, Serialize};

use crate::PathText;

/// The form of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ArchiveFormat {
    /// A tar.
    #[default]
    #[serde(rename = "tar")]
    Tar,
    /// A tar in zstd.
    #[serde(rename = "tar.zst")]
    TarZst,
    /// A tar in gzip.
    #[serde(rename = "tar.gz")]
    TarGz,
    /// A zip.
    #[serde(rename = "zip")]
    Zip,
}

/// What to do where a member's name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArchiveExisting {
    /// It is replaced; a directory by a directory only, and what is in it stays.
    #[default]
    Replace,
    /// It stays, and the member is told as skipped.
    Keep,
    /// That is an error.
    Refuse,
}

/// How a tree is packed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PackOptions {
    /// The form.
    pub format: ArchiveFormat,
    /// Globs that a file must match, if there is any.
    pub include: Vec<String>,
    /// Globs of what is left out.
    pub exclude: Vec<String>,
    /// Leave out what `.gitignore` and `.ignore` name.
    pub gitignore: bool,
}

/// What is left out of an archive because it cannot be read, or the form has no place for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Omitted {
    /// How many things.
    pub count: u64,
    /// The first of them, below what is packed.
    pub first: Vec<PathText>,
}

/// How an archive is unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnpackOptions {
    /// Its form; told by how it begins if not given.
    pub format: Option<ArchiveFormat>,
    /// Leading names of paths that are dropped.
    pub strip: u32,
    /// What to do where a name is taken.
    pub existing: ArchiveExisting,
    /// Members at most (1000000).
    pub max_entries: Option<u64>,
    /// Bytes of files at most; as many as the disk takes if not given.
    pub max_bytes: Option<u64>,
}

/// A member of an archive that was not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkippedMember {
    /// Its path in the archive.
    pub path: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Why.
    pub why: String,
}

/// An archive was unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UnpackReceipt {
    /// Its form.
    pub format: ArchiveFormat,
    /// Files that were made.
    pub files: u64,
    /// Directories that the archive names.
    pub directories: u64,
    /// Links and named pipes.
    pub links: u64,
    /// Bytes written to files.
    pub bytes: u64,
    /// Members that were not made: devices and sockets, or names that are taken.
    pub skipped: u64,
    /// The first of them.
    pub first_skipped: Vec<SkippedMember>,
}
