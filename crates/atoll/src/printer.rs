//! The only module that writes to the terminal: data to stdout, everything else to stderr.

use std::io::{self, Write};

use atoll_protocol::{ErrorAnswer, ErrorBody};
use serde::Serialize;

/// Writes data to stdout.
pub(crate) fn out(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Writes anything but data to stderr.
pub(crate) fn err(bytes: &[u8]) -> io::Result<()> {
    io::stderr().lock().write_all(bytes)
}

/// Writes a value to stdout as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    out(&text)
}

/// Prints a note on progress.
pub(crate) fn note(text: &str) {
    // A closed stderr is not an error.
    drop(err(format!("atoll: {text}\n").as_bytes()));
}

/// Prints a warning.
pub(crate) fn warning(what: &str) {
    // A closed stderr is not an error.
    drop(err(format!("warning: {what}\n").as_bytes()));
}

/// Prints an error: for people on stderr with its hint, for programs as JSON on stdout.
pub(crate) fn error(error: &ErrorBody, as_json: bool) {
    let printed = if as_json {
        json(&ErrorAnswer { error: error.clone() })
    } else {
        let hint = error.hint.as_ref().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        err(format!("error: {}\n{hint}", error.message).as_bytes())
    };
    // The exit code reports the error even if the output is closed.
    drop(printed);
}
