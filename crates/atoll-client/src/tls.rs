//! TLS to the server: whom to trust, and the name that its certificate must have. There is no way to leave out either.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::Error;

/// Where systems keep the certificates of those whom they trust, all in one file. `SSL_CERT_FILE` names another.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// A name, and what proves that somebody has it.
#[derive(Clone)]
pub(crate) struct Tls {
    name: ServerName<'static>,
    connector: TlsConnector,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tls {
    /// For `host:port`, trusting those in this file, or else those whom the system trusts.
    pub(crate) fn new(address: &str, trusted: Option<&Path>) -> Result<Self, Error> {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Error::invalid(format!("`{host}` is no name that a certificate could have")))?;
        let file = trusted.map_or_else(system_file, |file| Ok(file.to_owned()))?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(Error::invalid)?
            .with_root_certificates(roots(&file)?)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { name, connector: TlsConnector::from(Arc::new(config)) })
    }

    pub(crate) async fn over(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.connector.connect(self.name.clone(), stream).await
    }
}

fn system_file() -> Result<PathBuf, Error> {
    let named = std::env::var_os("SSL_CERT_FILE").filter(|file| !file.is_empty()).map(PathBuf::from);
    let found = || SYSTEM.iter().map(PathBuf::from).find(|file| file.exists());
    let none = || Error::invalid("this system has no file of trusted certificates: name one");
    named.or_else(found).ok_or_else(none)
}

fn roots(file: &Path) -> Result<RootCertStore, Error> {
    let wrong = |why: &dyn std::fmt::Display| Error::invalid(format!("cannot use {}: {why}", file.display()));
    let certificates = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&error))?;
    let mut roots = RootCertStore::empty();
    // Systems have some that are too old to be understood; the others count.
    let (taken, _) = roots.add_parsable_certificates(certificates);
    if taken == 0 { Err(wrong(&"there is no certificate in it")) } else { Ok(roots) }
}
