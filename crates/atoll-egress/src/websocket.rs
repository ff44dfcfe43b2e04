//! WebSocket messages from a host that has secrets, searched for their values (RFC 6455).
//!
//! Frames are read and written anew: a value is found however its message is cut into frames. No extension is agreed on
//! with such a host, so every payload is in the clear; a frame that says otherwise ends the connection.

use std::io;

use crate::secret::Scrubber;

/// Bits of a frame's first two bytes (section 5.2).
const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;

/// Kinds of frames (section 11.8).
const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// Bytes of a control frame (section 5.5).
const CONTROL_MAX: u64 = 125;

/// Reads the frames of one direction and returns them without what must not be in them.
#[derive(Debug)]
pub(crate) struct Frames {
    /// Messages are one stream to it, and so are the payloads of control frames.
    data: Scrubber,
    control: Scrubber,
    /// Bytes of a header, or of a control frame's payload, that is not complete.
    partial: Vec<u8>,
    frame: Option<Frame>,
    message: Message,
}

/// A frame of which the header was read.
#[derive(Debug, Clone, Copy)]
struct Frame {
    is_last: bool,
    kind: u8,
    left: u64,
}

/// The message that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    None,
    /// Of this kind, of which nothing was written yet.
    Begun(u8),
    /// Its first frame was written.
    Continued,
}

impl Frames {
    pub(crate) fn new(scrubber: Scrubber) -> Self {
        let (data, control) = (scrubber.clone(), scrubber);
        Self { data, control, partial: Vec::new(), frame: None, message: Message::None }
    }

    /// Takes a piece of the stream, returns what goes on. An error ends the connection.
    pub(crate) fn push(&mut self, mut piece: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::with_capacity(piece.len());
        loop {
            let Some(mut frame) = self.frame.take() else {
                let Some((byte, rest)) = piece.split_first() else { return Ok(out) };
                piece = rest;
                self.partial.push(*byte);
                if let Some(frame) = header(&self.partial)? {
                    self.partial.clear();
                    self.begin(frame)?;
                }
                continue;
            };
            if frame.left > 0 && piece.is_empty() {
                self.frame = Some(frame);
                return Ok(out);
            }
            let count = usize::try_from(frame.left).unwrap_or(usize::MAX).min(piece.len());
            let (payload, rest) = piece.split_at(count);
            piece = rest;
            frame.left -= count as u64;
            if is_control(frame.kind) {
                self.control(frame, payload, &mut out);
            } else {
                self.data(frame, payload, &mut out);
            }
            self.frame = (frame.left > 0).then_some(frame);
        }
    }

    fn begin(&mut self, frame: Frame) -> io::Result<()> {
        match (frame.kind, self.message) {
            (TEXT | BINARY, Message::None) => self.message = Message::Begun(frame.kind),
            (CONTINUATION, Message::Begun(_) | Message::Continued) => {}
            (kind, _) if is_control(kind) => {}
            _ => return Err(violation("a frame that belongs to no message")),
        }
        self.frame = Some(frame);
        Ok(())
    }

    /// A control frame is written when all of it is there.
    fn control(&mut self, frame: Frame, payload: &[u8], out: &mut Vec<u8>) {
        self.partial.extend_from_slice(payload);
        if frame.left == 0 {
            let mut clean = self.control.push(&std::mem::take(&mut self.partial));
            clean.extend(self.control.flush());
            write(out, FIN | frame.kind, &clean);
        }
    }

    /// What is certain of a message is written as a frame of its own.
    fn data(&mut self, frame: Frame, payload: &[u8], out: &mut Vec<u8>) {
        let mut clean = self.data.push(payload);
        let ends = frame.is_last && frame.left == 0;
        if ends {
            clean.extend(self.data.flush());
        }
        if clean.is_empty() && !ends {
            return;
        }
        let kind = match self.message {
            Message::Begun(kind) => kind,
            Message::Continued | Message::None => CONTINUATION,
        };
        write(out, if ends { FIN | kind } else { kind }, &clean);
        self.message = if ends { Message::None } else { Message::Continued };
    }
}

fn is_control(kind: u8) -> bool {
    matches!(kind, CLOSE | PING | PONG)
}

fn violation(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("WebSocket: {what}"))
}

/// `None`: more is needed.
fn header(bytes: &[u8]) -> io::Result<Option<Frame>> {
    let [first, second, rest @ ..] = bytes else { return Ok(None) };
    let (kind, is_last) = (first & 0x0f, first & FIN != 0);
    if first & RESERVED != 0 || second & MASKED != 0 {
        return Err(violation("a frame with an extension, or with a mask, from a server"));
    }
    if !is_control(kind) && !matches!(kind, CONTINUATION | TEXT | BINARY) {
        return Err(violation("a frame of an unknown kind"));
    }
    let length = match second & !MASKED {
        126 => rest.first_chunk().map(|length| u16::from_be_bytes(*length).into()),
        127 => rest.first_chunk().map(|length| u64::from_be_bytes(*length)),
        short => Some(short.into()),
    };
    let Some(left) = length else { return Ok(None) };
    if left > i64::MAX.cast_unsigned() || (is_control(kind) && (left > CONTROL_MAX || !is_last)) {
        return Err(violation("a frame that is too long, or a control frame in parts"));
    }
    Ok(Some(Frame { is_last, kind, left }))
}

fn write(out: &mut Vec<u8>, first: u8, payload: &[u8]) {
    out.push(first);
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(short @ ..=125), _) => out.push(short),
        (_, Ok(length)) => {
            out.push(126);
            out.extend(length.to_be_bytes());
        }
        (_, Err(_)) => {
            out.push(127);
            out.extend((payload.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &[u8] = b"secret-value-0123";

    fn frames() -> Frames {
        Frames::new(Scrubber::new(vec![VALUE.to_vec()]))
    }

    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, first, payload);
        out
    }

    /// The messages and control payloads in these bytes, each with its kind.
    fn messages(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open: Option<(u8, Vec<u8>)> = None;
        while !bytes.is_empty() {
            let end = (2..=10).find(|end| header(&bytes[..*end]).unwrap().is_some()).unwrap();
            let read = header(&bytes[..end]).unwrap().unwrap();
            let payload = bytes[end..][..usize::try_from(read.left).unwrap()].to_vec();
            bytes = &bytes[end + payload.len()..];
            if is_control(read.kind) {
                found.push((read.kind, payload));
                continue;
            }
            let (kind, mut text) = open.take().unwrap_or((read.kind, Vec::new()));
            text.extend(payload);
            if read.is_last { found.push((kind, text)) } else { open = Some((kind, text)) }
        }
        assert!(open.is_none());
        found
    }

    #[test]
    fn a_value_is_found_over_frames_and_over_pieces() {
        for cut in 0..=VALUE.len() {
            let text = [&b"a "[..], VALUE, b" b"].concat();
            let (first, second) = text.split_at(2 + cut);
            let stream = [frame(TEXT, first), frame(FIN | PING, b"ping"), frame(FIN, second)].concat();
            for size in [1, 3, 1000] {
                let mut frames = frames();
                let out: Vec<u8> = stream.chunks(size).flat_map(|piece| frames.push(piece).unwrap()).collect();
                let clean = [&b"a "[..], &[b'*'; VALUE.len()], b" b"].concat();
                assert_eq!(messages(&out), [(PING, b"ping".to_vec()), (TEXT, clean)], "{cut} {size}");
            }
        }
    }

    #[test]
    fn a_whole_frame_stays_one_and_control_frames_are_searched() {
        let long = vec![b'x'; 70_000];
        let stream = [frame(FIN | BINARY, &long), frame(FIN | TEXT, b""), frame(FIN | TEXT, b"ends with s")].concat();
        assert_eq!(frames().push(&stream).unwrap(), stream);
        let pong = frames().push(&frame(FIN | PONG, VALUE)).unwrap();
        assert_eq!(messages(&pong), [(PONG, vec![b'*'; VALUE.len()])]);
        let mut close = frames();
        let out = close.push(&frame(FIN | CLOSE, &[&[3, 232][..], VALUE].concat())).unwrap();
        assert!(messages(&out)[0].1.ends_with(b"***") && messages(&out)[0].1.starts_with(&[3, 232]));
    }

    #[test]
    fn a_value_over_messages_shows_only_its_beginning() {
        let mut frames = frames();
        let (first, second) = VALUE.split_at(5);
        let out = [frames.push(&frame(FIN | TEXT, first)).unwrap(), frames.push(&frame(FIN | TEXT, second)).unwrap()];
        assert_eq!(messages(&out.concat()), [(TEXT, first.to_vec()), (TEXT, vec![b'*'; second.len()])]);
    }

    #[test]
    fn what_cannot_be_read_ends_the_connection() {
        for bad in [
            &[FIN | 0x40 | TEXT, 1, 0][..],
            &[FIN | 0x10 | TEXT, 0],
            &[FIN | TEXT, MASKED],
            &[FIN | 3, 0],
            &[FIN | 11, 0],
            &[PING, 0],
            &[FIN | PING, 126, 0, 126],
            &[FIN | CONTINUATION, 0],
            &[TEXT, 0, TEXT, 0],
            &[FIN | TEXT, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
            b"HTTP/1.1 200 OK",
        ] {
            assert!(frames().push(bad).is_err(), "{bad:?}");
        }
    }
}
