//! Git in the sandbox.

use atoll_protocol::{
    GitBranch, GitBranches, GitBranchesRequest, GitCheckedOut, GitCheckoutRequest, GitCloneRequest, GitCloned,
    GitCommitInfo, GitCommitRequest, GitCommitted, GitDiff, GitDiffRequest, GitLog, GitLogRequest, GitProgress,
    GitPullRequest, GitPulled, GitPushRequest, GitPushed, GitStatus, GitStatusRequest,
};
use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::Error;
use crate::follow::{read, refused};
use crate::subscription::{AfterBreak, StreamRequest, Subscription};

impl Client {
    /// Clones a repository and reports progress.
    pub async fn git_clone(
        &self,
        request: &GitCloneRequest,
        progress: impl FnMut(GitProgress),
    ) -> Result<GitCloned, Error> {
        self.git_with_progress("clone", request, progress).await
    }

    /// Pulls from a remote and reports progress.
    pub async fn git_pull(
        &self,
        request: &GitPullRequest,
        progress: impl FnMut(GitProgress),
    ) -> Result<GitPulled, Error> {
        self.git_with_progress("pull", request, progress).await
    }

    /// Pushes to a remote and reports progress.
    pub async fn git_push(
        &self,
        request: &GitPushRequest,
        progress: impl FnMut(GitProgress),
    ) -> Result<GitPushed, Error> {
        self.git_with_progress("push", request, progress).await
    }

    /// Returns the status of a repository.
    pub async fn git_status(&self, request: &GitStatusRequest) -> Result<GitStatus, Error> {
        self.post("/git/status", request).await
    }

    /// Returns a diff.
    pub async fn git_diff(&self, request: &GitDiffRequest) -> Result<GitDiff, Error> {
        self.post("/git/diff", request).await
    }

    /// Creates a commit.
    pub async fn git_commit(&self, request: &GitCommitRequest) -> Result<GitCommitted, Error> {
        self.post("/git/commit", request).await
    }

    /// Checks out a branch, tag or commit.
    pub async fn git_checkout(&self, request: &GitCheckoutRequest) -> Result<GitCheckedOut, Error> {
        self.post("/git/checkout", request).await
    }

    /// Lists branches.
    pub async fn git_branches(&self, request: &GitBranchesRequest) -> Result<Vec<GitBranch>, Error> {
        let found: GitBranches = self.post("/git/branches", request).await?;
        Ok(found.branches)
    }

    /// Lists commits, newest first.
    pub async fn git_log(&self, request: &GitLogRequest) -> Result<Vec<GitCommitInfo>, Error> {
        let found: GitLog = self.post("/git/log", request).await?;
        Ok(found.commits)
    }

    async fn git_with_progress<T: DeserializeOwned>(
        &self,
        verb: &str,
        request: &impl Serialize,
        mut progress: impl FnMut(GitProgress),
    ) -> Result<T, Error> {
        let body = Some(serde_json::to_vec(request).map_err(Error::invalid)?.into());
        let stream_request =
            StreamRequest { method: Method::POST, path: format!("/git/{verb}"), query: Vec::new(), body };
        // The server kills git when the connection drops, so there is nothing to reconnect to.
        let mut subscription = Subscription::new(self, stream_request, None, AfterBreak::Fail);
        loop {
            let event = subscription.next().await?;
            match event.name.as_str() {
                "progress" => progress(read(&event)?),
                "end" => return read(&event),
                "error" => return Err(refused(&event)),
                // A later server may send other events.
                _ => {}
            }
        }
    }
}
