//! Maps paths of the API to paths of the agent: `/v1/sandboxes/{name}/…` becomes `/v1/…`.

use crate::Error;

/// The agent's routes for the gateway alone: only the sandbox's actor may end or pause it.
const GATEWAY_ONLY: &str = "sandbox";

/// Returns the path and query for the agent. Rejects ambiguous paths, with empty or dotted segments or escaped slashes
/// or dots, which the next parser could read differently.
pub(super) fn to_agent(path: &str, query: Option<&str>) -> Result<String, Error> {
    // "", "v1", "sandboxes", the name, and the rest.
    let rest = path.splitn(5, '/').nth(4).unwrap_or_default();
    let lower = rest.to_ascii_lowercase();
    let escaped = ["%2e", "%2f", "%5c", "%00"].iter().any(|trick| lower.contains(trick));
    let odd = rest.split('/').any(|segment| matches!(segment, "" | "." | ".."));
    if escaped || odd || rest.contains('\\') {
        return Err(Error::invalid("the path contains an empty, dotted or escaped segment"));
    }
    if rest.split('/').next() == Some(GATEWAY_ONLY) {
        return Err(Error::RouteNotFound);
    }
    Ok(match query {
        Some(query) => format!("/v1/{rest}?{query}"),
        None => format!("/v1/{rest}"),
    })
}

/// Whether the path is a session's snapshot.
pub(super) fn is_snapshot(path: &str) -> bool {
    let mut rest = path.split('/').skip(4);
    matches!([rest.next(), rest.next(), rest.next(), rest.next()], [Some("sessions"), Some(_), Some("snapshot"), None])
}

/// Whether the path concerns files.
pub(super) fn is_files(path: &str) -> bool {
    path.split('/').nth(4) == Some("files")
}

/// Whether the path searches files by content or by name.
pub(super) fn is_search(path: &str) -> bool {
    let mut rest = path.split('/').skip(4);
    matches!([rest.next(), rest.next(), rest.next()], [Some("files"), Some("search" | "glob"), None])
}

/// Whether the path concerns network rules or secrets, which only admins may change.
pub(super) fn governs(path: &str) -> bool {
    matches!(path.split('/').nth(4), Some("network" | "secrets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_paths_are_recognised() {
        assert!(is_files("/v1/sandboxes/a/files/content") && is_files("/v1/sandboxes/files/files"));
        assert!(is_search("/v1/sandboxes/a/files/search") && is_search("/v1/sandboxes/a/files/glob"));
        assert!(!is_files("/v1/sandboxes/files/exec") && !is_search("/v1/sandboxes/a/files/edit"));
    }

    #[test]
    fn network_and_secret_paths_are_recognised() {
        for path in ["/v1/sandboxes/a/network", "/v1/sandboxes/a/secrets", "/v1/sandboxes/a/secrets/KEY"] {
            assert!(governs(path), "{path}");
        }
        for path in ["/v1/sandboxes/network/exec", "/v1/sandboxes/a/egress/events", "/v1/sandboxes/a/processes/network"]
        {
            assert!(!governs(path), "{path}");
        }
    }

    #[test]
    fn snapshot_paths_are_recognised() {
        assert!(is_snapshot("/v1/sandboxes/a/sessions/s/snapshot"));
        for path in
            ["/v1/sandboxes/a/sessions/snapshot", "/v1/sandboxes/a/processes/snapshot/output", "/v1/sandboxes/a"]
        {
            assert!(!is_snapshot(path), "{path}");
        }
    }

    #[test]
    fn paths_below_a_sandbox_are_the_agents() {
        let mapped = |path: &str, query| to_agent(path, query).ok();
        assert_eq!(mapped("/v1/sandboxes/a/exec", None).as_deref(), Some("/v1/exec"));
        let logs = mapped("/v1/sandboxes/a/processes/p%20q/logs", Some("since=4"));
        assert_eq!(logs.as_deref(), Some("/v1/processes/p%20q/logs?since=4"));
    }

    #[test]
    fn ambiguous_and_internal_paths_are_rejected() {
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
