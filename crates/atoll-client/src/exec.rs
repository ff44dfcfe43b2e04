//! Running one command: as one response, or as a stream of events.

use atoll_protocol::{ExecRequest, ExecResult, Gap, OnDisconnect, ProcessId, ProcessInfo};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::follow::{EXACT, Output, read, refused};
use crate::subscription::{AfterBreak, StreamRequest, Subscription};

/// An event of a running command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecEvent {
    /// The program has started. The first event.
    Start(Box<ProcessInfo>),
    /// Output of the command.
    Output(Output),
    /// Output at this position is no longer available.
    Gap(Gap),
    /// The command has ended. The last event.
    End(Box<ExecResult>),
}

/// The events of a command. It reconnects by itself, unless the command is killed when the client disconnects.
#[derive(Debug)]
pub struct ExecStream {
    id: ProcessId,
    subscription: Subscription,
    over: bool,
}

impl Client {
    /// Runs a command and waits until it ends. An exit code other than 0 is a result, not an error.
    pub async fn exec(&self, request: &ExecRequest) -> Result<ExecResult, Error> {
        self.post("/exec", request).await
    }

    /// Generates a unique process id. With an id chosen in advance, the caller can kill the command before the
    /// response arrives.
    pub fn new_process_id() -> Result<ProcessId, Error> {
        made_up()
    }

    /// Runs a command and streams its events. The command gets an id, so that it runs only once even if the client
    /// reconnects. Output is exact, regardless of the requested encoding.
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
        let stream_request = StreamRequest { method: Method::POST, path, query: Vec::new(), body: Some(body.into()) };
        Ok(ExecStream { id, subscription: Subscription::new(self, stream_request, None, after_break), over: false })
    }
}

impl ExecStream {
    /// Returns the command's id, which is known before it starts.
    pub fn id(&self) -> &ProcessId {
        &self.id
    }

    /// Returns the next event, or `None` after the last one. Cancel safe: dropping the future loses no events.
    pub async fn next(&mut self) -> Result<Option<ExecEvent>, Error> {
        while !self.over {
            let event = self.subscription.next().await?;
            let reached = self.subscription.cursor();
            match event.name.as_str() {
                // Each connection sends it again.
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
                // A later server may send other events.
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
