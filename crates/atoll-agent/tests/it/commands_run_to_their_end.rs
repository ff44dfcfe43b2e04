use std::collections::BTreeMap;

use atoll_protocol::{Background, Encoding, EndReason, ErrorCode, ExecRequest};

use crate::harness::{id, run, soon};

#[test]
fn an_answer_holds_both_outputs_and_the_code() {
    run(async |f| {
        let request = ExecRequest::shell("echo out; echo err >&2; echo $GREETING; exit 3");
        let result = soon(f.client.exec(&request)).await.unwrap();
        assert_eq!((result.stdout.data.as_str(), result.stderr.data.as_str()), ("out\nhello\n", "err\n"));
        assert_eq!((result.end.reason, result.end.code), (EndReason::Exited, Some(3)));
        let listed = soon(f.client.processes(None, &BTreeMap::new())).await.unwrap();
        assert_eq!(listed, [], "an answer that told everything needs no record");
    });
}

#[test]
fn every_option_reaches_the_command() {
    run(async |f| {
        let request = ExecRequest {
            cwd: Some("/tmp".to_owned()),
            env: BTreeMap::from([("GREETING".to_owned(), None), ("ADDED".to_owned(), Some("x y".to_owned()))]),
            stdin: Some("from stdin".to_owned()),
            id: Some(id("named")),
            labels: BTreeMap::from([("kind".to_owned(), "test".to_owned())]),
            background: Background::Kill,
            ..ExecRequest::argv(["sh", "-c", "pwd; echo ${GREETING-unset} \"$ADDED\"; cat; sleep 1000 &"])
        };
        let result = soon(f.client.exec(&request)).await.unwrap();
        assert_eq!(result.stdout.data, "/tmp\nunset x y\nfrom stdin");
        assert_eq!(result.id, id("named"));
        let again = soon(f.client.exec(&request)).await.unwrap();
        assert_eq!(again.end, result.end, "the same id and command again: the one that was");
        let other = ExecRequest { id: Some(id("named")), ..ExecRequest::shell("true") };
        assert_eq!(soon(f.client.exec(&other)).await.unwrap_err().code(), Some(ErrorCode::ProcessAlreadyExists));
    });
}

#[test]
fn bytes_that_are_no_text_survive_in_base64() {
    run(async |f| {
        let all: Vec<u8> = (0..=255).collect();
        let (input, _) = Encoding::Base64.encode(&all);
        let request =
            ExecRequest { stdin_base64: Some(input.clone()), encoding: Encoding::Base64, ..ExecRequest::argv(["cat"]) };
        let result = soon(f.client.exec(&request)).await.unwrap();
        assert_eq!((result.stdout.data, result.stdout.replaced), (input, false));
        let as_text = ExecRequest { encoding: Encoding::Utf8, ..request };
        assert!(soon(f.client.exec(&as_text)).await.unwrap().stdout.replaced);
    });
}

#[test]
fn limits_are_results_and_keep_what_was_printed() {
    run(async |f| {
        let timeout = ExecRequest { timeout_ms: Some(200), ..ExecRequest::shell("echo begun; sleep 1000") };
        let result = soon(f.client.exec(&timeout)).await.unwrap();
        assert_eq!((result.end.reason, result.stdout.data.as_str()), (EndReason::Timeout, "begun\n"));
        let cut = ExecRequest { answer_bytes: Some(10), ..ExecRequest::shell("seq 1000") };
        let result = soon(f.client.exec(&cut)).await.unwrap();
        let truncated = result.stdout.truncated.unwrap();
        assert_eq!(result.stdout.bytes, 3893);
        assert_eq!(truncated.omitted_bytes + 10, 3893);
        assert!(truncated.tail.ends_with("1000\n"));
    });
}

#[test]
fn a_command_that_cannot_be_is_refused_with_its_reason() {
    run(async |f| {
        let refused = async |request: ExecRequest| soon(f.client.exec(&request)).await.unwrap_err();
        let missing = refused(ExecRequest::argv(["no-such-program"])).await;
        assert_eq!(
            (missing.code(), missing.to_string().as_str()),
            (Some(ErrorCode::CommandNotFound), "command not found: no-such-program")
        );
        let nowhere = ExecRequest { cwd: Some("/nowhere".to_owned()), ..ExecRequest::shell("true") };
        assert_eq!(refused(nowhere).await.code(), Some(ErrorCode::CwdNotFound));
        let nobody = ExecRequest { user: Some("nobody-here".to_owned()), ..ExecRequest::shell("true") };
        assert_eq!(refused(nobody).await.code(), Some(ErrorCode::UserNotFound));
        assert_eq!(refused(ExecRequest::default()).await.to_string(), "either `command` or `argv` must be given");
        let both = ExecRequest { argv: Some(vec!["true".to_owned()]), ..ExecRequest::shell("true") };
        assert_eq!(refused(both).await.to_string(), "`command` and `argv` exclude each other");
        let stdin = ExecRequest { stdin_base64: Some("?".to_owned()), ..ExecRequest::shell("true") };
        assert_eq!(refused(stdin).await.to_string(), "`stdin_base64` is no base64");
        let huge = ExecRequest { answer_bytes: Some(1 << 40), ..ExecRequest::shell("true") };
        assert_eq!(refused(huge).await.code(), Some(ErrorCode::ValidationFailed));
    });
}
