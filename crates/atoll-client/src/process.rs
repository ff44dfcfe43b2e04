//! Processes: starting, listing, killing, waiting, input and output.

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

/// Which part of the output to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputRange {
    /// Position to start from.
    pub since: u64,
    /// Maximum number of bytes.
    pub limit: Option<usize>,
    /// How long to wait if there is no output yet.
    pub wait: Option<Duration>,
    /// Encoding of the output in the response.
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
    /// Starts a process. Returns when its program runs.
    pub async fn start(&self, request: &StartRequest) -> Result<ProcessInfo, Error> {
        self.post("/processes", request).await
    }

    /// Lists processes in this state that have all of these labels, oldest first.
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

    /// Returns the process with this id.
    pub async fn process(&self, id: &ProcessId) -> Result<ProcessInfo, Error> {
        self.get(&format!("/processes/{id}"), &[]).await
    }

    /// Removes an ended process and its output.
    pub async fn remove_process(&self, id: &ProcessId) -> Result<(), Error> {
        self.delete(&format!("/processes/{id}"), &[]).await.map(drop)
    }

    /// Kills a process and all processes that it started.
    pub async fn kill(&self, id: &ProcessId, request: &KillRequest) -> Result<KillReceipt, Error> {
        self.post(&format!("/processes/{id}/kill"), request).await
    }

    /// Kills every process that matches the request.
    pub async fn kill_all(&self, request: &KillAllRequest) -> Result<KillReceipt, Error> {
        self.post("/processes/kill", request).await
    }

    /// Sends a signal.
    pub async fn signal(&self, id: &ProcessId, request: &SignalRequest) -> Result<SignalReceipt, Error> {
        self.post(&format!("/processes/{id}/signal"), request).await
    }

    /// Waits for a condition.
    pub async fn wait(&self, id: &ProcessId, request: &WaitRequest) -> Result<WaitAnswer, Error> {
        self.post(&format!("/processes/{id}/wait"), request).await
    }

    /// Returns a page of a process's output.
    pub async fn output(&self, id: &ProcessId, range: &OutputRange) -> Result<OutputPage, Error> {
        self.get(&format!("/processes/{id}/output"), &range.query()).await
    }

    /// Writes to a process's standard input. `offset` is the position of the first byte in the whole input: bytes
    /// already written are skipped, a gap is an error. Returns the offset for the next write.
    pub async fn write_stdin(&self, id: &ProcessId, offset: u64, bytes: Bytes) -> Result<u64, Error> {
        self.put_stdin(id, offset, full(bytes)).await
    }

    /// Writes a stream to a process's standard input, as fast as the process reads.
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
        let builder = self.request(Method::PUT, &path, &[("offset", offset.to_string())])?;
        let receipt: StdinReceipt = builder.send(body).await?.json().await?;
        Ok(receipt.next_offset)
    }

    /// Closes a process's standard input.
    pub async fn close_stdin(&self, id: &ProcessId) -> Result<(), Error> {
        self.delete(&format!("/processes/{id}/stdin"), &[]).await.map(drop)
    }
}
