//! Names of hosts, in one spelling. Whatever is not certainly a name is none: every reader must take it for the same.

use std::fmt;
use std::sync::Arc;

/// RFC 1035, section 2.3.4.
const NAME_MAX: usize = 253;
const LABEL_MAX: usize = 63;

/// A host name: lower case, without the dot at its end, of letters, digits, `-` and `_`. Never an address.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(Arc<str>);

impl Name {
    /// Reads a name as it stands in a DNS question, in TLS or in HTTP.
    ///
    /// Letters beyond ASCII are refused rather than translated: two libraries would translate them to two names. So are
    /// names whose last part is a number, which some libraries take for an address (`2130706433`, `0x7f.1`).
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        if text.is_empty() || text.len() > NAME_MAX {
            return None;
        }
        let lower = text.to_ascii_lowercase();
        let mut last: &[u8] = &[];
        for label in lower.split(|byte| *byte == b'.') {
            if !is_label(label) {
                return None;
            }
            last = label;
        }
        if is_number(last) {
            return None;
        }
        String::from_utf8(lower).ok().map(|text| Self(text.into()))
    }

    /// As [`Name::new`]; one dot at the end is the same name.
    pub(crate) fn with_dot(text: &[u8]) -> Option<Self> {
        Self::new(text.strip_suffix(b".").unwrap_or(text))
    }

    /// The name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before `parent` if this is a name below it.
    pub(crate) fn below<'a>(&'a self, parent: &Self) -> Option<&'a str> {
        self.0.strip_suffix(&*parent.0)?.strip_suffix('.')
    }

    /// How many parts it has.
    pub(crate) fn labels(&self) -> usize {
        self.0.split('.').count()
    }
}

fn is_label(label: &[u8]) -> bool {
    let fits = (1..=LABEL_MAX).contains(&label.len());
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    fits && label.iter().all(plain) && label.first() != Some(&b'-') && label.last() != Some(&b'-')
}

/// As URL readers decide it: <https://url.spec.whatwg.org/#ends-in-a-number-checker>.
fn is_number(label: &[u8]) -> bool {
    let hexadecimal = label.strip_prefix(b"0x").is_some_and(|rest| rest.iter().all(u8::is_ascii_hexdigit));
    hexadecimal || label.iter().all(u8::is_ascii_digit)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// `host` or `host:port` as in a `Host` header, an absolute URI or a CONNECT: the name, and the port if there is one.
/// Userinfo, addresses and anything else that is no name are refused.
pub(crate) fn authority(text: &[u8]) -> Option<(Name, Option<u16>)> {
    let (host, port) = match text.iter().rposition(|byte| *byte == b':') {
        None => (text, None),
        Some(at) => (&text[..at], Some(port(&text[at + 1..])?)),
    };
    Some((Name::with_dot(host)?, port))
}

/// Digits only: no sign, no space, no port 0.
fn port(text: &[u8]) -> Option<u16> {
    let digits = (1..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    let number: u16 = std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()?;
    (number > 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_spelling() {
        for text in ["Example.COM", "example.com"] {
            assert_eq!(Name::new(text.as_bytes()).unwrap().as_str(), "example.com");
        }
        assert_eq!(Name::with_dot(b"example.com.").unwrap().as_str(), "example.com");
        assert_eq!(Name::new(b"xn--bcher-kva.example").unwrap().as_str(), "xn--bcher-kva.example");
        assert_eq!(Name::new(b"_sip.a-b.c").unwrap().as_str(), "_sip.a-b.c");
    }

    #[test]
    fn what_could_be_taken_for_something_else_is_no_name() {
        let long = [&[b'a'; 64][..], b".com"].concat();
        let whole = "a.".repeat(127) + "com";
        for text in [
            b"".as_slice(),
            b".",
            b"..",
            b"a..b",
            b".a",
            b"example.com..",
            b"evil\0.google.com",
            b"evil.com\0",
            b"a b.com",
            b"user@example.com",
            b"example.com/",
            b"example.com#",
            b"example.com\\",
            b"%65xample.com",
            b"*.example.com",
            b"b\xc3\xbccher.example",
            b"example\xe3\x80\x82com",
            b"127.0.0.1",
            b"2130706433",
            b"0x7f000001",
            b"0177.0.0.1",
            b"127.1",
            b"0x7f.1",
            b"1.2.3.0x4",
            b"[::1]",
            b"::1",
            b"-a.com",
            b"a-.com",
            &long,
            whole.as_bytes(),
        ] {
            assert_eq!(Name::with_dot(text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn an_authority_is_a_name_and_perhaps_a_port() {
        let name = Name::new(b"a.test").unwrap();
        assert_eq!(authority(b"A.test"), Some((name.clone(), None)));
        assert_eq!(authority(b"a.test.:8080"), Some((name, Some(8080))));
        for text in
            ["a.test:", "a.test:0", "a.test:+1", "a.test:65536", "a.test: 1", "u@a.test", "[::1]:80", "1.2.3.4:80"]
        {
            assert_eq!(authority(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn below_means_with_a_dot_between() {
        let (parent, name) = (Name::new(b"example.com").unwrap(), |text: &str| Name::new(text.as_bytes()).unwrap());
        assert_eq!(name("a.b.example.com").below(&parent), Some("a.b"));
        assert_eq!(name("example.com").below(&parent), None);
        assert_eq!(name("evilexample.com").below(&parent), None);
    }
}
