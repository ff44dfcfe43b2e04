//! The format of tokens: `atoll_<id>_<secret>`. The id selects the row; the secret is compared by its hash.

use std::io;

use memchr::memmem;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The prefix of every token.
const PREFIX: &[u8] = b"atoll_";

/// Length of an id: long enough to be unique.
const ID_LETTERS: usize = 12;

/// Length of a secret, five bits per character: 260 bits, so a slow hash would add nothing.
const SECRET_LETTERS: usize = 52;

/// A new token, and the only copy of its secret.
pub(super) struct Secret {
    pub(super) id: String,
    secret: String,
}

/// The SHA-256 hash of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hash(Vec<u8>);

impl Secret {
    pub(super) fn new() -> io::Result<Self> {
        Self::with_id(crate::random::text(ID_LETTERS)?)
    }

    pub(super) fn with_id(id: String) -> io::Result<Self> {
        Ok(Self { id, secret: crate::random::text(SECRET_LETTERS)? })
    }

    /// Returns the whole token.
    pub(super) fn to_token(&self) -> String {
        format!("atoll_{}_{}", self.id, self.secret)
    }

    pub(super) fn hash(&self) -> Hash {
        Hash::of(&self.secret)
    }
}

/// Splits a token into id and secret.
pub(super) fn split(token: &str) -> Option<(&str, &str)> {
    token.strip_prefix("atoll_")?.split_once('_')
}

/// Whether bytes contain a token at any position. Judged by its format: whether it is valid does not matter.
pub(crate) fn is_in(bytes: &[u8]) -> bool {
    let letters = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    memmem::find_iter(bytes, PREFIX).any(|at| {
        let rest = &bytes[at + PREFIX.len()..];
        let id = letters(rest);
        id > 0 && rest.get(id) == Some(&b'_') && letters(&rest[id + 1..]) >= SECRET_LETTERS
    })
}

/// Whether bytes contain a token's prefix. For credentials, in which a part of a token or one with a typo counts, too.
pub(crate) fn begins_in(bytes: &[u8]) -> bool {
    memmem::find(bytes, PREFIX).is_some()
}

impl Hash {
    pub(super) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).to_vec())
    }

    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Compares in constant time.
    pub(super) fn is_of(&self, secret: &str) -> bool {
        self.0.as_slice().ct_eq(Sha256::digest(secret.as_bytes()).as_slice()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_found_at_any_position() {
        let token = Secret::new().unwrap().to_token();
        for text in [token.clone(), format!("Bearer\t{token}"), format!("x, {token}, y"), format!("a=atoll_{token}")] {
            assert!(is_in(text.as_bytes()), "{text}");
        }
        for text in ["", "atoll_", "atoll_root_", "atoll__x", "atoll_preview=x", "table=atoll_user_data"] {
            assert!(!is_in(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn token_is_verified_by_its_hash() {
        let secret = Secret::new().unwrap();
        let token = secret.to_token();
        let (id, sent) = split(&token).unwrap();
        assert_eq!(id, secret.id);
        assert!(secret.hash().is_of(sent));
        assert!(!secret.hash().is_of(&sent[1..]) && !secret.hash().is_of(""));
        for bad in ["", "atoll_", "atoll_abc", "Bearer x"] {
            assert!(split(bad).is_none(), "{bad}");
        }
    }
}
