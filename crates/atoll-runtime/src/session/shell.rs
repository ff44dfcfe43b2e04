//! The live shell of a session: started on the one path, spoken to between its commands.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use atoll_shell::message::Task;

use super::order;
use super::part::ShellProcess;
use super::wire::{self, Page, Reported, Wire};
use crate::Error;
use crate::command::{Command, Invocation};
use crate::link::{News, NewsReceiver};
use crate::pipes::{self, OurEnds};
use crate::run::Started;
use crate::shared::Shared;
use crate::start::{self, Standard};
use crate::tree::Tree;
use crate::user;

/// How long a new shell may take to say that it is there, or to be brought to a state. It takes milliseconds.
pub(super) const READY_WITHIN: Duration = Duration::from_secs(10);

/// What a new shell may say of its failure.
const COMPLAINT_MAX: usize = 64 * 1024;

/// A shell that lives.
#[derive(Debug)]
pub(super) struct Shell {
    pub(super) process: Arc<ShellProcess>,
    pub(super) number: u64,
    pub(super) news: NewsReceiver,
    pub(super) tree: Tree,
    pub(super) wire: Wire,
    /// Its user's outside id: who owns a pipe may open it again by `/dev/stdout`.
    pub(super) owner: Option<(u32, u32)>,
}

/// A new shell, where it is, and what could not be brought over.
#[derive(Debug)]
pub(super) struct Born {
    pub(super) shell: Shell,
    pub(super) cwd: Vec<u8>,
    pub(super) complaints: String,
}

impl Shell {
    /// Starts a shell and waits until it is ready, in the state that the script describes.
    pub(super) async fn start(shared: &Arc<Shared>, id: &str, command: &Command, script: &[u8]) -> Result<Born, Error> {
        let name = format!("atoll-{}", crate::sandbox::random_text(24)?);
        let limits = match &command.invocation {
            Invocation::Session { limits, .. } => limits.clone(),
            Invocation::Shell(_) | Invocation::Argv(_) | Invocation::Interactive | Invocation::Restored { .. } => {
                Vec::new()
            }
        };
        let command = Command { invocation: Invocation::Session { listener: name.clone(), limits }, ..command.clone() };
        let user = user::resolve(shared, command.user.as_deref()).await?;
        let owner = shared.outside((user.uid, user.gid));
        let standard = Standard::Shell(Page::new()?);
        // Asked for in this order, and done so: the socket is there before the shell is.
        let (listener, started) =
            tokio::join!(biased; wire::listen(shared, &name), start::start(shared, id, &command, &standard));
        let (pid, started) = started.map_err(no_bash)?;
        let Started { mut tree, main, mut news, ends, number, registered, .. } = started;
        let made = main.into_pidfd().and_then(|pidfd| {
            let process =
                ShellProcess::new(pid, pidfd, registered).map_err(|error| Error::io("look at the shell", &error))?;
            let Standard::Shell(page) = standard else { return Err(Error::SandboxGone) };
            let wire = Wire::new(process.outside, listener?, page);
            Ok((Arc::new(process), wire))
        });
        let (process, wire) = match made {
            Ok(made) => made,
            Err(error) => {
                end_tree(shared, &mut tree, &mut news).await;
                shared.link.forget(number);
                return Err(error);
            }
        };
        let mut shell = Self { process, number, news, tree, wire, owner };
        let ready = tokio::time::timeout(READY_WITHIN, shell.become_ready(shared, ends, script)).await;
        match ready.unwrap_or_else(|_| Err(not_ready("it did not get ready in time"))) {
            Ok((cwd, complaints)) => Ok(Born { shell, cwd, complaints }),
            Err(error) => {
                shell.destroy(shared).await;
                Err(error)
            }
        }
    }

    async fn become_ready(
        &mut self,
        shared: &Shared,
        ends: OurEnds,
        script: &[u8],
    ) -> Result<(Vec<u8>, String), Error> {
        let told = tokio::select! {
            told = self.wire.next_report() => told.map_err(|error| Error::io("hear from the shell", &error))?,
            // It ended instead; what it said is the reason.
            _ = self.news.recv() => return Err(not_ready(&complaint(ends))),
        };
        if script.is_empty() {
            return Ok((told.cwd, String::new()));
        }
        self.run(shared, script).await.map(|(told, complaints)| (told.cwd, complaints))
    }

    /// Runs a script of ours, and waits for its end. What it says on its standard error comes back.
    pub(super) async fn run(&mut self, shared: &Shared, script: &[u8]) -> Result<(Reported, String), Error> {
        let (theirs, ours) = pipes::make(&crate::Stdin::Closed, shared.null.as_fd(), self.owner)
            .map_err(|error| Error::io("make pipes", &error))?;
        let standard = [theirs.stdin.as_fd(), theirs.stdout.as_fd(), theirs.stderr.as_fd()];
        let ordered = self.wire.order(Task::Run, &order::plain(script), &standard);
        ordered.map_err(|error| Error::io("speak to the shell", &error))?;
        drop(theirs);
        tokio::select! {
            told = self.wire.next_report() => {
                let told = told.map_err(|error| Error::io("hear from the shell", &error))?;
                Ok((told, complaint(ours)))
            }
            _ = self.news.recv() => Err(not_ready(&complaint(ours))),
        }
    }

    /// Ends it and everything that it ever started.
    pub(super) async fn destroy(mut self, shared: &Shared) {
        end_tree(shared, &mut self.tree, &mut self.news).await;
        shared.link.forget(self.number);
    }
}

/// Kills a tree until nothing of it is left.
pub(crate) async fn end_tree(shared: &Shared, tree: &mut Tree, news: &mut NewsReceiver) {
    let mut pause = Duration::from_millis(1);
    let mut empty = false;
    while !empty && !tree.is_empty() {
        tree.kill(&shared.link).await;
        tokio::select! {
            heard = news.recv() => empty = matches!(heard, None | Some(News::TreeEmpty | News::WardenLost)),
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(Duration::from_millis(100)),
        }
    }
    // What was reaped is gone for whoever looks.
    shared.link.ping().await.ok();
}

/// What a shell has written on its standard error, for people.
fn complaint(mut ends: OurEnds) -> String {
    let mut said = Vec::new();
    while let Some(bytes) = ends.stderr.as_mut().and_then(crate::pipes::Reader::drain) {
        said.extend_from_slice(&bytes);
        if said.len() > COMPLAINT_MAX {
            break;
        }
    }
    String::from_utf8_lossy(&said).trim_end().to_owned()
}

pub(super) fn not_ready(why: &str) -> Error {
    let why = if why.is_empty() { "it ended without a word" } else { why };
    Error::ShellNotSupported { why: why.to_owned() }
}

fn no_bash(error: Error) -> Error {
    if matches!(error, Error::CommandNotFound { .. }) {
        return Error::ShellNotSupported { why: "there is no bash in the sandbox".to_owned() };
    }
    error
}
