//! Waits for a port inside: by a connection, or by the answer to a request.

use std::time::Duration;

use atoll_protocol::ProcessState;
use atoll_runtime::{Error, HttpCheck, PortCheck, Process};

use crate::harness::{AT_ONCE, Fixture, log_text, printed, random, skip, soon};

in_every_mode! {
    one_thread {
        a_server_on_every_address,
        a_server_on_the_loopback_only,
        a_server_on_the_six_loopback_only,
        an_answer_with_path_and_status,
        a_port_that_never_answers_a_request,
        the_process_ends_first,
        no_port_at_all,
    }
}

const SHORT: Duration = Duration::from_millis(300);

/// Own port namespaces make any number free; on the host itself a random one nearly always is.
fn some_port() -> u16 {
    20_000 + u16::try_from(random() % 10_000).unwrap()
}

fn tcp(port: u16) -> PortCheck {
    PortCheck { port, http: None }
}

fn http(port: u16, path: &str, statuses: (u16, u16)) -> PortCheck {
    let path = path.to_owned();
    PortCheck { port, http: Some(HttpCheck { path, statuses }) }
}

/// Python from the system: the user's own may not be inside.
async fn has_python(f: &Fixture) -> bool {
    let found = f.has("/usr/bin/python3").await;
    if !found {
        skip("no python3 inside");
    }
    found
}

/// A server on `address` that listens when told by the fifo `go`.
async fn server(f: &Fixture, port: u16, address: &str) -> Process {
    f.say("mkfifo go; echo hello > page").await;
    f.start(&format!("read x < go; exec /usr/bin/python3 -u -m http.server {port} --bind {address}")).await
}

async fn answers_once_it_listens(f: &Fixture, address: &str) {
    if !has_python(f).await {
        return;
    }
    let port = some_port();
    let process = server(f, port, address).await;
    let check = tcp(port);
    let early = process.wait_port(&check, Some(SHORT)).await.unwrap_err();
    assert!(matches!(early, Error::WaitTimeout { millis: 300, .. }), "{early:?}");
    assert_eq!(process.state(), ProcessState::Running);
    let (answered, ()) = tokio::join!(process.wait_port(&check, Some(AT_ONCE)), async {
        f.say("echo > go").await;
    });
    answered.unwrap();
    soon(process.wait_port(&check, None)).await.unwrap();
}

async fn a_server_on_every_address(f: &Fixture) {
    answers_once_it_listens(f, "0.0.0.0").await;
}

async fn a_server_on_the_loopback_only(f: &Fixture) {
    answers_once_it_listens(f, "127.0.0.1").await;
}

async fn a_server_on_the_six_loopback_only(f: &Fixture) {
    if !f.sh("test -s /proc/net/if_inet6").await.end.success() {
        return skip("no IPv6 inside");
    }
    answers_once_it_listens(f, "::1").await;
}

async fn an_answer_with_path_and_status(f: &Fixture) {
    if !has_python(f).await {
        return;
    }
    let port = some_port();
    let process = server(f, port, "127.0.0.1").await;
    f.say("echo > go").await;
    process.wait_port(&http(port, "/page", (200, 299)), Some(AT_ONCE)).await.unwrap();
    process.wait_port(&http(port, "page", (200, 200)), Some(AT_ONCE)).await.unwrap();
    process.wait_port(&http(port, "/missing", (404, 404)), Some(AT_ONCE)).await.unwrap();
    for check in [http(port, "/missing", (200, 399)), http(port, "/page", (201, 599))] {
        let error = process.wait_port(&check, Some(SHORT)).await.unwrap_err();
        assert!(matches!(error, Error::WaitTimeout { .. }), "{error:?}");
    }
    assert_eq!(process.state(), ProcessState::Running);
    let (_, stderr) = crate::harness::read_log(process.log(), 0).await;
    assert!(String::from_utf8_lossy(&stderr).contains("GET /missing"));
}

/// Something listens, but it does not speak HTTP.
async fn a_port_that_never_answers_a_request(f: &Fixture) {
    if !has_python(f).await {
        return;
    }
    let port = some_port();
    let script = format!(
        "import socket\ns = socket.create_server(('127.0.0.1', {port}))\nprint('up', flush=True)\nwhile True: s.accept()[0].close()"
    );
    let process = f.start_command(atoll_runtime::Command::argv(["/usr/bin/python3", "-c", &script])).await;
    printed(&process, "up").await;
    process.wait_port(&tcp(port), Some(AT_ONCE)).await.unwrap();
    let error = process.wait_port(&http(port, "/", (100, 599)), Some(SHORT)).await.unwrap_err();
    assert!(matches!(error, Error::WaitTimeout { .. }), "{error:?}");
    assert_eq!(log_text(&process).await, "up\n");
}

async fn the_process_ends_first(f: &Fixture) {
    f.say("mkfifo go").await;
    let process = f.start("read x < go").await;
    let check = tcp(some_port());
    let waits = async {
        tokio::join!(process.wait_port(&check, None), async {
            f.say("echo > go").await;
        })
    };
    let (ended, ()) = soon(waits).await;
    assert!(matches!(ended, Err(Error::EndedWhileWaiting { .. })), "{ended:?}");
    let ended = soon(process.wait_port(&check, None)).await;
    assert!(matches!(ended, Err(Error::EndedWhileWaiting { .. })), "{ended:?}");
}

async fn no_port_at_all(f: &Fixture) {
    let process = f.start("sleep 300").await;
    let refused = soon(process.wait_port(&tcp(0), None)).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }), "{refused:?}");
}
