use crate::harness::run;
use crate::raw::{Event, Events, ask, get, post};

/// The bytes of all output events, with every cursor checked.
fn text(events: &[Event], since: u64) -> String {
    let mut cursor = since;
    let mut text = String::new();
    for event in events.iter().filter(|event| event.name == "output") {
        assert_eq!(event.data["cursor"], cursor, "a gap or a repetition");
        cursor = event.id.unwrap();
        assert_eq!(event.data["next_cursor"], cursor);
        text.push_str(event.data["data"].as_str().unwrap());
    }
    text
}

#[test]
fn a_streamed_command_begins_prints_and_ends() {
    run(async |f| {
        let body = r#"{"command":"echo out; echo err >&2; exit 4","id":"streamed"}"#;
        let mut events = Events::open(&f.socket(), post("/v1/exec"), body).await;
        let start = events.next().await.unwrap();
        assert_eq!((start.name.as_str(), start.data["id"].as_str().unwrap()), ("start", "streamed"));
        let rest = events.rest().await;
        let (end, output) = rest.split_last().unwrap();
        assert!(output.iter().all(|event| event.name == "output"));
        let mut lines: Vec<_> = text(output, 0).lines().map(str::to_owned).collect();
        lines.sort();
        assert_eq!(lines, ["err", "out"]);
        assert_eq!((end.name.as_str(), end.id), ("end", Some(8)));
        assert_eq!((&end.data["end"]["code"], &end.data["stdout"]["data"]), (&4.into(), &"out\n".into()));
    });
}

#[test]
fn a_streamed_command_goes_on_where_it_was_and_never_runs_twice() {
    run(async |f| {
        let command = r#"{"command":"echo $$ >> /tmp/ran; echo one; until test -e /tmp/go; do sleep 0.01; done; echo two","id":"once"}"#;
        let mut first = Events::open(&f.socket(), post("/v1/exec"), command).await;
        assert_eq!(first.next().await.unwrap().name, "start");
        let one = first.next().await.unwrap();
        assert_eq!(one.data["data"], "one\n");
        drop(first);
        let again = post("/v1/exec").header("last-event-id", one.id.unwrap().to_string());
        let mut second = Events::open(&f.socket(), again, command).await;
        assert_eq!(second.next().await.unwrap().name, "start");
        f.client.exec(&atoll_protocol::ExecRequest::shell("touch /tmp/go")).await.unwrap();
        let rest = second.rest().await;
        assert_eq!(text(&rest, 4), "two\n");
        let ran = f.client.exec(&atoll_protocol::ExecRequest::shell("wc -l < /tmp/ran")).await.unwrap();
        assert_eq!(ran.stdout.data, "1\n");
        let unknown = post("/v1/exec").header("last-event-id", "0").header("accept", "text/event-stream");
        let refused = ask(&f.socket(), unknown, r#"{"command":"touch /tmp/twice","id":"never"}"#).await.refusal();
        assert_eq!((refused.0, refused.1.as_str()), (404, "PROCESS_NOT_FOUND"));
    });
}

#[test]
fn a_follower_resumes_by_the_last_id_and_gets_no_byte_twice() {
    run(async |f| {
        let process = f.start("count", "for i in $(seq 2000); do echo line $i; done").await;
        let mut all = String::new();
        let mut cursor = 0;
        // A new connection for every third event.
        loop {
            let path = format!("/v1/processes/{process}/output?since=999999");
            let request = get(&path).header("last-event-id", cursor.to_string());
            let mut events = Events::open(&f.socket(), request, "").await;
            let mut some = Vec::new();
            for _ in 0..3 {
                some.extend(events.next().await);
            }
            all.push_str(&text(&some, cursor));
            cursor = some.last().unwrap().id.unwrap();
            if let Some(end) = some.iter().find(|event| event.name == "end") {
                assert_eq!((&end.data["cursor"], &end.data["end"]["code"]), (&cursor.into(), &0.into()));
                assert_eq!(events.next().await, None);
                break;
            }
        }
        let expected: String = (1..=2000).map(|number| format!("line {number}\n")).collect();
        assert_eq!(all, expected);
    });
}

#[test]
fn a_follower_can_wait_for_what_a_command_left_behind() {
    run(async |f| {
        let process = f.start("parent", "(until test -e /tmp/go; do sleep 0.01; done; echo late) & echo early").await;
        let path = format!("/v1/processes/{process}/output");
        let mut to_the_end = Events::open(&f.socket(), get(&path), "").await;
        let mut until_closed = Events::open(&f.socket(), get(&format!("{path}?until=closed")), "").await;
        let ended = to_the_end.rest().await;
        assert_eq!(text(&ended, 0), "early\n");
        assert_eq!(ended.last().unwrap().name, "end");
        f.client.exec(&atoll_protocol::ExecRequest::shell("touch /tmp/go")).await.unwrap();
        let closed = until_closed.rest().await;
        assert_eq!(text(&closed, 0), "early\nlate\n");
        assert_eq!(closed.last().unwrap().name, "end");
    });
}

#[test]
fn a_cursor_that_is_none_is_refused() {
    run(async |f| {
        f.start("x", "true").await;
        let request = get("/v1/processes/x/output").header("accept", "text/event-stream").header("last-event-id", "x");
        assert_eq!(ask(&f.socket(), request, "").await.refusal().2, "last-event-id: not a cursor of this stream");
    });
}
