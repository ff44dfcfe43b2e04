//! Cookies that pass through a preview: removes ours from requests, and confines those of applications to their
//! preview (RFC 6265). Pure functions over text.

use hyper::HeaderMap;
use hyper::header::{COOKIE, HeaderValue, SET_COOKIE};

use crate::auth::holds_token;

/// The cookie that holds a signed link.
pub(super) const OURS: &str = "atoll_preview";

/// Returns every value of our cookie: there may be several, some of them set by other previews.
pub(super) fn ours(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter_map(|(name, value)| (name == OURS).then_some(value))
}

/// Removes our cookie, and cookies that contain a token of a server, before a program sees them.
pub(super) fn without_ours(headers: &mut HeaderMap) {
    let is_ours = |pair: &[u8]| {
        let pair = pair.trim_ascii();
        let rest = pair.strip_prefix(OURS.as_bytes()).map(<[u8]>::trim_ascii_start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"=")) || holds_token(pair)
    };
    let has = |value: &HeaderValue| value.as_bytes().split(|byte| *byte == b';').any(is_ours);
    if !headers.get_all(COOKIE).iter().any(has) {
        return;
    }
    let kept: Vec<Vec<u8>> = headers
        .get_all(COOKIE)
        .iter()
        .map(|value| {
            let pairs = value.as_bytes().split(|byte| *byte == b';').filter(|pair| !is_ours(pair));
            pairs.map(<[u8]>::trim_ascii).collect::<Vec<_>>().join(&b"; "[..])
        })
        .filter(|value| !value.is_empty())
        .collect();
    headers.remove(COOKIE);
    for value in kept.iter().filter_map(|value| HeaderValue::from_bytes(value).ok()) {
        headers.append(COOKIE, value);
    }
}

/// Confines the cookies that an application sets: no domain but the preview's own host, a path below `prefix` if there
/// is one, and never our name.
pub(super) fn confine(headers: &mut HeaderMap, prefix: Option<&str>) {
    if !headers.contains_key(SET_COOKIE) {
        return;
    }
    let set: Vec<Vec<u8>> =
        headers.get_all(SET_COOKIE).iter().filter_map(|value| confined(value.as_bytes(), prefix)).collect();
    headers.remove(SET_COOKIE);
    for value in set.iter().filter_map(|value| HeaderValue::from_bytes(value).ok()) {
        headers.append(SET_COOKIE, value);
    }
}

fn confined(value: &[u8], prefix: Option<&str>) -> Option<Vec<u8>> {
    let mut parts = value.split(|byte| *byte == b';');
    let pair = parts.next()?;
    let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
    if name == OURS.as_bytes() {
        return None;
    }
    let mut text = pair.to_vec();
    for part in parts {
        let mut sides = part.splitn(2, |byte| *byte == b'=');
        let attribute = sides.next().unwrap_or_default().trim_ascii();
        if attribute.eq_ignore_ascii_case(b"domain") {
            continue;
        }
        text.push(b';');
        match prefix {
            Some(prefix) if attribute.eq_ignore_ascii_case(b"path") => {
                let path = sides.next().unwrap_or_default().trim_ascii();
                text.extend(b" Path=");
                text.extend(below(path, prefix));
            }
            _ => text.extend(part),
        }
    }
    Some(text)
}

/// Returns a cookie's path as the browser needs it. Text that is not a path means the directory of the request, which
/// is below the prefix.
fn below(path: &[u8], prefix: &str) -> Vec<u8> {
    let inside = path.strip_prefix(prefix.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
    if inside || !path.starts_with(b"/") {
        return if inside { path.to_vec() } else { [prefix.as_bytes(), b"/"].concat() };
    }
    [prefix.as_bytes(), path].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_cookie_is_removed_from_requests() {
        for (given, left) in [
            ("a=1; atoll_preview=x; b=2", Some("a=1; b=2")),
            ("atoll_preview=x", None),
            ("atoll_preview = x; atoll_previews=y", Some("atoll_previews=y")),
            ("a=1", Some("a=1")),
            (concat!("a=1; token=atoll_root_0123456789abcdefghjkmnpqrstvwxyz", "0123456789abcdefghjk"), Some("a=1")),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, HeaderValue::from_str(given).unwrap());
            without_ours(&mut headers);
            assert_eq!(headers.get(COOKIE).map(|value| value.to_str().unwrap()), left, "{given}");
        }
    }

    #[test]
    fn set_cookie_is_confined_to_its_preview() {
        for (given, at_host, below_path) in [
            ("a=1", Some("a=1"), Some("a=1")),
            ("a=1; Path=/", Some("a=1; Path=/"), Some("a=1; Path=/preview/x/")),
            ("a=1; path=/sub; Secure", Some("a=1; path=/sub; Secure"), Some("a=1; Path=/preview/x/sub; Secure")),
            ("a=1; Path=/preview/x/sub", Some("a=1; Path=/preview/x/sub"), Some("a=1; Path=/preview/x/sub")),
            ("a=1; Path=/preview/xy", Some("a=1; Path=/preview/xy"), Some("a=1; Path=/preview/x/preview/xy")),
            ("a=1; Path=", Some("a=1; Path="), Some("a=1; Path=/preview/x/")),
            ("a=1; Domain=.localhost; HttpOnly", Some("a=1; HttpOnly"), Some("a=1; HttpOnly")),
            ("atoll_preview=forged", None, None),
        ] {
            let text = |prefix| confined(given.as_bytes(), prefix).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(text(None).as_deref(), at_host, "{given}");
            assert_eq!(text(Some("/preview/x")).as_deref(), below_path, "{given}");
        }
    }

    #[test]
    fn all_values_of_our_cookie_are_returned() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; atoll_preview=x"));
        headers.append(COOKIE, HeaderValue::from_static("atoll_preview=y"));
        assert_eq!(ours(&headers).collect::<Vec<_>>(), ["x", "y"]);
    }
}
