//! Waiting for something a process does. A wait has its own time limit, which never touches the process, and ends
//! early, with its own error, if the process ends.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use atoll_protocol::{EndRecord, ProcessState};
use tokio::time::{sleep, timeout};

use crate::log::{Event, Match, Matcher, Pattern};
use crate::port::{self, Ports};
use crate::process::Process;
use crate::shared::Shared;
use crate::{Error, LogReader};

/// What to look for in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogPattern {
    /// This text, anywhere.
    Text(String),
    /// A line that this regular expression matches.
    Regex(String),
}

impl LogPattern {
    /// Refuses what cannot be looked for.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.compile().map(drop)
    }

    fn compile(&self) -> Result<Pattern, Error> {
        match self {
            Self::Text(text) if text.is_empty() => Err(Error::invalid("the text to wait for is empty")),
            Self::Text(text) => Ok(Pattern::Text(text.as_bytes().to_vec())),
            Self::Regex(text) => regex::bytes::Regex::new(text)
                .map(Pattern::Regex)
                .map_err(|error| Error::invalid(format!("`{text}` is no regular expression: {error}"))),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("the output contained `{text}`"),
            Self::Regex(text) => format!("a line matched `{text}`"),
        }
    }
}

/// When a port counts as open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortCheck {
    /// Its number.
    pub port: u16,
    /// Set to ask for a page instead of a mere connection.
    pub http: Option<HttpCheck>,
}

impl PortCheck {
    /// Refuses what cannot be asked for.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.port == 0 {
            return Err(Error::invalid("0 is no port to wait for"));
        }
        match &self.http {
            // It becomes the first line of a request.
            Some(http) if !http.path.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(Error::invalid("the path to ask for may have no spaces, control or other than ASCII letters"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// An HTTP request that must be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpCheck {
    /// Path to get.
    pub path: String,
    /// Accepted statuses, both ends included.
    pub statuses: (u16, u16),
}

/// How often a state that gives no sign of itself is looked at: often at first, then less.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
const LOOK_AGAIN_MAX: Duration = Duration::from_millis(200);

impl Process {
    /// Waits for the end of the main process.
    pub async fn wait_exit(&self, limit: Option<Duration>) -> Result<EndRecord, Error> {
        within(limit, || "it ended".to_owned(), self.ended()).await
    }

    /// Waits for output, from position `since` of the log on: what was printed before counts too.
    pub async fn wait_log(&self, pattern: &LogPattern, since: u64, limit: Option<Duration>) -> Result<Match, Error> {
        let matcher = Matcher::new(pattern.compile()?);
        let what = || pattern.describe();
        within(limit, what, self.find(matcher, since, &what)).await
    }

    async fn find(&self, mut matcher: Matcher, since: u64, what: &impl Fn() -> String) -> Result<Match, Error> {
        let mut reader = self.log().reader(since);
        let found = tokio::select! {
            biased;
            found = matcher.search(&mut reader) => found,
            _ = self.ended() => self.find_in_rest(&mut matcher, &mut reader).await,
        };
        found.ok_or_else(|| self.too_late(&what()))
    }

    /// The main process is over: what it printed counts, what its survivors may print later is not waited for.
    async fn find_in_rest(&self, matcher: &mut Matcher, reader: &mut LogReader) -> Option<Match> {
        let end = self.log().end();
        while reader.cursor() < end {
            match reader.next().await? {
                Event::Output(chunk) => {
                    if let Some(found) = matcher.feed(chunk.stream, chunk.cursor, &chunk.bytes) {
                        return Some(found);
                    }
                }
                Event::Gap { .. } => matcher.gap(),
            }
        }
        None
    }

    /// Waits until something listens on a port inside.
    pub async fn wait_port(&self, check: &PortCheck, limit: Option<Duration>) -> Result<(), Error> {
        check.check()?;
        let shared = self.shared()?;
        let what = || format!("port {} answered", check.port);
        within(limit, what, self.open_port(&shared, check, &what)).await
    }

    /// As long as nothing listens there, nobody is asked; what listens without answering is asked now and then.
    async fn open_port(
        &self,
        shared: &Arc<Shared>,
        check: &PortCheck,
        what: &impl Fn() -> String,
    ) -> Result<(), Error> {
        let mut seen = Ports::watch(shared).await?;
        let (mut status, mut pause) = (self.status(), LOOK_AGAIN);
        loop {
            self.must_live(what)?;
            let now = Arc::clone(&seen.borrow_and_update());
            let is_open = now.contains_key(&check.port);
            if is_open && port::answers(&shared.link, &now, check).await? {
                return Ok(());
            }
            tokio::select! {
                _ = seen.changed() => pause = LOOK_AGAIN,
                // A change of state is looked at right away.
                _ = status.changed() => {}
                () = sleep(pause), if is_open => pause = (pause * 2).min(LOOK_AGAIN_MAX),
            }
        }
    }

    fn must_live(&self, what: &impl Fn() -> String) -> Result<(), Error> {
        let is_over = matches!(self.state(), ProcessState::Ended | ProcessState::Lingering) && self.end().is_some();
        if is_over { Err(self.too_late(&what())) } else { Ok(()) }
    }

    /// Waits until the process is blocked on reading its standard input.
    pub async fn wait_input(&self, limit: Option<Duration>) -> Result<(), Error> {
        let what = || "it waited for input".to_owned();
        within(limit, what, self.repeat(&what, || self.wants_input())).await
    }

    /// Looks again and again, until it is so or the process is over.
    async fn repeat<F>(&self, what: &impl Fn() -> String, look: impl Fn() -> F) -> Result<(), Error>
    where
        F: Future<Output = Result<bool, Error>>,
    {
        let mut pause = LOOK_AGAIN;
        let mut status = self.status();
        loop {
            self.must_live(what)?;
            match look().await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(Error::ProcessEnded { .. }) => return Err(self.too_late(&what())),
                Err(error) => return Err(error),
            }
            // A change of state is looked at right away.
            drop(timeout(pause, status.changed()).await);
            pause = (pause * 2).min(LOOK_AGAIN_MAX);
        }
    }

    fn too_late(&self, what: &str) -> Error {
        Error::EndedWhileWaiting { id: self.id().to_string(), what: what.to_owned() }
    }
}

async fn within<T>(
    limit: Option<Duration>,
    what: impl Fn() -> String,
    wait: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match limit {
        None => wait.await,
        Some(limit) => timeout(limit, wait)
            .await
            .unwrap_or_else(|_| Err(Error::WaitTimeout { what: what(), millis: limit.as_millis() })),
    }
}
