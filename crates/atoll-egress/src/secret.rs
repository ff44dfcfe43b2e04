//! Secrets: what stands in for each inside, where the real one may go, and that it never comes back.
//!
//! A stand-in is replaced in the headers that its secret names, in requests to the hosts that its secret names, on
//! connections whose other end has proved to be that host. Nowhere else: not in bodies, not in paths, not in the clear.
//! Every answer of a host that has secrets is searched for all their values, which are blotted out: also on requests without
//! a stand-in, as the host may have stored what an earlier one contained.

mod forms;
mod scrub;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use atoll_protocol::{PutSecret, SecretInfo};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION};
use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::name::{self, Name};
use crate::policy::PolicyError;

pub(crate) use scrub::{Scrubbed, Scrubber};

/// Secrets of one sandbox.
const SECRETS_MAX: usize = 64;

/// Bytes of one; and fewer than a few could be found anywhere by chance.
const VALUE_MAX: usize = 16 * 1024;
const VALUE_MIN: usize = 8;

/// Hosts and headers of one.
const PLACES_MAX: usize = 32;

/// Random letters of a stand-in: nobody guesses one, and none is in a text by chance.
const PLACEHOLDER_LETTERS: usize = 32;

/// Headers that frame a message or name its host: a value put in there would change what the request is.
const FORBIDDEN: [&str; 8] =
    ["host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer", "keep-alive"];

/// One secret. Serialized only for the file that keeps it on the server's side.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Secret {
    name: String,
    value: String,
    placeholder: String,
    hosts: Vec<String>,
    headers: Vec<String>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Secret {
    fn new(name: &str, given: PutSecret, placeholder: String) -> Result<Self, PolicyError> {
        let wrong = |what: String| Err(PolicyError::new(format!("the secret {name}: {what}")));
        if !(VALUE_MIN..=VALUE_MAX).contains(&given.value.len()) {
            return wrong(format!("its value must have {VALUE_MIN} to {VALUE_MAX} bytes"));
        }
        // Other letters could come back in many spellings, of which only one would be found.
        let is_plain = given.value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if !is_plain || given.value.trim() != given.value {
            return wrong("its value must be of printable ASCII letters, without space around it".to_owned());
        }
        for (what, list) in [("hosts", &given.hosts), ("headers", &given.headers)] {
            if !(1..=PLACES_MAX).contains(&list.len()) {
                return wrong(format!("give 1 to {PLACES_MAX} {what}"));
            }
        }
        if let Some(host) = given.hosts.iter().find(|host| name::authority(host.as_bytes()).is_none()) {
            return wrong(format!("`{}` is no host: give NAME or NAME:PORT", host.escape_debug()));
        }
        let usable = |header: &&String| {
            HeaderName::from_bytes(header.as_bytes()).is_ok_and(|header| !FORBIDDEN.contains(&header.as_str()))
        };
        if let Some(header) = given.headers.iter().find(|header| !usable(header)) {
            return wrong(format!("`{}` is no header that it can be put in", header.escape_debug()));
        }
        let headers = given.headers.iter().map(|header| header.to_ascii_lowercase()).collect();
        Ok(Self { name: name.to_owned(), value: given.value, placeholder, hosts: given.hosts, headers })
    }

    /// Hosts and ports that it is for.
    fn places(&self) -> impl Iterator<Item = (Name, u16)> {
        let parsed = self.hosts.iter().filter_map(|host| name::authority(host.as_bytes()));
        parsed.map(|(host, port)| (host, port.unwrap_or(443)))
    }

    fn is_for(&self, name: &Name, port: u16) -> bool {
        self.places().any(|(host, at)| host == *name && at == port)
    }

    fn is_at(&self, name: &Name) -> bool {
        self.places().any(|(host, _)| host == *name)
    }

    fn info(&self) -> SecretInfo {
        let Self { name, value: _, placeholder, hosts, headers } = self;
        SecretInfo {
            name: name.clone(),
            placeholder: placeholder.clone(),
            hosts: hosts.clone(),
            headers: headers.clone(),
        }
    }
}

/// The secrets of a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secrets(BTreeMap<String, Secret>);

impl Secrets {
    /// With this one, new or in place of the one of the same name, whose stand-in it keeps: programs may hold it.
    pub fn with(&self, name: &str, given: PutSecret) -> Result<Self, PolicyError> {
        let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if !(1..=64).contains(&name.len()) || !name.bytes().all(plain) || name.as_bytes()[0].is_ascii_digit() {
            let rule = "1 to 64 of A-Z, 0-9 and _, not beginning with a digit";
            return Err(PolicyError::new(format!("`{}` is no name for a secret: {rule}", name.escape_debug())));
        }
        if self.0.len() >= SECRETS_MAX && !self.0.contains_key(name) {
            return Err(PolicyError::new(format!("there may not be more than {SECRETS_MAX} secrets")));
        }
        let placeholder = match self.0.get(name) {
            Some(before) => before.placeholder.clone(),
            None => placeholder().map_err(|error| PolicyError::new(format!("no random bytes: {error}")))?,
        };
        let secret = Secret::new(name, given, placeholder)?;
        let mut all = self.0.clone();
        all.insert(name.to_owned(), secret);
        Ok(Self(all))
    }

    /// Without this one; `None` if there is none.
    pub fn without(&self, name: &str) -> Option<Self> {
        let mut all = self.0.clone();
        all.remove(name).map(|_| Self(all))
    }

    /// All of them, without their values.
    pub fn list(&self) -> Vec<SecretInfo> {
        self.0.values().map(Secret::info).collect()
    }

    /// Variables with the stand-ins.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.values().map(|secret| (secret.name.as_str(), secret.placeholder.as_str()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this host gets any.
    pub(crate) fn are_for(&self, name: &Name, port: u16) -> bool {
        self.0.values().any(|secret| secret.is_for(name, port))
    }

    /// Whether a secret is for this host, at any port.
    pub(crate) fn hold(&self, name: &Name) -> bool {
        self.0.values().any(|secret| secret.is_at(name))
    }

    /// Names of all hosts that secrets are for.
    pub(crate) fn hosts(&self) -> BTreeSet<Name> {
        self.0.values().flat_map(Secret::places).map(|(host, _)| host).collect()
    }

    /// What no answer of this host may contain, at any of its ports: every form of every value that is for it.
    pub(crate) fn needles(&self, name: &Name) -> Vec<Vec<u8>> {
        let own = self.0.values().filter(|secret| secret.is_at(name));
        own.flat_map(|secret| forms::forms(secret.value.as_bytes())).collect()
    }

    /// Puts the real values into the headers of a request to this host. Returns what was put in, as it
    /// stands in the request: nothing if no stand-in was there.
    pub(crate) fn put_into(&self, headers: &mut HeaderMap, name: &Name, port: u16) -> Vec<Vec<u8>> {
        let mut used = Vec::new();
        for secret in self.0.values().filter(|secret| secret.is_for(name, port)) {
            for header in &secret.headers {
                let Ok(header) = HeaderName::from_bytes(header.as_bytes()) else { continue };
                let values: Vec<HeaderValue> = headers.get_all(&header).iter().cloned().collect();
                if !values.iter().any(|value| replaced(&header, value, secret).is_some()) {
                    continue;
                }
                headers.remove(&header);
                for value in values {
                    let new = replaced(&header, &value, secret);
                    if let Some(new) = &new {
                        used.push(secret.value.clone().into_bytes());
                        used.extend(new.credentials.clone());
                    }
                    headers.append(header.clone(), new.map_or(value, |new| new.value));
                }
            }
        }
        used.sort();
        used.dedup();
        used
    }
}

/// A header's value with a secret in it.
struct Replaced {
    value: HeaderValue,
    /// What stands for the secret in it, if that is not the secret itself.
    credentials: Option<Vec<u8>>,
}

/// Other words around the stand-in stay. What is `Basic` is looked into (RFC 7617).
fn replaced(header: &HeaderName, value: &HeaderValue, secret: &Secret) -> Option<Replaced> {
    if header == AUTHORIZATION || header == PROXY_AUTHORIZATION {
        let bytes = value.as_bytes();
        let scheme = bytes.get(..6).filter(|scheme| scheme.eq_ignore_ascii_case(b"basic "));
        if scheme.is_some() {
            let decoded = STANDARD.decode(bytes[6..].trim_ascii()).ok()?;
            let plain = substitute(&decoded, secret)?;
            let encoded = STANDARD.encode(plain);
            let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
            value.set_sensitive(true);
            return Some(Replaced { value, credentials: Some(encoded.into_bytes()) });
        }
    }
    let mut value = HeaderValue::from_bytes(&substitute(value.as_bytes(), secret)?).ok()?;
    value.set_sensitive(true);
    Some(Replaced { value, credentials: None })
}

fn substitute(text: &[u8], secret: &Secret) -> Option<Vec<u8>> {
    let placeholder = secret.placeholder.as_bytes();
    memmem::find(text, placeholder)?;
    let mut out = Vec::with_capacity(text.len() + secret.value.len());
    let mut from = 0;
    for at in memmem::find_iter(text, placeholder) {
        out.extend_from_slice(&text[from..at]);
        out.extend_from_slice(secret.value.as_bytes());
        from = at + placeholder.len();
    }
    out.extend_from_slice(&text[from..]);
    Some(out)
}

fn placeholder() -> std::io::Result<String> {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = [0; PLACEHOLDER_LETTERS];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    let letters: String = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect();
    Ok(format!("atoll-secret-{letters}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> (Secrets, String) {
        let given = PutSecret {
            value: "real-value-123".to_owned(),
            hosts: vec!["api.test".to_owned(), "other.test:8443".to_owned()],
            headers: vec!["Authorization".to_owned(), "x-api-key".to_owned()],
        };
        let secrets = Secrets::default().with("API_KEY", given).unwrap();
        let placeholder = secrets.list()[0].placeholder.clone();
        (secrets, placeholder)
    }

    fn host(text: &str) -> Name {
        Name::new(text.as_bytes()).unwrap()
    }

    fn sent(header: &str, value: &str, to: &str, port: u16) -> (String, Vec<Vec<u8>>) {
        let (secrets, placeholder) = secrets();
        let mut headers = HeaderMap::new();
        let value = value.replace("PLACEHOLDER", &placeholder);
        headers.insert(HeaderName::from_bytes(header.as_bytes()).unwrap(), value.parse().unwrap());
        let used = secrets.put_into(&mut headers, &host(to), port);
        let out = headers.get(header).unwrap().to_str().unwrap().replace(&placeholder, "PLACEHOLDER");
        (out, used)
    }

    #[test]
    fn only_named_headers_of_named_hosts_get_it() {
        assert_eq!(sent("authorization", "Bearer PLACEHOLDER", "api.test", 443).0, "Bearer real-value-123");
        assert_eq!(sent("x-api-key", "PLACEHOLDER", "other.test", 8443).0, "real-value-123");
        for (header, to, port) in [
            ("x-other", "api.test", 443),
            ("x-api-key", "evil.test", 443),
            ("x-api-key", "api.test", 8443),
            ("x-api-key", "other.test", 443),
            ("x-api-key", "sub.api.test", 443),
        ] {
            let (value, used) = sent(header, "PLACEHOLDER", to, port);
            assert_eq!((value.as_str(), used.len()), ("PLACEHOLDER", 0), "{header} {to} {port}");
        }
    }

    #[test]
    fn basic_credentials_are_looked_into() {
        let (secrets, placeholder) = secrets();
        let mut headers = HeaderMap::new();
        let given = format!("bAsIc {}", STANDARD.encode(format!("user:{placeholder}")));
        headers.insert(AUTHORIZATION, given.parse().unwrap());
        let used = secrets.put_into(&mut headers, &host("api.test"), 443);
        let encoded = STANDARD.encode("user:real-value-123");
        assert_eq!(headers[AUTHORIZATION], format!("Basic {encoded}"));
        assert!(used.contains(&encoded.into_bytes()) && used.contains(&b"real-value-123".to_vec()));
        assert!(!format!("{headers:?}").contains(&STANDARD.encode("user:real-value-123")));
    }

    #[test]
    fn what_cannot_be_kept_safe_is_refused_without_repeating_it() {
        let good = || PutSecret {
            value: "real-value-123".to_owned(),
            hosts: vec!["api.test".to_owned()],
            headers: vec!["x-key".to_owned()],
        };
        let none = Secrets::default();
        for bad in [
            PutSecret { value: "short".to_owned(), ..good() },
            PutSecret { value: "real-value\r\nx: y".to_owned(), ..good() },
            PutSecret { value: " real-value-123".to_owned(), ..good() },
            PutSecret { value: "real-value-1é3".to_owned(), ..good() },
            PutSecret { value: "real-value\t123".to_owned(), ..good() },
            PutSecret { hosts: Vec::new(), ..good() },
            PutSecret { hosts: vec!["*.api.test".to_owned()], ..good() },
            PutSecret { hosts: vec!["10.0.0.1".to_owned()], ..good() },
            PutSecret { headers: Vec::new(), ..good() },
            PutSecret { headers: vec!["Host".to_owned()], ..good() },
            PutSecret { headers: vec!["content-length".to_owned()], ..good() },
            PutSecret { headers: vec!["a b".to_owned()], ..good() },
        ] {
            let error = none.with("KEY", bad).unwrap_err().to_string();
            assert!(!error.contains("real-value"), "{error}");
        }
        for name in ["", "key", "1KEY", "A-B", "A=B"] {
            assert!(none.with(name, good()).is_err(), "{name}");
        }
        assert!(!format!("{:?}", none.with("KEY", good()).unwrap()).contains("real-value"));
    }

    #[test]
    fn a_new_value_keeps_the_stand_in() {
        let (secrets, placeholder) = secrets();
        let given = PutSecret {
            value: "another-value".to_owned(),
            hosts: vec!["b.test".to_owned()],
            headers: vec!["x-k".to_owned()],
        };
        let after = secrets.with("API_KEY", given).unwrap();
        assert_eq!(after.list()[0].placeholder, placeholder);
        assert!(!after.are_for(&host("api.test"), 443) && after.are_for(&host("b.test"), 443));
        assert!(after.without("API_KEY").unwrap().is_empty() && after.without("NONE").is_none());
    }
}
