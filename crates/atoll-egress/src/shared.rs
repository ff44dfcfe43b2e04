//! What all connections share: the rules of the moment, names, secrets, the authority, events.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use atoll_protocol::{DenialReason, ProcessId};
use rustls::ClientConfig;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::address;
use crate::budget::Budget;
use crate::dns::pool::Pool;
use crate::dns::resolve::Resolver;
use crate::events::Events;
use crate::name::Name;
use crate::own;
use crate::policy::{Allowed, NameRule, Policy};
use crate::secret::Secrets;
use crate::tls::Authority;

/// Different names below wildcards that may be asked for at once, and how many more each minute: enough for a program that
/// uses a host per bucket, far too few to carry data out by.
const WILDCARD_NAMES: f64 = 100.0;
const WILDCARD_PER_SECOND: f64 = 100.0 / 60.0;

/// Bytes of a name below a wildcard that are of the asker's choice.
const WILDCARD_FREE: usize = 100;

/// What kind of socket somebody is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A connection.
    Tcp,
    /// A question to a name server.
    Udp,
}

/// Who did it, and what that one may do beside what the sandbox may.
#[derive(Debug, Clone, Default)]
pub struct Owner {
    /// The command, if it is known.
    pub command: Option<ProcessId>,
    /// Each of these must allow it too. Of a command that is not known: those of all that could be it.
    pub within: Vec<Arc<Policy>>,
}

/// Tells who opened a connection. Asked for each, so it must be quick.
pub trait Attribution: std::fmt::Debug + Send + Sync {
    /// Who has a socket with this end of its own, connected to this other one.
    fn owner(&self, kind: Kind, own: SocketAddr, other: SocketAddr) -> Owner;
}

/// What is in force now.
#[derive(Debug, Clone)]
pub(crate) struct Force {
    pub(crate) policy: Arc<Policy>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) client: Arc<ClientConfig>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) force: watch::Sender<Force>,
    pub(crate) events: Arc<Events>,
    pub(crate) authority: Authority,
    pub(crate) resolver: Resolver,
    pub(crate) budget: Budget,
    pub(crate) attribution: Box<dyn Attribution>,
    pool: Mutex<Pool>,
    wildcards: Mutex<(f64, Instant)>,
    flows: AtomicU64,
}

impl Shared {
    pub(crate) fn new(
        force: Force,
        authority: Authority,
        attribution: Box<dyn Attribution>,
        events: Arc<Events>,
    ) -> Self {
        Self {
            force: watch::Sender::new(force),
            events,
            authority,
            resolver: Resolver::new(),
            budget: Budget::new(),
            attribution,
            pool: Mutex::default(),
            wildcards: Mutex::new((WILDCARD_NAMES, Instant::now())),
            flows: AtomicU64::new(0),
        }
    }

    pub(crate) fn force(&self) -> Force {
        self.force.borrow().clone()
    }

    pub(crate) fn next_flow(&self) -> u64 {
        self.flows.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a name may be looked up, by rules and by how many were.
    pub(crate) fn admit(&self, policy: &Policy, owner: &Owner, name: &Name) -> Result<(), DenialReason> {
        let rule = policy.name(name).ok_or(DenialReason::NoRule)?;
        if owner.within.iter().any(|own| own.name(name).is_none()) {
            return Err(DenialReason::CommandNotAllowed);
        }
        match rule {
            NameRule::Exact => Ok(()),
            NameRule::Wildcard { free } if free > WILDCARD_FREE => Err(DenialReason::QueryLimit),
            NameRule::Wildcard { .. } if self.pool().knows(name) || self.spend() => Ok(()),
            NameRule::Wildcard { .. } => Err(DenialReason::QueryLimit),
        }
    }

    fn spend(&self) -> bool {
        let mut budget = self.wildcards.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, at) = *budget;
        let now = Instant::now();
        let left = WILDCARD_NAMES.min(left + now.saturating_duration_since(at).as_secs_f64() * WILDCARD_PER_SECOND);
        let can = left >= 1.0;
        *budget = (if can { left - 1.0 } else { left }, now);
        can
    }

    /// The addresses of a name that may be connected to.
    pub(crate) async fn addresses(
        &self,
        policy: &Policy,
        name: &Name,
        port: Option<u16>,
    ) -> Result<Vec<IpAddr>, (DenialReason, Option<IpAddr>)> {
        let found = self.resolver.addresses(policy, name).await;
        let Some(first) = found.first().copied() else { return Err((DenialReason::NoAddress, None)) };
        // Public and another machine's, or named by a rule.
        let is_open =
            |address: &IpAddr| policy.names(*address, port) || (address::is_public(*address) && !own::is_own(*address));
        let open: Vec<IpAddr> = found.into_iter().filter(is_open).collect();
        if open.is_empty() { Err((DenialReason::AddressNotPublic, Some(first))) } else { Ok(open) }
    }
}

/// Whether the name may be reached by this owner, and what may be spoken.
pub(crate) fn named(policy: &Policy, owner: &Owner, name: &Name, port: u16) -> Result<Allowed, DenialReason> {
    narrowed(policy.named(name, port)?, owner, |own| own.named(name, port))
}

/// Whether the address may be reached by this owner, and what may be spoken.
pub(crate) fn addressed(policy: &Policy, owner: &Owner, address: IpAddr, port: u16) -> Result<Allowed, DenialReason> {
    narrowed(policy.addressed(address, port)?, owner, |own| own.addressed(address, port))
}

fn narrowed(
    mut allowed: Allowed,
    owner: &Owner,
    ask: impl Fn(&Policy) -> Result<Allowed, DenialReason>,
) -> Result<Allowed, DenialReason> {
    for own in &owner.within {
        let narrower = ask(own).map_err(|_| DenialReason::CommandNotAllowed)?;
        allowed.protocols = allowed.protocols.within(narrower.protocols);
    }
    Ok(allowed)
}

/// How long a program may take to begin to speak where what it says decides.
pub(crate) const FIRST_WORDS: Duration = Duration::from_secs(10);
