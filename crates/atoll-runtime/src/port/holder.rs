//! Who holds a socket: found by its inode among the descriptors of the sandbox's processes.
//!
//! What is read is the sandbox's word about itself only, and bounded: a sandbox with more descriptors than are looked
//! at has ports whose holders are not known.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use atoll_protocol::ProcessId;

use crate::process::Filter;
use crate::shared::Shared;

/// Descriptors that are looked at for one answer.
const LOOKED_AT: usize = 100_000;

/// Bytes of a command line that are told.
const COMMAND_MAX: u64 = 1024;

/// Steps from a process up to one that is known.
const STEPS_UP: usize = 64;

/// A process that holds a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) pid: u32,
    pub(super) command: String,
    pub(super) process: Option<ProcessId>,
}

/// Holders by inode. Reads many small files: not for an async thread.
pub(super) fn find(shared: &Shared, wanted: HashSet<u32>) -> HashMap<u32, Holder> {
    let search = Search { proc: format!("/proc/self/fd/{}", shared.proc.as_raw_fd()).into(), shared };
    search.find(wanted)
}

struct Search<'a> {
    proc: PathBuf,
    shared: &'a Shared,
}

impl Search<'_> {
    fn find(&self, mut wanted: HashSet<u32>) -> HashMap<u32, Holder> {
        let known = self.known();
        let mut found = HashMap::new();
        let mut left = LOOKED_AT;
        for pid in self.pids() {
            if wanted.is_empty() || left == 0 {
                break;
            }
            let dir = self.proc.join(pid.to_string());
            let held: Vec<u32> = sockets(&dir, &mut left).filter(|inode| wanted.remove(inode)).collect();
            if held.is_empty() {
                continue;
            }
            let holder = Holder { pid, command: command(&dir), process: self.process_of(pid, &known) };
            found.extend(held.into_iter().map(|inode| (inode, holder.clone())));
        }
        found
    }

    /// Without a process namespace of its own, a sandbox's processes are those below its init.
    fn pids(&self) -> Vec<u32> {
        let entries = fs::read_dir(&self.proc).into_iter().flatten().flatten();
        let all = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        match self.shared.top {
            None => all.collect(),
            Some(top) => all.filter(|pid| self.is_below(*pid, top)).collect(),
        }
    }

    fn is_below(&self, pid: u32, top: u32) -> bool {
        self.line_of(pid).any(|pid| pid == top)
    }

    /// A process, its parent, and so on.
    fn line_of(&self, pid: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(pid), |pid| parent(&self.proc.join(pid.to_string()))).take(STEPS_UP)
    }

    fn known(&self) -> HashMap<u32, ProcessId> {
        let all = self.shared.registry.list(&Filter::default());
        all.iter().map(crate::Process::info).filter_map(|info| Some((info.pid?, info.id))).collect()
    }

    fn process_of(&self, pid: u32, known: &HashMap<u32, ProcessId>) -> Option<ProcessId> {
        self.line_of(pid).find_map(|pid| known.get(&pid).cloned())
    }
}

/// Inodes of the sockets that a process holds.
fn sockets(dir: &Path, left: &mut usize) -> impl Iterator<Item = u32> {
    let links = fs::read_dir(dir.join("fd")).into_iter().flatten().flatten();
    links
        .map_while(|link| {
            *left = left.checked_sub(1)?;
            Some(fs::read_link(link.path()).ok())
        })
        .flatten()
        .filter_map(|target| target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok())
}

/// Words of the command line; the name, where it has none.
fn command(dir: &Path) -> String {
    let mut bytes = Vec::new();
    let read = fs::File::open(dir.join("cmdline")).and_then(|file| file.take(COMMAND_MAX).read_to_end(&mut bytes));
    if read.is_err() || bytes.is_empty() {
        let name = fs::read(dir.join("comm")).unwrap_or_default();
        return String::from_utf8_lossy(&name).trim_end().to_owned();
    }
    let text = String::from_utf8_lossy(&bytes);
    text.trim_end_matches('\0').replace('\0', " ")
}

/// The fourth field of its stat file, behind the name in brackets (proc_pid_stat(5)).
fn parent(dir: &Path) -> Option<u32> {
    let stat = fs::read_to_string(dir.join("stat")).ok()?;
    let parent = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()?;
    (parent != 0).then_some(parent)
}
