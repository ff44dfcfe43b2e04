//! An agent's events of a command as a bridge's events. They go through one by one; no more than one is held.

use std::convert::Infallible;

use atoll_protocol::{Encoding, EndRecord, ErrorBody, ExecResult, Gap, OutputEvent, Stream};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http_body_util::BodyExt;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest event of an agent's: a piece of output as base64 inside JSON is far shorter.
const EVENT_MAX: usize = 4 * 1024 * 1024;

/// The exit code of a command whose time was up, as timeout(1) has it.
const TIMED_OUT: i32 = 124;

/// The exit code of which nothing is known.
const UNKNOWN: i32 = -1;

/// The agent's answer as a bridge gives it; the command may have had so many milliseconds.
pub(super) fn translated(response: Response, limit: Option<u64>) -> Response {
    let telling = Telling { from: response.into_body(), read: BytesMut::new(), looked_at: 0, limit, over: false };
    let events = stream::unfold(telling, async |mut telling| {
        telling.next().await.map(|event| (Ok::<_, Infallible>(event), telling))
    });
    // A proxy that gathers events before it passes them on would undo their purpose.
    let headers = [
        (CONTENT_TYPE.as_str(), "text/event-stream"),
        (CACHE_CONTROL.as_str(), "no-cache"),
        ("x-accel-buffering", "no"),
    ];
    (headers, Body::from_stream(events)).into_response()
}

struct Telling {
    from: Body,
    /// What was read and not yet told.
    read: BytesMut,
    /// How much of it holds no end of an event.
    looked_at: usize,
    limit: Option<u64>,
    over: bool,
}

/// What becomes of an event.
enum Told {
    /// Nothing.
    Nothing,
    /// This.
    Event(Bytes),
    /// This, and nothing after it.
    Last(Bytes),
}

impl Telling {
    async fn next(&mut self) -> Option<Bytes> {
        while !self.over {
            let told = match self.event() {
                Some(event) => told(&event, self.limit),
                None => self.more().await,
            };
            match told {
                Told::Nothing => {}
                Told::Event(bytes) => return Some(bytes),
                Told::Last(bytes) => {
                    self.over = true;
                    return Some(bytes);
                }
            }
        }
        None
    }

    /// The next whole event that was read.
    fn event(&mut self) -> Option<Bytes> {
        let Some(at) = self.read[self.looked_at..].windows(2).position(|pair| pair == b"\n\n") else {
            self.looked_at = self.read.len().saturating_sub(1);
            return None;
        };
        let event = self.read.split_to(self.looked_at + at + 2).freeze();
        self.looked_at = 0;
        Some(event)
    }

    async fn more(&mut self) -> Told {
        match self.from.frame().await {
            Some(Ok(frame)) => {
                self.read.extend_from_slice(&frame.into_data().unwrap_or_default());
                if self.read.len() > EVENT_MAX { broke("an event is too long") } else { Told::Nothing }
            }
            Some(Err(error)) => broke(&error.to_string()),
            None => broke("the server is about to end, or the sandbox was stopped"),
        }
    }
}

fn told(event: &[u8], limit: Option<u64>) -> Told {
    let lines = || event.split(|byte| *byte == b'\n');
    let field = |name: &[u8]| lines().find_map(|line| line.strip_prefix(name)).map(<[u8]>::trim_ascii);
    let data = field(b"data:").unwrap_or_default();
    match field(b"event:") {
        Some(b"output") => read(data, |output: OutputEvent| Told::Event(event_of(name(output.stream), &output.data))),
        Some(b"end") => read(data, |result: ExecResult| Told::Last(end(&result.end, limit))),
        Some(b"gap") => read(data, |Gap { from, to }| {
            failed(
                "exec_error",
                format!("{} bytes of its output are lost: it printed faster than they were taken", to - from),
            )
        }),
        Some(b"error") => read(data, |body: ErrorBody| failed("exec_error", body.message)),
        Some(_) => Told::Nothing,
        // A sign of life.
        None => Told::Event(Bytes::from_static(b":\n\n")),
    }
}

fn read<T: DeserializeOwned>(data: &[u8], tell: impl FnOnce(T) -> Told) -> Told {
    match serde_json::from_slice(data) {
        Ok(value) => tell(value),
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

/// How it ended, and that its time was up.
fn end(end: &EndRecord, limit: Option<u64>) -> Bytes {
    let exit = event_of("exit", &json(&Exit { exit_code: exit_code(end) }));
    if !end.timed_out {
        return exit;
    }
    let note = format!("Command timed out after {}ms\n", limit.unwrap_or(end.duration_ms));
    [event_of("stderr", &Encoding::Base64.encode(note.as_bytes()).0), exit].concat().into()
}

/// As a shell tells it.
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

fn failed(code: &'static str, error: String) -> Told {
    Told::Last(event_of("error", &json(&Failure { error, code })))
}

/// The way to the agent ended before the command did.
fn broke(why: &str) -> Told {
    failed("exec_transport_error", format!("how the command ended cannot be told: {why}"))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: &str = "event: output\ndata: {\"cursor\":0,\"next_cursor\":2,\"stream\":\"stderr\",\"data\":\"/wA=\",\"encoding\":\"base64\",\"time\":\"2026-11-15T06:25:24.681Z\"}\nid: 2\n\n";

    /// What comes of these pieces, however they were cut.
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
    async fn an_event_is_told_once_it_is_whole() {
        let end = ended(r#""reason":"exited","code":7,"signal":null,"timed_out":false"#).leak();
        let expected = "event: stderr\ndata: /wA=\n\n:\n\nevent: exit\ndata: {\"exit_code\":7}\n\n";
        for cut in 1..OUT.len() {
            let pieces = vec!["event: start\ndata: {}\n\n", &OUT[..cut], &OUT[cut..], ":\n\n", end, "never told\n\n"];
            assert_eq!(through(pieces).await, expected, "{cut}");
        }
    }

    #[tokio::test]
    async fn ends_are_told_as_a_shell_tells_them() {
        for (end, told) in [
            (r#""reason":"signaled","code":null,"signal":"KILL","timed_out":false"#, r#"{"exit_code":137}"#),
            (r#""reason":"host_lost","code":null,"signal":null,"timed_out":false"#, r#"{"exit_code":-1}"#),
        ] {
            assert_eq!(through(vec![ended(end).leak()]).await, format!("event: exit\ndata: {told}\n\n"));
        }
        let late = ended(r#""reason":"timeout","code":null,"signal":"TERM","timed_out":true"#).leak();
        let note = Encoding::Base64.encode(b"Command timed out after 5ms\n").0;
        assert_eq!(
            through(vec![late]).await,
            format!("event: stderr\ndata: {note}\n\nevent: exit\ndata: {{\"exit_code\":124}}\n\n")
        );
    }

    #[tokio::test]
    async fn what_is_not_known_is_an_error() {
        for pieces in
            [vec![OUT], vec![], vec!["event: output\ndata: {\n\n"], vec!["event: gap\ndata: {\"from\":1,\"to\":9}\n\n"]]
        {
            let told = through(pieces).await;
            assert!(told.contains("event: error\n") && !told.contains("event: exit"), "{told}");
        }
    }
}
