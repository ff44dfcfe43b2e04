//! Git in the sandbox: what is asked of it, and how far it is.

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
use crate::subscription::{AfterBreak, Question, Subscription};

impl Client {
    /// Fetches a repository, and tells how far it is.
    pub async fn git_clone(
        &self,
        request: &GitCloneRequest,
        told: impl FnMut(GitProgress),
    ) -> Result<GitCloned, Error> {
        self.git_told("clone", request, told).await
    }

    /// Fetches what is new.
    pub async fn git_pull(&self, request: &GitPullRequest, told: impl FnMut(GitProgress)) -> Result<GitPulled, Error> {
        self.git_told("pull", request, told).await
    }

    /// Sends commits.
    pub async fn git_push(&self, request: &GitPushRequest, told: impl FnMut(GitProgress)) -> Result<GitPushed, Error> {
        self.git_told("push", request, told).await
    }

    /// How a repository is.
    pub async fn git_status(&self, request: &GitStatusRequest) -> Result<GitStatus, Error> {
        self.post("/git/status", request).await
    }

    /// What is different, as a patch.
    pub async fn git_diff(&self, request: &GitDiffRequest) -> Result<GitDiff, Error> {
        self.post("/git/diff", request).await
    }

    /// Makes a commit.
    pub async fn git_commit(&self, request: &GitCommitRequest) -> Result<GitCommitted, Error> {
        self.post("/git/commit", request).await
    }

    /// Checks something out.
    pub async fn git_checkout(&self, request: &GitCheckoutRequest) -> Result<GitCheckedOut, Error> {
        self.post("/git/checkout", request).await
    }

    /// Branches.
    pub async fn git_branches(&self, request: &GitBranchesRequest) -> Result<Vec<GitBranch>, Error> {
        let found: GitBranches = self.post("/git/branches", request).await?;
        Ok(found.branches)
    }

    /// Commits, newest first.
    pub async fn git_log(&self, request: &GitLogRequest) -> Result<Vec<GitCommitInfo>, Error> {
        let found: GitLog = self.post("/git/log", request).await?;
        Ok(found.commits)
    }

    async fn git_told<T: DeserializeOwned>(
        &self,
        verb: &str,
        request: &impl Serialize,
        mut told: impl FnMut(GitProgress),
    ) -> Result<T, Error> {
        let body = Some(serde_json::to_vec(request).map_err(Error::invalid)?.into());
        let question = Question { method: Method::POST, path: format!("/git/{verb}"), query: Vec::new(), body };
        // Git ends with the connection: there is nothing to come back to.
        let mut subscription = Subscription::new(self, question, None, AfterBreak::Fail);
        loop {
            let event = subscription.next().await?;
            match event.name.as_str() {
                "progress" => told(read(&event)?),
                "end" => return read(&event),
                "error" => return Err(refused(&event)),
                // A later server may tell more.
                _ => {}
            }
        }
    }
}
