//! Pieces of the log as events. In text a character that is cut in two by a border between pieces is kept whole.

use atoll_protocol::{Encoding, OutputEvent};
use atoll_runtime::Chunk;

/// Turns pieces into events. Holds at most three bytes back.
#[derive(Debug)]
pub(crate) struct Encoder {
    encoding: Encoding,
    /// The beginning of a character, whose rest may come.
    held: Option<Chunk>,
}

impl Encoder {
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { encoding, held: None }
    }

    /// The events that a piece completes: none, one, or two.
    pub(crate) fn push(&mut self, chunk: Chunk) -> impl Iterator<Item = OutputEvent> + use<> {
        let (before, chunk) = self.join(chunk);
        let event = match self.encoding {
            Encoding::Base64 => Some(chunk),
            Encoding::Utf8 => self.hold(chunk),
        };
        before.into_iter().chain(event.map(|chunk| self.event(&chunk)))
    }

    /// What is held back, because its rest will not come.
    pub(crate) fn flush(&mut self) -> Option<OutputEvent> {
        self.held.take().map(|chunk| self.event(&chunk))
    }

    /// Where what is held back begins; it is forgotten.
    pub(crate) fn give_back(&mut self) -> Option<u64> {
        self.held.take().map(|chunk| chunk.cursor)
    }

    /// Puts what is held back before the piece, if it belongs there.
    fn join(&mut self, chunk: Chunk) -> (Option<OutputEvent>, Chunk) {
        match self.held.take() {
            Some(held) if held.stream == chunk.stream && held.end() == chunk.cursor => {
                let bytes = [held.bytes, chunk.bytes].concat().into();
                (None, Chunk { bytes, ..held })
            }
            Some(held) => (Some(self.event(&held)), chunk),
            None => (None, chunk),
        }
    }

    /// Cuts the beginning of a character off.
    fn hold(&mut self, mut chunk: Chunk) -> Option<Chunk> {
        let whole = chunk.bytes.len() - begun(&chunk.bytes);
        if whole == chunk.bytes.len() {
            return Some(chunk);
        }
        let rest = chunk.bytes.split_off(whole);
        self.held =
            Some(Chunk { cursor: chunk.cursor + whole as u64, stream: chunk.stream, bytes: rest, time: chunk.time });
        (whole > 0).then_some(chunk)
    }

    fn event(&self, chunk: &Chunk) -> OutputEvent {
        let (data, replaced) = self.encoding.encode(&chunk.bytes);
        OutputEvent {
            cursor: chunk.cursor,
            next_cursor: chunk.end(),
            stream: chunk.stream,
            data,
            encoding: self.encoding,
            replaced,
            time: chunk.time.into(),
        }
    }
}

/// How many bytes at the end are the beginning of a character.
fn begun(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(4)..];
    let start = (1..=tail.len().min(3)).find(|back| tail[tail.len() - back] >= 0xc0);
    let could_become = |back: &usize| {
        let rest = &tail[tail.len() - back..];
        str::from_utf8(rest).is_err_and(|error| error.error_len().is_none())
    };
    start.filter(could_become).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use atoll_protocol::Stream;

    use super::*;

    fn chunk(cursor: u64, stream: Stream, bytes: &[u8]) -> Chunk {
        Chunk { cursor, stream, bytes: bytes.to_vec().into(), time: SystemTime::UNIX_EPOCH }
    }

    fn told(encoder: &mut Encoder, pieces: &[(Stream, &[u8])]) -> Vec<(u64, String, bool)> {
        let mut cursor = 0;
        let mut events = Vec::new();
        for (stream, bytes) in pieces {
            events.extend(encoder.push(chunk(cursor, *stream, bytes)));
            cursor += bytes.len() as u64;
        }
        events.extend(encoder.flush());
        events.into_iter().map(|event| (event.cursor, event.data, event.replaced)).collect()
    }

    #[test]
    fn a_character_survives_every_cut() {
        let text = "a\u{e9}\u{20ac}\u{1f600}b".as_bytes();
        for cut in 0..=text.len() {
            let pieces = [(Stream::Stdout, &text[..cut]), (Stream::Stdout, &text[cut..])];
            let events = told(&mut Encoder::new(Encoding::Utf8), &pieces);
            assert!(events.iter().all(|(_, _, replaced)| !replaced), "{cut}");
            assert_eq!(events.iter().map(|(_, data, _)| data.as_str()).collect::<String>().as_bytes(), text, "{cut}");
        }
    }

    #[test]
    fn what_never_becomes_a_character_is_replaced_and_said_so() {
        let (out, err) = (Stream::Stdout, Stream::Stderr);
        let events = told(&mut Encoder::new(Encoding::Utf8), &[(out, b"a\xe2\x82"), (err, b"x"), (out, b"\xac")]);
        let expected = [
            (0, "a".to_owned(), false),
            (1, "\u{fffd}".to_owned(), true),
            (3, "x".to_owned(), false),
            (4, "\u{fffd}".to_owned(), true),
        ];
        assert_eq!(events, expected);
        let lone = told(&mut Encoder::new(Encoding::Utf8), &[(out, b"\xff\xfe"), (out, b"\x80\x80\x80\x80")]);
        assert!(lone.iter().all(|(_, _, replaced)| *replaced));
    }

    #[test]
    fn base64_is_exact_and_immediate() {
        let events = told(&mut Encoder::new(Encoding::Base64), &[(Stream::Stdout, b"\xe2"), (Stream::Stdout, b"\x82")]);
        assert_eq!(events, [(0, "4g==".to_owned(), false), (1, "gg==".to_owned(), false)]);
    }
}
