//! The gateway as a whole: assembly, run and shutdown.

use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::adapter::ProtocolAdapter;
use crate::app::{App, Parts};
use crate::auth::{Auth, Mode, Rate};
use crate::metrics::Metrics;
use crate::placement::{Local, LocalOptions, Placement};
use crate::preview::{Domain, PreviewConfig, Signer};
use crate::registry::{Disk, Registry};
use crate::routes::Origins;
use crate::sandboxes::{Sandboxes, Services, Traffic};
use crate::server::{self, Limits, Listeners, PreviewListen, Server, TlsFiles};
use crate::{Error, routes};

/// The file in the state directory that holds the root token.
pub const ROOT_TOKEN: &str = "root-token";

/// The unix socket in the state directory on which the server also listens.
pub const SOCKET: &str = "server.sock";

/// Configuration of a gateway.
#[derive(Debug, Clone)]
pub struct Options {
    /// The state directory.
    pub state: PathBuf,
    /// Addresses to listen on.
    pub listen: Vec<SocketAddr>,
    /// TLS for all of these addresses.
    pub tls: Option<TlsFiles>,
    /// Whether to listen without TLS on addresses other than loopback.
    pub plaintext_anywhere: bool,
    /// Whether clients must present a token.
    pub auth: Mode,
    /// The rate limit of each token.
    pub rate: Option<Rate>,
    /// How agents are started.
    pub local: LocalOptions,
    /// Idle timeout of sandboxes that do not set their own.
    pub sleep_after: Option<Duration>,
    /// The maximum number of sandboxes.
    pub sandboxes_max: usize,
    /// Limits on connections and requests.
    pub limits: Limits,
    /// Where previews are served.
    pub preview: PreviewOptions,
    /// Origins whose pages may use the API.
    pub origins: Origins,
    /// The OpenAPI document of everything that this server serves, as JSON.
    pub document: &'static str,
    /// Adapters for other protocols.
    pub adapters: Vec<Arc<dyn ProtocolAdapter>>,
}

/// Where previews are served.
#[derive(Debug, Clone, Default)]
pub struct PreviewOptions {
    /// The addresses of the preview listeners, which never serve the API.
    pub listen: PreviewListen,
    /// The parent domain of preview host names.
    pub domain: Domain,
}

/// The file in the state directory that holds the key for signing preview links.
const PREVIEW_KEY: &str = "preview-key";

/// The file in the state directory that a running server locks.
const LOCK: &str = "lock";

/// A gateway that is listening.
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
    /// Opens the state directory, adopts the running agents, and listens.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let disk = Disk::open(&options.state).map_err(|error| Error::io("create the state directory", &error))?;
        let lock = lock(&disk, &options.state)?;
        let registry = Registry::open(&options.state.join("registry.db"))?;
        let metrics = Arc::new(Metrics::default());
        discard_pool(&disk);
        empty_trash(&disk, options.local.remove);
        let placement = Arc::new(Local::new(options.local.clone(), disk.clone()));
        let sandboxes = Sandboxes::adopt(Services {
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
        let site = PreviewConfig {
            domain: options.preview.domain,
            signer: Signer::load(&options.state.join(PREVIEW_KEY))?,
            address: listeners.previews.first().and_then(|listener| listener.local_addr().ok()),
            scheme: if tls.is_some() { "https" } else { "http" },
        };
        let app = App::from(Parts {
            sandboxes,
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
        let router = routes::router(app.clone(), &options.adapters);
        let server = Server { router, app, limits: options.limits, metrics, draining, adapters: options.adapters };
        placement.fill_pool();
        Ok(Self { server, listeners, placement, _lock: lock })
    }

    /// Returns the addresses it listens on, with the ports that the kernel chose.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.addresses()
    }

    /// Returns the addresses of the preview listeners.
    pub fn preview_addresses(&self) -> Vec<SocketAddr> {
        self.listeners.previews.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    /// Serves until `end` completes and open requests have ended.
    pub async fn run(self, end: impl Future<Output = ()>) {
        self.server.run(self.listeners, end).await;
        self.placement.close().await;
    }
}

/// Locks the state directory: two gateways over one state would not see each other's changes.
fn lock(disk: &Disk, state: &Path) -> Result<File, Error> {
    let path = state.join(LOCK);
    let file = disk.private_file(LOCK).map_err(|error| Error::io(&format!("create {}", path.display()), &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::invalid(format!("another server uses {}: stop it first", state.display())))
        }
        Err(TryLockError::Error(error)) => Err(Error::internal(&format!("lock {}", path.display()), error)),
    }
}

/// Moves the pre-warmed sandboxes of earlier gateways to the trash. Agents that are still exiting remove their own
/// directories, or find them gone.
fn discard_pool(disk: &Disk) {
    for entry in std::fs::read_dir(disk.pool()).into_iter().flatten().flatten() {
        drop(std::fs::rename(entry.path(), disk.trash().join(entry.file_name())));
    }
}

/// Removes in the background what an earlier gateway could not remove.
fn empty_trash(disk: &Disk, remove: fn(&Path) -> std::io::Result<()>) {
    let trash = disk.trash();
    tokio::task::spawn_blocking(move || {
        for entry in std::fs::read_dir(trash).into_iter().flatten().flatten() {
            if let Err(error) = remove(&entry.path()) {
                tracing::warn!(path = %entry.path().display(), %error, "cannot remove the remainder of a deleted sandbox");
            }
        }
    });
}
