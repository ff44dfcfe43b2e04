//! Tools for the output of processes: `wait_for` and `read_output`.

use std::time::Duration;

use atoll_client::OutputRange;
use atoll_protocol::{
    Encoding as Wire, ErrorCode, HttpCondition, LogCondition, OutputPage, PortCondition, Stream, WaitAnswer,
    WaitFor as For, WaitRequest,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::EndSummary;
use super::{millis, process_id, seconds};
use crate::call::Call;
use crate::error::ToolError;
use crate::tool::{Effect, Tool, ToolOutput};
use crate::truncated_output::{Encoding, output_limit};

/// Default wait.
const WAIT: Duration = Duration::from_secs(30);

/// Maximum wait of read_output, shorter than the timeout of clients.
const READ_WAIT_MAX: u64 = 30;

pub(crate) struct WaitFor;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wait {
    /// Id of the process.
    process: String,
    /// Wait until the output contains this text.
    text: Option<String>,
    /// Wait until a line of output matches this regular expression.
    regex: Option<String>,
    /// Search only output after this cursor (default 0, which includes earlier output).
    cursor: Option<u64>,
    /// Wait until this port inside the sandbox accepts connections.
    port: Option<u16>,
    /// With port: wait until an HTTP GET of this path returns a status from 200 to 399.
    http_path: Option<String>,
    /// How long to wait in seconds; a timeout does not affect the process (default 30, at most 1800).
    timeout_seconds: Option<u64>,
}

impl Wait {
    /// Returns the condition to wait for, which is the end of the process by default.
    fn condition(&self) -> Result<For, ToolError> {
        let Self { text, regex, port, http_path, cursor, .. } = self;
        let given = usize::from(text.is_some()) + usize::from(regex.is_some()) + usize::from(port.is_some());
        if given > 1 {
            return Err(ToolError::invalid("give at most one of text, regex and port"));
        }
        if http_path.is_some() && port.is_none() {
            return Err(ToolError::invalid("http_path needs port"));
        }
        Ok(match port {
            Some(port) => {
                let http = http_path.clone().map(|path| HttpCondition { path, status: None });
                For::Port(PortCondition { port: *port, http })
            }
            None if given == 0 => For::Exit,
            None => For::Log(LogCondition { text: text.clone(), regex: regex.clone(), since: *cursor }),
        })
    }
}

impl Tool for WaitFor {
    const NAME: &'static str = "wait_for";
    const TITLE: &'static str = "Wait for a process";
    const ABOUT: &'static str = "Wait until a process prints a text or a matching line, opens a port, or ends (if \
        none of these is given). Returns as soon as this happens, or at the timeout; the process is not affected.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = Wait;
    type Output = Waited;

    async fn run(input: Wait, call: &mut Call) -> Result<Waited, ToolError> {
        let timeout = seconds("timeout_seconds", input.timeout_seconds, WAIT)?;
        let request = WaitRequest { r#for: input.condition()?, timeout_ms: Some(millis(timeout)) };
        let (sandbox, id) = (call.sandbox().await?, process_id(input.process)?);
        call.set_time_limit(timeout);
        let waiting = async { sandbox.wait(&id, &request).await };
        match call.wait(waiting).await.ok_or_else(ToolError::cancelled)? {
            Ok(answer) => Ok(Waited::happened(answer)),
            Err(error) if error.code() == Some(ErrorCode::WaitTimeout) => Ok(Waited::not("timeout", error)),
            Err(error) if error.code() == Some(ErrorCode::ProcessEnded) => Ok(Waited::not("process_ended", error)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Result of a wait.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Waited {
    /// Whether the condition was met.
    happened: bool,
    /// If not: timeout (the process is still running), or process_ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
    /// Description of the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The line that matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    /// Position after the match, for read_output.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<u64>,
    /// Exit code, if the wait was for the end and the process exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Why the process ended, if the wait was for its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Waited {
    fn happened(answer: WaitAnswer) -> Self {
        let ended = answer.end.as_ref().map(EndSummary::new);
        Self {
            happened: true,
            message: ended.as_ref().map(EndSummary::text),
            exit_code: ended.as_ref().and_then(|ended| ended.exit_code),
            reason: ended.map(|ended| ended.reason),
            cursor: answer.found.as_ref().map(|found| found.cursor),
            line: answer.found.map(|found| found.line),
            why_not: None,
        }
    }

    fn not(why: &str, error: atoll_client::Error) -> Self {
        Self { why_not: Some(why.to_owned()), message: Some(error.to_string()), ..Self::default() }
    }
}

impl ToolOutput for Waited {
    fn text(&self) -> String {
        match (self.happened, &self.line, &self.message) {
            (true, Some(line), _) => format!("found: {}", line.trim_end()),
            (true, None, Some(message)) => format!("the process ended: {message}"),
            (true, None, None) => "the port accepts connections".to_owned(),
            (false, _, message) => format!("not yet: {}", message.as_deref().unwrap_or_default()),
        }
    }
}

pub(crate) struct ReadOutput;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    /// Id of the process, or of a command whose output was truncated.
    process: String,
    /// Position to read from (default 0, the start).
    #[serde(default)]
    cursor: u64,
    /// Maximum number of bytes (default 16000, at most 262144).
    max_output_bytes: Option<u64>,
    /// How long to wait in seconds if there is no output yet (default 0, at most 30).
    #[serde(default)]
    wait_seconds: u64,
    /// Encoding of the output: text, or base64 for exact bytes (default text).
    #[serde(default)]
    encoding: Encoding,
}

impl Tool for ReadOutput {
    const NAME: &'static str = "read_output";
    const TITLE: &'static str = "Read output";
    const ABOUT: &'static str = "Read the output of a process or command from a cursor on: stdout and stderr, in the \
        order in which they were printed. Continue with next_cursor until closed is true.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = Read;
    type Output = Page;

    async fn run(input: Read, call: &mut Call) -> Result<Page, ToolError> {
        if input.wait_seconds > READ_WAIT_MAX {
            return Err(ToolError::invalid(format!("wait_seconds: at most {READ_WAIT_MAX}")));
        }
        let limit = output_limit(input.max_output_bytes)?.max(1);
        let range = OutputRange {
            since: input.cursor,
            limit: usize::try_from(limit).ok(),
            wait: (input.wait_seconds > 0).then(|| Duration::from_secs(input.wait_seconds)),
            encoding: Wire::Base64,
        };
        let (sandbox, id) = (call.sandbox().await?, process_id(input.process)?);
        let reading = async { sandbox.output(&id, &range).await };
        let page = call.wait(reading).await.ok_or_else(ToolError::cancelled)??;
        Page::new(page, input.encoding)
    }
}

/// A page of output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Page {
    /// The output, in order.
    pieces: Vec<Piece>,
    /// Position of the next page.
    next_cursor: u64,
    /// Whether the output is complete: nothing follows this page.
    closed: bool,
    /// Number of bytes of this page that are no longer retained.
    lost_bytes: u64,
}

/// Output of one stream.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Piece {
    /// stdout or stderr.
    stream: String,
    /// The output.
    text: String,
    /// Encoding of the text.
    encoding: Encoding,
    /// Whether bytes that are not valid UTF-8 were replaced by U+FFFD.
    replaced: bool,
}

impl Page {
    fn new(page: OutputPage, encoding: Encoding) -> Result<Self, ToolError> {
        let mut joined: Vec<(Stream, Vec<u8>)> = Vec::new();
        for event in &page.events {
            let wrong = || ToolError::new(ErrorCode::Internal, "the server's response is not valid base64");
            let bytes = event.encoding.decode(&event.data).ok_or_else(wrong)?;
            match joined.last_mut() {
                Some((stream, all)) if *stream == event.stream => all.extend(bytes),
                _ => joined.push((event.stream, bytes)),
            }
        }
        let mut next_cursor = page.next_cursor;
        if encoding == Encoding::Text && !page.closed {
            next_cursor -= split_incomplete_character(&mut joined);
        }
        let pieces = joined.into_iter().map(|(stream, bytes)| {
            let (text, replaced) = encoding.encode(&bytes);
            let stream = match stream {
                Stream::Stdout => "stdout",
                Stream::Stderr => "stderr",
            };
            Piece { stream: stream.to_owned(), text, encoding, replaced }
        });
        let lost_bytes = page.gaps.iter().map(|gap| gap.to - gap.from).sum();
        Ok(Self { pieces: pieces.collect(), next_cursor, closed: page.closed, lost_bytes })
    }
}

/// Moves an incomplete character at the end to the next page. Returns its number of bytes.
fn split_incomplete_character(pieces: &mut [(Stream, Vec<u8>)]) -> u64 {
    let Some((_, last)) = pieces.last_mut() else { return 0 };
    let Err(error) = str::from_utf8(last) else { return 0 };
    let good = error.valid_up_to();
    // Invalid bytes stay, and so does a page that has only an incomplete character.
    if error.error_len().is_some() || good == 0 {
        return 0;
    }
    let left = last.len() - good;
    last.truncate(good);
    left as u64
}

impl ToolOutput for Page {
    fn text(&self) -> String {
        let mut text = String::new();
        let mut before = "stdout";
        for piece in &self.pieces {
            if piece.stream != before {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(&format!("[{}]\n", piece.stream));
                before = &piece.stream;
            }
            text.push_str(&piece.text);
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if self.lost_bytes > 0 {
            text.push_str(&format!("[{} bytes of this page are no longer retained]\n", self.lost_bytes));
        }
        text.push_str(&if self.closed {
            "[end of output]".to_owned()
        } else {
            format!("[more output: continue with cursor {}]", self.next_cursor)
        });
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_character_moves_to_the_next_page() {
        let mut pieces = [(Stream::Stdout, "aä".as_bytes()[..2].to_vec())];
        assert_eq!((split_incomplete_character(&mut pieces), pieces[0].1.as_slice()), (1, b"a".as_slice()));
        for whole in [b"a".as_slice(), b"\xff", b"\xc3"] {
            assert_eq!(split_incomplete_character(&mut [(Stream::Stdout, whole.to_vec())]), 0, "{whole:?}");
        }
    }

    #[test]
    fn wait_takes_one_condition() {
        let wait = |json: serde_json::Value| serde_json::from_value::<Wait>(json).unwrap().condition();
        use serde_json::json;
        assert_eq!(wait(json!({ "process": "p" })).unwrap(), For::Exit);
        assert!(matches!(wait(json!({ "process": "p", "text": "x", "cursor": 7 })), Ok(For::Log(_))));
        assert!(matches!(wait(json!({ "process": "p", "port": 80, "http_path": "/" })), Ok(For::Port(_))));
        assert!(wait(json!({ "process": "p", "text": "x", "port": 80 })).is_err());
        assert!(wait(json!({ "process": "p", "http_path": "/" })).is_err());
    }
}
