use std::os::unix::fs::{MetadataExt, PermissionsExt};

use atoll_agent::{Listener, Token, serve};
use atoll_client::{Client, Until};
use atoll_protocol::{EndReason, ErrorCode, ExecRequest, Isolation, SandboxState};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::harness::{run, soon};

#[test]
fn the_sandbox_is_shown() {
    run(async |f| {
        let info = soon(f.client.sandbox()).await.unwrap();
        assert_eq!((&info.name, info.isolation), (f.agent.sandbox().name(), Isolation::Namespaces));
        assert_eq!(info.state, SandboxState::Running);
        assert_eq!((info.labels["for"].as_str(), info.processes, info.terminals), ("tests", 0, 0));
        assert_eq!(info.version, env!("CARGO_PKG_VERSION"));
    });
}

#[test]
fn a_socket_is_private_and_takes_the_place_of_an_old_one() {
    run(async |f| {
        let metadata = std::fs::metadata(f.socket()).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
        let second = Listener::unix(&f.socket()).unwrap();
        assert_ne!(std::fs::metadata(f.socket()).unwrap().ino(), metadata.ino());
        let serving = tokio::spawn(serve(f.agent.clone(), vec![second]));
        let fresh = Client::unix(f.socket());
        assert_eq!(soon(fresh.exec(&ExecRequest::shell("echo hi"))).await.unwrap().stdout.data, "hi\n");
        soon(f.agent.stop()).await.unwrap();
        soon(serving).await.unwrap();
        let file = f.directory.path().join("file");
        std::fs::write(&file, "precious").unwrap();
        let error = Listener::unix(&file).unwrap_err().to_string();
        assert!(error.ends_with("something else than a socket is there"), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), b"precious");
        let too_long = f.directory.path().join("x".repeat(120)).join("socket");
        let error = Listener::unix(&too_long).unwrap_err().to_string();
        assert!(error.starts_with("cannot listen on "), "{error}");
    });
}

#[test]
fn tcp_is_for_those_who_know_the_token() {
    run(async |f| {
        let token = "0123456789abcdef0123456789abcdef";
        let listener = Listener::tcp("127.0.0.1:0".parse().unwrap(), Token::new(token).unwrap()).await.unwrap();
        let address = listener.address().unwrap().to_string();
        let serving = tokio::spawn(serve(f.agent.clone(), vec![listener]));
        let known = Client::tcp(&address, token).unwrap();
        assert_eq!(soon(known.exec(&ExecRequest::shell("echo hi"))).await.unwrap().stdout.data, "hi\n");
        let mut viewer = known.attach_terminal(&crate::harness::terminal_id("t"), atoll_client::View::default());
        soon(viewer.next()).await.unwrap();
        for wrong in ["wrong", "0123456789abcdef0123456789abcdee"] {
            let error = soon(Client::tcp(&address, wrong).unwrap().sandbox()).await.unwrap_err();
            assert_eq!(error.code(), Some(ErrorCode::Unauthorized));
        }
        soon(f.agent.stop()).await.unwrap();
        soon(serving).await.unwrap();
    });
}

#[test]
fn http2_without_tls_is_spoken_too() {
    run(async |f| {
        let stream = tokio::net::UnixStream::connect(f.socket()).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        let driving = tokio::spawn(connection);
        let request = http::Request::get("http://localhost/v1/sandbox").body(Empty::<bytes::Bytes>::new()).unwrap();
        let response = soon(sender.send_request(request)).await.unwrap();
        assert_eq!((response.status().as_u16(), response.version()), (200, http::Version::HTTP_2));
        let body = soon(response.into_body().collect()).await.unwrap().to_bytes();
        assert!(serde_json::from_slice::<serde_json::Value>(&body).unwrap()["name"].is_string());
        drop(sender);
        soon(driving).await.unwrap().unwrap();
    });
}

#[test]
fn deleting_the_sandbox_ends_everything_and_tells_those_who_watch() {
    run(async |f| {
        let process = f.start("p", "echo up; sleep 1000").await;
        f.printed(&process, "up").await;
        let follower = f.client.follow(&process, 0, Until::End);
        let watching = tokio::spawn(follower.collect());
        // Two at once: both are told when nothing is left.
        let (first, second) = tokio::join!(f.client.delete_sandbox(), f.agent.stop());
        assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
        let (stdout, _, end) = soon(watching).await.unwrap().unwrap();
        assert_eq!((stdout.as_slice(), end.end.reason), (&b"up\n"[..], EndReason::SandboxStopped));
    });
}
