//! Tests with the real kernel and real processes.
//!
//! Owns the harness: a shared directory of its own for each test, so that tests see neither each
//! other nor a running agent, and a guard that removes it whatever happens. A test that cannot run
//! here says `SKIP <test>: <reason>`.

mod kill;
mod life;
mod limit;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio, id};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::patience::Patience;
use super::*;

/// Far more than anything here takes on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// A layout of this test's own, removed when dropped.
#[derive(Debug)]
struct Place {
    layout: Layout,
}

impl Place {
    /// `None`, and a line on stderr, if sandboxes cannot be made here.
    fn new(test: &str) -> Option<Self> {
        let mut layout = Layout::detect();
        if let Tree::Unavailable { why } = &layout.tree {
            skip(test, why);
            return None;
        }
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let own = format!("atoll-test-{}-{number}", id());
        if let Tree::Cgroup2 { parent, .. } = &mut layout.tree {
            parent.set_file_name(&own);
        }
        let Controllers { memory, pids, cpu } = &mut layout.controllers;
        for controller in [memory, pids, cpu] {
            if let Controller::V1(parent) = controller {
                parent.set_file_name(&own);
            }
        }
        Some(Self { layout })
    }

    /// The same, for a test that needs a limit.
    fn limiting(test: &str, limit: Limit) -> Option<Self> {
        let place = Self::new(test)?;
        match place.layout.controllers.get(limit) {
            Controller::V2 | Controller::V1(_) => Some(place),
            Controller::Missing { why } => {
                skip(test, why);
                None
            }
        }
    }

    fn group(&self, name: &str, limits: &Limits) -> Group {
        Group::create(&self.layout, name, limits, None).unwrap()
    }

    /// The shared directories.
    fn parents(&self) -> Vec<PathBuf> {
        let paths = Group::paths(&self.layout, "x").into_iter();
        paths.map(|path| path.parent().unwrap().to_owned()).collect()
    }

    fn assert_nothing_left(&self) {
        for parent in self.parents() {
            assert!(!parent.exists(), "{} is left", parent.display());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for parent in self.parents() {
            kill_and_remove(&parent, SOON).unwrap();
        }
    }
}

fn skip(test: &str, why: &str) {
    // Past the harness's capture, so that it is seen without --nocapture; whole, by one write.
    let line = format!("SKIP {test}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// A shell that runs a script once it is where it should be.
#[derive(Debug)]
struct Script {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Script {
    /// Starts `script` in the leaf, and under the group's v1 limits.
    fn start(group: &Group, leaf: &Leaf, script: &str) -> Self {
        let mut shell = Self::wait_for_go(script);
        group.enter_v1(shell.child.id()).unwrap();
        leaf.enter(shell.child.id()).unwrap();
        shell.go();
        shell
    }

    #[expect(clippy::disallowed_methods, reason = "a test's child is not a sandbox's")]
    fn wait_for_go(script: &str) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("read go; {script}")]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn go(&mut self) {
        writeln!(self.input, "go").unwrap();
    }

    /// The next line that the script writes.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Waits for the shell itself, and returns its exit code, or 128 and its signal.
    fn status(&mut self) -> i32 {
        use std::os::unix::process::ExitStatusExt;
        let status = self.child.wait().unwrap();
        status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Waits until it holds.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let mut patience = Patience::new(SOON);
    while !holds() {
        assert!(patience.wait(), "{what}: not within {SOON:?}");
    }
}

fn value(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap().trim().to_owned()
}
