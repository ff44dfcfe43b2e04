//! `atoll ls-files`: lists a directory of a sandbox.

use std::ffi::OsString;
use std::process::ExitCode;

use atoll_client::ListFiles;
use atoll_protocol::{FileInfo, FileKind};
use clap::Args;

use crate::error::CliError;
use crate::path_arg::SandboxPath;
use crate::settings::ServerArguments;
use crate::table::sanitize;
use crate::{exit, printer};

/// List a directory of a sandbox, sorted by name.
///
/// With --json, prints one line for each entry.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll ls-files box
  atoll ls-files box:/etc -l
  atoll ls-files box:project -r --json | jq -r 'select(.kind == \"file\").path'")]
pub(crate) struct Arguments {
    /// Directory to list; the name alone lists /workspace.
    #[arg(value_name = "NAME[:PATH]")]
    directory: OsString,

    /// Print kind, mode, owner, size and time.
    #[arg(short, long)]
    long: bool,

    /// Include names that start with a dot.
    #[arg(short, long)]
    all: bool,

    /// List subdirectories recursively.
    #[arg(short, long)]
    recursive: bool,

    /// List as this user of the sandbox.
    #[arg(short, long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(list(arguments), as_json)
}

async fn list(arguments: Arguments) -> Result<u8, CliError> {
    let directory = SandboxPath::parse(&arguments.directory)?;
    let client = arguments.server.sandbox_client(&directory.name)?;
    let what = ListFiles {
        depth: if arguments.recursive { 256 } else { 1 },
        hidden: arguments.all,
        user: arguments.user.clone(),
        ..ListFiles::default()
    };
    let mut entries = client.stream_files(&directory.path, &what).await?;
    while let Some(entry) = entries.next().await? {
        if arguments.server.json {
            printer::json(&entry)?;
        } else {
            printer::out(line(&entry, arguments.long).as_bytes())?;
        }
    }
    let unreadable = entries.end().map_or(0, |end| end.unreadable);
    if unreadable > 0 {
        printer::warning(&format!("{unreadable} directories could not be read"));
    }
    Ok(0)
}

fn line(entry: &FileInfo, long: bool) -> String {
    let name = sanitize(&entry.path);
    if !long {
        let slash = if entry.kind == FileKind::Directory { "/" } else { "" };
        return format!("{name}{slash}\n");
    }
    let target = entry.target.as_ref().map(|target| format!(" -> {}", sanitize(target))).unwrap_or_default();
    let (owner, size) = (format!("{}:{}", entry.uid, entry.gid), entry.size);
    format!("{} {} {owner:<11} {size:>12} {} {name}{target}\n", letter(entry.kind), entry.mode, entry.modified)
}

fn letter(kind: FileKind) -> char {
    match kind {
        FileKind::File => '-',
        FileKind::Directory => 'd',
        FileKind::Symlink => 'l',
        FileKind::Fifo => 'p',
        FileKind::Socket => 's',
        FileKind::CharacterDevice => 'c',
        FileKind::BlockDevice => 'b',
    }
}
