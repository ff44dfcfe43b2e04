//! One tool call: its cancellation and its progress notifications.

use std::sync::Arc;
use std::time::Duration;

use atoll_client::Client;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use tokio::time::Instant;

use crate::client_session::ClientSession;
use crate::error::ToolError;

/// Shortest interval between progress notifications with new output, and interval of notifications without: clients
/// abort a call that stays silent.
const OUTPUT_INTERVAL: Duration = Duration::from_millis(500);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);

/// One tool call.
pub(crate) struct Call {
    pub(crate) session: Arc<ClientSession>,
    context: RequestContext<RoleServer>,
    progress: Option<Progress>,
}

/// State of the progress notifications of a call.
struct Progress {
    token: ProgressToken,
    began: Instant,
    notified: Instant,
    /// Message of the next notification, if there is new output.
    message: Option<String>,
    /// Time limit of the call, if known.
    total: Option<Duration>,
}

impl Call {
    pub(crate) fn new(session: Arc<ClientSession>, context: RequestContext<RoleServer>) -> Self {
        let now = Instant::now();
        let progress = context.meta.get_progress_token();
        let progress = progress.map(|token| Progress { token, began: now, notified: now, message: None, total: None });
        Self { session, context, progress }
    }

    /// Returns a client of the caller's sandbox, which is created if necessary.
    pub(crate) async fn sandbox(&self) -> Result<Client, ToolError> {
        self.session.sandbox().await
    }

    /// Sets the time limit that progress notifications report as the total.
    pub(crate) fn set_time_limit(&mut self, total: Duration) {
        if let Some(progress) = &mut self.progress {
            progress.total = Some(total);
        }
    }

    /// Sets the message of the next progress notification.
    pub(crate) fn set_message(&mut self, text: impl FnOnce() -> String) {
        if let Some(progress) = &mut self.progress {
            progress.message = Some(text());
        }
    }

    /// Waits for a future while it sends progress notifications. Returns `None` if the call is cancelled first, and
    /// drops the future.
    pub(crate) async fn wait<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        let Self { session, context, progress } = self;
        let mut future = std::pin::pin!(future);
        let mut cancelled = std::pin::pin!(cancelled(session, context));
        loop {
            let due = progress.as_ref().map(Progress::due);
            tokio::select! {
                biased;
                () = &mut cancelled => return None,
                done = &mut future => return Some(done),
                () = sleep_until(due) => {}
            }
            tokio::select! {
                biased;
                () = &mut cancelled => return None,
                () = notify(progress.as_mut(), context) => {}
            }
        }
    }
}

/// Returns when the call is cancelled or its client has disconnected.
async fn cancelled(session: &ClientSession, context: &RequestContext<RoleServer>) {
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = session.disconnected() => {}
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

async fn notify(progress: Option<&mut Progress>, context: &RequestContext<RoleServer>) {
    let Some(progress) = progress else { return };
    progress.notified = Instant::now();
    let seconds = progress.began.elapsed();
    let mut note = ProgressNotificationParam::new(progress.token.clone(), seconds.as_secs_f64());
    note.total = progress.total.map(|total| total.as_secs_f64());
    note.message =
        Some(progress.message.take().unwrap_or_else(|| format!("still running after {} s", seconds.as_secs())));
    // A lost progress notification does no harm.
    drop(context.peer.notify_progress(note).await);
}

impl Progress {
    fn due(&self) -> Instant {
        self.notified + if self.message.is_some() { OUTPUT_INTERVAL } else { KEEPALIVE_INTERVAL }
    }
}
