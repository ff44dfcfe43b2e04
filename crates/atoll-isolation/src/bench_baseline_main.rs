//! The baseline program of the benchmark. See `atoll_isolation::bench_baseline`.

fn main() -> std::process::ExitCode {
    atoll_isolation::bench_baseline::run()
}
