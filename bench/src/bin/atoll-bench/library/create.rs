//! The creation figure: a new sandbox, to the result of its first command.

use std::fs;
use std::time::{Duration, Instant};

use atoll_bench::alternatives::{Cgroups, bwrap, crun_run};
use atoll_bench::{Argv, BenchError, Contender, Figure, Prepared, Sample, Target, Unit};
use atoll_isolation::bench_baseline::Baseline;
use atoll_isolation::{Disk, HostRoot, Ids, Plan, Quotas, Spec, remove_directory};
use atoll_runtime::{Command, Error, Home, SandboxOptions};
use tokio::runtime::Runtime;

use super::{Library, succeeded};

impl Library {
    /// Creates a sandbox and runs `bash -c true` in it; the floor makes the same namespaces and mounts by hand.
    pub(super) fn create<'a>(&'a self, runtime: &'a Runtime) -> Figure<'a> {
        let subject = move || {
            let started = Instant::now();
            let (sandbox, took) = runtime
                .block_on(async {
                    let sandbox = self.host.create(SandboxOptions::default()).await?;
                    sandbox.exec(Command::argv(["bash", "-c", "true"])).await.and_then(succeeded)?;
                    Ok::<_, Error>((sandbox, started.elapsed()))
                })
                .map_err(BenchError::contender)?;
            runtime.block_on(sandbox.destroy()).map_err(BenchError::contender)?;
            Ok(Sample::Took(took))
        };
        let floor = Floor::new(&self.home).map(|mut floor| Prepared::new(move || floor.measure().map(Sample::Took)));
        let mut figure = Figure::new("create: new sandbox to first result", Unit::Latency)
            .rounds((self.rounds / 2).max(6))
            .warm_up(3)
            .with(Contender::floor("clone3, mounts and bash by hand", floor))
            .with(
                Contender::subject("atoll create + exec", Ok(Prepared::new(subject)))
                    .target(Target::at_most_times_floor(3.0)),
            );
        if self.alternatives {
            let argv = Argv::new(["bash", "-c", "true"]);
            figure = figure
                .with(Contender::alternative("bwrap", bwrap(&argv)))
                .with(Contender::alternative("crun run", crun_run(&std::env::temp_dir(), Cgroups::Off, &argv)));
        }
        figure
    }
}

/// The floor: the same plan, applied by a single-threaded program without the rest of Atoll.
struct Floor {
    baseline: Baseline,
    home: Home,
    root: HostRoot,
    ids: Ids,
    next: u32,
}

impl Floor {
    fn new(home: &Home) -> Result<Self, BenchError> {
        Ok(Self {
            baseline: Baseline::start().map_err(BenchError::contender)?,
            root: HostRoot::prepare(&home.cache.join("roots")).map_err(BenchError::contender)?,
            ids: Ids::claim().map_err(BenchError::contender)?,
            home: home.clone(),
            next: 0,
        })
    }

    fn measure(&mut self) -> Result<Duration, BenchError> {
        // Named and locked like a sandbox's directory: if this process is killed, the next start of Atoll removes it.
        let disk = self.home.state.join(format!("sandboxes/floor-{}-{}", std::process::id(), self.next));
        self.next += 1;
        fs::create_dir_all(&disk).map_err(BenchError::contender)?;
        let lock = fs::File::create(disk.join("lock")).map_err(BenchError::contender)?;
        lock.lock().map_err(BenchError::contender)?;
        let plan = Plan::isolated(&Spec {
            ids: self.ids.map(),
            base: self.root.base.clone(),
            system: self.root.system.clone(),
            added_to: self.root.added_to.clone(),
            disk: Disk { path: disk.clone() },
            privileged: true,
            idmapped: true,
            quotas: Quotas::default(),
        });
        let took = self.baseline.measure(&plan, &disk, &["/bin/bash", "-c", "true"]);
        remove_directory(&disk).map_err(BenchError::contender)?;
        took.map_err(BenchError::contender)
    }
}
