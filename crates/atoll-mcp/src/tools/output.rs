//! What processes print, and waiting for what they do.

use std::time::Duration;

use atoll_client::OutputRange;
use atoll_protocol::{
    Encoding as Wire, ErrorCode, HttpCondition, LogCondition, OutputPage, PortCondition, Stream, WaitAnswer,
    WaitFor as For, WaitRequest,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::Ended;
use super::{millis, process_id, seconds};
use crate::call::Call;
use crate::printed::{Encoding, shown};
use crate::tool::{Nature, Told, Tool};
use crate::trouble::Trouble;

/// How long is waited if nothing is said.
const WAIT: Duration = Duration::from_secs(30);

/// The longest that read_output waits: shorter than clients give a call.
const READ_WAIT_MAX: u64 = 30;

pub(crate) struct WaitFor;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wait {
    /// The id of the process.
    process: String,
    /// Wait until it has printed this text.
    text: Option<String>,
    /// Wait until it has printed a line that this regular expression matches.
    regex: Option<String>,
    /// Look for text or regex only in what comes after this cursor (0: also in what was printed before).
    cursor: Option<u64>,
    /// Wait until this port inside answers.
    port: Option<u16>,
    /// With port: until an HTTP GET of this path is answered with a status from 200 to 399.
    http_path: Option<String>,
    /// How long to wait; the process goes on in any case (30, at most 1800).
    timeout_seconds: Option<u64>,
}

impl Wait {
    /// What it is that is waited for; the end, if nothing is said.
    fn condition(&self) -> Result<For, Trouble> {
        let Self { text, regex, port, http_path, cursor, .. } = self;
        let given = usize::from(text.is_some()) + usize::from(regex.is_some()) + usize::from(port.is_some());
        if given > 1 {
            return Err(Trouble::invalid("give at most one of text, regex and port"));
        }
        if http_path.is_some() && port.is_none() {
            return Err(Trouble::invalid("http_path needs port"));
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
    const ABOUT: &'static str = "Wait until a process prints a text or a line that matches, opens a port, or ends (if none \
        of these is given). Answers as soon as that happens, or says that it did not in time; the process is never touched.";
    const NATURE: Nature = Nature::Looks;
    type Input = Wait;
    type Output = Waited;

    async fn run(input: Wait, call: &mut Call) -> Result<Waited, Trouble> {
        let timeout = seconds("timeout_seconds", input.timeout_seconds, WAIT)?;
        let request = WaitRequest { r#for: input.condition()?, timeout_ms: Some(millis(timeout)) };
        let (inside, id) = (call.inside().await?, process_id(input.process)?);
        call.may_take(timeout);
        let waiting = async { inside.wait(&id, &request).await };
        match call.until(waiting).await.ok_or_else(Trouble::cancelled)? {
            Ok(answer) => Ok(Waited::happened(answer)),
            Err(error) if error.code() == Some(ErrorCode::WaitTimeout) => Ok(Waited::not("timeout", error)),
            Err(error) if error.code() == Some(ErrorCode::ProcessEnded) => Ok(Waited::not("process_ended", error)),
            Err(error) => Err(error.into()),
        }
    }
}

/// What came of waiting.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Waited {
    /// Whether it has happened.
    happened: bool,
    /// If not: timeout (the process goes on), or process_ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
    /// The same in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The line that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    /// Position behind it, for read_output.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<u64>,
    /// Its exit code, if its end was waited for and it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Why it is over, if its end was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Waited {
    fn happened(answer: WaitAnswer) -> Self {
        let ended = answer.end.as_ref().map(Ended::new);
        Self {
            happened: true,
            message: ended.as_ref().map(Ended::text),
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

impl Told for Waited {
    fn text(&self) -> String {
        match (self.happened, &self.line, &self.message) {
            (true, Some(line), _) => format!("found: {}", line.trim_end()),
            (true, None, Some(message)) => format!("it has ended: {message}"),
            (true, None, None) => "the port answers".to_owned(),
            (false, _, message) => format!("not yet: {}", message.as_deref().unwrap_or_default()),
        }
    }
}

pub(crate) struct ReadOutput;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    /// The id of the process, or of a command of which something was left out.
    process: String,
    /// From this position on (0: from the beginning).
    #[serde(default)]
    cursor: u64,
    /// At most so many bytes (16000, at most 262144).
    max_output_bytes: Option<u64>,
    /// If there is nothing yet, wait so long for it (0, at most 30).
    #[serde(default)]
    wait_seconds: u64,
    /// How bytes are given: as text, or exactly as base64 (text).
    #[serde(default)]
    encoding: Encoding,
}

impl Tool for ReadOutput {
    const NAME: &'static str = "read_output";
    const TITLE: &'static str = "Read output";
    const ABOUT: &'static str = "Read what a process or command has printed, from a cursor on: both outputs, in the order in \
        which they were printed. Go on with next_cursor until it is closed.";
    const NATURE: Nature = Nature::Looks;
    type Input = Read;
    type Output = Page;

    async fn run(input: Read, call: &mut Call) -> Result<Page, Trouble> {
        if input.wait_seconds > READ_WAIT_MAX {
            return Err(Trouble::invalid(format!("wait_seconds: at most {READ_WAIT_MAX}")));
        }
        let limit = shown(input.max_output_bytes)?.max(1);
        let range = OutputRange {
            since: input.cursor,
            limit: usize::try_from(limit).ok(),
            wait: (input.wait_seconds > 0).then(|| Duration::from_secs(input.wait_seconds)),
            encoding: Wire::Base64,
        };
        let (inside, id) = (call.inside().await?, process_id(input.process)?);
        let reading = async { inside.output(&id, &range).await };
        let page = call.until(reading).await.ok_or_else(Trouble::cancelled)??;
        Page::new(page, input.encoding)
    }
}

/// A part of the output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Page {
    /// The output, in order.
    pieces: Vec<Piece>,
    /// Where to go on reading.
    next_cursor: u64,
    /// Nothing will ever come after this.
    closed: bool,
    /// Bytes within this part that are no longer kept.
    lost_bytes: u64,
}

/// A piece of one of the outputs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Piece {
    /// stdout or stderr.
    stream: String,
    /// What was printed.
    text: String,
    /// How it is given.
    encoding: Encoding,
    /// It has bytes that are no text; they were replaced by U+FFFD.
    replaced: bool,
}

impl Page {
    fn new(page: OutputPage, encoding: Encoding) -> Result<Self, Trouble> {
        let mut joined: Vec<(Stream, Vec<u8>)> = Vec::new();
        for event in &page.events {
            let wrong = || Trouble::new(ErrorCode::Internal, "the server's answer is no base64");
            let bytes = event.encoding.decode(&event.data).ok_or_else(wrong)?;
            match joined.last_mut() {
                Some((stream, all)) if *stream == event.stream => all.extend(bytes),
                _ => joined.push((event.stream, bytes)),
            }
        }
        let mut next_cursor = page.next_cursor;
        if encoding == Encoding::Text && !page.closed {
            next_cursor -= whole_letters(&mut joined);
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

/// Leaves the beginning of a letter at the end to the next page. Gives how many bytes that are.
fn whole_letters(pieces: &mut [(Stream, Vec<u8>)]) -> u64 {
    let Some((_, last)) = pieces.last_mut() else { return 0 };
    let Err(error) = str::from_utf8(last) else { return 0 };
    let good = error.valid_up_to();
    // Another error, or nothing else in it.
    if error.error_len().is_some() || good == 0 {
        return 0;
    }
    let left = last.len() - good;
    last.truncate(good);
    left as u64
}

impl Told for Page {
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
            text.push_str(&format!("[{} bytes of this are no longer kept]\n", self.lost_bytes));
        }
        text.push_str(&if self.closed {
            "[that was all]".to_owned()
        } else {
            format!("[go on with cursor {}]", self.next_cursor)
        });
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_that_is_cut_comes_with_the_next_page() {
        let mut pieces = [(Stream::Stdout, "aä".as_bytes()[..2].to_vec())];
        assert_eq!((whole_letters(&mut pieces), pieces[0].1.as_slice()), (1, b"a".as_slice()));
        for whole in [b"a".as_slice(), b"\xff", b"\xc3"] {
            assert_eq!(whole_letters(&mut [(Stream::Stdout, whole.to_vec())]), 0, "{whole:?}");
        }
    }

    #[test]
    fn a_wait_is_for_one_thing() {
        let wait = |json: serde_json::Value| serde_json::from_value::<Wait>(json).unwrap().condition();
        use serde_json::json;
        assert_eq!(wait(json!({ "process": "p" })).unwrap(), For::Exit);
        assert!(matches!(wait(json!({ "process": "p", "text": "x", "cursor": 7 })), Ok(For::Log(_))));
        assert!(matches!(wait(json!({ "process": "p", "port": 80, "http_path": "/" })), Ok(For::Port(_))));
        assert!(wait(json!({ "process": "p", "text": "x", "port": 80 })).is_err());
        assert!(wait(json!({ "process": "p", "http_path": "/" })).is_err());
    }
}
