//! The sandbox's own git, run for a caller outside: as the user of the call, inside the wall, like any command.
//!
//! What a repository holds must not decide what runs when somebody looks at it. Before each call the configuration of the
//! repository is listed, and a call is refused if it sets a key that is not known to be harmless (`repository`, `config`).
//! Git then runs with settings that override hooks, monitors and helpers (`invocation`), in an environment of its own
//! (`script`), and never in a submodule. Fetches and pushes do not read the repository's configuration at all, but a copy
//! of what was checked (`snapshot`). Credentials reach git through a pipe that a helper reads once, for one server
//! (`credentials`): no argument, variable or file ever holds them.

mod config;
mod credentials;
mod invocation;
mod location;
mod parse;
mod progress;
mod remote;
mod repository;
mod run;
mod script;
mod snapshot;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use atoll_protocol::{
    GitBranch, GitCheckedOut, GitCheckoutRequest, GitCommitInfo, GitCommitRequest, GitCommitted, GitDiff,
    GitDiffRequest, GitLogRequest, GitStatus,
};

pub use progress::Progress;

use crate::Error;
use crate::sandbox::Sandbox;
use invocation::Invocation;
use repository::Repository;

/// The longest answer of git that is taken whole; a diff beyond it loses its middle.
const ANSWER: usize = 16 * 1024 * 1024;

/// Compares the commits of submodules, and does not look into them: git would run another git there, with the configuration
/// of the submodule. As an option it also overrides `submodule.NAME.ignore`, which `.gitmodules` may set.
const SUBMODULES: &str = "--ignore-submodules=dirty";

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
        let arguments = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", ignored, SUBMODULES];
        let told = self.whole(self.inspect(path).await?.git().arguments(arguments)).await?;
        parse::status(&told).ok_or_else(|| nonsense("its status"))
    }

    /// What is different, as a patch.
    pub async fn diff(&self, request: &GitDiffRequest) -> Result<GitDiff, Error> {
        let mut git = self.inspect(&request.path).await?.git();
        let context = format!("--unified={}", request.context.unwrap_or(3));
        git = git.arguments([
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--submodule=short",
            SUBMODULES,
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
        let repository = self.inspect(&request.path).await?;
        if request.all || !request.paths.is_empty() {
            self.add(&repository, &request.paths).await?;
        }
        if !request.allow_empty {
            self.check_not_empty(&repository, &request.paths).await?;
        }
        let mut git = repository.git();
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
        let GitCheckedOut { branch, commit } = self.head(&repository).await?;
        Ok(GitCommitted { commit: commit.ok_or_else(|| nonsense("its commit"))?, branch })
    }

    /// Stages changes. `git add` would run git in every submodule to see whether its files changed, so submodules are left
    /// out, and then recorded as the commits that they have checked out.
    async fn add(&self, repository: &Repository, paths: &[String]) -> Result<(), Error> {
        let list = repository.git().arguments(["ls-files", "--stage", "--full-name", "-z"]);
        let list = if paths.is_empty() { list.arguments(["--", ":/"]) } else { list.paths(paths)? };
        let listed = self.whole(list).await?;
        let submodules = parse::submodules(&listed).into_iter().map(|path| OsStr::from_bytes(path).to_owned());
        let submodules: Vec<OsString> = submodules.collect();
        let add = repository.git().arguments(["add", "--all"]).paths(paths)?.except(&submodules);
        self.run(add, None).await?;
        if !submodules.is_empty() {
            let mut update = repository.git_at_top().arguments(["update-index", "--add", "--remove", "--"]);
            for path in submodules {
                update = update.argument(path);
            }
            self.run(update, None).await?;
        }
        Ok(())
    }

    /// Refuses a commit without changes. `git commit` would refuse it as well, but with a status for people, for which it
    /// runs git in every submodule.
    async fn check_not_empty(&self, repository: &Repository, paths: &[String]) -> Result<(), Error> {
        let diff =
            repository.git().arguments(["diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", SUBMODULES]);
        // Code 1: there are changes.
        let same = self.run_any(diff.paths(paths)?, None, &[0, 1]).await?.end.code == Some(0);
        let merging = repository.git().arguments(["rev-parse", "--quiet", "--verify", "MERGE_HEAD"]);
        if same && self.run_any(merging, None, &[0, 1]).await?.end.code != Some(0) {
            return Err(Error::GitFailed { why: "nothing to commit: no change is staged".to_owned() });
        }
        Ok(())
    }

    /// Checks something out.
    pub async fn checkout(&self, request: &GitCheckoutRequest) -> Result<GitCheckedOut, Error> {
        let repository = self.inspect(&request.path).await?;
        let mut git = repository.git().arguments(["checkout", "--quiet", "--no-guess"]);
        if request.create {
            git = git.arguments(["-b"]).name(&request.target)?.revision(request.from.as_deref())?;
        } else if request.from.is_some() {
            return Err(Error::invalid("`from` is where a new branch begins: it goes with `create`"));
        } else {
            git = git.revision(Some(&request.target))?;
        }
        self.run(git.arguments(["--"]), None).await?;
        self.head(&repository).await
    }

    /// Branches, by name.
    pub async fn branches(&self, path: &str, remotes: bool) -> Result<Vec<GitBranch>, Error> {
        let format = "--format=%(refname:short)%00%(objectname)%00%(HEAD)%00%(upstream:short)%00%(symref)";
        let mut git = self.inspect(path).await?.git().arguments(["for-each-ref", format, "refs/heads"]);
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
        let git = self.inspect(&request.path).await?.git();
        let git = git.arguments(["log", "-z", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature"]);
        let git = git.arguments([count.as_str(), format]).revision(request.from.as_deref())?.paths(&request.paths)?;
        parse::log(&self.whole(git).await?).ok_or_else(|| nonsense("its log"))
    }

    /// What is checked out.
    async fn head(&self, repository: &Repository) -> Result<GitCheckedOut, Error> {
        let arguments =
            ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no", "--ignore-submodules=all"];
        let told = self.whole(repository.git().arguments(arguments)).await?;
        let GitStatus { branch, commit, .. } = parse::status(&told).ok_or_else(|| nonsense("its status"))?;
        Ok(GitCheckedOut { branch, commit })
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
