//! The way out of this sandbox: opened with the first rule, changed while it runs, and remembered where storage is kept.
//!
//! What decides is `atoll-egress`; here is what it needs of a sandbox: sockets, who opened what, files inside, variables.

mod commands;
mod inside;
mod kept;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atoll_egress::{Egress, Events, Policy, Secrets, Sockets};
use atoll_isolation::Isolation;
use atoll_isolation::owner::Owners;
use atoll_isolation::sys::identity;
use atoll_protocol::{Denial, EgressRule, EgressTotals, NetworkInfo, NetworkPolicy, ProcessId, PutSecret, SecretInfo};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::Error;
use crate::link::Link;
use crate::shared::Shared;

pub(crate) use commands::{Commands, Narrowed, Registered};

/// See the module. There is one in every sandbox; in most of them nothing is ever opened.
#[derive(Debug)]
pub(crate) struct Network {
    sandbox: String,
    isolation: Isolation,
    /// Where rules and secrets are kept, if the storage is.
    kept: Option<PathBuf>,
    state: Mutex<State>,
    events: Arc<Events>,
    pub(crate) commands: Arc<Commands>,
    /// Changes come one after the other.
    changing: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    given: NetworkPolicy,
    secrets: Arc<Secrets>,
    egress: Option<Egress>,
    /// Our own sockets inside, by number: nobody else's business.
    own: Vec<u64>,
}

impl Network {
    pub(crate) fn new(sandbox: &str, isolation: Isolation, kept: Option<&Path>) -> Self {
        Self {
            sandbox: sandbox.to_owned(),
            isolation,
            kept: kept.map(kept::place),
            state: Mutex::default(),
            events: Events::none(),
            commands: Arc::default(),
            changing: Semaphore::new(1),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happened on the way out.
    pub(crate) fn events(&self) -> &Arc<Events> {
        &self.events
    }

    pub(crate) fn info(&self) -> NetworkInfo {
        let state = self.state();
        NetworkInfo { policy: state.given.clone(), open: state.egress.is_some(), totals: self.events.totals() }
    }

    /// What has gone out; `None` if there is no way out.
    pub(crate) fn totals(&self) -> Option<EgressTotals> {
        self.state().egress.as_ref().map(|_| self.events.totals())
    }

    pub(crate) fn secrets(&self) -> Vec<SecretInfo> {
        self.state().secrets.list()
    }

    /// Variables that commands get beside the sandbox's own.
    pub(crate) fn variables(&self, into: &mut BTreeMap<OsString, OsString>) {
        let state = self.state();
        let mut add = |name: &str, value: &str| {
            into.entry(name.into()).or_insert_with(|| value.into());
        };
        state.secrets.variables().for_each(|(name, value)| add(name, value));
        if state.egress.is_some() {
            inside::TRUST.iter().for_each(|(name, value)| add(name, value));
        }
    }

    /// Whether a socket that listens inside is one of ours.
    pub(crate) fn owns(&self, inode: u32) -> bool {
        self.state().own.contains(&inode.into())
    }

    /// What a command was refused, and how often.
    pub(crate) fn denials(&self, command: &ProcessId) -> (Vec<Denial>, u64) {
        self.events.denials(command)
    }

    /// Nobody asks for the command's refusals any more.
    pub(crate) fn forget(&self, command: &ProcessId) {
        self.events.forget(command);
    }

    async fn turn(&self) -> Result<SemaphorePermit<'_>, Error> {
        self.changing.acquire().await.map_err(|_| Error::SandboxGone)
    }
}

/// What happens if the files that egress needs inside cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Furnishing {
    /// The change fails.
    Required,
    /// The rules hold all the same. An earlier life of the sandbox may have put anything in the place of these files, and
    /// it must start, or its other files could not be reached any more.
    Attempted,
}

/// Opens egress at the start of a sandbox's life, by the persisted rules or else by the requested ones. Returns a warning
/// if the sandbox's own files keep programs from using it.
pub(crate) async fn begin(shared: &Arc<Shared>, requested: Option<NetworkPolicy>) -> Result<Option<String>, Error> {
    let network = &shared.network;
    let persisted = network.kept.as_deref().map(kept::read).transpose()?.flatten();
    let (given, secrets, furnishing) = match persisted {
        Some(kept::Kept { policy, secrets }) => (policy, secrets, Furnishing::Attempted),
        None => (requested.unwrap_or_default(), Secrets::default(), Furnishing::Required),
    };
    if given == NetworkPolicy::default() && secrets.is_empty() {
        return Ok(None);
    }
    network.state().secrets = Arc::new(secrets);
    apply_policy(shared, given, furnishing).await
}

/// Changes what may be reached.
pub(crate) async fn set_policy(shared: &Arc<Shared>, given: NetworkPolicy) -> Result<(), Error> {
    apply_policy(shared, given, Furnishing::Required).await.map(drop)
}

async fn apply_policy(
    shared: &Arc<Shared>,
    given: NetworkPolicy,
    furnishing: Furnishing,
) -> Result<Option<String>, Error> {
    let network = &shared.network;
    let policy = compile(&given)?;
    let _turn = network.turn().await?;
    let secrets = Arc::clone(&network.state().secrets);
    let before = network.kept.as_deref().map(kept::read).transpose()?.flatten();
    network.keep(&given, &secrets)?;
    let applied = apply(shared, given, policy, secrets, furnishing).await;
    if applied.is_err()
        && let Some(place) = &network.kept
    {
        // The caller gets the first error, which says more than a second one.
        kept::put_back(place, before).ok();
    }
    let warning = applied?;
    crate::session::discard_spare(shared).await;
    Ok(warning)
}

/// Puts rules into force, and opens egress for the first of them. After an error everything is as it was, so that the caller
/// can try again. Returns a warning if programs inside may not find the name server.
async fn apply(
    shared: &Arc<Shared>,
    given: NetworkPolicy,
    policy: Policy,
    secrets: Arc<Secrets>,
    furnishing: Furnishing,
) -> Result<Option<String>, Error> {
    let network = &shared.network;
    let policy = Arc::new(policy);
    let is_open = network.state().egress.is_some();
    let (opened, warning) = match (is_open, policy.is_empty()) {
        (true, _) | (false, true) => (None, None),
        (false, false) => {
            let (egress, warning) = open(shared, Arc::clone(&policy), secrets, furnishing).await?;
            (Some(egress), warning)
        }
    };
    let mut state = network.state();
    if opened.is_some() {
        state.egress = opened;
    } else if let Some(egress) = &state.egress {
        egress.set_policy(policy).map_err(|error| failed(&error))?;
    }
    state.given = given;
    Ok(warning)
}

/// A secret that may be used from now on.
pub(crate) async fn put_secret(shared: &Arc<Shared>, name: &str, given: PutSecret) -> Result<SecretInfo, Error> {
    let network = &shared.network;
    network.must_be_walled()?;
    let _turn = network.turn().await?;
    let secrets = network.state().secrets.with(name, given).map_err(|error| Error::invalid(error.to_string()))?;
    let told = secrets.list().into_iter().find(|secret| secret.name == name);
    change_secrets(shared, secrets).await?;
    told.ok_or_else(|| Error::SecretNotFound { name: name.to_owned() })
}

/// A secret that may no longer be used.
pub(crate) async fn remove_secret(shared: &Arc<Shared>, name: &str) -> Result<(), Error> {
    let network = &shared.network;
    let _turn = network.turn().await?;
    let without = network.state().secrets.without(name);
    let secrets = without.ok_or_else(|| Error::SecretNotFound { name: name.to_owned() })?;
    change_secrets(shared, secrets).await
}

async fn change_secrets(shared: &Arc<Shared>, secrets: Secrets) -> Result<(), Error> {
    let network = &shared.network;
    identity::no_core_dumps().map_err(|error| Error::io("forbid core dumps", &error))?;
    let given = network.state().given.clone();
    network.keep(&given, &secrets)?;
    {
        let mut state = network.state();
        state.secrets = Arc::new(secrets);
        if let Some(egress) = &state.egress {
            egress.set_secrets(Arc::clone(&state.secrets));
        }
    }
    crate::session::discard_spare(shared).await;
    Ok(())
}

fn compile(given: &NetworkPolicy) -> Result<Policy, Error> {
    Policy::compile(given).map_err(|error| Error::invalid(error.to_string()))
}

/// The rules of a command.
pub(crate) fn rules(given: &[EgressRule]) -> Result<Arc<Policy>, Error> {
    Policy::rules(given).map(Arc::new).map_err(|error| Error::invalid(error.to_string()))
}

fn failed(error: &atoll_egress::Error) -> Error {
    Error::EgressUnavailable { why: error.to_string(), hint: None }
}

async fn open(
    shared: &Arc<Shared>,
    policy: Arc<Policy>,
    secrets: Arc<Secrets>,
    furnishing: Furnishing,
) -> Result<(Egress, Option<String>), Error> {
    let network = &shared.network;
    network.must_be_walled()?;
    let (owners, sockets) = sockets(&shared.link).await?;
    let proc = shared.proc.try_clone().map_err(|error| Error::io("keep the sandbox's /proc", &error))?;
    let own = sockets.tcp.iter().filter_map(|socket| Some(rustix::fs::fstat(socket).ok()?.st_ino));
    network.state().own = own.collect();
    let attribution = Box::new(commands::ByKernel { owners, proc, commands: Arc::clone(&network.commands) });
    let events = Arc::clone(&network.events);
    let egress = Egress::start(&network.sandbox, sockets, policy, secrets, attribution, events);
    let egress = egress.map_err(|error| failed(&error))?;
    match (inside::furnish(shared, egress.authority()).await, furnishing) {
        (Ok(()), _) => Ok((egress, None)),
        (Err(error), Furnishing::Attempted) => Ok((egress, Some(error.to_string()))),
        (Err(error), Furnishing::Required) => {
            // Its sockets must be closed before the next attempt: the kernel reports refused packets to one socket.
            drop(tokio::task::spawn_blocking(move || egress.stop()).await);
            network.state().own.clear();
            Err(error)
        }
    }
}

async fn sockets(link: &Link) -> Result<(Owners, Sockets), Error> {
    let fds = link.egress().await?.map_err(|error| Error::EgressUnavailable {
        why: format!("the sandbox's network cannot be led out: {}", crate::start::plain(&error)),
        hint: Some("the kernel needs nf_tables with redirect, also within user namespaces".to_owned()),
    })?;
    let mut fds = fds.into_iter();
    let missing = || Error::Internal { what: "init handed out too few sockets".to_owned() };
    let owners = Owners::new(fds.next().ok_or_else(missing)?).map_err(|error| Error::io("ask for owners", &error))?;
    let refused = fds.next().ok_or_else(missing)?;
    let mut sockets = Sockets { refused, tcp: Vec::new(), dns: Vec::new() };
    while let Some(tcp) = fds.next() {
        sockets.tcp.push(tcp);
        sockets.dns.push(fds.next().ok_or_else(missing)?);
    }
    Ok((owners, sockets))
}

impl Network {
    fn must_be_walled(&self) -> Result<(), Error> {
        match self.isolation {
            Isolation::Namespaces => Ok(()),
            Isolation::None => Err(Error::EgressUnavailable {
                why: "a sandbox without isolation uses the network of the host, where no rule would hold".to_owned(),
                hint: Some("leave out `isolation: none`".to_owned()),
            }),
        }
    }

    fn keep(&self, policy: &NetworkPolicy, secrets: &Secrets) -> Result<(), Error> {
        let Some(place) = &self.kept else { return Ok(()) };
        kept::write(place, policy, secrets).map_err(|error| Error::io("keep the network's rules", &error))
    }
}
