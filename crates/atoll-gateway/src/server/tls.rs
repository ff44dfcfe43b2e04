//! TLS from two PEM files: the certificate chain and the private key.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::Error;

/// The files for TLS.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// PEM: the server's certificate, followed by its chain.
    pub certificates: PathBuf,
    /// PEM: the private key.
    pub key: PathBuf,
}

pub(super) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, Error> {
    let wrong =
        |path: &PathBuf, why: &dyn std::fmt::Display| Error::invalid(format!("cannot use {}: {why}", path.display()));
    let certificates = CertificateDer::pem_file_iter(&files.certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&files.certificates, &error))?;
    if certificates.is_empty() {
        return Err(wrong(&files.certificates, &"there is no certificate in it"));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| wrong(&files.key, &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::internal("set up TLS", error))?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|error| wrong(&files.key, &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
