//! The machine's own public addresses are not reached by a name that turns into one. Each test has a network namespace of its
//! own, whose loopback interface has such addresses.

use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Call, Done, Home, command, need, skip};

/// Addresses of the public internet that the namespace takes for its own: two of the interface, and a block that is routed
/// to it as a whole.
const V4: &str = "93.184.215.14";
const V6: &str = "2606:2800:21f:cb07::1";
const ROUTED: &str = "93.184.216.9";

const PORT: u16 = 8000;

/// Runs the call in a new network namespace with these addresses, where a server listens on all of them.
fn on_such_a_machine(call: &Call) -> Call {
    let script = format!(
        "set -e
        ip link set lo up
        ip address add {V4}/32 dev lo
        ip -6 address add {V6}/128 dev lo nodad
        ip route add local 93.184.216.0/24 dev lo
        timeout 60 /usr/bin/python3 -c 'if True:
            import http.server, socket
            class Server(http.server.ThreadingHTTPServer): address_family = socket.AF_INET6
            server = Server((\"::\", {PORT}), http.server.SimpleHTTPRequestHandler)
            open(\"up\", \"w\").close()
            server.serve_forever()' > /dev/null 2>&1 & server=$!
        until [ -e up ]; do kill -0 $server; sleep 0.02; done
        code=0; \"$@\" || code=$?
        kill $server; wait $server || true
        exit $code"
    );
    let inner = &call.command;
    let mut wrapped = command("unshare");
    wrapped.args(["--net", "--", "sh", "-c", &script, "sh"]).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        if let Some(value) = value {
            wrapped.env(name, value);
        }
    }
    wrapped.current_dir(inner.get_current_dir().unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Call { command: wrapped }
}

fn fetch(home: &Home, address: &str, more: &[&str]) -> Done {
    let (rule, resolve) = (format!("own.test:{PORT}"), format!("own.test={address}"));
    let url = format!("curl -sS -m 10 -o /dev/null -w '%{{http_code}}' http://own.test:{PORT}/");
    let arguments = [&["--json", "--allow", &rule, "--resolve", &resolve][..], more, &["--", &url]].concat();
    std::fs::remove_file(home.cwd().join("up")).ok();
    on_such_a_machine(&home.run(arguments)).done()
}

fn denials(answer: &Value) -> Vec<(String, String)> {
    let text = |denial: &Value, name: &str| denial[name].as_str().unwrap_or_default().to_owned();
    let denials = answer["end"]["denials"].as_array().cloned().unwrap_or_default();
    denials.iter().map(|denial| (text(denial, "host"), text(denial, "reason"))).collect()
}

fn are_refused(home: &Home) {
    for address in [V4, V6, ROUTED, &format!("::ffff:{V4}")] {
        let done = fetch(home, address, &[]);
        let answer = done.json();
        let refused = [("own.test".to_owned(), "address_not_public".to_owned())];
        assert_eq!(denials(&answer), refused, "{address}: {done:?}");
        assert_ne!(answer["stdout"]["data"], "200", "{address}: {done:?}");
    }
    // A rule for the block says that they are meant.
    for (address, block) in [(V4, V4.to_owned()), (V6, format!("[{V6}]")), (ROUTED, "93.184.216.0/24".to_owned())] {
        let done = fetch(home, address, &["--allow", &format!("{block}:{PORT}")]);
        let answer = done.json();
        assert_eq!((&answer["stdout"]["data"], denials(&answer).len()), (&"200".into(), 0), "{address}: {done:?}");
    }
    home.assert_nothing_left();
}

#[test]
fn own_public_addresses_are_refused_unless_a_block_names_them() {
    need!("unshare", "ip", "curl", "python3");
    are_refused(&Home::new());
}

#[test]
fn own_public_addresses_are_refused_for_an_ordinary_user() {
    need!("unshare", "ip", "curl", "python3", "setpriv");
    let home = Home::ordinary();
    if home.run(["--", "true"]).done().stderr().contains("forbids user namespaces") {
        return skip("no user namespaces for an ordinary user");
    }
    are_refused(&home);
}
