//! Facts about the machine, without which a number means nothing elsewhere.
//!
//! Reads `/proc` and runs each tool with `--version`. A fact that is not
//! available is reported as unknown: it must never fail a run.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use serde::{Deserialize, Serialize};

use crate::spawn::{self, Argv};

/// Load per core above which a run starts on a busy machine.
const BUSY_SHARE: f64 = 0.5;

/// Where a run took place.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Machine {
    /// Cores this process may use.
    pub cores: usize,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's model name.
    pub cpu: String,
    /// Load before the run; a busy machine spoils every figure.
    pub load_before: Option<LoadAverage>,
    /// Load after the run.
    pub load_after: Option<LoadAverage>,
    /// Versions of the tools involved, by name.
    pub tools: BTreeMap<String, String>,
}

/// Runnable tasks on average, as in `/proc/loadavg`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct LoadAverage {
    /// Over one minute.
    pub one: f64,
    /// Over five minutes.
    pub five: f64,
    /// Over fifteen minutes.
    pub fifteen: f64,
}

impl Machine {
    /// Reads the facts of this machine, with the versions of bash and of the
    /// known alternatives.
    pub fn observe() -> Self {
        let tools = ["bash", "bwrap", "crun", "podman"];
        let versions = tools.map(|tool| (tool.to_owned(), version_of(tool)));
        Self {
            cores: std::thread::available_parallelism().map_or(0, Into::into),
            kernel: read_line("/proc/sys/kernel/osrelease"),
            cpu: cpu_model(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
            load_before: LoadAverage::now(),
            load_after: None,
            tools: versions.into(),
        }
    }

    /// Adds a tool that only the caller knows, such as the subject itself.
    #[must_use]
    pub fn with_tool(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.tools.insert(name.into(), version.into());
        self
    }

    /// Whether absolute values of the two machines can be compared.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.cores == other.cores && self.cpu == other.cpu
    }

    /// Returns a warning if the machine was busy before the run. A steady load
    /// does not show as noise, but takes cores from contenders that use several.
    pub fn complaint(&self) -> Option<String> {
        let load = self.load_before?.one;
        let cores = self.cores;
        let idle = load <= crate::sample::unsigned(cores as u64) * BUSY_SHARE;
        (!idle).then(|| format!("busy before the run: load {load:.2} on {cores} cores, measure again when idle"))
    }

    /// A machine without any known fact, for tests.
    #[cfg(test)]
    pub(crate) fn unknown() -> Self {
        Self {
            cores: 0,
            kernel: unknown(),
            cpu: unknown(),
            load_before: None,
            load_after: None,
            tools: BTreeMap::new(),
        }
    }

    pub(crate) fn note_load_after(&mut self) {
        // Only a machine that was looked at before can be compared.
        if self.load_before.is_some() {
            self.load_after = LoadAverage::now();
        }
    }
}

impl LoadAverage {
    fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/loadavg").ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_whitespace().map(str::parse);
        let mut next = || fields.next()?.ok();
        Some(Self { one: next()?, five: next()?, fifteen: next()? })
    }
}

impl fmt::Display for LoadAverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { one, five, fifteen } = self;
        write!(f, "{one:.2} {five:.2} {fifteen:.2}")
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn read_line(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| unknown(), |text| text.trim().to_owned())
}

fn cpu_model(cpuinfo: &str) -> String {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name")
        .map_or_else(unknown, |(_, model)| model.trim().to_owned())
}

/// The first line of `tool --version`: all tools named here keep to that.
fn version_of(tool: &str) -> String {
    let Some(program) = spawn::find_program(tool) else {
        return "not installed".to_owned();
    };
    let output = spawn::output(&Argv::new([program]).arg("--version"));
    let line = output.ok().and_then(|(output, _)| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().next().map(str::to_owned)
    });
    line.unwrap_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_the_first_three_fields() {
        let load = LoadAverage::parse("0.50 1.25 2.00 3/400 1234\n").unwrap();
        assert_eq!(load.to_string(), "0.50 1.25 2.00");
        assert_eq!(LoadAverage::parse("0.50"), None);
    }

    #[test]
    fn a_load_of_half_the_cores_is_busy() {
        let mut machine = Machine::unknown();
        assert_eq!(machine.complaint(), None);
        machine.cores = 2;
        machine.load_before = LoadAverage::parse("1.00 0 0");
        assert_eq!(machine.complaint(), None);
        machine.load_before = LoadAverage::parse("1.10 0 0");
        let words = machine.complaint().unwrap();
        assert!(words.contains("load 1.10 on 2 cores"), "{words}");
    }

    #[test]
    fn the_first_model_name_counts() {
        let text = "processor\t: 0\nmodel name\t: Fast CPU\nmodel name\t: Other\n";
        assert_eq!(cpu_model(text), "Fast CPU");
        assert_eq!(cpu_model(""), "unknown");
    }

    #[test]
    fn this_machine_has_cores_and_a_kernel() {
        let machine = Machine::observe().with_tool("atoll", "0.1.0");
        assert!(machine.cores > 0);
        assert_ne!(machine.kernel, "unknown");
        assert_eq!(machine.tools["atoll"], "0.1.0");
    }
}
