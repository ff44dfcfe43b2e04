//! Sessions: persistent shells.

use atoll_protocol::{
    CancelReceipt, ExecRequest, ExecResult, ForkRequest, InterruptReceipt, KillReceipt, KillRequest, ProcessId,
    ProcessInfo, RestartFrom, RestartRequest, SessionId, SessionInfo, SessionList, SessionRequest, SnapshotInfo,
    StartRequest,
};
use serde_json::json;

use crate::client::Client;
use crate::error::Error;
use crate::exec::ExecStream;

impl Client {
    /// Creates a session. Returns when its shell is ready for commands.
    pub async fn create_session(&self, request: &SessionRequest) -> Result<SessionInfo, Error> {
        self.post("/sessions", request).await
    }

    /// Lists sessions, oldest first.
    pub async fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        let list: SessionList = self.get("/sessions", &[]).await?;
        Ok(list.sessions)
    }

    /// Returns the session with this id.
    pub async fn session(&self, id: &SessionId) -> Result<SessionInfo, Error> {
        self.get(&format!("/sessions/{id}"), &[]).await
    }

    /// Deletes a session, and kills its commands and the processes started from it.
    pub async fn delete_session(&self, id: &SessionId) -> Result<(), Error> {
        self.delete(&format!("/sessions/{id}"), &[]).await.map(drop)
    }

    /// Runs a command in a session after the queued ones, and waits until it ends.
    pub async fn session_exec(&self, id: &SessionId, request: &ExecRequest) -> Result<ExecResult, Error> {
        self.post(&format!("/sessions/{id}/exec"), request).await
    }

    /// Runs a command in a session and streams its events; see [`Client::exec_stream`].
    pub fn session_exec_stream(&self, id: &SessionId, request: ExecRequest) -> Result<ExecStream, Error> {
        self.exec_stream_at(format!("/sessions/{id}/exec"), request)
    }

    /// Queues a command in a session, as a process.
    pub async fn session_queue(&self, id: &SessionId, request: &StartRequest) -> Result<ProcessInfo, Error> {
        self.post(&format!("/sessions/{id}/commands"), request).await
    }

    /// Removes a command from a session's queue. Returns `false` if it has already started.
    pub async fn session_cancel(&self, id: &SessionId, process: &ProcessId) -> Result<bool, Error> {
        let answer = self.delete(&format!("/sessions/{id}/commands/{process}"), &[]).await?;
        answer.json().await.map(|receipt: CancelReceipt| receipt.cancelled)
    }

    /// Interrupts the running command of a session, like Ctrl-C. Returns `false` if no command was running.
    pub async fn session_interrupt(&self, id: &SessionId) -> Result<bool, Error> {
        let receipt: InterruptReceipt = self.post(&format!("/sessions/{id}/interrupt"), &json!({})).await?;
        Ok(receipt.interrupted)
    }

    /// Kills the running command of a session and all its processes.
    pub async fn session_kill(&self, id: &SessionId, request: &KillRequest) -> Result<KillReceipt, Error> {
        self.post(&format!("/sessions/{id}/kill"), request).await
    }

    /// Restarts a dead session.
    pub async fn session_restart(&self, id: &SessionId, from: RestartFrom) -> Result<SessionInfo, Error> {
        self.post(&format!("/sessions/{id}/restart"), &RestartRequest { from }).await
    }

    /// Creates a copy of a session, with the state of its shell.
    pub async fn session_fork(&self, id: &SessionId, request: &ForkRequest) -> Result<SessionInfo, Error> {
        self.post(&format!("/sessions/{id}/fork"), request).await
    }

    /// Returns a snapshot of a session's shell.
    pub async fn session_snapshot(&self, id: &SessionId) -> Result<SnapshotInfo, Error> {
        self.get(&format!("/sessions/{id}/snapshot"), &[]).await
    }

    /// Starts a process with the state of a session's shell.
    pub async fn session_start(&self, id: &SessionId, request: &StartRequest) -> Result<ProcessInfo, Error> {
        self.post(&format!("/sessions/{id}/processes"), request).await
    }
}
