//! The one place that writes to the terminal: data on stdout, everything else on stderr.

use std::io::{self, Write};

use atoll_runtime::Error;
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

/// Tells what is wrong and no reason to stop.
pub(crate) fn warning(what: &str) {
    // Nobody is listening any more: there is no other way to say so.
    drop(err(format!("warning: {what}\n").as_bytes()));
}

#[derive(Debug, Serialize)]
struct Failure {
    error: atoll_protocol::ErrorBody,
}

/// Tells a failure: for people on stderr with its hint, for programs as JSON on stdout.
pub(crate) fn failure(error: &Error, as_json: bool) {
    let told = if as_json {
        json(&Failure { error: error.body() })
    } else {
        let hint = error.hint().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        err(format!("error: {error}\n{hint}").as_bytes())
    };
    // Nobody is listening any more: there is no other way to say so.
    drop(told);
}
