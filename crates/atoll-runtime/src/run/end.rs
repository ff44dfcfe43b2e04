//! How a command is ended, and what is told of its end.

use std::time::Duration;

use atoll_protocol::{EndReason, EndRecord, KillReceipt, ProcessState, Signal};
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Ended, Exit, KILL_AGAIN_MAX, Main, Run, Status};
use crate::tree::Tree;

impl Run {
    /// TERM, and CONT so that what is stopped can act on it. A terminal goes with HUP first: interactive shells do not
    /// mind TERM.
    pub(super) async fn terminate(&mut self, grace: Duration) {
        self.clocks.grace = Some(Instant::now() + grace);
        let hang_up = self.terminal.is_some().then_some(Signal::HUP);
        for signal in hang_up.into_iter().chain([Signal::TERM, Signal::CONT]) {
            let reached = self.tree.signal(&self.shared.link, signal.number()).await.unwrap_or(0);
            self.signalled = self.signalled.max(reached);
        }
    }

    pub(super) async fn kill_again(&mut self) {
        let Some(pause) = self.killing else { return };
        if self.life.is_over() {
            return;
        }
        let reached = self.tree.kill(&self.shared.link).await;
        self.signalled = self.signalled.max(reached);
        self.clocks.kill_again = Some(Instant::now() + pause);
        self.killing = Some((pause * 2).min(KILL_AGAIN_MAX));
    }

    /// The command is over. If something of it lingers, that is said now; else whoever drives us says that it ended.
    pub(super) fn conclude(&mut self, reason: Option<EndReason>, status: &watch::Sender<Status>) {
        let record = self.end_record(reason, self.survivors);
        let end = Ended { record, cursor: self.log.end(), session_reset: self.session_reset };
        // Limits are the command's; what lingers is free of them.
        self.limit = None;
        if let Some(captures) = self.captures.take() {
            captures.complete(&self.log);
        }
        self.end = Some(end.clone());
        if !self.life.is_over() {
            self.process.remember_lingering(&end);
            status.send_modify(|status| {
                status.state = ProcessState::Lingering;
                status.pid = None;
                status.end = Some(end);
            });
        }
    }

    fn end_record(&self, reason: Option<EndReason>, survivors: u64) -> EndRecord {
        let oom_killed = self.tree.oom_killed();
        let exit = self.exit.unwrap_or_else(|| Exit::new(None, None, None));
        let natural = exit.reason.unwrap_or(match exit.signal {
            Some(Signal::KILL) if oom_killed => EndReason::Oom,
            Some(_) => EndReason::Signaled,
            None => EndReason::Exited,
        });
        // The signal by which a shell was made to give up is ours; only an interrupt is told as one.
        let own = matches!(self.main, Main::Turn) && reason.is_some();
        let signal = exit.signal.filter(|_| !own);
        let reason = reason.unwrap_or(natural);
        let (denials, denials_count) = self.shared.network.denials(self.process.id());
        EndRecord {
            reason,
            code: exit.code,
            signal,
            timed_out: matches!(reason, EndReason::Timeout | EndReason::IdleTimeout),
            oom_killed,
            duration_ms: u64::try_from((exit.at - self.started).as_millis()).unwrap_or(u64::MAX),
            cpu_user_ms: exit.user_us.map(|time| time / 1000),
            cpu_system_ms: exit.system_us.map(|time| time / 1000),
            max_rss_bytes: exit.max_rss_bytes,
            started_at: self.started_at.into(),
            ended_at: exit.wall.into(),
            survivors,
            denials,
            denials_count,
        }
    }

    pub(super) async fn finish(&mut self) {
        if let Tree::Part(part) = &self.tree {
            part.disown(self.process.id());
        }
        self.shared.network.forget(self.process.id());
        self.shared.link.forget(self.number);
        if !self.receipts.is_empty() {
            // Zombies are gone when init has answered: the receipt is true for whoever looks into /proc.
            drop(self.shared.link.ping().await);
        }
    }

    pub(super) fn answer_kills(&mut self, survivors: u64) {
        for receipt in self.receipts.drain(..) {
            receipt.send(KillReceipt { signalled: self.signalled, survivors }).ok();
        }
    }
}
