//! Many at once: sandboxes that live side by side, and clients that do everything there is to do. No error, and nothing
//! grows: no descriptor, no process, no memory.
//!
//! `ATOLL_SANDBOXES` and `ATOLL_LOAD_SECONDS` make soaks of them. Figures are printed, for whoever looks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use atoll_client::{Attach, Client, TerminalEvent, Until, View};
use atoll_protocol::{
    CreateSandbox, ExecRequest, ProcessId, SandboxName, SessionId, SessionRequest, StartRequest, TerminalId,
    TerminalRequest,
};
use futures_util::{StreamExt, stream};

use super::{Server, sh};
use crate::harness::{Home, until};

/// Sandboxes at once, in a run that is not a soak.
const SANDBOXES: usize = 16;

/// How many of them are made or removed at once: as many as a server starts.
const AT_ONCE: usize = 8;

/// How long clients are busy, in a run that is not a soak; how many; and in how many sandboxes.
const SECONDS: u64 = 5;
const CLIENTS: usize = 200;
const BUSY: usize = 8;

/// What may come and go without being a leak: descriptors of a timer or a log, memory of an allocator.
const DESCRIPTORS_SLACK: usize = 8;
const MEMORY_SLACK: u64 = 24 * 1024 * 1024;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().unwrap())
}

#[test]
fn heavy_many_sandboxes_live_side_by_side() {
    let count = number("ATOLL_SANDBOXES").map_or(SANDBOXES, |count| usize::try_from(count).unwrap());
    let home = Home::new();
    let server = Server::start(&home, &["--rate", "0", "--max-sandboxes", "2000"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = server.client();
    let began = Instant::now();
    let names: Vec<SandboxName> = runtime.block_on(async {
        let asked: Vec<CreateSandbox> = (0..count).map(|_| server.asked()).collect();
        let made = stream::iter(asked).map(|asked| {
            let client = client.clone();
            async move { client.create_sandbox(&asked).await.unwrap().name }
        });
        made.buffer_unordered(AT_ONCE).collect().await
    });
    say(&format!("{count} sandboxes made in {:?}", began.elapsed()));
    runtime.block_on(async {
        for name in &names {
            assert_eq!(sh(&client, name, "echo $HOSTNAME").await, format!("{name}\n"));
        }
    });
    assert_eq!(server.agents().len(), count, "all live at once");
    let of_server = server.pid();
    let all: Vec<u32> = home.processes().into_iter().map(|(pid, _)| pid).filter(|pid| *pid != of_server).collect();
    let memory: u64 = all.iter().filter_map(|pid| memory_of(*pid, "smaps_rollup", "Pss:")).sum();
    let each = memory / 1024 / count as u64;
    say(&format!(
        "each has {each} KiB in {} processes; the server has {} KiB",
        all.len() / count,
        own(of_server) / 1024
    ));
    runtime.block_on(async {
        let removed = stream::iter(names).map(|name| {
            let client = client.clone();
            async move { client.remove_sandbox(&name).await.unwrap() }
        });
        removed.buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    });
    drop(runtime);
    server.end();
}

#[test]
fn heavy_many_clients_do_everything_at_once() {
    let seconds = number("ATOLL_LOAD_SECONDS").unwrap_or(SECONDS);
    let home = Home::new();
    let server = Server::start(&home, &["--rate", "0"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let names: Vec<SandboxName> = runtime.block_on(async {
        let mut names = Vec::new();
        for _ in 0..BUSY {
            names.push(server.sandbox().await);
        }
        names
    });
    // The first part only takes what is taken once: kept connections, threads, an allocator's arenas.
    let first = runtime.block_on(busy(&server, &names, Duration::from_secs(seconds.div_ceil(5).max(2))));
    let before = Counted::of(&server, &home);
    let second = runtime.block_on(busy(&server, &names, Duration::from_secs(seconds)));
    let after = until("what was taken is given back", || {
        let now = Counted::of(&server, &home);
        (now.descriptors <= before.descriptors + DESCRIPTORS_SLACK && now.processes <= before.processes).then_some(now)
    });
    say(&format!("{first} and then {second} things done by {CLIENTS} clients; before {before:?}, after {after:?}"));
    assert!(after.server <= before.server + MEMORY_SLACK, "the server grows: {before:?}, {after:?}");
    let agents_slack = MEMORY_SLACK * BUSY as u64;
    assert!(after.agents <= before.agents + agents_slack, "agents grow: {before:?}, {after:?}");
    drop(runtime);
    server.end();
}

/// What there is of that which must not become more.
#[derive(Debug, Clone, Copy)]
struct Counted {
    descriptors: usize,
    processes: usize,
    /// Bytes of the server's own memory, and of all agents together.
    server: u64,
    agents: u64,
}

impl Counted {
    fn of(server: &Server<'_>, home: &Home) -> Self {
        let agents = server.agents();
        let open = |pid: u32| std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        Self {
            descriptors: open(server.pid()) + agents.iter().map(|pid| open(*pid)).sum::<usize>(),
            processes: home.processes().len(),
            server: own(server.pid()),
            agents: agents.iter().map(|pid| own(*pid)).sum(),
        }
    }
}

/// Bytes of a process's memory that are its alone.
fn own(pid: u32) -> u64 {
    memory_of(pid, "status", "RssAnon:").unwrap_or(0)
}

fn memory_of(pid: u32, file: &str, line: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
    let found = text.lines().find_map(|found| found.strip_prefix(line))?;
    Some(found.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

#[expect(clippy::print_stderr, reason = "figures for whoever runs the soak")]
fn say(figures: &str) {
    eprintln!("{figures}");
}

/// Clients that do one thing after the other until the time is up: how many things were done.
async fn busy(server: &Server<'_>, names: &[SandboxName], time: Duration) -> u64 {
    let (enough, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|number| {
            // Connections of its own, as another program would have.
            let client = server.client().inside(&names[number % BUSY]);
            let (enough, done) = (Arc::clone(&enough), Arc::clone(&done));
            tokio::spawn(async move {
                let session = SessionId::new(format!("session-{number}")).unwrap();
                let asked = SessionRequest { id: Some(session.clone()), ..Default::default() };
                client.create_session(&asked).await.unwrap();
                for turn in 0.. {
                    if enough.load(Ordering::Relaxed) {
                        break;
                    }
                    one_thing(&client, number, turn, &session).await;
                    done.fetch_add(1, Ordering::Relaxed);
                }
                client.delete_session(&session).await.unwrap();
            })
        })
        .collect();
    tokio::time::sleep(time).await;
    enough.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    done.load(Ordering::Relaxed)
}

async fn one_thing(client: &Client, number: usize, turn: usize, session: &SessionId) {
    match (number + turn) % 4 {
        0 => {
            let result = client.exec(&ExecRequest::shell(format!("echo {turn}; echo err >&2; exit 3"))).await.unwrap();
            assert_eq!((result.stdout.data, result.end.code), (format!("{turn}\n"), Some(3)));
        }
        1 => {
            let asked = ExecRequest::shell(format!("x=$((x + 1)); echo {turn}"));
            let result = client.session_exec(session, &asked).await.unwrap();
            assert_eq!(result.stdout.data, format!("{turn}\n"));
        }
        2 => {
            let id = ProcessId::new(format!("p-{number}-{turn}")).unwrap();
            let text = "for i in 1 2 3 4 5; do echo $i; done; echo end >&2";
            let started = client.start(&StartRequest { id: Some(id.clone()), ..StartRequest::shell(text) }).await;
            started.unwrap();
            let (out, err, end) = client.follow(&id, 0, Until::Closed).collect().await.unwrap();
            assert_eq!((out, err), (b"1\n2\n3\n4\n5\n".to_vec(), b"end\n".to_vec()));
            assert!(end.end.success());
            client.remove_process(&id).await.unwrap();
        }
        _ => terminal(client, &TerminalId::new(format!("t-{number}-{turn}")).unwrap()).await,
    }
}

async fn terminal(client: &Client, id: &TerminalId) {
    let command = Some("read -r line; echo \"got $line\"; exit 4".to_owned());
    let asked = TerminalRequest { id: Some(id.clone()), command, ..Default::default() };
    client.open_terminal(&asked).await.unwrap();
    let view = View { from: Attach::Cursor(0), ..View::default() };
    let mut attached = client.attach_terminal(id, view);
    attached.write("hello\n".into()).await.unwrap();
    let mut seen = Vec::new();
    let end = loop {
        match attached.next().await.unwrap().expect("an exit") {
            TerminalEvent::Output { bytes, .. } => seen.extend_from_slice(&bytes),
            TerminalEvent::Exit(exit) => break exit.end,
            TerminalEvent::Ready(_) | TerminalEvent::Resized(_) => {}
            other @ (TerminalEvent::Truncated(_) | TerminalEvent::Refused(_)) => panic!("{other:?}"),
        }
    };
    assert!(String::from_utf8_lossy(&seen).contains("got hello"), "{seen:?}");
    assert_eq!(end.code, Some(4));
    client.delete_terminal(id, None).await.unwrap();
}
