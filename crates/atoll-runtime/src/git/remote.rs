//! What git does with other repositories: clone, pull, push.
//!
//! A pull is a fetch and a fast-forward. The fetch, and a push, run with a private git directory (`script::TRANSFER`), so
//! that the configuration they read is the one that was checked. A clone with credentials runs in one as well.

use std::ffi::{OsStr, OsString};

use atoll_protocol::{
    GitCheckedOut, GitCloneRequest, GitCloned, GitCredentials, GitPullRequest, GitPulled, GitPushRequest, GitPushed,
    GitPushedRef,
};

use super::invocation::{Invocation, Transports, other_side};
use super::location::{self, Direction, Location};
use super::progress::Progress;
use super::repository::Repository;
use super::{Git, credentials, parse, script};
use crate::Error;

impl Git {
    /// Fetches a repository.
    pub async fn clone(&self, request: &GitCloneRequest, progress: Option<Progress>) -> Result<GitCloned, Error> {
        location::check_url(&request.url)?;
        let path = match &request.path {
            Some(path) => path.clone(),
            None => location::named_like(&request.url)?,
        };
        let path = self.directory(&path)?;
        let from = [Location::of(OsStr::new(&request.url))];
        let transports = transports(request.credentials.as_ref(), &from, &request.url)?;
        let mut git = Invocation::new(None, self.user.clone()).timeout(request.timeout_ms).transports(transports);
        git = git.arguments(["clone", "--progress", "--no-recurse-submodules", "--template="]);
        git = pinned(git, &from, Direction::Fetch);
        if let Some(branch) = &request.branch {
            git = git.arguments(["--branch"]).name(branch)?;
        }
        if let Some(depth) = request.depth {
            let depth = format!("--depth={}", depth.max(1));
            git = git.arguments([depth.as_str(), "--no-shallow-submodules"]);
        }
        let (git, secret) = credentials::attach(git, request.credentials.as_ref(), Some(&request.url))?;
        let (checkout, git) = match &secret {
            Some(_) => (true, git.arguments(["--no-checkout"]).by(script::CLONE, vec![path.clone().into()])),
            None => (false, git),
        };
        let git = git.arguments(["--"]).name(&request.url)?;
        let git = if checkout { git } else { git.argument(&path) };
        self.run_told(git, secret.as_ref(), progress, &[0]).await?;
        let repository = self.inspect(&path).await?;
        let GitCheckedOut { branch, commit } = self.head(&repository).await?;
        if checkout && commit.is_some() {
            let git = repository.git().timeout(request.timeout_ms).arguments(["read-tree", "-m", "-u", "HEAD"]);
            self.run(git, None).await?;
        }
        Ok(GitCloned { path, branch, commit })
    }

    /// Fetches what is new, and goes on to it if nothing of ours is in the way.
    pub async fn pull(&self, request: &GitPullRequest, progress: Option<Progress>) -> Result<GitPulled, Error> {
        let repository = self.inspect(&request.path).await?;
        let before = self.head(&repository).await?.commit;
        let remote = match (&request.remote, &request.branch) {
            (Some(remote), _) => remote.into(),
            (None, Some(_)) => OsString::from("origin"),
            (None, None) => repository.default_remote(),
        };
        let from = location::of_remote(&repository.config, &remote, Direction::Fetch);
        let transports = transports(request.credentials.as_ref(), &from, &remote.to_string_lossy())?;
        let git = repository.transfer(transports)?.timeout(request.timeout_ms);
        let (git, secret) = credentials::attach(git, request.credentials.as_ref(), None)?;
        let git = git.arguments(["fetch", "--progress", "--no-recurse-submodules"]);
        let git = pinned(git, &from, Direction::Fetch).name(&remote)?.revision(request.branch.as_deref())?;
        let fetched = self.run_told(git, secret.as_ref(), progress, &[0]).await?;
        let commits = parse::to_merge(&fetched.stdout.head);
        let [new] = commits.as_slice() else {
            return Err(Error::GitFailed {
                why: format!("{} branches of the remote to pull, and not one: say which (`branch`)", commits.len()),
            });
        };
        // Only forwards: a merge would run what the repository says, and may need somebody to decide.
        let git = repository.git_at_top().timeout(request.timeout_ms);
        self.run(git.arguments(["merge", "--ff-only", "--no-stat", "--quiet", new]), None).await?;
        let commit = self.head(&repository).await?.commit;
        Ok(GitPulled { updated: commit != before, commit })
    }

    /// Sends commits.
    pub async fn push(&self, request: &GitPushRequest, progress: Option<Progress>) -> Result<GitPushed, Error> {
        let repository = self.inspect(&request.path).await?;
        let branch = match &request.branch {
            Some(branch) => branch.clone(),
            None => self.head(&repository).await?.branch.ok_or_else(|| {
                Error::invalid("branch: a commit is checked out and no branch, so say which one to push")
            })?,
        };
        let remote = request.remote.as_deref().unwrap_or("origin");
        let to = location::of_remote(&repository.config, OsStr::new(remote), Direction::Push);
        let transports = transports(request.credentials.as_ref(), &to, remote)?;
        for location in &to {
            if let Location::Local(path) = location {
                self.inspect_target(&repository, path.clone()).await?;
            }
        }
        let git = repository.transfer(transports)?.timeout(request.timeout_ms);
        let (git, secret) = credentials::attach(git, request.credentials.as_ref(), None)?;
        let git = git.arguments(["push", "--progress", "--porcelain", "--no-verify", "--no-signed"]);
        let mut git = pinned(git, &to, Direction::Push);
        if request.force {
            git = git.arguments(["--force-with-lease"]);
        }
        let git = git.name(remote)?.name(&branch)?;
        let output = self.run_told(git, secret.as_ref(), progress, &[0]).await?;
        let refs = parse::pushed(&output.stdout.head);
        if request.set_upstream {
            self.follow(&repository, remote, &refs).await?;
        }
        Ok(GitPushed { refs })
    }

    /// Makes branches follow what they were pushed to. `git push --set-upstream` would write that into the private
    /// configuration.
    async fn follow(&self, repository: &Repository, remote: &str, refs: &[GitPushedRef]) -> Result<(), Error> {
        for (branch, to) in
            refs.iter().filter_map(|pushed| Some((pushed.from.strip_prefix("refs/heads/")?, &pushed.to)))
        {
            for (name, value) in [("remote", remote), ("merge", to)] {
                let key = format!("branch.{branch}.{name}");
                self.run(repository.git().arguments(["config", "--local", &key, value]), None).await?;
            }
        }
        Ok(())
    }
}

/// The transports of a call. With credentials, only a server can be at the other end: a directory would be opened by
/// programs of git, next to them.
fn transports(given: Option<&GitCredentials>, ends: &[Location], name: &str) -> Result<Transports, Error> {
    match given {
        None => Ok(Transports::HttpAndLocal),
        Some(_) if ends.iter().all(|end| *end == Location::Http) => Ok(Transports::Http),
        Some(_) => Err(Error::invalid(format!(
            "credentials: `{}` is not an http:// or https:// address, and no other gets credentials; leave them out",
            name.escape_debug()
        ))),
    }
}

/// Says what git starts at the other end of a local transport.
fn pinned(git: Invocation, ends: &[Location], direction: Direction) -> Invocation {
    if ends.iter().all(|end| *end == Location::Http) {
        return git;
    }
    let option = match direction {
        Direction::Fetch => format!("--upload-pack={}", other_side("upload-pack")),
        Direction::Push => format!("--receive-pack={}", other_side("receive-pack")),
    };
    git.argument(option)
}
