//! `atoll cat`: prints files of a sandbox.

use std::ffi::OsString;
use std::process::ExitCode;

use atoll_client::ReadFile;
use clap::Args;

use crate::error::CliError;
use crate::path_arg::SandboxPath;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Print files of a sandbox.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll cat box:/etc/hostname
  atoll cat box:big.log --offset 1000000 --length 4096")]
pub(crate) struct Arguments {
    /// Files to print.
    #[arg(value_name = "NAME:PATH", required = true)]
    files: Vec<OsString>,

    /// Start at this byte (0 is the first).
    #[arg(long, value_name = "BYTE")]
    offset: Option<u64>,

    /// Print at most this many bytes.
    #[arg(long, value_name = "BYTES", requires = "offset")]
    length: Option<u64>,

    /// Read as this user of the sandbox.
    #[arg(short, long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(print(arguments), as_json)
}

async fn print(arguments: Arguments) -> Result<u8, CliError> {
    for typed in &arguments.files {
        let file = SandboxPath::parse(typed)?;
        let client = arguments.server.sandbox_client(&file.name)?;
        let how = ReadFile {
            offset: arguments.offset,
            length: arguments.length,
            user: arguments.user.clone(),
            ..ReadFile::default()
        };
        let mut bytes = client.read_file(&file.path, &how).await?;
        while let Some(piece) = bytes.next().await? {
            printer::out(&piece)?;
        }
    }
    Ok(0)
}
