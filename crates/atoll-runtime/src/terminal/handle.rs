//! A handle on one terminal. Cheap to clone; dropping it changes nothing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atoll_protocol::{EndRecord, KillReceipt, ProcessState, Resized, Signal, TerminalId, TerminalInfo, WindowSize};
use bytes::Bytes;

use super::recording::Recording;
use super::screen::{Painter, Screen};
use super::spec::TerminalSpec;
use super::viewer::{Viewer, ViewerOptions};
use super::window::Window;
use crate::Error;
use crate::journal::TerminalMade;
use crate::log::{Log, Match};
use crate::pipes::Position;
use crate::process::Process;
use crate::run::Control;
use crate::tree::SignalScope;
use crate::wait::LogPattern;

/// A program behind a pseudo-terminal, running or ended.
#[derive(Debug, Clone)]
pub struct Terminal {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: TerminalId,
    spec: TerminalSpec,
    /// The command behind it. Not in the table of processes.
    process: Process,
    window: Window,
    viewers: AtomicUsize,
    /// The last snapshot, to go on from.
    painter: Mutex<Option<Painter>>,
}

impl Terminal {
    pub(super) fn new(id: TerminalId, spec: TerminalSpec, process: Process) -> Self {
        let window = Window::new(spec.size);
        Self::with_window(id, spec, process, window)
    }

    /// One whose program ended in an earlier life of the sandbox.
    pub(crate) fn restored(made: &TerminalMade, process: Process, resizes: Vec<Resized>) -> Result<Self, Error> {
        let id = TerminalId::new(process.id().as_str()).map_err(|error| Error::invalid(error.to_string()))?;
        let mut spec = TerminalSpec::new(process.spec().command.invocation.clone());
        (spec.id, spec.size, spec.term) = (Some(id.clone()), made.size, made.term.clone().into());
        let window = Window::new(made.size);
        resizes.into_iter().for_each(|change| window.resized(change));
        Ok(Self::with_window(id, spec, process, window))
    }

    fn with_window(id: TerminalId, spec: TerminalSpec, process: Process, window: Window) -> Self {
        let inner = Inner { id, spec, process, window, viewers: AtomicUsize::new(0), painter: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    /// What is remembered of how it was made.
    pub(super) fn made(&self) -> TerminalMade {
        TerminalMade { size: self.inner.spec.size, term: self.inner.spec.term.to_string_lossy().into_owned() }
    }

    /// Its id.
    pub fn id(&self) -> &TerminalId {
        &self.inner.id
    }

    /// What was asked for.
    pub fn spec(&self) -> &TerminalSpec {
        &self.inner.spec
    }

    /// What was printed: every byte, by position.
    pub fn log(&self) -> &Log {
        self.inner.process.log()
    }

    /// Where in its life its program is.
    pub fn state(&self) -> ProcessState {
        self.inner.process.state()
    }

    /// How its program ended, if it has.
    pub fn end(&self) -> Option<EndRecord> {
        self.inner.process.end()
    }

    /// The size last asked for.
    pub fn size(&self) -> WindowSize {
        self.inner.window.size()
    }

    /// Everything there is to know.
    pub fn info(&self) -> TerminalInfo {
        let process = self.inner.process.info();
        let last = self.inner.window.last();
        TerminalInfo {
            id: self.inner.id.clone(),
            state: process.state,
            pid: process.pid,
            command: process.command,
            size: last.size,
            resized_by: last.by,
            viewers: self.inner.viewers.load(Ordering::Relaxed),
            cursor: process.cursor,
            started_at: process.started_at,
            end: process.end,
        }
    }

    /// Looks at it, from a place in its output on. Leaving is dropping the viewer; the program does not notice.
    pub fn attach(&self, options: ViewerOptions) -> Viewer {
        Viewer::new(self.clone(), options)
    }

    /// Types. Returns when the terminal has taken it all.
    pub async fn write(&self, bytes: Bytes) -> Result<(), Error> {
        let written = self.inner.process.ask(|done| Control::Write { at: Position::End, bytes, done }).await;
        written.and_then(|written| written.map(drop)).map_err(|error| self.renamed(error))
    }

    /// Gives its window a size. The last one who asks wins; `by` is remembered.
    pub async fn resize(&self, size: WindowSize, by: impl Into<String>) -> Result<(), Error> {
        let by = by.into();
        let resized = self.inner.process.ask(|done| Control::Resize { size, by, done }).await;
        resized.and_then(|resized| resized).map_err(|error| self.renamed(error))
    }

    /// Sends a signal. Returns how many processes got it.
    pub async fn signal(&self, signal: Signal, scope: SignalScope) -> Result<u64, Error> {
        self.inner.process.signal(signal, scope).await.map_err(|error| self.renamed(error))
    }

    /// Ends everything in it: HUP and TERM, then KILL after `grace`. Done already is fine.
    pub async fn kill(&self, grace: Duration) -> Result<KillReceipt, Error> {
        self.inner.process.kill(grace).await
    }

    /// Waits until its program is over.
    pub async fn ended(&self) -> Result<EndRecord, Error> {
        self.inner.process.ended().await
    }

    /// Waits until nothing of it is left.
    pub async fn gone(&self) -> Result<(), Error> {
        self.inner.process.gone().await
    }

    /// Whether something in it waits for a key, and there is none for it to read.
    pub async fn waiting_for_input(&self) -> Result<bool, Error> {
        if self.end().is_some() {
            return Ok(false);
        }
        self.inner.process.wants_input().await.map_err(|error| self.renamed(error))
    }

    /// Waits until something in it waits for a key.
    pub async fn wait_input(&self, limit: Option<Duration>) -> Result<(), Error> {
        self.inner.process.wait_input(limit).await
    }

    /// Waits for output, from position `since` on: what was printed before counts too.
    pub async fn wait_log(&self, pattern: &LogPattern, since: u64, limit: Option<Duration>) -> Result<Match, Error> {
        self.inner.process.wait_log(pattern, since, limit).await
    }

    /// What is on the screen now. Drawn when asked for: from the beginning the first time, then from the last time on.
    pub async fn screen(&self) -> Screen {
        let known = self.painter().take();
        let mut painter = known.unwrap_or_else(|| Painter::new(self.log(), &self.inner.window));
        painter.catch_up(self.log().end()).await;
        let screen = painter.screen();
        let mut kept = self.painter();
        // Another call may have come further meanwhile.
        if kept.as_ref().is_none_or(|other| other.position() < painter.position()) {
            *kept = Some(painter);
        }
        screen
    }

    fn painter(&self) -> std::sync::MutexGuard<'_, Option<Painter>> {
        self.inner.painter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A recording of what was printed from position `since` until now.
    pub fn recording(&self, since: u64) -> Recording {
        Recording::new(self, since)
    }

    pub(crate) fn process(&self) -> &Process {
        &self.inner.process
    }

    pub(crate) fn window(&self) -> &Window {
        &self.inner.window
    }

    pub(super) fn joined(&self) {
        self.inner.viewers.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn left(&self) {
        self.inner.viewers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether two handles mean the same terminal; an id may mean two, one after the other.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// The process behind it is nobody's business.
    fn renamed(&self, error: Error) -> Error {
        if let Error::ProcessEnded { id } | Error::StdinNotOpen { id } = error {
            return Error::TerminalEnded { id };
        }
        error
    }
}
