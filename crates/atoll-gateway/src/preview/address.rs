//! Addresses of previews: `<port>-<name>-<token>` as the first label of a host name, or as the first segment of a
//! path. Pure functions over text; whether a token is valid is checked elsewhere.

use atoll_protocol::SandboxName;

use crate::Error;

/// Longest label of a host name (RFC 1035, 2.3.4).
const LABEL_MAX: usize = 63;

/// The path prefix of previews without a host name of their own.
pub(crate) const PATH: &str = "/preview/";

/// A port of a sandbox, with the token that grants access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) port: u16,
    pub(crate) name: SandboxName,
    pub(crate) token: String,
}

impl Label {
    /// Parses a label. Names may contain hyphens; ports and tokens contain none. Each preview has only one valid
    /// spelling.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (port, rest) = text.split_once('-')?;
        let (name, token) = rest.rsplit_once('-')?;
        let number: u16 = port.parse().ok().filter(|number| *number != 0)?;
        let label = Self { port: number, name: SandboxName::new(name).ok()?, token: token.to_owned() };
        (is_token(token) && label.to_string() == text).then_some(label)
    }

    /// Checks the label's length.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let length = self.to_string().len();
        if length <= LABEL_MAX {
            return Ok(());
        }
        let room = LABEL_MAX.saturating_sub(self.port.to_string().len() + self.name.as_str().len() + 2);
        let why = if room == 0 {
            format!("sandbox names of at most {} characters can be exposed", LABEL_MAX - 24)
        } else {
            format!("give a token of at most {room} characters")
        };
        Err(Error::invalid(format!(
            "`{}-{}-…` has {length} characters, and a label of a host name has at most {LABEL_MAX}: {why}",
            self.port, self.name
        )))
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{}", self.port, self.name, self.token)
    }
}

/// Length of a token.
const TOKEN_LETTERS: std::ops::RangeInclusive<usize> = 1..=32;

/// Whether text is a valid token. Lower case only, since host names are case-insensitive.
pub(crate) fn is_token(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    TOKEN_LETTERS.contains(&text.len()) && text.bytes().all(letter)
}

/// The parent domain of preview host names, and how it is reached from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    host: String,
    /// Overrides the server's own in URLs, for servers behind a reverse proxy.
    scheme: Option<&'static str>,
    port: Option<u16>,
}

impl Default for Domain {
    /// Browsers resolve every name below `localhost` to this machine (RFC 6761, 6.3), so no setup is needed.
    fn default() -> Self {
        Self { host: "localhost".to_owned(), scheme: None, port: None }
    }
}

impl Domain {
    /// Parses `example.org`, `example.org:8443` or `https://example.org`.
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
                let wrong = |_| Error::invalid(format!("`{port}` is not a valid port"));
                (host, Some(port.parse().map_err(wrong)?))
            }
        };
        let label = |label: &str| {
            let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            (1..=LABEL_MAX).contains(&label.len()) && label.bytes().all(inner)
        };
        if !host.split('.').all(label) || host.len() > 180 {
            return Err(Error::invalid(format!("`{}` is not a valid domain for previews", text.escape_debug())));
        }
        Ok(Self { host: host.to_owned(), scheme, port })
    }

    /// Returns the first label of a host below this domain. `host` has no port and is in lower case.
    pub(crate) fn label_of<'a>(&self, host: &'a str) -> Option<&'a str> {
        host.strip_suffix(&self.host)?.strip_suffix('.')
    }

    /// Returns the origin of URLs, for a server that listens with this scheme and port.
    pub(crate) fn origin(&self, label: Option<&str>, scheme: &'static str, port: u16) -> String {
        // A configured scheme says how the server is reached from outside, which includes the scheme's default port.
        let scheme_shown = self.scheme.unwrap_or(scheme);
        let standard = if scheme_shown == "https" { 443 } else { 80 };
        let port = self.port.unwrap_or(if self.scheme.is_some() { standard } else { port });
        let dot = label.map(|label| format!("{label}.")).unwrap_or_default();
        let host = &self.host;
        if port == standard {
            format!("{scheme_shown}://{dot}{host}")
        } else {
            format!("{scheme_shown}://{dot}{host}:{port}")
        }
    }
}

/// Returns a host without its port and final dot, in lower case; `None` if it is not a valid host.
pub(crate) fn bare_host(authority: &str) -> Option<String> {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => port.bytes().all(|byte| byte.is_ascii_digit()).then_some(host)?,
        _ => authority,
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:[]".contains(&byte);
    (!host.is_empty() && host.bytes().all(inner)).then_some(host)
}

/// Splits a path after [`PATH`] into the label and the rest, which begins with a slash or is empty.
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
    fn label_round_trips() {
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
    fn label_too_long_is_rejected_with_the_allowed_length() {
        assert!(label(3000, &"a".repeat(41), &"t".repeat(16)).check().is_ok());
        let refused = label(3000, &"a".repeat(42), &"t".repeat(16)).check().unwrap_err().to_string();
        assert!(refused.contains("a token of at most 15 characters"), "{refused}");
        let refused = label(3000, &"a".repeat(63), "t").check().unwrap_err().to_string();
        assert!(refused.contains("sandbox names of at most 39 characters"), "{refused}");
    }

    #[test]
    fn label_of_host_below_domain() {
        let domain = Domain::default();
        assert_eq!(domain.label_of("80-box-t.localhost"), Some("80-box-t"));
        assert_eq!(domain.label_of("a.b.localhost"), Some("a.b"), "not a valid label");
        for other in ["localhost", "xlocalhost", "80-box-t.localhost.example.org", "127.0.0.1"] {
            assert_eq!(domain.label_of(other), None, "{other}");
        }
    }

    #[test]
    fn bare_host_drops_port_and_dot() {
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
    fn origin_uses_the_public_scheme_and_port() {
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
    fn path_splits_into_label_and_rest() {
        assert_eq!(split_path("/preview/80-box-t/a/../b"), Some(("80-box-t", "/a/../b")));
        assert_eq!(split_path("/preview/80-box-t"), Some(("80-box-t", "")));
        assert_eq!(split_path("/preview"), None);
        assert_eq!(split_path("/v1/preview/80-box-t/"), None);
    }
}
