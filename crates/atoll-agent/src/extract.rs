//! Taking requests apart. Whatever is wrong with one is told in the one error shape, with the name of the field.

use atoll_protocol::{ErrorCode, InvalidId, ProcessId, SessionId, Strict, TerminalId};
use atoll_runtime::{Error, Process, Session, Terminal};
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use bytes::{Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::agent::Agent;
use crate::error::Refusal;

/// Largest JSON body: a command with 12 MiB of standard input as base64. More is written to the process in a stream.
const BODY_MAX: usize = 16 * 1024 * 1024;

/// A JSON body.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Json<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        parse(&read(request).await?).map(Self)
    }
}

/// A JSON body that may be left out.
#[derive(Debug)]
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Default, S: Sync> FromRequest<S> for OptionalJson<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        let bytes = read(request).await?;
        if bytes.is_empty() { Ok(Self(T::default())) } else { parse(&bytes).map(Self) }
    }
}

async fn read(request: Request) -> Result<Bytes, Refusal> {
    let (parts, body) = request.into_parts();
    check_type(&parts)?;
    let collected = Limited::new(body, BODY_MAX).collect().await;
    collected.map(http_body_util::Collected::to_bytes).map_err(|error| {
        if error.is::<LengthLimitError>() {
            let message = format!("the body is larger than {} MiB", BODY_MAX / 1024 / 1024);
            return Refusal::new(ErrorCode::BodyTooLarge, message)
                .hint("start a process with `stdin: pipe` and write large input to it");
        }
        Refusal::invalid(format!("the body broke off: {error}"))
    })
}

/// No type at all is taken for JSON; another one is a mistake.
fn check_type(parts: &Parts) -> Result<(), Refusal> {
    let Some(given) = parts.headers.get(CONTENT_TYPE) else { return Ok(()) };
    let given = given.to_str().unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = format!("the body is `{given}`, not application/json");
    Err(Refusal::new(ErrorCode::UnsupportedMediaType, message).hint("send `content-type: application/json`"))
}

/// A text as JSON, with the place of what is wrong with it.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value: T = serde_path_to_error::deserialize(Strict(&mut json)).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.inner();
        match inner.classify() {
            serde_json::error::Category::Data if path != "." => Refusal::invalid(format!("{path}: {inner}")),
            serde_json::error::Category::Data => Refusal::invalid(inner.to_string()),
            serde_json::error::Category::Io
            | serde_json::error::Category::Syntax
            | serde_json::error::Category::Eof => Refusal::invalid(format!("the body is no JSON: {inner}")),
        }
    })?;
    json.end().map_err(|error| Refusal::invalid(format!("the body is no JSON: {error}")))?;
    Ok(value)
}

/// The parameters behind the `?`.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
        serde_path_to_error::deserialize(pairs).map(Self).map_err(|error| {
            let path = error.path().to_string();
            let place = if path == "." { String::new() } else { format!("{path}: ") };
            Refusal::invalid(format!("query: {place}{}", error.inner()))
        })
    }
}

/// The process that the path names.
#[derive(Debug)]
pub(crate) struct ThisProcess(pub(crate) Process);

impl FromRequestParts<Agent> for ThisProcess {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, agent: &Agent) -> Result<Self, Refusal> {
        let id: ProcessId = id(parts).await?;
        Ok(Self(agent.sandbox().process(&id)?))
    }
}

/// The terminal that the path names.
#[derive(Debug)]
pub(crate) struct ThisTerminal(pub(crate) Terminal);

impl FromRequestParts<Agent> for ThisTerminal {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, agent: &Agent) -> Result<Self, Refusal> {
        let id: TerminalId = id(parts).await?;
        Ok(Self(agent.sandbox().terminal(&id)?))
    }
}

/// The session that the path names.
#[derive(Debug)]
pub(crate) struct ThisSession(pub(crate) Session);

impl FromRequestParts<Agent> for ThisSession {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, agent: &Agent) -> Result<Self, Refusal> {
        let id: SessionId = id(parts).await?;
        Ok(Self(agent.sandbox().session(&id)?))
    }
}

/// A session and one of its commands, both named by the path.
#[derive(Debug)]
pub(crate) struct ThisCommand(pub(crate) Session, pub(crate) Process);

impl FromRequestParts<Agent> for ThisCommand {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, agent: &Agent) -> Result<Self, Refusal> {
        let Path((session, process)) = Path::<(String, String)>::from_request_parts(parts, &())
            .await
            .map_err(|error| Refusal::invalid(error.body_text()))?;
        let session = agent.sandbox().session(&checked(session)?)?;
        let process = agent.sandbox().process(&checked(process)?)?;
        if process.spec().session.as_ref() != Some(session.id()) {
            return Err(Error::ProcessNotFound { id: process.id().to_string() }.into());
        }
        Ok(Self(session, process))
    }
}

/// The id that the path holds, of something that need not be there.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<T: TryFrom<String, Error = InvalidId>, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        id(parts).await.map(Self)
    }
}

async fn id<T: TryFrom<String, Error = InvalidId>>(parts: &mut Parts) -> Result<T, Refusal> {
    let text = match Path::<String>::from_request_parts(parts, &()).await {
        Ok(Path(text)) => text,
        // A route without a place for an id: it is the last word of the path itself, and needs no decoding.
        Err(_) => parts.uri.path().rsplit('/').next().unwrap_or_default().to_owned(),
    };
    checked(text)
}

fn checked<T: TryFrom<String, Error = InvalidId>>(text: String) -> Result<T, Refusal> {
    T::try_from(text).map_err(|error| Refusal::invalid(error.to_string()))
}

/// All of a body that is known to be small.
pub(crate) async fn whole(body: &mut Body) -> Result<Bytes, Refusal> {
    let Some(first) = piece(body).await? else { return Ok(Bytes::new()) };
    let Some(second) = piece(body).await? else { return Ok(first) };
    let mut all = BytesMut::from(first);
    all.extend_from_slice(&second);
    while let Some(more) = piece(body).await? {
        all.extend_from_slice(&more);
    }
    Ok(all.freeze())
}

/// A body as it comes, piece by piece.
pub(crate) async fn piece(body: &mut Body) -> Result<Option<Bytes>, Refusal> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(error)) => return Err(Refusal::invalid(format!("the body broke off: {error}"))),
            Some(Ok(frame)) => {
                // Trailers are of no use here.
                if let Ok(bytes) = frame.into_data() {
                    return Ok(Some(bytes));
                }
            }
        }
    }
}
