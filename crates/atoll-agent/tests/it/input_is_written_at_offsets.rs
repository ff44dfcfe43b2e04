use atoll_client::{Error, Until};
use atoll_protocol::{ErrorCode, StartRequest, StdinMode};
use bytes::Bytes;

use crate::harness::{id, run, soon};
use crate::raw::ask;

#[test]
fn a_repeated_write_is_skipped_and_a_gap_refused() {
    run(async |f| {
        let request = StartRequest { id: Some(id("cat")), stdin: StdinMode::Pipe, ..StartRequest::argv(["cat"]) };
        let cat = soon(f.client.start(&request)).await.unwrap().id;
        let write = async |offset, text: &'static str| {
            soon(f.client.write_stdin(&cat, offset, Bytes::from_static(text.as_bytes()))).await
        };
        assert_eq!(write(0, "one ").await.unwrap(), 4);
        assert_eq!(write(0, "one ").await.unwrap(), 4);
        assert_eq!(write(2, "e two").await.unwrap(), 7);
        let Error::Refused { code, details, .. } = write(9, "x").await.unwrap_err() else { panic!() };
        assert_eq!((code, details.unwrap()["next_offset"].as_u64()), (Some(ErrorCode::StdinGap), Some(7)));
        soon(f.client.close_stdin(&cat)).await.unwrap();
        let (stdout, _, end) = soon(f.client.follow(&cat, 0, Until::End).collect()).await.unwrap();
        assert_eq!((stdout.as_slice(), end.end.code), (&b"one two"[..], Some(0)));
        assert!(matches!(
            write(7, "x").await.unwrap_err().code(),
            Some(ErrorCode::StdinNotOpen | ErrorCode::ProcessEnded)
        ));
    });
}

#[test]
fn input_is_streamed_however_large_it_is() {
    run(async |f| {
        let request = StartRequest { id: Some(id("sum")), stdin: StdinMode::Pipe, ..StartRequest::shell("cksum") };
        let sum = soon(f.client.start(&request)).await.unwrap().id;
        let piece = Bytes::from(vec![b'x'; 1024 * 1024]);
        let pieces = futures_util::stream::iter((0..24).map(move |_| Ok(piece.clone())));
        let written = soon(f.client.stream_stdin(&sum, 0, pieces)).await.unwrap();
        assert_eq!(written, 24 * 1024 * 1024, "more than a JSON body may hold");
        soon(f.client.close_stdin(&sum)).await.unwrap();
        let (stdout, ..) = soon(f.client.follow(&sum, 0, Until::End).collect()).await.unwrap();
        assert!(String::from_utf8(stdout).unwrap().contains(" 25165824"));
    });
}

#[test]
fn a_write_says_where_it_begins_and_needs_an_open_input() {
    run(async |f| {
        let closed = f.start("closed", "sleep 1000").await;
        let error = soon(f.client.write_stdin(&closed, 0, Bytes::from_static(b"x"))).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::StdinNotOpen));
        let put = http::Request::put("/v1/processes/closed/stdin");
        let (status, _, message) = ask(&f.socket(), put, "x").await.refusal();
        assert_eq!((status, message.as_str()), (400, "query: missing field `offset`"));
        let request = StartRequest { id: Some(id("wc")), stdin: StdinMode::Pipe, ..StartRequest::shell("wc -c") };
        soon(f.client.start(&request)).await.unwrap();
        let put = http::Request::put("/v1/processes/wc/stdin?offset=0&close=true");
        assert_eq!(ask(&f.socket(), put, "12345").await.json()["next_offset"], 5);
        let (stdout, ..) = soon(f.client.follow(&id("wc"), 0, Until::End).collect()).await.unwrap();
        assert_eq!(stdout, b"5\n");
    });
}
