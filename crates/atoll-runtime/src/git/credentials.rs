//! Credentials on their way to git: one server, one answer, through a pipe that no other program inherits.
//!
//! Git runs a helper when a server requests credentials. The helper is a line of shell. The pipe that the agent filled is
//! a descriptor of the script around git, closed for git and everything that git starts; the helper opens it by its path
//! below `/proc`. It is configured for one server alone, so git runs it for no other, whatever a repository or a redirect
//! says. The pipe can be read once.

use atoll_protocol::GitCredentials;
use bytes::Bytes;

use super::invocation::Invocation;
use crate::Error;

/// Answers the first `get` with the content of the pipe, and ignores `store` and `erase`. `script` sets the variable.
const HELPER: &str = "!f() { test \"$1\" = get && cat <\"$ATOLL_CREDENTIALS\"; }; f";

/// What the helper will say.
pub(super) struct Secret(Bytes, String);

/// Gives git a helper, and what the agent must write into its pipe. `url` is the server of a clone.
pub(super) fn attach(
    git: Invocation,
    given: Option<&GitCredentials>,
    url: Option<&str>,
) -> Result<(Invocation, Option<Secret>), Error> {
    let Some(given) = given else { return Ok((git, None)) };
    let server = match (&given.server, url) {
        (Some(server), _) => origin(server).map(|origin| origin + &path_of(server)),
        (None, Some(url)) => origin(url),
        (None, None) => return Err(Error::invalid("credentials.server: say which server may have them")),
    };
    let server = server.ok_or_else(|| Error::invalid("credentials.server: must be `https://host` or `http://host`"))?;
    for text in [&given.username, &given.password] {
        if text.is_empty() || text.contains(['\0', '\n', '\r']) {
            return Err(Error::invalid("credentials: a name and a password are one line each"));
        }
    }
    let mut git = git.setting(format!("credential.{server}.helper={HELPER}"));
    git.with_input = true;
    let answer = format!("username={}\npassword={}\n", given.username, given.password);
    Ok((git, Some(Secret(answer.into(), given.password.clone()))))
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split('/').next().unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
    let known = scheme == "https" || scheme == "http";
    (known && !host.is_empty() && host.bytes().all(plain)).then(|| format!("{scheme}://{host}"))
}

/// The path of an address, which git compares with the start of the remote's path. Escapes everything that the key of a
/// setting cannot hold; git decodes it.
fn path_of(url: &str) -> String {
    let path = url.split_once("://").and_then(|(_, rest)| rest.find('/').map(|slash| &rest[slash..]));
    let mut escaped = String::new();
    for byte in path.unwrap_or_default().trim_end_matches('/').bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

impl Secret {
    pub(super) fn answer(&self) -> Bytes {
        self.0.clone()
    }

    /// A text without the password, should somebody have put it there.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        text.replace(&self.1, "***")
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_is_named() {
        assert_eq!(origin("https://example.org/a/b.git").as_deref(), Some("https://example.org"));
        assert_eq!(origin("http://127.0.0.1:8080").as_deref(), Some("http://127.0.0.1:8080"));
        for bad in ["example.org", "ssh://example.org", "https://", "https://a@b/c", "https://a\"b", "ext::sh"] {
            assert_eq!(origin(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_path_limits_the_server() {
        assert_eq!(path_of("https://example.org"), "");
        assert_eq!(path_of("https://example.org/"), "");
        assert_eq!(path_of("https://example.org/team/a=b c.git/"), "/team/a%3Db%20c.git");
    }

    #[test]
    fn a_secret_is_not_shown() {
        let given = GitCredentials { server: None, username: "me".into(), password: "hunter2".into() };
        let (git, secret) = attach(Invocation::new(None, None), Some(&given), Some("https://host/x")).unwrap();
        let shown = format!("{given:?} {secret:?} {git:?} {:?}", git.command());
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(secret.unwrap().hidden_in("bad hunter2!"), "bad ***!");
    }
}
