//! A process over a WebSocket: its output out, input and signals in.

use atoll_protocol::{
    AttachCommand, AttachEvent, Encoding, ErrorBody, ErrorCode, ProcessId, SignalReceipt, StdinPiece, StdinReceipt,
};
use atoll_runtime::Process;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket};
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use super::socket::{self, Outgoing, Upgrade};
use crate::agent::Agent;
use crate::command;
use crate::encode::Encoder;
use crate::error::{self, Refusal};
use crate::extract::{self, Params, ThisProcess};
use crate::follow::{Follow, Source, Told, Until};

/// Writes of one client that may wait for the process to read. One who sends more is told.
const WRITES_MAX: usize = 64;

/// Answers that may wait for the client to read.
const ANSWERS_MAX: usize = 64;

/// Where to begin, and how.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct View {
    /// From this cursor on.
    #[param(required = false)]
    since: u64,
    /// How bytes are put into JSON.
    encoding: Encoding,
}

/// Attach to a process over a WebSocket.
///
/// Text frames both ways, each an AttachCommand or an AttachEvent as JSON. After `end` the server closes. Leaving
/// changes nothing for the process.
#[utoipa::path(get, path = "/v1/processes/{id}/attach", tag = "processes", operation_id = "attachToProcess",
    params(("id" = ProcessId, Path), View),
    responses((status = 101, description = "The connection is a WebSocket from here on.")))]
pub(super) async fn attach(
    State(agent): State<Agent>,
    ThisProcess(process): ThisProcess,
    Params(view): Params<View>,
    asked: Upgrade,
) -> Result<Response, Refusal> {
    let (upgrade, place) = socket::upgrade(&agent, asked)?;
    Ok(upgrade.on_upgrade(async move |socket| {
        talk(socket, process, &view).await;
        drop(place);
    }))
}

async fn talk(socket: WebSocket, process: Process, view: &View) {
    let (mut outgoing, incoming) = socket.split();
    let (answers, answered) = mpsc::channel(ANSWERS_MAX);
    let (writes, written) = mpsc::channel(WRITES_MAX);
    let follow = Follow::new(Source::Process(process.clone()), view.since, Until::End);
    tokio::select! {
        _ = pass_output(&mut outgoing, follow, view.encoding, answered) => {}
        () = obey(incoming, &process, writes, answers.clone()) => {}
        () = write(written, &process, answers) => {}
    }
    socket::close(outgoing).await;
}

/// Output and answers to the client, until the end.
async fn pass_output(
    outgoing: &mut Outgoing,
    mut follow: Follow,
    encoding: Encoding,
    mut answered: mpsc::Receiver<AttachEvent>,
) -> Result<(), axum::Error> {
    let mut encoder = Encoder::new(encoding);
    loop {
        let told = tokio::select! {
            told = follow.next() => told,
            Some(answer) = answered.recv() => {
                socket::tell(outgoing, &answer).await?;
                continue;
            }
        };
        let Some(told) = told else { return Ok(()) };
        for event in events(&mut encoder, told) {
            socket::tell(outgoing, &event).await?;
        }
    }
}

fn events(encoder: &mut Encoder, told: Told) -> Vec<AttachEvent> {
    let held = |encoder: &mut Encoder| encoder.flush().map(AttachEvent::Output);
    match told {
        Told::Output(chunk) => encoder.push(chunk).map(AttachEvent::Output).collect(),
        Told::Gap(gap) => held(encoder).into_iter().chain([AttachEvent::Gap(gap)]).collect(),
        Told::End(end) => held(encoder).into_iter().chain([AttachEvent::End(end)]).collect(),
        Told::Failed(body) => held(encoder).into_iter().chain([AttachEvent::Error(body)]).collect(),
    }
}

/// What the client sends, until it goes. Input goes through a queue of its own: a signal must not wait for a process
/// that does not read.
async fn obey(
    mut incoming: SplitStream<WebSocket>,
    process: &Process,
    writes: mpsc::Sender<Input>,
    answers: mpsc::Sender<AttachEvent>,
) {
    while let Some(Ok(message)) = incoming.next().await {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => {
                drop(answers.send(refused("only text frames are read here")).await);
                continue;
            }
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Close(_) => return,
        };
        if let Some(answer) = one(text.as_bytes(), process, &writes).await {
            drop(answers.send(answer).await);
        }
    }
}

async fn one(text: &[u8], process: &Process, writes: &mpsc::Sender<Input>) -> Option<AttachEvent> {
    let input = match extract::parse(text) {
        Ok(AttachCommand::Signal(request)) => {
            let sent = process.signal(request.signal, command::scope(request.scope)).await;
            return Some(match sent {
                Ok(signalled) => AttachEvent::Signalled(SignalReceipt { signalled }),
                Err(error) => AttachEvent::Error(error::body(&error)),
            });
        }
        Ok(AttachCommand::Stdin(piece)) => Input::Piece(piece),
        Ok(AttachCommand::Close) => Input::Close,
        Err(refusal) => return Some(AttachEvent::Error(refusal.into_body())),
    };
    writes.try_send(input).err().map(|_| refused("too many writes wait for the process to read"))
}

#[derive(Debug)]
enum Input {
    Piece(StdinPiece),
    Close,
}

/// Input to the process, in order. Never ends by itself: a process that takes none still prints.
async fn write(mut written: mpsc::Receiver<Input>, process: &Process, answers: mpsc::Sender<AttachEvent>) {
    while let Some(input) = written.recv().await {
        let answer = match input {
            Input::Piece(piece) => Some(write_piece(process, piece).await),
            Input::Close => process.close_stdin().await.err().map(|error| AttachEvent::Error(error::body(&error))),
        };
        if let Some(answer) = answer {
            drop(answers.send(answer).await);
        }
    }
    std::future::pending().await
}

async fn write_piece(process: &Process, piece: StdinPiece) -> AttachEvent {
    let Some(bytes) = piece.encoding.decode(&piece.data) else {
        return refused("`data` is no base64");
    };
    match process.write_stdin(piece.offset, bytes.into()).await {
        Ok(next_offset) => AttachEvent::Written(StdinReceipt { next_offset }),
        Err(error) => AttachEvent::Error(error::body(&error)),
    }
}

fn refused(message: &str) -> AttachEvent {
    let message = message.to_owned();
    AttachEvent::Error(ErrorBody { code: ErrorCode::ValidationFailed, message, hint: None, details: None })
}
