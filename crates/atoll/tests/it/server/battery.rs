//! The server ends again and again under many streams: killed, asked to end, replaced by a newer binary. Clients come back
//! by themselves, every byte comes once, every end is the right one, and nothing is run twice.
//!
//! `ATOLL_RESTARTS` sets how often it ends in each way, and makes it a hundred streams.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use atoll_client::{Attach, Client, ExecEvent, FollowEvent, TerminalEvent, Until, View};
use atoll_protocol::{
    EndReason, EndRecord, ExecRequest, ProcessId, SandboxName, SessionId, SessionRequest, StartRequest, TerminalId,
    TerminalRequest,
};
use tokio::task::JoinHandle;

use super::{Server, sh, wait};
use crate::harness::{Home, Signal};

/// How often the server ends in a run that is not a soak, and what is open then.
const RESTARTS: usize = 3;
const STREAMS: usize = 20;
const STREAMS_SOAK: usize = 100;

/// Sandboxes among which they are spread.
const SANDBOXES: usize = 4;

/// How long a stream may take to be heard of again.
const HEARD_WITHIN: Duration = Duration::from_secs(60);

/// How the server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Killed,
    Asked,
    Replaced,
}

#[test]
fn heavy_killed_under_many_streams() {
    battery(Way::Killed);
}

#[test]
fn heavy_asked_to_end_under_many_streams() {
    battery(Way::Asked);
}

#[test]
fn heavy_replaced_by_a_newer_binary_under_many_streams() {
    battery(Way::Replaced);
}

fn battery(way: Way) {
    let soak: Option<usize> = std::env::var("ATOLL_RESTARTS").ok().map(|count| count.parse().unwrap());
    let (restarts, streams) = soak.map_or((RESTARTS, STREAMS), |count| (count, STREAMS_SOAK));
    let home = if way == Way::Replaced { Home::with_own_binary() } else { Home::new() };
    let mut server = Server::start(&home, &["--rate", "0"]);
    let address = server.address;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut load = runtime.block_on(Load::begin(&server, streams));
    let agents = server.agents_when(SANDBOXES);
    for round in 1..=restarts {
        runtime.block_on(load.heard_again());
        server = match way {
            Way::Killed => {
                server.kill();
                Server::start_at(&home, address, &["--rate", "0"])
            }
            Way::Asked => {
                end_in_good_order(server);
                Server::start_at(&home, address, &["--rate", "0"])
            }
            Way::Replaced => {
                home.replace_binary();
                // The old one still serves, and makes what it is asked for.
                let name = wait(server.sandbox());
                wait(server.client().remove_sandbox(&name)).unwrap();
                end_in_good_order(server);
                Server::start_at(&home, address, &["--rate", "0"])
            }
        };
        assert_eq!(server.agents(), agents, "round {round}: the same agents");
        runtime.block_on(load.sessions_remember(round));
    }
    runtime.block_on(load.end());
    drop(runtime);
    server.end();
}

fn end_in_good_order(server: Server<'_>) {
    server.signal(Signal::TERM);
    let done = server.done();
    assert_eq!(done.code, Some(0), "{done:?}");
}

/// What is open while the server ends.
struct Load {
    client: Client,
    names: Vec<SandboxName>,
    streams: Vec<Stream>,
    execs: Vec<JoinHandle<usize>>,
    enough: Arc<AtomicBool>,
}

/// One command that prints numbers, and somebody who follows it.
struct Stream {
    number: usize,
    heard: Arc<AtomicUsize>,
    following: JoinHandle<(Vec<u8>, EndRecord)>,
}

impl Load {
    async fn begin(server: &Server<'_>, streams: usize) -> Self {
        let client = server.client().with_patience(HEARD_WITHIN);
        let mut names = Vec::new();
        for _ in 0..SANDBOXES {
            let name = server.sandbox().await;
            sh(&client, &name, "mkfifo never; touch runs did").await;
            let counter = SessionRequest { id: Some(SessionId::new("counter").unwrap()), ..Default::default() };
            client.inside(&name).create_session(&counter).await.unwrap();
            names.push(name);
        }
        let mut open = Vec::new();
        for number in 0..streams {
            open.push(Stream::open(&client.inside(&names[number % SANDBOXES]), number).await);
        }
        let enough = Arc::new(AtomicBool::new(false));
        let execs =
            names.iter().map(|name| tokio::spawn(once_each(client.inside(name), Arc::clone(&enough)))).collect();
        Self { client, names, streams: open, execs, enough }
    }

    /// Every stream has told something new.
    async fn heard_again(&self) {
        let before: Vec<usize> = self.streams.iter().map(|stream| stream.heard.load(Ordering::Relaxed)).collect();
        let all = async {
            for (stream, before) in self.streams.iter().zip(before) {
                while stream.heard.load(Ordering::Relaxed) <= before {
                    assert!(!stream.following.is_finished(), "stream {} is over", stream.number);
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        };
        tokio::time::timeout(HEARD_WITHIN, all).await.expect("every stream goes on");
    }

    async fn sessions_remember(&self, round: usize) {
        for name in &self.names {
            let id = SessionId::new("counter").unwrap();
            let said =
                self.client.inside(name).session_exec(&id, &ExecRequest::shell("echo $((n += 1))")).await.unwrap();
            assert_eq!(said.stdout.data, format!("{round}\n"), "{name}");
        }
    }

    async fn end(&mut self) {
        self.heard_again().await;
        self.enough.store(true, Ordering::Relaxed);
        for (name, exec) in self.names.iter().zip(self.execs.drain(..)) {
            let count = exec.await.unwrap();
            let did = sh(&self.client, name, "cat did").await;
            assert!(did.lines().eq((0..count).map(|number| number.to_string())), "each was run once: {did}");
            sh(&self.client, name, "touch enough").await;
        }
        for stream in self.streams.drain(..) {
            let Stream { number, following, .. } = stream;
            let (output, end) = following.await.unwrap();
            assert_counted(number, &output);
            assert_eq!((end.reason, end.code), (EndReason::Exited, Some(code(number))), "stream {number}");
        }
        let mut runs: BTreeMap<String, usize> = BTreeMap::new();
        for name in &self.names {
            for line in sh(&self.client, name, "cat runs").await.lines() {
                *runs.entry(line.to_owned()).or_default() += 1;
            }
        }
        assert!(runs.values().all(|count| *count == 1), "nothing was run twice: {runs:?}");
    }
}

/// Each has an end of its own.
fn code(number: usize) -> i32 {
    i32::try_from(number % 100).unwrap()
}

/// 1, 2, 3 …, each once, in order, to the end.
fn assert_counted(number: usize, output: &[u8]) {
    let text = String::from_utf8(output.to_vec()).unwrap();
    let count = text.lines().count();
    assert!(count > 1, "stream {number}: {text}");
    let wrong = text.lines().zip(1..).find(|(line, expected)| line.trim_end() != expected.to_string());
    assert_eq!(wrong, None, "stream {number}");
}

/// Counts until it is enough. Waits on a pipe to which nobody writes: a program for each pause would be a load of its own.
fn counting(number: usize) -> String {
    let code = code(number);
    format!(
        "echo {number} >> runs; exec 9<>never; i=0; while ! [ -e enough ]; do echo $((i += 1)); read -rt 0.2 -u 9; done; \
         (exit {code})"
    )
}

impl Stream {
    async fn open(client: &Client, number: usize) -> Self {
        let heard = Arc::new(AtomicUsize::new(0));
        let hear = Arc::clone(&heard);
        let (client, id) = (client.clone(), format!("s{number}"));
        let following = match number % 4 {
            0 => {
                let id = ProcessId::new(id).unwrap();
                let start = StartRequest { id: Some(id.clone()), ..StartRequest::shell(counting(number)) };
                client.start(&start).await.unwrap();
                tokio::spawn(follow(client, id, hear))
            }
            1 => tokio::spawn(exec(client.exec_stream(ExecRequest::shell(counting(number))).unwrap(), hear)),
            2 => {
                let session = SessionId::new(id).unwrap();
                let asked = SessionRequest { id: Some(session.clone()), ..Default::default() };
                client.create_session(&asked).await.unwrap();
                let stream = client.session_exec_stream(&session, ExecRequest::shell(counting(number))).unwrap();
                tokio::spawn(exec(stream, hear))
            }
            _ => {
                let id = TerminalId::new(id).unwrap();
                let command = Some(counting(number));
                let asked = TerminalRequest { id: Some(id.clone()), command, ..Default::default() };
                client.open_terminal(&asked).await.unwrap();
                tokio::spawn(watch(client, id, hear))
            }
        };
        Self { number, heard, following }
    }
}

async fn follow(client: Client, id: ProcessId, heard: Arc<AtomicUsize>) -> (Vec<u8>, EndRecord) {
    let (mut following, mut seen) = (client.follow(&id, 0, Until::End), Vec::new());
    loop {
        match following.next().await.unwrap().expect("an end") {
            FollowEvent::Output(output) => seen.extend_from_slice(&output.bytes),
            FollowEvent::Gap(gap) => panic!("{gap:?}"),
            FollowEvent::End(end) => return (seen, end.end),
        }
        heard.fetch_add(1, Ordering::Relaxed);
    }
}

async fn exec(mut stream: atoll_client::ExecStream, heard: Arc<AtomicUsize>) -> (Vec<u8>, EndRecord) {
    let mut seen = Vec::new();
    loop {
        match stream.next().await.unwrap().expect("an end") {
            ExecEvent::Start(_) => {}
            ExecEvent::Output(output) => seen.extend_from_slice(&output.bytes),
            ExecEvent::Gap(gap) => panic!("{gap:?}"),
            ExecEvent::End(result) => return (seen, result.end),
        }
        heard.fetch_add(1, Ordering::Relaxed);
    }
}

async fn watch(client: Client, id: TerminalId, heard: Arc<AtomicUsize>) -> (Vec<u8>, EndRecord) {
    let view = View { from: Attach::Cursor(0), ..View::default() };
    let (mut attached, mut seen) = (client.attach_terminal(&id, view), Vec::new());
    loop {
        match attached.next().await.unwrap().expect("an exit") {
            TerminalEvent::Output { bytes, .. } => seen.extend_from_slice(&bytes),
            TerminalEvent::Exit(exit) => return (seen, exit.end),
            TerminalEvent::Ready(_) | TerminalEvent::Resized(_) => {}
            other @ (TerminalEvent::Truncated(_) | TerminalEvent::Refused(_)) => panic!("{other:?}"),
        }
        heard.fetch_add(1, Ordering::Relaxed);
    }
}

/// One command after the other, asked for again under its id when the line broke: how many there were.
async fn once_each(client: Client, enough: Arc<AtomicBool>) -> usize {
    let mut number = 0;
    while !enough.load(Ordering::Relaxed) {
        let id = Some(ProcessId::new(format!("once-{number}")).unwrap());
        let asked = ExecRequest { id, ..ExecRequest::shell(format!("echo {number} >> did; echo {number}")) };
        match client.exec(&asked).await {
            Ok(result) => {
                assert_eq!(result.stdout.data, format!("{number}\n"), "{result:?}");
                number += 1;
            }
            Err(error) if is_passing(&error) => {}
            Err(error) => panic!("{number}: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    number
}

fn is_passing(error: &atoll_client::Error) -> bool {
    use atoll_client::Error::{Broken, Refused, Unreachable};
    matches!(error, Unreachable { .. } | Broken { .. } | Refused { status: 502..=504, .. })
}
