//! Making a session.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use atoll_protocol::SessionId;
use tokio::sync::{mpsc, watch};

use super::handle::{Session, Status};
use super::owner::{ASKS_MAX, Owner};
use super::shell::{self, Born, READY_WITHIN, Shell};
use super::snapshot::{self, Snapshot};
use super::spare::Spare;
use super::spec::SessionSpec;
use crate::Error;
use crate::command::{Command, Invocation};
use crate::journal::{Journal, Made, RestoredSession, SessionNote};
use crate::shared::Shared;

/// Makes a session; returns when its shell waits for commands. From a snapshot, its shell holds that.
pub(crate) async fn create(
    shared: &Arc<Shared>,
    spec: SessionSpec,
    from: Option<Arc<Snapshot>>,
) -> Result<Session, Error> {
    spec.check()?;
    let id = match &spec.id {
        Some(id) => id.clone(),
        None => SessionId::new(shared.next_id()?).map_err(|error| Error::invalid(error.to_string()))?,
    };
    let reservation = shared.sessions.reserve(&id)?;
    let born = born(shared, &id, &spec, from.as_deref()).await?;
    let (asks, asked) = mpsc::channel(ASKS_MAX);
    let (status, watched) = watch::channel(Status::new(born.cwd, born.complaints));
    let now = SystemTime::now();
    let session = Session::new(id.clone(), spec.clone(), asks, watched, Arc::downgrade(shared), now);
    let mut note = shared.journal.as_ref().map(|journal| SessionNote::new(journal, Made::new(id, now.into(), &spec)));
    if let (Some(note), Some(from)) = (&mut note, &from) {
        note.save(from);
    }
    let owner = Owner::new(Arc::clone(shared), session.clone(), spec, Some(born.shell), asked, status, from, note);
    reservation.fill(session.clone());
    tokio::spawn(owner.live());
    Spare::refill(shared);
    Ok(session)
}

/// Puts a session back whose shell ended in an earlier life of the sandbox: dead, to be restarted or deleted.
pub(crate) fn restore(shared: &Arc<Shared>, restored: RestoredSession, journal: &Arc<Journal>) {
    let RestoredSession { number, item, end, snapshot, used_at } = restored;
    let spec = item.made.spec();
    let cwd = snapshot.as_ref().map(|snapshot| snapshot.cwd.as_bytes().to_vec()).unwrap_or_default();
    let (asks, asked) = mpsc::channel(ASKS_MAX);
    let status = Status { used_at, end: Some(end), ..Status::new(cwd, String::new()) };
    let (status, watched) = watch::channel(status);
    let created_at = UNIX_EPOCH + Duration::from_millis(item.made.at.as_millis());
    let session = Session::new(item.made.id, spec.clone(), asks, watched, Arc::downgrade(shared), created_at);
    let note = SessionNote::of(journal, number, snapshot.clone());
    shared.sessions.restore(session.clone());
    let owner = Owner::new(Arc::clone(shared), session, spec, None, asked, status, snapshot, Some(note));
    tokio::spawn(owner.live());
}

/// A new shell for a session.
pub(super) async fn born(
    shared: &Arc<Shared>,
    id: &SessionId,
    spec: &SessionSpec,
    from: Option<&Snapshot>,
) -> Result<Born, Error> {
    if from.is_none()
        && spec.user.is_none()
        && let Some(spare) = shared.spare.take()
    {
        return fit(shared, spare, spec).await;
    }
    let command = spec.command();
    let (command, script) = match from {
        None => snapshot::from_nothing(&command, &shared.environment(), &spec.options),
        Some(snapshot) => {
            // Where it is and what it holds is in the snapshot; what it was first made with no longer counts.
            let invocation = Invocation::Session { listener: String::new(), limits: snapshot.limits.clone() };
            let bare = Command { user: spec.user.clone(), ..Command::new(invocation) };
            (snapshot.foundation(&bare, &shared.environment()), snapshot.script(&bare))
        }
    };
    let born = Shell::start(shared, id.as_str(), &command, &script).await?;
    if from.is_some() { Ok(born) } else { without_complaint(shared, born).await }
}

/// Makes a spare shell what was asked for.
async fn fit(shared: &Arc<Shared>, mut spare: Born, spec: &SessionSpec) -> Result<Born, Error> {
    let dressed = tokio::time::timeout(READY_WITHIN, dress(shared, &mut spare, spec)).await;
    match dressed.unwrap_or_else(|_| Err(shell::not_ready("it did not get ready in time"))) {
        Ok(()) => without_complaint(shared, spare).await,
        Err(error) => {
            spare.shell.destroy(shared).await;
            Err(error)
        }
    }
}

async fn dress(shared: &Shared, spare: &mut Born, spec: &SessionSpec) -> Result<(), Error> {
    if let Some(cwd) = &spec.cwd {
        let (told, complaint) = spare.shell.run(shared, &snapshot::elsewhere(cwd)).await?;
        if told.report.status != 0 {
            let why = complaint.rsplit(": ").next().unwrap_or_default().to_lowercase();
            return Err(Error::CwdNotFound { cwd: cwd.to_string_lossy().into_owned(), why });
        }
        spare.cwd = told.cwd;
    }
    let script = snapshot::over_nothing(spec);
    if !script.is_empty() {
        (_, spare.complaints) = spare.shell.run(shared, &script).await?;
    }
    Ok(())
}

/// What was asked for by name must be had.
async fn without_complaint(shared: &Shared, born: Born) -> Result<Born, Error> {
    if born.complaints.is_empty() {
        return Ok(born);
    }
    born.shell.destroy(shared).await;
    Err(Error::invalid(born.complaints))
}
