//! Where previews are: `<port>-<name>-<token>` as the first label of a host name, or as the first part of a path. Pure
//! functions over text; whether a token is good is not known here.

use atoll_protocol::SandboxName;

use crate::Error;

/// Letters of one label of a host name (RFC 1035, 2.3.4).
const LABEL_MAX: usize = 63;

/// Where previews are that have no host name of their own.
pub(crate) const PATH: &str = "/preview/";

/// Which port of which sandbox, and the proof that one may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) port: u16,
    pub(crate) name: SandboxName,
    pub(crate) token: String,
}

impl Label {
    /// A name may hold hyphens; ports and tokens hold none. Only one spelling means a preview.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (port, rest) = text.split_once('-')?;
        let (name, token) = rest.rsplit_once('-')?;
        let number: u16 = port.parse().ok().filter(|number| *number != 0)?;
        let label = Self { port: number, name: SandboxName::new(name).ok()?, token: token.to_owned() };
        (is_token(token) && label.to_string() == text).then_some(label)
    }

    /// Whether it can be a label of a host name at all.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let length = self.to_string().len();
        if length <= LABEL_MAX {
            return Ok(());
        }
        let room = LABEL_MAX.saturating_sub(self.port.to_string().len() + self.name.as_str().len() + 2);
        let why = if room == 0 {
            format!("sandbox names of at most {} letters can be exposed", LABEL_MAX - 24)
        } else {
            format!("give a token of at most {room} letters")
        };
        Err(Error::invalid(format!(
            "`{}-{}-…` would be {length} letters, and a label of a host name has at most {LABEL_MAX}: {why}",
            self.port, self.name
        )))
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{}", self.port, self.name, self.token)
    }
}

/// Letters of a token.
const TOKEN_LETTERS: std::ops::RangeInclusive<usize> = 1..=32;

/// Host names know no difference between large and small letters, so a token has only small ones.
pub(crate) fn is_token(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    TOKEN_LETTERS.contains(&text.len()) && text.bytes().all(letter)
}

/// Where previews' host names lie, and how the outside gets there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    host: String,
    /// Told in URLs instead of our own, for servers behind another one.
    scheme: Option<&'static str>,
    port: Option<u16>,
}

impl Default for Domain {
    /// Browsers take every name below `localhost` for this machine (RFC 6761, 6.3), so nothing has to be set up.
    fn default() -> Self {
        Self { host: "localhost".to_owned(), scheme: None, port: None }
    }
}

impl Domain {
    /// `example.org`, `example.org:8443`, `https://example.org`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (scheme, rest) = match text.split_once("://") {
            None => (None, text),
            Some(("http", rest)) => (Some("http"), rest),
            Some(("https", rest)) => (Some("https"), rest),
            Some((other, _)) => return Err(Error::invalid(format!("previews are not served over `{other}`"))),
        };
        let rest = rest.trim_end_matches('/').to_ascii_lowercase();
        let (host, port) = match rest.split_once(':') {
            None => (rest.as_str(), None),
            Some((host, port)) => {
                let wrong = |_| Error::invalid(format!("`{port}` is no port"));
                (host, Some(port.parse().map_err(wrong)?))
            }
        };
        let label = |label: &str| {
            let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            (1..=LABEL_MAX).contains(&label.len()) && label.bytes().all(inner)
        };
        if !host.split('.').all(label) || host.len() > 180 {
            return Err(Error::invalid(format!("`{}` is no domain for previews", text.escape_debug())));
        }
        Ok(Self { host: host.to_owned(), scheme, port })
    }

    /// The first label of a host below this domain; the host without its port, in small letters.
    pub(crate) fn label_of<'a>(&self, host: &'a str) -> Option<&'a str> {
        host.strip_suffix(&self.host)?.strip_suffix('.')
    }

    /// What a URL begins with, for a server that listens so.
    pub(crate) fn origin(&self, label: Option<&str>, scheme: &'static str, port: u16) -> String {
        // Whoever names a scheme says how the outside gets here, the port that belongs to it included.
        let told = self.scheme.unwrap_or(scheme);
        let standard = if told == "https" { 443 } else { 80 };
        let port = self.port.unwrap_or(if self.scheme.is_some() { standard } else { port });
        let dot = label.map(|label| format!("{label}.")).unwrap_or_default();
        let host = &self.host;
        if port == standard { format!("{told}://{dot}{host}") } else { format!("{told}://{dot}{host}:{port}") }
    }
}

/// A host without its port and final dot, in small letters; `None` for what is no host.
pub(crate) fn bare_host(authority: &str) -> Option<String> {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => port.bytes().all(|byte| byte.is_ascii_digit()).then_some(host)?,
        _ => authority,
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:[]".contains(&byte);
    (!host.is_empty() && host.bytes().all(inner)).then_some(host)
}

/// What stands in a path behind [`PATH`]: the label, and the rest with its slash. The rest is empty where there is none.
pub(crate) fn split_path(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix(PATH)?;
    let at = rest.find('/').unwrap_or(rest.len());
    Some(rest.split_at(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(port: u16, name: &str, token: &str) -> Label {
        Label { port, name: SandboxName::new(name).unwrap(), token: token.to_owned() }
    }

    #[test]
    fn a_label_is_read_as_it_is_written() {
        for one in [label(80, "box", "t"), label(65535, "my-box-2", "abc_123"), label(3000, "a", "x9")] {
            assert_eq!(Label::parse(&one.to_string()), Some(one));
        }
        for bad in [
            "",
            "-",
            "80",
            "80-box",
            "80-box-",
            "-box-t",
            "0-box-t",
            "080-box-t",
            "65536-box-t",
            "80--t",
            "80-Box-t",
            "80-box-T",
            "80-box-t.x",
            "80-box-é",
            "+80-box-t",
            "80-box-t/..",
            " 80-box-t",
        ] {
            assert_eq!(Label::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_label_that_is_too_long_is_refused_with_what_would_fit() {
        assert!(label(3000, &"a".repeat(41), &"t".repeat(16)).check().is_ok());
        let refused = label(3000, &"a".repeat(42), &"t".repeat(16)).check().unwrap_err().to_string();
        assert!(refused.contains("a token of at most 15 letters"), "{refused}");
        let refused = label(3000, &"a".repeat(63), "t").check().unwrap_err().to_string();
        assert!(refused.contains("sandbox names of at most 39 letters"), "{refused}");
    }

    #[test]
    fn hosts_below_a_domain_have_one_label() {
        let domain = Domain::default();
        assert_eq!(domain.label_of("80-box-t.localhost"), Some("80-box-t"));
        assert_eq!(domain.label_of("a.b.localhost"), Some("a.b"), "which is no label");
        for other in ["localhost", "xlocalhost", "80-box-t.localhost.example.org", "127.0.0.1"] {
            assert_eq!(domain.label_of(other), None, "{other}");
        }
    }

    #[test]
    fn hosts_are_told_by_their_names_alone() {
        for (authority, host) in [
            ("A.Localhost:80", "a.localhost"),
            ("a.localhost.", "a.localhost"),
            ("a.localhost.:80", "a.localhost"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(bare_host(authority).as_deref(), Some(host), "{authority}");
        }
        for bad in ["", ":80", "a b", "a@b", "a/b", "a:b", "a:80:90x", "a\u{e9}"] {
            assert_eq!(bare_host(bad), None, "{bad}");
        }
    }

    #[test]
    fn urls_say_what_the_outside_must_say() {
        let urls = |text: &str| Domain::parse(text).unwrap().origin(Some("l"), "http", 7071);
        assert_eq!(urls("localhost"), "http://l.localhost:7071");
        assert_eq!(urls("example.org:80"), "http://l.example.org");
        assert_eq!(urls("https://example.org"), "https://l.example.org");
        assert_eq!(urls("https://example.org:8443/"), "https://l.example.org:8443");
        for bad in ["", "a b", "ftp://a", "a:x", "*.a", "a..b", "a/b"] {
            assert!(Domain::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_path_has_a_label_and_a_rest() {
        assert_eq!(split_path("/preview/80-box-t/a/../b"), Some(("80-box-t", "/a/../b")));
        assert_eq!(split_path("/preview/80-box-t"), Some(("80-box-t", "")));
        assert_eq!(split_path("/preview"), None);
        assert_eq!(split_path("/v1/preview/80-box-t/"), None);
    }
}
