//! The init program: PID 1 of a sandbox, and the keeper that cleans up after an agent. See `atoll_isolation::init`.

fn main() -> std::process::ExitCode {
    atoll_isolation::program::main()
}
