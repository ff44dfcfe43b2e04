//! The persisted settings of exposed ports, and changes to them. Pure functions over data.
//!
//! Tokens are stored in plaintext, beside the sandbox's variables, in a file that only the server's user can read:
//! URLs can be listed for as long as they are valid, and a reader of that file could reach the sandbox anyway.

use std::collections::BTreeMap;
use std::io;

use atoll_protocol::{ExposePort, SandboxName, Timestamp, Visibility};
use serde::{Deserialize, Serialize};

use super::address::{Label, is_token};
use crate::{Error, random};

/// Most exposed ports per sandbox: people look at each of them.
const EXPOSED_MAX: usize = 64;

/// Most characters of a port's name.
const NAME_MAX: usize = 256;

/// Length of a generated token, five random bits per character.
const TOKEN_LETTERS: usize = 16;

/// The settings of an exposed port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exposure {
    pub(crate) name: Option<String>,
    pub(crate) token: String,
    pub(crate) visibility: Visibility,
    pub(crate) wake: bool,
    pub(crate) keep_prefix: bool,
    pub(crate) created_at: Timestamp,
}

/// The exposed ports of one sandbox.
pub(crate) type Exposures = BTreeMap<u16, Exposure>;

/// Exposes a port, or changes its settings. Returns `true` if it is new.
pub(crate) fn expose(
    exposed: &mut Exposures,
    of: &SandboxName,
    port: u16,
    requested: ExposePort,
    now: Timestamp,
) -> Result<bool, Error> {
    if requested.name.as_ref().is_some_and(|name| name.chars().count() > NAME_MAX) {
        return Err(Error::invalid(format!("the name is longer than {NAME_MAX} characters")));
    }
    if requested.token.as_ref().is_some_and(|token| !is_token(token)) {
        return Err(Error::invalid("a token has 1 to 32 characters of a-z, 0-9 and _"));
    }
    let known = exposed.get(&port).cloned();
    if known.is_none() && exposed.len() >= EXPOSED_MAX {
        return Err(Error::PreviewLimit { max: EXPOSED_MAX });
    }
    let is_new = known.is_none();
    let before = known.map_or_else(|| fresh(now), Ok).map_err(|error| Error::internal("generate a token", error))?;
    let after = Exposure {
        name: requested.name.or(before.name),
        token: requested.token.unwrap_or(before.token),
        visibility: requested.visibility.unwrap_or(before.visibility),
        wake: requested.wake.unwrap_or(before.wake),
        keep_prefix: requested.keep_prefix.unwrap_or(before.keep_prefix),
        created_at: before.created_at,
    };
    Label { port, name: of.clone(), token: after.token.clone() }.check()?;
    exposed.insert(port, after);
    Ok(is_new)
}

fn fresh(now: Timestamp) -> io::Result<Exposure> {
    Ok(Exposure {
        name: None,
        token: random::text(TOKEN_LETTERS)?,
        visibility: Visibility::default(),
        wake: false,
        keep_prefix: false,
        created_at: now,
    })
}

/// Gives a port a new token.
pub(crate) fn rotate(exposed: &mut Exposures, of: &SandboxName, port: u16, now: Timestamp) -> Result<(), Error> {
    let token = fresh(now).map_err(|error| Error::internal("generate a token", error))?.token;
    if !exposed.contains_key(&port) {
        return Err(Error::PortNotExposed { port });
    }
    expose(exposed, of, port, ExposePort { token: Some(token), ..ExposePort::default() }, now).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> SandboxName {
        SandboxName::new("box").unwrap()
    }

    fn now() -> Timestamp {
        Timestamp::from_millis(7)
    }

    #[test]
    fn omitted_settings_are_kept() {
        let mut exposed = Exposures::new();
        let requested = ExposePort { wake: Some(true), ..ExposePort::default() };
        assert!(expose(&mut exposed, &name(), 80, requested, now()).unwrap());
        let first = exposed[&80].clone();
        assert_eq!((first.token.len(), first.wake, first.visibility), (16, true, Visibility::Public));
        let requested = ExposePort { visibility: Some(Visibility::Private), ..ExposePort::default() };
        assert!(!expose(&mut exposed, &name(), 80, requested, now()).unwrap());
        assert_eq!(exposed[&80], Exposure { visibility: Visibility::Private, ..first.clone() });
        rotate(&mut exposed, &name(), 80, now()).unwrap();
        assert!(exposed[&80].token != first.token && exposed[&80].wake);
        assert!(matches!(rotate(&mut exposed, &name(), 81, now()), Err(Error::PortNotExposed { port: 81 })));
    }

    #[test]
    fn invalid_settings_are_rejected_and_change_nothing() {
        let mut exposed = Exposures::new();
        for token in ["", "A", "a-b", "a.b", &"x".repeat(33)] {
            let requested = ExposePort { token: Some(token.to_owned()), ..ExposePort::default() };
            assert!(expose(&mut exposed, &name(), 80, requested, now()).is_err(), "{token}");
        }
        let long = SandboxName::new("a".repeat(50)).unwrap();
        assert!(expose(&mut exposed, &long, 80, ExposePort::default(), now()).is_err());
        assert!(exposed.is_empty());
        for port in 1..=64 {
            expose(&mut exposed, &name(), port, ExposePort::default(), now()).unwrap();
        }
        let refused = expose(&mut exposed, &name(), 65, ExposePort::default(), now());
        assert!(matches!(refused, Err(Error::PreviewLimit { max: 64 })));
    }
}
