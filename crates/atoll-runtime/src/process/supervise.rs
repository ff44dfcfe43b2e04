//! The task over one process: starts it, lives with it, and starts it again if its policy says so.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use atoll_protocol::{EndReason, EndRecord, KillReceipt, ProcessState};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::handle::Process;
use super::registry::{Filter, Reserved};
use super::remember::Told;
use super::spec::{ProcessSpec, Readiness, Restart};
use crate::Error;
use crate::command::Background;
use crate::exec::Captures;
use crate::run::{Control, Driven, Ended, Run, Status};
use crate::shared::Shared;
use crate::start::{self, Standard};

/// Requests that may wait for the task at once. It answers each within moments; a client that sends more waits.
pub(crate) const CONTROL_MAX: usize = 32;

/// What beginning a process found.
pub(crate) enum Begun {
    /// It is new.
    New(Process),
    /// It was there already.
    Existing(Process),
}

/// Starts a process, or finds the one that has its id. Returns when the program runs.
pub(crate) async fn begin(shared: &Arc<Shared>, spec: ProcessSpec) -> Result<Process, Error> {
    let (Begun::New(process) | Begun::Existing(process)) = enter(shared, spec, None)?;
    process.started().await?;
    Ok(process)
}

/// The same for who waits for its end: whether the program runs is not waited for.
pub(crate) fn enter(shared: &Arc<Shared>, spec: ProcessSpec, captures: Option<Captures>) -> Result<Begun, Error> {
    spec.check()?;
    if let Some(session) = &spec.session {
        shared.sessions.get(session)?;
    }
    let mut spec = spec;
    if spec.restart != Restart::Never {
        // What a failed life leaves behind must not stand in the way of the next one.
        spec.command.background = Background::Kill;
    }
    let id = match &spec.id {
        Some(id) => id.clone(),
        None => shared.next_id()?,
    };
    let (status, watched) = watch::channel(starting());
    let (control, controls) = mpsc::channel(CONTROL_MAX);
    let process = Process::new(id, spec.clone(), shared.new_output(), watched, control, Arc::downgrade(shared));
    if let Reserved::Existing(existing) = shared.registry.reserve(&process, &spec)? {
        return Ok(Begun::Existing(existing));
    }
    let task = Supervisor { shared: Arc::clone(shared), process: process.clone(), spec, status, controls, captures };
    // In a task of its own: whoever asked may go away, the process has been asked for all the same.
    tokio::spawn(task.live());
    Ok(Begun::New(process))
}

/// Ends every process that the filter means. One receipt for all.
pub(crate) async fn kill_all(shared: &Arc<Shared>, filter: &Filter, grace: Duration) -> Result<KillReceipt, Error> {
    let mut kills = tokio::task::JoinSet::new();
    for process in shared.registry.list(filter) {
        kills.spawn(async move { process.kill(grace).await });
    }
    let mut total = KillReceipt { signalled: 0, survivors: 0 };
    while let Some(done) = kills.join_next().await {
        let receipt = done.map_err(|error| Error::Internal { what: format!("a kill failed: {error}") })??;
        total.signalled += receipt.signalled;
        total.survivors += receipt.survivors;
    }
    Ok(total)
}

pub(crate) fn starting() -> Status {
    Status {
        state: ProcessState::Starting,
        pid: None,
        started_at: SystemTime::now().into(),
        end: None,
        failed: None,
        restarts: 0,
        begun: false,
        ready: None,
    }
}

struct Supervisor {
    shared: Arc<Shared>,
    process: Process,
    spec: ProcessSpec,
    status: watch::Sender<Status>,
    controls: mpsc::Receiver<Control>,
    captures: Option<Captures>,
}

impl Supervisor {
    async fn live(mut self) {
        let mut restarts = 0;
        let mut last = None;
        let told = self.captures.as_ref().map_or(Told::ByRecord, |captures| Told::ByAnswer(captures.limit()));
        let mut driven = match self.process.remember_start(told).await {
            Ok(()) => self.run_once(restarts).await,
            Err(error) => {
                self.not_started(restarts, error);
                None
            }
        };
        while let Some(end) = driven.as_ref().and_then(|driven| driven.end.clone()) {
            let asked = driven.as_ref().is_some_and(|driven| driven.asked);
            let pause = self.spec.restart.pause(restarts).filter(|_| failed(&end.record) && !asked);
            last = Some(end);
            let Some(pause) = pause else { break };
            self.tell(ProcessState::Starting, last.clone());
            if !self.pause(Instant::now() + pause).await {
                break;
            }
            restarts += 1;
            driven = self.run_once(restarts).await;
        }
        self.process.log().close();
        if let Some(end) = &last {
            self.process.remember_end(end, told);
        }
        self.tell(ProcessState::Ended, last);
        self.process.remember_late_end();
        if let Some(driven) = driven {
            driven.answer();
        }
        self.shared.registry.ended(self.process.id());
    }

    fn tell(&self, state: ProcessState, end: Option<Ended>) {
        self.status.send_modify(|status| {
            status.state = state;
            status.pid = None;
            status.end = end;
        });
    }

    /// One life. `None` if it could not be started.
    async fn run_once(&mut self, restarts: u32) -> Option<Driven> {
        let started =
            match start::start(&self.shared, self.process.id().as_str(), &self.spec.command, &Standard::Pipes).await {
                Ok(started) => started,
                Err(error) => {
                    self.not_started(restarts, error);
                    return None;
                }
            };
        let (pid, parts) = started;
        let started_at = parts.started_at;
        if restarts > 0 {
            self.process.remember_restart(restarts, started_at.into());
        }
        let run = Run::new(parts, self.process.clone(), self.captures.take());
        let ready = self.spec.readiness.as_ref().map(|_| false);
        self.status.send_modify(|status| {
            *status = Status {
                state: ProcessState::Running,
                pid: Some(pid),
                started_at: started_at.into(),
                restarts,
                begun: true,
                end: None,
                failed: None,
                ready,
            };
        });
        // Before its first byte is read: what it says at once counts.
        let since = self.process.log().end();
        let waiting = self.spec.readiness.clone().map(|readiness| {
            tokio::spawn(become_ready(self.process.clone(), readiness, since, self.status.clone())).abort_handle()
        });
        let driven = run.drive(&mut self.controls, &self.status).await;
        if let Some(waiting) = waiting {
            waiting.abort();
        }
        Some(driven)
    }

    /// The first start is answered with the error and leaves nothing; a later one ends the process where it was.
    fn not_started(&self, restarts: u32, error: Error) {
        if restarts == 0 {
            self.shared.registry.discard(self.process.id());
            self.status.send_modify(|status| status.failed = Some(error));
        }
    }

    /// Waits for the next start. `false` if a kill came instead.
    async fn pause(&mut self, until: Instant) -> bool {
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until) => return true,
                Some(control) = self.controls.recv() => match control {
                    Control::Kill { done, .. } => {
                        done.send(KillReceipt { signalled: 0, survivors: 0 }).ok();
                        return false;
                    }
                    // What does not run wants nothing; it may when it runs again.
                    Control::WantsInput { done } => {
                        done.send(false).ok();
                    }
                    // Nothing runs that could take it: dropping it says "ended".
                    Control::Signal { .. }
                    | Control::Write { .. }
                    | Control::CloseStdin { .. }
                    | Control::Resize { .. } => {}
                },
            }
        }
    }
}

/// Whether a policy starts it again: not if somebody wanted it to end.
fn failed(end: &EndRecord) -> bool {
    match end.reason {
        EndReason::Exited => end.code != Some(0),
        EndReason::Signaled | EndReason::Timeout | EndReason::IdleTimeout | EndReason::Oom | EndReason::OutputLimit => {
            true
        }
        EndReason::Killed | EndReason::ShellExited | EndReason::SandboxStopped | EndReason::HostLost => false,
    }
}

/// Sets `ready` when the condition is met. Ends with the life it was made for.
async fn become_ready(process: Process, readiness: Readiness, since: u64, status: watch::Sender<Status>) {
    let met = match readiness {
        Readiness::Log(pattern) => process.wait_log(&pattern, since, None).await.is_ok(),
        Readiness::Port(check) => process.wait_port(&check, None).await.is_ok(),
    };
    if met {
        status.send_modify(|status| status.ready = Some(true));
    }
}
