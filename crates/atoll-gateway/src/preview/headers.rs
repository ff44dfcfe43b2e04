//! The headers that are forwarded to an application and back: all except hop-by-hop headers, headers that only the
//! gateway may set, and headers whose effect would reach beyond the preview.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use atoll_http::SpliceHandle;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use hyper::header::{
    ALT_SVC, AUTHORIZATION, CONTENT_LOCATION, FORWARDED, HOST, HeaderName, HeaderValue, LOCATION,
    STRICT_TRANSPORT_SECURITY, TE, TRAILER,
};

use super::cookie;
use super::informational::Informational;
use crate::auth::{begins_token, holds_token};
use crate::proxy::headers::{is_hop_by_hop, remove_hop_by_hop, set_upgrade};

/// Headers by which proxies describe a client, and `Proxy`, which CGI turns into the variable `HTTP_PROXY`
/// (CVE-2016-5385).
const PREFIXES: [&str; 2] = ["x-forwarded-", "x-atoll-"];
const NAMES: [&str; 18] = [
    "forwarded",
    "via",
    "proxy",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-remote-addr",
    "x-remote-ip",
    "x-original-forwarded-for",
    "x-original-host",
    "x-original-uri",
    "x-original-url",
    "x-rewrite-url",
    "x-forwarded",
    "client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "fastly-client-ip",
];

/// Headers that apply to a whole origin, which in the path form the application shares with others.
const ORIGIN_WIDE: [&str; 5] =
    ["service-worker-allowed", "clear-site-data", "origin-agent-cluster", "public-key-pins", "set-login"];

/// How a request arrived.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    /// The client's address.
    pub(crate) peer: Option<SocketAddr>,
    /// `http` or `https`.
    pub(crate) scheme: &'static str,
    /// The client's connection, if bodies can be spliced to it.
    pub(crate) splice: Option<Arc<SpliceHandle>>,
    /// Sends informational responses to the client, if its connection allows it.
    pub(crate) interim: Option<Arc<Informational>>,
}

impl Arrival {
    /// A connection without splicing or informational responses.
    pub(crate) fn of(peer: Option<SocketAddr>, scheme: &'static str) -> Self {
        Self { peer, scheme, splice: None, interim: None }
    }
}

/// What an application learns about its client.
#[derive(Debug)]
pub(super) struct ClientInfo<'a> {
    pub(super) arrival: &'a Arrival,
    /// The host that the client named, with its port.
    pub(super) host: &'a str,
    /// In the path form: the prefix of the application's paths.
    pub(super) prefix: Option<&'a str>,
}

/// Rewrites a request's headers for the application.
pub(super) fn to_app(headers: &mut HeaderMap, client: &ClientInfo<'_>, upgrade: Option<HeaderValue>) {
    let wants_trailers = headers.get_all(TE).iter().any(|value| {
        value.to_str().is_ok_and(|value| value.split(',').any(|word| word.trim().eq_ignore_ascii_case("trailers")))
    });
    let trailer = announced(headers);
    remove_hop_by_hop(headers);
    remove_forged(headers);
    cookie::without_ours(headers);
    remove_tokens(headers);
    if wants_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    if let Some(trailer) = trailer {
        headers.insert(TRAILER, trailer);
    }
    set_forwarded(headers, client);
    if let Some(protocol) = upgrade {
        set_upgrade(headers, protocol);
    }
}

/// Whether a client must not send this header to a program. Compares names as CGI and WSGI see them: every character other
/// than letters and digits becomes the same one, so that `X_Forwarded_For` is `X-Forwarded-For`.
fn is_forged(name: &str) -> bool {
    let fold = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let folded: String = name.chars().map(fold).collect();
    let is_of_the_connection = || folded != name && is_hop_by_hop(&folded);
    NAMES.contains(&folded.as_str())
        || PREFIXES.iter().any(|prefix| folded.starts_with(prefix))
        || is_of_the_connection()
        || (folded != name && EXACT_SPELLING_ONLY.contains(&folded.as_str()))
}

/// Headers of HTTP itself that are valid in their own spelling only.
const EXACT_SPELLING_ONLY: [&str; 2] = ["content-length", "content-type"];

fn remove_forged(headers: &mut HeaderMap) {
    let pretended: Vec<HeaderName> = headers.keys().filter(|name| is_forged(name.as_str())).cloned().collect();
    for name in pretended {
        headers.remove(name);
    }
}

/// Returns the trailers that a client announces, without those that it must not send. hyper sends no others.
fn announced(headers: &HeaderMap) -> Option<HeaderValue> {
    let values = headers.get_all(TRAILER).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(',')).map(str::trim);
    let is_allowed = |name: &&str| !name.is_empty() && !is_forged(name) && !name.eq_ignore_ascii_case("cookie");
    let names: Vec<&str> = names.filter(is_allowed).collect();
    if names.is_empty() { None } else { HeaderValue::from_str(&names.join(", ")).ok() }
}

/// Removes every header that contains a token of a server: untrusted code must not get one. The position does not matter:
/// behind a tab, in a list, in WebSocket subprotocols, in a Basic password (RFC 7617).
fn remove_tokens(headers: &mut HeaderMap) {
    let is_credential =
        |value: &HeaderValue| begins_token(value.as_bytes()) || basic(value).is_some_and(|text| begins_token(&text));
    let is_ours = |name: &HeaderName, value: &HeaderValue| {
        if name == AUTHORIZATION { is_credential(value) } else { holds_token(value.as_bytes()) }
    };
    let named: Vec<HeaderName> =
        headers.iter().filter(|(name, value)| is_ours(name, value)).map(|(name, _)| name.clone()).collect();
    for name in named {
        headers.remove(name);
    }
}

fn basic(value: &HeaderValue) -> Option<Vec<u8>> {
    let (scheme, rest) = value.as_bytes().split_at_checked(5)?;
    if !scheme.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    STANDARD.decode(rest.trim_ascii()).ok()
}

/// Sets the forwarding headers: RFC 7239, and the older ones that most programs read.
fn set_forwarded(headers: &mut HeaderMap, client: &ClientInfo<'_>) {
    let ClientInfo { arrival: Arrival { peer, scheme, .. }, host, prefix } = client;
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    let node = match peer.map(|peer| peer.ip()) {
        None => "unknown".to_owned(),
        Some(IpAddr::V4(ip)) => ip.to_string(),
        Some(IpAddr::V6(ip)) => format!("\"[{ip}]\""),
    };
    set(HOST, host);
    set(FORWARDED, &format!("for={node};host=\"{host}\";proto={scheme}"));
    set(HeaderName::from_static("x-forwarded-proto"), scheme);
    set(HeaderName::from_static("x-forwarded-host"), host);
    if let Some(peer) = peer {
        set(HeaderName::from_static("x-forwarded-for"), &peer.ip().to_string());
    }
    if let Some(prefix) = prefix {
        set(HeaderName::from_static("x-forwarded-prefix"), prefix);
    }
}

/// The public URL of an application.
#[derive(Debug, Clone)]
pub(super) struct PublicUrl {
    /// The host that the client named, with its port.
    pub(super) host: String,
    /// In the path form: the prefix of the application's paths.
    pub(super) prefix: Option<String>,
    /// Whether the application's paths already include the prefix.
    pub(super) keeps_prefix: bool,
}

/// Rewrites a response's headers for the client.
pub(super) fn to_client(headers: &mut HeaderMap, outside: &PublicUrl, upgrade: Option<HeaderValue>) {
    let trailer = headers.remove(TRAILER);
    remove_hop_by_hop(headers);
    if let Some(trailer) = trailer {
        headers.insert(TRAILER, trailer);
    }
    // Advertises another server for this host, which an application must not do.
    headers.remove(ALT_SVC);
    cookie::confine(headers, outside.prefix.as_deref());
    if let Some(prefix) = &outside.prefix {
        headers.remove(STRICT_TRANSPORT_SECURITY);
        for name in ORIGIN_WIDE {
            headers.remove(name);
        }
        if !outside.keeps_prefix {
            for name in [LOCATION, CONTENT_LOCATION] {
                let moved =
                    headers.get(&name).and_then(|value| with_prefix(value.to_str().ok()?, prefix, &outside.host));
                if let Some(value) = moved.and_then(|text| HeaderValue::from_str(&text).ok()) {
                    headers.insert(name, value);
                }
            }
        }
    }
    if let Some(protocol) = upgrade {
        set_upgrade(headers, protocol);
    }
}

/// Returns an application's redirect target with the prefix; `None` if it needs no change.
fn with_prefix(value: &str, prefix: &str, host: &str) -> Option<String> {
    let is_below = |path: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if value.starts_with('/') && !value.starts_with("//") {
        return (!is_below(value)).then(|| format!("{prefix}{value}"));
    }
    let (scheme, rest) = value.split_once("//").filter(|(scheme, _)| matches!(*scheme, "http:" | "https:" | ""))?;
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    if !authority.eq_ignore_ascii_case(host) || is_below(path) {
        return None;
    }
    Some(format!("{scheme}//{authority}{prefix}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    fn arrival() -> Arrival {
        Arrival::of(Some("10.0.0.7:9".parse().unwrap()), "https")
    }

    #[test]
    fn forwarding_headers_are_replaced_and_credentials_removed() {
        let arrival = arrival();
        let client = ClientInfo { arrival: &arrival, host: "80-a-t.localhost:7071", prefix: None };
        let mut headers = map(&[
            ("host", "other"),
            ("connection", "close, x-private"),
            ("x-private", "1"),
            ("x-forwarded-for", "6.6.6.6"),
            ("x-forwarded-prefix", "/evil"),
            ("forwarded", "for=6.6.6.6"),
            ("x-real-ip", "6.6.6.6"),
            ("x-atoll-caller", "root"),
            ("x-original-url", "/admin"),
            ("authorization", "Bearer atoll_root_secret"),
            ("cookie", "atoll_preview=x"),
            ("te", "trailers, gzip"),
            ("accept", "*/*"),
        ]);
        to_app(&mut headers, &client, None);
        let mut found: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        found.sort_unstable();
        assert_eq!(
            found,
            [
                ("accept", "*/*"),
                ("forwarded", "for=10.0.0.7;host=\"80-a-t.localhost:7071\";proto=https"),
                ("host", "80-a-t.localhost:7071"),
                ("te", "trailers"),
                ("x-forwarded-for", "10.0.0.7"),
                ("x-forwarded-host", "80-a-t.localhost:7071"),
                ("x-forwarded-proto", "https"),
            ]
        );
        let mut headers = map(&[("authorization", "Basic YTpi"), ("cookie", "a=1")]);
        to_app(&mut headers, &client, None);
        assert_eq!(
            (&headers["authorization"], &headers["cookie"]),
            (&"Basic YTpi".parse().unwrap(), &"a=1".parse().unwrap())
        );
    }

    macro_rules! token {
        () => {
            "atoll_root_0123456789abcdefghjkmnpqrstvwxyz0123456789abcdefghjk"
        };
    }

    #[test]
    fn token_is_removed_in_every_spelling() {
        let arrival = arrival();
        let client = ClientInfo { arrival: &arrival, host: "h", prefix: None };
        for (name, value) in [
            ("authorization", "Bearer atoll_root_secret"),
            ("authorization", "bearer\tatoll_root_secret"),
            ("authorization", "BEARER \t  atoll_root_secret"),
            ("authorization", "Digest x, Bearer atoll_root_secret"),
            ("authorization", "atoll_root_secret"),
            // `:atoll_root_secret`
            ("authorization", "Basic OmF0b2xsX3Jvb3Rfc2VjcmV0"),
            ("authorization", "basic\tOmF0b2xsX3Jvb3Rfc2VjcmV0"),
            ("proxy-authorization", concat!("Bearer ", token!())),
            ("sec-websocket-protocol", concat!("app, ", token!())),
            ("x-api-key", token!()),
            ("cookie", concat!("a=1; token=", token!())),
        ] {
            let mut headers = map(&[(name, "Bearer their-own"), (name, value), ("accept", "*/*")]);
            to_app(&mut headers, &client, None);
            let leaked = headers.iter().any(|(_, value)| holds_token(value.as_bytes()));
            assert!(!leaked && headers.contains_key("accept"), "{name}: {value}");
            assert!(name != "authorization" || !headers.contains_key(name), "{value}");
        }
    }

    #[test]
    fn forwarding_headers_are_removed_in_every_spelling() {
        let arrival = arrival();
        let client = ClientInfo { arrival: &arrival, host: "h", prefix: None };
        let mut headers = map(&[
            ("x_forwarded_for", "6.6.6.6"),
            ("x-forwarded_for", "6.6.6.6"),
            ("x.forwarded.for", "6.6.6.6"),
            ("x_real_ip", "6.6.6.6"),
            ("x_atoll_caller", "root"),
            ("x_original_url", "/admin"),
            ("true_client_ip", "6.6.6.6"),
            ("proxy_authorization", "Basic YTpi"),
            ("transfer_encoding", "chunked"),
            ("content_length", "7"),
            ("proxy", "http://evil.test"),
            ("trailer", "x-sum, x_forwarded_for"),
            ("trailer", "X-Real-Ip,X-More"),
            ("user_id", "7"),
        ]);
        to_app(&mut headers, &client, None);
        let mut found: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        found.sort_unstable();
        let ours =
            ["forwarded", "host", "trailer", "user_id", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];
        assert_eq!(found, ours);
        assert_eq!(
            (&headers["trailer"], &headers["x-forwarded-for"]),
            (&"x-sum, X-More".parse().unwrap(), &"10.0.0.7".parse().unwrap())
        );
    }

    #[test]
    fn redirect_targets_get_the_prefix() {
        for (given, moved) in [
            ("/login", Some("/preview/x/login")),
            ("/", Some("/preview/x/")),
            ("/preview/x/login", None),
            ("login", None),
            ("?a=1", None),
            ("//h:1/a", Some("//h:1/preview/x/a")),
            ("http://H:1/a", Some("http://H:1/preview/x/a")),
            ("http://h:1", Some("http://h:1/preview/x")),
            ("http://h:2/a", None),
            ("https://elsewhere.org/a", None),
            ("javascript://h:1/a", None),
        ] {
            assert_eq!(with_prefix(given, "/preview/x", "h:1").as_deref(), moved, "{given}");
        }
    }

    #[test]
    fn response_headers_are_confined_to_the_preview() {
        let answer = &[
            ("connection", "close"),
            ("location", "/a"),
            ("service-worker-allowed", "/"),
            ("clear-site-data", "\"*\""),
            ("alt-svc", "h3=\":1\""),
            ("trailer", "x-sum"),
        ];
        let mut at_host = map(answer);
        let mut outside = PublicUrl { host: "h:1".to_owned(), prefix: None, keeps_prefix: false };
        to_client(&mut at_host, &outside, None);
        assert_eq!(at_host["location"], "/a");
        assert!(at_host.contains_key("service-worker-allowed") && at_host.contains_key("trailer"));
        assert!(!at_host.contains_key("connection") && !at_host.contains_key("alt-svc"));
        outside.prefix = Some("/preview/x".to_owned());
        let mut below = map(answer);
        to_client(&mut below, &outside, None);
        assert_eq!(below["location"], "/preview/x/a");
        assert!(!below.contains_key("service-worker-allowed") && !below.contains_key("clear-site-data"));
    }
}
