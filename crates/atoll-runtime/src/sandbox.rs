//! A sandbox: running commands in it, pausing it, destroying it. It is made in `making.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use atoll_egress::Events;
use atoll_isolation::cgroup::{self, Group};
use atoll_isolation::sys::process;
use atoll_isolation::{Ids, Isolation, remove_directory};
use atoll_protocol::{
    EgressTotals, KillReceipt, NetworkInfo, NetworkPolicy, PortInfo, ProcessId, PutSecret, SandboxName, SecretInfo,
    SessionId, TerminalId, WatchId,
};

use crate::Error;
use crate::command::Command;
use crate::exec::{Captures, ExecOutput};
use crate::files::{Files, Watch};
use crate::git::Git;
use crate::home::{SandboxDir, Storage};
use crate::host::HostInner;
use crate::journal::Restored;
use crate::link::Link;
use crate::making::{DESTROY_WITHIN, Made};
use crate::network::{self, Network};
use crate::port::{self, PortEvents};
use crate::process::{self as processes, Begun, Filter, Process, ProcessSpec, Registry, Retention};
use crate::session::{self, Session, SessionSpec};
use crate::shared::{Parts, Shared};
use crate::terminal::{self, Terminal, TerminalSpec};

/// What an answer holds of each output, if not told otherwise.
pub(crate) const ANSWER_BYTES: usize = 1024 * 1024;

/// How long the last words of what ran in it may take to be written down.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long its processes may take to stand still when it is paused: each does when it next leaves the kernel.
const PAUSE_WITHIN: Duration = Duration::from_secs(5);

/// What a sandbox may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Bytes of memory, page cache included.
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub pids: Option<u64>,
    /// Thousandths of a core.
    pub cpu_millis: Option<u64>,
    /// Open files of each process.
    pub open_files: Option<u64>,
}

/// How a sandbox should be.
#[derive(Debug, Clone, Default)]
pub struct SandboxOptions {
    /// Its name; made up if not given.
    pub name: Option<SandboxName>,
    /// How strongly it is walled off.
    pub isolation: Isolation,
    /// What it may use.
    pub limits: Limits,
    /// Variables of every command.
    pub env: BTreeMap<OsString, OsString>,
    /// What is remembered of ended processes.
    pub retention: Retention,
    /// Where its files are, and whether they stay.
    pub storage: Storage,
    /// What it may reach; nothing if not given. What storage that is kept remembers counts before it.
    pub network: Option<NetworkPolicy>,
    /// Keep trees of processes together by wardens even where cgroups could do it.
    pub without_cgroups: bool,
}

/// A handle on a live sandbox. Cheap to clone.
///
/// It is ended by [`Sandbox::destroy`]. If the last handle is dropped without that, its processes end, and its files
/// and cgroups are removed when this program ends, however that comes about.
#[derive(Debug, Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: SandboxName,
    shared: Arc<Shared>,
    host: Arc<HostInner>,
    init: OwnedFd,
    dir: SandboxDir,
    kept: Vec<PathBuf>,
    /// What could not be read of its past.
    fault: Option<String>,
    /// Why programs inside may not find the name server.
    egress_fault: OnceLock<String>,
    _ids: Option<Ids>,
}

impl Sandbox {
    /// With the way out that it should have: one with other rules must not be.
    pub(crate) async fn begin(host: Arc<HostInner>, made: Made) -> Result<Self, Error> {
        let network = made.options.network.clone();
        let sandbox = Self::new(host, made)?;
        match network::begin(&sandbox.inner.shared, network).await {
            Err(error) => {
                sandbox.destroy().await?;
                Err(error)
            }
            Ok(warning) => {
                if let Some(warning) = warning {
                    // Set here alone, once in the life of a sandbox.
                    sandbox.inner.egress_fault.set(warning).ok();
                }
                Ok(sandbox)
            }
        }
    }

    fn new(host: Arc<HostInner>, made: Made) -> Result<Self, Error> {
        let Made { name, options, dir, ids, group, launched, kept, restored } = made;
        let cwd = match options.isolation {
            Isolation::Namespaces => PathBuf::from("/workspace"),
            Isolation::None => dir.path.join("disk/workspace"),
        };
        let mut env = default_environment(options.isolation);
        env.extend(options.env);
        let shared = Shared::new(Parts {
            link: Link::new(launched.socket, launched.pid).map_err(|error| Error::io("watch init", &error))?,
            isolation: options.isolation,
            ids: ids.as_ref().map(Ids::map),
            group,
            proc: launched.proc,
            init: launched.pid,
            storage: dir.path.clone(),
            cwd,
            env,
            open_files: open_files(&host, options.limits.open_files)?,
            registry: Registry::new(options.retention),
            network: Network::new(name.as_str(), options.isolation, dir.kept.then_some(dir.path.as_path())),
            journal: restored.as_ref().map(|restored| Arc::clone(&restored.journal)),
        })?;
        let shared = Arc::new(shared);
        let fault = restored.and_then(|restored| restore(&shared, restored));
        let egress_fault = OnceLock::new();
        let inner = Inner { name, shared, host, init: launched.pidfd, dir, kept, fault, egress_fault, _ids: ids };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Its name.
    pub fn name(&self) -> &SandboxName {
        &self.inner.name
    }

    /// Whether its init lives. Without it nothing can be started any more; what was printed can still be read.
    pub fn is_alive(&self) -> bool {
        self.inner.shared.link.is_open()
    }

    /// What could not be read of what earlier lives over its storage have left, or cannot be written: for later ones, or
    /// for programs inside.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        self.inner.fault.iter().chain(self.inner.egress_fault.get()).map(String::as_str)
    }

    /// Runs a command to its end.
    pub async fn exec(&self, command: Command) -> Result<ExecOutput, Error> {
        self.exec_with(ProcessSpec::new(command), ANSWER_BYTES).await
    }

    /// Runs a command to its end, with an id, labels, and so many bytes of each output in the answer.
    pub async fn exec_with(&self, spec: ProcessSpec, answer_bytes: usize) -> Result<ExecOutput, Error> {
        let named = spec.id.is_some();
        let (captures, slot) = Captures::new(answer_bytes);
        match processes::enter(&self.inner.shared, spec, Some(captures))? {
            Begun::New(process) => crate::exec::collect(&self.inner.shared, &process, slot, named).await,
            Begun::Existing(process) => crate::exec::from_log(&process, answer_bytes).await,
        }
    }

    /// Starts a process; returns when its program runs. The same id and command again: the one that is there.
    pub async fn start(&self, spec: ProcessSpec) -> Result<Process, Error> {
        processes::begin(&self.inner.shared, spec).await
    }

    /// The process with this id.
    pub fn process(&self, id: &ProcessId) -> Result<Process, Error> {
        self.inner.shared.registry.get(id)
    }

    /// Processes, oldest first.
    pub fn processes(&self, filter: &Filter) -> Vec<Process> {
        self.inner.shared.registry.list(filter)
    }

    /// Forgets an ended process and its output.
    pub fn remove_process(&self, id: &ProcessId) -> Result<(), Error> {
        self.inner.shared.registry.remove(id)
    }

    /// Ends every process that the filter means. One receipt for all.
    pub async fn kill_all(&self, filter: &Filter, grace: Duration) -> Result<KillReceipt, Error> {
        processes::kill_all(&self.inner.shared, filter, grace).await
    }

    /// Makes a session; returns when its shell waits for commands.
    pub async fn create_session(&self, spec: SessionSpec) -> Result<Session, Error> {
        session::create(&self.inner.shared, spec, None).await
    }

    /// The session with this id.
    pub fn session(&self, id: &SessionId) -> Result<Session, Error> {
        self.inner.shared.sessions.get(id)
    }

    /// Sessions, oldest first.
    pub fn sessions(&self) -> Vec<Session> {
        self.inner.shared.sessions.list()
    }

    /// Opens a terminal; returns when its program runs. An id whose program lives: the one that is there, however many
    /// ask at once. An id whose program has ended gets a new one.
    pub async fn open_terminal(&self, spec: TerminalSpec) -> Result<Terminal, Error> {
        terminal::open(&self.inner.shared, spec).await
    }

    /// The terminal with this id.
    pub fn terminal(&self, id: &TerminalId) -> Result<Terminal, Error> {
        self.inner.shared.terminals.get(id)
    }

    /// Terminals, oldest first; ended ones too, as long as they are remembered.
    pub fn terminals(&self) -> Vec<Terminal> {
        self.inner.shared.terminals.list()
    }

    /// Ends everything that was started under this id, and forgets it.
    pub async fn delete_terminal(&self, id: &TerminalId, grace: Duration) -> Result<KillReceipt, Error> {
        let terminals = self.inner.shared.terminals.all_of(id);
        if terminals.is_empty() {
            return Err(Error::TerminalNotFound { id: id.to_string() });
        }
        let mut total = KillReceipt { signalled: 0, survivors: 0 };
        for terminal in terminals {
            let receipt = terminal.kill(grace).await?;
            total.signalled += receipt.signalled;
            total.survivors += receipt.survivors;
            self.inner.shared.terminals.discard(&terminal);
        }
        Ok(total)
    }

    /// Its files, as this user sees them; as commands without a user do if none is given.
    pub fn files(&self, user: Option<String>) -> Files {
        Files::new(&self.inner.shared, user)
    }

    /// Its git, as this user runs it.
    pub fn git(&self, user: Option<String>) -> Git {
        Git::new(self.clone(), user)
    }

    /// Its watches, oldest first.
    pub fn watches(&self) -> Vec<Watch> {
        self.inner.shared.watches.list()
    }

    /// The watch with this id.
    pub fn watch(&self, id: &WatchId) -> Result<Watch, Error> {
        self.inner.shared.watches.get(id)
    }

    /// Ends a watch and forgets it.
    pub fn remove_watch(&self, id: &WatchId) -> Result<(), Error> {
        self.inner.shared.watches.remove(id)
    }

    /// Connects from inside, as a program there would: by the rules, if it is not to the sandbox itself. Never waits.
    pub async fn dial(&self, address: SocketAddr) -> Result<std::net::TcpStream, Error> {
        let connected = self.inner.shared.link.connect(address).await?;
        connected.map(Into::into).map_err(|error| Error::io(&format!("connect to {address}"), &error))
    }

    /// What it may reach, and what has gone out.
    pub fn network(&self) -> NetworkInfo {
        self.inner.shared.network.info()
    }

    /// What has gone out of it; `None` if there is no way out.
    pub fn egress_totals(&self) -> Option<EgressTotals> {
        self.inner.shared.network.totals()
    }

    /// Changes what it may reach. New connections obey at once; those that are no longer allowed are cut off.
    pub async fn set_network(&self, policy: NetworkPolicy) -> Result<NetworkInfo, Error> {
        network::set_policy(&self.inner.shared, policy).await?;
        Ok(self.network())
    }

    /// What happened on the way out.
    pub fn egress_events(&self) -> &Arc<Events> {
        self.inner.shared.network.events()
    }

    /// Its secrets, without their values.
    pub fn secrets(&self) -> Vec<SecretInfo> {
        self.inner.shared.network.secrets()
    }

    /// Gives it a secret that its commands may use and not see.
    pub async fn put_secret(&self, name: &str, secret: PutSecret) -> Result<SecretInfo, Error> {
        network::put_secret(&self.inner.shared, name, secret).await
    }

    /// Takes a secret away.
    pub async fn remove_secret(&self, name: &str) -> Result<(), Error> {
        network::remove_secret(&self.inner.shared, name).await
    }

    /// Ports on which something listens inside, lowest first, with who does where that can be known.
    pub async fn ports(&self) -> Result<Vec<PortInfo>, Error> {
        port::list(&self.inner.shared).await
    }

    /// What listens now, and ports as they open and close from then on.
    pub async fn port_events(&self) -> Result<(Vec<PortInfo>, PortEvents), Error> {
        PortEvents::begin(&self.inner.shared).await
    }

    /// Connects to a port inside: on its loopback, or wherever it is bound. The stream never waits.
    pub async fn connect(&self, port: u16) -> Result<TcpStream, Error> {
        port::connect(&self.inner.shared, port).await
    }

    /// What its processes use now. Counted where the sandbox has a limit; without one, nothing is known.
    pub fn usage(&self) -> cgroup::Usage {
        let limited = self.inner.shared.group.as_ref().filter(|group| group.limits() != cgroup::Limits::default());
        limited.map(Group::usage).unwrap_or_default()
    }

    /// Stops everything in it where it stands; [`Sandbox::resume`] lets it go on. A request that needs something inside
    /// waits until then. The time limits of commands stand still with them; those of waits do not.
    pub async fn pause(&self) -> Result<(), Error> {
        // So that its ports can be looked at meanwhile: the first look asks init, which will not answer then.
        drop(self.ports().await);
        self.with_group(|group| group.freeze(PAUSE_WITHIN)).await?;
        self.inner.shared.pauses.begin();
        Ok(())
    }

    /// Lets everything in it go on after a [`Sandbox::pause`].
    pub async fn resume(&self) -> Result<(), Error> {
        self.with_group(Group::thaw).await?;
        self.inner.shared.pauses.end();
        Ok(())
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> bool {
        self.inner.shared.pauses.is_now()
    }

    /// Cgroup files may make their reader wait.
    async fn with_group(
        &self,
        act: impl FnOnce(&Group) -> Result<(), cgroup::Error> + Send + 'static,
    ) -> Result<(), Error> {
        let missing = || Error::PauseUnavailable { why: "it has no cgroup".to_owned() };
        let group = self.inner.shared.group.clone().ok_or_else(missing)?;
        let done = tokio::task::spawn_blocking(move || act(&group)).await;
        let done = done.map_err(|error| Error::Internal { what: format!("pausing failed: {error}") })?;
        done.map_err(|error| {
            let gone = matches!(error, cgroup::Error::Destroyed { .. });
            if gone { Error::SandboxGone } else { Error::PauseUnavailable { why: error.to_string() } }
        })
    }

    /// Ends everything in it and removes everything of it, other than storage that is to be kept.
    pub async fn destroy(&self) -> Result<(), Error> {
        let inner = Arc::clone(&self.inner);
        inner.stop();
        let gone = tokio::task::spawn_blocking(move || inner.remove());
        let gone =
            gone.await.map_err(|error| Error::Internal { what: format!("destroying the sandbox failed: {error}") })?;
        if let Some(journal) = &self.inner.shared.journal {
            // What cannot be told in time is told by the stop itself, which is written down already.
            drop(tokio::time::timeout(LAST_WORDS, self.all_gone()).await);
            journal.synced().await.ok();
        }
        gone
    }

    /// Waits until the last of what it ran is over, and written down.
    async fn all_gone(&self) {
        let terminals = self.terminals();
        let behind = terminals.iter().map(Terminal::process).cloned();
        for process in self.processes(&Filter::default()).into_iter().chain(behind) {
            drop(process.gone().await);
        }
    }
}

impl Drop for Inner {
    /// Tasks of running commands hold on to the link; nobody can reach them any more.
    fn drop(&mut self) {
        self.stop();
        if let Some(journal) = &self.shared.journal {
            journal.close();
        }
    }
}

impl Inner {
    fn stop(&self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        if let Some(journal) = &self.shared.journal {
            journal.stop();
        }
        self.shared.link.close();
    }

    fn remove(&self) -> Result<(), Error> {
        if self.shared.isolation == Isolation::Namespaces {
            // Its whole PID namespace ends with it. It may be gone already.
            drop(process::signal_pidfd(self.init.as_fd(), atoll_protocol::Signal::KILL.number()));
        }
        if let (true, Some(group)) = (self.shared.pauses.is_now(), &self.shared.group) {
            // Without a wall init ends by itself when its socket closes, which it cannot while it stands still.
            drop(group.thaw());
        }
        drop(process::wait_pidfd(self.init.as_fd()));
        if let Some(group) = self.shared.group.clone() {
            match group.destroy(DESTROY_WITHIN) {
                Ok(()) | Err(cgroup::Error::Destroyed { .. }) => {}
                Err(error) => {
                    return Err(Error::Internal { what: error.to_string() });
                }
            }
        }
        if !self.dir.kept {
            remove_directory(&self.dir.path)
                .map_err(|error| Error::io(&format!("remove {}", self.dir.path.display()), &error))?;
        }
        for path in &self.kept {
            // A keeper that was killed has nothing to forget.
            drop(self.host.keeper.forget(path));
        }
        Ok(())
    }
}

/// Puts back what earlier lives have left. Returns what could not be read.
fn restore(shared: &Arc<Shared>, restored: Restored) -> Option<String> {
    let Restored { journal, commands, sessions, fault } = restored;
    for command in commands {
        let (terminal, resizes) = (command.item.began.terminal.clone(), command.item.resizes.clone());
        let process = Process::restored(command, &journal, Arc::downgrade(shared));
        match terminal {
            None => shared.registry.restore(process),
            // A name that was good is good.
            Some(made) => drop(Terminal::restored(&made, process, resizes).map(|it| shared.terminals.restore(it))),
        }
    }
    for session in sessions {
        session::restore(shared, session, &journal);
    }
    shared.terminals.prune();
    fault
}

/// Soft and hard limit on open files of each program; `None` leaves them as they are.
fn open_files(host: &HostInner, wanted: Option<u64>) -> Result<Option<(u64, u64)>, Error> {
    match (wanted, host.quotas.open_files) {
        (Some(wanted), Some((_, most))) if wanted > most => Err(Error::LimitUnavailable {
            what: format!("cannot set the limit on open files to {wanted}: at most {most} can be had"),
            hint: Some(
                "raise the hard limit of Atoll itself (ulimit -Hn) to twice of what you need, or run it as root"
                    .to_owned(),
            ),
        }),
        (Some(wanted), _) => Ok(Some((wanted, wanted))),
        (None, share) => Ok(share),
    }
}

fn default_environment(isolation: Isolation) -> BTreeMap<OsString, OsString> {
    let home = match isolation {
        Isolation::Namespaces => OsString::from("/root"),
        Isolation::None => std::env::var_os("HOME").unwrap_or_else(|| "/".into()),
    };
    let user = match isolation {
        Isolation::Namespaces => OsString::from("root"),
        Isolation::None => std::env::var_os("USER").unwrap_or_else(|| "root".into()),
    };
    BTreeMap::from([
        ("PATH".into(), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into()),
        ("HOME".into(), home),
        ("USER".into(), user.clone()),
        ("LOGNAME".into(), user),
        ("SHELL".into(), "/bin/bash".into()),
        ("LANG".into(), "C.UTF-8".into()),
    ])
}

/// Lower-case letters and digits, five bits each.
pub(crate) fn random_text(length: usize) -> Result<String, Error> {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = vec![0; length];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::io("get random bytes", &error.into()))?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}
