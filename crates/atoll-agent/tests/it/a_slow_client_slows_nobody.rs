use atoll_client::Until;
use http_body_util::BodyExt;

use crate::harness::{for_exit, run, soon};
use crate::raw::{get, open};

/// Far more than the buffers of sockets and servers hold.
const BYTES: usize = 32 * 1024 * 1024;

#[test]
fn neither_the_process_nor_another_reader() {
    run(async |f| {
        let process = f.start("many", &format!("yes 0123456789abcde | head -c {BYTES}")).await;
        let path = format!("/v1/processes/{process}/output?encoding=base64");
        let slow = get(&path).header("accept", "text/event-stream");
        let (_, mut body, _open) = open(&f.socket(), slow, "").await;
        soon(f.client.wait(&process, &for_exit())).await.unwrap();
        let (stdout, _, end) = soon(f.client.follow(&process, 0, Until::End).collect()).await.unwrap();
        assert_eq!((stdout.len(), end.cursor), (BYTES, BYTES as u64));
        assert!(stdout.chunks(16).all(|line| line == b"0123456789abcde\n"));
        // The slow one gets everything all the same, when it comes to it.
        let mut text = Vec::new();
        while let Some(frame) = soon(body.frame()).await {
            text.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
        let events = String::from_utf8(text).unwrap();
        let last = events.lines().rfind(|line| line.starts_with("id: ")).unwrap();
        assert_eq!(last, format!("id: {BYTES}"));
        assert!(events.contains("event: end\n") && !events.contains("event: gap\n"));
    });
}
