//! What each action of `atoll session` asks, and how its answer is told.

use atoll_protocol::{
    EndRecord, ForkRequest, InterruptReceipt, KillRequest, RestartFrom, SessionInfo, SessionList, SessionRequest,
    SessionState, SnapshotInfo,
};
use serde::Serialize;

use super::{Action, Create, From, Which};
use crate::asking::{self, Telling, millis, text, variables};
use crate::commands::kill;
use crate::failure::Failure;
use crate::printer;
use crate::table::{pairs, table};

pub(super) async fn act(action: Action) -> Result<u8, Failure> {
    match action {
        Action::Create(asked) => create(*asked).await,
        Action::Ls { name, server } => {
            let sessions = server.inside(&name)?.sessions().await?;
            let rows: Vec<_> = sessions.iter().map(row).collect();
            let list = SessionList { sessions };
            let heading = ["ID", "STATE", "WAITING", "LAST USED", "DIRECTORY"];
            tell(server.json, &list, || table(&heading, &rows))
        }
        Action::Exec(asked) => {
            let Which { name, id, server } = asked.which;
            let client = server.inside(&name)?;
            asking::run(client, Some(id), asked.command, Telling::new(server.json)).await
        }
        Action::Interrupt(which) => {
            let interrupted = which.server.inside(&which.name)?.session_interrupt(&which.id).await?;
            let said = if interrupted { "interrupted\n" } else { "nothing was running\n" };
            tell(which.server.json, &InterruptReceipt { interrupted }, || said.to_owned())
        }
        Action::Kill { which, grace } => {
            let request = KillRequest { grace_ms: grace.map(millis) };
            let receipt = which.server.inside(&which.name)?.session_kill(&which.id, &request).await?;
            kill::tell(receipt, which.server.json)
        }
        Action::Snapshot(which) => {
            let snapshot = which.server.inside(&which.name)?.session_snapshot(&which.id).await?;
            tell(which.server.json, &snapshot, || shown(&snapshot))
        }
        Action::Fork { which, copy } => {
            let request = ForkRequest { id: copy };
            let info = which.server.inside(&which.name)?.session_fork(&which.id, &request).await?;
            tell(which.server.json, &info, || format!("{}\n", info.id))
        }
        Action::Restart { which, from } => {
            let from = match from {
                From::Snapshot => RestartFrom::Snapshot,
                From::Nothing => RestartFrom::Nothing,
            };
            let info = which.server.inside(&which.name)?.session_restart(&which.id, from).await?;
            tell(which.server.json, &info, || format!("{} {}\n", info.id, state(&info)))
        }
        Action::Rm { name, ids, server } => {
            let client = server.inside(&name)?;
            for id in &ids {
                client.delete_session(id).await?;
            }
            let removed = serde_json::json!({ "removed": ids });
            tell(server.json, &removed, || ids.iter().map(|id| format!("{id}\n")).collect())
        }
    }
}

async fn create(asked: Create) -> Result<u8, Failure> {
    let client = asked.server.inside(&asked.name)?;
    let request = SessionRequest {
        id: asked.id,
        cwd: asked.cwd.map(|cwd| text(cwd.into_os_string())).transpose()?,
        env: variables(asked.env)?,
        user: asked.user,
        timeout_ms: asked.timeout.map(millis),
        options: asked.options,
    };
    let info = client.create_session(&request).await?;
    tell(asked.server.json, &info, || format!("{}\n", info.id))
}

fn tell(as_json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<u8, Failure> {
    if as_json {
        printer::json(value)?
    } else {
        printer::out(text().as_bytes())?
    }
    Ok(0)
}

fn row(info: &SessionInfo) -> Vec<String> {
    vec![info.id.to_string(), state(info), info.queued.to_string(), info.used_at.to_string(), info.cwd.clone()]
}

fn state(info: &SessionInfo) -> String {
    let code = |end: &EndRecord| end.code.map_or_else(String::new, |code| format!(" {code}"));
    match info.state {
        SessionState::Ready => "ready".to_owned(),
        SessionState::Busy => "busy".to_owned(),
        SessionState::Dead => format!("dead{}", info.end.as_ref().map(code).unwrap_or_default()),
    }
}

/// The outline; everything is in the JSON.
fn shown(snapshot: &SnapshotInfo) -> String {
    let functions: Vec<_> = snapshot.functions.iter().map(|function| function.name.data.as_str()).collect();
    let aliases: Vec<_> = snapshot.aliases.iter().map(|alias| alias.name.data.as_str()).collect();
    let variables: Vec<_> = snapshot.variables.iter().map(|variable| variable.name.as_str()).collect();
    let options: Vec<_> = snapshot.options.iter().map(String::as_str).collect();
    let traps: Vec<_> = snapshot.traps.iter().map(|trap| trap.on.as_str()).collect();
    pairs(&[
        ("directory", snapshot.cwd.data.clone()),
        ("variables", variables.join(" ")),
        ("functions", functions.join(" ")),
        ("aliases", aliases.join(" ")),
        ("options", options.join(" ")),
        ("traps", traps.join(" ")),
        ("umask", snapshot.umask.clone()),
        ("jobs", if snapshot.not_carried.jobs { "some" } else { "none" }.to_owned()),
    ])
}
