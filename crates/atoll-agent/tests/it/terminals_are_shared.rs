use std::time::Duration;

use atoll_client::{Attach, Attachment, TerminalEvent, View};
use atoll_protocol::{
    EndReason, ErrorCode, ProcessState, ResizeRequest, Signal, SignalRequest, SignalScope, TerminalRequest, WindowSize,
};
use bytes::Bytes;

use crate::harness::{for_exit, for_text, run, soon, terminal_id};

fn running(name: &str, command: &str) -> TerminalRequest {
    TerminalRequest { id: Some(terminal_id(name)), command: Some(command.to_owned()), ..TerminalRequest::default() }
}

/// Reads on until a text was shown.
async fn until(viewer: &mut Attachment, text: &str) -> Vec<u8> {
    let mut shown = Vec::new();
    loop {
        match soon(viewer.next()).await.unwrap() {
            Some(TerminalEvent::Output { bytes, .. }) => shown.extend_from_slice(&bytes),
            Some(_) => {}
            None => panic!("{text:?} was never shown: {:?}", String::from_utf8_lossy(&shown)),
        }
        if String::from_utf8_lossy(&shown).contains(text) {
            return shown;
        }
    }
}

#[test]
fn they_are_opened_typed_into_looked_at_and_deleted() {
    run(async |f| {
        let name = terminal_id("t");
        let request = TerminalRequest { cols: Some(40), rows: Some(10), ..running("t", "stty size; cat") };
        let info = soon(f.client.open_terminal(&request)).await.unwrap();
        assert_eq!((info.size, info.state), (WindowSize::new(40, 10).unwrap(), ProcessState::Running));
        soon(f.client.wait_terminal(&name, &for_text("10 40"))).await.unwrap();
        soon(f.client.write_terminal(&name, Bytes::from_static(b"typed\n"))).await.unwrap();
        soon(f.client.wait_terminal(&name, &for_text("typed\r\ntyped"))).await.unwrap();
        let screen = soon(f.client.screen(&name)).await.unwrap();
        assert_eq!(screen.text.trim_end(), "10 40\ntyped\ntyped");
        assert_eq!((screen.cursor_row, screen.whole), (3, true));
        let resize = ResizeRequest { cols: 50, rows: 12, by: Some("me".to_owned()) };
        let info = soon(f.client.resize_terminal(&name, &resize)).await.unwrap();
        assert_eq!((info.size.cols(), info.resized_by.as_deref()), (50, Some("me")));
        let recording = soon(f.client.recording(&name, 0)).await.unwrap();
        let header: serde_json::Value =
            serde_json::from_slice(recording.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        assert_eq!((&header["version"], &header["width"]), (&2.into(), &40.into()));
        let page = soon(f.client.terminal_output(&name, &atoll_client::OutputRange::default())).await.unwrap();
        assert!(page.events[0].data.starts_with("10 40\r\n"));
        assert_eq!(soon(f.client.terminals()).await.unwrap().len(), 1);
        assert_eq!(soon(f.client.sandbox()).await.unwrap().terminals, 1);
        let receipt = soon(f.client.delete_terminal(&name, Some(Duration::from_secs(1)))).await.unwrap();
        assert_eq!(receipt.survivors, 0);
        assert_eq!(soon(f.client.terminal(&name)).await.unwrap_err().code(), Some(ErrorCode::TerminalNotFound));
    });
}

#[test]
fn an_id_has_one_program() {
    run(async |f| {
        let first = soon(f.client.open_terminal(&running("t", "sleep 1000"))).await.unwrap();
        let again = soon(f.client.open_terminal(&running("t", "sleep 1000"))).await.unwrap();
        assert_eq!(first.pid, again.pid);
        let other = soon(f.client.open_terminal(&running("t", "true"))).await.unwrap_err();
        assert_eq!(other.code(), Some(ErrorCode::TerminalAlreadyExists));
        let wide = TerminalRequest { cols: Some(5000), ..TerminalRequest::default() };
        let refused = soon(f.client.open_terminal(&wide)).await.unwrap_err();
        assert!(refused.to_string().starts_with("5000 x 24 is not a valid window size"), "{refused}");
        let kill = SignalRequest { signal: Signal::KILL, scope: SignalScope::Tree };
        soon(f.client.signal_terminal(&terminal_id("t"), &kill)).await.unwrap();
        let end = soon(f.client.wait_terminal(&terminal_id("t"), &for_exit())).await.unwrap().end.unwrap();
        assert_eq!(end.reason, EndReason::Signaled);
    });
}

#[test]
fn attaching_opens_what_is_not_there_and_viewers_share_it() {
    run(async |f| {
        let name = terminal_id("shared");
        let watch = View { read_only: true, ..View::default() };
        let missing = soon(f.client.attach_terminal(&name, watch).next()).await.unwrap_err();
        assert_eq!(missing.code(), Some(ErrorCode::TerminalNotFound));
        let size = Some(WindowSize::new(100, 30).unwrap());
        let mut writer = f.client.attach_terminal(&name, View { size, ..View::default() });
        let Some(TerminalEvent::Ready(ready)) = soon(writer.next()).await.unwrap() else { panic!() };
        assert_eq!((ready.cursor, ready.terminal.size.cols()), (0, 100));
        let mut watcher = f.client.attach_terminal(&name, View { from: Attach::Cursor(0), ..watch });
        soon(writer.write(Bytes::from_static(b"stty size; echo $((6*7))\n"))).await.unwrap();
        until(&mut writer, "30 100").await;
        until(&mut watcher, "\n42\r\n").await;
        assert_eq!(soon(f.client.terminal(&name)).await.unwrap().viewers, 2);
        soon(watcher.write(Bytes::from_static(b"x"))).await.unwrap();
        let refused = loop {
            if let Some(TerminalEvent::Refused(body)) = soon(watcher.next()).await.unwrap() {
                break body;
            }
        };
        assert_eq!(refused.code, ErrorCode::TerminalReadOnly);
        soon(writer.resize(WindowSize::new(90, 20).unwrap())).await.unwrap();
        let resized = loop {
            if let Some(TerminalEvent::Resized(resized)) = soon(watcher.next()).await.unwrap()
                && resized.by.is_some()
            {
                break resized;
            }
        };
        assert_eq!(resized.size.cols(), 90);
        drop(watcher);
        soon(writer.write(Bytes::from_static(b"exit 5\n"))).await.unwrap();
        let exit = loop {
            match soon(writer.next()).await.unwrap() {
                Some(TerminalEvent::Exit(exit)) => break exit,
                Some(_) => {}
                None => panic!("no exit"),
            }
        };
        assert_eq!(exit.end.code, Some(5));
        assert_eq!(soon(writer.next()).await.unwrap(), None);
    });
}

#[test]
fn who_comes_late_learns_how_it_ended() {
    run(async |f| {
        let name = terminal_id("late");
        soon(f.client.open_terminal(&running("late", "echo last words; exit 9"))).await.unwrap();
        soon(f.client.wait_terminal(&name, &for_exit())).await.unwrap();
        let mut viewer = f.client.attach_terminal(&name, View::default());
        let (mut shown, mut code) = (Vec::new(), None);
        while let Some(event) = soon(viewer.next()).await.unwrap() {
            match event {
                TerminalEvent::Output { bytes, .. } => shown.extend_from_slice(&bytes),
                TerminalEvent::Exit(exit) => code = exit.end.code,
                TerminalEvent::Ready(_) | TerminalEvent::Resized(_) => {}
                other @ (TerminalEvent::Truncated(_) | TerminalEvent::Refused(_)) => panic!("{other:?}"),
            }
        }
        assert_eq!((shown.as_slice(), code), (&b"last words\r\n"[..], Some(9)));
        let ended = soon(f.client.write_terminal(&name, Bytes::from_static(b"x"))).await.unwrap_err();
        assert_eq!(ended.code(), Some(ErrorCode::TerminalEnded));
    });
}
