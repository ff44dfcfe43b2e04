use atoll_client::{Attach, Client, ExecEvent, FollowEvent, TerminalEvent, Until, View};
use atoll_protocol::{ExecRequest, OnDisconnect, TerminalRequest};
use bytes::Bytes;

use crate::harness::{id, run, soon, terminal_id};
use crate::proxy::Proxy;

/// Numbered lines with pauses, so that there is something to cut.
const LINES: &str = "for i in $(seq 400); do echo line $i; test $((i % 40)) = 0 && sleep 0.02; done";

fn expected() -> String {
    (1..=400).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn a_follower_gets_every_byte_once() {
    run(async |f| {
        for seed in 0..4 {
            let process = f.start(&format!("p{seed}"), LINES).await;
            let proxy = Proxy::new(&f.socket(), seed, 2000);
            let mut follow = Client::unix(&proxy.socket).follow(&process, 0, Until::End);
            let (mut text, mut ended) = (String::new(), false);
            while let Some(event) = soon(follow.next()).await.unwrap() {
                match event {
                    FollowEvent::Output(output) => {
                        assert_eq!(output.cursor, text.len() as u64, "seed {seed}");
                        text.push_str(str::from_utf8(&output.bytes).unwrap());
                    }
                    FollowEvent::Gap(gap) => panic!("seed {seed}: {gap:?}"),
                    FollowEvent::End(end) => {
                        assert_eq!(end.end.code, Some(0));
                        ended = true;
                    }
                }
            }
            assert_eq!(text, expected(), "seed {seed}");
            assert!(ended && proxy.cuts() > 0, "seed {seed}: {} cuts", proxy.cuts());
        }
    });
}

#[test]
fn a_streamed_command_runs_once_and_is_told_whole() {
    run(async |f| {
        for seed in 10..13 {
            let proxy = Proxy::new(&f.socket(), seed, 2000);
            let request = ExecRequest::shell(format!("echo x >> /tmp/ran{seed}; {LINES}; exit 3"));
            let mut stream = Client::unix(&proxy.socket).exec_stream(request).unwrap();
            let (mut text, mut starts, mut code) = (String::new(), 0, None);
            while let Some(event) = soon(stream.next()).await.unwrap() {
                match event {
                    ExecEvent::Start(_) => starts += 1,
                    ExecEvent::Output(output) => text.push_str(str::from_utf8(&output.bytes).unwrap()),
                    ExecEvent::Gap(gap) => panic!("seed {seed}: {gap:?}"),
                    ExecEvent::End(result) => code = result.end.code,
                }
            }
            assert_eq!((text, starts, code), (expected(), 1, Some(3)), "seed {seed}");
            let ran = soon(f.client.exec(&ExecRequest::shell(format!("cat /tmp/ran{seed}")))).await.unwrap();
            assert_eq!(ran.stdout.data, "x\n", "seed {seed}: it ran more than once");
            assert!(proxy.cuts() > 0);
        }
    });
}

#[test]
fn a_terminal_goes_on_at_the_same_byte() {
    run(async |f| {
        for seed in 20..23 {
            let name = terminal_id(&format!("t{seed}"));
            let command = Some(format!("stty -onlcr; read x; {LINES}; exit 7"));
            let request = TerminalRequest { id: Some(name.clone()), command, ..TerminalRequest::default() };
            soon(f.client.open_terminal(&request)).await.unwrap();
            let proxy = Proxy::new(&f.socket(), seed, 1500);
            let view = View { from: Attach::Cursor(0), ..View::default() };
            let mut viewer = Client::unix(&proxy.socket).attach_terminal(&name, view);
            soon(f.client.write_terminal(&name, Bytes::from_static(b"go\n"))).await.unwrap();
            let (mut bytes, mut code) = (Vec::new(), None);
            while let Some(event) = soon(viewer.next()).await.unwrap() {
                match event {
                    TerminalEvent::Output { cursor, bytes: more } => {
                        assert_eq!(cursor, bytes.len() as u64, "seed {seed}");
                        bytes.extend_from_slice(&more);
                    }
                    TerminalEvent::Exit(exit) => code = exit.end.code,
                    TerminalEvent::Ready(_) | TerminalEvent::Resized(_) => {}
                    other @ (TerminalEvent::Truncated(_) | TerminalEvent::Refused(_)) => {
                        panic!("seed {seed}: {other:?}")
                    }
                }
            }
            let shown = String::from_utf8(bytes).unwrap();
            assert!(shown.ends_with(&expected()), "seed {seed}: {shown:?}");
            assert_eq!(code, Some(7), "seed {seed}");
            assert!(proxy.cuts() > 0);
        }
    });
}

#[test]
fn what_cannot_be_resumed_is_told() {
    run(async |f| {
        let proxy = Proxy::new(&f.socket(), 30, 1500);
        let request =
            ExecRequest { id: Some(id("tied")), on_disconnect: OnDisconnect::Kill, ..ExecRequest::shell("yes") };
        let mut stream = Client::unix(&proxy.socket).exec_stream(request).unwrap();
        let error = loop {
            match soon(stream.next()).await {
                Ok(event) => assert!(event.is_some()),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().starts_with("the connection broke"), "{error}");
        soon(f.client.wait(&id("tied"), &crate::harness::for_exit())).await.ok();
        let gone = Client::unix(f.directory.path().join("nowhere")).with_patience(std::time::Duration::ZERO);
        let error = soon(gone.follow(&id("x"), 0, Until::End).next()).await.unwrap_err();
        assert!(error.to_string().starts_with("cannot reach "), "{error}");
        let unknown = soon(f.client.follow(&id("unknown"), 0, Until::End).next()).await.unwrap_err();
        assert_eq!(unknown.code(), Some(atoll_protocol::ErrorCode::ProcessNotFound));
    });
}
