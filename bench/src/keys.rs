//! The floor of a key press: a pseudo-terminal and a program that echoes its input, with nothing in between.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;

use crate::error::BenchError;
use crate::plan::Prepared;
use crate::sample::Sample;

/// The time from a key to its echo by `cat`, as the mean over `keys` of them.
pub fn key_to_echo(keys: u32) -> Result<Prepared<'static>, BenchError> {
    let mut cat = Cat::start()?;
    Ok(Prepared::new(move || {
        let started = Instant::now();
        for _ in 0..keys {
            cat.echo()?;
        }
        Ok(Sample::Took(started.elapsed() / keys))
    }))
}

/// `cat` in a terminal that passes every byte as it is.
struct Cat {
    master: File,
    child: Child,
}

impl Cat {
    #[expect(clippy::disallowed_methods, reason = "a floor is what init's spawn is measured against")]
    fn start() -> Result<Self, BenchError> {
        let (master, slave) = raw_terminal().map_err(BenchError::contender)?;
        let mut command = Command::new("cat");
        let copy = slave.try_clone().map_err(BenchError::contender)?;
        command.stdin(Stdio::from(copy)).stdout(Stdio::from(slave)).stderr(Stdio::null());
        Ok(Self { master, child: command.spawn().map_err(BenchError::contender)? })
    }

    fn echo(&mut self) -> Result<(), BenchError> {
        let mut key = [0];
        self.master.write_all(b"k").map_err(BenchError::contender)?;
        self.master.read_exact(&mut key).map_err(BenchError::contender)?;
        if &key == b"k" { Ok(()) } else { Err(BenchError::Unfit(format!("{key:?} came back"))) }
    }
}

impl Drop for Cat {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn raw_terminal() -> Result<(File, std::os::fd::OwnedFd), Errno> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    rustix::pty::unlockpt(&master)?;
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    let mut modes = rustix::termios::tcgetattr(&slave)?;
    modes.make_raw();
    rustix::termios::tcsetattr(&slave, OptionalActions::Now, &modes)?;
    Ok((File::from(master), slave))
}
