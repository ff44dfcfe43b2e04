//! Files between HTTP and the runtime: paths out of URLs, states and ranges out of headers, facts into JSON.

use std::time::{Duration, UNIX_EPOCH};

use atoll_http::percent;
use atoll_protocol::{FileInfo, FileKind, Timestamp};
use atoll_runtime::files::{Condition, Facts, FileKind as Kind, Range};
use axum::extract::FromRequestParts;
use http::header::{HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE};
use http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::Refusal;

/// What a query says: a path, byte for byte, and the rest.
#[derive(Debug)]
pub(crate) struct AtPath<T> {
    pub(crate) path: Vec<u8>,
    pub(crate) rest: T,
}

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for AtPath<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        Self::parse(parts.uri.query().unwrap_or_default())
    }
}

impl<T: DeserializeOwned> AtPath<T> {
    fn parse(query: &str) -> Result<Self, Refusal> {
        let is_path = |pair: &&str| pair.split('=').next() == Some("path");
        let mut paths = query.split('&').filter(is_path);
        let path = paths.next().ok_or_else(|| Refusal::invalid("query: missing field `path`"))?;
        if paths.next().is_some() {
            return Err(Refusal::invalid("query: path: duplicate field"));
        }
        let path = percent_decoded(path.split_once('=').map_or("", |(_, value)| value));
        if path.is_empty() {
            return Err(Refusal::invalid("query: path: empty"));
        }
        let rest: Vec<&str> = query.split('&').filter(|pair| !is_path(pair)).collect();
        let rest = rest.join("&");
        let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(rest.as_bytes()));
        let rest = serde_path_to_error::deserialize(pairs).map_err(|error| {
            let field = error.path().to_string();
            let place = if field == "." { String::new() } else { format!("{field}: ") };
            Refusal::invalid(format!("query: {place}{}", error.inner()))
        })?;
        Ok(Self { path, rest })
    }
}

/// The same, with globs over what is below the path.
#[derive(Debug)]
pub(crate) struct AtTree<T> {
    pub(crate) path: Vec<u8>,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) rest: T,
}

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for AtTree<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let query = parts.uri.query().unwrap_or_default();
        let (mut include, mut exclude, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let glob = || String::from_utf8_lossy(&percent_decoded(value)).into_owned();
            match name {
                "include" => include.push(glob()),
                "exclude" => exclude.push(glob()),
                _ => rest.push(pair),
            }
        }
        let AtPath { path, rest } = AtPath::parse(&rest.join("&"))?;
        Ok(Self { path, include, exclude, rest })
    }
}

/// As in forms: `%2F` is a byte, `+` a space. What is no escape stands for itself.
fn percent_decoded(text: &str) -> Vec<u8> {
    percent::decoded(&text.replace('+', " "))
}

/// Permission bits as they are written: octal, up to `7777`.
pub(crate) fn mode(text: Option<&str>) -> Result<Option<u32>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    let digits = text.strip_prefix("0o").unwrap_or(text);
    let mode = u32::from_str_radix(digits, 8).ok().filter(|mode| *mode <= 0o7777 && !digits.starts_with('+'));
    mode.map(Some).ok_or_else(|| Refusal::invalid(format!("mode: `{text}` is no octal number up to 7777")))
}

/// The state that a request asks for, for writing or removing.
pub(crate) fn condition(headers: &HeaderMap) -> Result<Condition, Refusal> {
    match (tags(headers, &IF_MATCH)?, tags(headers, &IF_NONE_MATCH)?) {
        (None, None) => Ok(Condition::Any),
        (Some(Tags::Any), None) => Ok(Condition::Present),
        (Some(Tags::These(tags)), None) => Ok(Condition::Tagged { tags }),
        (None, Some(Tags::Any)) => Ok(Condition::Absent),
        (None, Some(Tags::These(tags))) => Ok(Condition::NotTagged { tags }),
        (Some(_), Some(_)) => Err(Refusal::invalid("if-match and if-none-match exclude each other")),
    }
}

/// The same for reading: the state in which it is read, and the one in which it is worth sending.
pub(crate) fn read_conditions(headers: &HeaderMap) -> Result<(Condition, Condition), Refusal> {
    let needed = match tags(headers, &IF_MATCH)? {
        None => Condition::Any,
        Some(Tags::Any) => Condition::Present,
        Some(Tags::These(tags)) => Condition::Tagged { tags },
    };
    let unless = match tags(headers, &IF_NONE_MATCH)? {
        None => Condition::Any,
        // Whatever is there, the asker has it.
        Some(Tags::Any) => Condition::Absent,
        Some(Tags::These(tags)) => Condition::NotTagged { tags },
    };
    Ok((needed, unless))
}

enum Tags {
    Any,
    These(Vec<String>),
}

/// Tags are in quotes; without them they are taken, too.
fn tags(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Tags>, Refusal> {
    let mut found = Vec::new();
    for value in headers.get_all(name) {
        let text = value.to_str().map_err(|_| Refusal::invalid(format!("{name}: no tag")))?;
        for tag in text.split(',').map(str::trim).filter(|tag| !tag.is_empty()) {
            if tag == "*" {
                return Ok(Some(Tags::Any));
            }
            found.push(tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"').to_owned());
        }
    }
    Ok((!found.is_empty()).then_some(Tags::These(found)))
}

/// The part that is asked for. What is no range we know means the whole, as HTTP has it.
pub(crate) fn range(headers: &HeaderMap) -> Option<Range> {
    let text = headers.get(RANGE)?.to_str().ok()?.trim().strip_prefix("bytes=")?;
    let (first, last) = text.split_once('-')?;
    match (first.trim(), last.trim()) {
        ("", count) => Some(Range::Last { count: count.parse().ok()? }),
        (start, "") => Some(Range::From { start: start.parse().ok()? }),
        (start, last) => {
            let (start, last) = (start.parse().ok()?, last.parse().ok()?);
            (start <= last).then_some(Range::Between { start, last })
        }
    }
}

/// The tag without which the range does not count.
pub(crate) fn if_range(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(IF_RANGE)?.to_str().ok()?.trim().trim_matches('"').to_owned())
}

/// A file's tag, as a header.
pub(crate) fn etag(facts: &Facts) -> HeaderValue {
    // Digits, letters and dashes: always a header.
    HeaderValue::from_str(&format!("\"{}\"", facts.tag())).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

/// When it was changed, as a header.
pub(crate) fn last_modified(facts: &Facts) -> HeaderValue {
    let seconds = u64::try_from(facts.modified.seconds).unwrap_or(0);
    // The end of the four-digit years, beyond which the format has no words.
    let moment = UNIX_EPOCH + Duration::from_secs(seconds.min(253_402_300_799));
    HeaderValue::from_str(&httpdate::fmt_http_date(moment)).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// What clients are told of a file.
pub(crate) fn info(path: &[u8], facts: &Facts) -> FileInfo {
    let millis = i128::from(facts.modified.seconds) * 1000 + i128::from(facts.modified.nanos / 1_000_000);
    FileInfo {
        path: String::new(),
        path_base64: None,
        kind: kind(facts.kind),
        size: facts.size,
        allocated: facts.allocated,
        mode: format!("{:04o}", facts.mode),
        uid: facts.uid,
        gid: facts.gid,
        links: facts.links,
        modified: Timestamp::from_millis(u64::try_from(millis).unwrap_or(0)),
        etag: facts.tag(),
        target: None,
        target_base64: None,
    }
    .at(path)
    .leading_to(facts.target.as_deref())
}

pub(crate) fn kind(kind: Kind) -> FileKind {
    match kind {
        Kind::File => FileKind::File,
        Kind::Directory => FileKind::Directory,
        Kind::Symlink => FileKind::Symlink,
        Kind::Fifo => FileKind::Fifo,
        Kind::Socket => FileKind::Socket,
        Kind::CharacterDevice => FileKind::CharacterDevice,
        Kind::BlockDevice => FileKind::BlockDevice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_bytes() {
        assert_eq!(percent_decoded("a%2Fb+c%ff%0A"), b"a/b c\xff\n");
        assert_eq!(percent_decoded("100%/%zz"), b"100%/%zz");
        let odd = b"/a b,c\xff%\n";
        assert_eq!(percent::encoded(odd), "/a%20b%2Cc%FF%25%0A");
        assert_eq!(percent_decoded(&percent::encoded(odd)), odd);
    }

    #[test]
    fn modes_are_octal() {
        assert_eq!(mode(Some("0755")).unwrap(), Some(0o755));
        assert_eq!(mode(Some("0o644")).unwrap(), Some(0o644));
        assert_eq!(mode(Some("7777")).unwrap(), Some(0o7777));
        for wrong in ["", "8", "rwx", "10000", "-1", "+7"] {
            assert!(mode(Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges_are_as_http_has_them() {
        let range = |text: &'static str| super::range(&HeaderMap::from_iter([(RANGE, HeaderValue::from_static(text))]));
        assert_eq!(range("bytes=0-9"), Some(Range::Between { start: 0, last: 9 }));
        assert_eq!(range("bytes=5-"), Some(Range::From { start: 5 }));
        assert_eq!(range("bytes=-5"), Some(Range::Last { count: 5 }));
        for whole in ["bytes=9-1", "bytes=0-1,3-4", "lines=1-2", "bytes=", "bytes=a-b"] {
            assert_eq!(range(whole), None, "{whole}");
        }
    }
}
