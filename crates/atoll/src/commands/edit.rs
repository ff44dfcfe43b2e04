//! `atoll edit`: replaces exact text in a file of a sandbox, or applies a patch.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use atoll_client::PatchFiles;
use atoll_protocol::{EditRequest, EditText, Encoding, PatchOutcome, PatchedFile};
use clap::Args;

use crate::error::CliError;
use crate::path_arg::SandboxPath;
use crate::settings::ServerArguments;
use crate::table::sanitize;
use crate::{exit, printer};

/// Replace exact text in a file of a sandbox, or apply a patch below a directory.
///
/// The edit is atomic: it applies as a whole or not at all. The text must occur exactly once, unless you pass --all or
/// --count. A patch is a unified diff, or in the `*** Begin Patch` format.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll edit box:main.py --old 'print(1)' --new 'print(2)'
  atoll edit box:src/lib.rs --old foo --new bar --all
  git diff | atoll edit box:project --patch -
  atoll edit box:project --patch fix.diff --dry-run")]
pub(crate) struct Arguments {
    /// File to edit, or directory to patch.
    #[arg(value_name = "NAME:PATH")]
    path: OsString,

    /// Text to replace.
    #[arg(long, requires = "new", required_unless_present = "patch")]
    old: Option<String>,

    /// Replacement text.
    #[arg(long, requires = "old")]
    new: Option<String>,

    /// Replace every occurrence.
    #[arg(long, requires = "old")]
    all: bool,

    /// Replace every occurrence, and fail unless there are exactly this many.
    #[arg(long, requires = "old", conflicts_with = "all")]
    count: Option<u64>,

    /// Apply the patch in this file; - reads standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "old")]
    patch: Option<PathBuf>,

    /// Number of context lines of a patch that may differ.
    #[arg(long, default_value_t = 0, requires = "patch")]
    fuzz: u32,

    /// Strip this many leading components from the paths of a patch (1) [default: strip a/ and b/].
    #[arg(long, requires = "patch")]
    strip: Option<u32>,

    /// Check whether the patch applies, without changing files.
    #[arg(long, requires = "patch")]
    dry_run: bool,

    /// Edit only if the file's entity tag is this one, as `atoll edit --json` prints it.
    #[arg(long, value_name = "TAG", requires = "old")]
    if_match: Option<String>,

    /// Edit as this user of the sandbox.
    #[arg(short, long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(edit(arguments), as_json)
}

async fn edit(arguments: Arguments) -> Result<u8, CliError> {
    let target = SandboxPath::parse(&arguments.path)?;
    if let Some(file) = &arguments.patch {
        return patch(&arguments, &target, file).await;
    }
    let client = arguments.server.sandbox_client(&target.name)?;
    let edit = EditText {
        old: arguments.old.clone().unwrap_or_default(),
        new: arguments.new.clone().unwrap_or_default(),
        count: arguments.count,
        all: arguments.all,
    };
    let request = EditRequest {
        path_base64: Some(Encoding::Base64.encode(&target.path).0),
        edits: vec![edit],
        if_match: arguments.if_match.clone(),
        user: arguments.user.clone(),
        ..EditRequest::default()
    };
    let receipt = client.edit_file(&request).await?;
    if arguments.server.json {
        printer::json(&receipt)?;
    } else {
        let lines: Vec<String> = receipt.lines.concat().iter().map(ToString::to_string).collect();
        printer::out(format!("{}: changed line {}\n", target.display(), lines.join(", ")).as_bytes())?;
    }
    Ok(0)
}

async fn patch(arguments: &Arguments, target: &SandboxPath, file: &PathBuf) -> Result<u8, CliError> {
    let mut text = Vec::new();
    let read = if file.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut text)
    } else {
        std::fs::File::open(file).and_then(|mut open| open.read_to_end(&mut text))
    };
    read.map_err(|error| CliError::invalid(format!("cannot read {}: {error}", file.display())))?;
    let how = PatchFiles {
        fuzz: arguments.fuzz,
        strip: arguments.strip,
        dry_run: arguments.dry_run,
        user: arguments.user.clone(),
    };
    let receipt = arguments.server.sandbox_client(&target.name)?.patch_files(&target.path, text, &how).await?;
    if arguments.server.json {
        printer::json(&receipt)?;
    } else {
        let lines: String = receipt.files.iter().map(line).collect();
        printer::out(lines.as_bytes())?;
    }
    Ok(0)
}

fn line(file: &PatchedFile) -> String {
    let what = match file.outcome {
        PatchOutcome::Created => "created",
        PatchOutcome::Changed => "changed",
        PatchOutcome::Deleted => "deleted",
        PatchOutcome::Renamed => "renamed",
        PatchOutcome::Copied => "copied",
    };
    format!("{what} {} +{} -{}\n", sanitize(&file.path), file.added, file.removed)
}
