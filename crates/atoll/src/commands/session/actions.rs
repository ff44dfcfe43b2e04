//! Carries out `atoll session`: sends the request and prints the result.

use atoll_protocol::{
    EndRecord, ForkRequest, InterruptReceipt, KillRequest, RestartFrom, SessionInfo, SessionList, SessionRequest,
    SessionState, SnapshotInfo,
};
use serde::Serialize;

use super::{Action, Create, From, SessionArguments};
use crate::commands::kill;
use crate::error::CliError;
use crate::exec_request::{self, OutputMode, millis, text, variables};
use crate::printer;
use crate::table::{pairs, table};

pub(super) async fn act(action: Action) -> Result<u8, CliError> {
    match action {
        Action::Create(arguments) => create(*arguments).await,
        Action::Ls { name, server } => {
            let sessions = server.sandbox_client(&name)?.sessions().await?;
            let rows: Vec<_> = sessions.iter().map(row).collect();
            let list = SessionList { sessions };
            let heading = ["ID", "STATE", "WAITING", "LAST USED", "DIRECTORY"];
            print(server.json, &list, || table(&heading, &rows))
        }
        Action::Exec(arguments) => {
            let SessionArguments { name, id, server } = arguments.session;
            let client = server.sandbox_client(&name)?;
            exec_request::run(client, Some(id), arguments.command, OutputMode::new(server.json)).await
        }
        Action::Interrupt(session) => {
            let interrupted = session.server.sandbox_client(&session.name)?.session_interrupt(&session.id).await?;
            let text = if interrupted { "interrupted\n" } else { "no command was running\n" };
            print(session.server.json, &InterruptReceipt { interrupted }, || text.to_owned())
        }
        Action::Kill { session, grace } => {
            let request = KillRequest { grace_ms: grace.map(millis) };
            let receipt = session.server.sandbox_client(&session.name)?.session_kill(&session.id, &request).await?;
            kill::report(receipt, session.server.json)
        }
        Action::Snapshot(session) => {
            let snapshot = session.server.sandbox_client(&session.name)?.session_snapshot(&session.id).await?;
            print(session.server.json, &snapshot, || format_snapshot(&snapshot))
        }
        Action::Fork { session, copy } => {
            let request = ForkRequest { id: copy };
            let info = session.server.sandbox_client(&session.name)?.session_fork(&session.id, &request).await?;
            print(session.server.json, &info, || format!("{}\n", info.id))
        }
        Action::Restart { session, from } => {
            let from = match from {
                From::Snapshot => RestartFrom::Snapshot,
                From::Nothing => RestartFrom::Nothing,
            };
            let info = session.server.sandbox_client(&session.name)?.session_restart(&session.id, from).await?;
            print(session.server.json, &info, || format!("{} {}\n", info.id, state(&info)))
        }
        Action::Rm { name, ids, server } => {
            let client = server.sandbox_client(&name)?;
            for id in &ids {
                client.delete_session(id).await?;
            }
            let removed = serde_json::json!({ "removed": ids });
            print(server.json, &removed, || ids.iter().map(|id| format!("{id}\n")).collect())
        }
    }
}

async fn create(arguments: Create) -> Result<u8, CliError> {
    let client = arguments.server.sandbox_client(&arguments.name)?;
    let request = SessionRequest {
        id: arguments.id,
        cwd: arguments.cwd.map(|cwd| text(cwd.into_os_string())).transpose()?,
        env: variables(arguments.env)?,
        user: arguments.user,
        timeout_ms: arguments.timeout.map(millis),
        options: arguments.options,
    };
    let info = client.create_session(&request).await?;
    print(arguments.server.json, &info, || format!("{}\n", info.id))
}

fn print(as_json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<u8, CliError> {
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

/// Formats an outline of a snapshot; `--json` prints all of it.
fn format_snapshot(snapshot: &SnapshotInfo) -> String {
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
