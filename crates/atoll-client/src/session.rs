//! Sessions: making, finding, using and ending shells that remember.

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
    /// Makes a session; answers when its shell waits for commands.
    pub async fn create_session(&self, request: &SessionRequest) -> Result<SessionInfo, Error> {
        self.post("/sessions", request).await
    }

    /// Sessions, oldest first.
    pub async fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        let list: SessionList = self.get("/sessions", &[]).await?;
        Ok(list.sessions)
    }

    /// The session with this id.
    pub async fn session(&self, id: &SessionId) -> Result<SessionInfo, Error> {
        self.get(&format!("/sessions/{id}"), &[]).await
    }

    /// Ends a session, what runs in it, and what was started from it.
    pub async fn delete_session(&self, id: &SessionId) -> Result<(), Error> {
        self.delete(&format!("/sessions/{id}"), &[]).await.map(drop)
    }

    /// Runs a command in a session to its end, after those that came before it.
    pub async fn session_exec(&self, id: &SessionId, request: &ExecRequest) -> Result<ExecResult, Error> {
        self.post(&format!("/sessions/{id}/exec"), request).await
    }

    /// The same, told as it happens; see [`Client::exec_stream`].
    pub fn session_exec_stream(&self, id: &SessionId, request: ExecRequest) -> Result<ExecStream, Error> {
        self.exec_stream_at(format!("/sessions/{id}/exec"), request)
    }

    /// Puts a command into a session's queue; it is a process from then on.
    pub async fn session_queue(&self, id: &SessionId, request: &StartRequest) -> Result<ProcessInfo, Error> {
        self.post(&format!("/sessions/{id}/commands"), request).await
    }

    /// Takes a command out of a session's queue. `false` if it has begun already.
    pub async fn session_cancel(&self, id: &SessionId, process: &ProcessId) -> Result<bool, Error> {
        let answer = self.delete(&format!("/sessions/{id}/commands/{process}"), &[]).await?;
        answer.json().await.map(|receipt: CancelReceipt| receipt.cancelled)
    }

    /// Interrupts the command that runs in a session, as Ctrl-C would. `false` if nothing ran.
    pub async fn session_interrupt(&self, id: &SessionId) -> Result<bool, Error> {
        let receipt: InterruptReceipt = self.post(&format!("/sessions/{id}/interrupt"), &json!({})).await?;
        Ok(receipt.interrupted)
    }

    /// Ends the command that runs in a session, and all that it started.
    pub async fn session_kill(&self, id: &SessionId, request: &KillRequest) -> Result<KillReceipt, Error> {
        self.post(&format!("/sessions/{id}/kill"), request).await
    }

    /// Brings a dead session back.
    pub async fn session_restart(&self, id: &SessionId, from: RestartFrom) -> Result<SessionInfo, Error> {
        self.post(&format!("/sessions/{id}/restart"), &RestartRequest { from }).await
    }

    /// A new session that holds what this one does.
    pub async fn session_fork(&self, id: &SessionId, request: &ForkRequest) -> Result<SessionInfo, Error> {
        self.post(&format!("/sessions/{id}/fork"), request).await
    }

    /// What a session holds.
    pub async fn session_snapshot(&self, id: &SessionId) -> Result<SnapshotInfo, Error> {
        self.get(&format!("/sessions/{id}/snapshot"), &[]).await
    }

    /// Starts a process that begins with what a session holds.
    pub async fn session_start(&self, id: &SessionId, request: &StartRequest) -> Result<ProcessInfo, Error> {
        self.post(&format!("/sessions/{id}/processes"), request).await
    }
}
