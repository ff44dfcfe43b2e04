//! The gateway as a whole: put together, run, ended.

use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::app::{App, Parts};
use crate::auth::{Auth, Mode, Rate};
use crate::face::Face;
use crate::fleet::{Fleet, Ground, Traffic};
use crate::metrics::Metrics;
use crate::placement::{Local, LocalOptions, Placement};
use crate::preview::{Domain, Signer, Site};
use crate::registry::{Disk, Registry};
use crate::routes::Origins;
use crate::server::{self, Limits, Listeners, PreviewListen, Server, TlsFiles};
use crate::{Error, routes};

/// The file in the state directory that holds the first token.
pub const ROOT_TOKEN: &str = "root-token";

/// The socket in the state directory on which the server listens too.
pub const SOCKET: &str = "server.sock";

/// How a gateway should be.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where everything is kept.
    pub state: PathBuf,
    /// Addresses to listen on.
    pub listen: Vec<SocketAddr>,
    /// TLS for all of them.
    pub tls: Option<TlsFiles>,
    /// Listen without TLS where others can reach it.
    pub plaintext_anywhere: bool,
    /// Whether tokens are asked for.
    pub auth: Mode,
    /// How often one token may ask.
    pub rate: Option<Rate>,
    /// How agents are made.
    pub local: LocalOptions,
    /// When sandboxes that say nothing about it are stopped for want of use.
    pub sleep_after: Option<Duration>,
    /// How many sandboxes there may be.
    pub sandboxes_max: usize,
    /// What clients may use.
    pub limits: Limits,
    /// Where previews are.
    pub preview: PreviewOptions,
    /// Origins whose pages may use the API.
    pub origins: Origins,
    /// The OpenAPI document of everything that can be reached through this server, as JSON.
    pub document: &'static str,
    /// Protocols of others that it speaks as well.
    pub faces: Vec<Arc<dyn Face>>,
}

/// Where previews are.
#[derive(Debug, Clone, Default)]
pub struct PreviewOptions {
    /// Where to listen for them; the API is never there.
    pub listen: PreviewListen,
    /// Below which domain their host names are.
    pub domain: Domain,
}

/// The file in the state directory that holds the key which signs links to previews.
const PREVIEW_KEY: &str = "preview-key";

/// The file in the state directory that a server holds a lock on.
const LOCK: &str = "lock";

/// A gateway that listens.
pub struct Gateway {
    server: Server,
    listeners: Listeners,
    placement: Arc<Local>,
    _lock: File,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("addresses", &self.addresses()).finish_non_exhaustive()
    }
}

impl Gateway {
    /// Opens the state, finds the agents that live, and listens.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let disk = Disk::open(&options.state).map_err(|error| Error::io("make the state directory", &error))?;
        let lock = lock(&disk, &options.state)?;
        let registry = Registry::open(&options.state.join("registry.db"))?;
        let metrics = Arc::new(Metrics::default());
        discard_pool(&disk);
        empty_trash(&disk, options.local.remove);
        let placement = Arc::new(Local::new(options.local.clone(), disk.clone()));
        let fleet = Fleet::adopt(Ground {
            placement: Arc::clone(&placement) as _,
            registry: registry.clone(),
            disk,
            metrics: Arc::clone(&metrics),
            traffic: Traffic::default(),
            default_sleep_ms: options.sleep_after.and_then(|after| u64::try_from(after.as_millis()).ok()),
            sandboxes_max: options.sandboxes_max,
        })
        .await?;
        let root = options.state.join(ROOT_TOKEN);
        let auth = Auth::load(options.auth, options.rate, registry.clone(), &root).await?;
        let (draining, watching) = watch::channel(false);
        let socket = options.state.join(SOCKET);
        let (tls, plaintext) = (options.tls.as_ref(), options.plaintext_anywhere);
        let listeners = server::bind(&options.listen, &options.preview.listen, &socket, tls, plaintext).await?;
        let site = Site {
            domain: options.preview.domain,
            signer: Signer::load(&options.state.join(PREVIEW_KEY))?,
            address: listeners.previews.first().and_then(|listener| listener.local_addr().ok()),
            scheme: if tls.is_some() { "https" } else { "http" },
        };
        let app = App::from(Parts {
            fleet,
            auth: Arc::new(auth),
            mode: options.auth,
            registry,
            metrics: Arc::clone(&metrics),
            preview: Arc::new(site),
            json_max: options.limits.json_bytes,
            origins: options.origins,
            document: options.document,
            draining: watching,
        });
        let router = routes::router(app.clone(), &options.faces);
        let server = Server { router, app, limits: options.limits, metrics, draining, faces: options.faces };
        placement.get_ready();
        Ok(Self { server, listeners, placement, _lock: lock })
    }

    /// Where it listens, with the ports that were chosen.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.addresses()
    }

    /// Where it listens for previews.
    pub fn preview_addresses(&self) -> Vec<SocketAddr> {
        self.listeners.previews.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    /// Serves until `end` is ready and what was begun is done.
    pub async fn run(self, end: impl Future<Output = ()>) {
        self.server.run(self.listeners, end).await;
        self.placement.close().await;
    }
}

/// Two gateways over one state would not know of each other's changes.
fn lock(disk: &Disk, state: &Path) -> Result<File, Error> {
    let path = state.join(LOCK);
    let file = disk.private_file(LOCK).map_err(|error| Error::io(&format!("make {}", path.display()), &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::invalid(format!("another server uses {}: end it first", state.display())))
        }
        Err(TryLockError::Error(error)) => Err(Error::internal(&format!("lock {}", path.display()), error)),
    }
}

/// What earlier gateways had made ahead. Agents that still end remove theirs themselves, or find nothing.
fn discard_pool(disk: &Disk) {
    for entry in std::fs::read_dir(disk.pool()).into_iter().flatten().flatten() {
        drop(std::fs::rename(entry.path(), disk.trash().join(entry.file_name())));
    }
}

/// What an earlier gateway could not remove. Nobody waits for it.
fn empty_trash(disk: &Disk, remove: fn(&Path) -> std::io::Result<()>) {
    let trash = disk.trash();
    tokio::task::spawn_blocking(move || {
        for entry in std::fs::read_dir(trash).into_iter().flatten().flatten() {
            if let Err(error) = remove(&entry.path()) {
                tracing::warn!(path = %entry.path().display(), %error, "what is left of a sandbox cannot be removed");
            }
        }
    });
}
