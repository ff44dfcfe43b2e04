use std::time::Duration;

use atoll_client::OutputRange;
use atoll_protocol::{Encoding, ErrorCode, ExecRequest, Stream};

use crate::harness::{for_exit, id, run, soon};

#[test]
fn pages_follow_one_another() {
    run(async |f| {
        let process = f.start("seq", "seq 5000; echo end >&2").await;
        soon(f.client.wait(&process, &for_exit())).await.unwrap();
        let mut range = OutputRange { limit: Some(1000), wait: Some(Duration::from_secs(5)), ..OutputRange::default() };
        let (mut stdout, mut stderr) = (String::new(), String::new());
        loop {
            let page = soon(f.client.output(&process, &range)).await.unwrap();
            for event in &page.events {
                assert_eq!(event.cursor, range.since, "a gap or a repetition");
                range.since = event.next_cursor;
                match event.stream {
                    Stream::Stdout => stdout.push_str(&event.data),
                    Stream::Stderr => stderr.push_str(&event.data),
                }
            }
            assert_eq!(page.next_cursor, range.since);
            if page.closed {
                break;
            }
        }
        assert_eq!(stdout, (1..=5000).map(|number| format!("{number}\n")).collect::<String>());
        assert_eq!(stderr, "end\n");
    });
}

#[test]
fn a_page_is_waited_for() {
    run(async |f| {
        let process = f.start("later", "until test -e /tmp/go; do sleep 0.01; done; echo now; sleep 1000").await;
        let at_once = soon(f.client.output(&process, &OutputRange::default())).await.unwrap();
        assert_eq!((at_once.events.len(), at_once.closed), (0, false));
        let range = OutputRange { wait: Some(Duration::from_secs(15)), ..OutputRange::default() };
        let go = ExecRequest::shell("touch /tmp/go");
        let (page, _) = tokio::join!(f.client.output(&process, &range), f.client.exec(&go));
        assert_eq!(page.unwrap().events[0].data, "now\n");
        let short = OutputRange { since: 4, wait: Some(Duration::from_millis(50)), ..OutputRange::default() };
        assert_eq!(soon(f.client.output(&process, &short)).await.unwrap().next_cursor, 4);
    });
}

#[test]
fn a_character_is_not_cut_by_the_end_of_a_page() {
    run(async |f| {
        let process = f.start("euro", "printf 'a\\342\\202\\254b'; printf '\\377'").await;
        soon(f.client.wait(&process, &for_exit())).await.unwrap();
        let page = async |since, limit| {
            let range = OutputRange { since, limit: Some(limit), ..OutputRange::default() };
            let page = soon(f.client.output(&process, &range)).await.unwrap();
            let text: String = page.events.iter().map(|event| event.data.as_str()).collect();
            (text, page.next_cursor)
        };
        assert_eq!(page(0, 3).await, ("a".to_owned(), 1));
        assert_eq!(page(1, 3).await, ("\u{20ac}".to_owned(), 4));
        assert_eq!(page(1, 2).await, ("\u{fffd}".to_owned(), 3), "a page that is too small still gets on");
        let exact = OutputRange { encoding: Encoding::Base64, ..OutputRange::default() };
        let page = soon(f.client.output(&process, &exact)).await.unwrap();
        let bytes: Vec<u8> = page.events.iter().flat_map(|event| event.encoding.decode(&event.data).unwrap()).collect();
        assert_eq!(bytes, b"a\xe2\x82\xacb\xff");
        let error = soon(f.client.output(&id("none"), &exact)).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::ProcessNotFound));
    });
}
