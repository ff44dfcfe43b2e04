//! What a terminal's bytes have drawn. For those who want the picture and not its history.
//!
//! Drawn only when somebody asks, so that nobody else pays for it.

use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use atoll_protocol::WindowSize;

use super::timeline::{Moment, Timeline};
use super::window::Window;
use crate::log::Log;

/// How far back the first picture begins at most. Programs that fill the screen draw all of it again and again; what
/// is older can show only where something was drawn once and left alone.
const REPLAY_MAX: u64 = 16 * 1024 * 1024;

/// What is on a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// How large it is.
    pub size: WindowSize,
    /// Its text without colours: a line per row, without the spaces at its end.
    pub text: String,
    /// Bytes that draw it on an empty terminal of the same size, with colours, cursor and input modes.
    pub formatted: Vec<u8>,
    /// Bytes that take a terminal on which it was drawn back to normal: main screen, visible cursor, no mouse.
    pub reset: Vec<u8>,
    /// Row and column of the text cursor, from 0.
    pub cursor_at: (u16, u16),
    /// Whether the text cursor is hidden.
    pub cursor_hidden: bool,
    /// Whether it is the second screen, on which programs such as editors draw.
    pub alternate: bool,
    /// The position in the output at which this was on the screen: attach there to go on.
    pub cursor: u64,
    /// Whether every byte before that was seen. Else something drawn long ago may be missing.
    pub whole: bool,
}

/// A screen in the drawing.
pub(super) struct Painter {
    parser: vt100::Parser,
    timeline: Timeline,
    whole: bool,
}

impl std::fmt::Debug for Painter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Painter").field("position", &self.position()).finish_non_exhaustive()
    }
}

impl Painter {
    pub(super) fn new(log: &Log, window: &Window) -> Self {
        let since = log.end().saturating_sub(REPLAY_MAX);
        Self { parser: blank(window.size()), timeline: Timeline::new(log, window, since), whole: since == 0 }
    }

    pub(super) fn position(&self) -> u64 {
        self.timeline.position()
    }

    /// Draws everything up to a position.
    pub(super) async fn catch_up(&mut self, to: u64) {
        while self.position() < to
            && let Some(moment) = self.timeline.next().await
        {
            self.draw(moment);
            // There may be much to draw, and this thread has other work.
            tokio::task::yield_now().await;
        }
        while let Some(change) = self.timeline.due() {
            self.draw(Moment::Resized(change));
        }
    }

    fn draw(&mut self, moment: Moment) {
        match moment {
            Moment::Output(chunk) => self.guarded(|parser| parser.process(&chunk.bytes)),
            Moment::Gap { .. } => self.whole = false,
            Moment::Resized(change) => {
                let (rows, cols) = sides(change.size);
                self.guarded(|parser| parser.screen_mut().set_size(rows, cols));
            }
        }
    }

    /// The bytes are the program's, and may be made to trip the parser up: that must cost the picture only.
    fn guarded(&mut self, act: impl FnOnce(&mut vt100::Parser)) {
        let (rows, cols) = self.parser.screen().size();
        let parser = &mut self.parser;
        if catch_unwind(AssertUnwindSafe(|| act(parser))).is_err() {
            self.parser = vt100::Parser::new(rows, cols, 0);
            self.whole = false;
        }
    }

    pub(super) fn screen(&self) -> Screen {
        let screen = self.parser.screen();
        let (rows, cols) = screen.size();
        let alternate = screen.alternate_screen();
        let enter = if alternate { "\x1b[?1049h" } else { "" };
        Screen {
            size: WindowSize::nearest(cols.get(), rows.get()),
            text: plain(screen),
            formatted: format!("{enter}{}", screen.state_formatted()).into_bytes(),
            reset: reset(screen),
            cursor_at: screen.cursor_position(),
            cursor_hidden: screen.hide_cursor(),
            alternate,
            cursor: self.position(),
            whole: self.whole,
        }
    }
}

fn plain(screen: &vt100::Screen) -> String {
    let text = screen.contents();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Only what is needed: leaving a second screen that was never entered would move the cursor.
fn reset(screen: &vt100::Screen) -> Vec<u8> {
    let (rows, cols) = screen.size();
    let fresh = vt100::Parser::new(rows, cols, 0);
    let mut bytes = fresh.screen().input_mode_diff(screen);
    bytes.push_str("\x1b[0m");
    if screen.hide_cursor() {
        bytes.push_str("\x1b[?25h");
    }
    if screen.alternate_screen() {
        bytes.push_str("\x1b[?1049l");
    }
    bytes.into_bytes()
}

fn blank(size: WindowSize) -> vt100::Parser {
    let (rows, cols) = sides(size);
    vt100::Parser::new(rows, cols, 0)
}

/// A window has no side of 0.
fn sides(size: WindowSize) -> (NonZeroU16, NonZeroU16) {
    let side = |length| NonZeroU16::new(length).unwrap_or(NonZeroU16::MIN);
    (side(size.rows()), side(size.cols()))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use atoll_protocol::{Resized, Stream};
    use bytes::Bytes;

    use super::*;
    use crate::log::{Limits, Store};

    async fn drawn(bytes: &'static [u8]) -> Screen {
        let log = Log::new(Store::Unlinked(std::env::temp_dir()), Limits::default());
        let window = Window::new(WindowSize::new(10, 3).unwrap());
        log.append(Stream::Stdout, Bytes::from_static(bytes), SystemTime::now()).unwrap();
        let mut painter = Painter::new(&log, &window);
        painter.catch_up(log.end()).await;
        painter.screen()
    }

    #[tokio::test]
    async fn text_cursor_and_modes_are_those_of_a_terminal() {
        let screen = drawn(b"one\r\ntwo\x1b[?25l\x1b[?2004h").await;
        assert_eq!((screen.text.as_str(), screen.cursor_at, screen.cursor_hidden), ("one\ntwo", (1, 3), true));
        assert!(!screen.alternate && screen.whole);
        assert_eq!(screen.reset, b"\x1b[?2004l\x1b[0m\x1b[?25h");
        let editor = drawn(b"shell\x1b[?1049h\x1b[2;2Hedit").await;
        assert_eq!((editor.text.trim(), editor.alternate), ("edit", true));
        assert!(editor.reset.ends_with(b"\x1b[?1049l"));
    }

    #[tokio::test]
    async fn the_formatted_bytes_draw_the_same_again() {
        let screen = drawn(b"\x1b[31mred\x1b[0m\r\n\xe2\x82\xac\x1b[3;4Hx").await;
        let again = drawn(Box::leak(screen.formatted.clone().into_boxed_slice())).await;
        assert_eq!((again.text, again.cursor_at), (screen.text, screen.cursor_at));
        assert_eq!(again.formatted, screen.formatted);
    }

    #[tokio::test]
    async fn it_goes_on_from_where_it_was_and_follows_the_size() {
        let log = Log::new(Store::Unlinked(std::env::temp_dir()), Limits::default());
        let window = Window::new(WindowSize::new(10, 3).unwrap());
        let mut painter = Painter::new(&log, &window);
        painter.catch_up(log.end()).await;
        assert_eq!(painter.screen().text, "");
        log.append(Stream::Stdout, Bytes::from_static(b"a \xe2\x82"), SystemTime::now()).unwrap();
        painter.catch_up(log.end()).await;
        log.append(Stream::Stdout, Bytes::from_static(b"\xac"), SystemTime::now()).unwrap();
        let size = WindowSize::new(20, 5).unwrap();
        window.resized(Resized { cursor: log.end(), size, by: None, time: SystemTime::now().into() });
        painter.catch_up(log.end()).await;
        let screen = painter.screen();
        assert_eq!((screen.text.as_str(), screen.size, screen.cursor), ("a \u{20ac}", size, 5));
    }
}
