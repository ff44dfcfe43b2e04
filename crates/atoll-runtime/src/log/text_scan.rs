//! Finding a fixed text in a stream that comes in pieces.
//!
//! Owns how much of the text the stream's last bytes match. Must not keep the stream: the
//! automaton (Knuth, Morris, Pratt) needs no byte twice, so the cost is one step per byte however
//! the stream is cut.

use std::sync::Arc;

/// A text made ready to be searched for; shared by the streams it is searched in.
#[derive(Debug, Clone)]
pub(super) struct Needle {
    text: Arc<[u8]>,
    /// For each length of a matched beginning: its longest end that is a beginning itself.
    fallback: Arc<[usize]>,
}

impl Needle {
    pub(super) fn new(text: Vec<u8>) -> Self {
        let mut fallback = vec![0; text.len() + 1];
        let mut matched = 0;
        for end in 1..text.len() {
            while matched > 0 && text[end] != text[matched] {
                matched = fallback[matched];
            }
            matched += usize::from(text[end] == text[matched]);
            fallback[end + 1] = matched;
        }
        Self { text: text.into(), fallback: fallback.into() }
    }
}

/// The search for one needle in one stream.
#[derive(Debug, Clone)]
pub(super) struct TextScan {
    needle: Needle,
    matched: usize,
}

impl TextScan {
    pub(super) fn new(needle: Needle) -> Self {
        Self { needle, matched: 0 }
    }

    /// Forgets the stream so far.
    pub(super) fn reset(&mut self) {
        self.matched = 0;
    }

    /// Reads on; returns where in `bytes` the first occurrence ends.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let Some(&first) = self.needle.text.first() else {
            // The empty text is everywhere.
            return Some(0);
        };
        let mut at = 0;
        while at < bytes.len() {
            if self.matched == 0 {
                at += memchr::memchr(first, &bytes[at..])?;
            }
            self.step(bytes[at]);
            at += 1;
            if self.matched == self.needle.text.len() {
                self.matched = self.needle.fallback[self.matched];
                return Some(at);
            }
        }
        None
    }

    fn step(&mut self, byte: u8) {
        let Needle { text, fallback } = &self.needle;
        while self.matched > 0 && text[self.matched] != byte {
            self.matched = fallback[self.matched];
        }
        self.matched += usize::from(text[self.matched] == byte);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_the_first_occurrence_however_the_stream_is_cut(
            needle in "[ab]{1,6}",
            stream in "[ab]{0,60}",
            cut in 1_usize..9,
        ) {
            let mut scan = TextScan::new(Needle::new(needle.clone().into()));
            let mut before = 0;
            let found = stream.as_bytes().chunks(cut).find_map(|piece| {
                let found = scan.feed(piece).map(|end| before + end);
                before += piece.len();
                found
            });
            prop_assert_eq!(found, stream.find(&needle).map(|start| start + needle.len()));
        }
    }
}
