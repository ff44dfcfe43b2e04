//! Making a session.

use std::sync::Arc;
use std::time::SystemTime;

use atoll_protocol::SessionId;
use tokio::sync::{mpsc, watch};

use super::handle::{Session, Status};
use super::owner::{ASKS_MAX, Owner};
use super::shell::{Born, Shell};
use super::snapshot::{self, Snapshot};
use super::spec::SessionSpec;
use crate::Error;
use crate::command::{Command, Invocation};
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
    let session = Session::new(id.clone(), spec.clone(), asks, watched, Arc::downgrade(shared), SystemTime::now());
    let owner = Owner::new(Arc::clone(shared), session.clone(), spec, born.shell, asked, status, from);
    reservation.fill(session.clone());
    tokio::spawn(owner.live());
    Ok(session)
}

/// A new shell for a session.
pub(super) async fn born(
    shared: &Arc<Shared>,
    id: &SessionId,
    spec: &SessionSpec,
    from: Option<&Snapshot>,
) -> Result<Born, Error> {
    let command = spec.command();
    let (command, script) = match from {
        None => snapshot::from_nothing(&command, &shared.env, &spec.options),
        Some(snapshot) => {
            // Where it is and what it holds is in the snapshot; what it was first made with no longer counts.
            let invocation = Invocation::Session { listener: String::new(), limits: snapshot.limits.clone() };
            let bare = Command { user: spec.user.clone(), ..Command::new(invocation) };
            (snapshot.foundation(&bare, &shared.env), snapshot.script(&bare))
        }
    };
    let born = Shell::start(shared, id.as_str(), &command, &script).await?;
    if from.is_none() && !born.complaints.is_empty() {
        // Asked for by name, and not to be had.
        let complaint = born.complaints.clone();
        born.shell.destroy(shared).await;
        return Err(Error::invalid(complaint));
    }
    Ok(born)
}
