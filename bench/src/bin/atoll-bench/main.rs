//! `atoll-bench`: measures Atoll on this machine, each figure beside a floor measured in the same run.
//!
//! This program decides what is measured: [`library`] and [`server`] build the figures. The library of this crate
//! decides how: turns, quantiles, noise, verdicts, records and comparisons.

mod history;
mod library;
mod program;
mod server;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use atoll_bench::{BenchError, Figure, Machine, Plan, Record, Report, Verdict};
use clap::Parser;
use tokio::runtime::Runtime;

use self::library::Library;
use self::server::{Server, figures_of};

/// Measure Atoll on this machine, each figure beside a floor measured in the same run.
///
/// The contenders of a figure take turns, so that other load on the machine affects all of them alike. A verdict is
/// given only if the noise seen cannot change it.
#[derive(Debug, Parser)]
#[command(name = "atoll-bench", version, max_term_width = 100)]
#[command(after_help = "Examples:
  atoll-bench
  atoll-bench --only exec --rounds 200
  atoll-bench --json > figures.json
  atoll-bench --record
  atoll-bench --compare bench/history/2026-11-16-1a2b3c4.json --margin 10

Exit codes:
  0  every target was met, or was too noisy to judge
  1  a target was missed, or a figure is worse than in the record of --compare
  2  a bad option, or the benchmark could not run")]
struct Arguments {
    /// Measure only figures whose name contains TEXT.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Number of rounds of the quick figures; slower figures run a fixed fraction of it.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(6..=100_000))]
    rounds: u32,

    /// Leave out the alternatives (bwrap, crun, podman).
    #[arg(long)]
    no_alternatives: bool,

    /// Print JSON with all quantiles and samples.
    #[arg(long)]
    json: bool,

    /// Write the figures to bench/history/DATE-COMMIT.json.
    #[arg(long)]
    record: bool,

    /// Print each figure beside the earlier record FILE; exit with 1 if one is worse by more than --margin.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,

    /// How much worse than the record a figure may be, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 15, value_parser = clap::value_parser!(u8).range(1..=100))]
    margin: u8,

    /// The atoll executable that server figures start [default: `atoll` beside this program].
    #[arg(long, value_name = "PATH")]
    atoll: Option<PathBuf>,
}

/// A figure that is not built yet.
type Lazy<'a> = Box<dyn FnOnce() -> Result<Figure<'a>, BenchError> + 'a>;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // There is no other place to report that standard error is closed.
            writeln!(io::stderr(), "error: {}", error.in_one_line()).ok();
            ExitCode::from(2)
        }
    }
}

/// Returns false if a target was missed or a figure got worse.
fn run(arguments: &Arguments) -> Result<bool, BenchError> {
    // Files first: a bad path must not be found after minutes of measuring.
    let earlier = arguments.compare.as_deref().map(history::read).transpose()?;
    let target = arguments.record.then(history::Target::new).transpose()?;
    let report = measure(arguments)?;
    let mut out = io::stdout().lock();
    if arguments.json { report.write_json(&mut out) } else { report.write_table(&mut out) }?;
    out.flush().map_err(BenchError::contender)?;
    if let Some(target) = target {
        let path = target.write(&report)?;
        writeln!(io::stderr(), "recorded in {}", path.display()).map_err(BenchError::contender)?;
    }
    let worse = earlier.map_or(Ok(false), |earlier| compare(arguments, &earlier, &report, &mut out))?;
    Ok(!worse && !report.verdicts().any(|verdict| matches!(verdict, Verdict::Missed)))
}

/// Prints the comparison. Returns whether a figure is worse than allowed.
fn compare(arguments: &Arguments, earlier: &Record, report: &Report, out: &mut impl Write) -> Result<bool, BenchError> {
    let compared =
        atoll_bench::compare(earlier, report, f64::from(arguments.margin) / 100.0, |name| arguments.selects(name));
    // With --json, standard output is for the report alone.
    if arguments.json { compared.write_table(&mut io::stderr()) } else { compared.write_table(out) }?;
    Ok(compared.is_worse())
}

fn measure(arguments: &Arguments) -> Result<Report, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(BenchError::contender)?;
    let served = server::NAMES.iter().any(|name| arguments.selects(name));
    let program = served.then(|| program::find(arguments.atoll.as_deref())).transpose()?;
    let library = runtime.block_on(Library::new(arguments.rounds, !arguments.no_alternatives))?;
    let server = program.as_deref().map(|program| Server::start(program, &library.home, "shared", &[])).transpose()?;
    let report = measure_with(arguments, &runtime, &library, server.as_ref());
    if let Some(server) = server {
        server.end(&runtime)?;
    }
    runtime.block_on(library.sandbox.destroy()).map_err(BenchError::contender)?;
    report
}

fn measure_with(
    arguments: &Arguments,
    runtime: &Runtime,
    library: &Library,
    server: Option<&Server>,
) -> Result<Report, BenchError> {
    let served = server.map(|server| server::Figures::new(library, runtime, server)).transpose()?;
    let mut plan = Plan::new();
    for (name, figure) in library.figures(runtime).into_iter().chain(served.iter().flat_map(figures_of)) {
        if arguments.selects(name) {
            plan = plan.with(figure()?);
        }
    }
    atoll_bench::run(plan, Machine::observe(), &mut io::stderr())
}

impl Arguments {
    fn selects(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn only_selects_figures_by_a_part_of_their_name() {
        let arguments = Arguments::parse_from(["atoll-bench", "--only", "exec"]);
        assert!(arguments.selects("exec: true"));
        assert!(arguments.selects("server: exec true"));
        assert!(!arguments.selects("session: true"));
        assert!(Arguments::parse_from(["atoll-bench"]).selects("session: true"));
    }
}
