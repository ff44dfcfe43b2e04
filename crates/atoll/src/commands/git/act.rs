//! What `atoll git` does: asks, and prints what git says.

use std::fmt::Write as _;

use atoll_client::Client;
use atoll_protocol::{
    GitAuthor, GitBranchesRequest, GitChange, GitCheckoutRequest, GitCloneRequest, GitCommitRequest, GitCredentials,
    GitDiffRequest, GitLogRequest, GitProgress, GitPullRequest, GitPushRequest, GitStatus, GitStatusRequest,
};
use serde::Serialize;

use super::{How, Remote, Verb, Where};
use crate::failure::Failure;
use crate::printer;

/// Variables of this program that hold credentials.
const USERNAME: &str = "ATOLL_GIT_USERNAME";
const PASSWORD: &str = "ATOLL_GIT_PASSWORD";

/// Where the answer goes.
struct Asked {
    client: Client,
    user: Option<String>,
    as_json: bool,
}

impl Asked {
    fn new(place: &Where, how: How) -> Result<Self, Failure> {
        let client = how.server.inside(&place.name)?;
        Ok(Self { client, user: how.user, as_json: how.server.json })
    }

    /// Prints for programs or for people.
    fn print(&self, answer: &impl Serialize, text: &str) -> Result<u8, Failure> {
        if self.as_json {
            printer::json(answer)?;
        } else {
            printer::out(text.as_bytes())?;
        }
        Ok(0)
    }
}

pub(super) async fn act(verb: Verb) -> Result<u8, Failure> {
    match verb {
        Verb::Clone { place, url, path, branch, depth, remote, how } => {
            let asked = Asked::new(&place, how)?;
            let (credentials, timeout_ms) = remote.parts()?;
            let user = asked.user.clone();
            let request = GitCloneRequest { url, path, branch, depth, credentials, timeout_ms, user };
            let cloned = asked.client.git_clone(&request, progress()).await?;
            asked.print(&cloned, &format!("{}\n", cloned.path))
        }
        Verb::Pull { place, path, remote, how } => {
            let asked = Asked::new(&place, how)?;
            let (credentials, timeout_ms) = remote.parts()?;
            let user = asked.user.clone();
            let request = GitPullRequest { path, remote: None, branch: None, credentials, timeout_ms, user };
            let pulled = asked.client.git_pull(&request, progress()).await?;
            let word = if pulled.updated { "updated" } else { "up to date" };
            asked.print(&pulled, &format!("{word}\n"))
        }
        Verb::Push { place, path, branch, set_upstream, remote, how } => {
            let asked = Asked::new(&place, how)?;
            let (credentials, timeout_ms) = remote.parts()?;
            let user = asked.user.clone();
            let (remote, force) = (None, false);
            let request = GitPushRequest { path, remote, branch, set_upstream, force, credentials, timeout_ms, user };
            let pushed = asked.client.git_push(&request, progress()).await?;
            let lines: String = pushed.refs.iter().map(|sent| format!("{} {}\n", sent.to, sent.summary)).collect();
            asked.print(&pushed, &lines)
        }
        local @ (Verb::Status { .. }
        | Verb::Diff { .. }
        | Verb::Commit { .. }
        | Verb::Checkout { .. }
        | Verb::Branches { .. }
        | Verb::Log { .. }) => look(local).await,
    }
}

/// What needs no network.
async fn look(verb: Verb) -> Result<u8, Failure> {
    match verb {
        Verb::Status { place, path, how } => {
            let asked = Asked::new(&place, how)?;
            let request = GitStatusRequest { path, ignored: false, user: asked.user.clone() };
            let status = asked.client.git_status(&request).await?;
            asked.print(&status, &status_text(&status))
        }
        Verb::Diff { place, path, staged, from, to, how } => {
            let asked = Asked::new(&place, how)?;
            let (paths, context, user) = (Vec::new(), None, asked.user.clone());
            let diff = asked.client.git_diff(&GitDiffRequest { path, staged, from, to, paths, context, user }).await?;
            asked.print(&diff, &diff.diff)
        }
        Verb::Branches { place, path, remotes, how } => {
            let asked = Asked::new(&place, how)?;
            let request = GitBranchesRequest { path, remotes, user: asked.user.clone() };
            let branches = asked.client.git_branches(&request).await?;
            let mark = |current: bool| if current { '*' } else { ' ' };
            let lines = branches.iter().map(|branch| format!("{} {}\n", mark(branch.current), branch.name));
            asked.print(&branches, &lines.collect::<String>())
        }
        Verb::Log { place, path, limit, how } => {
            let asked = Asked::new(&place, how)?;
            let (from, paths, user) = (None, Vec::new(), asked.user.clone());
            let commits = asked.client.git_log(&GitLogRequest { path, from, limit: Some(limit), paths, user }).await?;
            let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
            let lines = commits.iter().map(|commit| format!("{} {}\n", short(&commit.commit), commit.subject));
            asked.print(&commits, &lines.collect::<String>())
        }
        Verb::Commit { place, path, message, author, all, how } => {
            let asked = Asked::new(&place, how)?;
            let author = author.as_deref().map(author_of).transpose()?;
            let (paths, allow_empty, user) = (Vec::new(), false, asked.user.clone());
            let request = GitCommitRequest { path, message, author, all, paths, allow_empty, user };
            let made = asked.client.git_commit(&request).await?;
            asked.print(&made, &format!("{}\n", made.commit))
        }
        Verb::Checkout { place, path, target, create, how } => {
            let asked = Asked::new(&place, how)?;
            let request = GitCheckoutRequest { path, target, create, from: None, user: asked.user.clone() };
            let out = asked.client.git_checkout(&request).await?;
            let word = out.branch.clone().or_else(|| out.commit.clone()).unwrap_or_default();
            asked.print(&out, &format!("{word}\n"))
        }
        Verb::Clone { .. } | Verb::Pull { .. } | Verb::Push { .. } => {
            Err(Failure::internal("this goes over the network"))
        }
    }
}

impl Remote {
    fn parts(self) -> Result<(Option<GitCredentials>, Option<u64>), Failure> {
        let timeout_ms = self.timeout.and_then(|timeout| u64::try_from(timeout.as_millis()).ok());
        let (username, password) = (std::env::var(USERNAME).ok(), std::env::var(PASSWORD).ok());
        let credentials = match (username, password) {
            (None, None) => None,
            (Some(username), Some(password)) => {
                Some(GitCredentials { server: self.server_of_credentials, username, password })
            }
            _ => return Err(Failure::invalid(format!("{USERNAME} and {PASSWORD} go together"))),
        };
        Ok((credentials, timeout_ms))
    }
}

/// Tells how far git is, a line for each tenth, beside the data.
fn progress() -> impl FnMut(GitProgress) {
    let mut last = (String::new(), 0);
    move |told| {
        let now = (told.phase, told.percent / 10);
        if now != last && told.percent % 10 == 0 && told.total > 1000 {
            printer::note(&format!("{}: {}%", now.0, told.percent));
            last = now;
        }
    }
}

fn author_of(text: &str) -> Result<GitAuthor, Failure> {
    let parts = text.split_once('<').and_then(|(name, rest)| Some((name.trim(), rest.trim().strip_suffix('>')?)));
    let (name, email) = parts.ok_or_else(|| Failure::invalid("--author is `Name <address>`"))?;
    Ok(GitAuthor { name: name.to_owned(), email: email.to_owned() })
}

fn status_text(status: &GitStatus) -> String {
    let mut text = format!("on {}\n", status.branch.as_deref().unwrap_or("no branch"));
    for entry in &status.entries {
        let from = entry.from.as_ref().map(|from| format!("{} -> ", from.escape_debug())).unwrap_or_default();
        let path = entry.path.escape_debug();
        // Memory is always writable.
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
