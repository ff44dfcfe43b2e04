//! A repository whose configuration was checked: where it is, and how git is called in it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::Git;
use super::config::Config;
use super::invocation::{Invocation, Transports};
use super::{nonsense, script, snapshot};
use crate::Error;

/// What [`script::INSPECT`] prints about a repository.
#[derive(Debug)]
pub(super) struct Repository {
    /// Where calls about it run: its worktree, or the directory of the call.
    cwd: PathBuf,
    user: Option<String>,
    directory: OsString,
    common: OsString,
    /// The worktree; none if bare.
    top: Option<OsString>,
    /// The first line of `HEAD`.
    head: Vec<u8>,
    pub(super) config: Config,
}

impl Repository {
    /// Git in this repository, without any transport.
    pub(super) fn git(&self) -> Invocation {
        Invocation::new(Some(self.cwd.clone()), self.user.clone())
    }

    /// Git at the top of the worktree, which lists and takes paths from there.
    pub(super) fn git_at_top(&self) -> Invocation {
        Invocation::new(Some(self.top()), self.user.clone())
    }

    fn top(&self) -> PathBuf {
        self.top.as_ref().map_or_else(|| self.cwd.clone(), PathBuf::from)
    }

    /// Git with a private git directory, which has the configuration that was checked and the objects and refs of this
    /// repository.
    pub(super) fn transfer(&self, transports: Transports) -> Result<Invocation, Error> {
        if self.directory != self.common && self.config.has("extensions", "refstorage") {
            return Err(Error::GitFailed {
                why: "pull and push do not work in a linked worktree whose refs are a reftable; use the main worktree"
                    .to_owned(),
            });
        }
        let config = snapshot::render(&self.config, &self.head);
        let size = config.len().to_string();
        let parameters = vec![self.common.clone(), size.into(), OsString::from_vec(self.head.clone())];
        let mut git = self.git_at_top().by(script::TRANSFER, parameters).transports(transports);
        git.snapshot = config;
        git.with_input = true;
        Ok(git)
    }

    /// The remote that the branch follows; else the only one; else `origin`.
    pub(super) fn default_remote(&self) -> OsString {
        if let Some(branch) = self.head.strip_prefix(b"ref: refs/heads/")
            && let Some(remote) = self.config.values("branch", branch, "remote").last()
        {
            return (*remote).to_owned();
        }
        let entries = self.config.0.iter().filter(|entry| entry.section == b"remote");
        let mut remotes: Vec<&[u8]> = entries.filter_map(|entry| entry.subsection.as_deref()).collect();
        remotes.sort_unstable();
        remotes.dedup();
        match remotes.as_slice() {
            [only] => OsStr::from_bytes(only).to_owned(),
            _ => "origin".into(),
        }
    }
}

impl Git {
    /// Finds the repository around a path, and refuses it if its configuration sets a key that is not allowed.
    pub(super) async fn inspect(&self, path: &str) -> Result<Repository, Error> {
        let cwd = PathBuf::from(self.directory(path)?);
        let repository = self.described(cwd, None).await?;
        if repository.config.has("core", "worktree") {
            // Git writes it for submodules, whose worktree leads back to them. Any other could be the root directory.
            let back = repository.git_at_top().arguments(["rev-parse", "--absolute-git-dir"]);
            let found = self.run(back, None).await.ok().map(|output| output.stdout.head);
            if found.as_deref().and_then(|line| line.strip_suffix(b"\n")) != Some(repository.directory.as_bytes()) {
                return Err(Error::GitConfigRefused { key: "core.worktree".to_owned() });
            }
        }
        Ok(repository)
    }

    /// The same for the repository at exactly this path, which a push is about to change.
    pub(super) async fn inspect_target(&self, from: &Repository, path: OsString) -> Result<(), Error> {
        if path.as_bytes().starts_with(b"~") {
            // `git receive-pack` would look below the home directory of a user.
            return Err(Error::GitFailed { why: "the path of the remote starts with `~`: write it out".to_owned() });
        }
        let target = self.described(from.top(), Some(path)).await?;
        if target.config.has("core", "worktree") {
            return Err(Error::GitConfigRefused { key: "core.worktree".to_owned() });
        }
        Ok(())
    }

    async fn described(&self, cwd: PathBuf, target: Option<OsString>) -> Result<Repository, Error> {
        let git = Invocation::new(Some(cwd.clone()), self.user.clone());
        let printed = self.whole(git.by(script::INSPECT, target.into_iter().collect())).await?;
        let mut fields = printed.splitn(5, |&byte| byte == 0);
        let mut field = || fields.next().map(<[u8]>::to_vec).ok_or_else(|| nonsense("its repository"));
        let (directory, common, top, head) = (field()?, field()?, field()?, field()?);
        let config = Config::parse(&field()?).ok_or_else(|| nonsense("its configuration"))?;
        config.check()?;
        let head = head.split(|&byte| byte == b'\n').next().unwrap_or_default().to_vec();
        let top = (!top.is_empty()).then(|| OsString::from_vec(top));
        let (directory, common) = (OsString::from_vec(directory), OsString::from_vec(common));
        Ok(Repository { cwd, user: self.user.clone(), directory, common, top, head, config })
    }
}
