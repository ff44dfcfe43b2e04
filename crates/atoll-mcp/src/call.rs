//! One call of a tool: whether it is still wanted, and how its caller is told that it goes on.

use std::sync::Arc;
use std::time::Duration;

use atoll_client::Client;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use tokio::time::Instant;

use crate::guest::Guest;
use crate::trouble::Trouble;

/// How often a caller is told of news, and how often that there are none: clients give up on a call of which they hear
/// nothing.
const NEWS_EVERY: Duration = Duration::from_millis(500);
const SIGN_EVERY: Duration = Duration::from_secs(5);

/// One call.
pub(crate) struct Call {
    pub(crate) guest: Arc<Guest>,
    context: RequestContext<RoleServer>,
    progress: Option<Progress>,
}

/// What is told of a call that goes on.
struct Progress {
    token: ProgressToken,
    began: Instant,
    told: Instant,
    /// What there is to tell, if that is new.
    news: Option<String>,
    /// How long it may take in all.
    total: Option<Duration>,
}

impl Call {
    pub(crate) fn new(guest: Arc<Guest>, context: RequestContext<RoleServer>) -> Self {
        let now = Instant::now();
        let progress = context.meta.get_progress_token();
        let progress = progress.map(|token| Progress { token, began: now, told: now, news: None, total: None });
        Self { guest, context, progress }
    }

    /// The caller's sandbox, made if need be.
    pub(crate) async fn inside(&self) -> Result<Client, Trouble> {
        self.guest.inside().await
    }

    /// How long it may take, as far as is known.
    pub(crate) fn may_take(&mut self, total: Duration) {
        if let Some(progress) = &mut self.progress {
            progress.total = Some(total);
        }
    }

    /// Something has happened that the caller may like to know.
    pub(crate) fn news(&mut self, text: impl FnOnce() -> String) {
        if let Some(progress) = &mut self.progress {
            progress.news = Some(text());
        }
    }

    /// Waits for one thing, and tells the caller meanwhile that it goes on. `None` when the call is not wanted any more:
    /// the thing is given up then.
    pub(crate) async fn until<T>(&mut self, thing: impl Future<Output = T>) -> Option<T> {
        let Self { guest, context, progress } = self;
        let mut thing = std::pin::pin!(thing);
        let mut cancelled = std::pin::pin!(cancelled(guest, context));
        loop {
            let due = progress.as_ref().map(Progress::due);
            tokio::select! {
                biased;
                () = &mut cancelled => return None,
                done = &mut thing => return Some(done),
                () = sleep_until(due) => {}
            }
            tokio::select! {
                biased;
                () = &mut cancelled => return None,
                () = tell(progress.as_mut(), context) => {}
            }
        }
    }
}

/// Returns when the call is not wanted any more.
async fn cancelled(guest: &Guest, context: &RequestContext<RoleServer>) {
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = guest.gone() => {}
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

async fn tell(progress: Option<&mut Progress>, context: &RequestContext<RoleServer>) {
    let Some(progress) = progress else { return };
    progress.told = Instant::now();
    let seconds = progress.began.elapsed();
    let mut note = ProgressNotificationParam::new(progress.token.clone(), seconds.as_secs_f64());
    note.total = progress.total.map(|total| total.as_secs_f64());
    note.message = Some(progress.news.take().unwrap_or_else(|| format!("still running after {} s", seconds.as_secs())));
    // Who does not hear it has no use for it.
    drop(context.peer.notify_progress(note).await);
}

impl Progress {
    fn due(&self) -> Instant {
        self.told + if self.news.is_some() { NEWS_EVERY } else { SIGN_EVERY }
    }
}
