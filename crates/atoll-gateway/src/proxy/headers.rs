//! The headers that are forwarded to an agent and back: all except hop-by-hop headers, credentials, and headers by
//! which a client could pose as a proxy.

use hyper::HeaderMap;
use hyper::header::{
    AUTHORIZATION, CONNECTION, EXPECT, FORWARDED, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

/// The only protocol to which connections are upgraded.
pub(super) const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");

/// Hop-by-hop headers (RFC 9110, 7.6.1), in addition to those that `Connection` names.
const HOP_BY_HOP: [HeaderName; 7] =
    [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// Hop-by-hop headers of HTTP/1.0.
const HOP_BY_HOP_HTTP10: [&str; 2] = ["keep-alive", "proxy-connection"];

/// Headers that only the gateway may send to an agent.
const OURS: [HeaderName; 4] = [AUTHORIZATION, FORWARDED, EXPECT, HOST];
const OUR_PREFIXES: [&str; 2] = ["x-forwarded-", "x-atoll-"];
const OUR_NAMES: [&str; 3] = ["x-real-ip", "keep-alive", "proxy-connection"];

/// Returns the protocol to which the client wants to upgrade, if any.
pub(crate) fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let wants = connection_names(headers).any(|name| name.eq_ignore_ascii_case("upgrade"));
    headers.get(UPGRADE).filter(|_| wants).cloned()
}

fn connection_names(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Rewrites a request's headers for the agent.
pub(super) fn to_agent(headers: &mut HeaderMap, upgrade: Option<HeaderValue>) {
    remove_hop_by_hop(headers);
    for name in OURS {
        headers.remove(name);
    }
    let pretended: Vec<HeaderName> = headers.keys().filter(|name| is_ours(name)).cloned().collect();
    for name in pretended {
        headers.remove(name);
    }
    headers.insert(HOST, HeaderValue::from_static("agent"));
    if let Some(protocol) = upgrade {
        set_upgrade(headers, protocol);
    }
}

/// Rewrites a response's headers for the client.
pub(super) fn to_client(headers: &mut HeaderMap, upgrade: Option<HeaderValue>) {
    remove_hop_by_hop(headers);
    if let Some(protocol) = upgrade {
        set_upgrade(headers, protocol);
    }
}

/// Adds the headers of 426 Upgrade Required (RFC 9110, 15.5.22).
pub(super) fn want_upgrade(headers: &mut HeaderMap) {
    set_upgrade(headers, WEBSOCKET);
}

fn is_ours(name: &HeaderName) -> bool {
    OUR_NAMES.contains(&name.as_str()) || OUR_PREFIXES.iter().any(|prefix| name.as_str().starts_with(prefix))
}

/// Whether a header is hop-by-hop.
pub(crate) fn is_hop_by_hop(name: &str) -> bool {
    HOP_BY_HOP.iter().any(|known| known == name) || HOP_BY_HOP_HTTP10.contains(&name)
}

pub(crate) fn set_upgrade(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, protocol);
}

pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<String> = connection_names(headers).map(str::to_owned).collect();
    for name in named {
        headers.remove(name.as_str());
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
    for name in HOP_BY_HOP_HTTP10 {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn credentials_and_forged_headers_are_removed() {
        let mut headers = map(&[
            ("authorization", "Bearer secret"),
            ("connection", "keep-alive, x-private"),
            ("x-private", "1"),
            ("keep-alive", "1"),
            ("transfer-encoding", "chunked"),
            ("x-forwarded-for", "1.2.3.4"),
            ("forwarded", "for=1.2.3.4"),
            ("x-real-ip", "1.2.3.4"),
            ("x-atoll-caller", "root"),
            ("content-type", "application/json"),
            ("last-event-id", "7"),
        ]);
        to_agent(&mut headers, None);
        let mut left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["content-type", "host", "last-event-id"]);
    }

    #[test]
    fn upgrade_needs_both_headers() {
        let mut headers = map(&[("connection", "Upgrade"), ("upgrade", "websocket"), ("sec-websocket-key", "k")]);
        let protocol = upgrade(&headers);
        assert_eq!(protocol, Some(HeaderValue::from_static("websocket")));
        to_agent(&mut headers, protocol);
        assert_eq!(headers[UPGRADE], "websocket");
        assert_eq!(headers["sec-websocket-key"], "k");
        assert_eq!(upgrade(&map(&[("upgrade", "websocket")])), None);
    }
}
