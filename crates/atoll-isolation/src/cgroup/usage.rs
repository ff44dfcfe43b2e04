//! What a sandbox uses now.
//!
//! Owns the reading of the counters. It must not fail: a counter that this machine does not keep
//! is `None`.

use std::path::Path;

use super::file;
use super::limits::Home;
use super::places::Places;

/// What a sandbox uses; `None` where this machine does not count it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of memory in use, page cache included.
    pub memory_bytes: Option<u64>,
    /// The most there ever was.
    pub memory_peak_bytes: Option<u64>,
    /// Processes and threads.
    pub pids: Option<u64>,
    /// Processor time used so far, in microseconds.
    pub cpu_usec: Option<u64>,
}

impl Usage {
    pub(super) fn read(places: &Places) -> Self {
        let memory = places.memory.as_ref();
        Self {
            memory_bytes: memory.and_then(memory_now),
            memory_peak_bytes: memory.and_then(memory_peak),
            pids: places.pids.as_ref().and_then(pids),
            cpu_usec: cpu(places),
        }
    }
}

/// The most memory the directory ever held. `memory.peak` of cgroup2 needs Linux 5.19.
pub(super) fn memory_peak(home: &Home) -> Option<u64> {
    match home {
        Home::V2(dir) => number(dir, "memory.peak"),
        Home::V1(dir) => number(dir, "memory.max_usage_in_bytes"),
    }
}

fn memory_now(home: &Home) -> Option<u64> {
    match home {
        Home::V2(dir) => number(dir, "memory.current"),
        Home::V1(dir) => number(dir, "memory.usage_in_bytes"),
    }
}

fn pids(home: &Home) -> Option<u64> {
    let (Home::V2(dir) | Home::V1(dir)) = home;
    number(dir, "pids.current")
}

/// cgroup2 counts processor time in every directory, with or without the cpu controller
/// (cgroup-v2.rst, "cpu.stat"); v1 does only where cpuacct is mounted together with cpu.
fn cpu(places: &Places) -> Option<u64> {
    let in_tree = |tree: &Path| file::read_key(&tree.join("cpu.stat"), "usage_usec").ok();
    places.tree.as_deref().and_then(in_tree).or_else(|| match places.cpu.as_ref()? {
        Home::V1(dir) => number(dir, "cpuacct.usage").map(|nanos| nanos / 1000),
        Home::V2(_) => None,
    })
}

fn number(dir: &Path, name: &str) -> Option<u64> {
    file::read_number(&dir.join(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn reads_what_is_there_and_leaves_out_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in
            [("memory.current", "4096\n"), ("pids.current", "3\n"), ("cpu.stat", "usage_usec 1500\nuser_usec 1000\n")]
        {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let home = Some(Home::V2(dir.path().to_owned()));
        let places = Places { tree: Some(dir.path().to_owned()), memory: home.clone(), pids: home, cpu: None };
        let expected = Usage { memory_bytes: Some(4096), memory_peak_bytes: None, pids: Some(3), cpu_usec: Some(1500) };
        assert_eq!(Usage::read(&places), expected);
    }
}
