//! Git: what is asked of the sandbox's own, and what it says.

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::file::{exact, told};

/// Who one is to a remote. Never printed, never kept.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitCredentials {
    /// The only server that gets them: `https://host` or `https://host:port`. A clone's own if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<String>,
    /// The name.
    pub username: String,
    /// The password, or a token that stands for it.
    pub password: String,
}

impl std::fmt::Debug for GitCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitCredentials").field("server", &self.server).finish_non_exhaustive()
    }
}

/// A repository to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitCloneRequest {
    /// Where it is: `https://…`, `http://…`, `file://…` or an absolute path inside.
    pub url: String,
    /// The directory that it becomes; else named like the repository, below `/workspace`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The branch or tag to check out; else the remote's own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// Only so many commits back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<u32>,
    /// For the remote, if it asks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credentials: Option<GitCredentials>,
    /// Ends it after so long (ten minutes).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// The user to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A repository that was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitCloned {
    /// Where it is.
    pub path: String,
    /// The branch that is checked out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The commit that is checked out; none if the repository is empty.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
}

/// How far git is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitProgress {
    /// What it does: `Receiving objects`.
    pub phase: String,
    /// How much of it is done.
    pub percent: u8,
    /// In pieces.
    pub done: u64,
    /// Of so many.
    pub total: u64,
}

/// A repository to be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitStatusRequest {
    /// The repository, or a directory in it; relative to `/workspace`.
    pub path: String,
    /// What is ignored, too.
    #[serde(default)]
    pub ignored: bool,
    /// The user to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// What is different about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum GitChange {
    /// It is as it was.
    Unmodified,
    /// Its content.
    Modified,
    /// Its kind: a file became a link.
    TypeChanged,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It had another name.
    Renamed,
    /// It is a copy.
    Copied,
    /// Both sides changed it.
    Unmerged,
    /// Git does not know it.
    Untracked,
    /// Git is told not to know it.
    Ignored,
}

/// One path that is different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitStatusEntry {
    /// The path, from the top of the repository.
    pub path: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Its name before, if it was renamed or copied.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_base64: Option<String>,
    /// How it will differ in the next commit.
    pub staged: GitChange,
    /// How the file differs from that.
    pub worktree: GitChange,
}

impl GitStatusEntry {
    /// Of these bytes.
    pub fn new(path: &[u8], from: Option<&[u8]>, staged: GitChange, worktree: GitChange) -> Self {
        let (path, path_base64) = told(path);
        let (from, from_base64) = match from.map(told) {
            Some((text, base64)) => (Some(text), base64),
            None => (None, None),
        };
        Self { path, path_base64, from, from_base64, staged, worktree }
    }

    /// Its path, exactly.
    pub fn path_bytes(&self) -> Vec<u8> {
        exact(&self.path, self.path_base64.as_deref())
    }
}

/// How a repository is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitStatus {
    /// The branch; none if a commit is checked out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The commit; none before the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// The branch that it follows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub upstream: Option<String>,
    /// Commits that the upstream lacks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ahead: Option<u64>,
    /// Commits that it lacks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub behind: Option<u64>,
    /// What is different.
    pub entries: Vec<GitStatusEntry>,
}

/// What to compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitDiffRequest {
    /// The repository, or a directory in it; relative to `/workspace`.
    pub path: String,
    /// The next commit with the last; else the files with the next commit.
    #[serde(default)]
    pub staged: bool,
    /// This commit with the files, or with `to`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// The other commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
    /// Only these paths.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<String>,
    /// So many lines around each change (3).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<u32>,
    /// The user to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// What is different, as a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitDiff {
    /// The text; bytes that are no UTF-8 are replaced.
    pub diff: String,
    /// There is more than is told: the middle is left out.
    pub truncated: bool,
}

/// Who wrote a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitAuthor {
    /// A name.
    pub name: String,
    /// An address.
    pub email: String,
}

/// A commit to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitCommitRequest {
    /// The repository, or a directory in it; relative to `/workspace`.
    pub path: String,
    /// What it does.
    pub message: String,
    /// Who made it; else as the repository is configured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub author: Option<GitAuthor>,
    /// With every change, new files included.
    #[serde(default)]
    pub all: bool,
    /// With the changes to these paths.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<String>,
    /// Even if nothing is different.
    #[serde(default)]
    pub allow_empty: bool,
    /// The user to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitCommitted {
    /// Its hash.
    pub commit: String,
    /// The branch that it is on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
}

/// What to check out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitCheckoutRequest {
    /// The repository, or a directory in it; relative to `/workspace`.
    pub path: String,
    /// A branch, a tag or a commit.
    pub target: String,
    /// Make the branch.
    #[serde(default)]
    pub create: bool,
    /// Where a new branch begins.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// The user to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitCheckedOut {
    /// The branch; none if it is a commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
}

/// Whose branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitBranchesRequest {
    /// The repository, or a directory in it; relative to `/workspace`.
    pub path: String,
    /// Those of remotes, too.
    #[serde(default)]
    pub remotes: bool,
    /// The user to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitBranch {
    /// Its name.
    pub name: String,
    /// Its last commit.
    pub commit: String,
    /// It is checked out.
    pub current: bool,
    /// The branch that it follows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub upstream: Option<String>,
}

/// Branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitBranches {
    /// By name.
    pub branches: Vec<GitBranch>,
}

/// Which commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitLogRequest {
    /// The repository, or a directory in it; relative to `/workspace`.
    pub path: String,
    /// From here back; else from what is checked out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// So many at most (50, at most 1000).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<u32>,
    /// Only those that changed these paths.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<String>,
    /// The user to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitCommitInfo {
    /// Its hash.
    pub commit: String,
    /// Those before it.
    pub parents: Vec<String>,
    /// Who wrote it.
    pub author: GitAuthor,
    /// When.
    pub time: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// The rest.
    pub body: String,
}

/// Commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitLog {
    /// Newest first.
    pub commits: Vec<GitCommitInfo>,
}

/// What to fetch into a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitPullRequest {
    /// The repository, or a directory in it; relative to `/workspace`.
    pub path: String,
    /// From where (`origin`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote: Option<String>,
    /// Which branch; else the one that is followed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// For the remote, if it asks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credentials: Option<GitCredentials>,
    /// Ends it after so long (ten minutes).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// The user to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitPulled {
    /// The commit that is checked out now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// It was another before.
    pub updated: bool,
}

/// What to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitPushRequest {
    /// The repository, or a directory in it; relative to `/workspace`.
    pub path: String,
    /// To where (`origin`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote: Option<String>,
    /// Which branch; else the one that is checked out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// Follow it from now on.
    #[serde(default)]
    pub set_upstream: bool,
    /// Even if it replaces commits there, unless somebody else added some.
    #[serde(default)]
    pub force: bool,
    /// For the remote, if it asks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credentials: Option<GitCredentials>,
    /// Ends it after so long (ten minutes).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// The user to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A branch that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitPushedRef {
    /// Here.
    pub from: String,
    /// There.
    pub to: String,
    /// What happened.
    pub summary: String,
}

/// What was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitPushed {
    /// One each.
    pub refs: Vec<GitPushedRef>,
}
