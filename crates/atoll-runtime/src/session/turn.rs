//! One command of a session while it runs: its place among processes, and the way to tell it how it ended.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::SystemTime;

use atoll_isolation::sys::process::Usage;
use atoll_protocol::{EndReason, EndRecord, ProcessState};
use atoll_shell::message::{self, Kind, Report};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::owner::Command;
use super::part::{self, Part};
use crate::Error;
use crate::exec::Captures;
use crate::link::{News, NewsReceiver};
use crate::network::Narrowed;
use crate::pipes::OurEnds;
use crate::process::{Process, Told};
use crate::run::{Main, Run, Started, exit_code, exit_signal};
use crate::shared::Shared;
use crate::tree::Tree;

/// What a command is told: how it ended, and that nothing is left of it.
const NEWS_MAX: usize = 2;

/// A command that the shell runs.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) process: Process,
    shared: Arc<Shared>,
    news: mpsc::Sender<News>,
    /// There is nothing in it to run.
    blank: bool,
    /// Its own rules for the network, if it has any.
    pub(super) narrowed: Option<Narrowed>,
}

impl Turn {
    /// The shell has been given the command; from here on a task owns its output and its limits.
    pub(super) fn begin(shared: &Arc<Shared>, command: Command, part: Part, ends: OurEnds, blank: bool) -> Self {
        let Command { process, status, mut controls, captures } = command;
        let told = told(captures.as_ref());
        let (news, heard) = mpsc::channel(NEWS_MAX);
        let started_at = SystemTime::now();
        let parts = Started {
            shared: Arc::clone(shared),
            id: process.id().to_string(),
            // Init knows nothing of it.
            number: 0,
            tree: Tree::Part(part),
            main: Main::Turn,
            news: NewsReceiver::new(heard),
            ends,
            window: None,
            started: Instant::now(),
            started_at,
            young: None,
            // Its connections are the shell's; see below.
            registered: None,
        };
        let run = Run::new(parts, process.clone(), captures);
        status.send_modify(|status| {
            status.state = ProcessState::Running;
            status.started_at = started_at.into();
            status.begun = true;
        });
        let turn = Self { process: process.clone(), shared: Arc::clone(shared), news, blank, narrowed: None };
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let driven = run.drive(&mut controls, &status).await;
            process.log().close();
            if driven.failed.is_some() {
                shared.registry.discard(process.id());
            } else if let Some(end) = &driven.end {
                process.remember_end(end, told);
            }
            status.send_modify(|status| {
                status.state = ProcessState::Ended;
                status.end.clone_from(&driven.end);
                status.failed.clone_from(&driven.failed);
            });
            process.remember_late_end();
            driven.answer();
            shared.registry.ended(process.id());
        });
        turn
    }

    /// The shell has told how it ended, and it has left these; `asked` if somebody wanted it to end.
    pub(super) fn reported(&mut self, report: &Report, asked: bool, left: Vec<u32>) {
        let reason = if asked { EndReason::Killed } else { EndReason::Signaled };
        let news = match report.kind {
            Kind::NotRun => {
                let cwd = self.process.spec().command.cwd.clone().unwrap_or_default();
                let why = crate::start::plain(&std::io::Error::from_raw_os_error(report.status));
                let cwd = String::from_utf8_lossy(cwd.as_os_str().as_bytes()).into_owned();
                News::NotRun { error: Error::CwdNotFound { cwd, why } }
            }
            Kind::Done | Kind::Ready | Kind::Dumped | Kind::Leaving => News::Reported {
                // Where nothing ran, what the shell reports is still the status of what ran before.
                status: if self.blank { 0 } else { report.status },
                given_up: (report.flags & message::GIVEN_UP != 0).then_some(reason),
                user_us: report.user_us,
                system_us: report.system_us,
                left: left.clone(),
            },
        };
        self.tell(news, left);
    }

    /// Its shell has ended; `reason` if that was asked for.
    pub(super) fn shell_lost(
        mut self,
        how: Option<(i32, Usage)>,
        reason: Option<EndReason>,
        reset: bool,
        left: Vec<u32>,
    ) {
        self.tell(News::ShellLost { how, reason, reset, left: left.clone() }, left);
    }

    fn tell(&mut self, news: News, left: Vec<u32>) {
        // There is room for both that it is ever told.
        self.news.try_send(news).ok();
        let narrowed = self.narrowed.take();
        if !left.is_empty() {
            tokio::spawn(part::watch(Arc::clone(&self.shared), left, self.news.clone(), narrowed));
        }
    }
}

/// Writes a command down before the shell is given it. Only where the id is the client's is that a condition.
pub(super) fn remember(command: &Command) -> Result<(), Error> {
    let named = command.process.spec().id.is_some();
    if !named && matches!(told(command.captures.as_ref()), Told::ByAnswer(_)) {
        return Ok(());
    }
    command.process.remember().or_else(|error| if named { Err(error) } else { Ok(()) })
}

fn told(captures: Option<&Captures>) -> Told {
    captures.map_or(Told::ByRecord, |captures| Told::ByAnswer(captures.limit()))
}

/// Tells that a command was not run.
pub(super) fn refuse(shared: &Shared, command: &Command, error: Error) {
    shared.registry.discard(command.process.id());
    command.process.log().close();
    command.status.send_modify(|status| {
        status.failed = Some(error);
        status.state = ProcessState::Ended;
    });
}

/// How a session's shell ended.
pub(super) fn shell_end(how: Option<(i32, Usage)>, since: SystemTime) -> EndRecord {
    let now = SystemTime::now();
    EndRecord {
        reason: EndReason::ShellExited,
        code: how.and_then(|(status, _)| exit_code(status)),
        signal: how.and_then(|(status, _)| exit_signal(status)),
        timed_out: false,
        oom_killed: false,
        duration_ms: now.duration_since(since).map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        cpu_user_ms: how.map(|(_, usage)| usage.user_us / 1000),
        cpu_system_ms: how.map(|(_, usage)| usage.system_us / 1000),
        max_rss_bytes: how.map(|(_, usage)| usage.max_rss_bytes),
        started_at: since.into(),
        ended_at: now.into(),
        survivors: 0,
        denials: Vec::new(),
        denials_count: 0,
    }
}
