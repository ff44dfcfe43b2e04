//! The one place that writes to the terminal: data on stdout, everything else on stderr.

use std::io::{self, Write};

use atoll_protocol::{ErrorAnswer, ErrorBody};
use serde::Serialize;

/// Writes data.
pub(crate) fn out(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Writes what is not data.
pub(crate) fn err(bytes: &[u8]) -> io::Result<()> {
    io::stderr().lock().write_all(bytes)
}

/// Writes a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    out(&text)
}

/// Says what is being done, beside the data.
pub(crate) fn note(text: &str) {
    // Nobody is listening any more: then there is nobody to be told.
    drop(err(format!("atoll: {text}\n").as_bytes()));
}

/// Tells what is wrong and no reason to stop.
pub(crate) fn warning(what: &str) {
    // Nobody is listening any more: there is no other way to say so.
    drop(err(format!("warning: {what}\n").as_bytes()));
}

/// Tells a failure: for people on stderr with its hint, for programs as JSON on stdout.
pub(crate) fn failure(error: &ErrorBody, as_json: bool) {
    let told = if as_json {
        json(&ErrorAnswer { error: error.clone() })
    } else {
        let hint = error.hint.as_ref().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        err(format!("error: {}\n{hint}", error.message).as_bytes())
    };
    // Nobody is listening any more: there is no other way to say so.
    drop(told);
}
