//! `atoll logs`: prints the output of a process, from any cursor on.

use std::process::ExitCode;

use atoll_client::{Client, FollowEvent, OutputRange, Until};
use atoll_protocol::{Encoding, OutputEvent, ProcessId, SandboxName};
use clap::Args;

use crate::error::CliError;
use crate::output::{Output, Piece};
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Print the output of a process: its stdout to stdout, its stderr to stderr.
///
/// With --json, prints one line for each chunk, with cursor, stream, time and base64 data.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll logs box build
  atoll logs box server -f
  atoll logs box server --since 4096 --json")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Id of the process, as `atoll ps` lists it.
    #[arg(value_parser = |text: &str| ProcessId::new(text))]
    id: ProcessId,

    /// Keep printing new output until the process and its descendants have closed it.
    #[arg(short, long)]
    follow: bool,

    /// Start at this cursor (0 is the first byte).
    #[arg(long, value_name = "CURSOR", default_value_t = 0)]
    since: u64,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(print(arguments), as_json)
}

async fn print(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.sandbox_client(&arguments.name)?;
    let sink = if arguments.server.json { Sink::Json } else { Sink::Streams(Output::start()) };
    if arguments.follow {
        follow(&client, &arguments, &sink).await?;
    } else {
        pages(&client, &arguments, &sink).await?;
    }
    if let Sink::Streams(output) = sink {
        output.finish().await?;
    }
    Ok(0)
}

/// The target of output.
#[derive(Debug)]
enum Sink {
    Streams(Output),
    Json,
}

impl Sink {
    /// Writes a chunk. Returns `false` if the output is closed.
    async fn write(&self, piece: Piece, event: Option<&OutputEvent>) -> Result<bool, CliError> {
        match self {
            Self::Streams(output) => Ok(output.send(piece).await),
            Self::Json => {
                event.map_or(Ok(()), printer::json)?;
                Ok(true)
            }
        }
    }
}

/// Prints the output so far.
async fn pages(client: &Client, arguments: &Arguments, sink: &Sink) -> Result<(), CliError> {
    let mut range = OutputRange { since: arguments.since, encoding: Encoding::Base64, ..OutputRange::default() };
    loop {
        let page = client.output(&arguments.id, &range).await?;
        for gap in &page.gaps {
            sink.write(Piece::Dropped(gap.to - gap.from), None).await?;
        }
        for event in &page.events {
            let bytes = event.encoding.decode(&event.data).unwrap_or_default();
            if !sink.write(Piece::Bytes(event.stream, bytes.into()), Some(event)).await? {
                return Ok(());
            }
        }
        if page.events.is_empty() || page.next_cursor == range.since {
            return Ok(());
        }
        range.since = page.next_cursor;
    }
}

async fn follow(client: &Client, arguments: &Arguments, sink: &Sink) -> Result<(), CliError> {
    let mut follow = client.follow(&arguments.id, arguments.since, Until::Closed);
    while let Some(event) = follow.next().await? {
        let written = match event {
            FollowEvent::Output(output) => {
                let event = OutputEvent {
                    cursor: output.cursor,
                    next_cursor: output.end(),
                    stream: output.stream,
                    data: Encoding::Base64.encode(&output.bytes).0,
                    encoding: Encoding::Base64,
                    replaced: false,
                    time: output.time,
                };
                sink.write(Piece::Bytes(output.stream, output.bytes), Some(&event)).await?
            }
            FollowEvent::Gap(gap) => sink.write(Piece::Dropped(gap.to - gap.from), None).await?,
            FollowEvent::End(_) => true,
        };
        if !written {
            return Ok(());
        }
    }
    Ok(())
}
