//! Programs as people use them, through real TLS, to servers that only a test's own authority vouches for.

use atoll_protocol::{DenialReason, NetworkPolicy, PutSecret};
use atoll_runtime::Sandbox;

use super::outside::{Authority, Server};
use super::{assert_denied, domain, loopback, policy, python, sh, with};
use crate::harness::{Fixture, err, out, skip};

in_every_mode! {
    isolated {
        curl_and_python_and_node_and_git_pass_tls_through,
        the_same_with_a_secret,
    }
}

const VALUE: &str = "token-0123456789";

/// The programs that are there, by how each fetches `$URL`; with a header that holds `$KEY`.
async fn programs(f: &Fixture) -> Vec<(&'static str, String)> {
    let urllib = "import os, urllib.request as u\nr = u.Request(os.environ['URL'] + '/python', headers={'X-Key': os.environ['KEY']})\nprint(u.urlopen(r).read().decode(), end='')";
    let node = "const k = process.env; fetch(k.URL + '/node', {headers: {'x-key': k.KEY}}).then(r => r.text()).then(t => process.stdout.write(t))";
    let all = [
        ("/usr/bin/curl", "curl -sS -H \"X-Key: $KEY\" $URL/curl".to_owned()),
        ("/usr/bin/python3", format!("/usr/bin/python3 -c \"{}\"", urllib.replace('"', "\\\""))),
        ("/usr/bin/node", format!("/usr/bin/node -e \"{node}\"")),
    ];
    let mut found = Vec::new();
    for (program, command) in all {
        if f.has(program).await { found.push((program, command)) } else { skip(&format!("no {program} inside")) }
    }
    found
}

struct World {
    authority: Authority,
    outside: Server,
    sandbox: Sandbox,
}

async fn world(f: &Fixture) -> World {
    let authority = Authority::new();
    let outside = Server::https(&authority, &["api.test"]).await;
    let port = outside.port;
    let rules = vec![domain("api.test", &[port]), loopback(&[port])];
    let given = NetworkPolicy { trust: Some(authority.pem.clone()), ..policy(rules, &["api.test", "other.test"]) };
    let sandbox = with(f, given).await;
    World { authority, outside, sandbox }
}

async fn curl_and_python_and_node_and_git_pass_tls_through(f: &Fixture) {
    let World { authority, outside, sandbox } = world(f).await;
    let port = outside.port;
    // What passes through is between the two: they must trust each other by themselves.
    let write = format!("cat > /workspace/ca.pem <<'E'\n{}E", authority.pem);
    sh(&sandbox, &write).await;
    let trust = "export SSL_CERT_FILE=/workspace/ca.pem CURL_CA_BUNDLE=/workspace/ca.pem NODE_EXTRA_CA_CERTS=/workspace/ca.pem GIT_SSL_CAINFO=/workspace/ca.pem KEY=own;";
    for (program, command) in programs(f).await {
        let output = sh(&sandbox, &format!("{trust} export URL=https://api.test:{port}; {command}")).await;
        assert_eq!(out(&output), "welcome\n", "{program}: {}", err(&output));
        let output = sh(&sandbox, &format!("{trust} export URL=https://other.test:{port}; {command}")).await;
        assert_denied(&output, DenialReason::NoRule);
    }
    let output = sh(&sandbox, &format!("{trust} git ls-remote https://api.test:{port}/repository.git")).await;
    assert!(outside.heard().iter().any(|head| head.starts_with("GET /repository.git/info/refs")), "{}", err(&output));
}

async fn the_same_with_a_secret(f: &Fixture) {
    let World { outside, sandbox, .. } = world(f).await;
    let port = outside.port;
    let secret = PutSecret {
        value: VALUE.to_owned(),
        hosts: vec![format!("api.test:{port}")],
        headers: vec!["x-key".to_owned(), "authorization".to_owned()],
    };
    sandbox.put_secret("KEY", secret).await.unwrap();
    // Nothing is set up inside: each finds the sandbox's own authority by itself.
    for (program, command) in programs(f).await {
        let output = sh(&sandbox, &format!("export URL=https://api.test:{port}; {command}")).await;
        assert_eq!(out(&output), "welcome\n", "{program}: {}", err(&output));
        let heard = outside.heard().pop().unwrap();
        assert!(heard.to_lowercase().contains(&format!("x-key: {VALUE}\r\n")), "{program}: {heard}");
    }
    sh(
        &sandbox,
        &format!("git -c http.extraHeader=\"Authorization: Bearer $KEY\" ls-remote https://api.test:{port}/r.git"),
    )
    .await;
    let heard = outside.heard().pop().unwrap();
    assert!(heard.contains(&format!("Authorization: Bearer {VALUE}")), "{heard}");
    // And by the system's own list, without any variable.
    let output = python(
        &sandbox,
        &format!(
            "import os, ssl, urllib.request as u\nc = ssl.create_default_context(cafile='/etc/ssl/certs/ca-certificates.crt')\n\
             print(u.urlopen('https://api.test:{port}/', context=c).status)"
        ),
    )
    .await;
    assert_eq!(out(&output), "200\n", "{}", err(&output));
}
