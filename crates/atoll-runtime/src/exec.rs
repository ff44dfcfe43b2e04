//! Exec: one stateless command, run to its end, answered whole.

use atoll_protocol::{Capture, Encoding, EndRecord, ExecResult, ProcessId, Stream};
use bytes::Bytes;
use tokio::sync::oneshot;

use crate::Error;
use crate::log::{Capture as Kept, Event, HeadTail, Log};
use crate::process::Process;
use crate::run::Ended;
use crate::shared::Shared;

/// The two outputs while they are being collected.
#[derive(Debug)]
pub(crate) struct Captures {
    limit: usize,
    stdout: HeadTail,
    stderr: HeadTail,
    result: oneshot::Sender<Captured>,
}

/// Where the caller gets the collected outputs, as soon as there will be no more.
pub(crate) type Slot = oneshot::Receiver<Captured>;

/// What was collected, and where the log stood then.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) stdout: Kept,
    pub(crate) stderr: Kept,
    pub(crate) cursor: u64,
}

impl Captures {
    /// Keeps at most `limit` bytes of each output.
    pub(crate) fn new(limit: usize) -> (Self, Slot) {
        let (result, slot) = oneshot::channel();
        let (stdout, stderr) = (HeadTail::new(limit), HeadTail::new(limit));
        (Self { limit, stdout, stderr, result }, slot)
    }

    /// How many bytes of each output it keeps.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn push(&mut self, stream: Stream, cursor: u64, bytes: &Bytes) {
        match stream {
            Stream::Stdout => self.stdout.push(cursor, bytes),
            Stream::Stderr => self.stderr.push(cursor, bytes),
        }
    }

    /// The command is over: what comes later belongs to the log alone.
    pub(crate) fn complete(self, log: &Log) {
        let captured = Captured { stdout: self.stdout.finish(), stderr: self.stderr.finish(), cursor: log.end() };
        // Whoever asked may have gone.
        drop(self.result.send(captured));
    }
}

/// What a command did and printed.
#[derive(Debug)]
pub struct ExecOutput {
    /// Its id.
    pub id: ProcessId,
    /// How it ended.
    pub end: EndRecord,
    /// Standard output.
    pub stdout: Kept,
    /// Standard error.
    pub stderr: Kept,
    /// Where its log stood when it ended.
    pub cursor: u64,
    /// The session's shell could not be saved when it ended, and was replaced by one that holds the last snapshot.
    pub session_reset: bool,
}

impl ExecOutput {
    /// The form that clients get.
    pub fn result(&self, encoding: Encoding) -> ExecResult {
        ExecResult {
            id: self.id.clone(),
            end: self.end.clone(),
            stdout: capture(&self.stdout, encoding),
            stderr: capture(&self.stderr, encoding),
            cursor: self.cursor,
            session_reset: self.session_reset,
        }
    }

    /// Whether the answer holds every byte.
    pub fn is_whole(&self) -> bool {
        self.stdout.omitted == 0 && self.stderr.omitted == 0
    }
}

fn capture(kept: &Kept, encoding: Encoding) -> Capture {
    Capture::new(encoding, &kept.head, &kept.tail, kept.omitted, kept.omitted_from)
}

impl Process {
    /// Waits for its end and answers as an exec of it would: put together from its log, with so many bytes of each
    /// output.
    pub async fn output(&self, answer_bytes: usize) -> Result<ExecOutput, Error> {
        from_log(self, answer_bytes).await
    }
}

/// The answer of a command that was started for it. If it told everything, and nobody but us knows its id, nothing of it
/// needs to be remembered.
///
/// It waits for the outputs first: of all that happens to a process, nothing before them is worth waking anybody for.
pub(crate) async fn collect(shared: &Shared, process: &Process, slot: Slot, named: bool) -> Result<ExecOutput, Error> {
    let mut waiting = Waiting(Some(process));
    let captured = slot.await;
    let over = process.over().await;
    waiting.0 = None;
    let Ended { record: end, session_reset, .. } = over?;
    let Captured { stdout, stderr, cursor } = captured.map_err(|_| Error::SandboxGone)?;
    let output = ExecOutput { id: process.id().clone(), end, stdout, stderr, cursor, session_reset };
    if !named && output.is_whole() && output.end.survivors == 0 {
        shared.registry.discard(process.id());
    }
    Ok(output)
}

/// Somebody who waits for an answer. Should they go away, the record tells in its place.
struct Waiting<'a>(Option<&'a Process>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(process) = self.0 {
            process.remember_untold();
        }
    }
}

/// The answer of a command that was started before under the same id: put together from its log.
pub(crate) async fn from_log(process: &Process, answer_bytes: usize) -> Result<ExecOutput, Error> {
    let Ended { record: end, cursor, session_reset } = process.over().await?;
    let mut stdout = HeadTail::new(answer_bytes);
    let mut stderr = HeadTail::new(answer_bytes);
    let mut reader = process.log().reader(0);
    let mut gap = None;
    while reader.cursor() < cursor {
        match reader.next().await {
            Some(Event::Output(chunk)) => {
                // A piece may reach beyond the end: what came later is not part of the answer.
                let within = usize::try_from(cursor - chunk.cursor).unwrap_or(usize::MAX).min(chunk.bytes.len());
                let bytes = chunk.bytes.slice(..within);
                match chunk.stream {
                    Stream::Stdout => stdout.push(chunk.cursor, &bytes),
                    Stream::Stderr => stderr.push(chunk.cursor, &bytes),
                }
            }
            Some(Event::Gap { from, .. }) => gap = gap.or(Some(from)),
            None => break,
        }
    }
    let totals = process.log().totals();
    let (mut stdout, mut stderr) = (stdout.finish(), stderr.finish());
    if let Some(from) = gap {
        account(&mut stdout, totals.stdout, from);
        account(&mut stderr, totals.stderr, from);
    }
    Ok(ExecOutput { id: process.id().clone(), end, stdout, stderr, cursor, session_reset })
}

/// Counts what the log itself had to give up as omitted, from where it began to.
fn account(kept: &mut Kept, total: u64, from: u64) {
    let known = kept.head.len() as u64 + kept.omitted + kept.tail.len() as u64;
    if total > known {
        kept.omitted += total - known;
        kept.omitted_from = Some(kept.omitted_from.map_or(from, |earlier| earlier.min(from)));
    }
}
