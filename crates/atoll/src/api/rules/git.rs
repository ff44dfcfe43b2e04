//! Rules for git requests.

use serde_json::{Value, json};

use super::merge;

/// URLs without credentials, of transports that run no helper program.
const URL: &str = "^(https?://[^@/\\u0000\\r\\n]+(/[^\\u0000\\r\\n]*)?|(file://|/)[^\\u0000\\r\\n]*)$";
const SERVER: &str = "^https?://[A-Za-z0-9._:\\[\\]-]+(/.*)?$";

/// A commit, a branch or a remote. Must not look like an option.
const NAME: &str = "^[^-\\u0000\\n][^\\u0000\\n]*$";
const LINE: &str = "^[^\\u0000\\r\\n]+$";

fn name() -> Value {
    json!({ "pattern": NAME })
}

fn paths() -> Value {
    json!({ "items": { "minLength": 1, "pattern": super::NO_NUL } })
}

/// A request for the repository at `path`.
fn at(more: &Value) -> Value {
    let mut all = json!({ "properties": { "path": { "minLength": 1, "pattern": super::NO_NUL } } });
    merge(&mut all, &json!({ "properties": more }));
    all
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let remote = || json!({ "remote": name(), "branch": name(), "timeout_ms": super::at_least_one() });
    vec![
        (
            "GitCloneRequest",
            at(&json!({
                "url": { "pattern": URL, "format": "git-url" }, "branch": name(), "timeout_ms": super::at_least_one(),
            })),
        ),
        ("GitStatusRequest", at(&json!({}))),
        ("GitDiffRequest", at(&json!({ "from": name(), "to": name(), "paths": paths() }))),
        ("GitCommitRequest", at(&json!({ "message": { "minLength": 1, "pattern": super::NO_NUL }, "paths": paths() }))),
        ("GitCheckoutRequest", at(&json!({ "target": name(), "from": name() }))),
        ("GitBranchesRequest", at(&json!({}))),
        ("GitLogRequest", at(&json!({ "from": name(), "limit": { "minimum": 1, "maximum": 1000 }, "paths": paths() }))),
        ("GitPullRequest", at(&remote())),
        ("GitPushRequest", at(&remote())),
        (
            "GitCredentials",
            json!({ "properties": {
                "server": { "pattern": SERVER }, "username": { "pattern": LINE }, "password": { "pattern": LINE },
            } }),
        ),
    ]
}
