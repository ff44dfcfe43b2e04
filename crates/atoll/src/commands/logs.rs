//! `atoll logs`: what a process printed, from any position on.

use std::process::ExitCode;

use atoll_client::{Client, FollowEvent, OutputRange, Until};
use atoll_protocol::{Encoding, OutputEvent, ProcessId, SandboxName};
use clap::Args;

use crate::failure::Failure;
use crate::output::{Output, Piece};
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Print what a process printed: standard output and standard error each to our own.
///
/// With --json every piece is a line, with its cursor, stream and time, in base64.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll logs box build
  atoll logs box server -f
  atoll logs box server --since 4096 --json")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// The process.
    #[arg(value_parser = |text: &str| ProcessId::new(text))]
    id: ProcessId,

    /// Go on with what it prints, until nothing is left that could print.
    #[arg(short, long)]
    follow: bool,

    /// From this position on.
    #[arg(long, value_name = "CURSOR", default_value_t = 0)]
    since: u64,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(print(arguments), as_json)
}

async fn print(arguments: Arguments) -> Result<u8, Failure> {
    let client = arguments.server.inside(&arguments.name)?;
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

/// Where output goes.
#[derive(Debug)]
enum Sink {
    Streams(Output),
    Json,
}

impl Sink {
    /// `false` when nobody takes anything any more.
    async fn take(&self, piece: Piece, event: Option<&OutputEvent>) -> Result<bool, Failure> {
        match self {
            Self::Streams(output) => Ok(output.hand(piece).await),
            Self::Json => {
                event.map_or(Ok(()), printer::json)?;
                Ok(true)
            }
        }
    }
}

/// What there is now.
async fn pages(client: &Client, arguments: &Arguments, sink: &Sink) -> Result<(), Failure> {
    let mut range = OutputRange { since: arguments.since, encoding: Encoding::Base64, ..OutputRange::default() };
    loop {
        let page = client.output(&arguments.id, &range).await?;
        for gap in &page.gaps {
            sink.take(Piece::Dropped(gap.to - gap.from), None).await?;
        }
        for event in &page.events {
            let bytes = event.encoding.decode(&event.data).unwrap_or_default();
            if !sink.take(Piece::Bytes(event.stream, bytes.into()), Some(event)).await? {
                return Ok(());
            }
        }
        if page.events.is_empty() || page.next_cursor == range.since {
            return Ok(());
        }
        range.since = page.next_cursor;
    }
}

async fn follow(client: &Client, arguments: &Arguments, sink: &Sink) -> Result<(), Failure> {
    let mut follow = client.follow(&arguments.id, arguments.since, Until::Closed);
    while let Some(event) = follow.next().await? {
        let taken = match event {
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
                sink.take(Piece::Bytes(output.stream, output.bytes), Some(&event)).await?
            }
            FollowEvent::Gap(gap) => sink.take(Piece::Dropped(gap.to - gap.from), None).await?,
            FollowEvent::End(_) => true,
        };
        if !taken {
            return Ok(());
        }
    }
    Ok(())
}
