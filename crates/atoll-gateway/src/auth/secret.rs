//! A token as it is sent: `atoll_<id>_<secret>`. The id finds the row, the secret is compared as a hash.

use std::io;

use memchr::memmem;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The prefix of every token.
const PREFIX: &[u8] = b"atoll_";

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

/// Whether bytes contain a token, at any position. By its shape: whether it is valid does not matter.
pub(crate) fn is_in(bytes: &[u8]) -> bool {
    let letters = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    memmem::find_iter(bytes, PREFIX).any(|at| {
        let rest = &bytes[at + PREFIX.len()..];
        let id = letters(rest);
        id > 0 && rest.get(id) == Some(&b'_') && letters(&rest[id + 1..]) >= SECRET_LETTERS
    })
}

/// Whether bytes contain the beginning of a token: for credentials, where a part of one, or one with a typo, counts.
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

    /// In the same time wherever they differ.
    pub(super) fn is_of(&self, secret: &str) -> bool {
        self.0.as_slice().ct_eq(Sha256::digest(secret.as_bytes()).as_slice()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_at_any_position() {
        let token = Secret::new().unwrap().to_token();
        for text in [token.clone(), format!("Bearer\t{token}"), format!("x, {token}, y"), format!("a=atoll_{token}")] {
            assert!(is_in(text.as_bytes()), "{text}");
        }
        for text in ["", "atoll_", "atoll_root_", "atoll__x", "atoll_preview=x", "table=atoll_user_data"] {
            assert!(!is_in(text.as_bytes()), "{text}");
        }
    }

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
