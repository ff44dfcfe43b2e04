//! A served sandbox for one test, and the proof that nothing of it is left afterwards.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use atoll_agent::{Agent, Listener, serve};
use atoll_client::Client;
use atoll_protocol::{ProcessId, ProcessInfo, SandboxSpec, StartRequest, TerminalId, WaitFor, WaitRequest};
use atoll_runtime::{Error, Home, Host};
use tokio::task::JoinHandle;

/// Longest that something may take that should happen at once. A hang would be a minute and more.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(20);

/// A sandbox that is served on a unix socket.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) agent: Agent,
    pub(crate) client: Client,
    pub(crate) directory: tempfile::TempDir,
    serving: JoinHandle<()>,
}

/// Makes a fixture, runs the body on it, and proves that nothing is left.
pub(crate) fn run(body: impl AsyncFnOnce(&Fixture)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        match Fixture::new().await {
            Err(reason) => skip(&reason),
            Ok(fixture) => {
                body(&fixture).await;
                fixture.end().await;
            }
        }
    });
}

/// Says that this test cannot run here.
#[expect(clippy::print_stderr, reason = "a skip must be seen")]
pub(crate) fn skip(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "{test} must not be skipped: {reason}");
    eprintln!("SKIP {test}: {reason}");
}

impl Fixture {
    async fn new() -> Result<Self, String> {
        let directory = tempfile::tempdir().unwrap();
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        let host = Host::new(Home { state: directory.path().join("state"), cache }).unwrap();
        let spec: SandboxSpec =
            serde_json::from_str(r#"{"labels":{"for":"tests"},"env":{"GREETING":"hello"}}"#).unwrap();
        let agent = match Agent::create(&host, spec).await {
            Ok(agent) => agent,
            Err(error @ Error::IsolationUnavailable { .. }) => return Err(error.to_string()),
            Err(error) => panic!("no sandbox: {error}"),
        };
        let socket = directory.path().join("socket");
        let listener = Listener::unix(&socket).unwrap();
        let serving = tokio::spawn(serve(agent.clone(), vec![listener]));
        Ok(Self { agent, client: Client::unix(&socket), directory, serving })
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    /// Starts a shell string under an id.
    pub(crate) async fn start(&self, name: &str, command: &str) -> ProcessId {
        let request = StartRequest { id: Some(id(name)), ..StartRequest::shell(command) };
        soon(self.client.start(&request)).await.unwrap().id
    }

    /// Waits until something was printed.
    pub(crate) async fn printed(&self, id: &ProcessId, text: &str) {
        soon(self.client.wait(id, &for_text(text))).await.unwrap();
    }

    /// The one process with an id.
    pub(crate) async fn process(&self, id: &ProcessId) -> ProcessInfo {
        soon(self.client.process(id)).await.unwrap()
    }

    async fn end(self) {
        soon(self.agent.stop()).await.unwrap();
        soon(self.serving).await.unwrap();
        assert!(!self.directory.path().join("socket").exists(), "the socket is left");
        let left: Vec<_> = std::fs::read_dir(self.directory.path().join("state/sandboxes")).unwrap().collect();
        assert!(left.is_empty(), "directories are left: {left:?}");
    }
}

/// A wait for a text.
pub(crate) fn for_text(text: &str) -> WaitRequest {
    let condition = atoll_protocol::LogCondition { text: Some(text.to_owned()), ..Default::default() };
    WaitRequest { r#for: WaitFor::Log(condition), timeout_ms: Some(15_000) }
}

/// A wait for the end.
pub(crate) fn for_exit() -> WaitRequest {
    WaitRequest { r#for: WaitFor::Exit, timeout_ms: Some(15_000) }
}

/// Fails if something that should be done at once is not.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(AT_ONCE, future).await;
    done.expect("this should have been done at once")
}

/// Looks again until an outside fact is so. For facts that give no sign of themselves.
pub(crate) async fn eventually(what: &str, fact: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + AT_ONCE;
    while !fact().await {
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// An id.
pub(crate) fn id(text: &str) -> ProcessId {
    ProcessId::new(text).unwrap()
}

/// A terminal's id.
pub(crate) fn terminal_id(text: &str) -> TerminalId {
    TerminalId::new(text).unwrap()
}

/// A small generator (SplitMix64), so that a failing mix can be run again by its seed.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bound = u64::try_from(bound).unwrap();
        usize::try_from((mixed ^ (mixed >> 31)) % bound).unwrap()
    }
}
