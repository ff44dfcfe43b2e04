//! `atoll grep`: searches the files of a sandbox.

use std::ffi::OsString;
use std::process::ExitCode;

use atoll_protocol::{
    Encoding, SearchCase, SearchDetail, SearchLine, SearchMatch, SearchRequest, SearchRole, SearchSyntax,
};
use clap::Args;

use crate::error::CliError;
use crate::path_arg::SandboxPath;
use crate::settings::ServerArguments;
use crate::table::sanitize;
use crate::{exit, printer};

/// Search the files of a sandbox for a pattern.
///
/// Uses ripgrep's engine: skips files named in .gitignore, hidden files and binary files. With --json, prints one line
/// for each match and a summary as the last line. Exits with 1 if nothing matches.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll grep box 'fn main' src
  atoll grep box TODO -C 2 --glob '*.rs'
  atoll grep box password -i --hidden --no-ignore -l")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_name = "NAME")]
    sandbox: OsString,

    /// Regular expression to search for.
    pattern: String,

    /// Search this file, or below this directory [default: /workspace].
    path: Option<String>,

    /// Ignore case.
    #[arg(short, long)]
    ignore_case: bool,

    /// Treat the pattern as literal text.
    #[arg(short = 'F', long)]
    fixed_strings: bool,

    /// Match whole words only.
    #[arg(short, long)]
    word_regexp: bool,

    /// Print only the names of files with matches.
    #[arg(short = 'l', long)]
    files_with_matches: bool,

    /// Print only the number of matching lines of each file.
    #[arg(short, long, conflicts_with = "files_with_matches")]
    count: bool,

    /// Print this many lines before each match.
    #[arg(short = 'B', long, value_name = "LINES", default_value_t = 0)]
    before: u32,

    /// Print this many lines after each match.
    #[arg(short = 'A', long, value_name = "LINES", default_value_t = 0)]
    after: u32,

    /// Print this many lines before and after each match.
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 0)]
    context: u32,

    /// Search only files that match this glob ('*.rs'), or with ! that do not ('!*.lock'). Repeatable.
    #[arg(short, long)]
    glob: Vec<String>,

    /// Search hidden files too.
    #[arg(long)]
    hidden: bool,

    /// Search files named in .gitignore and .ignore too.
    #[arg(long)]
    no_ignore: bool,

    /// Search as this user of the sandbox.
    #[arg(short, long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(search(arguments), as_json)
}

async fn search(arguments: Arguments) -> Result<u8, CliError> {
    let sandbox = SandboxPath::parse(&arguments.sandbox)?;
    let client = arguments.server.sandbox_client(&sandbox.name)?;
    let mut stream = client.stream_search(&request(&arguments)).await?;
    let mut found = false;
    while let Some(line) = stream.next().await? {
        found |= !matches!(line, SearchLine::End(_));
        if arguments.server.json {
            printer::json(&line)?;
        } else {
            printer::out(&format_line(&line, &arguments))?;
        }
    }
    Ok(u8::from(!found))
}

fn request(arguments: &Arguments) -> SearchRequest {
    let (exclude, include): (Vec<_>, Vec<_>) = arguments.glob.iter().partition(|glob| glob.starts_with('!'));
    SearchRequest {
        path: Some(arguments.path.clone().unwrap_or_else(|| ".".to_owned())),
        pattern: arguments.pattern.clone(),
        syntax: if arguments.fixed_strings { SearchSyntax::Fixed } else { SearchSyntax::Regex },
        case: if arguments.ignore_case { SearchCase::Insensitive } else { SearchCase::Sensitive },
        words: arguments.word_regexp,
        include: include.into_iter().cloned().collect(),
        exclude: exclude.into_iter().map(|glob| glob.trim_start_matches('!').to_owned()).collect(),
        hidden: arguments.hidden,
        ignored: arguments.no_ignore,
        detail: match (arguments.files_with_matches, arguments.count) {
            (true, _) => SearchDetail::Files,
            (false, true) => SearchDetail::Counts,
            (false, false) => SearchDetail::Lines,
        },
        before: arguments.before.max(arguments.context),
        after: arguments.after.max(arguments.context),
        max_matches: Some(u64::MAX),
        max_bytes: Some(u64::MAX),
        user: arguments.user.clone(),
        ..SearchRequest::default()
    }
}

fn format_line(line: &SearchLine, arguments: &Arguments) -> Vec<u8> {
    match line {
        SearchLine::Match(found) => format_match(found),
        SearchLine::File(file) if arguments.count => {
            format!("{}:{}\n", sanitize(&file.path), file.matches.unwrap_or(0)).into_bytes()
        }
        SearchLine::File(file) => format!("{}\n", sanitize(&file.path)).into_bytes(),
        SearchLine::Binary(file) => format!("{}: binary file matches\n", sanitize(&file.path)).into_bytes(),
        SearchLine::End(summary) => {
            if let Some(why) = summary.truncated {
                printer::warning(&format!("the results are incomplete: {why:?}").to_lowercase());
            }
            if summary.troubles > 0 {
                printer::warning(&format!("{} files could not be searched", summary.troubles));
            }
            Vec::new()
        }
        SearchLine::Error(_) => Vec::new(),
    }
}

fn format_match(found: &SearchMatch) -> Vec<u8> {
    let separator = if found.role == SearchRole::Match { ':' } else { '-' };
    let exact = found.text_base64.as_ref().and_then(|text| Encoding::Base64.decode(text));
    let bytes = exact.unwrap_or_else(|| found.text.as_bytes().to_vec());
    let mut out = Vec::new();
    for (index, line) in bytes.strip_suffix(b"\n").unwrap_or(&bytes).split(|&byte| byte == b'\n').enumerate() {
        let number = found.line + index as u64;
        out.extend_from_slice(format!("{}{separator}{number}{separator}", sanitize(&found.path)).as_bytes());
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out
}
