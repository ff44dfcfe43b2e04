//! Addresses of names, found outside. Only names that a rule allows come here, so no other ever leaves the machine.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::message::{self, A, AAAA, Said};
use crate::name::Name;
use crate::policy::Policy;

/// Names remembered.
const NAMES_MAX: usize = 4096;

/// How long an answer is good: as long as it says, within these; the machine's own resolver does not say.
const GOOD_FOR: Duration = Duration::from_secs(30);
const GOOD_AT_LEAST: Duration = Duration::from_secs(1);
const GOOD_AT_MOST: Duration = Duration::from_secs(60);

/// How long the lack of an answer is: a name that was just made should be found soon.
const NONE_FOR: Duration = Duration::from_secs(2);

/// How long a name server may take, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(2);
const TRIES: usize = 2;

/// Questions to the machine's own resolver at once: each holds a thread.
const AT_ONCE: usize = 16;

/// Addresses taken of one answer.
const ADDRESSES_MAX: usize = 32;

/// Who was asked for what, until when the answer is good, and the answer.
type Known = HashMap<(Name, Option<SocketAddr>), (Instant, Vec<IpAddr>)>;

/// Finds and remembers.
#[derive(Debug)]
pub(crate) struct Resolver {
    known: Mutex<Known>,
    asking: Semaphore,
}

impl Resolver {
    pub(crate) fn new() -> Self {
        Self { known: Mutex::default(), asking: Semaphore::new(AT_ONCE) }
    }

    /// The addresses of a name; none if it has none or nobody can say.
    pub(crate) async fn addresses(&self, policy: &Policy, name: &Name) -> Vec<IpAddr> {
        if let Some(addresses) = policy.hosts.get(name) {
            return addresses.clone();
        }
        let key = (name.clone(), policy.resolver);
        if let Some((until, addresses)) = self.known().get(&key)
            && *until > Instant::now()
        {
            return addresses.clone();
        }
        let (mut addresses, good_for) = match policy.resolver {
            Some(server) => ask(server, name).await,
            None => self.ask_machine(name).await,
        };
        addresses.truncate(ADDRESSES_MAX);
        let mut known = self.known();
        if known.len() >= NAMES_MAX {
            let now = Instant::now();
            known.retain(|_, (until, _)| *until > now);
            if known.len() >= NAMES_MAX {
                known.clear();
            }
        }
        known.insert(key, (Instant::now() + good_for, addresses.clone()));
        addresses
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// With a dot at its end it is the whole name: the machine's own domains are not tried behind it.
    async fn ask_machine(&self, name: &Name) -> (Vec<IpAddr>, Duration) {
        let Ok(_turn) = self.asking.acquire().await else { return (Vec::new(), NONE_FOR) };
        match tokio::net::lookup_host((format!("{name}."), 0)).await {
            Ok(found) => (distinct(found.map(|address| address.ip().to_canonical())), GOOD_FOR),
            Err(_) => (Vec::new(), NONE_FOR),
        }
    }
}

fn distinct(addresses: impl Iterator<Item = IpAddr>) -> Vec<IpAddr> {
    let mut all: Vec<IpAddr> = Vec::new();
    for address in addresses {
        if !all.contains(&address) {
            all.push(address);
        }
    }
    all
}

async fn ask(server: SocketAddr, name: &Name) -> (Vec<IpAddr>, Duration) {
    let (v4, v6) = tokio::join!(ask_for(server, name, A), ask_for(server, name, AAAA));
    let mut seconds = u32::MAX;
    let mut addresses = Vec::new();
    for said in [v4, v6].into_iter().flatten() {
        addresses.extend(said.0);
        seconds = seconds.min(said.1);
    }
    if addresses.is_empty() {
        return (addresses, NONE_FOR);
    }
    (addresses, Duration::from_secs(seconds.into()).clamp(GOOD_AT_LEAST, GOOD_AT_MOST))
}

async fn ask_for(server: SocketAddr, name: &Name, kind: u16) -> Option<(Vec<IpAddr>, u32)> {
    for _ in 0..TRIES {
        match timeout(PATIENCE, exchange(server, name, kind)).await {
            Ok(Ok(Said::Addresses(addresses, seconds))) => return Some((addresses, seconds)),
            Ok(Ok(Said::Failed | Said::Cut)) => return None,
            Ok(Err(_)) | Err(_) => {}
        }
    }
    None
}

async fn exchange(server: SocketAddr, name: &Name, kind: u16) -> io::Result<Said> {
    let mut id = [0; 2];
    rustix::rand::getrandom(&mut id, rustix::rand::GetRandomFlags::empty())?;
    let asked = message::ask(u16::from_be_bytes(id), name, kind);
    let any: IpAddr = if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(&asked).await?;
    let mut buffer = vec![0; 4096];
    loop {
        let length = socket.recv(&mut buffer).await?;
        match message::answer(&buffer[..length], &asked) {
            Some(Said::Cut) => return by_tcp(server, &asked).await,
            Some(said) => return Ok(said),
            // Somebody guesses: the real one may still come.
            None => {}
        }
    }
}

async fn by_tcp(server: SocketAddr, asked: &[u8]) -> io::Result<Said> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_u16(u16::try_from(asked.len()).unwrap_or(0)).await?;
    stream.write_all(asked).await?;
    let mut told = vec![0; stream.read_u16().await?.into()];
    stream.read_exact(&mut told).await?;
    message::answer(&told, asked).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
