//! Signed links, which grant browsers temporary access to a private preview, and their signing key.
//!
//! A signature covers the sandbox, the port, the current token and the expiry time; so it is valid for one preview,
//! and rotating the token revokes it. Links are not stored.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use atoll_protocol::Timestamp;
use ring::hmac;

use super::address::Label;
use crate::Error;

/// Length of the key: that of the digest.
const KEY_BYTES: usize = 32;

/// The query parameter that holds the signature.
pub(crate) const PARAMETER: &str = "atoll_link";

/// Signs and verifies links.
#[derive(Debug)]
pub(crate) struct Signer(hmac::Key);

impl Signer {
    /// Loads the key. Generates it at the first start, so that links outlive the server process.
    pub(crate) fn load(path: &Path) -> Result<Self, Error> {
        let key = read(path).or_else(|_| make(path));
        let key = key.map_err(|error| Error::internal(&format!("create {}", path.display()), error))?;
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &key)))
    }

    /// Returns `<expiry>.<signature>`.
    pub(crate) fn sign(&self, label: &Label, expires: Timestamp) -> String {
        let tag = hmac::sign(&self.0, &message(label, expires.as_millis()));
        let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}.{hex}", expires.as_millis())
    }

    /// Verifies a signature in constant time. Returns its expiry if it is valid for this preview and has not expired.
    pub(crate) fn check(&self, label: &Label, signed: &str, now: Timestamp) -> Option<Timestamp> {
        let (time, hex) = signed.split_once('.')?;
        let expires: u64 = time.parse().ok()?;
        let tag = unhex(hex)?;
        hmac::verify(&self.0, &message(label, expires), &tag).ok()?;
        (expires > now.as_millis()).then_some(Timestamp::from_millis(expires))
    }
}

fn message(label: &Label, expires: u64) -> Vec<u8> {
    format!("atoll preview link\n{label}\n{expires}").into_bytes()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    (0..32).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut key = Vec::new();
    File::open(path)?.take(1024).read_to_end(&mut key)?;
    if key.len() == KEY_BYTES { Ok(key) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Generates the key. Renamed into place, so that the file is never incomplete.
fn make(path: &Path) -> io::Result<Vec<u8>> {
    let mut key = vec![0; KEY_BYTES];
    rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())?;
    let draft = path.with_extension("new");
    drop(std::fs::remove_file(&draft));
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(&key)?;
    file.sync_all()?;
    std::fs::rename(draft, path)?;
    Ok(key)
}

/// Splits a query into the value of our parameter and the rest.
pub(super) fn take(query: &str) -> (Option<String>, Option<String>) {
    let mut signed = None;
    let left: Vec<&str> = query
        .split('&')
        .filter(|pair| match pair.split_once('=') {
            Some((PARAMETER, value)) => {
                signed = Some(value.to_owned());
                false
            }
            _ => true,
        })
        .collect();
    let left = left.join("&");
    (signed, (!left.is_empty()).then_some(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_is_valid_for_one_preview_until_it_expires() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let signer = Signer::load(&path).unwrap();
        let at = Timestamp::from_millis;
        let label = Label::parse("80-box-token").unwrap();
        let signed = signer.sign(&label, at(1000));
        assert_eq!(signer.check(&label, &signed, at(999)), Some(at(1000)));
        assert_eq!(signer.check(&label, &signed, at(1000)), None, "expired");
        for other in ["81-box-token", "80-other-token", "80-box-rotated"] {
            assert_eq!(signer.check(&Label::parse(other).unwrap(), &signed, at(0)), None, "{other}");
        }
        for forged in ["", "1000", "1000.", &signed.replace("1000.", "2000."), &format!("{signed}0"), "1000.é"] {
            assert_eq!(signer.check(&label, forged, at(0)), None, "{forged}");
        }
        let again = Signer::load(&path).unwrap();
        assert!(again.check(&label, &signed, at(0)).is_some(), "the key is persistent");
        let other = Signer::load(&dir.path().join("other")).unwrap();
        assert!(other.check(&label, &signed, at(0)).is_none(), "another server's key");
    }

    #[test]
    fn link_is_removed_from_the_query() {
        let text = |one: &str| Some(one.to_owned());
        assert_eq!(take("a=1&atoll_link=x&b=2"), (text("x"), text("a=1&b=2")));
        assert_eq!(take("atoll_link=x"), (text("x"), None));
        assert_eq!(take("a=1"), (None, text("a=1")));
    }
}
