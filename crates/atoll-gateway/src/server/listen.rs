//! The server's listeners: the configured addresses, if they are safe, and a unix socket in the state directory.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::TlsAcceptor;

use super::tls::{self, TlsFiles};
use crate::Error;

/// All listeners of the server.
pub(crate) struct Listeners {
    pub(crate) tcp: Vec<TcpListener>,
    /// Listeners for previews only.
    pub(crate) previews: Vec<TcpListener>,
    pub(crate) unix: UnixListener,
    pub(crate) tls: Option<TlsAcceptor>,
}

impl Listeners {
    /// Returns the addresses, with the ports that the kernel chose.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.tcp.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }
}

/// Where to listen for previews.
#[derive(Debug, Clone, Default)]
pub enum PreviewListen {
    /// Do not serve previews.
    Nowhere,
    /// The port after the API's first one, or any other if that is in use.
    #[default]
    BesideTheApi,
    /// These addresses.
    At(Vec<SocketAddr>),
}

async fn bind_previews(wanted: &PreviewListen, api: &[TcpListener], may: &Rule) -> Result<Vec<TcpListener>, Error> {
    match wanted {
        PreviewListen::Nowhere => Ok(Vec::new()),
        PreviewListen::At(addresses) => bind_tcp(addresses, may).await,
        PreviewListen::BesideTheApi => {
            let Some(first) = api.first().and_then(|listener| listener.local_addr().ok()) else {
                return Ok(Vec::new());
            };
            let at = |port: u16| [SocketAddr::new(first.ip(), port)];
            match bind_tcp(&at(first.port().checked_add(1).unwrap_or_default()), may).await {
                Ok(bound) => Ok(bound),
                Err(error) => {
                    tracing::warn!(%error, "the default preview port is in use, listening on another one");
                    bind_tcp(&at(0), may).await
                }
            }
        }
    }
}

/// Which addresses are allowed.
struct Rule {
    anywhere: bool,
}

async fn bind_tcp(addresses: &[SocketAddr], may: &Rule) -> Result<Vec<TcpListener>, Error> {
    let mut bound = Vec::new();
    for address in addresses {
        if !may.anywhere && !address.ip().is_loopback() {
            return Err(Error::invalid(format!(
                "{address} can be reached by others, and there is no TLS: pass a certificate and a key, or allow \
                 plaintext explicitly"
            )));
        }
        let listener = TcpListener::bind(address).await;
        bound.push(listener.map_err(|error| Error::internal(&format!("listen on {address}"), error))?);
    }
    Ok(bound)
}

/// Binds all listeners. Refuses to send tokens over a network in plaintext unless that was allowed explicitly.
pub(crate) async fn bind(
    addresses: &[SocketAddr],
    previews: &PreviewListen,
    socket: &Path,
    files: Option<&TlsFiles>,
    plaintext_anywhere: bool,
) -> Result<Listeners, Error> {
    let tls = files.map(tls::acceptor).transpose()?;
    let may = Rule { anywhere: tls.is_some() || plaintext_anywhere };
    let tcp = bind_tcp(addresses, &may).await?;
    let previews = bind_previews(previews, &tcp, &may).await?;
    let unix = bind_unix(socket).map_err(|error| Error::internal(&format!("listen on {}", socket.display()), error))?;
    Ok(Listeners { tcp, previews, unix, tls })
}

/// Binds the unix socket. The caller holds the state directory's lock, so an existing socket file is stale.
fn bind_unix(path: &Path) -> std::io::Result<UnixListener> {
    drop(std::fs::remove_file(path));
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn plaintext_beyond_loopback_must_be_allowed() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("server.sock");
        let anywhere: SocketAddr = "0.0.0.0:0".parse().unwrap();
        let refused = bind(&[anywhere], &PreviewListen::Nowhere, &socket, None, false).await.err().unwrap().to_string();
        assert!(refused.contains("there is no TLS"), "{refused}");
        assert!(bind(&[anywhere], &PreviewListen::Nowhere, &socket, None, true).await.is_ok());
        let loopback: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let listeners = bind(&[loopback], &PreviewListen::BesideTheApi, &socket, None, false).await.unwrap();
        assert_ne!(listeners.addresses()[0].port(), 0);
        assert_ne!(listeners.previews[0].local_addr().unwrap(), listeners.addresses()[0]);
        assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
