//! One call of git: its arguments, its settings, the transports that it may use, and the script that runs it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use super::script;
use crate::Error;
use crate::command::{Background, Command, Stdin};

/// Where git is looked for. Not where the sandbox's own variables say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The code by which a shell says that there is no such program.
pub(super) const NOT_THERE: i32 = 127;

/// What a repository's configuration may not say. Keys that are more specific than one of these, as
/// `http.https://host.proxy` is more specific than `http.proxy`, would win over it: `config` refuses them.
pub(super) const FIXED: &[&str] = &[
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
    // Credentials go where they were sent, and nowhere else.
    "http.followRedirects=initial",
    "http.sslVerify=true",
    "http.proxy=",
    "http.emptyAuth=false",
    "http.cookieFile=",
    "http.saveCookies=false",
    // Git would run another git in a submodule, with the configuration of that submodule alone.
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "diff.ignoreSubmodules=dirty",
    "diff.submodule=short",
    "advice.detachedHead=false",
];

/// How long git may take if nobody says.
const TIMEOUT: Duration = Duration::from_secs(600);
/// The longest that may be asked for.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3600);

/// The transports that git may use. `ext::` is a command line, and ssh needs keys and a program: neither is ever allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transports {
    /// None at all: the call is about one repository.
    None,
    /// HTTP and HTTPS. The only ones of a call with credentials: others start programs.
    Http,
    /// HTTP, HTTPS and directories of the sandbox.
    HttpAndLocal,
}

impl Transports {
    /// As `GIT_ALLOW_PROTOCOL` lists them. An empty list would do for none, but is easily taken for an unset variable.
    fn list(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Http => "http:https",
            Self::HttpAndLocal => "http:https:file",
        }
    }
}

/// A call of git in the making.
#[derive(Debug, Clone)]
pub(super) struct Invocation {
    cwd: Option<PathBuf>,
    user: Option<String>,
    script: &'static str,
    /// What the script takes before git's own arguments.
    parameters: Vec<OsString>,
    transports: Transports,
    settings: Vec<String>,
    arguments: Vec<OsString>,
    ended: bool,
    timeout: Duration,
    /// The configuration that [`script::TRANSFER`] reads.
    pub(super) snapshot: Vec<u8>,
    /// Whether standard input is a pipe: for a snapshot, for credentials, or for both.
    pub(super) with_input: bool,
}

impl Invocation {
    pub(super) fn new(cwd: Option<PathBuf>, user: Option<String>) -> Self {
        Self {
            cwd,
            user,
            script: script::PLAIN,
            parameters: Vec::new(),
            transports: Transports::None,
            settings: FIXED.iter().map(|&setting| setting.to_owned()).collect(),
            arguments: Vec::new(),
            ended: false,
            timeout: TIMEOUT,
            snapshot: Vec::new(),
            with_input: false,
        }
    }

    /// Runs another script, with these parameters before git's arguments.
    pub(super) fn by(mut self, script: &'static str, parameters: Vec<OsString>) -> Self {
        self.script = script;
        self.parameters = parameters;
        self
    }

    /// Lets git use these transports.
    pub(super) fn transports(mut self, transports: Transports) -> Self {
        self.transports = transports;
        self
    }

    /// Our own words.
    pub(super) fn arguments<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.arguments.extend(words.into_iter().map(OsString::from));
        self
    }

    /// An argument that was made here, of any bytes.
    pub(super) fn argument(mut self, word: impl Into<OsString>) -> Self {
        self.arguments.push(word.into());
        self
    }

    /// One more setting.
    pub(super) fn setting(mut self, setting: String) -> Self {
        self.settings.push(setting);
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

    /// A word of the caller's, or of the repository's configuration, that names something: never an option.
    pub(super) fn name(mut self, word: impl AsRef<OsStr>) -> Result<Self, Error> {
        let word = word.as_ref();
        let bytes = word.as_encoded_bytes();
        if bytes.is_empty() || bytes.starts_with(b"-") || bytes.contains(&0) || bytes.contains(&b'\n') {
            return Err(Error::invalid(format!("`{}` names nothing in a repository", bytes.escape_ascii())));
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
        self = self.end_options();
        self.arguments.extend(paths.iter().map(|path| format!(":(literal){path}").into()));
        Ok(self)
    }

    /// Leaves out these paths, counted from the top of the worktree.
    pub(super) fn except(mut self, paths: &[OsString]) -> Self {
        self = self.end_options();
        for path in paths {
            let mut pathspec = OsString::from(":(exclude,top,literal)");
            pathspec.push(path);
            self.arguments.push(pathspec);
        }
        self
    }

    fn end_options(mut self) -> Self {
        if !self.ended {
            self.arguments.push("--".into());
            self.ended = true;
        }
        self
    }

    pub(super) fn timeout(mut self, millis: Option<u64>) -> Self {
        self.timeout = millis.map_or(TIMEOUT, Duration::from_millis).min(TIMEOUT_MAX);
        self
    }

    /// As a command like any other.
    pub(super) fn command(&self) -> Command {
        let mut argv: Vec<OsString> = ["/bin/sh", "-c", self.script, "atoll-git", PATH, self.transports.list()]
            .into_iter()
            .map(OsString::from)
            .collect();
        argv.extend(self.parameters.iter().cloned());
        if self.script != script::INSPECT {
            argv.extend(self.settings.iter().flat_map(|setting| ["-c".into(), setting.into()]));
            argv.extend(["--no-pager".into(), "--no-replace-objects".into()]);
            argv.extend(self.arguments.iter().cloned());
        }
        let mut command = Command::argv(argv);
        command.cwd.clone_from(&self.cwd);
        command.user.clone_from(&self.user);
        command.stdin = if self.with_input { Stdin::Pipe } else { Stdin::Closed };
        command.timeout = Some(self.timeout);
        command.background = Background::Kill;
        command
    }
}

/// The command line by which git starts the other side of a local transport. Git would run it without our settings, with
/// the configuration of the other repository: its hooks, and for a partial clone the program of its remote.
pub(super) fn other_side(program: &str) -> String {
    let settings: String = FIXED.iter().map(|setting| format!("-c '{setting}' ")).collect();
    format!("GIT_ALLOW_PROTOCOL={} git {settings}{program}", Transports::None.list())
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
        let paths = git().paths(&["--exec=evil".into()]).unwrap().except(&["sub".into()]);
        assert_eq!(paths.arguments, ["--", ":(literal)--exec=evil", ":(exclude,top,literal)sub"]);
    }

    #[test]
    fn settings_survive_the_quotes_of_a_shell() {
        assert!(FIXED.iter().all(|setting| !setting.contains('\'')), "other_side puts them between quotes");
        assert!(other_side("receive-pack").contains("-c 'core.hooksPath=/dev/null' "));
    }
}
