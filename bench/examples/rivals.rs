//! Floors and alternatives on this machine, with no subject among them:
//! what there is to beat.

use std::io::{self, Write};

use atoll_bench::alternatives::{Cgroups, bwrap, crun_exec, crun_run, podman_exec};
use atoll_bench::floors::{Until, pipe_to_file, spawn_rate, spawn_with_pipes, spawn_without_pipes};
use atoll_bench::{Argv, BenchError, Contender, Figure, Machine, Plan, Unit, run};

fn main() -> Result<(), BenchError> {
    let plan = Plan::new()
        .with(one_command("bash -c true", &Argv::new(["bash", "-c", "true"])))
        .with(one_command("true", &Argv::new(["true"])))
        .with(rate())
        .with(output());
    let report = run(plan, Machine::observe(), &mut io::stderr())?;
    let mut out = io::stdout().lock();
    if std::env::args().any(|arg| arg == "--json") {
        report.write_json(&mut out)?;
    } else {
        report.write_table(&mut out)?;
    }
    out.flush().map_err(BenchError::contender)
}

fn one_command(name: &str, argv: &Argv) -> Figure<'static> {
    let under = std::env::temp_dir();
    let (managed, off) = (Cgroups::Managed, Cgroups::Off);
    Figure::new(format!("latency of `{name}`"), Unit::Latency)
        .rounds(100)
        .with(Contender::floor("posix_spawn", spawn_with_pipes(argv.clone())))
        .with(Contender::alternative("posix_spawn, no pipes", spawn_without_pipes(argv.clone())))
        .with(Contender::alternative("bwrap", bwrap(argv)))
        .with(Contender::alternative("crun run", crun_run(&under, off, argv)))
        .with(Contender::alternative("crun run, cgroup", crun_run(&under, managed, argv)))
        .with(Contender::alternative("crun exec", crun_exec(&under, off, argv)))
        .with(Contender::alternative("crun exec, cgroup", crun_exec(&under, managed, argv)))
        .with(Contender::alternative("podman exec", podman_exec(&under, argv)))
}

fn rate() -> Figure<'static> {
    let bash = || Argv::new(["bash", "-c", "true"]);
    let row = |threads| spawn_rate(bash(), threads, Until::Count(200));
    Figure::new("commands per second, `bash -c true`", Unit::Rate)
        .rounds(8)
        .warm_up(1)
        .with(Contender::floor("1 thread", row(1)))
        .with(Contender::alternative("2 threads", row(2)))
        .with(Contender::alternative("8 threads", row(8)))
}

fn output() -> Figure<'static> {
    let under = std::env::temp_dir();
    let copy = |block| pipe_to_file(256 << 20, block, &under);
    Figure::new("256 MiB of output to a file", Unit::Throughput)
        .rounds(8)
        .warm_up(1)
        .with(Contender::floor("64 KiB blocks", copy(64 << 10)))
        .with(Contender::alternative("256 KiB blocks", copy(256 << 10)))
}
