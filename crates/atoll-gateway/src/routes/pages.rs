//! Servers without tokens, and web pages: a page must not use the server of its visitor.
//!
//! Every local process may use such a server, and a browser connects on behalf of any page. So everything that identifies
//! a page's request is a reason to refuse it: `Origin` (Fetch), `Sec-Fetch-Site` (Fetch Metadata), which browsers also send
//! with images, links and forms, `Referer`, and a host name that a page may have pointed here (DNS rebinding).

use hyper::HeaderMap;
use hyper::header::{HOST, HeaderName, HeaderValue, ORIGIN, REFERER};
use hyper::http::request::Parts;
use hyper::http::uri::{Authority, Uri};

use crate::Error;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses requests from pages of other origins.
pub(super) fn refuse(parts: &Parts) -> Result<(), Error> {
    let is_own = is_own(&parts.headers, parts.uri.authority());
    let refused = Error::Unauthorized { why: "a server without tokens takes no requests from web pages" };
    if is_own { Ok(()) } else { Err(refused) }
}

fn is_own(headers: &HeaderMap, target: Option<&Authority>) -> bool {
    // A request may name the host twice: in its target (HTTP/2's `:authority`, the absolute form) and in `Host`.
    let named: Option<Vec<Authority>> = headers.get_all(HOST).iter().map(authority).collect();
    let Some(named) = named else { return false };
    let names = named.iter().chain(target);
    !headers.contains_key(ORIGIN)
        && headers.get_all(FETCH_SITE).iter().all(|site| site == "none" || site == "same-origin")
        && names.clone().all(is_ours)
        && headers.get_all(REFERER).iter().all(|page| names.clone().any(|name| is_below(page, name)))
}

fn authority(value: &HeaderValue) -> Option<Authority> {
    Authority::try_from(value.as_bytes()).ok()
}

/// Whether no page can point this name here: an address, or `localhost`, which browsers resolve themselves.
fn is_ours(name: &Authority) -> bool {
    let host = name.host();
    let is_address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
    let is_bare = !name.as_str().contains('@');
    is_bare && (is_address || host.eq_ignore_ascii_case("localhost"))
}

/// Whether a page is of this origin.
fn is_below(page: &HeaderValue, name: &Authority) -> bool {
    let page = Uri::try_from(page.as_bytes()).ok();
    page.and_then(|page| page.authority().cloned()).is_some_and(|of| of == *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(target: Option<&'static str>, pairs: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        is_own(&headers, target.map(Authority::from_static).as_ref())
    }

    #[test]
    fn programs_and_own_pages_are_allowed() {
        for (target, headers) in [
            (None, &[][..]),
            (None, &[("host", "localhost:7070")]),
            (None, &[("host", "LocalHost")]),
            (None, &[("host", "[::1]:7070"), ("sec-fetch-site", "none")]),
            (Some("127.0.0.1:7070"), &[]),
            (Some("localhost:7070"), &[("host", "localhost:7070"), ("sec-fetch-site", "same-origin")]),
            (None, &[("host", "localhost:7070"), ("referer", "http://localhost:7070/docs")]),
        ] {
            assert!(own(target, headers), "{target:?} {headers:?}");
        }
    }

    #[test]
    fn requests_of_other_pages_are_refused() {
        for (target, headers) in [
            (None, &[("host", "localhost"), ("origin", "http://localhost")][..]),
            (None, &[("host", "localhost"), ("sec-fetch-site", "cross-site")]),
            (None, &[("host", "localhost"), ("sec-fetch-site", "same-site")]),
            (None, &[("host", "localhost"), ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")]),
            (None, &[("host", "localhost"), ("sec-fetch-site", "None")]),
            (None, &[("host", "localhost"), ("sec-fetch-site", "")]),
            (None, &[("host", "evil.test")]),
            (None, &[("host", "localhost"), ("host", "evil.test")]),
            (None, &[("host", "localhost@evil.test")]),
            (None, &[("host", "evil.test@localhost")]),
            (None, &[("host", "localhost.evil.test")]),
            (None, &[("host", "")]),
            (Some("evil.test"), &[]),
            (Some("evil.test"), &[("host", "localhost")]),
            (Some("localhost"), &[("host", "evil.test")]),
            (None, &[("host", "localhost:7070"), ("referer", "http://localhost:3000/")]),
            (None, &[("host", "localhost:7070"), ("referer", "https://evil.test/localhost:7070")]),
            (None, &[("referer", "https://evil.test/")]),
        ] {
            assert!(!own(target, headers), "{target:?} {headers:?}");
        }
    }
}
