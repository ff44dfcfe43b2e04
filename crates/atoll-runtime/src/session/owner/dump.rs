//! What a shell holds, written down by itself: asked for, read, kept.

use std::os::fd::AsFd;
use std::sync::Arc;

use atoll_shell::message::Task;

use super::Owner;
use crate::pipes::{self, Read, Reader};
use crate::session::machine::Event;
use crate::session::snapshot::Snapshot;

/// A dump that is being read.
pub(super) struct Dump {
    /// `None` at its end.
    pub(super) reader: Option<Reader>,
    bytes: Vec<u8>,
}

impl Dump {
    /// Takes what is there.
    pub(super) fn read(&mut self) {
        while let Some(reader) = &mut self.reader {
            match reader.read() {
                Read::Bytes(bytes) => self.bytes.extend_from_slice(&bytes),
                Read::Empty => return,
                Read::End => self.reader = None,
            }
        }
    }
}

impl Owner {
    /// The shell ends by its own command. What it holds is worth having: a restart goes on from there.
    pub(super) fn leaving(&mut self, jobs: bool) {
        self.begin_dump();
        if let Some(shell) = &mut self.shell {
            // Whatever came of that, it must not wait for us.
            shell.wire.dismiss();
        }
        self.leaving = Some(jobs);
    }

    pub(super) async fn dumped(&mut self, jobs: bool) {
        self.keep_dump(jobs);
        self.on(Event::Dumped).await;
    }

    pub(super) fn keep_dump(&mut self, jobs: bool) {
        if let Some(mut dump) = self.dump.take() {
            // All was written before it was reported.
            dump.read();
            if let Some(snapshot) = Snapshot::parse(&dump.bytes, jobs) {
                let snapshot = Arc::new(snapshot);
                if let Some(note) = &mut self.note {
                    note.save(&snapshot);
                }
                self.snapshot = Some(snapshot);
            }
        }
    }

    pub(super) fn read_dump(&mut self) {
        if let Some(dump) = &mut self.dump {
            dump.read();
        }
    }

    pub(super) fn begin_dump(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let Ok((reader, writer)) = pipes::one_way() else { return };
        shell.wire.order(Task::Dump, &[], &[writer.as_fd()]).ok();
        self.dump = Some(Dump { reader: Some(reader), bytes: Vec::new() });
    }
}
