//! Parsers for option values: sizes, durations, variables, egress rules.

use std::ffi::OsString;
use std::time::Duration;

use atoll_protocol::{EgressProtocol, EgressRule, RuleSet};
use atoll_runtime::NetworkRules as Policy;
use bytes::Bytes;

/// Parses a size in bytes, with binary units: `512m`, `2g`, `64k`, `1048576`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let lower = lower.strip_suffix("ib").or_else(|| lower.strip_suffix('b')).unwrap_or(&lower);
    let digits = lower.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor: u64 = match &lower[digits.len()..] {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return Err("expected a number of bytes with an optional unit k, m, g or t, such as 512m".to_owned()),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number of bytes with an optional unit k, m, g or t, such as 512m".to_owned())?;
    number
        .checked_mul(factor)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "the size must be greater than 0 and fit in 64 bits".to_owned())
}

/// Parses a duration: `500ms`, `10s`, `2m`, `1h`; a plain number is in seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let invalid = || "expected a duration such as 500ms, 10s, 2m or 1h".to_owned();
    let split = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(invalid()),
    };
    let number: f64 = number.parse().map_err(|_| invalid())?;
    let duration = Duration::try_from_secs_f64(number * seconds).map_err(|_| invalid())?;
    if duration.is_zero() { Err("the duration must be greater than 0".to_owned()) } else { Ok(duration) }
}

/// Parses a number of cores, such as `0.5`, and returns thousandths of a core.
pub(crate) fn cpus(text: &str) -> Result<u64, String> {
    let cores: f64 = text.parse().map_err(|_| "expected a number of cores, such as 1.5".to_owned())?;
    let millis = (cores * 1000.0).round();
    if !(10.0..=1e9).contains(&millis) {
        return Err("at least 0.01 cores are required".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be within range")]
    let millis = millis as u64;
    Ok(millis)
}

/// Parses a variable: `NAME=value` sets it, `NAME` passes on the caller's value, `NAME-` unsets it.
pub(crate) fn variable(text: &str) -> Result<(OsString, Option<OsString>), String> {
    if let Some((name, value)) = text.split_once('=') {
        return Ok((name.into(), Some(value.into())));
    }
    if let Some(name) = text.strip_suffix('-') {
        return Ok((name.into(), None));
    }
    match std::env::var_os(text) {
        Some(value) => Ok((text.into(), Some(value))),
        None => Err(format!("{text} is not set in your environment; pass {text}=VALUE")),
    }
}

/// Parses a label `NAME=VALUE`.
pub(crate) fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| "expected NAME=VALUE".to_owned())?;
    if name.is_empty() {
        Err("the name of a label must not be empty".to_owned())
    } else {
        Ok((name.to_owned(), value.to_owned()))
    }
}

/// Parses an egress rule: a rule set (`pypi`), or `[PROTOCOL://]HOST[:PORTS]`, where HOST is a name, a wildcard, an
/// address or a CIDR block, and PROTOCOL is http, tls, tcp, or `inspect` for TLS that Atoll decrypts.
pub(crate) fn rule(text: &str) -> Result<EgressRule, String> {
    let set = match text {
        "pypi" => Some(RuleSet::Pypi),
        "npm" => Some(RuleSet::Npm),
        "crates" => Some(RuleSet::Crates),
        "debian" => Some(RuleSet::Debian),
        "github" => Some(RuleSet::Github),
        _ => None,
    };
    if set.is_some() {
        return Ok(EgressRule { set, ..EgressRule::default() });
    }
    let (protocol, rest) = text.split_once("://").map_or((None, text), |(protocol, rest)| (Some(protocol), rest));
    let protocols = match protocol {
        None => None,
        Some("http") => Some(vec![EgressProtocol::Http]),
        Some("tls" | "inspect") => Some(vec![EgressProtocol::Tls]),
        Some("tcp") => Some(vec![EgressProtocol::Tcp]),
        Some(_) => return Err("unknown protocol (expected http, tls, tcp or inspect)".to_owned()),
    };
    let (host, ports) = host_and_ports(rest)?;
    let is_block = host.split('/').next().is_some_and(|address| address.parse::<std::net::IpAddr>().is_ok());
    let (domain, cidr) = if is_block { (None, Some(host)) } else { (Some(host), None) };
    let inspect = protocol == Some("inspect");
    let rule = EgressRule { set: None, domain, cidr, ports, protocols, inspect };
    // The same check as on the server, before any request.
    Policy::rules(std::slice::from_ref(&rule)).map_err(|error| error.to_string())?;
    Ok(rule)
}

/// Splits `HOST:PORTS`, `[HOST]:PORTS` for hosts with colons, or HOST alone.
fn host_and_ports(text: &str) -> Result<(String, Option<Vec<String>>), String> {
    let (host, ports) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("missing `]` after `[`")?;
            (host, rest.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((_, rest)) if rest.contains(':') => (text, None),
            Some((host, ports)) => (host, Some(ports)),
            None => (text, None),
        },
    };
    Ok((host.to_owned(), ports.map(|ports| ports.split(',').map(str::to_owned).collect())))
}

/// A value of `--only`: a rule, or no egress at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Only {
    None,
    Rule(Box<EgressRule>),
}

/// Parses a rule, or `none`.
pub(crate) fn only(text: &str) -> Result<Only, String> {
    if text == "none" { Ok(Only::None) } else { rule(text).map(|rule| Only::Rule(Box::new(rule))) }
}

/// Returns the rules of a command, or `None` if `--only` was not given.
pub(crate) fn only_rules(given: Vec<Only>) -> Option<Vec<EgressRule>> {
    let rules = |only| match only {
        Only::None => None,
        Only::Rule(rule) => Some(*rule),
    };
    if given.is_empty() { None } else { Some(given.into_iter().filter_map(rules).collect()) }
}

/// Parses `NAME=ADDRESS`.
pub(crate) fn host(text: &str) -> Result<(String, String), String> {
    let (name, address) = text.split_once('=').ok_or_else(|| "expected NAME=ADDRESS".to_owned())?;
    let address: std::net::IpAddr = address.parse().map_err(|_| format!("`{address}` is not an IP address"))?;
    Ok((name.to_owned(), address.to_string()))
}

/// The key that detaches from a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetachKey {
    /// The byte that the key sends.
    Byte(u8),
    /// No detach key: every key goes to the program.
    None,
}

impl DetachKey {
    /// Returns the input before the detach key, and whether the key was pressed.
    pub(crate) fn split(self, keys: Bytes) -> (Bytes, bool) {
        let Self::Byte(byte) = self else {
            return (keys, false);
        };
        match keys.iter().position(|key| *key == byte) {
            Some(at) => (keys.slice(..at), true),
            None => (keys, false),
        }
    }
}

/// Parses `ctrl-]`, `ctrl-q` or `none`. A control key sends the lower five bits of its letter (ascii(7)).
pub(crate) fn detach_key(text: &str) -> Result<DetachKey, String> {
    let lower = text.to_ascii_lowercase();
    if lower == "none" {
        return Ok(DetachKey::None);
    }
    match lower.strip_prefix("ctrl-").map(str::as_bytes) {
        Some([letter @ (b'a'..=b'z' | b'[' | b']' | b'\\' | b'^' | b'_')]) => Ok(DetachKey::Byte(letter & 0x1f)),
        _ => Err("expected ctrl- and a letter or one of [ ] \\ ^ _, or none".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("1", 1), ("64k", 65_536), ("512m", 536_870_912), ("2GiB", 2 << 30), ("1kb", 1024)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "m", "-1", "1x", "1.5g", "99999999999t"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, millis) in [("1", 1000), ("1.5", 1500), ("250ms", 250), ("2m", 120_000), ("1h", 3_600_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "0", "-1s", "5d", "s", "nan", "inf"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rules() {
        assert_eq!(rule("npm").unwrap().set, Some(RuleSet::Npm));
        let plain = rule("example.com").unwrap();
        assert_eq!((plain.domain.as_deref(), plain.ports, plain.protocols), (Some("example.com"), None, None));
        let ports = Some(vec!["443".to_owned(), "8000-8999".to_owned()]);
        assert_eq!(rule("*.example.com:443,8000-8999").unwrap().ports, ports);
        let block = rule("10.0.0.0/8:5432").unwrap();
        assert_eq!((block.cidr.as_deref(), block.domain), (Some("10.0.0.0/8"), None));
        assert_eq!(rule("[fd00::/8]:22").unwrap().cidr.as_deref(), Some("fd00::/8"));
        assert_eq!(rule("tcp://db.example.com:5432").unwrap().protocols, Some(vec![EgressProtocol::Tcp]));
        assert!(rule("inspect://api.example.com").unwrap().inspect);
        for text in
            ["", "ftp://a.com", "10.0.0.0/8", "a.com:", "a.com:0", "*", "https://a.com", "a.com/x", "[fd00::1:22"]
        {
            assert!(rule(text).is_err(), "{text}");
        }
        assert_eq!(host("a.test=10.0.0.1"), Ok(("a.test".to_owned(), "10.0.0.1".to_owned())));
        assert!(host("a.test=b").is_err() && host("a.test").is_err());
    }

    #[test]
    fn keys() {
        assert_eq!(detach_key("ctrl-]"), Ok(DetachKey::Byte(0x1d)));
        assert_eq!(detach_key("Ctrl-A"), Ok(DetachKey::Byte(1)));
        assert_eq!(detach_key("none"), Ok(DetachKey::None));
        for text in ["", "a", "ctrl-", "ctrl-aa", "ctrl-1", "alt-a"] {
            assert!(detach_key(text).is_err(), "{text}");
        }
        let (before, pressed) = DetachKey::Byte(0x1d).split(Bytes::from_static(b"ab\x1dcd"));
        assert_eq!((&before[..], pressed), (&b"ab"[..], true));
        assert!(!DetachKey::None.split(Bytes::from_static(b"\x1d")).1);
    }

    #[test]
    fn variables() {
        assert_eq!(variable("A=b=c"), Ok(("A".into(), Some("b=c".into()))));
        assert_eq!(variable("A-"), Ok(("A".into(), None)));
        assert!(variable("ATOLL_TEST_SURELY_UNSET").is_err());
        assert_eq!(cpus("1.5"), Ok(1500));
        assert!(cpus("0").is_err() && cpus("nan").is_err());
    }
}
