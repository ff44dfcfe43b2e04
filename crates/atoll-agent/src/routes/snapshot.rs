//! What a session holds, from the runtime's words into those of the API.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use atoll_protocol::{
    ExactText, NotCarriedInfo, ResourceLimit, SessionId, ShellAlias, ShellFunction, ShellTrap, ShellVariable, Signal,
    SnapshotInfo,
};
use atoll_runtime::Snapshot;
use axum::Json;

use crate::error::Refusal;
use crate::extract::ThisSession;

/// Names of the resources by number (getrlimit(2)): the same on x86-64 and arm64.
const RESOURCES: [&str; 16] = [
    "cpu",
    "fsize",
    "data",
    "stack",
    "core",
    "rss",
    "nproc",
    "nofile",
    "memlock",
    "as",
    "locks",
    "sigpending",
    "msgqueue",
    "nice",
    "rtprio",
    "rttime",
];

/// Show what a session holds, after the commands that came before.
#[utoipa::path(get, path = "/v1/sessions/{id}/snapshot", tag = "sessions", operation_id = "getSnapshot",
    params(("id" = SessionId, Path)), responses((status = 200, body = SnapshotInfo)))]
pub(super) async fn of_session(ThisSession(session): ThisSession) -> Result<Json<SnapshotInfo>, Refusal> {
    Ok(Json(in_words(&*session.snapshot().await?)))
}

fn in_words(snapshot: &Snapshot) -> SnapshotInfo {
    let environment = snapshot.environment();
    SnapshotInfo {
        cwd: text(&snapshot.cwd),
        env: environment.iter().map(|(name, value)| (name.to_string_lossy().into_owned(), text(value))).collect(),
        variables: snapshot.variables.iter().map(variable).collect(),
        functions: snapshot.functions.iter().map(function).collect(),
        aliases: snapshot.aliases.iter().map(alias).collect(),
        options: snapshot.options.clone(),
        shell_options: snapshot.shell_options.clone(),
        traps: snapshot.traps.iter().map(trap).collect(),
        umask: format!("{:04o}", snapshot.umask),
        limits: snapshot.limits.iter().copied().map(limit).collect(),
        positional: snapshot.positional.iter().map(|word| text(word)).collect(),
        not_carried: NotCarriedInfo {
            descriptors: snapshot.not_carried.descriptors.clone(),
            jobs: snapshot.not_carried.jobs,
        },
    }
}

fn text(given: &OsStr) -> ExactText {
    ExactText::new(given.as_bytes())
}

fn variable(given: &atoll_runtime::Variable) -> ShellVariable {
    ShellVariable {
        name: given.name.clone(),
        attributes: given.attributes.clone(),
        value: given.value.as_deref().map(text),
        assignment: given.assignment.as_deref().map(text),
    }
}

fn function(given: &atoll_runtime::Function) -> ShellFunction {
    ShellFunction { name: text(&given.name), attributes: given.attributes.clone(), text: text(&given.text) }
}

fn alias(given: &atoll_runtime::Alias) -> ShellAlias {
    ShellAlias { name: text(&given.name), value: text(&given.value) }
}

/// The runtime has signals by number, and names for what is none.
fn trap((on, action): &(String, std::ffi::OsString)) -> ShellTrap {
    let signal = on.parse().ok().and_then(Signal::from_number);
    ShellTrap { on: signal.map_or_else(|| on.clone(), |signal| signal.to_string()), action: text(action) }
}

fn limit((resource, soft, hard): (u32, u64, u64)) -> ResourceLimit {
    // RLIM_INFINITY is the largest number.
    let bounded = |value: u64| (value != u64::MAX).then_some(value);
    let name = usize::try_from(resource).ok().and_then(|number| RESOURCES.get(number));
    let resource = name.map_or_else(|| resource.to_string(), |name| (*name).to_owned());
    ResourceLimit { resource, soft: bounded(soft), hard: bounded(hard) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_names_and_infinity_becomes_null() {
        assert_eq!(
            limit((7, 1024, u64::MAX)),
            ResourceLimit { resource: "nofile".to_owned(), soft: Some(1024), hard: None }
        );
        assert_eq!(limit((99, 1, 2)).resource, "99");
        assert_eq!(trap(&("2".to_owned(), "x".into())).on, "SIGINT");
        assert_eq!(trap(&("DEBUG".to_owned(), "".into())).on, "DEBUG");
    }
}
