//! One connection: what is wanted, whether it may be, and then both sides until the end.
//!
//! What a program wanted is known by the address that stands for a name, or else by the name that it says itself (TLS,
//! HTTP). Where both are known they must be the same. The address that is dialled is always one that we found for the
//! name, never one that the program chose, unless a rule is for that very address.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use atoll_protocol::{DenialReason, EgressEvent, EgressEventKind, EgressProtocol, ProcessId};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::dns;
use crate::dns::pool::{NAME_SERVER, Pool};
use crate::events::event;
use crate::hello::Hello;
use crate::http::{self, Expected};
use crate::name::Name;
use crate::own;
use crate::policy::{Allowed, Tls};
use crate::relay;
use crate::shared::{FIRST_WORDS, Force, Kind, Owner, Shared, addressed, named};
use crate::stream::{Client, Counted, Counts, Side, Words, reset_on_close};

/// Where programs that insist on a proxy find one; everything else needs none.
pub const PROXY_PORT: u16 = 3128;

/// How long one address may take to answer, and all of them together.
const CONNECT: Duration = Duration::from_secs(5);
const CONNECT_ALL: Duration = Duration::from_secs(15);

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How often what stands within each other (CONNECT) is looked into.
const DEPTH_MAX: usize = 1;

/// What is wanted.
#[derive(Debug, Clone)]
enum Target {
    Name(Name),
    Address(IpAddr),
    /// Us, as a proxy.
    Proxy,
}

/// Why not.
#[derive(Debug, Clone)]
pub(crate) struct Denied {
    pub(crate) reason: DenialReason,
    pub(crate) host: Option<Name>,
    pub(crate) address: Option<IpAddr>,
    /// If it is another than that of the connection.
    pub(crate) port: Option<u16>,
    pub(crate) protocol: Option<EgressProtocol>,
}

impl Denied {
    pub(crate) fn of(reason: DenialReason, host: &Name) -> Self {
        Self { reason, host: Some(host.clone()), address: None, port: None, protocol: None }
    }

    fn at(reason: DenialReason, address: IpAddr) -> Self {
        Self { reason, host: None, address: Some(address), port: None, protocol: None }
    }

    fn speaking(self, protocol: EgressProtocol) -> Self {
        Self { protocol: Some(protocol), ..self }
    }
}

/// One connection. Shared by what works on it.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) shared: Arc<Shared>,
    pub(crate) owner: Owner,
    /// Both ends inside, to ask once more whose it is.
    ends: Option<(SocketAddr, SocketAddr)>,
    pub(crate) port: u16,
    id: u64,
    depth: usize,
    counts: Arc<Counts>,
    pub(crate) secrets_used: AtomicU64,
    opened: std::sync::OnceLock<(Instant, EgressEvent)>,
}

/// Takes a connection that a program within has opened to `destination`.
pub(crate) async fn serve(shared: Arc<Shared>, stream: TcpStream, peer: SocketAddr, destination: SocketAddr) {
    let owner = shared.attribution.owner(Kind::Tcp, peer, destination);
    shared.budget.limit(&stream);
    drop(stream.set_nodelay(true));
    if destination.port() == dns::PORT {
        return dns::over_tcp(&shared, stream, &owner).await;
    }
    let address = destination.ip().to_canonical();
    let standing = shared.pool().name(address);
    let target = match standing {
        Some(name) => Target::Name(name),
        None if address == IpAddr::V4(NAME_SERVER) && destination.port() == PROXY_PORT => Target::Proxy,
        None => Target::Address(address),
    };
    let flow = Flow::new(shared, owner, Some((peer, destination)), destination.port(), 0);
    flow.run(Client::new(Side::Tcp(stream)), target).await;
}

/// Takes what was asked for by CONNECT.
pub(crate) async fn within(outer: &Flow, side: Side, name: Name, port: u16) {
    let flow = Flow::new(Arc::clone(&outer.shared), outer.owner.clone(), outer.ends, port, outer.depth + 1);
    Box::pin(flow.run(Client::new(side), Target::Name(name))).await;
}

impl Flow {
    fn new(
        shared: Arc<Shared>,
        owner: Owner,
        ends: Option<(SocketAddr, SocketAddr)>,
        port: u16,
        depth: usize,
    ) -> Arc<Self> {
        let id = shared.next_flow();
        let (counts, secrets_used, opened) = (Arc::default(), AtomicU64::new(0), std::sync::OnceLock::new());
        Arc::new(Self { shared, owner, ends, port, id, depth, counts, secrets_used, opened })
    }

    async fn run(self: Arc<Self>, client: Client, target: Target) {
        let ended = self.attempt(client, target).await;
        let Some((began, told)) = self.opened.get() else { return };
        self.shared.events.tell(EgressEvent {
            kind: EgressEventKind::Closed,
            at: std::time::SystemTime::now().into(),
            reason: ended.err(),
            bytes_out: Some(self.counts.out.load(Ordering::Relaxed)),
            bytes_in: Some(self.counts.back.load(Ordering::Relaxed)),
            duration_ms: u64::try_from(began.elapsed().as_millis()).ok(),
            secrets_used: Some(self.secrets_used.load(Ordering::Relaxed)).filter(|count| *count > 0),
            ..told.clone()
        });
    }

    /// Tells why it was cut off, if it was.
    async fn attempt(self: &Arc<Self>, mut client: Client, target: Target) -> Result<(), DenialReason> {
        match self.decide(&mut client, target).await {
            Ok(way) => self.go(client, way).await,
            Err(denied) => {
                self.deny(&denied);
                client.refuse(&http::refusal_text(&denied, self.port)).await;
                Ok(())
            }
        }
    }

    pub(crate) fn deny(&self, denied: &Denied) {
        let Denied { reason, host, address, port, protocol } = denied;
        self.shared.events.tell(EgressEvent {
            flow: Some(self.id),
            command: self.command(),
            host: host.as_ref().map(Name::to_string),
            address: address.map(|address| address.to_string()),
            port: Some(port.unwrap_or(self.port)),
            protocol: *protocol,
            reason: Some(*reason),
            ..event(EgressEventKind::Denied)
        });
    }

    /// Whose it is. A command that connects as soon as it runs may be known only a moment later.
    fn command(&self) -> Option<ProcessId> {
        let again = |(own, other)| self.shared.attribution.owner(Kind::Tcp, own, other).command;
        self.owner.command.clone().or_else(|| self.ends.and_then(again))
    }

    async fn decide(&self, client: &mut Client, target: Target) -> Result<Way, Denied> {
        let force = self.shared.force();
        match target {
            Target::Name(name) => self.decide_name(&force, client, name).await,
            Target::Address(address) => self.decide_address(&force, client, address).await,
            Target::Proxy if force.policy.is_empty() => Err(Denied::at(DenialReason::NoRule, NAME_SERVER.into())),
            Target::Proxy => match client.words(FIRST_WORDS).await {
                Words::Http => Ok(Way::Http(Expected::Anything)),
                Words::Tls(_) | Words::Other | Words::Silent => {
                    Err(Denied::at(DenialReason::ProtocolNotAllowed, NAME_SERVER.into()))
                }
            },
        }
    }

    async fn decide_name(&self, force: &Force, client: &mut Client, name: Name) -> Result<Way, Denied> {
        let allowed =
            named(&force.policy, &self.owner, &name, self.port).map_err(|reason| Denied::of(reason, &name))?;
        // Where a secret goes, only what can be searched for it comes back. At other ports of its host a rule for tcp says
        // that nothing is looked at.
        let has_secret = force.secrets.are_for(&name, self.port);
        if allowed.protocols.tcp && allowed.tls == Tls::PassedOn && !has_secret {
            return Ok(Way::Raw { name, allowed, protocol: EgressProtocol::Tcp });
        }
        let words = client.words(FIRST_WORDS).await;
        self.decide_words(force, words, name, allowed)
    }

    fn decide_words(&self, force: &Force, words: Words, name: Name, allowed: Allowed) -> Result<Way, Denied> {
        let ends_here = allowed.tls == Tls::Ended || force.secrets.hold(&name);
        let has_secret = force.secrets.are_for(&name, self.port);
        match words {
            Words::Tls(hello) => {
                let said = said(&hello).map_err(|reason| Denied::of(reason, &name).speaking(EgressProtocol::Tls))?;
                let reason = match () {
                    () if said != name => Some(DenialReason::NameMismatch),
                    () if !allowed.protocols.allow(EgressProtocol::Tls) => Some(DenialReason::ProtocolNotAllowed),
                    () => None,
                };
                match reason {
                    Some(reason) => Err(Denied::of(reason, &said).speaking(EgressProtocol::Tls)),
                    None if ends_here => Ok(Way::Ended { name }),
                    None => Ok(Way::Raw { name, allowed, protocol: EgressProtocol::Tls }),
                }
            }
            Words::Http if allowed.protocols.allow(EgressProtocol::Http) => Ok(Way::Http(Expected::Name(name))),
            Words::Http => Err(Denied::of(DenialReason::ProtocolNotAllowed, &name).speaking(EgressProtocol::Http)),
            Words::Other | Words::Silent if allowed.protocols.tcp && !has_secret => {
                Ok(Way::Raw { name, allowed, protocol: EgressProtocol::Tcp })
            }
            Words::Other | Words::Silent => {
                Err(Denied::of(DenialReason::ProtocolNotAllowed, &name).speaking(EgressProtocol::Tcp))
            }
        }
    }

    async fn decide_address(&self, force: &Force, client: &mut Client, address: IpAddr) -> Result<Way, Denied> {
        let reason = match addressed(&force.policy, &self.owner, address, self.port) {
            // An address that stood for a name, or never did, is not what it looks like.
            Ok(_) if Pool::owns(address) => DenialReason::NoRule,
            Ok(allowed) if allowed.protocols.tcp => {
                return Ok(Way::Address { address, protocol: EgressProtocol::Tcp, allowed });
            }
            Ok(allowed) => return self.decide_spoken(client, address, allowed).await,
            Err(reason) => reason,
        };
        // A name may be said, and then it is the name that counts, not the address.
        let by_name = matches!(reason, DenialReason::NoRule | DenialReason::PortNotAllowed) && !Pool::owns(address);
        if !by_name || !force.policy.has_names_at(self.port) {
            return Err(Denied::at(reason, address));
        }
        match client.words(FIRST_WORDS).await {
            Words::Http => Ok(Way::Http(Expected::First)),
            Words::Tls(hello) => {
                let name = said(&hello).map_err(|reason| Denied::at(reason, address).speaking(EgressProtocol::Tls))?;
                let denied = |reason| Denied { host: Some(name.clone()), ..Denied::at(reason, address) };
                self.shared.admit(&force.policy, &self.owner, &name).map_err(denied)?;
                let allowed = named(&force.policy, &self.owner, &name, self.port).map_err(denied)?;
                self.decide_words(force, Words::Tls(hello), name, allowed)
            }
            Words::Other | Words::Silent => Err(Denied::at(DenialReason::NoName, address)),
        }
    }

    /// A block that allows only some protocols: what is spoken decides, and names play no part.
    async fn decide_spoken(&self, client: &mut Client, address: IpAddr, allowed: Allowed) -> Result<Way, Denied> {
        let protocol = match client.words(FIRST_WORDS).await {
            Words::Tls(Hello::Malformed) | Words::Other | Words::Silent => EgressProtocol::Tcp,
            Words::Tls(_) => EgressProtocol::Tls,
            Words::Http => EgressProtocol::Http,
        };
        if !allowed.protocols.allow(protocol) {
            return Err(Denied::at(DenialReason::ProtocolNotAllowed, address).speaking(protocol));
        }
        Ok(Way::Address { address, protocol, allowed })
    }

    async fn go(self: &Arc<Self>, client: Client, way: Way) -> Result<(), DenialReason> {
        match way {
            Way::Http(expected) => {
                self.until_revoked(expected.known(), http::serve(self, client.rewound(), expected)).await
            }
            Way::Ended { name } => self.until_revoked(Some(name.clone()), self.end_tls(client, &name)).await,
            Way::Raw { name, allowed, protocol } => match self.dial(&name, self.port, protocol, &allowed).await {
                Ok(outside) => self.until_revoked(Some(name), self.relayed(client, outside)).await,
                Err(denied) => {
                    self.deny(&denied);
                    client.refuse(&http::refusal_text(&denied, self.port)).await;
                    Ok(())
                }
            },
            Way::Address { address, protocol, allowed } => {
                match self.dial_any(&[address], self.port, None, protocol, &allowed).await {
                    Ok(outside) => self.until_address_revoked(address, self.relayed(client, outside)).await,
                    Err(denied) => {
                        self.deny(&denied);
                        client.refuse(&http::refusal_text(&denied, self.port)).await;
                        Ok(())
                    }
                }
            }
        }
    }

    /// TLS ends here: within is HTTP, which is looked at and sent on over TLS of our own.
    async fn end_tls(self: &Arc<Self>, client: Client, name: &Name) {
        let Ok(config) = self.shared.authority.server(name) else { return client.reset() };
        let accepting = TlsAcceptor::from(config).accept(client.rewound());
        let Ok(Ok(stream)) = timeout(HANDSHAKE, accepting).await else { return };
        http::serve(self, stream, Expected::Secure(name.clone())).await;
    }

    /// Runs until it ends, or until the rules no longer allow it, or until a host gets its first secret: what comes back
    /// on this connection is not searched for it.
    async fn until_revoked(&self, name: Option<Name>, work: impl Future<Output = ()>) -> Result<(), DenialReason> {
        let guarded = self.shared.force().secrets.hosts();
        let still = |force: &Force| match &name {
            Some(name) => {
                let is_searched = guarded.contains(name) || !force.secrets.hold(name);
                is_searched && named(&force.policy, &self.owner, name, self.port).is_ok()
            }
            // Each request is judged by itself.
            None => !force.policy.is_empty() && force.secrets.hosts().is_subset(&guarded),
        };
        self.until(still, work).await
    }

    async fn until_address_revoked(&self, address: IpAddr, work: impl Future<Output = ()>) -> Result<(), DenialReason> {
        self.until(|force| addressed(&force.policy, &self.owner, address, self.port).is_ok(), work).await
    }

    async fn until(&self, still: impl Fn(&Force) -> bool, work: impl Future<Output = ()>) -> Result<(), DenialReason> {
        let mut force = self.shared.force.subscribe();
        tokio::select! {
            () = work => Ok(()),
            // The sender lives in what we share.
            _ = force.wait_for(|force| !still(force)) => Err(DenialReason::PolicyChanged),
        }
    }

    /// Connects to a name.
    pub(crate) async fn dial(
        &self,
        name: &Name,
        port: u16,
        protocol: EgressProtocol,
        allowed: &Allowed,
    ) -> Result<Counted, Denied> {
        let policy = self.shared.force().policy;
        let addresses = self.shared.addresses(&policy, name, Some(port)).await;
        let addresses = addresses.map_err(|(reason, address)| {
            Denied { address, port: Some(port), ..Denied::of(reason, name) }.speaking(protocol)
        })?;
        self.dial_any(&addresses, port, Some(name), protocol, allowed).await
    }

    async fn dial_any(
        &self,
        addresses: &[IpAddr],
        port: u16,
        name: Option<&Name>,
        protocol: EgressProtocol,
        allowed: &Allowed,
    ) -> Result<Counted, Denied> {
        self.shared.budget.pace().await;
        let connecting = async {
            for address in addresses {
                if let Ok(Ok(stream)) = timeout(CONNECT, TcpStream::connect((*address, port))).await {
                    return Some((*address, stream));
                }
            }
            None
        };
        let denied = |reason, address| {
            Err(Denied { reason, host: name.cloned(), address, port: Some(port), protocol: Some(protocol) })
        };
        let Some((address, stream)) = timeout(CONNECT_ALL, connecting).await.ok().flatten() else {
            return denied(DenialReason::Unreachable, addresses.first().copied());
        };
        if own::is_to_itself(&stream) && !self.shared.force().policy.names(address, Some(port)) {
            return denied(DenialReason::AddressNotPublic, Some(address));
        }
        self.shared.budget.limit(&stream);
        drop(stream.set_nodelay(true));
        let told = EgressEvent {
            flow: Some(self.id),
            command: self.owner.command.clone(),
            host: name.map(Name::to_string),
            address: Some(address.to_string()),
            port: Some(port),
            protocol: Some(protocol),
            rule: Some(allowed.rule.clone()),
            ..event(EgressEventKind::Opened)
        };
        if self.opened.set((Instant::now(), told.clone())).is_ok() {
            self.shared.events.opened(told, &self.counts);
        }
        Ok(Counted::new(stream, Arc::clone(&self.counts)))
    }

    /// Connects to a name by TLS of our own. The other side must prove that it is the one.
    pub(crate) async fn dial_tls(&self, name: &Name, allowed: &Allowed) -> Result<TlsStream<Counted>, Denied> {
        let outside = self.dial(name, self.port, EgressProtocol::Tls, allowed).await?;
        let untrusted = || Denied::of(DenialReason::Untrusted, name).speaking(EgressProtocol::Tls);
        let server = ServerName::try_from(name.as_str().to_owned()).map_err(|_| untrusted())?;
        let connecting = TlsConnector::from(self.shared.force().client).connect(server, outside);
        timeout(HANDSHAKE, connecting).await.ok().and_then(Result::ok).ok_or_else(untrusted)
    }

    /// Whichever side breaks, the other sees it as a reset.
    async fn relayed(&self, client: Client, outside: Counted) {
        drop(relay::relay(client, outside, &self.shared.budget).await);
    }

    /// Whether a CONNECT within this one would still be looked into.
    pub(crate) fn may_nest(&self) -> bool {
        self.depth < DEPTH_MAX
    }
}

/// How a connection goes on.
#[derive(Debug)]
enum Way {
    /// To a name, as it is.
    Raw { name: Name, allowed: Allowed, protocol: EgressProtocol },
    /// To an address, as it is.
    Address { address: IpAddr, allowed: Allowed, protocol: EgressProtocol },
    /// Request by request.
    Http(Expected),
    /// Request by request, out of one TLS into another.
    Ended { name: Name },
}

fn said(hello: &Hello) -> Result<Name, DenialReason> {
    match hello {
        Hello::Named(name) => Ok(name.clone()),
        Hello::Nameless => Err(DenialReason::NoName),
        Hello::Hidden => Err(DenialReason::HiddenName),
        Hello::BadName => Err(DenialReason::BadName),
        Hello::Malformed | Hello::Incomplete => Err(DenialReason::Malformed),
    }
}

/// A connection for which there is no room.
pub(crate) fn turn_away(shared: &Shared, stream: &TcpStream, destination: SocketAddr) {
    reset_on_close(stream);
    shared.events.tell(EgressEvent {
        address: Some(destination.ip().to_string()),
        port: Some(destination.port()),
        reason: Some(DenialReason::TooMany),
        ..event(EgressEventKind::Denied)
    });
}
