//! Processes: starting, finding, ending, feeding them, and waiting for them.

use std::collections::BTreeMap;
use std::time::Duration;

use atoll_protocol::{
    Encoding, KillAllRequest, KillReceipt, KillRequest, OutputPage, ProcessId, ProcessInfo, ProcessList, ProcessState,
    SignalReceipt, SignalRequest, StartRequest, StdinReceipt, WaitAnswer, WaitRequest,
};
use bytes::Bytes;
use futures_util::Stream;
use http::Method;

use crate::client::{Body, Client, full, streamed};
use crate::error::Error;

/// Which part of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputRange {
    /// From this cursor on.
    pub since: u64,
    /// At most so many bytes.
    pub limit: Option<usize>,
    /// If there is nothing yet, wait for it so long.
    pub wait: Option<Duration>,
    /// How bytes are put into the answer.
    pub encoding: Encoding,
}

impl OutputRange {
    pub(crate) fn query(&self) -> Vec<(&'static str, String)> {
        let encoding = match self.encoding {
            Encoding::Utf8 => "utf8",
            Encoding::Base64 => "base64",
        };
        let mut query = vec![("since", self.since.to_string()), ("encoding", encoding.to_owned())];
        query.extend(self.limit.map(|limit| ("limit", limit.to_string())));
        query.extend(self.wait.map(|wait| ("wait_ms", wait.as_millis().to_string())));
        query
    }
}

impl Client {
    /// Starts a process; answers when its program runs.
    pub async fn start(&self, request: &StartRequest) -> Result<ProcessInfo, Error> {
        self.post("/processes", request).await
    }

    /// Processes in this state, with all of these labels; oldest first.
    pub async fn processes(
        &self,
        state: Option<ProcessState>,
        labels: &BTreeMap<String, String>,
    ) -> Result<Vec<ProcessInfo>, Error> {
        let state = state.map(|state| match state {
            ProcessState::Starting => "starting",
            ProcessState::Running => "running",
            ProcessState::Lingering => "lingering",
            ProcessState::Ended => "ended",
        });
        let mut query: Vec<_> = state.map(|state| ("state", state.to_owned())).into_iter().collect();
        query.extend(labels.iter().map(|(name, value)| ("label", format!("{name}={value}"))));
        let list: ProcessList = self.get("/processes", &query).await?;
        Ok(list.processes)
    }

    /// The process with this id.
    pub async fn process(&self, id: &ProcessId) -> Result<ProcessInfo, Error> {
        self.get(&format!("/processes/{id}"), &[]).await
    }

    /// Forgets an ended process and its output.
    pub async fn remove_process(&self, id: &ProcessId) -> Result<(), Error> {
        self.delete(&format!("/processes/{id}"), &[]).await.map(drop)
    }

    /// Ends a process and everything it started.
    pub async fn kill(&self, id: &ProcessId, request: &KillRequest) -> Result<KillReceipt, Error> {
        self.post(&format!("/processes/{id}/kill"), request).await
    }

    /// Ends every process that is meant.
    pub async fn kill_all(&self, request: &KillAllRequest) -> Result<KillReceipt, Error> {
        self.post("/processes/kill", request).await
    }

    /// Sends a signal.
    pub async fn signal(&self, id: &ProcessId, request: &SignalRequest) -> Result<SignalReceipt, Error> {
        self.post(&format!("/processes/{id}/signal"), request).await
    }

    /// Waits for something.
    pub async fn wait(&self, id: &ProcessId, request: &WaitRequest) -> Result<WaitAnswer, Error> {
        self.post(&format!("/processes/{id}/wait"), request).await
    }

    /// A part of a process's output.
    pub async fn output(&self, id: &ProcessId, range: &OutputRange) -> Result<OutputPage, Error> {
        self.get(&format!("/processes/{id}/output"), &range.query()).await
    }

    /// Writes to a process's standard input. `offset` is the position of the first byte in all that was ever written: a
    /// repeated write is skipped, a gap refused. Returns the position to go on from.
    pub async fn write_stdin(&self, id: &ProcessId, offset: u64, bytes: Bytes) -> Result<u64, Error> {
        self.put_stdin(id, offset, full(bytes)).await
    }

    /// The same with bytes that are sent as they come, and as fast as the process reads.
    pub async fn stream_stdin(
        &self,
        id: &ProcessId,
        offset: u64,
        pieces: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static,
    ) -> Result<u64, Error> {
        self.put_stdin(id, offset, streamed(pieces)).await
    }

    async fn put_stdin(&self, id: &ProcessId, offset: u64, body: Body) -> Result<u64, Error> {
        let path = format!("/processes/{id}/stdin");
        let ask = self.request(Method::PUT, &path, &[("offset", offset.to_string())])?;
        let receipt: StdinReceipt = ask.send(body).await?.json().await?;
        Ok(receipt.next_offset)
    }

    /// Closes a process's standard input.
    pub async fn close_stdin(&self, id: &ProcessId) -> Result<(), Error> {
        self.delete(&format!("/processes/{id}/stdin"), &[]).await.map(drop)
    }
}
