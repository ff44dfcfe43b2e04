//! Carries out `atoll git`: sends the request and prints the result.

use std::fmt::Write as _;

use atoll_client::Client;
use atoll_protocol::{
    GitAuthor, GitBranchesRequest, GitChange, GitCheckoutRequest, GitCloneRequest, GitCommitRequest, GitCredentials,
    GitDiffRequest, GitLogRequest, GitProgress, GitPullRequest, GitPushRequest, GitStatus, GitStatusRequest,
};
use serde::Serialize;

use super::{CommonArguments, RemoteArguments, SandboxArgument, Verb};
use crate::error::CliError;
use crate::printer;

/// Environment variables with the credentials.
const USERNAME: &str = "ATOLL_GIT_USERNAME";
const PASSWORD: &str = "ATOLL_GIT_PASSWORD";

/// What every request needs, and how its result is printed.
struct Context {
    client: Client,
    user: Option<String>,
    as_json: bool,
}

impl Context {
    fn new(sandbox: &SandboxArgument, common: CommonArguments) -> Result<Self, CliError> {
        let client = common.server.sandbox_client(&sandbox.name)?;
        Ok(Self { client, user: common.user, as_json: common.server.json })
    }

    /// Prints JSON or text.
    fn print(&self, result: &impl Serialize, text: &str) -> Result<u8, CliError> {
        if self.as_json {
            printer::json(result)?;
        } else {
            printer::out(text.as_bytes())?;
        }
        Ok(0)
    }
}

pub(super) async fn act(verb: Verb) -> Result<u8, CliError> {
    match verb {
        Verb::Clone { sandbox, url, path, branch, depth, remote, common } => {
            let context = Context::new(&sandbox, common)?;
            let (credentials, timeout_ms) = remote.parts()?;
            let user = context.user.clone();
            let request = GitCloneRequest { url, path, branch, depth, credentials, timeout_ms, user };
            let cloned = context.client.git_clone(&request, progress()).await?;
            context.print(&cloned, &format!("{}\n", cloned.path))
        }
        Verb::Pull { sandbox, path, remote, common } => {
            let context = Context::new(&sandbox, common)?;
            let (credentials, timeout_ms) = remote.parts()?;
            let user = context.user.clone();
            let request = GitPullRequest { path, remote: None, branch: None, credentials, timeout_ms, user };
            let pulled = context.client.git_pull(&request, progress()).await?;
            let word = if pulled.updated { "updated" } else { "up to date" };
            context.print(&pulled, &format!("{word}\n"))
        }
        Verb::Push { sandbox, path, branch, set_upstream, remote, common } => {
            let context = Context::new(&sandbox, common)?;
            let (credentials, timeout_ms) = remote.parts()?;
            let user = context.user.clone();
            let (remote, force) = (None, false);
            let request = GitPushRequest { path, remote, branch, set_upstream, force, credentials, timeout_ms, user };
            let pushed = context.client.git_push(&request, progress()).await?;
            let lines: String = pushed.refs.iter().map(|sent| format!("{} {}\n", sent.to, sent.summary)).collect();
            context.print(&pushed, &lines)
        }
        local @ (Verb::Status { .. }
        | Verb::Diff { .. }
        | Verb::Commit { .. }
        | Verb::Checkout { .. }
        | Verb::Branches { .. }
        | Verb::Log { .. }) => act_locally(local).await,
    }
}

/// Carries out operations that do not use the network.
async fn act_locally(verb: Verb) -> Result<u8, CliError> {
    match verb {
        Verb::Status { sandbox, path, common } => {
            let context = Context::new(&sandbox, common)?;
            let request = GitStatusRequest { path, ignored: false, user: context.user.clone() };
            let status = context.client.git_status(&request).await?;
            context.print(&status, &status_text(&status))
        }
        Verb::Diff { sandbox, path, staged, from, to, common } => {
            let context = Context::new(&sandbox, common)?;
            let (paths, context_lines, user) = (Vec::new(), None, context.user.clone());
            let diff = context
                .client
                .git_diff(&GitDiffRequest { path, staged, from, to, paths, context: context_lines, user })
                .await?;
            context.print(&diff, &diff.diff)
        }
        Verb::Branches { sandbox, path, remotes, common } => {
            let context = Context::new(&sandbox, common)?;
            let request = GitBranchesRequest { path, remotes, user: context.user.clone() };
            let branches = context.client.git_branches(&request).await?;
            let mark = |current: bool| if current { '*' } else { ' ' };
            let lines = branches.iter().map(|branch| format!("{} {}\n", mark(branch.current), branch.name));
            context.print(&branches, &lines.collect::<String>())
        }
        Verb::Log { sandbox, path, limit, common } => {
            let context = Context::new(&sandbox, common)?;
            let (from, paths, user) = (None, Vec::new(), context.user.clone());
            let commits =
                context.client.git_log(&GitLogRequest { path, from, limit: Some(limit), paths, user }).await?;
            let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
            let lines = commits.iter().map(|commit| format!("{} {}\n", short(&commit.commit), commit.subject));
            context.print(&commits, &lines.collect::<String>())
        }
        Verb::Commit { sandbox, path, message, author, all, common } => {
            let context = Context::new(&sandbox, common)?;
            let author = author.as_deref().map(author_of).transpose()?;
            let (paths, allow_empty, user) = (Vec::new(), false, context.user.clone());
            let request = GitCommitRequest { path, message, author, all, paths, allow_empty, user };
            let made = context.client.git_commit(&request).await?;
            context.print(&made, &format!("{}\n", made.commit))
        }
        Verb::Checkout { sandbox, path, target, create, common } => {
            let context = Context::new(&sandbox, common)?;
            let request = GitCheckoutRequest { path, target, create, from: None, user: context.user.clone() };
            let out = context.client.git_checkout(&request).await?;
            let word = out.branch.clone().or_else(|| out.commit.clone()).unwrap_or_default();
            context.print(&out, &format!("{word}\n"))
        }
        Verb::Clone { .. } | Verb::Pull { .. } | Verb::Push { .. } => Err(CliError::internal("not a local operation")),
    }
}

impl RemoteArguments {
    fn parts(self) -> Result<(Option<GitCredentials>, Option<u64>), CliError> {
        let timeout_ms = self.timeout.and_then(|timeout| u64::try_from(timeout.as_millis()).ok());
        let (username, password) = (std::env::var(USERNAME).ok(), std::env::var(PASSWORD).ok());
        let credentials = match (username, password) {
            (None, None) => None,
            (Some(username), Some(password)) => {
                Some(GitCredentials { server: self.server_of_credentials, username, password })
            }
            _ => {
                return Err(CliError::invalid(format!(
                    "only one of {USERNAME} and {PASSWORD} is set (set both, or neither)"
                )));
            }
        };
        Ok((credentials, timeout_ms))
    }
}

/// Prints git's progress, one line for every tenth.
fn progress() -> impl FnMut(GitProgress) {
    let mut last = (String::new(), 0);
    move |progress| {
        let now = (progress.phase, progress.percent / 10);
        if now != last && progress.percent % 10 == 0 && progress.total > 1000 {
            printer::note(&format!("{}: {}%", now.0, progress.percent));
            last = now;
        }
    }
}

fn author_of(text: &str) -> Result<GitAuthor, CliError> {
    let parts = text.split_once('<').and_then(|(name, rest)| Some((name.trim(), rest.trim().strip_suffix('>')?)));
    let (name, email) = parts.ok_or_else(|| CliError::invalid("invalid --author: expected `Name <address>`"))?;
    Ok(GitAuthor { name: name.to_owned(), email: email.to_owned() })
}

fn status_text(status: &GitStatus) -> String {
    let mut text = format!("on {}\n", status.branch.as_deref().unwrap_or("no branch"));
    for entry in &status.entries {
        let from = entry.from.as_ref().map(|from| format!("{} -> ", from.escape_debug())).unwrap_or_default();
        let path = entry.path.escape_debug();
        // Writing to a string cannot fail.
        writeln!(text, "{}{} {from}{path}", letter(entry.staged), letter(entry.worktree)).ok();
    }
    text
}

fn letter(change: GitChange) -> char {
    match change {
        GitChange::Unmodified => '.',
        GitChange::Modified => 'M',
        GitChange::TypeChanged => 'T',
        GitChange::Added => 'A',
        GitChange::Deleted => 'D',
        GitChange::Renamed => 'R',
        GitChange::Copied => 'C',
        GitChange::Unmerged => 'U',
        GitChange::Untracked => '?',
        GitChange::Ignored => '!',
    }
}
