use bytes::Bytes;
use http::Request;

use crate::harness::run;
use crate::raw::{ask, get, post};

#[test]
fn what_is_wrong_with_a_body_is_named() {
    run(async |f| {
        let refused = async |body: &'static str| ask(&f.socket(), post("/v1/exec"), body).await.refusal();
        let (status, _, message) = refused(r#"["true"]"#).await;
        assert_eq!(status, 400);
        assert!(message.starts_with("invalid type: sequence"), "a list is no request: {message}");
        let (status, code, message) = refused(r#"{"command":"true","timeout":5}"#).await;
        assert_eq!((status, code.as_str()), (400, "VALIDATION_FAILED"));
        assert!(message.starts_with("timeout: unknown field `timeout`, expected one of"), "{message}");
        let (_, _, message) = refused(r#"{"command":"true","timeout_ms":"5"}"#).await;
        assert!(message.starts_with("timeout_ms: invalid type: string \"5\", expected u64"), "{message}");
        let (_, _, message) = refused(r#"{"command":"true","env":{"A":1}}"#).await;
        assert!(message.starts_with("env.A: invalid type"), "{message}");
        let (status, _, message) = refused(r#"{"command":"#).await;
        assert_eq!(status, 400);
        assert!(message.starts_with("the body is no JSON: EOF"), "{message}");
        let (_, _, message) = refused("").await;
        assert!(message.starts_with("the body is no JSON"), "{message}");
        let (_, _, message) = refused(r#"{"command":"true"} x"#).await;
        assert!(message.starts_with("the body is no JSON: trailing characters"), "{message}");
        let (_, _, message) = refused(r#"{"command":"true","id":"a/b"}"#).await;
        assert!(message.contains("`a/b` is not a valid process id"), "{message}");
    });
}

#[test]
fn bodies_of_another_kind_or_size_are_refused() {
    run(async |f| {
        let form = Request::post("/v1/exec").header("content-type", "application/x-www-form-urlencoded");
        let answer = ask(&f.socket(), form, "{}").await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()["error"]["code"].as_str().unwrap()),
            (415, "UNSUPPORTED_MEDIA_TYPE")
        );
        assert!(answer.json()["error"]["hint"].as_str().unwrap().contains("application/json"));
        let plain = ask(&f.socket(), Request::post("/v1/exec"), r#"{"command":"true"}"#).await;
        assert_eq!(plain.status.as_u16(), 200, "no type at all is taken for JSON");
        let large = Bytes::from(vec![b' '; 16 * 1024 * 1024 + 1]);
        let (status, code, _) = ask(&f.socket(), post("/v1/exec"), large).await.refusal();
        assert_eq!((status, code.as_str()), (413, "BODY_TOO_LARGE"));
    });
}

#[test]
fn unknown_paths_methods_and_parameters_are_refused() {
    run(async |f| {
        let refused = async |request: http::request::Builder| ask(&f.socket(), request, "").await.refusal();
        for path in ["/", "/v1", "/v1/", "/v2/exec", "/v1/processes/a/b/c"] {
            let (status, code, message) = refused(get(path)).await;
            assert_eq!((status, code.as_str()), (404, "ROUTE_NOT_FOUND"), "{path}");
            assert_eq!(message, format!("there is nothing at {path}"));
        }
        let answer = ask(&f.socket(), get("/v1/exec"), "").await;
        assert_eq!(answer.refusal().1, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.headers["allow"], "POST");
        assert_eq!(refused(get("/v1/processes/x/output?sicne=1")).await.1, "PROCESS_NOT_FOUND");
        f.start("x", "true").await;
        let (status, _, message) = refused(get("/v1/processes/x/output?sicne=1")).await;
        assert_eq!(status, 400);
        assert!(message.starts_with("query: sicne: unknown field `sicne`"), "{message}");
        let (_, _, message) = refused(get("/v1/processes/x/output?since=-1")).await;
        assert!(message.starts_with("query: since: invalid digit"), "{message}");
        let (_, _, message) = refused(get("/v1/processes/x/output?limit=0")).await;
        assert!(message.starts_with("query: limit:"), "{message}");
        let (_, _, message) = refused(get("/v1/processes?state=happy")).await;
        assert!(message.starts_with("query: state: unknown variant `happy`"), "{message}");
        let (_, _, message) = refused(get("/v1/processes?session=a/b")).await;
        assert!(message.starts_with("query: session: `a/b` is not a valid session id"), "{message}");
        let (_, _, message) = refused(get("/v1/processes?label=x")).await;
        assert_eq!(message, "query: label: `x` is no name=value");
        let (status, code, _) = refused(get("/v1/processes/%2e%2e")).await;
        assert_eq!((status, code.as_str()), (400, "VALIDATION_FAILED"));
        let (status, code, message) = refused(get("/v1/terminals/x/attach")).await;
        assert_eq!((status, code.as_str()), (426, "UPGRADE_REQUIRED"), "{message}");
        let answer = ask(&f.socket(), get("/v1/terminals/x/attach"), "").await;
        assert_eq!(answer.headers["upgrade"], "websocket");
        let started = ask(&f.socket(), post("/v1/processes"), r#"{"command":"true","id":"kill"}"#).await;
        let (_, _, message) = started.refusal();
        assert!(message.starts_with("id: `kill` is not a valid process id"), "the path has another meaning: {message}");
    });
}

#[test]
fn every_answer_carries_a_request_id() {
    run(async |f| {
        let answer = ask(&f.socket(), get("/v1/sandbox").header("x-request-id", "mine-1"), "").await;
        assert_eq!(answer.headers["x-request-id"], "mine-1");
        let insane = ask(&f.socket(), get("/nowhere").header("x-request-id", "a b"), "").await;
        let made = insane.headers["x-request-id"].to_str().unwrap();
        assert!(made != "a b" && made.len() > 16, "{made}");
        let streamed = get("/v1/processes/none/output").header("accept", "text/event-stream");
        assert!(ask(&f.socket(), streamed, "").await.headers.contains_key("x-request-id"));
    });
}
