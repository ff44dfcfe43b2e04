//! What a session should be.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use atoll_protocol::SessionId;

use crate::Error;
use crate::command::{Command, Invocation};
use crate::network;

/// A session to be made.
#[derive(Debug, Clone, Default)]
pub struct SessionSpec {
    /// Its id; made up if not given.
    pub id: Option<SessionId>,
    /// Where its shell starts; relative ones are below the default.
    pub cwd: Option<PathBuf>,
    /// Changes to the sandbox's variables; `None` unsets.
    pub env: BTreeMap<OsString, Option<OsString>>,
    /// User inside, for the whole session.
    pub user: Option<String>,
    /// Ends each of its commands after so long, unless the command says otherwise.
    pub timeout: Option<Duration>,
    /// `set -o` options that are on from the beginning, such as `pipefail`.
    pub options: Vec<String>,
}

/// What a dead session is started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StartFrom {
    /// Its last snapshot.
    #[default]
    Snapshot,
    /// Nothing: as it was first made.
    Nothing,
}

impl SessionSpec {
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_names(self.env.keys())?;
        check_not_of_bash(self.env.keys())?;
        let word = |option: &String| {
            !option.is_empty() && option.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        };
        match self.options.iter().find(|option| !word(option)) {
            Some(option) => Err(Error::invalid(format!("`{}` is no option of the shell", option.escape_debug()))),
            None => self.command().check(),
        }
    }

    /// What the shell is started by.
    pub(crate) fn command(&self) -> Command {
        let command = Command::new(Invocation::Session { listener: String::new(), limits: Vec::new() });
        Command { cwd: self.cwd.clone(), env: self.env.clone(), user: self.user.clone(), ..command }
    }
}

/// Variables of a shell have narrower names than those of a program.
pub(super) fn check_names<'a>(names: impl IntoIterator<Item = &'a OsString>) -> Result<(), Error> {
    match names.into_iter().find(|name| !is_name(name)) {
        Some(name) => {
            let shown = name.to_string_lossy();
            Err(Error::invalid(format!("`{}` is no name for a variable of a shell", shown.escape_debug())))
        }
        None => Ok(()),
    }
}

pub(super) fn is_name(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    bytes.first().is_some_and(letter) && bytes.iter().all(|byte| letter(byte) || byte.is_ascii_digit())
}

/// Bash keeps these for itself.
const BASH_OWN: [&str; 6] = ["BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"];

fn check_not_of_bash<'a>(mut names: impl Iterator<Item = &'a OsString>) -> Result<(), Error> {
    match names.find(|name| BASH_OWN.iter().any(|own| *own == name.as_os_str())) {
        Some(name) => Err(Error::invalid(format!("{} belongs to bash and cannot be set", name.display()))),
        None => Ok(()),
    }
}

/// What a session holds (functions, variables, `LD_PRELOAD`) is its user's, and is run as no other user.
pub(super) fn check_user(command: &Command, session_user: Option<&str>) -> Result<(), Error> {
    if command.user.as_deref().is_some_and(|user| Some(user) != session_user) {
        return Err(Error::invalid("a command of a session runs as the session's user"));
    }
    Ok(())
}

/// Refuses what a command of a session cannot have.
pub(super) fn check_command(command: &Command, session_user: Option<&str>) -> Result<(), Error> {
    command.check()?;
    check_names(command.env.keys())?;
    check_not_of_bash(command.env.keys())?;
    check_user(command, session_user)?;
    command.network.as_deref().map(network::rules).transpose()?;
    if command.memory_bytes.is_some() {
        return Err(Error::invalid("a command of a session has no memory limit of its own"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use atoll_protocol::EgressRule;

    use super::*;

    #[test]
    fn names_are_those_of_a_shell() {
        for name in ["A", "_", "a_1", "PATH"] {
            assert!(is_name(OsStr::new(name)), "{name}");
        }
        for name in ["", "1A", "A-B", "A B", "A;rm -rf /", "É", "A="] {
            assert!(!is_name(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn what_a_session_cannot_do_is_refused() {
        let with = |change: fn(&mut Command)| {
            let mut command = Command::shell("true");
            change(&mut command);
            check_command(&command, Some("me"))
        };
        assert!(with(|_| {}).is_ok());
        assert!(with(|command| command.user = Some("me".into())).is_ok());
        assert!(with(|command| command.user = Some("you".into())).is_err());
        assert!(with(|command| command.memory_bytes = Some(1 << 30)).is_err());
        assert!(with(|command| command.network = Some(Vec::new())).is_ok());
        assert!(with(|command| command.network = Some(vec![EgressRule::default()])).is_err());
        assert!(with(|command| drop(command.env.insert("A-B".into(), None))).is_err());
        assert!(with(|command| drop(command.env.insert("UID".into(), Some("0".into())))).is_err());
    }

    #[test]
    fn options_are_words() {
        let with = |option: &str| SessionSpec { options: vec![option.to_owned()], ..SessionSpec::default() }.check();
        assert!(with("pipefail").is_ok());
        assert!(with("pipefail; reboot").is_err());
        assert!(with("").is_err());
    }

    #[test]
    fn what_is_bash_s_own_is_no_variable_of_a_session() {
        let env = BTreeMap::from([("UID".into(), Some("0".into()))]);
        assert!(SessionSpec { env, ..SessionSpec::default() }.check().is_err());
    }
}
