//! What a session's bash is started with: the object that it loads, and for one that runs a single command, the script.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use atoll_isolation::sys::fd;
use atoll_shell::message::{BUILTIN, OBJECT};

use crate::Error;

/// Compiled by the build script.
const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/session.so"));

/// The object as a sealed file in memory: made once, shared by all shells, changed by none.
pub(crate) fn object() -> Result<BorrowedFd<'static>, Error> {
    static FILE: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(file) = FILE.get() {
        return Ok(file.as_fd());
    }
    let made = sealed("atoll-session", BYTES).map_err(|error| Error::io("make the session's object", &error))?;
    Ok(FILE.get_or_init(|| made).as_fd())
}

/// What a shell that runs one command reads: its length, then the script and the command.
pub(crate) fn script_file(script: &[u8], text: &[u8]) -> Result<OwnedFd, Error> {
    let mut pieces = Vec::new();
    super::order::piece(&mut pieces, Some(script));
    super::order::piece(&mut pieces, Some(text));
    let length = u32::try_from(pieces.len()).map_err(|_| Error::invalid("the command is too long"))?;
    let bytes = [&length.to_ne_bytes()[..], &pieces].concat();
    sealed("atoll-script", &bytes).map_err(|error| Error::io("make the command's script", &error))
}

fn sealed(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = std::fs::File::from(fd::executable_memfd(name)?);
    io::Write::write_all(&mut &file, bytes)?;
    io::Seek::seek(&mut &file, io::SeekFrom::Start(0))?;
    // Anybody may read it: the shell's user did not make it.
    fd::set_mode(file.as_fd(), 0o555)?;
    fd::seal(file.as_fd())?;
    Ok(file.into())
}

/// A bash that loads the object and serves on the listener of this name.
pub(crate) fn session_argv(listener: &str) -> Vec<OsString> {
    argv(&format!("enable -f /proc/self/fd/{OBJECT} {BUILTIN} && {BUILTIN} {listener}"))
}

/// A bash that loads the object and runs one script.
pub(crate) fn once_argv() -> Vec<OsString> {
    argv(&format!("enable -f /proc/self/fd/{OBJECT} {BUILTIN} && {BUILTIN}"))
}

fn argv(text: &str) -> Vec<OsString> {
    ["bash", "--norc", "--noprofile", "-c", text].into_iter().map(OsString::from).collect()
}
