//! Following output to its end, across reconnects.

use atoll_protocol::{Encoding, ErrorBody, Gap, OutputEnd, OutputEvent, ProcessId, Stream, TerminalId, Timestamp};
use bytes::{Buf, Bytes};
use http::{Method, StatusCode};
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::Error;
use crate::events::Event;
use crate::subscription::{AfterBreak, StreamRequest, Subscription};

/// A piece of output, as exact bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Position of its first byte.
    pub cursor: u64,
    /// Output stream.
    pub stream: Stream,
    /// The bytes.
    pub bytes: Bytes,
    /// When the bytes were read.
    pub time: Timestamp,
}

impl Output {
    /// Returns the position after its last byte.
    pub fn end(&self) -> u64 {
        self.cursor + self.bytes.len() as u64
    }

    /// Decodes an event. Returns `None` if all of its bytes were already returned.
    pub(crate) fn from_event(event: &OutputEvent, reached: u64) -> Result<Option<Self>, Error> {
        let bytes =
            event.encoding.decode(&event.data).ok_or_else(|| Error::invalid_response("output is not valid base64"))?;
        let OutputEvent { cursor, stream, time, .. } = *event;
        let mut output = Self { cursor, stream, bytes: bytes.into(), time };
        if output.end() <= reached {
            return Ok(None);
        }
        let known = reached.saturating_sub(output.cursor);
        output.bytes.advance(usize::try_from(known).map_err(Error::invalid_response)?);
        output.cursor += known;
        Ok(Some(output))
    }
}

/// An event of followed output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowEvent {
    /// Output of the process.
    Output(Output),
    /// Output at this position is no longer available.
    Gap(Gap),
    /// The main process has ended. The last event.
    End(OutputEnd),
}

/// How far to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Until {
    /// Until the main process ends.
    #[default]
    End,
    /// Until no process is left that could print.
    Closed,
}

/// Follows output. It reconnects by itself after a dropped connection.
#[derive(Debug)]
pub struct Follow {
    subscription: Subscription,
    over: bool,
}

impl Client {
    /// Follows a process's output from a cursor on.
    pub fn follow(&self, id: &ProcessId, since: u64, until: Until) -> Follow {
        self.follow_path(format!("/processes/{id}/output"), since, until)
    }

    /// Follows the output of a terminal from a cursor on.
    pub fn follow_terminal(&self, id: &TerminalId, since: u64, until: Until) -> Follow {
        self.follow_path(format!("/terminals/{id}/output"), since, until)
    }

    fn follow_path(&self, path: String, since: u64, until: Until) -> Follow {
        let until = match until {
            Until::End => "end",
            Until::Closed => "closed",
        };
        let query = vec![("encoding", "base64".to_owned()), ("until", until.to_owned())];
        let stream_request = StreamRequest { method: Method::GET, path, query, body: None };
        Follow { subscription: Subscription::new(self, stream_request, Some(since), AfterBreak::Resume), over: false }
    }
}

impl Follow {
    /// Returns the position after the last event returned.
    pub fn cursor(&self) -> u64 {
        self.subscription.cursor().unwrap_or(0)
    }

    /// Returns the next event, or `None` after the last one. Cancel safe: dropping the future loses no events.
    pub async fn next(&mut self) -> Result<Option<FollowEvent>, Error> {
        while !self.over {
            let event = self.subscription.next().await?;
            match event.name.as_str() {
                "output" => {
                    if let Some(output) = Output::from_event(&read(&event)?, self.cursor())? {
                        self.subscription.reached(output.end());
                        return Ok(Some(FollowEvent::Output(output)));
                    }
                }
                "gap" => {
                    let gap: Gap = read(&event)?;
                    self.subscription.reached(gap.to);
                    return Ok(Some(FollowEvent::Gap(gap)));
                }
                "end" => {
                    self.over = true;
                    return read(&event).map(|end| Some(FollowEvent::End(end)));
                }
                "error" => return Err(refused(&event)),
                // A later server may send other events.
                _ => {}
            }
        }
        Ok(None)
    }

    /// Reads to the end. Returns both outputs and how the process ended. A gap in the output is an error.
    pub async fn collect(mut self) -> Result<(Vec<u8>, Vec<u8>, OutputEnd), Error> {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        loop {
            match self.next().await? {
                Some(FollowEvent::Output(output)) => match output.stream {
                    Stream::Stdout => stdout.extend_from_slice(&output.bytes),
                    Stream::Stderr => stderr.extend_from_slice(&output.bytes),
                },
                Some(FollowEvent::Gap(Gap { from, to })) => {
                    return Err(Error::invalid(format!("output from {from} to {to} is no longer available")));
                }
                Some(FollowEvent::End(end)) => return Ok((stdout, stderr, end)),
                None => return Err(Error::invalid_response("the stream ended without an end event")),
            }
        }
    }
}

/// Decodes the data of an event.
pub(crate) fn read<T: DeserializeOwned>(event: &Event) -> Result<T, Error> {
    serde_json::from_str(&event.data).map_err(Error::invalid_response)
}

/// Decodes an error event.
pub(crate) fn refused(event: &Event) -> Error {
    match read::<ErrorBody>(event) {
        Ok(ErrorBody { code, message, hint, details }) => {
            Error::Refused { status: code.status(), code: Some(code), message, hint, details }
        }
        Err(_) => Error::refused(StatusCode::INTERNAL_SERVER_ERROR, event.data.as_bytes()),
    }
}

/// Encoding that streams request: positions count exact bytes.
pub(crate) const EXACT: Encoding = Encoding::Base64;
