//! A token as it is sent: `atoll_<id>_<secret>`. The id finds the row, the secret is compared as a hash.

use std::io;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Letters of an id: enough that two never meet.
const ID_LETTERS: usize = 12;

/// Letters of a secret, five bits each: 260 bits, so nothing is gained by a slow hash.
const SECRET_LETTERS: usize = 52;

/// A new token; the only place where its secret is.
pub(super) struct Secret {
    pub(super) id: String,
    secret: String,
}

/// What is kept of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hash(Vec<u8>);

impl Secret {
    pub(super) fn new() -> io::Result<Self> {
        Self::with_id(crate::random::text(ID_LETTERS)?)
    }

    pub(super) fn with_id(id: String) -> io::Result<Self> {
        Ok(Self { id, secret: crate::random::text(SECRET_LETTERS)? })
    }

    /// As it is sent.
    pub(super) fn to_token(&self) -> String {
        format!("atoll_{}_{}", self.id, self.secret)
    }

    pub(super) fn hash(&self) -> Hash {
        Hash::of(&self.secret)
    }
}

/// Id and secret of a token as it was sent.
pub(super) fn split(token: &str) -> Option<(&str, &str)> {
    token.strip_prefix("atoll_")?.split_once('_')
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

    /// In the same time wherever they differ.
    pub(super) fn is_of(&self, secret: &str) -> bool {
        self.0.as_slice().ct_eq(Sha256::digest(secret.as_bytes()).as_slice()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_alone() {
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
