//! Running git to its end: a command like any other, ended if its caller goes away, its failure in git's own words.

use atoll_protocol::{EndReason, Stream};

use super::credentials::Secret;
use super::invocation::{Invocation, NOT_THERE};
use super::progress::{Lines, Progress, parse};
use super::{ANSWER, Git};
use crate::Error;
use crate::exec::ExecOutput;
use crate::log::Event;
use crate::process::{Process, ProcessSpec};

/// How much of what git says about a failure is told.
const WORDS: usize = 2000;

impl Git {
    /// Runs git, which must succeed.
    pub(super) async fn run(&self, git: Invocation, secret: Option<&Secret>) -> Result<ExecOutput, Error> {
        self.run_told(git, secret, None, &[0]).await
    }

    /// The same, with other codes that are no failure.
    pub(super) async fn run_any(
        &self,
        git: Invocation,
        secret: Option<&Secret>,
        good: &[i32],
    ) -> Result<ExecOutput, Error> {
        self.run_told(git, secret, None, good).await
    }

    /// The same, and somebody is told how far it is.
    pub(super) async fn run_told(
        &self,
        git: Invocation,
        secret: Option<&Secret>,
        progress: Option<Progress>,
        good: &[i32],
    ) -> Result<ExecOutput, Error> {
        let process = self.sandbox.start(ProcessSpec::new(git.command())).await.map_err(unreachable_git)?;
        let leash = Leash(Some(process.clone()));
        if git.with_input {
            let answer = secret.map(Secret::answer).unwrap_or_default();
            // A git that is over already needs none.
            process.write_stdin(0, [&git.snapshot[..], &answer].concat().into()).await.ok();
            process.close_stdin().await.ok();
        }
        if let Some(progress) = progress {
            tokio::spawn(tell(process.clone(), progress));
        }
        let output = process.output(ANSWER).await;
        leash.release();
        self.sandbox.remove_process(process.id()).ok();
        let output = output?;
        match output.end.code {
            Some(code) if good.contains(&code) => Ok(output),
            Some(_) | None => Err(failure(&output, secret)),
        }
    }
}

fn unreachable_git(error: Error) -> Error {
    if matches!(error, Error::CommandNotFound { .. }) { Error::GitNotAvailable } else { error }
}

fn failure(output: &ExecOutput, secret: Option<&Secret>) -> Error {
    if output.end.code == Some(NOT_THERE) {
        return Error::GitNotAvailable;
    }
    if output.end.reason == EndReason::Timeout {
        return Error::GitTimeout;
    }
    let said = [
        &output.stderr.head[..],
        &output.stderr.tail,
        b"\n",
        &output.stdout.head[..output.stdout.head.len().min(WORDS)],
    ];
    let said = String::from_utf8_lossy(&said.concat()).replace('\r', "\n");
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && parse(line).is_none());
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("Cloning into")).collect();
    let mut why = lines.join("\n");
    if let Some(secret) = secret {
        why = secret.hidden_in(&why);
    }
    let end = why.char_indices().map(|(at, _)| at).find(|at| *at >= WORDS).unwrap_or(why.len());
    why.truncate(end);
    if why.is_empty() {
        why = format!("git ended: {:?}", output.end.reason);
    }
    let refused =
        ["Authentication failed", "could not read Username", "could not read Password", "error: 401", "error: 403"];
    if refused.iter().any(|words| why.contains(words)) {
        return Error::GitAuthenticationFailed { why };
    }
    Error::GitFailed { why }
}

/// Passes on how far git is. Who does not listen misses some of it.
async fn tell(process: Process, progress: Progress) {
    let mut reader = process.log().reader(0);
    let mut lines = Lines::default();
    while let Some(event) = reader.next().await {
        if let Event::Output(chunk) = event
            && chunk.stream == Stream::Stderr
        {
            for told in lines.push(&chunk.bytes) {
                if progress.send(told).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// A git whose caller may go away: then it is ended.
struct Leash(Option<Process>);

impl Leash {
    fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(process) = self.0.take() {
            let grace = process.spec().command.grace;
            tokio::spawn(async move { process.kill(grace).await });
        }
    }
}
