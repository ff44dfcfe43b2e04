//! Entry of the init executable: which of its roles it plays is told by its first argument.

use std::process::ExitCode;

use crate::{init, keeper};

/// The descriptor that the launcher leaves open for the role's socket.
pub const SOCKET: i32 = 3;

/// Runs the role named by the arguments.
pub fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None => init::run(),
        Some("keeper") => keeper::run(),
        Some(_) => ExitCode::FAILURE,
    }
}
