//! `atoll config`: shows the settings and the source of each.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::error::CliError;
use crate::settings::{ServerArguments, Setting, Settings};
use crate::table::table;
use crate::{exit, printer};

/// Show the settings and the source of each: server address, token file, directories.
///
/// A flag overrides a variable (ATOLL_SERVER, ATOLL_TOKEN_FILE, ATOLL_CA_FILE, ATOLL_HOME), a variable overrides the
/// settings file, the file overrides the default. The file has lines of `server = URL`, `token_file = PATH` and
/// `ca_file = PATH`. Does not contact the server.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll config
  ATOLL_SERVER=http://127.0.0.1:7070 atoll config --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Serialize)]
struct Line {
    name: &'static str,
    value: String,
    source: String,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::report(show(arguments), as_json)
}

fn show(arguments: &Arguments) -> Result<u8, CliError> {
    let settings = Settings::load(&arguments.server)?;
    let lines = lines(&settings);
    if arguments.server.json {
        printer::json(&lines)?;
    } else {
        let rows: Vec<_> = lines.into_iter().map(|line| vec![line.name.to_owned(), line.source, line.value]).collect();
        printer::out(table(&["NAME", "SOURCE", "VALUE"], &rows).as_bytes())?;
    }
    Ok(0)
}

fn lines(settings: &Settings) -> Vec<Line> {
    let file = Setting { value: settings.file.clone(), source: crate::settings::Source::Default };
    vec![
        line("server", settings.server.value.to_string(), &settings.server),
        line("token_file", settings.token_file.value.display().to_string(), &settings.token_file),
        line("ca_file", ca_file(settings), &settings.ca_file),
        line("state", settings.state.value.display().to_string(), &settings.state),
        line("cache", settings.cache.value.display().to_string(), &settings.cache),
        line("file", settings.file.display().to_string(), &file),
    ]
}

fn ca_file(settings: &Settings) -> String {
    settings
        .ca_file
        .value
        .as_ref()
        .map_or_else(|| "the system's certificates".to_owned(), |it| it.display().to_string())
}

fn line<T>(name: &'static str, value: String, setting: &Setting<T>) -> Line {
    Line { name, value, source: setting.source.to_string() }
}
