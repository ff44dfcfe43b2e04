//! Git as the server runs it goes out by the sandbox's own way: the rules decide, and nothing else that is said inside.

use atoll_protocol::{ErrorCode, GitCloneRequest, NetworkPolicy, PutSecret};
use atoll_runtime::Sandbox;

use super::outside::{Authority, Server};
use super::{domain, loopback, policy, with};
use crate::harness::{Fixture, skip, soon};

in_every_mode! {
    isolated {
        a_clone_obeys_the_rules,
    }
}

async fn clone(sandbox: &Sandbox, url: String) -> ErrorCode {
    let (path, branch, depth, credentials, timeout_ms, user) = (None, None, None, None, Some(10_000), None);
    let request = GitCloneRequest { url, path, branch, depth, credentials, timeout_ms, user };
    // What answers is no repository: how far the question came is what matters.
    soon(sandbox.git(None).clone(&request, None)).await.unwrap_err().code()
}

async fn a_clone_obeys_the_rules(f: &Fixture) {
    if !f.has("git").await {
        return skip("no git inside");
    }
    let authority = Authority::new();
    let (plain, secure) = (Server::http().await, Server::https(&authority, &["api.test"]).await);
    let ports = [plain.port, secure.port];
    let rules = vec![domain("api.test", &ports), loopback(&ports)];
    let given = NetworkPolicy { trust: Some(authority.pem.clone()), ..policy(rules, &["api.test", "other.test"]) };
    let sandbox = with(f, given).await;
    let heard = |server: &Server| server.heard().iter().filter(|head| head.contains("/info/refs")).count();
    assert_eq!(clone(&sandbox, format!("http://api.test:{}/r.git", plain.port)).await, ErrorCode::GitFailed);
    assert_eq!(heard(&plain), 1, "what is allowed is asked");
    assert_eq!(clone(&sandbox, format!("http://other.test:{}/r.git", plain.port)).await, ErrorCode::GitFailed);
    assert_eq!(heard(&plain), 1, "what is not allowed is not");
    // Where TLS is looked into, the sandbox's authority is trusted without a word.
    let (value, hosts) = ("token-0123456789".to_owned(), vec![format!("api.test:{}", secure.port)]);
    sandbox.put_secret("KEY", PutSecret { value, hosts, headers: vec!["authorization".to_owned()] }).await.unwrap();
    assert_eq!(clone(&sandbox, format!("https://api.test:{}/r.git", secure.port)).await, ErrorCode::GitFailed);
    assert_eq!(heard(&secure), 1, "the certificate is not believed");
}
