//! Addresses of other repositories: which a caller may clone, and what kind of transport git uses for them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::config::Config;
use crate::Error;

/// What git does to reach an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Location {
    /// Speaks HTTP or HTTPS.
    Http,
    /// Starts a program of git in the repository at this path.
    Local(OsString),
    /// Starts ssh or a remote helper, which no call allows: git refuses it.
    Other,
}

/// The direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Fetch,
    Push,
}

impl Location {
    /// Classifies an address as git does (`url_is_local_not_ssh` and `parse_connect_url` in git's connect.c).
    pub(super) fn of(address: &OsStr) -> Self {
        let bytes = address.as_bytes();
        if bytes.starts_with(b"http://") || bytes.starts_with(b"https://") {
            return Self::Http;
        }
        if let Some(rest) = bytes.strip_prefix(b"file://") {
            let rest = percent_decoded(rest);
            let path = if rest.starts_with(b"/") { rest } else { [b"//", rest.as_slice()].concat() };
            return Self::Local(OsString::from_vec(path));
        }
        let slash = bytes.iter().position(|&byte| byte == b'/');
        match bytes.iter().position(|&byte| byte == b':') {
            Some(colon) if slash.is_none_or(|slash| colon < slash) => Self::Other,
            Some(_) | None => Self::Local(address.to_owned()),
        }
    }
}

/// Where a remote is: each of its addresses. A name that is not configured is an address itself.
pub(super) fn of_remote(config: &Config, remote: &OsStr, direction: Direction) -> Vec<Location> {
    let configured = |name| config.values("remote", remote.as_bytes(), name);
    let addresses = match direction {
        Direction::Push if !configured("pushurl").is_empty() => configured("pushurl"),
        Direction::Push | Direction::Fetch => configured("url"),
    };
    let addresses = if addresses.is_empty() { vec![remote] } else { addresses };
    addresses.into_iter().map(Location::of).collect()
}

fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let (mut decoded, mut at) = (Vec::new(), 0);
    while let Some(&byte) = text.get(at) {
        let escaped = digit(at + 1).zip(digit(at + 2)).filter(|_| byte == b'%');
        match escaped.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(value) => {
                decoded.push(value);
                at += 3;
            }
            None => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}

/// What can be fetched without a shell, a key or a password in the address.
pub(super) fn check_url(url: &str) -> Result<(), Error> {
    let refuse = |why: &str| Err(Error::invalid(format!("url: {why}")));
    if url.contains(['\0', '\n', '\r']) || url.starts_with('-') {
        return refuse("cannot be");
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return if url.starts_with('/') {
            Ok(())
        } else {
            refuse("must be https://, http://, file:// or an absolute path")
        };
    };
    match scheme {
        "https" | "http" => {
            if rest.split('/').next().is_some_and(|host| host.contains('@')) {
                return refuse("has a name or a password in it, which git would keep; give them as `credentials`");
            }
            Ok(())
        }
        "file" => Ok(()),
        _ => refuse("must be https://, http://, file:// or an absolute path"),
    }
}

/// The last name of an address, without `.git`.
pub(super) fn named_like(url: &str) -> Result<String, Error> {
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let last = last.strip_suffix(".git").unwrap_or(last);
    if last.is_empty() || last == "." || last == ".." || last.contains(':') {
        return Err(Error::invalid("path: the address does not say how to name the directory"));
    }
    Ok(last.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_run_or_keep_something_are_refused() {
        for good in ["https://example.org/a.git", "http://127.0.0.1:8000/a", "file:///srv/a", "/srv/a"] {
            check_url(good).unwrap();
        }
        for bad in [
            "ext::sh -c evil",
            "ssh://example.org/a",
            "git@example.org:a/b.git",
            "git://example.org/a",
            "https://me:secret@example.org/a",
            "--upload-pack=evil",
            "relative/path",
            "https://a\nb",
        ] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
        assert_eq!(named_like("https://example.org/a/b.git/").unwrap(), "b");
        assert!(named_like("https://").is_err());
    }

    #[test]
    fn addresses_are_classified_as_git_does() {
        let local = |path: &str| Location::Local(path.into());
        for (address, location) in [
            ("https://x/y", Location::Http),
            ("http://x", Location::Http),
            ("HTTP://x", Location::Other),
            ("httpx://x", Location::Other),
            ("/srv/a:b", local("/srv/a:b")),
            ("../a", local("../a")),
            (".", local(".")),
            ("file:///srv/a%20b%2", local("/srv/a b%2")),
            ("file://host/a", local("//host/a")),
            ("host:a/b", Location::Other),
            ("ext::sh -c x", Location::Other),
            ("ssh://x/y", Location::Other),
        ] {
            assert_eq!(Location::of(OsStr::new(address)), location, "{address}");
        }
    }

    #[test]
    fn a_push_goes_to_every_push_address() {
        let config =
            Config::parse(b"remote.o.url\nhttps://x\0remote.o.pushurl\n/a\0remote.o.pushurl\nhttp://y\0").unwrap();
        let of = |remote: &str, direction| of_remote(&config, OsStr::new(remote), direction);
        assert_eq!(of("o", Direction::Push), [Location::Local("/a".into()), Location::Http]);
        assert_eq!(of("o", Direction::Fetch), [Location::Http]);
        assert_eq!(of("/b", Direction::Push), [Location::Local("/b".into())]);
    }
}
