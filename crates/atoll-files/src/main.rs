//! The worker: serves requests about files, inside the wall, as the user that it was started as.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The socket to the agent is its standard input: it has no other use for one.
    let served =
        rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(std::io::Error::from).and_then(|control| {
            // What it was executed from, and its first name of the socket, are of no more use.
            atoll_isolation::sys::identity::not_dumpable()?;
            atoll_files::serve::serve(&control)
        });
    if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
