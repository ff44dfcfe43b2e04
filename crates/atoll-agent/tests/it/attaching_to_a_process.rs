use atoll_protocol::{
    AttachCommand, AttachEvent, Encoding, ErrorCode, Signal, SignalRequest, SignalScope, StartRequest, StdinMode,
    StdinPiece,
};
use futures_util::{SinkExt, StreamExt};
use tokio::net::UnixStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::harness::{Fixture, id, run, soon};

type Socket = WebSocketStream<UnixStream>;

async fn attach(f: &Fixture, path: &str) -> Socket {
    let stream = UnixStream::connect(f.socket()).await.unwrap();
    let (socket, _) = soon(tokio_tungstenite::client_async(format!("ws://localhost{path}"), stream)).await.unwrap();
    socket
}

async fn next(socket: &mut Socket) -> Option<AttachEvent> {
    loop {
        match soon(socket.next()).await?.unwrap() {
            Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
            Message::Close(_) => return None,
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
}

/// The next event that is no output, which may come at any moment.
async fn answer(socket: &mut Socket) -> AttachEvent {
    loop {
        let event = next(socket).await.unwrap();
        if !matches!(event, AttachEvent::Output(_)) {
            return event;
        }
    }
}

async fn send(socket: &mut Socket, command: &AttachCommand) {
    socket.send(Message::text(serde_json::to_string(command).unwrap())).await.unwrap();
}

fn piece(offset: u64, data: &str) -> AttachCommand {
    AttachCommand::Stdin(StdinPiece { offset, data: data.to_owned(), encoding: Encoding::Utf8 })
}

#[test]
fn input_and_signals_go_in_and_output_comes_out() {
    run(async |f| {
        let command = "trap 'echo caught' INT; while read x; do echo got $x; done; exit 6";
        let request = StartRequest { id: Some(id("p")), stdin: StdinMode::Pipe, ..StartRequest::shell(command) };
        soon(f.client.start(&request)).await.unwrap();
        let mut socket = attach(f, "/v1/processes/p/attach").await;
        send(&mut socket, &piece(0, "one\n")).await;
        let (mut printed, mut answers) = (String::new(), Vec::new());
        while printed.is_empty() || answers.is_empty() {
            let event = next(&mut socket).await.unwrap();
            if let AttachEvent::Output(output) = event {
                printed.push_str(&output.data);
            } else {
                answers.push(event);
            }
        }
        assert_eq!(printed, "got one\n");
        assert!(matches!(answers[0], AttachEvent::Written(receipt) if receipt.next_offset == 4));
        send(&mut socket, &piece(9, "x")).await;
        let AttachEvent::Error(gap) = answer(&mut socket).await else { panic!() };
        assert_eq!(gap.code, ErrorCode::StdinGap);
        socket.send(Message::text("{\"stdn\":1}")).await.unwrap();
        let AttachEvent::Error(unknown) = answer(&mut socket).await else { panic!() };
        assert!(unknown.message.contains("unknown variant `stdn`"), "{}", unknown.message);
        let int = SignalRequest { signal: Signal::INT, scope: SignalScope::Main };
        send(&mut socket, &AttachCommand::Signal(int)).await;
        assert!(matches!(answer(&mut socket).await, AttachEvent::Signalled(receipt) if receipt.signalled == 1));
        send(&mut socket, &AttachCommand::Close).await;
        let AttachEvent::End(end) = answer(&mut socket).await else { panic!() };
        assert_eq!(end.end.code, Some(6));
        assert_eq!(next(&mut socket).await, None);
    });
}

#[test]
fn leaving_changes_nothing_and_coming_back_goes_on() {
    run(async |f| {
        f.start("p", "echo one; until test -e /tmp/go; do sleep 0.01; done; echo two").await;
        let mut socket = attach(f, "/v1/processes/p/attach").await;
        let AttachEvent::Output(one) = next(&mut socket).await.unwrap() else { panic!() };
        drop(socket);
        let mut socket = attach(f, &format!("/v1/processes/p/attach?since={}&encoding=base64", one.next_cursor)).await;
        f.client.exec(&atoll_protocol::ExecRequest::shell("touch /tmp/go")).await.unwrap();
        let AttachEvent::Output(two) = next(&mut socket).await.unwrap() else { panic!() };
        assert_eq!((two.cursor, two.encoding.decode(&two.data).unwrap().as_slice()), (4, &b"two\n"[..]));
        assert!(matches!(next(&mut socket).await.unwrap(), AttachEvent::End(_)));
    });
}
