//! What a process should be.

use std::collections::BTreeMap;
use std::time::Duration;

use atoll_protocol::{ProcessId, SessionId};

use crate::Error;
use crate::command::Command;
use crate::wait::{LogPattern, PortCheck};

/// A process to be started.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// Chosen by the client, so that a repeated start finds the first one; else made up.
    pub id: Option<ProcessId>,
    /// What to run.
    pub command: Command,
    /// For finding it again.
    pub labels: BTreeMap<String, String>,
    /// What happens when it fails.
    pub restart: Restart,
    /// When it counts as ready.
    pub readiness: Option<Readiness>,
    /// The session that it belongs to: it ends when that is deleted. Set by the session itself for what it runs.
    pub session: Option<SessionId>,
}

impl ProcessSpec {
    /// With every option at its default.
    pub fn new(command: Command) -> Self {
        Self { id: None, command, labels: BTreeMap::new(), restart: Restart::Never, readiness: None, session: None }
    }

    /// Refuses what cannot be right, before anything is done.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.command.check()?;
        match &self.readiness {
            None => Ok(()),
            Some(Readiness::Log(pattern)) => pattern.check(),
            Some(Readiness::Port(port)) => port.check(),
        }
    }

    /// Whether two specs ask for the same thing (an idempotent start).
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        self.command == other.command
            && self.labels == other.labels
            && self.restart == other.restart
            && self.session == other.session
    }
}

/// What happens when a process ends by itself with a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Restart {
    /// Nothing.
    #[default]
    Never,
    /// It is started again.
    OnFailure {
        /// At most so often.
        max: u32,
        /// Pause before the first restart; doubles with each.
        backoff: Duration,
        /// Longest pause.
        backoff_max: Duration,
    },
}

impl Restart {
    /// The usual numbers: ten times, from 100 ms to 10 s.
    pub const ON_FAILURE: Self =
        Self::OnFailure { max: 10, backoff: Duration::from_millis(100), backoff_max: Duration::from_secs(10) };

    /// The pause before restart number `done + 1`; `None` if there is to be none.
    pub(crate) fn pause(&self, done: u32) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::OnFailure { max, .. } if done >= *max => None,
            Self::OnFailure { backoff, backoff_max, .. } => {
                Some(backoff.saturating_mul(2_u32.saturating_pow(done)).min(*backoff_max))
            }
        }
    }
}

/// When a process counts as ready.
#[derive(Debug, Clone)]
pub enum Readiness {
    /// When it has printed this.
    Log(LogPattern),
    /// When this port answers.
    Port(PortCheck),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_can_never_be_met_is_refused() {
        let http = |path: &str| Some(crate::wait::HttpCheck { path: path.to_owned(), statuses: (200, 299) });
        let wrong = [
            Readiness::Log(LogPattern::Regex("(".to_owned())),
            Readiness::Log(LogPattern::Text(String::new())),
            Readiness::Port(PortCheck { port: 0, http: None }),
            Readiness::Port(PortCheck { port: 80, http: http("/ HTTP/1.1\r\nX: y") }),
        ];
        for readiness in wrong {
            let mut spec = ProcessSpec::new(Command::shell("true"));
            spec.readiness = Some(readiness);
            assert!(matches!(spec.check(), Err(Error::Invalid { .. })), "{:?}", spec.readiness);
        }
    }

    #[test]
    fn pauses_double_up_to_the_cap_and_stop() {
        let restart =
            Restart::OnFailure { max: 4, backoff: Duration::from_millis(100), backoff_max: Duration::from_millis(300) };
        let pauses: Vec<_> = (0..5).map(|done| restart.pause(done).map(|pause| pause.as_millis())).collect();
        assert_eq!(pauses, [Some(100), Some(200), Some(300), Some(300), None]);
        assert_eq!(Restart::Never.pause(0), None);
        assert_eq!(Restart::ON_FAILURE.pause(9).unwrap(), Duration::from_secs(10));
    }
}
