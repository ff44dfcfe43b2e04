//! What a sandbox or a command may use, and the files that say so.
//!
//! Owns the limits' types, their ranges, and the different spellings of v1 and v2. It must not
//! decide which of the two is used: it is told the directory.

use std::fmt;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::file;

/// What can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Memory, page cache and kernel memory included.
    Memory,
    /// Processes and threads.
    Pids,
    /// Processor time.
    Cpu,
}

/// Limits of a whole sandbox. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory; swap is then not used at all.
    pub memory_bytes: Option<u64>,
    /// Processes and threads together.
    pub pids: Option<u64>,
    /// Thousandths of one core: 1000 is one core, 500 half of it.
    pub cpu_millis: Option<u64>,
}

/// Limits of one command, within those of its sandbox. `None` means no limit of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeafLimits {
    /// Bytes of memory; swap is then not used at all.
    pub memory_bytes: Option<u64>,
}

/// The directory that carries one limit of one sandbox, and whose spelling it wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Home {
    V2(PathBuf),
    V1(PathBuf),
}

impl Limit {
    pub(super) const ALL: [Self; 3] = [Self::Memory, Self::Pids, Self::Cpu];

    /// The controller's name, in both versions.
    pub(super) fn controller(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
        }
    }

    /// The file without which the controller cannot do it. Some kernels have the cpu controller
    /// without bandwidth control (CONFIG_CFS_BANDWIDTH).
    pub(super) fn file_v1(self) -> &'static str {
        match self {
            Self::Memory => "memory.limit_in_bytes",
            Self::Pids => "pids.max",
            Self::Cpu => "cpu.cfs_quota_us",
        }
    }

    /// The same for cgroup2.
    pub(super) fn file_v2(self) -> &'static str {
        match self {
            Self::Memory => "memory.max",
            Self::Pids => "pids.max",
            Self::Cpu => "cpu.max",
        }
    }

    /// Least and most. Memory: with less, what is ours inside or the smallest program is killed before it does anything.
    /// Processes: the kernel refuses more than PID_MAX_LIMIT. Cpu: the shortest quota (1 ms) of
    /// the longest period (1 s); as many cores as a kernel can be built for.
    pub(super) fn range(self) -> (u64, u64) {
        match self {
            Self::Memory => (4 << 20, u64::MAX >> 1),
            Self::Pids => (1, 4_194_304),
            Self::Cpu => (1, 8_192_000),
        }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Memory => "bytes",
            Self::Pids => "processes",
            Self::Cpu => "thousandths of a core",
        }
    }

    /// An error if the kernel would refuse `value`.
    pub(super) fn check(self, value: Option<u64>) -> Result<(), Error> {
        let (least, most) = self.range();
        match value {
            Some(value) if value < least || value > most => Err(Error::OutOfRange { limit: self, value }),
            Some(_) | None => Ok(()),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Pids => "processes",
            Self::Cpu => "cpu",
        })
    }
}

impl Limits {
    /// The value of one of them.
    pub fn get(&self, limit: Limit) -> Option<u64> {
        match limit {
            Limit::Memory => self.memory_bytes,
            Limit::Pids => self.pids,
            Limit::Cpu => self.cpu_millis,
        }
    }

    pub(super) fn set(&mut self, limit: Limit, value: Option<u64>) {
        match limit {
            Limit::Memory => self.memory_bytes = value,
            Limit::Pids => self.pids = value,
            Limit::Cpu => self.cpu_millis = value,
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        Limit::ALL.iter().try_for_each(|limit| limit.check(self.get(*limit)))
    }
}

/// Sets or lifts one limit of the directory.
pub(super) fn write(home: &Home, limit: Limit, value: Option<u64>) -> Result<(), Error> {
    match (limit, home) {
        (Limit::Memory, Home::V2(dir)) => write_memory_v2(dir, value),
        (Limit::Memory, Home::V1(dir)) => write_memory_v1(dir, value),
        (Limit::Pids, Home::V2(dir) | Home::V1(dir)) => file::write(&dir.join("pids.max"), &number_or(value, "max")),
        (Limit::Cpu, Home::V2(dir)) => {
            let Bandwidth { quota, period } = Bandwidth::of(value);
            let text = format!("{} {period}", number_or(quota, "max"));
            file::write(&dir.join("cpu.max"), &text)
        }
        (Limit::Cpu, Home::V1(dir)) => write_cpu_v1(dir, value),
    }
}

fn write_memory_v2(dir: &Path, value: Option<u64>) -> Result<(), Error> {
    let swap = if value.is_some() { "0" } else { "max" };
    if_present(file::write(&dir.join("memory.swap.max"), swap))?;
    file::write(&dir.join("memory.max"), &number_or(value, "max"))
}

/// v1 limits memory, and memory with swap, and refuses with EINVAL a moment in which the second
/// is the lower one (memory.rst of v1, "memory.memsw"). So on the way up that one goes first; and
/// at no moment is there more swap to have than before.
fn write_memory_v1(dir: &Path, value: Option<u64>) -> Result<(), Error> {
    let text = number_or(value, "-1");
    let memory = || file::write(&dir.join("memory.limit_in_bytes"), &text);
    let with_swap = || if_present(file::write(&dir.join("memory.memsw.limit_in_bytes"), &text));
    match memory() {
        Err(error) if error.is_invalid() => with_swap().and_then(|()| memory()),
        written => written.and_then(|()| with_swap()),
    }?;
    // Buffers of sockets are not counted in v1 unless they have a limit, and then by themselves (memory.rst of v1, "TCP").
    if_present(file::write(&dir.join("memory.kmem.tcp.limit_in_bytes"), &text))
}

/// Quota and period are two files of v1, and each write is checked against the other's present
/// value; without a quota any period is valid.
fn write_cpu_v1(dir: &Path, value: Option<u64>) -> Result<(), Error> {
    let Bandwidth { quota, period } = Bandwidth::of(value);
    file::write(&dir.join("cpu.cfs_quota_us"), "-1")?;
    file::write(&dir.join("cpu.cfs_period_us"), &period.to_string())?;
    file::write(&dir.join("cpu.cfs_quota_us"), &number_or(quota, "-1"))
}

/// Microseconds of processor time per period.
#[derive(Debug, PartialEq, Eq)]
struct Bandwidth {
    quota: Option<u64>,
    period: u64,
}

impl Bandwidth {
    /// The kernel's own default period, or its longest where the quota would else be under the
    /// 1 ms that it accepts (sched-bwc.rst).
    fn of(millis: Option<u64>) -> Self {
        let period = match millis {
            Some(..10) => 1_000_000,
            Some(_) | None => 100_000,
        };
        let quota = millis.map(|millis| millis.saturating_mul(period / 1000));
        Self { quota, period }
    }
}

fn number_or(value: Option<u64>, without: &str) -> String {
    value.map_or_else(|| without.to_owned(), |value| value.to_string())
}

/// Swap is not accounted on every kernel: where the file is missing there is no swap to limit.
fn if_present(written: Result<(), Error>) -> Result<(), Error> {
    match written {
        Err(error) if error.is_gone() => Ok(()),
        written => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A directory that looks like a cgroup's, and what is in its files after `write`.
    fn written(files: &[&str], home: fn(PathBuf) -> Home, limit: Limit, value: Option<u64>) -> String {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            fs::write(dir.path().join(file), "").unwrap();
        }
        write(&home(dir.path().to_owned()), limit, value).unwrap();
        let texts = files.iter().map(|file| fs::read_to_string(dir.path().join(file)).unwrap());
        texts.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn memory_takes_swap_away_with_it() {
        let v2 = ["memory.max", "memory.swap.max"];
        let some = Some(1 << 20);
        assert_eq!(written(&v2, Home::V2, Limit::Memory, some), "1048576 | 0");
        assert_eq!(written(&v2, Home::V2, Limit::Memory, None), "max | max");
        assert_eq!(written(&v2[..1], Home::V2, Limit::Memory, some), "1048576");
        let v1 = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"];
        assert_eq!(written(&v1, Home::V1, Limit::Memory, some), "1048576 | 1048576");
        assert_eq!(written(&v1, Home::V1, Limit::Memory, None), "-1 | -1");
        assert_eq!(written(&v1[..1], Home::V1, Limit::Memory, some), "1048576");
    }

    #[test]
    fn processes_are_spelled_alike() {
        assert_eq!(written(&["pids.max"], Home::V2, Limit::Pids, Some(64)), "64");
        assert_eq!(written(&["pids.max"], Home::V1, Limit::Pids, None), "max");
    }

    #[test]
    fn cpu_is_a_quota_of_a_period() {
        let v2 = |millis| written(&["cpu.max"], Home::V2, Limit::Cpu, millis);
        assert_eq!(v2(Some(1500)), "150000 100000");
        assert_eq!(v2(Some(1)), "1000 1000000");
        assert_eq!(v2(None), "max 100000");
        let v1 = ["cpu.cfs_quota_us", "cpu.cfs_period_us"];
        assert_eq!(written(&v1, Home::V1, Limit::Cpu, Some(500)), "50000 | 100000");
    }

    #[test]
    fn out_of_range_is_refused_in_the_users_words() {
        let none = Limits { pids: Some(0), ..Limits::default() };
        assert_eq!(
            none.check().unwrap_err().to_string(),
            "processes limit of 0 processes is out of range: must be 1 to 4194304"
        );
        assert!(Limits::default().check().is_ok());
    }
}
