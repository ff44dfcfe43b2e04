//! A parser of server-sent events, fed with pieces of any size
//! (<https://html.spec.whatwg.org/#parsing-an-event-stream>).

use std::collections::VecDeque;

use bytes::{Buf, BytesMut};

use crate::Error;

/// Maximum length of a line. A response contains up to 64 MiB of each output, and base64 adds a third.
const LINE_MAX: usize = 256 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: String,
}

/// The parser with its buffered input.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    buffer: BytesMut,
    /// Length of the prefix of `buffer` that has no line end.
    searched: usize,
    event: Event,
    ready: VecDeque<Event>,
}

impl Parser {
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.buffer.extend_from_slice(bytes);
        while let Some(length) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line = self.buffer.split_to(self.searched + length);
            self.buffer.advance(1);
            self.searched = 0;
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            let line = str::from_utf8(line).map_err(Error::invalid_response)?;
            self.line(line);
        }
        self.searched = self.buffer.len();
        if self.searched > LINE_MAX {
            return Err(Error::invalid_response("an event exceeds the maximum length"));
        }
        Ok(())
    }

    /// Returns the next complete event.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if !event.data.is_empty() {
                self.ready.push_back(event);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" if self.event.data.is_empty() => value.clone_into(&mut self.event.data),
            "data" => {
                self.event.data.push('\n');
                self.event.data.push_str(value);
            }
            // The data also contains the id; a comment has an empty field name.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_parsed_across_every_split() {
        let text = b": hello\n\nevent: output\nid: 5\ndata: {\"a\":1}\n\nevent:end\r\ndata:x\r\ndata: y\r\n\r\nevent: cut\ndata: z\n";
        let event = |name: &str, data: &str| Event { name: name.to_owned(), data: data.to_owned() };
        for cut in 0..=text.len() {
            let mut parser = Parser::default();
            parser.push(&text[..cut]).unwrap();
            parser.push(&text[cut..]).unwrap();
            let events: Vec<_> = std::iter::from_fn(|| parser.pop()).collect();
            assert_eq!(events, [event("output", "{\"a\":1}"), event("end", "x\ny")], "{cut}");
        }
    }
}
