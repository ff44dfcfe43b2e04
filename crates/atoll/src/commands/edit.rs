//! `atoll edit`: exact replacements in a file of a sandbox, or a patch over many.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use atoll_client::PatchFiles;
use atoll_protocol::{EditRequest, EditText, Encoding, PatchOutcome, PatchedFile};
use clap::Args;

use crate::failure::Failure;
use crate::place::Inside;
use crate::settings::ServerArguments;
use crate::table::harmless;
use crate::{exit, printer};

/// Replace an exact text in a file of a sandbox, or apply a patch below a directory.
///
/// Everything fits and is done, or nothing is. A text must be there once, unless told otherwise. A patch is a unified
/// diff, or in the form `*** Begin Patch`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll edit box:main.py --old 'print(1)' --new 'print(2)'
  atoll edit box:src/lib.rs --old foo --new bar --all
  git diff | atoll edit box:project --patch -
  atoll edit box:project --patch fix.diff --dry-run")]
pub(crate) struct Arguments {
    /// The file; for a patch the directory.
    #[arg(value_name = "NAME:PATH")]
    place: OsString,

    /// The text that is there.
    #[arg(long, requires = "new", required_unless_present = "patch")]
    old: Option<String>,

    /// What takes its place.
    #[arg(long, requires = "old")]
    new: Option<String>,

    /// It is there any number of times; each is replaced.
    #[arg(long, requires = "old")]
    all: bool,

    /// It is there so often; each is replaced.
    #[arg(long, requires = "old", conflicts_with = "all")]
    count: Option<u64>,

    /// A file with a patch; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "old")]
    patch: Option<PathBuf>,

    /// Lines of context of a patch that need not fit.
    #[arg(long, default_value_t = 0, requires = "patch")]
    fuzz: u32,

    /// Leading names of a patch's paths that are dropped [default: a/ and b/].
    #[arg(long, requires = "patch")]
    strip: Option<u32>,

    /// Only look whether a patch fits.
    #[arg(long, requires = "patch")]
    dry_run: bool,

    /// Only if the file is in the state with this tag.
    #[arg(long, value_name = "TAG", requires = "old")]
    if_match: Option<String>,

    /// The user to edit as.
    #[arg(short, long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(edit(arguments), as_json)
}

async fn edit(arguments: Arguments) -> Result<u8, Failure> {
    let place = Inside::parse(&arguments.place)?;
    if let Some(file) = &arguments.patch {
        return patch(&arguments, &place, file).await;
    }
    let client = arguments.server.inside(&place.name)?;
    let edit = EditText {
        old: arguments.old.clone().unwrap_or_default(),
        new: arguments.new.clone().unwrap_or_default(),
        count: arguments.count,
        all: arguments.all,
    };
    let request = EditRequest {
        path_base64: Some(Encoding::Base64.encode(&place.path).0),
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
        printer::out(format!("{}: changed line {}\n", place.shown(), lines.join(", ")).as_bytes())?;
    }
    Ok(0)
}

async fn patch(arguments: &Arguments, place: &Inside, file: &PathBuf) -> Result<u8, Failure> {
    let mut text = Vec::new();
    let read = if file.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut text)
    } else {
        std::fs::File::open(file).and_then(|mut open| open.read_to_end(&mut text))
    };
    read.map_err(|error| Failure::invalid(format!("{}: {error}", file.display())))?;
    let how = PatchFiles {
        fuzz: arguments.fuzz,
        strip: arguments.strip,
        dry_run: arguments.dry_run,
        user: arguments.user.clone(),
    };
    let receipt = arguments.server.inside(&place.name)?.patch_files(&place.path, text, &how).await?;
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
    format!("{what} {} +{} -{}\n", harmless(&file.path), file.added, file.removed)
}
