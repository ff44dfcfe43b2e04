//! One call of git: its arguments, and everything that keeps a repository from running something of its own.

use std::ffi::OsString;
use std::time::Duration;

use crate::Error;
use crate::command::{Background, Command, Stdin};

/// Where git is looked for. Not where the sandbox's own variables say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The code by which a shell says that there is no such program.
pub(super) const NOT_THERE: i32 = 127;

/// Puts standard input, from which a helper may ask for credentials, out of git's own reach, and forgets every variable:
/// a proxy is not asked, either. The way out is the sandbox's own, whose rules need no variable; where it looks into TLS,
/// its authority is trusted by the file that it put there.
///
/// Descriptor 9 is the highest that every shell knows how to write.
const SCRIPT: &str = "exec 9<&0 </dev/null
PATH=$1; shift
command -v git >/dev/null || exit 127
trust=; test -r /etc/atoll-ca-bundle.pem && trust=GIT_SSL_CAINFO=/etc/atoll-ca-bundle.pem
exec env -i $trust PATH=\"$PATH\" HOME=/nonexistent LC_ALL=C.UTF-8 TMPDIR=/tmp \
GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 \
GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= SSH_ASKPASS= GIT_PAGER=cat GIT_EDITOR=: GIT_SSH_COMMAND=false \
GIT_OPTIONAL_LOCKS=0 GIT_PROTOCOL_FROM_USER=0 \"$@\"";

/// What a repository's configuration may not say.
const FIXED: &[&str] = &[
    // Nothing is run because something happened or is looked at.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.editor=:",
    "core.pager=cat",
    "core.askPass=",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=false",
    "core.attributesFile=/dev/null",
    "diff.external=",
    "interactive.diffFilter=",
    "sequence.editor=:",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "push.gpgSign=false",
    "log.showSignature=false",
    "merge.verifySignatures=false",
    // Helpers of others are forgotten; ours comes behind them.
    "credential.helper=",
    "credential.useHttpPath=false",
    // Only what asks over HTTP, or looks at a directory. `ext::` is a command line, ssh needs keys and a program.
    "protocol.allow=never",
    "protocol.http.allow=always",
    "protocol.https.allow=always",
    "protocol.file.allow=always",
    // Credentials go where they were sent, and nowhere else.
    "http.followRedirects=initial",
    "http.sslVerify=true",
    "http.emptyAuth=false",
    "http.cookieFile=",
    "http.saveCookies=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "advice.detachedHead=false",
];

/// How long git may take if nobody says.
const TIMEOUT: Duration = Duration::from_secs(600);
/// The longest that may be asked for.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3600);

/// A call of git in the making.
#[derive(Debug, Clone)]
pub(super) struct Invocation {
    cwd: Option<String>,
    user: Option<String>,
    settings: Vec<String>,
    arguments: Vec<String>,
    ended: bool,
    timeout: Duration,
    pub(super) with_input: bool,
}

impl Invocation {
    pub(super) fn new(cwd: Option<String>, user: Option<String>) -> Self {
        let settings = FIXED.iter().map(|&setting| setting.to_owned()).collect();
        Self { cwd, user, settings, arguments: Vec::new(), ended: false, timeout: TIMEOUT, with_input: false }
    }

    /// Our own words.
    pub(super) fn arguments<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.arguments.extend(words.into_iter().map(str::to_owned));
        self
    }

    /// One more setting.
    pub(super) fn setting(mut self, setting: String) -> Self {
        self.settings.push(setting);
        self
    }

    /// Switches off programs through which content would go in and out (`filter.NAME.clean`), given as git lists them.
    pub(super) fn without_filters(mut self, names: &[u8]) -> Self {
        for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            // A name that is no text cannot be given to git again; nor would git run what it names by it.
            let Ok(name) = std::str::from_utf8(name) else { continue };
            let value = if name.ends_with(".required") { "false" } else { "" };
            self.settings.push(format!("{name}={value}"));
        }
        self
    }

    /// Who makes commits.
    pub(super) fn identity(mut self, name: &str, email: &str) -> Result<Self, Error> {
        for text in [name, email] {
            if text.trim().is_empty() || text.contains(['\0', '\n', '<', '>']) {
                return Err(Error::invalid("author: a name and an address have no line ends and no < or >"));
            }
        }
        self.settings.push(format!("user.name={name}"));
        self.settings.push(format!("user.email={email}"));
        Ok(self)
    }

    /// A word of the caller's that names something: never an option.
    pub(super) fn name(mut self, word: &str) -> Result<Self, Error> {
        if word.is_empty() || word.starts_with('-') || word.contains(['\0', '\n']) {
            return Err(Error::invalid(format!("`{}` names nothing in a repository", word.escape_debug())));
        }
        self.arguments.push(word.to_owned());
        Ok(self)
    }

    /// A commit, however it is named.
    pub(super) fn revision(self, word: Option<&str>) -> Result<Self, Error> {
        match word {
            Some(word) => self.name(word),
            None => Ok(self),
        }
    }

    /// Paths, taken as they are; behind them there are no options.
    pub(super) fn paths(mut self, paths: &[String]) -> Result<Self, Error> {
        if paths.iter().any(|path| path.is_empty() || path.contains('\0')) {
            return Err(Error::invalid("paths: one of them cannot be"));
        }
        if !self.ended {
            self.arguments.push("--".to_owned());
            self.ended = true;
        }
        self.arguments.extend(paths.iter().map(|path| format!(":(literal){path}")));
        Ok(self)
    }

    pub(super) fn timeout(mut self, millis: Option<u64>) -> Self {
        self.timeout = millis.map_or(TIMEOUT, Duration::from_millis).min(TIMEOUT_MAX);
        self
    }

    /// As a command like any other.
    pub(super) fn command(&self) -> Command {
        let mut argv: Vec<OsString> =
            ["/bin/sh", "-c", SCRIPT, "atoll-git", PATH, "git"].into_iter().map(OsString::from).collect();
        argv.extend(self.settings.iter().flat_map(|setting| ["-c".into(), setting.into()]));
        argv.extend(["--no-pager".into(), "--no-replace-objects".into()]);
        argv.extend(self.arguments.iter().map(OsString::from));
        let mut command = Command::argv(argv);
        command.cwd = self.cwd.clone().map(Into::into);
        command.user.clone_from(&self.user);
        command.stdin = if self.with_input { Stdin::Pipe } else { Stdin::Closed };
        command.timeout = Some(self.timeout);
        command.background = Background::Kill;
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_caller_says_is_never_an_option() {
        let git = || Invocation::new(None, None);
        for bad in ["--upload-pack=evil", "-x", "", "a\nb", "a\0b"] {
            assert!(git().name(bad).is_err(), "{bad:?}");
        }
        let paths = git().paths(&["--exec=evil".into()]).unwrap();
        assert_eq!(paths.arguments, ["--", ":(literal)--exec=evil"]);
    }

    #[test]
    fn filters_are_switched_off_by_name() {
        let git = Invocation::new(None, None).without_filters(b"filter.lfs.clean\0filter.lfs.required\0");
        assert!(git.settings.ends_with(&["filter.lfs.clean=".into(), "filter.lfs.required=false".into()]));
    }
}
