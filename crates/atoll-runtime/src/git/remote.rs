//! What git does with other repositories: clone, pull, push.

use atoll_protocol::{GitCheckedOut, GitCloneRequest, GitCloned, GitPullRequest, GitPulled, GitPushRequest, GitPushed};

use super::invocation::Invocation;
use super::progress::Progress;
use super::{Git, credentials, parse};
use crate::Error;

impl Git {
    /// Fetches a repository.
    pub async fn clone(&self, request: &GitCloneRequest, progress: Option<Progress>) -> Result<GitCloned, Error> {
        check_url(&request.url)?;
        let path = match &request.path {
            Some(path) => path.clone(),
            None => named_like(&request.url)?,
        };
        let path = self.directory(&path)?;
        let mut git = Invocation::new(None, self.user.clone()).timeout(request.timeout_ms);
        git = git.arguments(["clone", "--progress", "--no-recurse-submodules", "--template="]);
        if let Some(branch) = &request.branch {
            git = git.arguments(["--branch"]).name(branch)?;
        }
        if let Some(depth) = request.depth {
            let depth = format!("--depth={}", depth.max(1));
            git = git.arguments([depth.as_str(), "--no-shallow-submodules"]);
        }
        let (git, secret) = credentials::attach(git, request.credentials.as_ref(), Some(&request.url))?;
        let git = git.arguments(["--"]).name(&request.url)?.arguments([path.as_str()]);
        self.run_told(git, secret.as_ref(), progress, &[0]).await?;
        let GitCheckedOut { branch, commit } = self.head(&path).await?;
        Ok(GitCloned { path, branch, commit })
    }

    /// Fetches what is new, and goes on to it if nothing of ours is in the way.
    pub async fn pull(&self, request: &GitPullRequest, progress: Option<Progress>) -> Result<GitPulled, Error> {
        let before = self.head(&request.path).await?.commit;
        let git = self.at(&request.path).await?.timeout(request.timeout_ms);
        let (git, secret) = credentials::attach(git, request.credentials.as_ref(), None)?;
        // Only forwards: a merge would run what the repository says, and may need somebody to decide.
        let git = git.arguments(["pull", "--progress", "--ff-only", "--no-rebase", "--no-recurse-submodules"]);
        let git = match (&request.remote, &request.branch) {
            (None, None) => git,
            (remote, branch) => git.name(remote.as_deref().unwrap_or("origin"))?.revision(branch.as_deref())?,
        };
        self.run_told(git, secret.as_ref(), progress, &[0]).await?;
        let commit = self.head(&request.path).await?.commit;
        Ok(GitPulled { updated: commit != before, commit })
    }

    /// Sends commits.
    pub async fn push(&self, request: &GitPushRequest, progress: Option<Progress>) -> Result<GitPushed, Error> {
        let branch = match &request.branch {
            Some(branch) => branch.clone(),
            None => self.head(&request.path).await?.branch.ok_or_else(|| {
                Error::invalid("branch: a commit is checked out and no branch, so say which one to push")
            })?,
        };
        let git = self.at(&request.path).await?.timeout(request.timeout_ms);
        let (git, secret) = credentials::attach(git, request.credentials.as_ref(), None)?;
        let mut git = git.arguments(["push", "--progress", "--porcelain", "--no-verify", "--no-signed"]);
        if request.set_upstream {
            git = git.arguments(["--set-upstream"]);
        }
        if request.force {
            git = git.arguments(["--force-with-lease"]);
        }
        let git = git.name(request.remote.as_deref().unwrap_or("origin"))?.name(&branch)?;
        let output = self.run_told(git, secret.as_ref(), progress, &[0]).await?;
        Ok(GitPushed { refs: parse::pushed(&output.stdout.head) })
    }
}

/// What can be fetched without a shell, a key or a password in the address.
fn check_url(url: &str) -> Result<(), Error> {
    let refuse = |why: &str| Err(Error::invalid(format!("url: {why}")));
    if url.contains(['\0', '\n', '\r']) || url.starts_with('-') {
        return refuse("cannot be");
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return if url.starts_with('/') {
            Ok(())
        } else {
            refuse("must be https://, http://, file:// or an absolute path")
        };
    };
    match scheme {
        "https" | "http" => {
            if rest.split('/').next().is_some_and(|host| host.contains('@')) {
                return refuse("has a name or a password in it, which git would keep; give them as `credentials`");
            }
            Ok(())
        }
        "file" => Ok(()),
        _ => refuse("must be https://, http://, file:// or an absolute path"),
    }
}

/// The last name of an address, without `.git`.
fn named_like(url: &str) -> Result<String, Error> {
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let last = last.strip_suffix(".git").unwrap_or(last);
    if last.is_empty() || last == "." || last == ".." || last.contains(':') {
        return Err(Error::invalid("path: the address does not say how to name the directory"));
    }
    Ok(last.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_run_or_keep_something_are_refused() {
        for good in ["https://example.org/a.git", "http://127.0.0.1:8000/a", "file:///srv/a", "/srv/a"] {
            check_url(good).unwrap();
        }
        for bad in [
            "ext::sh -c evil",
            "ssh://example.org/a",
            "git@example.org:a/b.git",
            "git://example.org/a",
            "https://me:secret@example.org/a",
            "--upload-pack=evil",
            "relative/path",
            "https://a\nb",
        ] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
        assert_eq!(named_like("https://example.org/a/b.git/").unwrap(), "b");
        assert!(named_like("https://").is_err());
    }
}
