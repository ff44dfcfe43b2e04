//! What a request means inside a sandbox, by its path: everything below `/v1/sandboxes/{name}/` is the agent's `/v1/`.

use crate::Error;

/// What an agent serves for us alone: ending and pausing the sandbox is decided by its owner.
const FOR_US: &str = "sandbox";

/// The path and query to ask the agent for. Nothing in it may be read in two ways: no empty or dotted segment, no
/// escaped slash or dot, by which a path could mean something else to whoever reads it next.
pub(super) fn to_agent(path: &str, query: Option<&str>) -> Result<String, Error> {
    // "", "v1", "sandboxes", the name, and the rest.
    let rest = path.splitn(5, '/').nth(4).unwrap_or_default();
    let lower = rest.to_ascii_lowercase();
    let escaped = ["%2e", "%2f", "%5c", "%00"].iter().any(|trick| lower.contains(trick));
    let odd = rest.split('/').any(|segment| matches!(segment, "" | "." | ".."));
    if escaped || odd || rest.contains('\\') {
        return Err(Error::invalid("the path holds an empty, dotted or escaped segment"));
    }
    if rest.split('/').next() == Some(FOR_US) {
        return Err(Error::RouteNotFound);
    }
    Ok(match query {
        Some(query) => format!("/v1/{rest}?{query}"),
        None => format!("/v1/{rest}"),
    })
}

/// Whether a session's snapshot is asked for.
pub(super) fn is_snapshot(path: &str) -> bool {
    let mut rest = path.split('/').skip(4);
    matches!([rest.next(), rest.next(), rest.next(), rest.next()], [Some("sessions"), Some(_), Some("snapshot"), None])
}

/// Whether it is about files.
pub(super) fn is_files(path: &str) -> bool {
    path.split('/').nth(4) == Some("files")
}

/// Whether files are searched, by their content or by their names.
pub(super) fn is_search(path: &str) -> bool {
    let mut rest = path.split('/').skip(4);
    matches!([rest.next(), rest.next(), rest.next()], [Some("files"), Some("search" | "glob"), None])
}

/// Whether it is about what the sandbox may reach or hold in secret: to change that is to decide over the sandbox.
pub(super) fn governs(path: &str) -> bool {
    matches!(path.split('/').nth(4), Some("network" | "secrets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_told_apart() {
        assert!(is_files("/v1/sandboxes/a/files/content") && is_files("/v1/sandboxes/files/files"));
        assert!(is_search("/v1/sandboxes/a/files/search") && is_search("/v1/sandboxes/a/files/glob"));
        assert!(!is_files("/v1/sandboxes/files/exec") && !is_search("/v1/sandboxes/a/files/edit"));
    }

    #[test]
    fn rules_and_secrets_are_told_apart() {
        for path in ["/v1/sandboxes/a/network", "/v1/sandboxes/a/secrets", "/v1/sandboxes/a/secrets/KEY"] {
            assert!(governs(path), "{path}");
        }
        for path in ["/v1/sandboxes/network/exec", "/v1/sandboxes/a/egress/events", "/v1/sandboxes/a/processes/network"]
        {
            assert!(!governs(path), "{path}");
        }
    }

    #[test]
    fn a_snapshot_is_told_apart() {
        assert!(is_snapshot("/v1/sandboxes/a/sessions/s/snapshot"));
        for path in
            ["/v1/sandboxes/a/sessions/snapshot", "/v1/sandboxes/a/processes/snapshot/output", "/v1/sandboxes/a"]
        {
            assert!(!is_snapshot(path), "{path}");
        }
    }

    #[test]
    fn the_rest_of_a_path_is_the_agents() {
        let ask = |path: &str, query| to_agent(path, query).ok();
        assert_eq!(ask("/v1/sandboxes/a/exec", None).as_deref(), Some("/v1/exec"));
        let logs = ask("/v1/sandboxes/a/processes/p%20q/logs", Some("since=4"));
        assert_eq!(logs.as_deref(), Some("/v1/processes/p%20q/logs?since=4"));
    }

    #[test]
    fn tricks_are_refused() {
        for rest in
            ["../b/exec", "./exec", "a//b", "a/..", "%2e%2e/x", "a%2Fb", "a\\b", "a%00", "processes/%2E%2e", "exec/"]
        {
            assert!(to_agent(&format!("/v1/sandboxes/a/{rest}"), None).is_err(), "{rest}");
        }
        for rest in ["sandbox", "sandbox/pause"] {
            let refused = to_agent(&format!("/v1/sandboxes/a/{rest}"), None);
            assert!(matches!(refused, Err(Error::RouteNotFound)), "{rest}");
        }
    }
}
