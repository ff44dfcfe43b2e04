//! A shell has ended, or is to: what was running is told, another takes its place, or the session is over.

use atoll_isolation::sys::process::Usage;
use atoll_protocol::EndReason;

use super::Owner;
use crate::Error;
use crate::link::{News, NewsReceiver};
use crate::session::machine::{Effect, Event};
use crate::session::shell::{self, Shell};
use crate::session::spare::Spare;
use crate::session::spec::StartFrom;
use crate::session::{create, turn};

impl Owner {
    pub(super) async fn shell_ended(&mut self, how: Option<(i32, Usage)>) {
        let replace = self.shell.as_ref().is_some_and(|shell| shell.process.was_given_up());
        self.lost = how;
        if let Some(jobs) = self.leaving.take() {
            self.keep_dump(jobs);
        }
        self.dump = None;
        self.on(Event::ShellEnded { replace }).await;
    }

    /// Ends a shell that does not keep to what was agreed. Another takes its place, from the last snapshot.
    pub(super) fn distrust(&mut self, why: &'static str) {
        if let Some(shell) = &self.shell {
            self.distrusted = Some(why);
            shell.process.distrust();
        }
    }

    /// The command that ran when its shell ended.
    pub(super) async fn shell_lost(&mut self, job: u64, reset: bool) {
        if let Some(turn) = self.turn.take() {
            let left = self.left_in_old_tree().await;
            turn.shell_lost(self.lost, None, reset, left);
        }
        let error = self.terminated();
        self.refuse(job, move |_| error);
    }

    /// What lives in the tree of the shell that has just ended, but for what earlier commands had left.
    pub(super) async fn left_in_old_tree(&self) -> Vec<u32> {
        let Some((tree, _, _)) = self.old.last() else { return Vec::new() };
        let all = tree.inside_pids(&self.shared.link).await;
        all.into_iter().filter(|pid| !self.background.contains(pid)).collect()
    }

    /// Puts the shell that has ended aside.
    pub(super) fn retire(&mut self) {
        let link = &self.shared.link;
        self.old.retain_mut(|(tree, news, number)| {
            let over = tree.is_empty() || is_told_empty(news);
            if over {
                link.forget(*number);
            }
            !over
        });
        if let Some(Shell { tree, news, number, .. }) = self.shell.take() {
            self.old.push((tree, news, number));
        }
    }

    pub(super) async fn replace(&mut self) -> Vec<Effect> {
        self.retire();
        let from = match self.restart_from {
            StartFrom::Snapshot => self.snapshot.clone(),
            StartFrom::Nothing => None,
        };
        self.restart_from = StartFrom::Snapshot;
        match create::born(&self.shared, self.session.id(), &self.spec, from.as_deref()).await {
            Ok(born) => {
                self.shell = Some(born.shell);
                if let (Some(note), true) = (&self.note, self.status.borrow().end.is_some()) {
                    note.revived();
                }
                let why = self.distrusted.take().map(|why| format!("the shell was replaced: {why}"));
                let complaints = why.into_iter().chain(Some(born.complaints).filter(|text| !text.is_empty()));
                let not_restored = complaints.collect::<Vec<_>>().join("\n");
                self.status.send_modify(|status| {
                    status.cwd = born.cwd;
                    status.not_restored = not_restored;
                    status.resets += u32::from(status.end.is_none());
                    status.end = None;
                });
                let effects = self.machine.on(Event::Restored);
                self.background.clear();
                effects
            }
            Err(error) => {
                self.failed = Some(error);
                self.machine.on(Event::NotRestored)
            }
        }
    }

    pub(super) fn die(&mut self) {
        self.retire();
        let end = turn::shell_end(self.lost, self.status.borrow().used_at);
        if let Some(note) = &self.note {
            note.died(end.clone());
        }
        self.status.send_modify(|status| status.end = Some(end));
    }

    pub(super) async fn delete(&mut self) {
        if let Some(note) = &mut self.note {
            note.forget();
        }
        self.shared.sessions.forget(self.session.id());
        Spare::discard_if_unused(&self.shared).await;
        self.retire();
        for (mut tree, mut news, number) in std::mem::take(&mut self.old) {
            shell::end_tree(&self.shared, &mut tree, &mut news).await;
            self.shared.link.forget(number);
        }
        if let Some(turn) = self.turn.take() {
            turn.shell_lost(None, Some(EndReason::Killed), false, Vec::new());
        }
        let id = self.session.id().to_string();
        for job in self.jobs.keys().copied().collect::<Vec<_>>() {
            let id = id.clone();
            self.refuse(job, move |_| Error::SessionNotFound { id });
        }
    }

    /// Commands are told by losing their news.
    pub(super) fn sandbox_gone(mut self) {
        for job in self.jobs.keys().copied().collect::<Vec<_>>() {
            self.refuse(job, |_| Error::SandboxGone);
        }
    }
}

/// Whether a warden has said that nothing is left.
fn is_told_empty(news: &mut NewsReceiver) -> bool {
    std::iter::from_fn(|| news.try_recv().ok()).any(|news| matches!(news, News::TreeEmpty | News::WardenLost))
}
