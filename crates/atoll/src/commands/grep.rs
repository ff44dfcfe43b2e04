//! `atoll grep`: what is found in a sandbox's files.

use std::ffi::OsString;
use std::process::ExitCode;

use atoll_protocol::{
    Encoding, SearchCase, SearchDetail, SearchLine, SearchMatch, SearchRequest, SearchRole, SearchSyntax,
};
use clap::Args;

use crate::failure::Failure;
use crate::place::Inside;
use crate::settings::ServerArguments;
use crate::table::harmless;
use crate::{exit, printer};

/// Search the files of a sandbox for a pattern.
///
/// Ripgrep's engine: what .gitignore names, hidden files and binary files are left out. With --json every line that is
/// found is a line, and the last one is the summary. Exit code 1 if nothing is found.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll grep box 'fn main' src
  atoll grep box TODO -C 2 --glob '*.rs'
  atoll grep box password -i --hidden --no-ignore -l")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_name = "NAME")]
    sandbox: OsString,

    /// What to look for: a regular expression.
    pattern: String,

    /// Below this directory, or in this file; /workspace if not given.
    path: Option<String>,

    /// Capital letters do not matter.
    #[arg(short, long)]
    ignore_case: bool,

    /// The pattern is a text, no regular expression.
    #[arg(short = 'F', long)]
    fixed_strings: bool,

    /// Only whole words.
    #[arg(short, long)]
    word_regexp: bool,

    /// Only the names of files in which something is found.
    #[arg(short = 'l', long)]
    files_with_matches: bool,

    /// Only how many lines of each file match.
    #[arg(short, long, conflicts_with = "files_with_matches")]
    count: bool,

    /// Lines before each match.
    #[arg(short = 'B', long, value_name = "LINES", default_value_t = 0)]
    before: u32,

    /// Lines after each match.
    #[arg(short = 'A', long, value_name = "LINES", default_value_t = 0)]
    after: u32,

    /// Lines before and after each match.
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 0)]
    context: u32,

    /// Only files that match this glob; with ! before it, only those that do not.
    #[arg(short, long)]
    glob: Vec<String>,

    /// Hidden files, too.
    #[arg(long)]
    hidden: bool,

    /// What .gitignore and .ignore name, too.
    #[arg(long)]
    no_ignore: bool,

    /// The user to search as.
    #[arg(short, long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(search(arguments), as_json)
}

async fn search(arguments: Arguments) -> Result<u8, Failure> {
    let sandbox = Inside::parse(&arguments.sandbox)?;
    let client = arguments.server.inside(&sandbox.name)?;
    let mut stream = client.stream_search(&request(&arguments)).await?;
    let mut found = false;
    while let Some(line) = stream.next().await? {
        found |= !matches!(line, SearchLine::End(_));
        if arguments.server.json {
            printer::json(&line)?;
        } else {
            printer::out(&shown(&line, &arguments))?;
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

fn shown(line: &SearchLine, arguments: &Arguments) -> Vec<u8> {
    match line {
        SearchLine::Match(found) => shown_line(found),
        SearchLine::File(file) if arguments.count => {
            format!("{}:{}\n", harmless(&file.path), file.matches.unwrap_or(0)).into_bytes()
        }
        SearchLine::File(file) => format!("{}\n", harmless(&file.path)).into_bytes(),
        SearchLine::Binary(file) => format!("{}: binary file matches\n", harmless(&file.path)).into_bytes(),
        SearchLine::End(summary) => {
            if let Some(why) = summary.truncated {
                printer::warning(&format!("there may be more: {why:?}").to_lowercase());
            }
            if summary.troubles > 0 {
                printer::warning(&format!("{} files could not be searched", summary.troubles));
            }
            Vec::new()
        }
        SearchLine::Error(_) => Vec::new(),
    }
}

fn shown_line(found: &SearchMatch) -> Vec<u8> {
    let sign = if found.role == SearchRole::Match { ':' } else { '-' };
    let exact = found.text_base64.as_ref().and_then(|text| Encoding::Base64.decode(text));
    let bytes = exact.unwrap_or_else(|| found.text.as_bytes().to_vec());
    let mut out = Vec::new();
    for (index, line) in bytes.strip_suffix(b"\n").unwrap_or(&bytes).split(|&byte| byte == b'\n').enumerate() {
        let number = found.line + index as u64;
        out.extend_from_slice(format!("{}{sign}{number}{sign}", harmless(&found.path)).as_bytes());
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out
}
