//! What a thread is blocked on, by the kernel's own account in /proc.
//!
//! Reads only; nothing is opened that a user made. Answers are a look at a moment: a thread may go on right after.

use std::fs::Metadata;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Poll sets larger than this are not those of a program that waits for its user.
const POLL_MAX: u64 = 64;

/// Threads of a process that are looked at. A program that waits for its user rarely has as many, and each look costs the
/// caller.
const THREADS_MAX: usize = 64;

/// Major number of `/dev/tty`, whose minor is 0: whatever terminal controls the one who opens it (tty(4)).
const TTY_MAJOR: u32 = 5;

/// What input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The pipe with this inode.
    Pipe {
        /// Device that the inode is on.
        dev: u64,
        /// The inode.
        ino: u64,
    },
    /// The terminal with this inode; `/dev/tty` means it too, for those whom it controls.
    Terminal {
        /// Device that the inode is on.
        dev: u64,
        /// The inode.
        ino: u64,
        /// The terminal's own device number.
        device: u64,
    },
}

/// Whether some thread of a process is blocked on reading this input. `proc` is the /proc in which `pid` is counted.
pub fn awaits(proc: BorrowedFd<'_>, pid: u32, input: Awaited) -> bool {
    let process = PathBuf::from(format!("/proc/self/fd/{}/{pid}", proc.as_raw_fd()));
    let Ok(threads) = std::fs::read_dir(process.join("task")) else {
        return false;
    };
    threads.flatten().take(THREADS_MAX).any(|thread| {
        let call = std::fs::read_to_string(thread.path().join("syscall")).unwrap_or_default();
        let Some(call) = Call::parse(&call) else {
            return false;
        };
        let memory = |at: u64, bytes: &mut [u8]| {
            std::fs::File::open(process.join("mem")).is_ok_and(|file| file.read_exact_at(bytes, at).is_ok())
        };
        call.waits_for(memory).iter().any(|fd| {
            let found = std::fs::metadata(process.join(format!("fd/{fd}")));
            found.is_ok_and(|found| input.is(&found, || controlling_terminal(&process)))
        })
    })
}

impl Awaited {
    fn is(self, found: &Metadata, terminal_of_reader: impl FnOnce() -> Option<u64>) -> bool {
        let place = (found.dev(), found.ino());
        match self {
            Self::Pipe { dev, ino } => place == (dev, ino),
            Self::Terminal { dev, ino, device } => {
                let any = libc::makedev(TTY_MAJOR, 0);
                place == (dev, ino)
                    || (found.file_type().is_char_device()
                        && found.rdev() == any
                        && terminal_of_reader() == Some(device))
            }
        }
    }
}

/// The device number of the terminal that controls a process.
fn controlling_terminal(process: &Path) -> Option<u64> {
    terminal_in_stat(&std::fs::read_to_string(process.join("stat")).ok()?)
}

/// Field 7 of `/proc/PID/stat`, the fifth behind the name: minor in bits 0-7 and 20-31, major in 8-15 (proc(5)).
fn terminal_in_stat(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let number: i64 = fields.split_whitespace().nth(4)?.parse().ok()?;
    let number = u32::try_from(number & 0xffff_ffff).ok()?;
    Some(libc::makedev((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00)))
}

/// A system call in progress.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    number: i64,
    arguments: [u64; 6],
}

impl Call {
    /// `/proc/PID/syscall`: the number, six arguments in hex, stack and instruction pointer; or `running`.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_whitespace();
        let number = fields.next()?.parse().ok()?;
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(Self { number, arguments })
    }

    /// The descriptors from which input is awaited.
    fn waits_for(&self, memory: impl Fn(u64, &mut [u8]) -> bool) -> Vec<u32> {
        let [first, second, ..] = self.arguments;
        let kind = kind(self.number);
        match kind {
            Some(Kind::Read) => u32::try_from(first).into_iter().collect(),
            Some(Kind::Poll) => polled(first, second, memory),
            Some(Kind::Select) => selected(first, second, memory),
            None => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Poll,
    Select,
}

fn kind(number: i64) -> Option<Kind> {
    match number {
        libc::SYS_read | libc::SYS_readv | libc::SYS_splice => Some(Kind::Read),
        libc::SYS_ppoll => Some(Kind::Poll),
        libc::SYS_pselect6 => Some(Kind::Select),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => Some(Kind::Poll),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_select => Some(Kind::Select),
        _ => None,
    }
}

/// `struct pollfd { int fd; short events; short revents; }`
fn polled(at: u64, count: u64, memory: impl Fn(u64, &mut [u8]) -> bool) -> Vec<u32> {
    let Some(count) = usize::try_from(count.min(POLL_MAX)).ok().filter(|count| *count > 0) else {
        return Vec::new();
    };
    let mut bytes = vec![0; count * 8];
    if !memory(at, &mut bytes) {
        return Vec::new();
    }
    let entries = bytes.chunks_exact(8).map(|entry| {
        let fd = i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
        (fd, i16::from_ne_bytes([entry[4], entry[5]]))
    });
    entries.filter(|(_, events)| events & libc::POLLIN != 0).filter_map(|(fd, _)| u32::try_from(fd).ok()).collect()
}

/// The read set is a bit per descriptor.
fn selected(highest: u64, at: u64, memory: impl Fn(u64, &mut [u8]) -> bool) -> Vec<u32> {
    let mut bytes = [0; 8];
    if at == 0 || !memory(at, &mut bytes) {
        return Vec::new();
    }
    let bits = u64::from_ne_bytes(bytes);
    (0..u32::try_from(highest.min(64)).unwrap_or(64)).filter(|fd| bits & (1 << fd) != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_parsed_and_others_are_not() {
        let call = Call::parse("0 0x0 0x7f 0x400 0x0 0x0 0x0 0x7ffd 0x7f00").unwrap();
        assert_eq!(call.number, 0);
        assert_eq!(call.arguments[2], 0x400);
        assert_eq!(Call::parse("running"), None);
        assert_eq!(Call::parse("-1 0x7ffd 0x7f00"), None);
        assert_eq!(Call::parse(""), None);
    }

    #[test]
    fn the_controlling_terminal_is_behind_the_name() {
        let stat = |number: u32| format!("7 (a) b) S 1 7 7 {number} 7 4194304");
        assert_eq!(terminal_in_stat(&stat(34817)), Some(libc::makedev(136, 1)));
        assert_eq!(terminal_in_stat(&stat((136 << 8) | 44 | (1 << 20))), Some(libc::makedev(136, 300)));
        assert_eq!(terminal_in_stat("7 (a) S 1"), None);
    }

    #[test]
    fn poll_and_select_sets_are_read_from_memory() {
        let entry = |fd: i32, events: i16| [&fd.to_ne_bytes()[..], &events.to_ne_bytes(), &[0, 0]].concat();
        let set = [entry(5, libc::POLLIN), entry(-1, libc::POLLIN), entry(6, libc::POLLOUT)].concat();
        let memory = |_: u64, bytes: &mut [u8]| {
            bytes.copy_from_slice(&set[..bytes.len()]);
            true
        };
        assert_eq!(polled(1, 3, memory), [5]);
        let bits = |_: u64, bytes: &mut [u8]| {
            bytes.copy_from_slice(&0b1001_u64.to_ne_bytes());
            true
        };
        assert_eq!(selected(4, 1, bits), [0, 3]);
        assert_eq!(selected(2, 1, bits), [0]);
    }
}
