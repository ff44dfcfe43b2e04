//! The sandbox's own git, run for a caller outside: as the user of the call, inside the wall, like any command.
//!
//! What a repository holds must not decide what runs when somebody looks at it: no hooks, no monitors, no drivers, no
//! helpers, no configuration but the repository's own and ours (`invocation`). Credentials reach git through a pipe that
//! it asks once, for one server (`credentials`): no argument, variable or file ever holds them.

mod credentials;
mod invocation;
mod parse;
mod progress;
mod remote;
mod run;

use atoll_protocol::{
    GitBranch, GitCheckedOut, GitCheckoutRequest, GitCommitInfo, GitCommitRequest, GitCommitted, GitDiff,
    GitDiffRequest, GitLogRequest, GitStatus,
};

pub use progress::Progress;

use crate::Error;
use crate::sandbox::Sandbox;
use invocation::Invocation;

/// The longest answer of git that is taken whole; a diff beyond it loses its middle.
const ANSWER: usize = 16 * 1024 * 1024;

/// The git of a sandbox, as one of its users runs it. Cheap to make.
#[derive(Debug, Clone)]
pub struct Git {
    sandbox: Sandbox,
    user: Option<String>,
}

impl Git {
    pub(crate) fn new(sandbox: Sandbox, user: Option<String>) -> Self {
        Self { sandbox, user }
    }

    /// How a repository is.
    pub async fn status(&self, path: &str, ignored: bool) -> Result<GitStatus, Error> {
        let ignored = if ignored { "--ignored=matching" } else { "--ignored=no" };
        let arguments = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", ignored];
        let told = self.whole(self.at(path).await?.arguments(arguments)).await?;
        parse::status(&told).ok_or_else(|| nonsense("its status"))
    }

    /// What is different, as a patch.
    pub async fn diff(&self, request: &GitDiffRequest) -> Result<GitDiff, Error> {
        let mut git = self.at(&request.path).await?;
        let context = format!("--unified={}", request.context.unwrap_or(3));
        git = git.arguments([
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--src-prefix=a/",
            "--dst-prefix=b/",
        ]);
        git = git.arguments([context.as_str()]);
        if request.staged {
            git = git.arguments(["--cached"]);
        }
        git = git.revision(request.from.as_deref())?.revision(request.to.as_deref())?.paths(&request.paths)?;
        let output = self.run(git, None).await?;
        let omitted = output.stdout.omitted > 0;
        let between = if omitted { &b"\n[...]\n"[..] } else { b"" };
        let diff = [&output.stdout.head[..], between, &output.stdout.tail].concat();
        Ok(GitDiff { diff: String::from_utf8_lossy(&diff).into_owned(), truncated: omitted })
    }

    /// Makes a commit.
    pub async fn commit(&self, request: &GitCommitRequest) -> Result<GitCommitted, Error> {
        if request.message.trim().is_empty() {
            return Err(Error::invalid("a commit needs a message"));
        }
        if request.all && !request.paths.is_empty() {
            return Err(Error::invalid("give `all` or `paths`, not both"));
        }
        if request.all || !request.paths.is_empty() {
            let add = self.at(&request.path).await?.arguments(["add", "--all"]).paths(&request.paths)?;
            self.run(add, None).await?;
        }
        let mut git = self.at(&request.path).await?;
        if let Some(author) = &request.author {
            git = git.identity(&author.name, &author.email)?;
        }
        git = git.arguments(["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace"]);
        if request.allow_empty {
            git = git.arguments(["--allow-empty"]);
        }
        let message = format!("--message={}", request.message);
        git = git.arguments([message.as_str()]);
        if !request.paths.is_empty() {
            git = git.arguments(["--only"]).paths(&request.paths)?;
        }
        self.run(git, None).await?;
        let GitCheckedOut { branch, commit } = self.head(&request.path).await?;
        Ok(GitCommitted { commit: commit.ok_or_else(|| nonsense("its commit"))?, branch })
    }

    /// Checks something out.
    pub async fn checkout(&self, request: &GitCheckoutRequest) -> Result<GitCheckedOut, Error> {
        let mut git = self.at(&request.path).await?.arguments(["checkout", "--quiet", "--no-guess"]);
        if request.create {
            git = git.arguments(["-b"]).name(&request.target)?.revision(request.from.as_deref())?;
        } else if request.from.is_some() {
            return Err(Error::invalid("`from` is where a new branch begins: it goes with `create`"));
        } else {
            git = git.revision(Some(&request.target))?;
        }
        self.run(git.arguments(["--"]), None).await?;
        self.head(&request.path).await
    }

    /// Branches, by name.
    pub async fn branches(&self, path: &str, remotes: bool) -> Result<Vec<GitBranch>, Error> {
        let format = "--format=%(refname:short)%00%(objectname)%00%(HEAD)%00%(upstream:short)%00%(symref)";
        let mut git = self.at(path).await?.arguments(["for-each-ref", format, "refs/heads"]);
        if remotes {
            git = git.arguments(["refs/remotes"]);
        }
        parse::branches(&self.whole(git).await?).ok_or_else(|| nonsense("its branches"))
    }

    /// Commits, newest first.
    pub async fn log(&self, request: &GitLogRequest) -> Result<Vec<GitCommitInfo>, Error> {
        let limit = request.limit.unwrap_or(50);
        if !(1..=1000).contains(&limit) {
            return Err(Error::invalid("limit: a log has 1 to 1000 commits"));
        }
        let count = format!("--max-count={limit}");
        let format = "--format=%H%x00%P%x00%an%x00%ae%x00%at%x00%s%x00%b";
        let git = self.at(&request.path).await?;
        let git = git.arguments(["log", "-z", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature"]);
        let git = git.arguments([count.as_str(), format]).revision(request.from.as_deref())?.paths(&request.paths)?;
        parse::log(&self.whole(git).await?).ok_or_else(|| nonsense("its log"))
    }

    /// What is checked out.
    async fn head(&self, path: &str) -> Result<GitCheckedOut, Error> {
        let GitStatus { branch, commit, .. } = {
            let arguments =
                ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no", "--ignore-submodules=all"];
            let told = self.whole(self.at(path).await?.arguments(arguments)).await?;
            parse::status(&told).ok_or_else(|| nonsense("its status"))?
        };
        Ok(GitCheckedOut { branch, commit })
    }

    /// Git in a repository, with the drivers that it configures switched off.
    async fn at(&self, path: &str) -> Result<Invocation, Error> {
        let git = Invocation::new(Some(self.directory(path)?), self.user.clone());
        let ask = git.clone().arguments(["config", "--null", "--name-only", "--get-regexp", "^filter\\."]);
        // Code 1: there are none.
        let drivers = self.run_any(ask, None, &[0, 1]).await?;
        Ok(git.without_filters(&drivers.stdout.head))
    }

    fn directory(&self, path: &str) -> Result<String, Error> {
        if path.is_empty() || path.contains('\0') {
            return Err(Error::invalid("path: cannot be"));
        }
        let absolute = self.sandbox.files(None).absolute(path.as_bytes());
        String::from_utf8(absolute).map_err(|_| Error::invalid("path: no UTF-8"))
    }

    /// Everything that git prints.
    async fn whole(&self, git: Invocation) -> Result<Vec<u8>, Error> {
        let output = self.run(git, None).await?;
        if output.stdout.omitted > 0 {
            return Err(Error::GitFailed { why: "there is more to tell than 16 MiB".to_owned() });
        }
        Ok(output.stdout.head)
    }
}

fn nonsense(what: &str) -> Error {
    Error::GitFailed { why: format!("git told {what} in a way that is not understood") }
}
