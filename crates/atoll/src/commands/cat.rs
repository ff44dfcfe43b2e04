//! `atoll cat`: the content of a sandbox's files.

use std::ffi::OsString;
use std::process::ExitCode;

use atoll_client::ReadFile;
use clap::Args;

use crate::failure::Failure;
use crate::place::Inside;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Print files of a sandbox, as they are.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll cat box:/etc/hostname
  atoll cat box:big.log --offset 1000000 --length 4096")]
pub(crate) struct Arguments {
    /// The files.
    #[arg(value_name = "NAME:PATH", required = true)]
    files: Vec<OsString>,

    /// From this byte on.
    #[arg(long, value_name = "BYTE")]
    offset: Option<u64>,

    /// At most so many bytes.
    #[arg(long, value_name = "BYTES", requires = "offset")]
    length: Option<u64>,

    /// The user to read as.
    #[arg(short, long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(print(arguments), as_json)
}

async fn print(arguments: Arguments) -> Result<u8, Failure> {
    for typed in &arguments.files {
        let file = Inside::parse(typed)?;
        let client = arguments.server.inside(&file.name)?;
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
