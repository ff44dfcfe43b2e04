//! TLS that ends here: an authority of the sandbox's own for the side within, the machine's trust for the side without.
//!
//! The authority's key is made when the way out is opened, is in memory only, and is gone with it. Its certificate is
//! put into the trust of that one sandbox; nobody else has any reason to believe it.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ServerSessionMemoryCache;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::name::Name;

/// Names whose certificates are kept ready.
const NAMES_MAX: usize = 256;

/// TLS sessions of programs inside that can be resumed.
const SESSIONS_MAX: usize = 256;

/// What is spoken within. Only HTTP/1.1: a request is then what stands between two others, and nothing is shared.
const HTTP_1: &[u8] = b"http/1.1";

/// Where machines keep what they trust.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The machine's own list of authorities, as PEM. Empty if there is none.
pub fn machine_bundle() -> &'static str {
    static BUNDLE: OnceLock<String> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        BUNDLES.iter().find_map(|path| std::fs::read_to_string(Path::new(path)).ok()).unwrap_or_default()
    })
}

/// Reads certificates.
pub(crate) fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match read {
        Ok(found) if found.is_empty() => Err("there is no certificate in it".to_owned()),
        Ok(found) => Ok(found),
        Err(error) => Err(error.to_string()),
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// What could not be made. Never says anything about keys.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox's certificates cannot be made: {0}")]
pub struct CertificateError(String);

fn failed(error: impl fmt::Display) -> CertificateError {
    CertificateError(error.to_string())
}

/// The sandbox's own authority.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    /// One key for all names: they are all ours.
    key: KeyPair,
    ready: Mutex<HashMap<Name, Arc<ServerConfig>>>,
    /// One store for all names: each certificate with its own would multiply what programs inside can make us remember.
    sessions: Arc<ServerSessionMemoryCache>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    pub(crate) fn new(sandbox: &str) -> Result<Self, CertificateError> {
        let key = KeyPair::generate().map_err(failed)?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, format!("Atoll, for the sandbox {sandbox} alone"));
        let pem = params.self_signed(&key).map_err(failed)?.pem();
        let issuer = Issuer::new(params, key);
        Ok(Self {
            issuer,
            pem,
            key: KeyPair::generate().map_err(failed)?,
            ready: Mutex::default(),
            sessions: ServerSessionMemoryCache::new(SESSIONS_MAX),
        })
    }

    /// Its certificate.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// How a server of this name presents itself.
    pub(crate) fn server(&self, name: &Name) -> Result<Arc<ServerConfig>, CertificateError> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = ready.get(name) {
            return Ok(Arc::clone(config));
        }
        if ready.len() >= NAMES_MAX {
            ready.clear();
        }
        let config = Arc::new(self.make(name)?);
        ready.insert(name.clone(), Arc::clone(&config));
        Ok(config)
    }

    fn make(&self, name: &Name) -> Result<ServerConfig, CertificateError> {
        let mut params = CertificateParams::new([name.as_str().to_owned()]).map_err(failed)?;
        params.distinguished_name.push(DnType::CommonName, "Atoll");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let leaf = params.signed_by(&self.key, &self.issuer).map_err(failed)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.serialize_der()));
        let versions = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let mut config = versions
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key)
            .map_err(failed)?;
        config.alpn_protocols = vec![HTTP_1.to_vec()];
        config.session_storage = Arc::clone(&self.sessions) as _;
        Ok(config)
    }
}

/// How we present ourselves to servers, and by what we believe them.
pub(crate) fn client(trust: Option<&str>) -> Result<Arc<ClientConfig>, CertificateError> {
    let mut roots = RootCertStore::empty();
    // What of the machine's list cannot be used is left out, as everywhere.
    roots.add_parsable_certificates(certificates(machine_bundle()).unwrap_or_default());
    if let Some(pem) = trust {
        for certificate in certificates(pem).map_err(CertificateError)? {
            roots.add(certificate).map_err(failed)?;
        }
    }
    let versions = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let mut config = versions.map_err(failed)?.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![HTTP_1.to_vec()];
    Ok(Arc::new(config))
}
