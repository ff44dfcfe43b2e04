//! What every test of the binary needs: a home of its own, the binary run in a clean environment, and the proof that
//! nothing is left of it afterwards.
//!
//! A home has a tag that no other has. It is part of the home's path, of every sandbox's name and of every command's
//! environment, so processes, mounts, cgroups and directories can be told to belong to it long after the agent that
//! made them is gone. Tests therefore run side by side, and beside other users of the same machine.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

/// The program under test.
pub(crate) const ATOLL: &str = env!("CARGO_BIN_EXE_atoll");

/// No call of the binary takes this long, on the slowest machine under the heaviest load.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the keeper may take to clean up after an agent that was killed.
const CLEANED_WITHIN: Duration = Duration::from_secs(20);

/// How long after a failed test what is left may go by itself.
const KEEPER_CHANCE: Duration = Duration::from_secs(5);

/// How often something is looked at that cannot be waited for.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Gives this test up, or fails it where skipping is forbidden.
#[expect(clippy::print_stderr, reason = "a skip must be seen")]
pub(crate) fn skip(reason: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "{test} must not be skipped: {reason}");
    eprintln!("SKIP {test}: {reason}");
}

/// `return`s from the test, by way of [`skip`], if the host lacks one of the programs.
macro_rules! need {
    ($($program:literal),+) => {
        for program in [$($program),+] {
            if !$crate::harness::on_path(program) {
                return $crate::harness::skip(&format!("no {program} on this host"));
            }
        }
    };
}
pub(crate) use need;

/// Whether the sandbox will find this program in the host's system directories.
pub(crate) fn on_path(program: &str) -> bool {
    ["/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter().any(|dir| Path::new(dir).join(program).exists())
}

#[expect(clippy::disallowed_methods, reason = "these tests start the binary from outside, as its users do")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", PATH).stdin(Stdio::null());
    command
}

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Who runs the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Whoever runs the tests: root.
    Root,
    /// An ordinary user, by [`Home::ordinary`].
    Ordinary,
}

/// The ids of the ordinary user: `nobody`, who is on every host and owns nothing.
pub(crate) const ORDINARY: u32 = 65534;

/// A home of its own.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) tag: String,
    dir: tempfile::TempDir,
    binary: PathBuf,
    caller: Caller,
    sandboxes: AtomicU32,
}

impl Home {
    /// With the prepared roots of earlier tests, which only saves time.
    pub(crate) fn new() -> Self {
        let home = Self::at(Caller::Root, ATOLL.into());
        let cache = shared_cache();
        symlink(cache, home.path().join("cache")).unwrap();
        home
    }

    /// One whose state is on this disk.
    pub(crate) fn on(disk: &SmallDisk) -> Self {
        let home = Self::new();
        symlink(disk.path(), home.path().join("state")).unwrap();
        home
    }

    /// One in which nothing was prepared.
    pub(crate) fn bare() -> Self {
        Self::at(Caller::Root, ATOLL.into())
    }

    /// One of an ordinary user, with a copy of the binary that they may execute.
    pub(crate) fn ordinary() -> Self {
        let mut home = Self::at(Caller::Ordinary, PathBuf::new());
        home.binary = home.path().join("atoll");
        fs::copy(ATOLL, &home.binary).unwrap();
        fs::set_permissions(&home.binary, fs::Permissions::from_mode(0o755)).unwrap();
        for dir in [home.path(), &home.cwd()] {
            std::os::unix::fs::chown(dir, Some(ORDINARY), Some(ORDINARY)).unwrap();
        }
        home
    }

    /// Whether it is root who runs the binary.
    pub(crate) fn is_roots(&self) -> bool {
        self.caller == Caller::Root
    }

    /// One with a binary of its own, which can be replaced.
    pub(crate) fn with_own_binary() -> Self {
        let mut home = Self::new();
        home.binary = home.path().join("atoll");
        fs::copy(ATOLL, &home.binary).unwrap();
        home
    }

    /// Puts another file in the binary's place, as an installer does: what runs keeps the old one.
    pub(crate) fn replace_binary(&self) {
        let draft = self.path().join("atoll.new");
        let mut bytes = fs::read(&self.binary).unwrap();
        // Behind everything that a loader looks at: the same program in a file that differs.
        bytes.extend_from_slice(b"newer");
        fs::write(&draft, bytes).unwrap();
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(draft, &self.binary).unwrap();
    }

    fn at(caller: Caller, binary: PathBuf) -> Self {
        let dir = tempfile::Builder::new().prefix("atoll-it-").rand_bytes(10).tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let tag = dir.path().file_name().unwrap().to_str().unwrap();
        let tag = tag.to_ascii_lowercase();
        let home =
            Self { tag: format!("{tag}-{}", std::process::id()), dir, binary, caller, sandboxes: AtomicU32::new(0) };
        fs::create_dir(home.cwd()).unwrap();
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Who runs the binary.
    pub(crate) fn caller(&self) -> Caller {
        self.caller
    }

    /// Where the binary is started: what it starts in turn can be told by it.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.path().join("cwd")
    }

    /// The directories of its sandboxes.
    pub(crate) fn sandboxes(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path().join("state/sandboxes"));
        entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }

    /// A name for a sandbox, by which its cgroups can be found.
    pub(crate) fn name(&self) -> String {
        let number = self.sandboxes.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}", self.tag)
    }

    /// `atoll` as it is, with these arguments.
    pub(crate) fn atoll<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Call {
        let mut command = match self.caller {
            Caller::Root => command(&self.binary),
            Caller::Ordinary => {
                let mut command = command("setpriv");
                command.args(["--clear-groups"]);
                command.arg(format!("--reuid={ORDINARY}"));
                command.arg(format!("--regid={ORDINARY}"));
                command.arg(&self.binary);
                command
            }
        };
        command
            .args(arguments)
            .env("ATOLL_HOME", self.path())
            .current_dir(self.cwd())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Call { command }
    }

    /// `atoll run` of a sandbox that can be told to be of this home.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Call {
        let given: Vec<OsString> = arguments.into_iter().map(|word| word.as_ref().to_owned()).collect();
        let mut all: Vec<OsString> = vec!["run".into()];
        if !given.iter().any(|word| word == "--name") {
            all.extend(["--name".into(), self.name().into()]);
        }
        all.extend(["--env".into(), format!("ATOLL_IT={}", self.tag).into()]);
        all.extend(given);
        self.atoll(all)
    }

    /// What a shell string prints in a new sandbox; it must succeed, and nothing may be left.
    pub(crate) fn sh(&self, text: &str) -> String {
        self.sh_with(&[], text)
    }

    /// The same, with options.
    pub(crate) fn sh_with(&self, options: &[&str], text: &str) -> String {
        let done = self.run([options, &["--", text]].concat()).done();
        assert_eq!(done.code, Some(0), "{text}: {done:?}");
        done.stdout()
    }

    /// Every process that was started by or inside a sandbox of this home, with what tells so.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let own_mounts = fs::read_link("/proc/self/ns/mnt").ok();
        let pids = fs::read_dir("/proc").unwrap().flatten();
        pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| *pid != std::process::id())
            .filter_map(|pid: u32| self.mark_of(pid, own_mounts.as_deref()).map(|mark| (pid, mark)))
            .collect()
    }

    fn mark_of(&self, pid: u32, own_mounts: Option<&Path>) -> Option<String> {
        let of = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
        let is_marked = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.contains(&self.tag) || text.contains(self.path().to_str().unwrap())
        };
        let marked = |name: &str| fs::read(of(name)).is_ok_and(|bytes| is_marked(&bytes));
        let found = |name: &str| {
            let shown = fs::read(of("comm")).unwrap_or_default();
            Some(format!("{} by {name}", String::from_utf8_lossy(&shown).trim()))
        };
        for name in ["cmdline", "environ"] {
            if marked(name) {
                return found(name);
            }
        }
        if fs::read_link(of("cwd")).is_ok_and(|cwd| is_marked(cwd.as_os_str().as_encoded_bytes())) {
            return found("cwd");
        }
        // Its own mounts of the home's storage.
        let mounts = fs::read_link(of("ns/mnt")).ok();
        if mounts.as_deref() != own_mounts && marked("mountinfo") {
            return found("mountinfo");
        }
        None
    }

    /// Processes of this home that are called so.
    pub(crate) fn pids_called(&self, name: &str) -> Vec<u32> {
        let of_this_home = self.processes().into_iter();
        of_this_home
            .map(|(pid, _)| pid)
            .filter(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name))
            .collect()
    }

    /// Cgroups of this home's sandboxes, in whatever hierarchy.
    pub(crate) fn cgroups(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                if entry.file_name().to_string_lossy().contains(&self.tag) {
                    found.push(entry.path());
                } else {
                    open.push(entry.path());
                }
            }
        }
        found
    }

    fn mounts(&self) -> Vec<String> {
        let all = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let home = self.path().to_str().unwrap();
        all.lines().filter(|line| line.contains(home)).map(str::to_owned).collect()
    }

    fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        left.extend(self.sandboxes().iter().map(|path| format!("{path:?}")));
        left.extend(self.cgroups().iter().map(|path| format!("{path:?}")));
        left.extend(self.mounts());
        let processes = self.processes().into_iter();
        left.extend(processes.map(|(pid, mark)| format!("process {pid}: {mark}")));
        left
    }

    /// No process, no mount, no cgroup, no directory. Right now, or after the keeper has done its work.
    #[track_caller]
    pub(crate) fn assert_nothing_left(&self) {
        assert!(self.is_clean_within(CLEANED_WITHIN), "left behind: {:#?}", self.left());
    }

    fn is_clean_within(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while !self.left().is_empty() {
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(LOOK_EVERY);
        }
        true
    }
}

/// A test that failed must not harm the next one. The keeper gets its chance first: killed at its work, it would be
/// the reason for what is left. Then what is left is removed by force.
impl Drop for Home {
    fn drop(&mut self) {
        self.is_clean_within(KEEPER_CHANCE);
        // What only shares a mount with a sandbox may be anything on this machine; it is reported, not killed.
        for (pid, _) in self.processes().into_iter().filter(|(pid, mark)| *pid != 1 && !mark.ends_with("mountinfo")) {
            drop(kill(pid, Signal::KILL));
        }
        let deadline = Instant::now() + KEEPER_CHANCE;
        while !self.cgroups().is_empty() && Instant::now() < deadline {
            self.cgroups().iter().for_each(|cgroup| remove_cgroup(cgroup));
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// Best effort: with processes in it there is no way.
fn remove_cgroup(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_cgroup(&entry.path());
        }
    }
    drop(fs::remove_dir(dir));
}

/// Roots prepared by the binary as it is now.
fn shared_cache() -> PathBuf {
    let built = fs::metadata(ATOLL).unwrap();
    let name = format!("roots-{}-{}", built.mtime(), built.mtime_nsec());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::DirBuilder::new().recursive(true).mode(0o755).create(&path).unwrap();
    path
}

/// The binary, about to be called.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) command: Command,
}

/// How a call went.
pub(crate) struct Done {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    pub(crate) took: Duration,
}

impl std::fmt::Debug for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Done")
            .field("code", &self.code)
            .field("signal", &self.signal)
            .field("out", &String::from_utf8_lossy(&self.out))
            .field("err", &String::from_utf8_lossy(&self.err))
            .field("took", &self.took)
            .finish()
    }
}

impl Done {
    #[track_caller]
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }

    #[track_caller]
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8(self.err.clone()).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// All that matters of most calls.
    #[track_caller]
    pub(crate) fn assert(&self, code: i32, out: &str, err: &str) {
        let found = (self.code, String::from_utf8_lossy(&self.out), String::from_utf8_lossy(&self.err));
        assert_eq!(found, (Some(code), out.into(), err.into()));
    }
}

impl Call {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it to its end.
    #[track_caller]
    pub(crate) fn done(self) -> Done {
        self.start().done()
    }

    /// Runs it to its end with this on its standard input.
    #[track_caller]
    pub(crate) fn done_with(mut self, input: Vec<u8>) -> Done {
        self.command.stdin(Stdio::piped());
        let mut running = self.start();
        let mut stdin = running.stdin.take().unwrap();
        // Whoever does not read it all closes the pipe, which is no failure here.
        let feeder = thread::spawn(move || drop(stdin.write_all(&input)));
        let done = running.done();
        feeder.join().unwrap();
        done
    }

    /// Starts it; both outputs are read as they come.
    #[track_caller]
    pub(crate) fn start(mut self) -> Running {
        let started = Instant::now();
        let mut child = self.command.spawn().unwrap();
        let out = child.stdout.take().map(Output::follow);
        let err = child.stderr.take().map(Output::follow);
        Running { stdin: child.stdin.take(), child: Some(child), out, err, started }
    }

    /// Starts it with a pipe as its standard input.
    #[track_caller]
    pub(crate) fn start_with_stdin(mut self) -> Running {
        self.command.stdin(Stdio::piped());
        self.start()
    }
}

/// A stream that a thread reads, line by line.
#[derive(Debug)]
struct Output {
    pieces: mpsc::Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

impl Output {
    fn follow(stream: impl Read + Send + 'static) -> Self {
        let (sender, pieces) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stream);
            loop {
                let mut piece = Vec::new();
                match reader.read_until(b'\n', &mut piece) {
                    Ok(1..) if sender.send(piece).is_ok() => {}
                    _ => return,
                }
            }
        });
        Self { pieces, seen: Vec::new() }
    }

    #[track_caller]
    fn line(&mut self) -> String {
        self.try_line().expect("another line of output")
    }

    fn try_line(&mut self) -> Option<String> {
        let piece = self.pieces.recv_timeout(PATIENCE).ok()?;
        self.seen.extend_from_slice(&piece);
        Some(String::from_utf8(piece).unwrap())
    }

    #[track_caller]
    fn rest(mut self) -> Vec<u8> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.pieces.recv_timeout(deadline - Instant::now()) {
                Ok(piece) => self.seen.extend_from_slice(&piece),
                Err(mpsc::RecvTimeoutError::Disconnected) => return self.seen,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    panic!("the binary is gone and its output is still open")
                }
            }
        }
    }
}

/// A call in progress. Killed if the test ends first.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) stdin: Option<ChildStdin>,
    child: Option<Child>,
    out: Option<Output>,
    err: Option<Output>,
    started: Instant,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    /// The next line of standard output, with its newline.
    #[track_caller]
    pub(crate) fn line(&mut self) -> String {
        self.out.as_mut().unwrap().line()
    }

    /// The next line of standard output, if there is another.
    pub(crate) fn try_line(&mut self) -> Option<String> {
        self.out.as_mut().unwrap().try_line()
    }

    /// The next line of standard error.
    #[track_caller]
    pub(crate) fn error_line(&mut self) -> String {
        self.err.as_mut().unwrap().line()
    }

    /// Writes to its standard input.
    #[track_caller]
    pub(crate) fn tell(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn done(mut self) -> Done {
        drop(self.stdin.take());
        let status = self.wait();
        let took = self.started.elapsed();
        Done {
            code: status.code(),
            signal: status.signal(),
            out: self.out.take().map(Output::rest).unwrap_or_default(),
            err: self.err.take().map(Output::rest).unwrap_or_default(),
            took,
        }
    }

    #[track_caller]
    fn wait(&mut self) -> ExitStatus {
        let mut child = self.child.take().unwrap();
        let pid = child.id();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || drop(sender.send(child.wait())));
        match receiver.recv_timeout(PATIENCE) {
            Ok(status) => status.unwrap(),
            Err(_) => {
                // Only to leave nothing: the test fails in any case.
                drop(kill(pid, Signal::KILL));
                panic!("the binary did not end within {PATIENCE:?}: {self:?}")
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Sends a signal to a process of the host.
pub(crate) fn kill(pid: u32, signal: Signal) -> io::Result<()> {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    Ok(kill_process(pid, signal)?)
}

/// Looks until it is so.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        thread::sleep(LOOK_EVERY);
    }
}

/// A program for probing the kernel from inside, made from `probe.c` once per state of its source.
/// `None` if this host has no compiler.
pub(crate) fn probe() -> Option<Vec<u8>> {
    compiled("probe.c", &["-static", "-pthread"])
}

/// A C program of these tests, compiled with these options; `None` if there is no compiler.
pub(crate) fn compiled(source: &str, options: &[&str]) -> Option<Vec<u8>> {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).join(source);
    let found = fs::metadata(&source).unwrap();
    let stem = source.file_stem().unwrap().to_string_lossy();
    let name = format!("{stem}-{}-{}", found.mtime(), found.mtime_nsec());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if !path.exists() {
        // Under another name first: of two tests that compile at once, either result is whole.
        let draft = path.with_extension(std::process::id().to_string());
        let compiled = command("gcc")
            .args(["-O1", "-Wall", "-Werror"])
            .args(options)
            .arg("-o")
            .args([draft.as_path(), &source])
            .stderr(Stdio::piped())
            .output()
            .ok()?;
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        fs::rename(&draft, &path).unwrap();
    }
    Some(fs::read(&path).unwrap())
}

/// A small disk of its own, unmounted in the end. Its path says nothing of the home: whoever else sees the mount must not
/// be taken for one of its processes.
pub(crate) struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Of this size; `None` if nothing may be mounted here.
    pub(crate) fn new(size: &str) -> Option<Self> {
        let dir = tempfile::Builder::new().prefix("small-disk-").tempdir().unwrap();
        let size = format!("size={size}");
        let mounted = command("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(dir.path()).status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(dir))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes no writes from here on. By a mount over it: the disk itself may have files that are open for writing.
    pub(crate) fn make_read_only(&self) {
        let done = command("mount").arg("--bind").args([self.path(), self.path()]).status();
        assert!(done.unwrap().success());
        let done = command("mount").args(["-o", "remount,bind,ro"]).arg(self.path()).status();
        assert!(done.unwrap().success());
    }

    pub(crate) fn make_writable(&self) {
        assert!(command("umount").arg("--lazy").arg(self.path()).status().unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a test that failed may have left something on it, or another mount.
        while command("umount")
            .arg("--lazy")
            .arg(self.path())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|it| it.success())
        {}
    }
}
