//! A recording in the asciicast v2 format, made from the log: it needs no recorder to run beforehand.
//!
//! The one place in this crate that writes JSON, because the format is JSON. Made line by line, so that a long
//! recording is never in memory.

use std::collections::BTreeMap;

use atoll_protocol::{CAST_VERSION, CastEvent, CastHeader, Timestamp};

use super::handle::Terminal;
use super::timeline::{Moment, Timeline};
use crate::Error;

/// The lines of a recording, up to where the output stood when it was asked for.
#[derive(Debug)]
pub struct Recording {
    timeline: Timeline,
    end: u64,
    env: BTreeMap<String, String>,
    stage: Stage,
    text: Text,
    last_seconds: f64,
}

#[derive(Debug)]
enum Stage {
    /// Nothing is told.
    Header,
    /// The header is told; this comes next. Seconds count from `began`.
    Events { began: Timestamp, ahead: Option<Moment> },
    /// All is told.
    Done,
}

impl Recording {
    pub(super) fn new(terminal: &Terminal, since: u64) -> Self {
        let term = terminal.spec().command().env.remove(std::ffi::OsStr::new("TERM")).flatten();
        let env = term.map(|term| ("TERM".to_owned(), term.to_string_lossy().into_owned()));
        Self {
            timeline: Timeline::new(terminal.log(), terminal.window(), since),
            end: terminal.log().end(),
            env: env.into_iter().collect(),
            stage: Stage::Header,
            text: Text::default(),
            last_seconds: 0.0,
        }
    }

    /// The next line, its newline included; `None` when all is told.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Header => return self.header().await.map(Some),
                Stage::Events { began, ahead } => {
                    let moment = match ahead {
                        Some(moment) => Some(moment),
                        None => self.moment().await,
                    };
                    let Some(moment) = moment else {
                        return self.last();
                    };
                    self.stage = Stage::Events { began, ahead: None };
                    if let Some(event) = self.event(moment, began) {
                        return line(&event).map(Some);
                    }
                }
                Stage::Done => return Ok(None),
            }
        }
    }

    /// The first thing on the time line is the size; the second tells when a recording from the middle begins.
    async fn header(&mut self) -> Result<Vec<u8>, Error> {
        let from_start = self.timeline.position() == 0;
        let Some(Moment::Resized(window)) = self.timeline.next().await else {
            return Err(Error::Internal { what: "a terminal without a size".to_owned() });
        };
        let ahead = self.moment().await;
        let began = match &ahead {
            Some(Moment::Output(chunk)) if !from_start => chunk.time.into(),
            _ => window.time,
        };
        self.stage = Stage::Events { began, ahead };
        line(&CastHeader {
            version: CAST_VERSION,
            width: window.size.cols(),
            height: window.size.rows(),
            timestamp: began.as_millis() / 1000,
            env: std::mem::take(&mut self.env),
        })
    }

    async fn moment(&mut self) -> Option<Moment> {
        if self.timeline.position() >= self.end {
            return self.timeline.due().map(Moment::Resized);
        }
        self.timeline.next().await
    }

    fn event(&mut self, moment: Moment, began: Timestamp) -> Option<CastEvent> {
        match moment {
            Moment::Output(mut chunk) => {
                let within = self.end.saturating_sub(chunk.cursor);
                chunk.bytes.truncate(usize::try_from(within).unwrap_or(usize::MAX));
                let seconds = self.seconds(chunk.time.into(), began);
                let text = self.text.push(&chunk.bytes);
                (!text.is_empty()).then(|| CastEvent::output(seconds, text))
            }
            Moment::Gap { from, to } => {
                Some(CastEvent::marker(self.last_seconds, format!("{} bytes are missing here", to - from)))
            }
            Moment::Resized(change) => {
                let seconds = self.seconds(change.time, began);
                Some(CastEvent::resize(seconds, change.size.cols(), change.size.rows()))
            }
        }
    }

    /// Never backwards, also if the wall clock was set back.
    fn seconds(&mut self, time: Timestamp, began: Timestamp) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a recording fit 52 bits")]
        let seconds = time.as_millis().saturating_sub(began.as_millis()) as f64 / 1000.0;
        self.last_seconds = self.last_seconds.max(seconds);
        self.last_seconds
    }

    /// The rest of a character that never came.
    fn last(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let rest = self.text.finish();
        if rest.is_empty() {
            return Ok(None);
        }
        line(&CastEvent::output(self.last_seconds, rest)).map(Some)
    }
}

fn line(value: &impl serde::Serialize) -> Result<Vec<u8>, Error> {
    let mut line =
        serde_json::to_vec(value).map_err(|error| Error::Internal { what: format!("failed to record: {error}") })?;
    line.push(b'\n');
    Ok(line)
}

/// Bytes to text piece by piece: a character in two pieces is kept whole, what is no text is replaced.
#[derive(Debug, Default)]
struct Text {
    /// The beginning of a character: at most three bytes.
    begun: Vec<u8>,
}

impl Text {
    fn push(&mut self, bytes: &[u8]) -> String {
        let all = [std::mem::take(&mut self.begun), bytes.to_vec()].concat();
        let mut text = String::with_capacity(all.len());
        for chunk in all.utf8_chunks() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let is_last = invalid.as_ptr_range().end == all.as_ptr_range().end;
            if is_last && is_begun(invalid) {
                self.begun = invalid.to_vec();
            } else if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.begun)).into_owned()
    }
}

/// Whether more bytes could make this a character.
fn is_begun(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_survive_every_cut() {
        let whole = "a\u{e9}\u{20ac}\u{1f600}b".as_bytes();
        for cut in 0..=whole.len() {
            let mut text = Text::default();
            let both = text.push(&whole[..cut]) + &text.push(&whole[cut..]) + &text.finish();
            assert_eq!(both.as_bytes(), whole, "{cut}");
        }
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        let mut text = Text::default();
        assert_eq!(text.push(b"a\xffb\xe2\x82"), "a\u{fffd}b");
        assert_eq!(text.push(b"c"), "\u{fffd}c");
        assert_eq!(text.push(b"\xe2\x82"), "");
        assert_eq!(text.finish(), "\u{fffd}");
        assert_eq!(text.finish(), "");
    }
}
