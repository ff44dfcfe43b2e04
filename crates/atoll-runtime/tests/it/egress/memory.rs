//! Bytes that wait because a peer does not read them are bounded for the sandbox as a whole.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use atoll_protocol::{DenialReason, EgressEvent, EgressProtocol, EgressRule};
use atoll_runtime::{Command, LogPattern, Process, ProcessSpec, Sandbox, Stdin};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::{domain, loopback, policy, sh, with};
use crate::harness::{Fixture, eventually};

in_every_mode! {
    isolated {
        connections_whose_peers_do_not_read_stay_within_a_bound,
        a_question_longer_than_any_is_not_waited_for,
        requests_whose_answers_are_not_read_stay_within_a_bound,
    }
}

/// Connections of a sandbox at once.
const FLOWS: usize = 1024;

/// Bytes that each carries before its peer stops to read: enough to count as a bulk transfer.
const CARRIED: usize = 1280 * 1024;

/// What all of them may add to the agent's memory, and to its pipes.
const MEMORY_MAX: usize = 64 * 1024 * 1024;
const PIPES_MAX: usize = 8 * 1024 * 1024;

/// What other pipes there are: those of the command that runs.
const OTHER_PIPES: usize = 1024 * 1024;

/// What as many requests in progress may add to the agent's memory: a head and a piece of a body, each way.
const REQUESTS_MAX: usize = FLOWS * 256 * 1024;

/// How long it may take to open them all and to fill them, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long nothing moves until everything waits.
const QUIET: Duration = Duration::from_millis(500);

/// Bytes of this process in memory. The agent of these tests is in it, and nothing else that grows.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Bytes that the pipes of this process can hold, each counted once.
fn pipes() -> usize {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc/self/fd").unwrap().flatten() {
        let is_pipe = fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().starts_with("pipe:"));
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        if is_pipe && let Ok(pipe) = File::options().read(true).custom_flags(nonblocking).open(entry.path()) {
            found.insert(pipe.metadata().unwrap().ino(), rustix::pipe::fcntl_getpipe_size(&pipe).unwrap());
        }
    }
    found.into_values().sum()
}

/// Three descriptors of each connection are in this process: the agent's two, and that of the server outside.
fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// A server outside, and how many bytes it has read or written.
struct Outside {
    port: u16,
    moved: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Outside {
    async fn new<F: Future<Output = ()> + Send>(
        talk: impl Fn(TcpStream, Arc<AtomicUsize>) -> F + Copy + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let moved: Arc<AtomicUsize> = Arc::default();
        let counted = Arc::clone(&moved);
        let serving = tokio::spawn(async move {
            let mut all = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let counted = Arc::clone(&counted);
                all.spawn(async move { talk(stream, counted).await });
            }
        });
        Self { port, moved, serving }
    }

    /// Waits until nothing moves any more.
    async fn settled(&self) {
        let mut before = usize::MAX;
        while before != self.moved.load(Ordering::Relaxed) {
            before = self.moved.load(Ordering::Relaxed);
            tokio::time::sleep(QUIET).await;
        }
    }
}

/// Reads its part, and then no more.
async fn stop_reading(mut stream: TcpStream, moved: Arc<AtomicUsize>) {
    let mut buffer = vec![0; 16 * 1024];
    let mut got = 0;
    while got < CARRIED {
        match stream.read(&mut buffer).await {
            Ok(count @ 1..) => got += count,
            _ => return,
        }
        moved.fetch_add(1, Ordering::Relaxed);
    }
    drop(buffer);
    std::future::pending::<()>().await;
}

/// Answers a request with more than anybody takes.
async fn answer_at_length(mut stream: TcpStream, moved: Arc<AtomicUsize>) {
    let mut first = [0; 1];
    stream.read_exact(&mut first).await.unwrap();
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n").await.ok();
    let piece = [b'x'; 4096];
    while stream.write_all(&piece).await.is_ok() {
        moved.fetch_add(1, Ordering::Relaxed);
    }
}

/// Opens all connections, sends this on each, and then more until nothing is taken; reads nothing.
async fn hold_open(sandbox: &Sandbox, port: u16, first: &str, more: usize) -> Process {
    let program = format!(
        "import resource, select, socket, sys\nhard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n\
         resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))\n\
         address, poll, all = socket.gethostbyname('a.test'), select.poll(), {{}}\n\
         for _ in range({FLOWS}):\n  s = socket.socket()\n  s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)\n  \
         s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)\n  s.connect((address, {port}))\n  s.sendall(b'{first}')\n  \
         s.setblocking(False)\n  all[s.fileno()] = s\n  poll.register(s, select.POLLOUT)\n\
         data = b'x' * {more}\n\
         while data:\n  ready = poll.poll(1000)\n  if not ready: break\n  for fd, _ in ready:\n    try: all[fd].send(data)\n    \
         except BlockingIOError: pass\nprint('all wait', flush=True)\nsys.stdin.read()"
    );
    let command = Command { stdin: Stdin::Pipe, ..Command::argv(["/usr/bin/python3", "-c", &program]) };
    let process = sandbox.start(ProcessSpec::new(command)).await.unwrap();
    let waits = LogPattern::Text("all wait".to_owned());
    process.wait_log(&waits, 0, Some(PATIENCE)).await.unwrap();
    process
}

async fn connections_whose_peers_do_not_read_stay_within_a_bound(f: &Fixture) {
    allow_many_files();
    let outside = Outside::new(stop_reading).await;
    let port = outside.port;
    let tcp = EgressRule { protocols: Some(vec![EgressProtocol::Tcp]), ..domain("a.test", &[port]) };
    let sandbox = with(f, policy(vec![tcp, loopback(&[port])], &["a.test"])).await;
    sh(&sandbox, "true").await;
    let (memory, piped) = (resident(), pipes());
    let process = hold_open(&sandbox, port, "", 65536).await;
    eventually("all are open", || sandbox.network().totals.open == FLOWS as u64).await;
    outside.settled().await;
    let (memory, piped) = (resident().saturating_sub(memory), pipes().saturating_sub(piped));
    assert!(piped > PIPES_MAX / 2 && piped <= PIPES_MAX + OTHER_PIPES, "{piped} bytes of pipes");
    assert!(memory <= MEMORY_MAX, "{memory} bytes of memory");
    // No more than these, and that is reported.
    sh(&sandbox, &format!("exec 3<>/dev/tcp/a.test/{port}; read -u 3 x")).await;
    let events = || sandbox.egress_events().since(0, usize::MAX).events;
    let is_too_many = |event: &EgressEvent| event.reason == Some(DenialReason::TooMany);
    eventually("the refusal is reported", || events().iter().any(is_too_many)).await;
    process.kill(Duration::ZERO).await.unwrap();
    // What was sent is still delivered, if the peers want it. They do not.
    drop(outside);
    eventually("all are closed", || sandbox.network().totals.open == 0).await;
    eventually("no pipe is left", || pipes() <= OTHER_PIPES).await;
}

async fn a_question_longer_than_any_is_not_waited_for(f: &Fixture) {
    let sandbox = with(f, policy(vec![domain("a.test", &[80])], &["a.test"])).await;
    // The length of a question by TCP, and nothing of the question: memory for it would be reserved.
    let output =
        sh(&sandbox, "exec 3<>/dev/tcp/198.18.0.1/53; printf '\\377\\377' >&3; timeout 5 cat <&3; echo $?").await;
    assert_eq!(crate::harness::out(&output), "0\n");
}

async fn requests_whose_answers_are_not_read_stay_within_a_bound(f: &Fixture) {
    allow_many_files();
    let outside = Outside::new(answer_at_length).await;
    let port = outside.port;
    let sandbox = with(f, policy(vec![domain("a.test", &[port]), loopback(&[port])], &["a.test"])).await;
    sh(&sandbox, "true").await;
    let memory = resident();
    let request = format!("GET / HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n\\r\\n");
    let process = hold_open(&sandbox, port, &request, 0).await;
    eventually("all are open", || sandbox.network().totals.open == FLOWS as u64).await;
    outside.settled().await;
    let memory = resident().saturating_sub(memory);
    assert!(memory <= REQUESTS_MAX, "{memory} bytes of memory");
    process.kill(Duration::ZERO).await.unwrap();
    eventually("all are closed", || sandbox.network().totals.open == 0).await;
}
