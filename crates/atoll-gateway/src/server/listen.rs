//! Where the server listens: where it was told, if that is safe, and on a socket in its state directory.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::TlsAcceptor;

use super::tls::{self, TlsFiles};
use crate::Error;

/// Everything that is listened on.
pub(crate) struct Listeners {
    pub(crate) tcp: Vec<TcpListener>,
    pub(crate) unix: UnixListener,
    pub(crate) tls: Option<TlsAcceptor>,
}

impl Listeners {
    /// The addresses, with the ports that were chosen.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.tcp.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }
}

/// Binds. Tokens must not cross a network in the clear unless somebody said that they may.
pub(crate) async fn bind(
    addresses: &[SocketAddr],
    socket: &Path,
    files: Option<&TlsFiles>,
    plaintext_anywhere: bool,
) -> Result<Listeners, Error> {
    let tls = files.map(tls::acceptor).transpose()?;
    let mut tcp = Vec::new();
    for address in addresses {
        if tls.is_none() && !plaintext_anywhere && !address.ip().is_loopback() {
            return Err(Error::invalid(format!(
                "{address} can be reached by others, and there is no TLS: give a certificate and a key, or allow \
                 plaintext by name"
            )));
        }
        let listener = TcpListener::bind(address).await;
        tcp.push(listener.map_err(|error| Error::internal(&format!("listen on {address}"), error))?);
    }
    let unix = bind_unix(socket).map_err(|error| Error::internal(&format!("listen on {}", socket.display()), error))?;
    Ok(Listeners { tcp, unix, tls })
}

/// The caller holds the state directory's lock: a socket that is there belongs to nobody.
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
    async fn others_are_served_only_when_that_was_said() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("server.sock");
        let anywhere: SocketAddr = "0.0.0.0:0".parse().unwrap();
        let refused = bind(&[anywhere], &socket, None, false).await.err().unwrap().to_string();
        assert!(refused.contains("there is no TLS"), "{refused}");
        assert!(bind(&[anywhere], &socket, None, true).await.is_ok());
        let loopback: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let listeners = bind(&[loopback], &socket, None, false).await.unwrap();
        assert_ne!(listeners.addresses()[0].port(), 0);
        assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
