//! The token of a server that is reached over TCP. A unix socket has its file's mode instead.

use atoll_protocol::ErrorCode;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::AUTHORIZATION;

use crate::error::Refusal;

/// Shortest token: 128 bits as hexadecimal digits or base64.
const LENGTH_MIN: usize = 22;

/// What a client must send as `authorization: Bearer …`. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// `None` for one that could be guessed or cannot be sent.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let sendable = text.bytes().all(|byte| byte.is_ascii_graphic());
        (text.len() >= LENGTH_MIN && sendable).then_some(Self(text))
    }

    /// Takes the same time whatever is given, but for its length.
    fn is(&self, given: &str) -> bool {
        let differing = self.0.bytes().zip(given.bytes()).fold(0, |sum, (own, other)| sum | (own ^ other));
        self.0.len() == given.len() && std::hint::black_box(differing) == 0
    }
}

/// Lets only those in who know the token.
pub(crate) async fn check(State(token): State<Token>, request: Request, next: Next) -> Response {
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = given.and_then(|value| value.split_once(' ')).filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
    match bearer {
        Some((_, given)) if token.is(given.trim()) => next.run(request).await,
        Some(_) => refused("the token is not the right one"),
        None => refused("a token is needed"),
    }
}

fn refused(message: &str) -> Response {
    let refusal = Refusal::new(ErrorCode::Unauthorized, message).hint("send `authorization: Bearer TOKEN`");
    ([("www-authenticate", "Bearer")], refusal).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_only_itself() {
        let token = Token::new("0123456789abcdef0123456789abcdef").unwrap();
        assert!(token.is("0123456789abcdef0123456789abcdef"));
        for other in ["", "0123456789abcdef0123456789abcdee", "0123456789abcdef0123456789abcdef0"] {
            assert!(!token.is(other), "{other}");
        }
        assert_eq!(Token::new("short"), None);
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
