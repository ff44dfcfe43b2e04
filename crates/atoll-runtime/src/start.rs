//! From a command as asked for to a running one: the one path on which every child is born.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;
use std::time::SystemTime;

use atoll_isolation::wire::{Session, Spawn, SpawnStage};
use atoll_protocol::ProcessId;
use rustix::io::Errno;
use tokio::time::Instant;

use crate::Error;
use crate::command::{self, Command, Invocation};
use crate::link::{News, SpawnError};
use crate::network::{self, Registered};
use crate::pipes::{self, ChildEnds, OurEnds};
use crate::pty::Pty;
use crate::run::{Main, Started};
use crate::session;
use crate::shared::Shared;
use crate::terminal::Window;
use crate::tree::Tree;
use crate::user::{self, User};

/// The resource number of setrlimit(2) for open files.
const RLIMIT_NOFILE: u32 = 7;

/// What a program's standard descriptors are.
#[derive(Debug)]
pub(crate) enum Standard {
    /// Pipes, as the command says.
    Pipes,
    /// Pipes, and the memory by which a session's shell reports.
    Shell(session::Page),
    /// One terminal for all three, which also controls it.
    Terminal(Window),
}

impl Standard {
    fn session(&self) -> Session {
        match self {
            Self::Pipes | Self::Shell(_) => Session::Own,
            Self::Terminal(_) => Session::Terminal,
        }
    }

    fn window(&self) -> Option<Window> {
        match self {
            Self::Pipes | Self::Shell(_) => None,
            Self::Terminal(window) => Some(window.clone()),
        }
    }

    async fn make<'a>(
        &self,
        shared: &'a Shared,
        command: &Command,
        user: &User,
    ) -> Result<(ChildEnds<'a>, OurEnds), Error> {
        let owner = shared.outside((user.uid, user.gid));
        match self {
            Self::Pipes | Self::Shell(_) => pipes::make(&command.stdin, shared.null.as_fd(), owner),
            Self::Terminal(window) => {
                pipes::of_terminal(Pty::open(shared, window.size(), owner.map(|(uid, _)| uid)).await?)
            }
        }
        .map_err(|error| Error::io("make the command's standard descriptors", &error))
    }
}

/// Starts the program and returns when it runs, with its pid.
pub(crate) async fn start(
    shared: &Arc<Shared>,
    id: &str,
    command: &Command,
    standard: &Standard,
) -> Result<(u32, Started), Error> {
    let user = user::resolve(shared, command.user.as_deref()).await?;
    let mut missing = None;
    for argv in candidates(shared, &command.invocation) {
        match attempt(shared, id, command, &user, &argv, standard).await {
            Err(error @ Error::CommandNotFound { .. }) => missing = Some(error),
            done => {
                if argv.first().is_some_and(|shell| shell == "sh") && missing.is_some() && done.is_ok() {
                    shared.shell.only_sh();
                }
                return done;
            }
        }
    }
    Err(missing.unwrap_or(Error::SandboxGone))
}

/// What to try in turn: each shell that there may be, or the one program asked for.
fn candidates(shared: &Shared, invocation: &Invocation) -> Vec<Vec<OsString>> {
    let shells = shared.shell.names().iter();
    match invocation {
        Invocation::Argv(argv) => vec![argv.clone()],
        Invocation::Session { listener, .. } => vec![session::session_argv(listener)],
        Invocation::Restored { .. } => vec![session::once_argv()],
        Invocation::Shell(text) => shells.map(|shell| command::shell_argv(shell, text)).collect(),
        Invocation::Interactive => shells.map(|shell| command::interactive_argv(shell)).collect(),
    }
}

async fn attempt(
    shared: &Arc<Shared>,
    id: &str,
    command: &Command,
    user: &User,
    argv: &[OsString],
    standard: &Standard,
) -> Result<(u32, Started), Error> {
    // Never closed, so there is always a permit to come.
    let young = Arc::clone(&shared.starts).acquire_owned().await.ok();
    let number = shared.next_number();
    let tree = shared.new_tree(number, command.memory_bytes)?;
    let extras = Extras::of(command, standard)?;
    let registered = register(shared, id, command, &tree)?;
    let spawn = Spawn {
        session: standard.session(),
        extras: extras.count(),
        unstoppable: matches!(command.invocation, Invocation::Session { .. }),
        // Init signals its own children for us; a warden's child it does not know.
        pidfd: matches!(command.invocation, Invocation::Session { .. }) || matches!(tree, Tree::Warden(_)),
        ..spawn_request(shared, number, command, user, argv, &tree)?
    };
    let (theirs, ours) = standard.make(shared, command, user).await?;
    let mut news = shared.link.listen(number)?;
    let (started, started_at) = (Instant::now(), SystemTime::now());
    let spawned = {
        let mut fds: Vec<BorrowedFd<'_>> = vec![theirs.stdin.as_fd(), theirs.stdout.as_fd(), theirs.stderr.as_fd()];
        fds.extend(extras.fds());
        if let Tree::Cgroup(leaf) = &tree {
            fds.push(leaf.dir());
            fds.extend(leaf.memory_procs());
        }
        let mut spawning = std::pin::pin!(shared.link.spawn(spawn, &fds));
        tokio::select! {
            biased;
            spawned = &mut spawning => spawned,
            Some(event) = news.recv() => match event {
                // It comes instead of an answer: the program was faster, and has killed its warden.
                News::WardenLost => Err(SpawnError::Other(Error::Internal {
                    what: "the command was started and is lost: it killed its warden".to_owned(),
                })),
                // It follows the answer, which another thread has delivered since `spawning` was polled.
                News::Exited { .. }
                | News::TreeEmpty
                | News::Reported { .. }
                | News::NotRun { .. }
                | News::ShellLost { .. } => {
                    news.put_back(event);
                    spawning.await
                }
            },
        }
    };
    drop(theirs);
    if let (Ok(spawned), Tree::Warden(_)) = (&spawned, &tree) {
        registered.started(shared.proc.as_fd(), spawned.pid);
    }
    match spawned {
        Ok(spawned) => Ok((
            spawned.pid,
            Started {
                shared: Arc::clone(shared),
                id: id.to_owned(),
                number,
                tree,
                main: spawned.pidfd.map_or(Main::Command, Main::Process),
                news,
                ends: ours,
                window: standard.window(),
                started,
                started_at,
                young,
                registered: Some(registered),
            },
        )),
        Err(error) => {
            shared.link.forget(number);
            Err(refusal(error, shared, command, argv))
        }
    }
}

/// A session's shell is nobody's own; what it runs is told when it does.
fn register(shared: &Shared, id: &str, command: &Command, tree: &Tree) -> Result<Registered, Error> {
    let own = !matches!(command.invocation, Invocation::Session { .. });
    let id = Some(id).filter(|_| own).and_then(|id| ProcessId::new(id).ok());
    let within = command.network.as_deref().map(network::rules).transpose()?;
    Ok(shared.network.commands.register(tree, id, within))
}

fn spawn_request(
    shared: &Shared,
    number: u64,
    command: &Command,
    user: &User,
    argv: &[OsString],
    tree: &Tree,
) -> Result<Spawn, Error> {
    let mut defaults = shared.environment();
    user.environment(&mut defaults);
    let foundation = match &command.invocation {
        Invocation::Restored { snapshot, .. } => Some(snapshot.foundation(command, &defaults)),
        Invocation::Shell(_) | Invocation::Interactive | Invocation::Argv(_) | Invocation::Session { .. } => None,
    };
    let command = foundation.as_ref().unwrap_or(command);
    let environment = command::environment(defaults, &command.env);
    let program = argv.first().map(OsString::as_os_str).unwrap_or_default();
    let path = environment.get(std::ffi::OsStr::new("PATH")).map(OsString::as_os_str);
    let mut candidates = command::candidates(program, path);
    if matches!(command.invocation, Invocation::Session { .. } | Invocation::Restored { .. }) {
        // A session's PATH is for its commands; whatever it says, the shell is bash.
        candidates.extend(command::candidates(program, None));
    }
    let (argv, env) = (command::raw(argv), command::strings(&environment));
    command::check_length(&argv, &env)?;
    let (in_cgroup, in_memory_cgroup) = match tree {
        Tree::Cgroup(leaf) => (true, leaf.memory_procs().is_some()),
        Tree::Warden(_) | Tree::Part(_) => (false, false),
    };
    Ok(Spawn {
        command: number,
        candidates,
        argv,
        env,
        cwd: working_directory(shared, command),
        user: (user.uid, user.gid),
        groups: user.groups.clone(),
        limits: limits(shared, &command.invocation),
        umask: 0o022,
        session: Session::Own,
        in_cgroup,
        in_memory_cgroup,
        warden: !in_cgroup,
        extras: 0,
        unstoppable: false,
        pidfd: false,
        // The thread would be one of its processes.
        beside: shared.group.as_ref().is_some_and(|group| group.limits().pids.is_none()),
    })
}

fn working_directory(shared: &Shared, command: &Command) -> Vec<u8> {
    let cwd = match &command.cwd {
        None => shared.cwd.clone(),
        Some(given) => shared.cwd.join(given),
    };
    cwd.into_os_string().into_vec()
}

/// Resource limits that every program of the sandbox has.
pub(crate) fn open_files(shared: &Shared) -> Vec<(u32, u64, u64)> {
    Vec::from_iter(shared.open_files.map(|(soft, hard)| (RLIMIT_NOFILE, soft, hard)))
}

/// A shell that becomes what a session was is born with that one's limits.
fn limits(shared: &Shared, invocation: &Invocation) -> Vec<(u32, u64, u64)> {
    let mut limits = open_files(shared);
    match invocation {
        Invocation::Session { limits: kept, .. } => limits.extend(kept),
        Invocation::Restored { snapshot, .. } => limits.extend(&snapshot.limits),
        Invocation::Shell(_) | Invocation::Interactive | Invocation::Argv(_) => {}
    }
    limits
}

/// What a session's shell is given beyond its standard descriptors: the object, then what it reports by or what it runs.
/// It closes them before any of its commands runs.
struct Extras<'a> {
    object: Option<BorrowedFd<'static>>,
    page: Option<BorrowedFd<'a>>,
    script: Option<OwnedFd>,
}

impl<'a> Extras<'a> {
    fn of(command: &Command, standard: &'a Standard) -> Result<Self, Error> {
        let page = match standard {
            Standard::Shell(page) => Some(page.as_fd()),
            Standard::Pipes | Standard::Terminal(_) => None,
        };
        let (object, script) = match &command.invocation {
            Invocation::Shell(_) | Invocation::Interactive | Invocation::Argv(_) => (None, None),
            Invocation::Session { .. } => (Some(session::object()?), None),
            Invocation::Restored { snapshot, text } => {
                let script = session::script_file(&snapshot.script(command), text.as_bytes())?;
                (Some(session::object()?), Some(script))
            }
        };
        Ok(Self { object, page, script })
    }

    fn count(&self) -> u32 {
        [self.object.is_some(), self.page.is_some(), self.script.is_some()].into_iter().map(u32::from).sum()
    }

    fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.object.into_iter().chain(self.page).chain(self.script.as_ref().map(AsFd::as_fd))
    }
}

/// The kernel's word in the user's words. In every case nothing was started.
fn refusal(error: SpawnError, shared: &Shared, command: &Command, argv: &[OsString]) -> Error {
    let (stage, error) = match error {
        SpawnError::Other(error) => return error,
        SpawnError::Refused { stage, error } => (stage, error),
    };
    let program = argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match (stage, Errno::from_io_error(&error)) {
        (SpawnStage::Exec, Some(Errno::NOENT | Errno::NOTDIR)) => Error::CommandNotFound { program },
        (SpawnStage::Exec, Some(Errno::TOOBIG)) => {
            let bytes = argv.iter().map(|word| word.as_bytes().len() as u64).sum();
            Error::ArgumentsTooLong { bytes }
        }
        (SpawnStage::Exec, Some(Errno::NOEXEC)) => {
            Error::NotExecutable { program, why: "it is no program that this machine can run".to_owned() }
        }
        (SpawnStage::Exec, _) => Error::NotExecutable { program, why: plain(&error) },
        (SpawnStage::Cwd, _) => {
            let cwd = command.cwd.as_deref().unwrap_or(&shared.cwd).to_string_lossy().into_owned();
            Error::CwdNotFound { cwd, why: plain(&error) }
        }
        (SpawnStage::User, _) => {
            Error::UserNotFound { user: command.user.clone().unwrap_or_default(), hint: Some(user::NOT_MAPPED) }
        }
        (SpawnStage::Clone, Some(Errno::AGAIN | Errno::NOMEM)) => Error::ProcessLimit { why: plain(&error) },
        (SpawnStage::Limits, _) => Error::LimitUnavailable {
            what: format!("cannot set the limit on open files: {}", plain(&error)),
            hint: Some("the limit must not be above that of Atoll itself (ulimit -n)".to_owned()),
        },
        (SpawnStage::Request | SpawnStage::Clone | SpawnStage::Cgroup | SpawnStage::Session, _) => {
            Error::Internal { what: format!("the command was not started: {stage:?}: {error}") }
        }
    }
}

/// The message without Rust's `(os error N)`.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
