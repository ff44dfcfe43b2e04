//! A sandbox for one test, and the proof that nothing of it is left afterwards.
//!
//! Every process of a fixture carries its marker in the environment, so that the host's /proc can be asked, past
//! the library under test, what really lives.

use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use atoll_isolation::Isolation;
use atoll_isolation::cgroup::{Controller, Tree};
use atoll_protocol::{EndReason, ProcessId, SandboxName, Stream};
use atoll_runtime::{
    Command, Error, ExecOutput, Filter, Home, Host, Invocation, Log, LogEvent, LogPattern, Process, ProcessSpec,
    Sandbox, SandboxOptions, Terminal, TerminalSpec,
};
use bytes::Bytes;

/// The variable that every process of a fixture has.
pub(crate) const MARKER: &str = "ATOLL_TEST_MARKER";

/// Longest that something may take that should happen at once. A hang would be a minute and more.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(15);

/// How commands are walled off and kept together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As is the default.
    Namespaces,
    /// Walled off, trees kept by wardens.
    Wardens,
    /// On the host itself, trees kept as the host can.
    Unisolated,
    /// On the host itself, trees kept by wardens: what an ordinary user without a delegated cgroup has.
    UnisolatedWardens,
}

/// On how many threads the runtime lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    One,
    Many,
}

impl Mode {
    pub(crate) fn isolated(self) -> bool {
        matches!(self, Self::Namespaces | Self::Wardens)
    }

    fn options(self) -> SandboxOptions {
        SandboxOptions {
            isolation: if self.isolated() { Isolation::Namespaces } else { Isolation::None },
            without_cgroups: matches!(self, Self::Wardens | Self::UnisolatedWardens),
            ..SandboxOptions::default()
        }
    }
}

/// A test per mode for each behaviour: the function `async fn <behaviour>(&Fixture)` beside it becomes
/// `<behaviour>::namespaces` and so on. `four_modes` adds the host itself with wardens; the last three kinds are for
/// behaviours that only some modes can have.
macro_rules! in_every_mode {
    ($($kind:ident { $($name:ident,)* })*) => {
        $($(in_every_mode!(@$kind $name);)*)*
    };
    (@one_thread $name:ident) => {
        in_every_mode!(@tests $name, One, namespaces Namespaces, wardens Wardens, unisolated Unisolated);
    };
    (@many_threads $name:ident) => {
        in_every_mode!(@tests $name, Many, namespaces Namespaces, wardens Wardens, unisolated Unisolated);
    };
    (@four_modes $name:ident) => {
        in_every_mode!(@tests $name, Many, namespaces Namespaces, wardens Wardens, unisolated Unisolated,
            unisolated_wardens UnisolatedWardens);
    };
    (@isolated $name:ident) => {
        in_every_mode!(@tests $name, One, namespaces Namespaces, wardens Wardens);
    };
    (@with_cgroups $name:ident) => {
        in_every_mode!(@tests $name, One, namespaces Namespaces, unisolated Unisolated);
    };
    (@without_cgroups $name:ident) => {
        in_every_mode!(@tests $name, One, wardens Wardens, unisolated_wardens UnisolatedWardens);
    };
    (@tests $name:ident, $threads:ident, $($test:ident $mode:ident),*) => {
        mod $name {
            use crate::harness::{Mode, Threads, run};

            $(
                #[test]
                fn $test() {
                    run(Mode::$mode, Threads::$threads, super::$name);
                }
            )*
        }
    };
}

/// Makes a fixture, runs the body on it, and proves that nothing is left.
pub(crate) fn run(mode: Mode, threads: Threads, body: impl AsyncFnOnce(&Fixture)) {
    let mut builder = match threads {
        Threads::One => tokio::runtime::Builder::new_current_thread(),
        Threads::Many => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async {
        match Fixture::new(mode).await {
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

/// A sandbox, its host and its home.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) mode: Mode,
    pub(crate) host: Host,
    pub(crate) sandbox: Sandbox,
    /// Unique on this machine; in the environment of every command.
    pub(crate) marker: String,
    state: tempfile::TempDir,
    made: Mutex<Vec<Sandbox>>,
    forgotten: Mutex<Vec<SandboxName>>,
}

impl Fixture {
    /// The reason if this machine cannot do it.
    async fn new(mode: Mode) -> Result<Self, String> {
        let state = tempfile::tempdir().unwrap();
        // Users other than ours must be able to reach an unisolated workspace.
        std::fs::set_permissions(state.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let host = Host::new(Home {
            state: state.path().to_owned(),
            cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        })
        .unwrap();
        let marker = format!("marker-{:016x}", random());
        let mut options = mode.options();
        options.env.insert(MARKER.into(), marker.clone().into());
        let sandbox = match host.create(options).await {
            Ok(sandbox) => sandbox,
            Err(error @ Error::IsolationUnavailable { .. }) => return Err(error.to_string()),
            Err(error) => panic!("no sandbox: {error}"),
        };
        Ok(Self {
            mode,
            host,
            made: Mutex::new(vec![sandbox.clone()]),
            forgotten: Mutex::default(),
            sandbox,
            marker,
            state,
        })
    }

    /// Options of the same mode, with the marker.
    pub(crate) fn options(&self) -> SandboxOptions {
        let mut options = self.mode.options();
        options.env.insert(MARKER.into(), self.marker.clone().into());
        options
    }

    /// The home's state.
    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    /// Another sandbox of the same mode.
    pub(crate) async fn another(&self, change: impl FnOnce(&mut SandboxOptions)) -> Result<Sandbox, Error> {
        let mut options = self.options();
        change(&mut options);
        let sandbox = self.host.create(options).await?;
        self.made().push(sandbox.clone());
        Ok(sandbox)
    }

    fn made(&self) -> std::sync::MutexGuard<'_, Vec<Sandbox>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where sandboxes are kept.
    pub(crate) fn sandboxes(&self) -> PathBuf {
        self.state.path().join("sandboxes")
    }

    /// Runs a shell string.
    pub(crate) async fn sh(&self, text: &str) -> ExecOutput {
        soon(self.sandbox.exec(Command::shell(text))).await.unwrap()
    }

    /// Runs a shell string that must succeed, silent on standard error; what it printed.
    pub(crate) async fn say(&self, text: &str) -> String {
        let output = self.sh(text).await;
        assert_eq!(err(&output), "", "{text}");
        assert!(output.end.success(), "{text}: {:?}", output.end);
        out(&output)
    }

    /// Starts a shell string.
    pub(crate) async fn start(&self, text: &str) -> Process {
        self.start_command(Command::shell(text)).await
    }

    pub(crate) async fn start_command(&self, command: Command) -> Process {
        soon(self.sandbox.start(ProcessSpec::new(command))).await.unwrap()
    }

    /// Every process that is listed.
    pub(crate) fn listed(&self) -> Vec<ProcessId> {
        let all = self.sandbox.processes(&Filter::default());
        all.iter().map(|process| process.id().clone()).collect()
    }

    /// What lives of this fixture, by the host's account.
    pub(crate) fn alive(&self) -> Vec<String> {
        alive(&self.marker)
    }

    /// Nothing refused before may have left a trace, and the sandbox still works.
    pub(crate) async fn assert_untouched(&self) {
        assert_eq!(self.listed(), []);
        assert_eq!(self.say("echo still here").await, "still here\n");
        assert_eq!(self.alive(), [""; 0]);
    }

    /// `Some(reason)` where this machine cannot limit memory.
    pub(crate) fn no_memory_limit(&self) -> Option<String> {
        self.no_limit(&self.host.layout().controllers.memory)
    }

    /// `Some(reason)` where this machine cannot limit processes.
    pub(crate) fn no_pids_limit(&self) -> Option<String> {
        self.no_limit(&self.host.layout().controllers.pids)
    }

    fn no_limit(&self, controller: &Controller) -> Option<String> {
        match (&self.host.layout().tree, controller) {
            (Tree::Unavailable { why }, _) | (_, Controller::Missing { why }) => Some(why.clone()),
            (Tree::Cgroup2 { .. }, Controller::V1(_) | Controller::V2) => None,
        }
    }

    /// Whether a program is inside.
    pub(crate) async fn has(&self, program: &str) -> bool {
        self.sh(&format!("command -v {program}")).await.end.success()
    }

    /// A sandbox that nobody destroys leaves its directory until this program ends.
    pub(crate) fn forget_directory(&self, name: &SandboxName) {
        self.forgotten().push(name.clone());
    }

    fn forgotten(&self) -> std::sync::MutexGuard<'_, Vec<SandboxName>> {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn end(self) {
        let made = std::mem::take(&mut *self.made());
        for sandbox in &made {
            soon(sandbox.destroy()).await.unwrap();
        }
        let left: Vec<_> = std::fs::read_dir(self.sandboxes())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                let known = self.forgotten();
                !known.iter().any(|name| path.ends_with(name.as_str()))
            })
            .collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "directories are left");
        for sandbox in &made {
            let left = cgroups_of(sandbox.name().as_str());
            assert_eq!(left, Vec::<PathBuf>::new(), "cgroups are left");
        }
        assert_eq!(self.alive(), [""; 0], "processes are left");
    }
}

/// Directories below /sys/fs/cgroup whose name holds this one.
pub(crate) fn cgroups_of(name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(next) = ahead.pop() {
        // Other tests make and remove theirs meanwhile.
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().contains(name) {
                found.push(entry.path());
            }
            ahead.push(entry.path());
        }
    }
    found
}

/// Living processes of this machine with a text in their environment or arguments, each as a line for people.
pub(crate) fn alive(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        // One that ends meanwhile is not alive. A zombie has neither environment nor arguments.
        let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        let environment = read("environ");
        let marked = contains(&environment, text.as_bytes()) || command.contains(text);
        marked.then(|| format!("{pid}: {command}"))
    })
    .collect()
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// Fails if something that should be done at once is not.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(AT_ONCE, future).await;
    done.expect("this should have been done at once")
}

/// Looks again until an outside fact is so. For facts that give no sign of themselves.
pub(crate) async fn eventually(what: &str, fact: impl Fn() -> bool) {
    let deadline = Instant::now() + AT_ONCE;
    while !fact() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for a text in the output.
pub(crate) async fn printed(process: &Process, text: &str) {
    let pattern = LogPattern::Text(text.to_owned());
    let found = process.wait_log(&pattern, 0, Some(AT_ONCE)).await;
    found.unwrap();
}

/// A terminal with a shell string in it.
pub(crate) async fn terminal(f: &Fixture, text: &str) -> Terminal {
    terminal_of(f, TerminalSpec::new(Invocation::Shell(text.into()))).await
}

pub(crate) async fn terminal_of(f: &Fixture, spec: TerminalSpec) -> Terminal {
    soon(f.sandbox.open_terminal(spec)).await.unwrap()
}

/// Types.
pub(crate) async fn type_in(terminal: &Terminal, text: &str) {
    soon(terminal.write(Bytes::copy_from_slice(text.as_bytes()))).await.unwrap();
}

/// Waits for a text on the terminal, from a position on.
pub(crate) async fn shown_since(terminal: &Terminal, text: &str, since: u64) -> u64 {
    let pattern = LogPattern::Text(text.to_owned());
    let found = terminal.wait_log(&pattern, since, Some(AT_ONCE)).await;
    found.unwrap_or_else(|error| panic!("{text:?}: {error}")).cursor
}

/// Waits for a text on the terminal.
pub(crate) async fn shown(terminal: &Terminal, text: &str) -> u64 {
    shown_since(terminal, text, 0).await
}

/// Everything that was printed on a terminal whose program is over.
pub(crate) async fn all_shown(terminal: &Terminal) -> Vec<u8> {
    soon(terminal.ended()).await.unwrap();
    read_log(terminal.log(), 0).await.0
}

/// Waits until a text was printed so often on standard output, also by what outlives the main process.
pub(crate) async fn printed_times(process: &Process, text: &str, times: usize) {
    let mut reader = process.log().reader(0);
    let mut all = Vec::new();
    while String::from_utf8_lossy(&all).matches(text).count() < times {
        match soon(reader.next()).await {
            Some(LogEvent::Output(chunk)) if chunk.stream == Stream::Stdout => {
                all.extend_from_slice(&chunk.bytes);
            }
            Some(_) => {}
            None => panic!("the log ended before {times} times {text:?}"),
        }
    }
}

/// Standard output as text.
pub(crate) fn out(output: &ExecOutput) -> String {
    assert_eq!(output.stdout.omitted, 0);
    String::from_utf8(output.stdout.head.clone()).unwrap()
}

/// Standard error as text.
pub(crate) fn err(output: &ExecOutput) -> String {
    assert_eq!(output.stderr.omitted, 0);
    String::from_utf8(output.stderr.head.clone()).unwrap()
}

/// The command ended by itself with this code, and left nothing behind.
#[track_caller]
pub(crate) fn assert_exited(output: &ExecOutput, code: i32) {
    let end = &output.end;
    assert_eq!((end.reason, end.code), (EndReason::Exited, Some(code)));
    assert_eq!((end.signal, end.survivors), (None, 0));
}

/// Both streams of a log from a cursor to its present end, with every cursor checked.
pub(crate) async fn read_log(log: &Log, since: u64) -> (Vec<u8>, Vec<u8>) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut reader = log.reader(since);
    let end = log.end();
    let mut cursor = since;
    while cursor < end {
        match soon(reader.next()).await {
            Some(LogEvent::Output(chunk)) => {
                assert_eq!(chunk.cursor, cursor, "a gap or a repetition");
                cursor = chunk.end();
                match chunk.stream {
                    Stream::Stdout => stdout.extend_from_slice(&chunk.bytes),
                    Stream::Stderr => stderr.extend_from_slice(&chunk.bytes),
                }
            }
            other => panic!("no output at {cursor}: {other:?}"),
        }
    }
    (stdout, stderr)
}

/// The standard output in a log so far, as text.
pub(crate) async fn log_text(process: &Process) -> String {
    let (stdout, _) = read_log(process.log(), 0).await;
    String::from_utf8(stdout).unwrap()
}

/// Eight bytes from the kernel.
pub(crate) fn random() -> u64 {
    let mut bytes = [0; 8];
    let file = std::fs::File::open("/dev/urandom").unwrap();
    std::io::Read::read_exact(&mut &file, &mut bytes).unwrap();
    u64::from_ne_bytes(bytes)
}

/// A small generator (SplitMix64), so that a failing mix can be run again by its seed.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap();
        usize::try_from(self.next() % bound).unwrap()
    }
}

/// An id.
pub(crate) fn id(text: &str) -> ProcessId {
    ProcessId::new(text).unwrap()
}

/// A spec with an id.
pub(crate) fn named(text: &str, command: Command) -> ProcessSpec {
    ProcessSpec { id: Some(id(text)), ..ProcessSpec::new(command) }
}
