//! What can go wrong while measuring, in words fit for a report line.
//!
//! A failing contender never stops the run: its error becomes the reason in
//! `not measured: …`. So every message must make sense read alone.

use std::error::Error;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// Why something was not measured, or why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A program is not on `PATH`.
    #[error("{program} is not installed ({remedy})")]
    NotInstalled {
        /// The program looked for.
        program: String,
        /// How to get it, such as `apt-get install crun`.
        remedy: String,
    },
    /// A program could not be started.
    #[error("failed to start `{command}`")]
    Spawn {
        /// The command line.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// A command ended otherwise than with status 0.
    #[error("`{command}` ended with {status}{}", after_colon(.said))]
    Exited {
        /// The command line.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// The last line it wrote to standard error.
        said: String,
    },
    /// A command was still running when its time was up, and was killed.
    #[error("`{command}` did not end within {after:?}")]
    TimedOut {
        /// The command line.
        command: String,
        /// The time it had.
        after: Duration,
    },
    /// A file or pipe operation failed.
    #[error("failed to {doing}")]
    Io {
        /// What was being done, naming the path.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// Something answered, but not as a measurement needs it.
    #[error("{0}")]
    Unfit(String),
    /// A contender's own error, from outside this crate.
    #[error(transparent)]
    Contender(Box<dyn Error + Send + Sync>),
}

impl BenchError {
    /// Wraps the error of a subject, so closures can use `map_err(BenchError::contender)`.
    pub fn contender(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Contender(source.into())
    }

    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    /// Returns the message with all its causes, on one line.
    pub fn in_one_line(&self) -> String {
        let mut line = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            line.push_str(": ");
            line.push_str(&error.to_string());
            cause = error.source();
        }
        line.replace('\n', " ")
    }
}

fn after_colon(said: &str) -> String {
    match said {
        "" => String::new(),
        said => format!(": {said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_names_its_remedy() {
        let error = BenchError::NotInstalled { program: "bwrap".into(), remedy: "apt-get install bubblewrap".into() };
        assert_eq!(error.in_one_line(), "bwrap is not installed (apt-get install bubblewrap)");
    }

    #[test]
    fn causes_follow_on_the_same_line() {
        let error = BenchError::io("read /x")(io::Error::other("no\nluck"));
        assert_eq!(error.in_one_line(), "failed to read /x: no luck");
    }

    #[test]
    fn a_contenders_error_is_said_once() {
        let error = BenchError::contender("session is gone");
        assert_eq!(error.in_one_line(), "session is gone");
    }
}
