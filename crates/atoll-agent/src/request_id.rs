//! Every answer carries an `x-request-id`: the client's own, if it is sane, else a new one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderName, HeaderValue};

/// The header.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id that is taken over: it will stand in logs.
const LENGTH_MAX: usize = 128;

/// Gives the answer its id.
pub(crate) async fn carry(request: Request, next: Next) -> Response {
    let id = request.headers().get(&REQUEST_ID).filter(|id| is_sane(id)).cloned().unwrap_or_else(made);
    let mut response = next.run(request).await;
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

fn is_sane(id: &HeaderValue) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    (1..=LENGTH_MAX).contains(&id.len()) && id.as_bytes().iter().all(allowed)
}

/// Unique among servers by a random beginning, within one by counting.
fn made() -> HeaderValue {
    static BEGINNING: OnceLock<u64> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let beginning = BEGINNING.get_or_init(random);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    HeaderValue::from_str(&format!("{beginning:016x}-{count}")).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

fn random() -> u64 {
    let mut bytes = [0; 8];
    // Without random numbers ids are still unique within this server.
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    filled.map_or(0, |_| u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sane_ids_are_taken_over() {
        let sane = |text: &str| is_sane(&HeaderValue::from_str(text).unwrap());
        assert!(sane("a-1_2.3:4") && sane(&"x".repeat(LENGTH_MAX)));
        assert!(!sane("") && !sane("a b") && !sane("<x>") && !sane(&"x".repeat(LENGTH_MAX + 1)));
        assert_ne!(made(), made());
    }
}
