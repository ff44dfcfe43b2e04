//! One command: answered whole, or told as it happens.

use atoll_protocol::{ExecRequest, ExecResult, Gap, OnDisconnect, ProcessId, ProcessInfo};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::follow::{EXACT, Output, read, refused};
use crate::subscription::{AfterBreak, Question, Subscription};

/// What a command does, as it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecEvent {
    /// Its program runs. The first event.
    Start(Box<ProcessInfo>),
    /// It printed.
    Output(Output),
    /// What it printed here is gone.
    Gap(Gap),
    /// It is over. The last event.
    End(Box<ExecResult>),
}

/// A command that is told as it happens. A dropped connection is not noticed, unless the command is to end with it.
#[derive(Debug)]
pub struct ExecStream {
    id: ProcessId,
    subscription: Subscription,
    over: bool,
}

impl Client {
    /// Runs a command to its end. A code other than 0 is a result, not an error.
    pub async fn exec(&self, request: &ExecRequest) -> Result<ExecResult, Error> {
        self.post("/exec", request).await
    }

    /// An id that no other command has: who knows it beforehand can end the command before it is answered.
    pub fn new_process_id() -> Result<ProcessId, Error> {
        made_up()
    }

    /// Runs a command and tells what it does. It gets an id, so that it is run once however often the line breaks;
    /// output comes exactly, whatever encoding is asked for.
    pub fn exec_stream(&self, request: ExecRequest) -> Result<ExecStream, Error> {
        self.exec_stream_at("/exec".to_owned(), request)
    }

    pub(crate) fn exec_stream_at(&self, path: String, mut request: ExecRequest) -> Result<ExecStream, Error> {
        let id = request.id.take().map_or_else(made_up, Ok)?;
        request.id = Some(id.clone());
        request.encoding = EXACT;
        let after_break = match request.on_disconnect {
            OnDisconnect::Keep => AfterBreak::Resume,
            OnDisconnect::Kill => AfterBreak::Fail,
        };
        let body = serde_json::to_vec(&request).map_err(Error::invalid)?;
        let question = Question { method: Method::POST, path, query: Vec::new(), body: Some(body.into()) };
        Ok(ExecStream { id, subscription: Subscription::new(self, question, None, after_break), over: false })
    }
}

impl ExecStream {
    /// The command's id, which is known before it begins.
    pub fn id(&self) -> &ProcessId {
        &self.id
    }

    /// The next event; `None` after the last. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<ExecEvent>, Error> {
        while !self.over {
            let event = self.subscription.next().await?;
            let reached = self.subscription.cursor();
            match event.name.as_str() {
                // Told again by each connection.
                "start" if reached.is_some() => {}
                "start" => {
                    self.subscription.reached(0);
                    return read(&event).map(|info| Some(ExecEvent::Start(Box::new(info))));
                }
                "output" => {
                    if let Some(output) = Output::from_event(&read(&event)?, reached.unwrap_or(0))? {
                        self.subscription.reached(output.end());
                        return Ok(Some(ExecEvent::Output(output)));
                    }
                }
                "gap" => {
                    let gap: Gap = read(&event)?;
                    self.subscription.reached(gap.to);
                    return Ok(Some(ExecEvent::Gap(gap)));
                }
                "end" => {
                    self.over = true;
                    return read(&event).map(|result| Some(ExecEvent::End(Box::new(result))));
                }
                "error" => return Err(refused(&event)),
                // A later server may tell more.
                _ => {}
            }
        }
        Ok(None)
    }
}

fn made_up() -> Result<ProcessId, Error> {
    let mut random = [0; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty()).map_err(Error::invalid)?;
    ProcessId::new(format!("exec-{:032x}", u128::from_ne_bytes(random))).map_err(Error::invalid)
}
