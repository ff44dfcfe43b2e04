//! What a command prints, and what it is given to read.

use std::time::SystemTime;

use atoll_protocol::Stream;
use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Run, Status};
use crate::life::Event;
use crate::pipes::{Read, Reader};
use crate::shared::YOUNG;

impl Run {
    pub(super) async fn read(&mut self, stream: Stream, status: &watch::Sender<Status>) {
        for _ in 0..Reader::TURN {
            let reader = match stream {
                Stream::Stdout => &mut self.stdout,
                Stream::Stderr => &mut self.stderr,
            };
            match reader.as_mut().map_or(Read::End, Reader::read) {
                Read::Bytes(bytes) => self.keep(stream, bytes),
                Read::Empty => break,
                Read::End => {
                    *reader = None;
                    break;
                }
            }
        }
        if let Some(after) = self.clocks.idle_after {
            self.set_back_clocks();
            self.clocks.idle = Some(Instant::now() + after);
        }
        self.check_limit(status).await;
    }

    pub(super) async fn check_limit(&mut self, status: &watch::Sender<Status>) {
        if self.limit.is_some_and(|limit| self.printed > limit) {
            self.on(Event::TooMuchOutput, status).await;
        }
    }

    /// Into the log, and into the answer while the command is not over. What is over the limit is counted, not kept.
    fn keep(&mut self, stream: Stream, mut bytes: Bytes) {
        let room = self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.printed));
        self.printed += bytes.len() as u64;
        bytes.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        if bytes.is_empty() {
            return;
        }
        let cursor = self.log.end();
        if let Some(captures) = &mut self.captures {
            captures.push(stream, cursor, &bytes);
        }
        // A full disk is noted by the log itself, as a gap with its reason; the command goes on.
        drop(self.log.append(stream, bytes, SystemTime::now()));
    }

    pub(super) fn drain(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let reader = match stream {
                Stream::Stdout => &mut self.stdout,
                Stream::Stderr => &mut self.stderr,
            };
            if let Some(bytes) = reader.as_mut().and_then(Reader::drain) {
                self.keep(stream, bytes);
            }
        }
    }

    pub(super) fn write(&mut self) {
        if self.stdin.as_mut().is_some_and(|stdin| !stdin.flush()) {
            // Nobody reads any more; the waiting writes are told by being dropped.
            self.stdin = None;
        }
    }

    /// Waits for output from here on. Registering a pipe, and the wake-up at its end, cost more than a short command's
    /// output; so what is answered as a whole is only listened to when it has been running for a while.
    pub(super) fn listen(&mut self) {
        for reader in [&mut self.stdout, &mut self.stderr].into_iter().flatten() {
            if reader.listen().is_err() {
                // Out of descriptors for now, say. Nothing is lost: it waits in the pipe.
                self.clocks.grown = Some(Instant::now() + YOUNG);
            }
        }
    }
}
