//! `atoll doctor`: what this host can do, and why not more.

use std::process::ExitCode;

use clap::Args;

/// Show what this host can do, and why not more.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> ExitCode {
    ExitCode::SUCCESS
}
