//! The way out of a sandbox: rules, names, connections, secrets.
//!
//! Takes the sockets to which every connection and every question from within leads, and decides each: a pure function
//! says whether ([`policy`]), one task per connection carries it out. All of it runs on a thread of its own, so that
//! bulk transfers and hostile handshakes are in nobody's way. Knows nothing of sandboxes, processes or HTTP routes.

mod address;
mod budget;
mod dns;
mod events;
mod flow;
mod guard;
mod hello;
mod http;
mod name;
mod own;
mod policy;
mod refused;
mod refusing;
mod relay;
mod secret;
mod shared;
mod stream;
mod tls;
mod websocket;

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;

use atoll_protocol::EgressEventKind;
use rustix::net::sockopt;
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::oneshot;

pub use dns::pool::NAME_SERVER;
pub use events::Events;
pub use flow::PROXY_PORT;
pub use policy::{Policy, PolicyError};
pub use secret::Secrets;
pub use shared::{Attribution, Kind, Owner};
pub use tls::{CertificateError, machine_bundle};

use crate::shared::{Force, Shared};
use crate::tls::Authority;

/// The sockets of a sandbox, as they were made inside.
#[derive(Debug)]
pub struct Sockets {
    /// Tells packets that were refused for not being TCP.
    pub refused: OwnedFd,
    /// Every TCP connection comes to these.
    pub tcp: Vec<OwnedFd>,
    /// Every question by UDP comes to these.
    pub dns: Vec<OwnedFd>,
}

/// What goes wrong when the way out is opened or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The thread or its sockets.
    #[error("the way out cannot be served: {0}")]
    Io(#[from] io::Error),
    /// The authority.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// The way out of one sandbox, served for as long as this lives.
#[derive(Debug)]
pub struct Egress {
    shared: Arc<Shared>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Egress {
    /// Begins to serve.
    pub fn start(
        sandbox: &str,
        sockets: Sockets,
        policy: Arc<Policy>,
        secrets: Arc<Secrets>,
        attribution: Box<dyn Attribution>,
        events: Arc<Events>,
    ) -> Result<Self, Error> {
        let client = tls::client(policy.trust.as_deref())?;
        let authority = Authority::new(sandbox)?;
        let shared = Arc::new(Shared::new(Force { policy, secrets, client }, authority, attribution, events));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (listeners, questions, refused) = {
            let _within = runtime.enter();
            let listeners = sockets.tcp.into_iter().map(listener).collect::<io::Result<Vec<_>>>()?;
            let questions = sockets.dns.into_iter().map(questions).collect::<io::Result<Vec<_>>>()?;
            (listeners, questions, refused::register(sockets.refused)?)
        };
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("egress".to_owned()).spawn(move || {
            runtime.block_on(async move {
                for listener in listeners {
                    tokio::spawn(accept(Arc::clone(&serving), listener));
                }
                for socket in questions {
                    tokio::spawn(dns::over_udp(Arc::clone(&serving), socket));
                }
                tokio::spawn(refused::tell(Arc::clone(&serving), refused));
                // Told, or the handle is gone: either ends every connection with the runtime.
                drop(stopped.await);
            });
            // Threads that look up names may take seconds yet; nobody waits for them.
            runtime.shutdown_background();
        })?;
        Ok(Self { shared, stop, thread })
    }

    /// Ends every connection, and returns when all sockets are closed. May wait a moment for the thread.
    pub fn stop(self) {
        drop(self.stop);
        // A thread that has panicked is gone as well.
        drop(self.thread.join());
    }

    /// What is in force from now on. New connections obey at once; those that are no longer allowed are cut off.
    pub fn set_policy(&self, policy: Arc<Policy>) -> Result<(), Error> {
        let client = tls::client(policy.trust.as_deref())?;
        self.shared.force.send_modify(|force| {
            force.policy = policy;
            force.client = client;
        });
        self.shared.events.tell(events::event(EgressEventKind::PolicyChanged));
        Ok(())
    }

    /// Secrets that are put in from now on.
    pub fn set_secrets(&self, secrets: Arc<Secrets>) {
        self.shared.force.send_modify(|force| force.secrets = secrets);
    }

    /// The certificate of the sandbox's own authority (PEM).
    pub fn authority(&self) -> &str {
        self.shared.authority.pem()
    }
}

impl Events {
    /// None yet.
    pub fn none() -> Arc<Self> {
        Arc::new(Self::new())
    }
}

fn listener(fd: OwnedFd) -> io::Result<TcpListener> {
    TcpListener::from_std(fd.into())
}

fn questions(fd: OwnedFd) -> io::Result<UdpSocket> {
    UdpSocket::from_std(fd.into())
}

async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) => {
                continue;
            }
            Err(_) => {
                // No descriptors left, most likely: some connection will end.
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            }
        };
        // Where it was meant to go before the rule sent it here. Who comes here by itself means nothing.
        let Some(destination) = original(&stream, peer) else {
            stream::reset_on_close(&stream);
            continue;
        };
        match shared.budget.flow() {
            None => flow::turn_away(&shared, &stream, destination),
            Some(place) => {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    flow::serve(shared, stream, peer, destination).await;
                    drop(place);
                });
            }
        }
    }
}

fn original(stream: &tokio::net::TcpStream, peer: SocketAddr) -> Option<SocketAddr> {
    let found = if peer.is_ipv4() {
        sockopt::ip_original_dst(stream).map(SocketAddr::V4)
    } else {
        sockopt::ipv6_original_dst(stream).map(SocketAddr::V6)
    };
    found.ok().filter(|destination| stream.local_addr().is_ok_and(|own| own != *destination))
}
