//! Starting programs. The only module here that does.
//!
//! Every spawn goes through `std::process::Command`, which on glibc uses
//! `posix_spawn` as long as no directory, user or hook is set; so none is set.
//! Nothing is retried, and a status other than 0 is always an error: a command
//! that fails fast would otherwise look like a fast command.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::BenchError;

/// How often a command with a deadline is looked at.
const POLL: Duration = Duration::from_millis(5);

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv(Vec<OsString>);

impl Argv {
    /// From the program and its arguments, as in `Argv::new(["bash", "-c", "true"])`.
    pub fn new<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }

    /// Adds one word.
    #[must_use]
    pub fn arg(mut self, word: impl Into<OsString>) -> Self {
        self.0.push(word.into());
        self
    }

    /// Adds all words of another command, program first.
    #[must_use]
    pub fn then(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// The words, program first.
    pub(crate) fn words(&self) -> &[OsString] {
        &self.0
    }

    /// With the program as an absolute path, so that no turn pays for `PATH`.
    pub(crate) fn resolved(mut self) -> Result<Self, BenchError> {
        let Some(program) = self.0.first_mut() else {
            return Err(BenchError::Unfit("an empty command was given".into()));
        };
        match find_program(&*program) {
            Some(path) => *program = path.into_os_string(),
            None => return Err(not_installed(program)),
        }
        Ok(self)
    }

    #[expect(clippy::disallowed_methods, reason = "floors and rivals are what init's spawn is measured against")]
    fn command(&self) -> Command {
        let mut words = self.0.iter();
        // An empty command fails to start, which is the error to report.
        let mut command = Command::new(words.next().map_or(OsStr::new(""), OsString::as_os_str));
        command.args(words);
        command
    }

    fn shown(&self) -> String {
        let words: Vec<_> = self.0.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }
}

fn not_installed(program: &OsStr) -> BenchError {
    BenchError::NotInstalled { program: program.to_string_lossy().into_owned(), remedy: "not found on PATH".into() }
}

/// The executable that `name` stands for on `PATH`.
pub(crate) fn find_program(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let name = Path::new(name.as_ref());
    if name.components().count() > 1 {
        return is_executable(name).then(|| name.to_owned());
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Runs to the end with fresh pipes for output and error, both read to the end.
pub(crate) fn output(argv: &Argv) -> Result<(Output, Duration), BenchError> {
    let mut command = argv.command();
    command.stdin(Stdio::null());
    let start = Instant::now();
    let output = command.output();
    let took = start.elapsed();
    let output = output.map_err(spawn_error(argv))?;
    check(argv, output.status, &output.stderr)?;
    Ok((output, took))
}

/// Runs to the end with nothing to read or write.
pub(crate) fn status(argv: &Argv) -> Result<Duration, BenchError> {
    let mut command = argv.command();
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status();
    let took = start.elapsed();
    check(argv, status.map_err(spawn_error(argv))?, &[])?;
    Ok(took)
}

/// Starts with output in a pipe, for the caller to read and wait for.
pub(crate) fn piped(argv: &Argv) -> Result<Child, BenchError> {
    let mut command = argv.command();
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::null());
    command.spawn().map_err(spawn_error(argv))
}

/// Runs a command that leaves something behind, such as a container.
///
/// What it leaves inherits its output, so a pipe would never end: errors go to
/// the file `log`, and a command that hangs is killed after `limit`.
pub(crate) fn launch(argv: &Argv, log: &Path, limit: Duration) -> Result<(), BenchError> {
    let doing = format!("create {}", log.display());
    let errors = File::create(log).map_err(BenchError::io(doing))?;
    let mut command = argv.command();
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let child = command.stderr(errors).spawn();
    let mut child = child.map_err(spawn_error(argv))?;
    let status = wait_for(&mut child, argv, limit)?;
    check(argv, status, &fs::read(log).unwrap_or_default())
}

fn wait_for(child: &mut Child, argv: &Argv, limit: Duration) -> Result<ExitStatus, BenchError> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(wait_error(argv))? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            child.kill().map_err(wait_error(argv))?;
            child.wait().map_err(wait_error(argv))?;
            return Err(BenchError::TimedOut { command: argv.shown(), after: limit });
        }
        thread::sleep(POLL);
    }
}

/// Turns a status other than 0 into an error with the last line of `errors`.
pub(crate) fn check(argv: &Argv, status: ExitStatus, errors: &[u8]) -> Result<(), BenchError> {
    if status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(errors);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty());
    Err(BenchError::Exited { command: argv.shown(), status, said: last.unwrap_or_default().trim().to_owned() })
}

fn spawn_error(argv: &Argv) -> impl FnOnce(std::io::Error) -> BenchError {
    let command = argv.shown();
    |source| BenchError::Spawn { command, source }
}

pub(crate) fn wait_error(argv: &Argv) -> impl FnOnce(std::io::Error) -> BenchError {
    BenchError::io(format!("wait for `{}`", argv.shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_an_error_with_its_last_words() {
        let argv = Argv::new(["sh", "-c", "echo one >&2; echo two >&2; exit 3"]);
        let error = output(&argv).unwrap_err().to_string();
        assert!(error.ends_with("exit status: 3: two"), "{error}");
    }

    #[test]
    fn programs_are_found_on_path_and_by_path() {
        let sh = find_program("sh").unwrap();
        assert_eq!(find_program(&sh), Some(sh));
        assert_eq!(find_program("no-such-program-here"), None);
    }

    #[test]
    fn a_missing_program_is_not_installed() {
        let error = Argv::new(["no-such-program-here"]).resolved().unwrap_err();
        assert!(matches!(error, BenchError::NotInstalled { .. }));
    }

    #[test]
    fn a_hanging_launch_is_killed() {
        let log = env::temp_dir().join(format!("atoll-bench-hang-{}", std::process::id()));
        let limit = Duration::from_millis(20);
        let error = launch(&Argv::new(["sleep", "60"]), &log, limit).unwrap_err();
        fs::remove_file(&log).unwrap();
        assert!(matches!(error, BenchError::TimedOut { .. }), "{error}");
    }
}
