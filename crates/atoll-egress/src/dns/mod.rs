//! The only name server of a sandbox. It tells names that a rule allows, by addresses that stand for them.
//!
//! A question is answered here or not at all. What is asked outside is only whether an allowed name has addresses that
//! may be connected to; no other question, and no part of one, leaves the machine.

pub(crate) mod message;
pub(crate) mod pool;
pub(crate) mod resolve;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use atoll_protocol::{DenialReason, EgressEvent, EgressEventKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::events::event;
use crate::shared::{Kind, Owner, Shared};
use message::{A, AAAA, Code, HTTPS, Question, SVCB};

/// The port of name servers.
pub(crate) const PORT: u16 = 53;

/// How long an answer may be kept inside: short, so that rules that change are soon seen.
const TTL: u32 = 30;

/// Questions being answered at once. More than these are dropped, as on any busy server; programs ask again.
const AT_ONCE: usize = 128;

/// Longest question: what fits into a datagram that everybody accepts, and then some.
const QUESTION_MAX: usize = 1232;

/// How long a connection for questions may say nothing.
const IDLE: Duration = Duration::from_secs(10);

/// Answers questions by UDP until the socket breaks.
pub(crate) async fn over_udp(shared: Arc<Shared>, socket: UdpSocket) {
    let (socket, places) = (Arc::new(socket), Arc::new(Semaphore::new(AT_ONCE)));
    let mut buffer = vec![0; QUESTION_MAX];
    loop {
        let (length, from) = match socket.recv_from(&mut buffer).await {
            Ok(got) => got,
            // An answer that could not be delivered comes back as an error of the next call.
            Err(error) if is_passing(&error) => continue,
            Err(_) => return,
        };
        let Some(question) = message::question(&buffer[..length]) else { continue };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let (shared, socket) = (Arc::clone(&shared), Arc::clone(&socket));
        tokio::spawn(async move {
            let server = SocketAddr::from((pool::NAME_SERVER, PORT));
            let owner = shared.attribution.owner(Kind::Udp, from, server);
            let answer = answer(&shared, &owner, &question).await;
            drop(socket.send_to(&answer, from).await);
            drop(place);
        });
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::Interrupted)
}

/// Answers questions on one connection.
pub(crate) async fn over_tcp(shared: &Arc<Shared>, mut stream: TcpStream, owner: &Owner) {
    let mut next = async || -> io::Result<()> {
        let length = usize::from(stream.read_u16().await?);
        if length > QUESTION_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = vec![0; length];
        stream.read_exact(&mut bytes).await?;
        let question = message::question(&bytes).ok_or(io::ErrorKind::InvalidData)?;
        let answer = answer(shared, owner, &question).await;
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        stream.write_all(&[&length.to_be_bytes()[..], &answer].concat()).await
    };
    while let Ok(Ok(())) = timeout(IDLE, next()).await {}
}

/// Decides one question.
async fn answer(shared: &Shared, owner: &Owner, question: &Question) -> Vec<u8> {
    let refuse = |code: Code, reason: DenialReason| {
        shared.events.tell(EgressEvent {
            command: owner.command.clone(),
            host: question.name.as_ref().map(ToString::to_string),
            reason: Some(reason),
            ..event(EgressEventKind::NameDenied)
        });
        question.answer(code, &[], 0)
    };
    let Some(name) = &question.name else { return refuse(Code::NoSuchName, DenialReason::BadName) };
    let policy = shared.force().policy;
    if let Err(reason) = shared.admit(&policy, owner, name) {
        return refuse(Code::NoSuchName, reason);
    }
    match question.kind {
        A => {}
        // There are no others, which is an answer.
        AAAA | HTTPS | SVCB => return question.answer(Code::Fine, &[], TTL),
        _ => return refuse(Code::Refused, DenialReason::QueryType),
    }
    match shared.addresses(&policy, name, None).await {
        Err((reason @ DenialReason::NoAddress, _)) => refuse(Code::NoSuchName, reason),
        Err((reason, _)) => refuse(Code::NoSuchName, reason),
        Ok(_) => {
            let address = shared.pool().address(name);
            shared.events.tell(EgressEvent {
                command: owner.command.clone(),
                host: Some(name.to_string()),
                ..event(EgressEventKind::Resolved)
            });
            question.answer(Code::Fine, &[address], TTL)
        }
    }
}
