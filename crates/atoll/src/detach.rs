//! Going on without the process that started us: a session of our own, and nothing of its terminal.
//!
//! The caller's child stays until we are ready or have failed, and ends with the code that says which. Must be done
//! before any thread is started: a fork copies only the one that calls it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use atoll_isolation::sys::process;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::exit;

/// Which of the two we are now.
pub(crate) enum Side {
    /// The one that was started: waits for the other's word and passes it on.
    Started(ExitCode),
    /// The one that goes on.
    Detached(Parent),
}

/// The way to tell how it went to the process that waits.
#[derive(Debug)]
pub(crate) struct Parent {
    word: File,
}

/// Becomes two.
pub(crate) fn detach() -> io::Result<Side> {
    let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
    if process::fork()?.is_some() {
        drop(theirs);
        return Ok(Side::Started(wait(File::from(ours))));
    }
    process::new_session()?;
    Ok(Side::Detached(Parent { word: File::from(theirs) }))
}

/// No word at all: the other died.
fn wait(mut word: File) -> ExitCode {
    let mut code = [exit::FAILED];
    drop(word.read_exact(&mut code));
    ExitCode::from(code[0])
}

/// Keeps nothing of whoever started us. Output goes to `log` from here on.
pub(crate) fn let_go(log: Option<&File>) -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(log.unwrap_or(&null))?;
    rustix::stdio::dup2_stderr(log.unwrap_or(&null))?;
    // A directory that we stand in could not be unmounted.
    std::env::set_current_dir("/")
}

impl Parent {
    /// All is well: lets the caller go, with nothing of its left to us. Output goes to `log` from here on.
    pub(crate) fn ready(self, log: Option<File>) -> io::Result<()> {
        let_go(log.as_ref())?;
        self.failed(0);
        Ok(())
    }

    /// It went wrong, and was told; the caller ends with this code.
    pub(crate) fn failed(mut self, code: u8) {
        // A caller that is gone needs no code.
        drop(self.word.write_all(&[code]));
    }
}
