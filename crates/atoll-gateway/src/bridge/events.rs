//! Translates an agent's event stream of a command to a bridge's, one event at a time.

use std::convert::Infallible;

use atoll_protocol::{Encoding, EndRecord, ErrorBody, ExecResult, Gap, OutputEvent, Stream};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http_body_util::BodyExt;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use memchr::memmem;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest event from an agent: a chunk of output as base64 in JSON is far shorter.
const EVENT_MAX: usize = 4 * 1024 * 1024;

/// The exit code of a command that timed out, as in timeout(1).
const TIMED_OUT: i32 = 124;

/// The exit code of a command whose end is unknown.
const UNKNOWN: i32 = -1;

/// Translates the agent's response. `limit` is the command's timeout in milliseconds.
pub(super) fn translated(response: Response, limit: Option<u64>) -> Response {
    let events = EventStream { from: response.into_body(), read: BytesMut::new(), scanned: 0, limit, over: false };
    let events = stream::unfold(events, async |mut events| {
        events.next().await.map(|event| (Ok::<_, Infallible>(event), events))
    });
    // Tells proxies not to buffer events.
    let headers = [
        (CONTENT_TYPE.as_str(), "text/event-stream"),
        (CACHE_CONTROL.as_str(), "no-cache"),
        ("x-accel-buffering", "no"),
    ];
    (headers, Body::from_stream(events)).into_response()
}

struct EventStream {
    from: Body,
    /// Bytes that were read and not yet translated.
    read: BytesMut,
    /// How many of these bytes contain no end of an event.
    scanned: usize,
    limit: Option<u64>,
    over: bool,
}

/// The translation of an event.
enum Translated {
    /// Nothing.
    Skip,
    /// An event.
    Event(Bytes),
    /// The last event.
    Last(Bytes),
}

impl EventStream {
    async fn next(&mut self) -> Option<Bytes> {
        while !self.over {
            let translated = match self.event() {
                Some(event) => translate(&event, self.limit),
                None => self.more().await,
            };
            match translated {
                Translated::Skip => {}
                Translated::Event(bytes) => return Some(bytes),
                Translated::Last(bytes) => {
                    self.over = true;
                    return Some(bytes);
                }
            }
        }
        None
    }

    /// Returns the next complete event.
    fn event(&mut self) -> Option<Bytes> {
        let Some(at) = memmem::find(&self.read[self.scanned..], b"\n\n") else {
            self.scanned = self.read.len().saturating_sub(1);
            return None;
        };
        let event = self.read.split_to(self.scanned + at + 2).freeze();
        self.scanned = 0;
        Some(event)
    }

    async fn more(&mut self) -> Translated {
        match self.from.frame().await {
            Some(Ok(frame)) => {
                self.read.extend_from_slice(&frame.into_data().unwrap_or_default());
                if self.read.len() > EVENT_MAX { broke("an event is too long") } else { Translated::Skip }
            }
            Some(Err(error)) => broke(&error.to_string()),
            None => broke("the server is shutting down, or the sandbox was stopped"),
        }
    }
}

fn translate(event: &[u8], limit: Option<u64>) -> Translated {
    let data = field(event, b"data:").unwrap_or_default();
    match field(event, b"event:") {
        Some(b"output") => {
            read(data, |output: OutputEvent| Translated::Event(event_of(name(output.stream), &output.data)))
        }
        Some(b"end") => read(data, |result: ExecResult| Translated::Last(end(&result.end, limit))),
        Some(b"gap") => read(data, |Gap { from, to }| {
            failed(
                "exec_error",
                format!("{} bytes of output are lost: the command wrote faster than the client read", to - from),
            )
        }),
        Some(b"error") => read(data, |body: ErrorBody| failed("exec_error", body.message)),
        Some(_) => Translated::Skip,
        // A keep-alive comment.
        None => Translated::Event(Bytes::from_static(b":\n\n")),
    }
}

/// Returns the value of the first field with this name.
fn field<'a>(event: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = event;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        if let Some(value) = rest[..end].strip_prefix(name) {
            return Some(value.trim_ascii());
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    None
}

fn read<T: DeserializeOwned>(data: &[u8], translate: impl FnOnce(T) -> Translated) -> Translated {
    match serde_json::from_slice(data) {
        Ok(value) => translate(value),
        Err(error) => broke(&error.to_string()),
    }
}

fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}

fn event_of(name: &str, data: &str) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

#[derive(Serialize)]
struct Exit {
    exit_code: i32,
}

/// Translates the end of a command, with a note if it timed out.
fn end(end: &EndRecord, limit: Option<u64>) -> Bytes {
    let exit = event_of("exit", &json(&Exit { exit_code: exit_code(end) }));
    if !end.timed_out {
        return exit;
    }
    let note = format!("Command timed out after {}ms\n", limit.unwrap_or(end.duration_ms));
    [event_of("stderr", &Encoding::Base64.encode(note.as_bytes()).0), exit].concat().into()
}

/// Returns the exit code as a shell reports it.
pub(super) fn exit_code(end: &EndRecord) -> i32 {
    match (end.timed_out, end.code, end.signal) {
        (true, _, _) => TIMED_OUT,
        (false, Some(code), _) => code,
        (false, None, Some(signal)) => 128 + signal.number(),
        (false, None, None) => UNKNOWN,
    }
}

#[derive(Serialize)]
struct Failure {
    error: String,
    code: &'static str,
}

fn failed(code: &'static str, error: String) -> Translated {
    Translated::Last(event_of("error", &json(&Failure { error, code })))
}

/// The connection to the agent ended before the command did.
fn broke(why: &str) -> Translated {
    failed("exec_transport_error", format!("the command's exit status is unknown: {why}"))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: &str = "event: output\ndata: {\"cursor\":0,\"next_cursor\":2,\"stream\":\"stderr\",\"data\":\"/wA=\",\"encoding\":\"base64\",\"time\":\"2026-11-15T06:25:24.681Z\"}\nid: 2\n\n";

    /// Translates these chunks.
    async fn through(pieces: Vec<&'static str>) -> String {
        let pieces = pieces.into_iter().map(Ok::<_, Infallible>);
        let response = Body::from_stream(stream::iter(pieces)).into_response();
        let body = translated(response, Some(5)).into_body().collect().await.unwrap();
        String::from_utf8(body.to_bytes().to_vec()).unwrap()
    }

    fn ended(end: &str) -> String {
        let record = format!(
            r#"{{"cpu_user_ms":null,"cpu_system_ms":null,"max_rss_bytes":null,"duration_ms":1,"oom_killed":false,"survivors":0,"started_at":"2026-11-15T06:25:24.681Z","ended_at":"2026-11-15T06:25:24.681Z",{end}}}"#
        );
        let capture = r#"{"data":"","encoding":"base64","replaced":false,"bytes":0}"#;
        format!(
            "event: end\ndata: {{\"id\":\"p\",\"end\":{record},\"stdout\":{capture},\"stderr\":{capture},\"cursor\":2}}\n\n"
        )
    }

    #[tokio::test]
    async fn event_is_translated_once_complete() {
        let end = ended(r#""reason":"exited","code":7,"signal":null,"timed_out":false"#).leak();
        let expected = "event: stderr\ndata: /wA=\n\n:\n\nevent: exit\ndata: {\"exit_code\":7}\n\n";
        for cut in 1..OUT.len() {
            let pieces = vec!["event: start\ndata: {}\n\n", &OUT[..cut], &OUT[cut..], ":\n\n", end, "never sent\n\n"];
            assert_eq!(through(pieces).await, expected, "{cut}");
        }
    }

    #[tokio::test]
    async fn exit_codes_are_a_shells() {
        for (end, exit) in [
            (r#""reason":"signaled","code":null,"signal":"KILL","timed_out":false"#, r#"{"exit_code":137}"#),
            (r#""reason":"host_lost","code":null,"signal":null,"timed_out":false"#, r#"{"exit_code":-1}"#),
        ] {
            assert_eq!(through(vec![ended(end).leak()]).await, format!("event: exit\ndata: {exit}\n\n"));
        }
        let late = ended(r#""reason":"timeout","code":null,"signal":"TERM","timed_out":true"#).leak();
        let note = Encoding::Base64.encode(b"Command timed out after 5ms\n").0;
        assert_eq!(
            through(vec![late]).await,
            format!("event: stderr\ndata: {note}\n\nevent: exit\ndata: {{\"exit_code\":124}}\n\n")
        );
    }

    #[tokio::test]
    async fn incomplete_stream_ends_with_an_error() {
        for pieces in
            [vec![OUT], vec![], vec!["event: output\ndata: {\n\n"], vec!["event: gap\ndata: {\"from\":1,\"to\":9}\n\n"]]
        {
            let events = through(pieces).await;
            assert!(events.contains("event: error\n") && !events.contains("event: exit"), "{events}");
        }
    }
}
