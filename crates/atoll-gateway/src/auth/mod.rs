//! Who may: bearer tokens, their scopes, and how often each may ask. Secrets are never kept, logged or told twice.
//!
//! Tokens are few and are held in memory; the registry has the same ones for the next start.

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

/// Tokens of one server: all are in memory, and a list of them is one answer.
const TOKENS_MAX: usize = 10_000;

/// Characters of what a token is for.
const NAME_MAX: usize = 256;

/// Beyond a hundred years one may as well say for ever; and years have four digits.
const EXPIRES_MAX_MS: u64 = 100 * 366 * 24 * 60 * 60 * 1000;

/// How exactly it is known when a token was last used. Noting each use would be a write for each request.
const USED_WITHIN_MS: u64 = 60_000;

/// Whether tokens are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Every request needs one.
    #[default]
    Tokens,
    /// Everybody who can connect may do everything.
    Open,
}

/// Who asks. Cheap to clone: one is made for each request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Of the token.
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

/// Every token, and how often each has asked.
#[derive(Debug)]
pub(crate) struct Auth {
    mode: Mode,
    rate: Option<Rate>,
    registry: Registry,
    root: Hash,
    root_caller: Caller,
    tokens: Mutex<HashMap<String, Known>>,
    /// One for each token that has asked, so at most as many as there are tokens.
    buckets: Mutex<HashMap<String, Bucket>>,
}

impl Caller {
    fn root() -> Self {
        let verbs = vec![Verb::Read, Verb::Exec, Verb::Admin];
        let everything = Scope { sandboxes: scope::EVERYTHING.to_owned(), verbs };
        Self { id: root::ROOT.into(), scopes: [everything].into(), lease: Lease::endless() }
    }

    /// The lifetime of its token.
    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Whether it may do this with this sandbox.
    pub(crate) fn can(&self, verb: Verb, name: &SandboxName) -> bool {
        scope::allow(&self.scopes, verb, name)
    }

    /// The same as an error.
    pub(crate) fn must(&self, verb: Verb, name: &SandboxName) -> Result<(), Error> {
        if self.can(verb, name) { Ok(()) } else { Err(Error::Forbidden { verb, what: format!("sandbox {name}") }) }
    }

    /// Whether it may do this with the server as a whole.
    pub(crate) fn must_everywhere(&self, verb: Verb) -> Result<(), Error> {
        let may = scope::allow_everywhere(&self.scopes, verb);
        if may { Ok(()) } else { Err(Error::Forbidden { verb, what: "the server as a whole".to_owned() }) }
    }
}

impl Auth {
    /// Loads what there is; the first token is made if need be.
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

    /// Who asks, by the request's headers.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<Caller, Error> {
        let caller = match self.mode {
            Mode::Open => self.root_caller.clone(),
            Mode::Tokens => self.known(bearer(headers)?)?,
        };
        self.take_turn(&caller.id)?;
        Ok(caller)
    }

    fn known(&self, token: &str) -> Result<Caller, Error> {
        let wrong = Error::Unauthorized { why: "the token is not known, or no longer good" };
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
            // Nobody waits for it, and nothing depends on it.
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

    /// Makes a token. Its secret is in the answer and nowhere else.
    pub(crate) async fn create(&self, asked: CreateToken) -> Result<NewToken, Error> {
        scope::check(&asked.scopes)?;
        if asked.name.chars().count() > NAME_MAX {
            return Err(Error::invalid(format!("the name is longer than {NAME_MAX} characters")));
        }
        if asked.expires_in_ms.is_some_and(|millis| millis > EXPIRES_MAX_MS) {
            return Err(Error::invalid("a token is good for at most 100 years: leave expires_in_ms out for ever"));
        }
        if lock(&self.tokens).len() >= TOKENS_MAX {
            return Err(Error::TokenLimit { max: TOKENS_MAX });
        }
        let secret = Secret::new().map_err(|error| Error::internal("make a token", error))?;
        let info = TokenInfo {
            id: secret.id.clone(),
            name: asked.name,
            scopes: asked.scopes,
            created_at: clock::now(),
            last_used_at: None,
            expires_at: asked.expires_in_ms.map(clock::later),
        };
        let row = TokenRow { info: info.clone(), hash: secret.hash().into_bytes() };
        self.registry.put_token(row).await?;
        lock(&self.tokens).insert(info.id.clone(), Known::new(info.clone(), secret.hash()));
        Ok(NewToken { info, token: secret.to_token() })
    }

    /// Every token but the first, oldest first.
    pub(crate) fn list(&self) -> Vec<TokenInfo> {
        let mut all: Vec<TokenInfo> = lock(&self.tokens).values().map(|known| known.info.clone()).collect();
        all.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        all
    }

    /// Revokes a token: the next request with it is refused, and its open streams end.
    pub(crate) async fn revoke(&self, id: &str) -> Result<(), Error> {
        let known = lock(&self.tokens).remove(id);
        lock(&self.buckets).remove(id);
        // In a task of its own: if the client disconnects now, the token must not be valid again after a restart.
        let (registry, row) = (self.registry.clone(), id.to_owned());
        let forgotten = tokio::spawn(async move { registry.forget_token(row).await }).await;
        // Last, so that a request that revokes its own token gets its response. Also dropped if this future is.
        drop(known);
        let found = forgotten.map_err(|error| Error::internal("forget the token", error))??;
        if found { Ok(()) } else { Err(Error::TokenNotFound { id: id.to_owned() }) }
    }
}

/// The token that a request carries (RFC 6750, 2.1).
fn bearer(headers: &HeaderMap) -> Result<&str, Error> {
    let missing = Error::Unauthorized { why: "the request carries no token" };
    let Some(value) = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()) else { return Err(missing) };
    match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        _ => Err(missing),
    }
}

/// What these locks guard is whole after every step, so a poisoned one is taken all the same.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
