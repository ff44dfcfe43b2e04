//! TLS to the server: trusted certificates, and the name that the server's certificate must have. Neither check can be
//! disabled.

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

/// Where systems keep their bundle of trusted certificates. `SSL_CERT_FILE` names another.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The expected name, and the certificates to verify it with.
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
    /// Creates a configuration for `host:port` that trusts the certificates in this file, or those of the system.
    pub(crate) fn new(address: &str, trusted: Option<&Path>) -> Result<Self, Error> {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Error::invalid(format!("`{host}` is not a valid host name for a certificate")))?;
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
    let none = || Error::invalid("this system has no bundle of trusted certificates: name a file");
    named.or_else(found).ok_or_else(none)
}

fn roots(file: &Path) -> Result<RootCertStore, Error> {
    let wrong = |why: &dyn std::fmt::Display| Error::invalid(format!("cannot use {}: {why}", file.display()));
    let certificates = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&error))?;
    let mut roots = RootCertStore::empty();
    // System bundles contain certificates that are too old to parse; the others suffice.
    let (taken, _) = roots.add_parsable_certificates(certificates);
    if taken == 0 { Err(wrong(&"the file has no certificate")) } else { Ok(roots) }
}
