//! Terminals: opening, listing, input, output, screens and recordings.

use std::time::Duration;

use atoll_protocol::{
    KillReceipt, OutputPage, ResizeRequest, ScreenInfo, SignalReceipt, SignalRequest, TerminalId, TerminalInfo,
    TerminalList, TerminalRequest, WaitAnswer, WaitRequest,
};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;

use crate::client::{Client, empty, full};
use crate::error::Error;
use crate::process::OutputRange;

impl Client {
    /// Opens a terminal, or returns the existing one with its id.
    pub async fn open_terminal(&self, request: &TerminalRequest) -> Result<TerminalInfo, Error> {
        self.post("/terminals", request).await
    }

    /// Lists terminals, oldest first.
    pub async fn terminals(&self) -> Result<Vec<TerminalInfo>, Error> {
        let list: TerminalList = self.get("/terminals", &[]).await?;
        Ok(list.terminals)
    }

    /// Returns the terminal with this id.
    pub async fn terminal(&self, id: &TerminalId) -> Result<TerminalInfo, Error> {
        self.get(&format!("/terminals/{id}"), &[]).await
    }

    /// Kills all processes of a terminal and removes it.
    pub async fn delete_terminal(&self, id: &TerminalId, grace: Option<Duration>) -> Result<KillReceipt, Error> {
        let query: Vec<_> = grace.map(|grace| ("grace_ms", grace.as_millis().to_string())).into_iter().collect();
        self.delete(&format!("/terminals/{id}"), &query).await?.json().await
    }

    /// Resizes a terminal's window.
    pub async fn resize_terminal(&self, id: &TerminalId, request: &ResizeRequest) -> Result<TerminalInfo, Error> {
        self.post(&format!("/terminals/{id}/resize"), request).await
    }

    /// Sends a signal to a terminal's program.
    pub async fn signal_terminal(&self, id: &TerminalId, request: &SignalRequest) -> Result<SignalReceipt, Error> {
        self.post(&format!("/terminals/{id}/signal"), request).await
    }

    /// Waits for a condition in a terminal.
    pub async fn wait_terminal(&self, id: &TerminalId, request: &WaitRequest) -> Result<WaitAnswer, Error> {
        self.post(&format!("/terminals/{id}/wait"), request).await
    }

    /// Writes input to a terminal.
    pub async fn write_terminal(&self, id: &TerminalId, bytes: Bytes) -> Result<(), Error> {
        self.request(Method::PUT, &format!("/terminals/{id}/input"), &[])?.send(full(bytes)).await.map(drop)
    }

    /// Returns a page of a terminal's output.
    pub async fn terminal_output(&self, id: &TerminalId, range: &OutputRange) -> Result<OutputPage, Error> {
        self.get(&format!("/terminals/{id}/output"), &range.query()).await
    }

    /// Returns the current screen of a terminal.
    pub async fn screen(&self, id: &TerminalId) -> Result<ScreenInfo, Error> {
        self.get(&format!("/terminals/{id}/screen"), &[]).await
    }

    /// Returns a recording of a terminal from a cursor until now, in the asciicast v2 format.
    pub async fn recording(&self, id: &TerminalId, since: u64) -> Result<Bytes, Error> {
        let query = [("since", since.to_string())];
        let answer = self.request(Method::GET, &format!("/terminals/{id}/recording"), &query)?.send(empty()).await?;
        answer.into_body().collect().await.map(http_body_util::Collected::to_bytes).map_err(Error::broken)
    }
}
