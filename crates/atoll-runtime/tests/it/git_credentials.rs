//! Credentials reach git's helper in every mode, for every user: the script around git holds their pipe, and the helper
//! opens it below `/proc`.

use std::time::Duration;

use atoll_protocol::{ErrorCode, GitCloneRequest, GitCredentials};

use crate::harness::{Fixture, skip, soon};

in_every_mode! {
    four_modes {
        a_helper_opens_the_pipe,
    }
}

/// Requests credentials, records the ones it gets, and has no repository.
const SERVER: &str = r#"cat > server.py <<'END'
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass
    def do_GET(self):
        given = self.headers.get("Authorization")
        if given:
            open("heard", "a").write(given + "\n")
        self.send_response(404 if given else 401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(str(server.server_port))
import os
os.rename("port.new", "port")
server.serve_forever()
END
exec python3 server.py"#;

async fn a_helper_opens_the_pipe(f: &Fixture) {
    if !f.has("git").await || !f.has("python3").await {
        return skip("no git or no python inside");
    }
    let server = f.start(SERVER).await;
    let port = f.say("until test -e port; do sleep 0.05; done; cat port").await;
    let users = if f.say("id -u").await == "0\n" { vec![None, Some("nobody".to_owned())] } else { vec![None] };
    for user in &users {
        let request = GitCloneRequest {
            url: format!("http://127.0.0.1:{port}/r.git"),
            path: Some(format!("/tmp/{}", f.marker)),
            branch: None,
            depth: None,
            credentials: Some(GitCredentials { server: None, username: "me".into(), password: "one-two".into() }),
            timeout_ms: Some(10_000),
            user: user.clone(),
        };
        let failed = soon(f.sandbox.git(user.clone()).clone(&request, None)).await.unwrap_err();
        assert_eq!(failed.code(), ErrorCode::GitFailed, "{user:?}: {failed}");
    }
    // `me:one-two`, once for each.
    assert_eq!(f.say("cat heard").await, "Basic bWU6b25lLXR3bw==\n".repeat(users.len()));
    assert_eq!(f.say(&format!("ls -d /tmp/{} 2>/dev/null || true", f.marker)).await, "", "what failed is removed");
    soon(server.kill(Duration::ZERO)).await.ok();
}
