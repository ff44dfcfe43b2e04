//! Git: requests to the git installed in the sandbox, and its results.

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::file::{exact, text_and_base64};

/// Credentials for a remote. Never logged, never stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitCredentials {
    /// The only server that receives them: `https://host` or `https://host:port`. For a clone, the server of its URL
    /// by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<String>,
    /// User name.
    pub username: String,
    /// Password or access token.
    pub password: String,
}

impl std::fmt::Debug for GitCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitCredentials").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Clones a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitCloneRequest {
    /// URL of the repository: `https://…`, `http://…`, `file://…` or an absolute path inside the sandbox.
    pub url: String,
    /// Directory to clone into; by default named after the repository, below `/workspace`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Branch or tag to check out; the remote's default branch if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// Number of commits of history to fetch; all if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<u32>,
    /// Credentials for the remote, if it requires them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credentials: Option<GitCredentials>,
    /// Time limit (default ten minutes).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// User to run git as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Result of a clone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitCloned {
    /// Directory of the repository.
    pub path: String,
    /// The branch checked out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The commit checked out; absent if the repository is empty.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
}

/// Progress of a git operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitProgress {
    /// Current phase: `Receiving objects`.
    pub phase: String,
    /// Percentage done.
    pub percent: u8,
    /// Number of items done.
    pub done: u64,
    /// Total number of items.
    pub total: u64,
}

/// Requests the status of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitStatusRequest {
    /// Path of the repository, or of a directory in it; relative to `/workspace`.
    pub path: String,
    /// Include ignored files.
    #[serde(default)]
    pub ignored: bool,
    /// User to run git as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// How a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum GitChange {
    /// It is unchanged.
    Unmodified,
    /// Its content changed.
    Modified,
    /// Its type changed, such as from a file to a link.
    TypeChanged,
    /// It was added.
    Added,
    /// It was deleted.
    Deleted,
    /// It was renamed.
    Renamed,
    /// It was copied.
    Copied,
    /// It has a merge conflict.
    Unmerged,
    /// Git does not track it.
    Untracked,
    /// Git ignores it.
    Ignored,
}

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitStatusEntry {
    /// Path relative to the root of the repository.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Previous path, if it was renamed or copied.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Exact previous path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_base64: Option<String>,
    /// Change in the index, compared with the last commit.
    pub staged: GitChange,
    /// Change in the working tree, compared with the index.
    pub worktree: GitChange,
}

impl GitStatusEntry {
    /// Creates an entry from the bytes of its paths.
    pub fn new(path: &[u8], from: Option<&[u8]>, staged: GitChange, worktree: GitChange) -> Self {
        let (path, path_base64) = text_and_base64(path);
        let (from, from_base64) = match from.map(text_and_base64) {
            Some((text, base64)) => (Some(text), base64),
            None => (None, None),
        };
        Self { path, path_base64, from, from_base64, staged, worktree }
    }

    /// Returns the exact bytes of the path.
    pub fn path_bytes(&self) -> Vec<u8> {
        exact(&self.path, self.path_base64.as_deref())
    }
}

/// Status of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitStatus {
    /// The current branch; absent if HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The current commit; absent before the first commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// The upstream branch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub upstream: Option<String>,
    /// Number of commits that the upstream lacks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ahead: Option<u64>,
    /// Number of upstream commits that the branch lacks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub behind: Option<u64>,
    /// Paths that differ.
    pub entries: Vec<GitStatusEntry>,
}

/// Requests a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitDiffRequest {
    /// Path of the repository, or of a directory in it; relative to `/workspace`.
    pub path: String,
    /// Compare the index with the last commit, instead of the working tree with the index.
    #[serde(default)]
    pub staged: bool,
    /// Commit to compare with the working tree, or with `to`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// The other commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
    /// Limit the diff to these paths.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<String>,
    /// Number of context lines around each change (default 3).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<u32>,
    /// User to run git as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitDiff {
    /// The patch; bytes that are not valid UTF-8 are replaced.
    pub diff: String,
    /// Whether the middle of the patch was left out because of its size.
    pub truncated: bool,
}

/// Author of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitAuthor {
    /// Name.
    pub name: String,
    /// Email address.
    pub email: String,
}

/// Creates a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitCommitRequest {
    /// Path of the repository, or of a directory in it; relative to `/workspace`.
    pub path: String,
    /// Commit message.
    pub message: String,
    /// Author and committer; from the repository's configuration if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub author: Option<GitAuthor>,
    /// Include every change, and new files.
    #[serde(default)]
    pub all: bool,
    /// Include the changes to these paths.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<String>,
    /// Create the commit even if it changes nothing.
    #[serde(default)]
    pub allow_empty: bool,
    /// User to run git as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Result of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitCommitted {
    /// Hash of the commit.
    pub commit: String,
    /// Branch of the commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
}

/// Checks out a branch, tag or commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitCheckoutRequest {
    /// Path of the repository, or of a directory in it; relative to `/workspace`.
    pub path: String,
    /// Branch, tag or commit to check out.
    pub target: String,
    /// Create the branch.
    #[serde(default)]
    pub create: bool,
    /// Starting point of a new branch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// User to run git as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Result of a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitCheckedOut {
    /// The current branch; absent if HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The current commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
}

/// Lists branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitBranchesRequest {
    /// Path of the repository, or of a directory in it; relative to `/workspace`.
    pub path: String,
    /// Include remote-tracking branches.
    #[serde(default)]
    pub remotes: bool,
    /// User to run git as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitBranch {
    /// Name of the branch.
    pub name: String,
    /// Its last commit.
    pub commit: String,
    /// Whether it is checked out.
    pub current: bool,
    /// Its upstream branch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub upstream: Option<String>,
}

/// A list of branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitBranches {
    /// Branches, sorted by name.
    pub branches: Vec<GitBranch>,
}

/// Lists commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitLogRequest {
    /// Path of the repository, or of a directory in it; relative to `/workspace`.
    pub path: String,
    /// Commit to start from, going back in history; the current commit if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Maximum number of commits (default 50, at most 1000).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<u32>,
    /// Only commits that changed these paths.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<String>,
    /// User to run git as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitCommitInfo {
    /// Hash of the commit.
    pub commit: String,
    /// Hashes of its parents.
    pub parents: Vec<String>,
    /// Author of the commit.
    pub author: GitAuthor,
    /// When it was authored.
    pub time: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message.
    pub body: String,
}

/// A list of commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitLog {
    /// Commits, newest first.
    pub commits: Vec<GitCommitInfo>,
}

/// Pulls from a remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitPullRequest {
    /// Path of the repository, or of a directory in it; relative to `/workspace`.
    pub path: String,
    /// Remote to pull from (default `origin`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote: Option<String>,
    /// Branch to pull; the upstream branch if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// Credentials for the remote, if it requires them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credentials: Option<GitCredentials>,
    /// Time limit (default ten minutes).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// User to run git as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Result of a pull.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitPulled {
    /// The current commit, after the pull.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// Whether the pull changed it.
    pub updated: bool,
}

/// Pushes to a remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GitPushRequest {
    /// Path of the repository, or of a directory in it; relative to `/workspace`.
    pub path: String,
    /// Remote to push to (default `origin`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote: Option<String>,
    /// Branch to push; the current branch if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// Set the remote branch as upstream.
    #[serde(default)]
    pub set_upstream: bool,
    /// Replace commits on the remote, unless another client has pushed in the meantime.
    #[serde(default)]
    pub force: bool,
    /// Credentials for the remote, if it requires them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credentials: Option<GitCredentials>,
    /// Time limit (default ten minutes).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// User to run git as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// One pushed ref.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitPushedRef {
    /// Local ref.
    pub from: String,
    /// Remote ref.
    pub to: String,
    /// Summary of the update, as git prints it.
    pub summary: String,
}

/// Result of a push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GitPushed {
    /// The pushed refs.
    pub refs: Vec<GitPushedRef>,
}
