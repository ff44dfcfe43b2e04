//! A command for a server as people type it, and the request that it becomes. Shared by `exec` and `session exec`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use atoll_client::Client;
use atoll_client::Until;
use atoll_protocol::{Encoding, ErrorCode, ExecRequest, ProcessId, SessionId, StartRequest, StdinMode};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::following::{self, Asked, Source};
use crate::interrupts::Interrupts;
use crate::options::CommandArguments;
use crate::{exit, local, parse, printer};

/// Standard input goes to the server in pieces of this size, each a request.
const STDIN_PIECE: usize = 256 * 1024;

/// The most that is sent with a request: the server takes 16 MiB of JSON, and base64 makes four bytes of three.
const STDIN_MAX: usize = 11 * 1024 * 1024;

/// How the result is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// Output is passed on as it comes.
    Live,
    /// The whole result at once.
    Json,
}

impl Telling {
    pub(crate) fn new(as_json: bool) -> Self {
        if as_json { Self::Json } else { Self::Live }
    }
}

/// Runs a command in a sandbox, or in one of its sessions, and gives its code.
pub(crate) async fn run(
    client: Client,
    session: Option<SessionId>,
    arguments: CommandArguments,
    telling: Telling,
) -> Result<u8, Failure> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut interrupts = Interrupts::new(&kinds)?;
    let (grace, pass_stdin) = (arguments.grace, arguments.stdin);
    let request = request(arguments)?;
    match (telling, pass_stdin) {
        (Telling::Json, _) => whole(client, session, request, pass_stdin, grace, &mut interrupts).await,
        (Telling::Live, false) => {
            let stream = match &session {
                None => client.exec_stream(request)?,
                Some(session) => client.session_exec_stream(session, request)?,
            };
            let asked = Asked { client, id: stream.id().clone(), grace };
            let code = following::follow(Source::Exec(Box::new(stream)), &asked, &mut interrupts).await;
            asked.forget().await;
            code
        }
        (Telling::Live, true) => fed(client, session, request, grace, &mut interrupts).await,
    }
}

/// Starts a command that goes on by itself, and tells its id.
pub(crate) async fn start(
    client: &Client,
    id: Option<ProcessId>,
    arguments: CommandArguments,
    telling: Telling,
) -> Result<u8, Failure> {
    let request = StartRequest { id, ..as_process(request(arguments)?) };
    let started = client.start(&request).await?;
    match telling {
        Telling::Json => printer::json(&started).map_err(Failure::Printing)?,
        Telling::Live => printer::out(format!("{}\n", started.id).as_bytes()).map_err(Failure::Printing)?,
    }
    Ok(0)
}

/// With our standard input: a process that is written to.
async fn fed(
    client: Client,
    session: Option<SessionId>,
    request: ExecRequest,
    grace: Option<Duration>,
    interrupts: &mut Interrupts,
) -> Result<u8, Failure> {
    let request = StartRequest { stdin: StdinMode::Pipe, ..as_process(request) };
    let info = match &session {
        None => client.start(&request).await?,
        Some(session) => client.session_queue(session, &request).await?,
    };
    let follow = client.follow(&info.id, 0, Until::End);
    feed(client.clone(), info.id.clone(), local::input(STDIN_PIECE));
    let asked = Asked { client, id: info.id, grace };
    let code = following::follow(Source::Follow(Box::new(follow)), &asked, interrupts).await;
    asked.forget().await;
    code
}

fn feed(client: Client, id: ProcessId, mut input: mpsc::Receiver<bytes::Bytes>) {
    tokio::spawn(async move {
        let mut offset = 0;
        while let Some(bytes) = input.recv().await {
            match client.write_stdin(&id, offset, bytes).await {
                Ok(next) => offset = next,
                // It has ended without reading on; its end is told by another way.
                Err(_) => return,
            }
        }
        drop(client.close_stdin(&id).await);
    });
}

/// Answered as one piece of JSON.
async fn whole(
    client: Client,
    session: Option<SessionId>,
    mut request: ExecRequest,
    pass_stdin: bool,
    grace: Option<Duration>,
    interrupts: &mut Interrupts,
) -> Result<u8, Failure> {
    if pass_stdin {
        request.stdin_base64 = Some(Encoding::Base64.encode(&all_input().await?).0);
    }
    let id = Client::new_process_id()?;
    request.id = Some(id.clone());
    let asked = Asked { client: client.clone(), id, grace };
    let exec = async {
        match &session {
            None => client.exec(&request).await,
            Some(session) => client.session_exec(session, &request).await,
        }
    };
    tokio::pin!(exec);
    let (result, interrupted) = tokio::select! {
        result = &mut exec => (result, None),
        number = interrupts.next() => {
            asked.end(asked.grace).await;
            (exec.await, Some(number))
        }
    };
    let result = match (result, interrupted) {
        // It was still waiting for its turn.
        (Err(error), Some(number)) if error.code() == Some(ErrorCode::CommandCancelled) => return Ok(128 + number),
        (result, _) => result?,
    };
    asked.forget().await;
    printer::json(&result)?;
    Ok(interrupted.map_or_else(|| exit::of_end(&result.end), |number| 128 + number))
}

async fn all_input() -> Result<Vec<u8>, Failure> {
    let mut input = local::input(STDIN_PIECE);
    let mut all = Vec::new();
    while let Some(bytes) = input.recv().await {
        all.extend_from_slice(&bytes);
        if all.len() > STDIN_MAX {
            let most = STDIN_MAX / 1024 / 1024;
            return Err(Failure::invalid(format!("with --json at most {most} MiB of input can be passed on")));
        }
    }
    Ok(all)
}

fn request(arguments: CommandArguments) -> Result<ExecRequest, Failure> {
    let CommandArguments { place, timeout, idle_timeout, grace, max_output, only, encoding, command, .. } = arguments;
    let request = match words(command)? {
        Words::Shell(text) => ExecRequest::shell(text),
        Words::Argv(argv) => ExecRequest::argv(argv),
    };
    Ok(ExecRequest {
        cwd: place.cwd.map(|cwd| text(cwd.into_os_string())).transpose()?,
        env: variables(place.env)?,
        user: place.user,
        timeout_ms: timeout.map(millis),
        idle_timeout_ms: idle_timeout.map(millis),
        max_output_bytes: max_output,
        network: parse::only_rules(only),
        grace_ms: grace.map(millis),
        encoding: encoding.into(),
        ..request
    })
}

fn as_process(request: ExecRequest) -> StartRequest {
    StartRequest {
        command: request.command,
        argv: request.argv,
        cwd: request.cwd,
        env: request.env,
        user: request.user,
        timeout_ms: request.timeout_ms,
        idle_timeout_ms: request.idle_timeout_ms,
        max_output_bytes: request.max_output_bytes,
        network: request.network,
        grace_ms: request.grace_ms,
        ..StartRequest::default()
    }
}

/// What comes after `--`.
#[derive(Debug)]
pub(crate) enum Words {
    /// One word is a shell string.
    Shell(String),
    /// Several are a program and its arguments.
    Argv(Vec<String>),
}

pub(crate) fn words(given: Vec<OsString>) -> Result<Words, Failure> {
    let mut words = given.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
    Ok(if words.len() == 1 { Words::Shell(words.remove(0)) } else { Words::Argv(words) })
}

pub(crate) fn variables(given: Vec<(OsString, Option<OsString>)>) -> Result<BTreeMap<String, Option<String>>, Failure> {
    given.into_iter().map(|(name, value)| Ok((text(name)?, value.map(text).transpose()?))).collect()
}

/// The protocol is JSON, which has no other bytes than text.
pub(crate) fn text(given: OsString) -> Result<String, Failure> {
    given.into_string().map_err(|given| {
        Failure::invalid(format!("`{}` is no UTF-8, and cannot be sent", given.to_string_lossy().escape_debug()))
    })
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
