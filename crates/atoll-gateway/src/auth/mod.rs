//! Authentication and authorization: bearer tokens, their scopes and their rate limits. Secrets are never stored or
//! logged, and returned only once.
//!
//! Tokens are few and held in memory; the registry persists them.

mod rate;
mod root;
mod scope;
mod secret;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use atoll_protocol::{CreateToken, NewToken, SandboxName, Scope, TokenInfo, Verb};
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use rate::Bucket;
pub use rate::Rate;
use secret::{Hash, Secret};
pub(crate) use secret::{begins_in as begins_token, is_in as holds_token};

use crate::lease::{Grantor, Lease};
use crate::registry::{Registry, TokenRow};
use crate::{Error, clock};

/// Most tokens per server: all are held in memory and listed in one response.
const TOKENS_MAX: usize = 10_000;

/// Most characters of a token's name.
const NAME_MAX: usize = 256;

/// Longest lifetime of a token: a hundred years. Years in timestamps have four digits.
const EXPIRES_MAX_MS: u64 = 100 * 366 * 24 * 60 * 60 * 1000;

/// Resolution of a token's time of last use. Recording each use would be a write per request.
const USED_WITHIN_MS: u64 = 60_000;

/// Whether clients must present a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Every request needs a token.
    #[default]
    Tokens,
    /// Every client that can connect may do everything.
    Open,
}

/// The authenticated client of a request. Cheap to clone, which happens for each request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The id of its token.
    pub(crate) id: Arc<str>,
    scopes: Arc<[Scope]>,
    lease: Lease,
}

#[derive(Debug)]
struct Known {
    info: TokenInfo,
    hash: Hash,
    caller: Caller,
    /// Ends the token's open streams when it is dropped.
    _grantor: Grantor,
}

impl Known {
    fn new(info: TokenInfo, hash: Hash) -> Self {
        let (lease, grantor) = Lease::of_token(info.expires_at);
        let caller = Caller { id: info.id.as_str().into(), scopes: info.scopes.as_slice().into(), lease };
        Self { info, hash, caller, _grantor: grantor }
    }
}

/// All tokens, and their rate limits.
#[derive(Debug)]
pub(crate) struct Auth {
    mode: Mode,
    rate: Option<Rate>,
    registry: Registry,
    root: Hash,
    root_caller: Caller,
    tokens: Mutex<HashMap<String, Known>>,
    /// One bucket per token in use, so at most as many as there are tokens.
    buckets: Mutex<HashMap<String, Bucket>>,
}

impl Caller {
    fn root() -> Self {
        let verbs = vec![Verb::Read, Verb::Exec, Verb::Admin];
        let everything = Scope { sandboxes: scope::EVERYTHING.to_owned(), verbs };
        Self { id: root::ROOT.into(), scopes: [everything].into(), lease: Lease::endless() }
    }

    /// Returns the lifetime of its token.
    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Whether the caller has this permission on this sandbox.
    pub(crate) fn can(&self, verb: Verb, name: &SandboxName) -> bool {
        scope::allow(&self.scopes, verb, name)
    }

    /// Returns an error unless the caller has this permission on this sandbox.
    pub(crate) fn must(&self, verb: Verb, name: &SandboxName) -> Result<(), Error> {
        if self.can(verb, name) { Ok(()) } else { Err(Error::Forbidden { verb, what: format!("sandbox {name}") }) }
    }

    /// Returns an error unless the caller has this permission on the server as a whole.
    pub(crate) fn must_everywhere(&self, verb: Verb) -> Result<(), Error> {
        let may = scope::allow_everywhere(&self.scopes, verb);
        if may { Ok(()) } else { Err(Error::Forbidden { verb, what: "the server as a whole".to_owned() }) }
    }
}

impl Auth {
    /// Loads the tokens. Creates the root token if there is none.
    pub(crate) async fn load(
        mode: Mode,
        rate: Option<Rate>,
        registry: Registry,
        root_file: &Path,
    ) -> Result<Self, Error> {
        let root = root::load(root_file)?;
        let rows = registry.tokens().await?.into_iter();
        let known = |row: TokenRow| Known::new(row.info, Hash::from_bytes(row.hash));
        let tokens = rows.map(|row| (row.info.id.clone(), known(row))).collect();
        let (tokens, buckets) = (Mutex::new(tokens), Mutex::default());
        Ok(Self { mode, rate, registry, root, root_caller: Caller::root(), tokens, buckets })
    }

    /// Authenticates a request by its headers.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<Caller, Error> {
        let caller = match self.mode {
            Mode::Open => self.root_caller.clone(),
            Mode::Tokens => self.known(bearer(headers)?)?,
        };
        self.take_turn(&caller.id)?;
        Ok(caller)
    }

    fn known(&self, token: &str) -> Result<Caller, Error> {
        let wrong = Error::Unauthorized { why: "the token is unknown, revoked or expired" };
        let Some((id, secret)) = secret::split(token) else { return Err(wrong) };
        if id == root::ROOT {
            return if self.root.is_of(secret) { Ok(self.root_caller.clone()) } else { Err(wrong) };
        }
        let now = clock::now();
        let mut tokens = lock(&self.tokens);
        let Some(known) = tokens.get_mut(id).filter(|known| known.hash.is_of(secret)) else { return Err(wrong) };
        if known.info.expires_at.is_some_and(|expires| expires <= now) {
            return Err(wrong);
        }
        let stale = known.info.last_used_at.is_none_or(|last| last.as_millis() + USED_WITHIN_MS <= now.as_millis());
        if stale {
            known.info.last_used_at = Some(now);
            let (registry, id) = (self.registry.clone(), id.to_owned());
            // In the background: nothing depends on it.
            tokio::spawn(async move { registry.token_used(id, now).await });
        }
        Ok(known.caller.clone())
    }

    fn take_turn(&self, id: &str) -> Result<(), Error> {
        let Some(rate) = self.rate else { return Ok(()) };
        let now = Instant::now();
        let mut buckets = lock(&self.buckets);
        let taken = match buckets.get_mut(id) {
            Some(bucket) => bucket.take(rate, now),
            None => buckets.entry(id.to_owned()).or_insert_with(|| Bucket::full(rate, now)).take(rate, now),
        };
        taken.map_err(|after| Error::RateLimited { after })
    }

    /// Creates a token. Only the response contains its secret.
    pub(crate) async fn create(&self, requested: CreateToken) -> Result<NewToken, Error> {
        scope::check(&requested.scopes)?;
        if requested.name.chars().count() > NAME_MAX {
            return Err(Error::invalid(format!("the name is longer than {NAME_MAX} characters")));
        }
        if requested.expires_in_ms.is_some_and(|millis| millis > EXPIRES_MAX_MS) {
            return Err(Error::invalid(
                "a token is valid for at most 100 years: omit expires_in_ms for one that does not expire",
            ));
        }
        if lock(&self.tokens).len() >= TOKENS_MAX {
            return Err(Error::TokenLimit { max: TOKENS_MAX });
        }
        let secret = Secret::new().map_err(|error| Error::internal("generate a token", error))?;
        let info = TokenInfo {
            id: secret.id.clone(),
            name: requested.name,
            scopes: requested.scopes,
            created_at: clock::now(),
            last_used_at: None,
            expires_at: requested.expires_in_ms.map(clock::later),
        };
        let row = TokenRow { info: info.clone(), hash: secret.hash().into_bytes() };
        self.registry.put_token(row).await?;
        lock(&self.tokens).insert(info.id.clone(), Known::new(info.clone(), secret.hash()));
        Ok(NewToken { info, token: secret.to_token() })
    }

    /// Returns all tokens except the root token, oldest first.
    pub(crate) fn list(&self) -> Vec<TokenInfo> {
        let mut all: Vec<TokenInfo> = lock(&self.tokens).values().map(|known| known.info.clone()).collect();
        all.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        all
    }

    /// Revokes a token: further requests with it are rejected, and its open streams end.
    pub(crate) async fn revoke(&self, id: &str) -> Result<(), Error> {
        let known = lock(&self.tokens).remove(id);
        lock(&self.buckets).remove(id);
        // In a task of its own: if the client disconnects now, the token must not be valid again after a restart.
        let (registry, row) = (self.registry.clone(), id.to_owned());
        let forgotten = tokio::spawn(async move { registry.forget_token(row).await }).await;
        // Last, so that a request that revokes its own token gets its response. Also dropped if this future is.
        drop(known);
        let found = forgotten.map_err(|error| Error::internal("delete the token", error))??;
        if found { Ok(()) } else { Err(Error::TokenNotFound { id: id.to_owned() }) }
    }
}

/// Returns the bearer token of a request (RFC 6750, 2.1).
fn bearer(headers: &HeaderMap) -> Result<&str, Error> {
    let missing = Error::Unauthorized { why: "the request has no token" };
    let Some(value) = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()) else { return Err(missing) };
    match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        _ => Err(missing),
    }
}

/// Locks a mutex. The guarded values are consistent after every step, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
