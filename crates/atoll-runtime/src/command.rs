//! A command as asked for, and the checks that come before anything is done.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use atoll_protocol::EgressRule;
use bytes::Bytes;

use crate::Error;
use crate::session::Snapshot;

/// What the kernel accepts at most for one argument or variable (MAX_ARG_STRLEN).
const LONGEST_STRING: usize = 128 * 1024;

/// What it accepts for all of them: a quarter of the 8 MiB stack limit (execve(2)), with 8 bytes of pointer each.
const LONGEST_TOGETHER: usize = 2 * 1024 * 1024;

/// How long a tree that was told to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// A string for bash, or for sh where there is no bash.
    Shell(OsString),
    /// The shell itself, interactive: bash, or sh where there is no bash. Made for a terminal.
    Interactive,
    /// A program and its arguments; no shell.
    Argv(Vec<OsString>),
    /// The bash of a session, which speaks to the listener of this name and is born with these resource limits.
    Session {
        /// The listener.
        listener: String,
        /// Number (getrlimit(2)), soft, hard.
        limits: Vec<(u32, u64, u64)>,
    },
    /// A string for a bash that first becomes what a session was.
    Restored {
        /// What the session held.
        snapshot: Arc<Snapshot>,
        /// The string.
        text: OsString,
    },
}

/// Where standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stdin {
    /// Nowhere: a read ends at once.
    #[default]
    Closed,
    /// These bytes, then the end.
    Bytes(Bytes),
    /// A pipe that is written to later.
    Pipe,
}

/// What happens to what a command leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// It goes on; the command is then lingering.
    #[default]
    Keep,
    /// It is ended with the command.
    Kill,
}

/// A command and all its options. Two that are equal are the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What to run.
    pub invocation: Invocation,
    /// Working directory; relative ones are below the default.
    pub cwd: Option<PathBuf>,
    /// Changes to the default environment; `None` unsets.
    pub env: BTreeMap<OsString, Option<OsString>>,
    /// User inside: a name, an id, or either with `:group`.
    pub user: Option<String>,
    /// Standard input.
    pub stdin: Stdin,
    /// Ends the tree after so long.
    pub timeout: Option<Duration>,
    /// Ends the tree after so long without output.
    pub idle_timeout: Option<Duration>,
    /// Ends the tree when it has printed more than so much.
    pub max_output_bytes: Option<u64>,
    /// Memory that this command may use, within the sandbox's own limit.
    pub memory_bytes: Option<u64>,
    /// What it may reach, within what the sandbox may; all of that if not given.
    pub network: Option<Vec<EgressRule>>,
    /// What happens to descendants that outlive it.
    pub background: Background,
    /// How long a tree that was told to end (TERM) may take before it is killed.
    pub grace: Duration,
}

impl Command {
    /// A shell string.
    pub fn shell(text: impl Into<OsString>) -> Self {
        Self::new(Invocation::Shell(text.into()))
    }

    /// A program and its arguments.
    pub fn argv<S: Into<OsString>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self::new(Invocation::Argv(argv.into_iter().map(Into::into).collect()))
    }

    /// With every option at its default.
    pub fn new(invocation: Invocation) -> Self {
        Self {
            invocation,
            cwd: None,
            env: BTreeMap::new(),
            user: None,
            stdin: Stdin::Closed,
            timeout: None,
            idle_timeout: None,
            max_output_bytes: None,
            memory_bytes: None,
            network: None,
            background: Background::Keep,
            grace: GRACE,
        }
    }

    /// For people: the shell string, or the arguments in one line.
    pub fn describe(&self) -> String {
        match &self.invocation {
            Invocation::Shell(text) | Invocation::Restored { text, .. } => text.to_string_lossy().into_owned(),
            Invocation::Session { .. } => "the session's shell".to_owned(),
            Invocation::Interactive => "the interactive shell".to_owned(),
            Invocation::Argv(argv) => argv.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "),
        }
    }

    /// Refuses what cannot be right, before anything is done.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.check_invocation()?;
        for (name, value) in &self.env {
            check_variable(name, value.as_deref())?;
        }
        if let Some(cwd) = &self.cwd {
            check_text("the working directory", cwd.as_os_str())?;
        }
        for (what, limit) in [("timeout", self.timeout), ("idle_timeout", self.idle_timeout)] {
            if limit.is_some_and(|limit| limit.is_zero()) {
                return Err(Error::invalid(format!("{what} must be more than 0")));
            }
        }
        if let Some(rules) = &self.network {
            crate::network::rules(rules)?;
        }
        if self.memory_bytes == Some(0) {
            return Err(Error::invalid("a memory limit must be more than 0"));
        }
        Ok(())
    }

    fn check_invocation(&self) -> Result<(), Error> {
        match &self.invocation {
            Invocation::Shell(text) | Invocation::Restored { text, .. } => check_text("the command", text),
            Invocation::Interactive | Invocation::Session { .. } => Ok(()),
            Invocation::Argv(argv) => {
                if argv.first().is_none_or(|program| program.is_empty()) {
                    return Err(Error::invalid("argv must name a program"));
                }
                argv.iter().try_for_each(|word| check_text("argv", word))
            }
        }
    }
}

fn check_text(what: &str, text: &OsStr) -> Result<(), Error> {
    if text.as_bytes().contains(&0) {
        return Err(Error::invalid(format!("{what} contains a NUL byte")));
    }
    Ok(())
}

/// Names as POSIX has them, less strictly: whatever has no `=` and no NUL can be set; empty cannot.
pub(crate) fn check_variable(name: &OsStr, value: Option<&OsStr>) -> Result<(), Error> {
    let shown = name.to_string_lossy();
    if name.is_empty() || name.as_bytes().iter().any(|byte| *byte == b'=' || *byte == 0) {
        return Err(Error::invalid(format!("`{}` is no name for a variable", shown.escape_debug())));
    }
    value.map_or(Ok(()), |value| check_text(&format!("the value of {shown}"), value))
}

/// Arguments and environment as the kernel will see them: refused here if it would refuse them.
pub(crate) fn check_length(argv: &[Vec<u8>], env: &[Vec<u8>]) -> Result<(), Error> {
    let strings = argv.iter().chain(env);
    let together: usize = strings.clone().map(|text| text.len() + 1 + size_of::<usize>()).sum();
    if together > LONGEST_TOGETHER || strings.clone().any(|text| text.len() >= LONGEST_STRING) {
        return Err(Error::ArgumentsTooLong { bytes: together as u64 });
    }
    Ok(())
}

/// Paths to try for a program: itself if it has a slash, else each directory of `PATH`.
pub(crate) fn candidates(program: &OsStr, path: Option<&OsStr>) -> Vec<Vec<u8>> {
    if program.as_bytes().contains(&b'/') {
        return vec![program.as_bytes().to_vec()];
    }
    let path = path.map_or(&b"/usr/local/bin:/usr/bin:/bin"[..], OsStrExt::as_bytes);
    path.split(|byte| *byte == b':')
        .map(|directory| {
            // An empty element means the current directory (environ(7)).
            let directory = if directory.is_empty() { b"." } else { directory };
            [directory, b"/", program.as_bytes()].concat()
        })
        .collect()
}

/// `merged` with `changes` over it.
pub(crate) fn environment(
    mut merged: BTreeMap<OsString, OsString>,
    changes: &BTreeMap<OsString, Option<OsString>>,
) -> BTreeMap<OsString, OsString> {
    for (name, value) in changes {
        match value {
            Some(value) => merged.insert(name.clone(), value.clone()),
            None => merged.remove(name),
        };
    }
    merged
}

/// The form that `execve` takes.
pub(crate) fn strings(environment: &BTreeMap<OsString, OsString>) -> Vec<Vec<u8>> {
    environment.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()).collect()
}

/// What a shell string becomes. A string that begins like an option is kept from being read as one.
pub(crate) fn shell_argv(shell: &str, text: &OsStr) -> Vec<OsString> {
    let mut argv = vec![OsString::from(shell), OsString::from("-c")];
    if text.as_bytes().first().is_some_and(|byte| b"-+".contains(byte)) {
        argv.push(OsString::from("--"));
    }
    argv.push(text.to_owned());
    argv
}

/// What the interactive shell is started by. Not as a login shell: its profile would undo the variables that it is given.
pub(crate) fn interactive_argv(shell: &str) -> Vec<OsString> {
    vec![OsString::from(shell), OsString::from("-i")]
}

/// Bytes of each word.
pub(crate) fn raw(words: &[OsString]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.clone().into_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_request_is_refused_with_its_name() {
        let refused = |command: Command| command.check().unwrap_err().to_string();
        assert_eq!(refused(Command::argv(["a\0b"])), "argv contains a NUL byte");
        assert_eq!(refused(Command::shell("a\0b")), "the command contains a NUL byte");
        assert_eq!(refused(Command::argv([""])), "argv must name a program");
        assert_eq!(refused(Command::argv(Vec::<&str>::new())), "argv must name a program");
        for name in ["", "A=B", "A\0"] {
            let mut command = Command::shell("true");
            command.env.insert(name.into(), None);
            assert!(matches!(command.check(), Err(Error::Invalid { .. })), "{name:?}");
        }
        let mut command = Command::shell("true");
        command.timeout = Some(Duration::ZERO);
        assert_eq!(refused(command), "timeout must be more than 0");
    }

    #[test]
    fn length_is_checked_as_the_kernel_would() {
        let long = vec![vec![b'x'; LONGEST_STRING]];
        assert!(check_length(&long, &[]).is_err());
        let many = vec![vec![b'x'; 1000]; 2100];
        assert!(check_length(&many, &[]).is_err());
        assert!(check_length(&many[..1000], &many[..500]).is_ok());
    }

    #[test]
    fn programs_are_looked_up_on_the_path() {
        let found = candidates(OsStr::new("x"), Some(OsStr::new("/a::/b")));
        assert_eq!(found, [b"/a/x".to_vec(), b"./x".to_vec(), b"/b/x".to_vec()]);
        assert_eq!(candidates(OsStr::new("./x"), None), [b"./x".to_vec()]);
    }

    #[test]
    fn null_unsets_and_others_stay() {
        let defaults = BTreeMap::from([("A".into(), "1".into()), ("B".into(), "2".into())]);
        let changes = BTreeMap::from([("A".into(), None), ("C".into(), Some("3".into()))]);
        assert_eq!(strings(&environment(defaults, &changes)), [b"B=2".to_vec(), b"C=3".to_vec()]);
    }
}
