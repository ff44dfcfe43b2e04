//! `atoll bench`.
use clap::Args;
use std::process::ExitCode;
/// Measure.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}
pub(crate) fn run(_: &Arguments) -> ExitCode {
    ExitCode::SUCCESS
}
