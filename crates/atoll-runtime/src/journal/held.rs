//! What a session held, in a file of its own: it changes often, and only the last state counts.
//!
//! The file is one frame in the journal's format, replaced as a whole. One that is not whole is none.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use super::entry::Number;
use super::frame::{self, Scan};
use super::keeping::Places;
use crate::session::Snapshot;

/// Variables may be secrets.
const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

/// Puts it in the place of what was there.
pub(super) fn save(places: &Places, number: Number, snapshot: &Snapshot) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIR_MODE).create(places.sessions())?;
    let path = places.session(number);
    let beside = path.with_extension("new");
    let large = || io::Error::new(io::ErrorKind::InvalidInput, "the session holds too much to be kept");
    let frame = frame::frame(&serde_json::to_vec(snapshot)?).ok_or_else(large)?;
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&beside)?;
    let written = file.write_all(&[&frame::header()[..], &frame].concat()).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        fs::remove_file(&beside).ok();
    }
    written
}

/// What was last kept; `None` if there is nothing that can be read.
pub(super) fn load(places: &Places, number: Number) -> Option<Snapshot> {
    let bytes = fs::read(places.session(number)).ok()?;
    match frame::scan(&bytes) {
        Scan::Frames(payloads, _) => payloads.first().and_then(|payload| serde_json::from_slice(payload).ok()),
        Scan::Version(_) => None,
    }
}
