//! The alternatives a user could pick instead: bubblewrap, crun and podman.
//!
//! Each function prepares one contender and tries it once, so that a tool that
//! is missing or unusable is found before the run and reported with its own
//! message. Everything is created in the given directory and deleted with the
//! contender, containers included. Each tool gets its cheapest set-up that still
//! isolates: a rival must not be slowed down to look worse.

mod bundle;
mod container;
mod stage;

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::error::BenchError;
use crate::plan::Prepared;
use crate::sample::Sample;
use crate::scratch::Scratch;
use crate::spawn::{self, Argv};
use container::Container;
use stage::Stage;

/// Starting a container takes a fraction of this, unless it hangs.
const START_LIMIT: Duration = Duration::from_secs(20);

/// After each `podman exec`, conmon starts a second podman to clean up, which
/// outlives the first by some 50 ms (seen with strace, podman 4.3).
const PODMAN_SETTLES: Duration = Duration::from_millis(150);

/// Whether crun puts its container into a cgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cgroups {
    /// Made and removed for every container, as limits would need.
    Managed,
    /// None, which is faster.
    Off,
}

/// A fresh bubblewrap for each command: every namespace, root read-only.
pub fn bwrap(argv: &Argv) -> Result<Prepared<'static>, BenchError> {
    let line = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--"];
    let argv = tool("bwrap", "bubblewrap")?.then(&Argv::new(line)).then(argv);
    tried(Prepared::new(move || spawn::output(&argv).map(|(_, took)| Sample::Took(took))))
}

/// A fresh container for each command, by `crun run`.
pub fn crun_run(under: &Path, cgroups: Cgroups, argv: &Argv) -> Result<Prepared<'static>, BenchError> {
    let crun = Crun::prepare(under, cgroups, argv)?;
    let run = crun.verb("run").arg("--bundle").arg(crun.bundle());
    let run = run.arg(crun.id());
    let note = crun.note(cgroups);
    tried(crun.into_container().into_contender(run).note(note))
}

/// A command in a running container, by `crun exec`.
pub fn crun_exec(under: &Path, cgroups: Cgroups, argv: &Argv) -> Result<Prepared<'static>, BenchError> {
    let crun = Crun::prepare(under, cgroups, &Argv::new(["sleep", "infinity"]))?;
    let start = crun.verb("run").arg("--detach").arg("--bundle");
    let start = start.arg(crun.bundle()).arg(crun.id());
    let exec = crun.verb("exec").arg(crun.id()).then(argv);
    let note = crun.note(cgroups);
    let container = crun.into_container();
    container.start(&start)?;
    tried(container.into_contender(exec).note(note))
}

/// A command in a running container, by `podman exec`.
pub fn podman_exec(under: &Path, argv: &Argv) -> Result<Prepared<'static>, BenchError> {
    let podman = tool("podman", "podman")?;
    let stage = Stage::without_hybrid_cgroups()?;
    let scratch = Scratch::new_in(under)?;
    let rootfs = bundle::make_rootfs(&scratch)?;
    let podman = podman_globals(podman, &scratch);
    let id = scratch.name().to_owned();
    let start = podman_start(podman.clone(), &id, &rootfs);
    let exec = podman.clone().arg("exec").arg(&id).then(argv);
    let delete = podman.then(&Argv::new(["rm", "--force", "--time", "0"]));
    let note = noted("no cgroup, no network", &stage);
    let container = Container::new(stage, delete.arg(&id), scratch);
    container.start(&start)?;
    tried(settling(container.into_contender(exec)).note(note))
}

/// Waits out what podman leaves running, off the clock: the next turn would
/// share the machine with it.
fn settling(contender: Prepared<'static>) -> Prepared<'static> {
    let mut measure = contender.measure;
    Prepared::new(move || {
        let sample = measure();
        thread::sleep(PODMAN_SETTLES);
        sample
    })
}

/// Keeps podman's state apart from the user's. Events are off: each would be one
/// more write per command, and the benchmark does not read them.
fn podman_globals(podman: Argv, scratch: &Scratch) -> Argv {
    podman
        .arg("--root")
        .arg(scratch.path().join("root"))
        .arg("--runroot")
        .arg(scratch.path().join("run"))
        .arg("--tmpdir")
        .arg(scratch.path().join("tmp"))
        .arg("--cgroup-manager=cgroupfs")
        .arg("--events-backend=none")
}

fn podman_start(podman: Argv, id: &str, rootfs: &bundle::Rootfs) -> Argv {
    // Podman raises the limits on files and processes to fixed values, which is
    // refused where CAP_SYS_RESOURCE is missing; lowering them is always allowed.
    let line = [
        "run",
        "--detach",
        "--network=none",
        "--cgroups=disabled",
        "--ulimit=nofile=1024:1024",
        "--ulimit=nproc=1024:1024",
    ];
    let mut start = podman.then(&Argv::new(line)).arg("--name").arg(id);
    for folder in &rootfs.bound {
        start = start.arg(format!("--volume={folder}:{folder}:ro"));
    }
    start.arg("--rootfs").arg(&rootfs.path).then(&Argv::new(["sleep", "infinity"]))
}

/// A bundle on disk and how to call crun on it.
struct Crun {
    globals: Argv,
    stage: Stage,
    scratch: Scratch,
}

impl Crun {
    fn prepare(under: &Path, cgroups: Cgroups, argv: &Argv) -> Result<Self, BenchError> {
        let program = tool("crun", "crun")?;
        let stage = Stage::without_hybrid_cgroups()?;
        let scratch = Scratch::new_in(under)?;
        bundle::write(&program, &scratch, argv)?;
        let manager = match cgroups {
            Cgroups::Managed => "--cgroup-manager=cgroupfs",
            Cgroups::Off => "--cgroup-manager=disabled",
        };
        let root = scratch.folder("state")?;
        Ok(Self { globals: program.arg("--root").arg(root).arg(manager), stage, scratch })
    }

    fn verb(&self, verb: &str) -> Argv {
        self.globals.clone().arg(verb)
    }

    fn bundle(&self) -> &Path {
        self.scratch.path()
    }

    fn id(&self) -> &str {
        self.scratch.name()
    }

    fn note(&self, cgroups: Cgroups) -> String {
        let cgroups = match cgroups {
            Cgroups::Managed => "cgroup by cgroupfs",
            Cgroups::Off => "no cgroup",
        };
        noted(cgroups, &self.stage)
    }

    fn into_container(self) -> Container {
        let delete = self.verb("delete").arg("--force").arg(self.id());
        Container::new(self.stage, delete, self.scratch)
    }
}

fn noted(what: &str, stage: &Stage) -> String {
    match stage.note() {
        Some(note) => format!("{what}; {note}"),
        None => what.to_owned(),
    }
}

fn tool(program: &str, package: &str) -> Result<Argv, BenchError> {
    let found = spawn::find_program(program).ok_or_else(|| BenchError::NotInstalled {
        program: program.to_owned(),
        remedy: format!("apt-get install {package}"),
    })?;
    Ok(Argv::new([found]))
}

/// One turn, thrown away: better no contender than one that fails in the run.
fn tried(mut contender: Prepared<'static>) -> Result<Prepared<'static>, BenchError> {
    (contender.measure)()?;
    Ok(contender)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Usable or not, nothing may stay behind and the reason must be said.
    fn leaves_nothing(prepare: impl FnOnce(&Path, &Argv) -> Result<Prepared<'static>, BenchError>) {
        let under = Scratch::new_in(&std::env::temp_dir()).unwrap();
        match prepare(under.path(), &Argv::new(["bash", "-c", "true"])) {
            Ok(mut ready) => assert!((ready.measure)().is_ok()),
            Err(error) => assert!(!error.in_one_line().is_empty()),
        }
        let left = std::fs::read_dir(under.path()).unwrap().count();
        assert_eq!(left, 0, "left in {}", under.path().display());
    }

    #[test]
    fn bwrap_leaves_nothing() {
        leaves_nothing(|_, argv| bwrap(argv));
    }

    #[test]
    fn crun_run_leaves_nothing() {
        leaves_nothing(|under, argv| crun_run(under, Cgroups::Off, argv));
        leaves_nothing(|under, argv| crun_run(under, Cgroups::Managed, argv));
    }

    #[test]
    fn crun_exec_leaves_nothing() {
        leaves_nothing(|under, argv| crun_exec(under, Cgroups::Off, argv));
    }

    #[test]
    fn podman_exec_leaves_nothing() {
        leaves_nothing(podman_exec);
    }

    #[test]
    fn a_failing_command_is_found_out_beforehand_and_leaves_nothing() {
        let fails = Argv::new(["false"]);
        leaves_nothing(|under, _| crun_exec(under, Cgroups::Off, &fails));
    }

    #[test]
    fn a_missing_tool_names_its_package() {
        let error = tool("no-such-tool", "some-package").unwrap_err();
        assert!(error.to_string().contains("apt-get install some-package"));
    }
}
