//! The bridge as a whole: ids, its document, and the pool.

use hyper::Method;
use serde_json::{Value, json};

use super::{ask, sh};
use crate::harness::{Home, until};
use crate::server::{Server, wait};

#[test]
fn an_id_means_a_sandbox_from_its_first_use_on() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let made = ask(&server, Method::POST, "/v1/sandbox").done().await.json();
        let id = made["id"].as_str().unwrap();
        assert!(id.len() == 26 && id.bytes().all(|byte| byte.is_ascii_lowercase() || (b'2'..=b'7').contains(&byte)));
        let there =
            async |id: &str| ask(&server, Method::GET, format!("/v1/sandboxes/{id}")).done().await.status == 200;
        assert!(!there(id).await);
        assert_eq!(sh(&server, id, "hostname").await.stdout, format!("{id}\n").into_bytes());
        assert!(there(id).await, "it is a sandbox like any other");
        let (one, other) = tokio::join!(sh(&server, "box", "echo 1"), sh(&server, "box", "echo 2"));
        assert_eq!((one.stdout, other.stdout), (b"1\n".to_vec(), b"2\n".to_vec()), "of many first uses one makes it");
        for _ in 0..2 {
            assert_eq!(ask(&server, Method::DELETE, format!("/v1/sandbox/{id}")).done().await.status, 204);
        }
        assert!(!there(id).await);
    });
    server.end();
}

#[test]
fn its_document_is_served() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../atoll-gateway/bridge.json");
        let golden: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let served = ask(&server, Method::GET, "/v1/openapi.json").header("authorization", "").done().await;
        assert_eq!(served.json(), golden);
        for path in ["/v1/openapi", "/v1/openapi.html"] {
            let page = ask(&server, Method::GET, path).done().await;
            assert_eq!(page.status, 200);
            let text = String::from_utf8_lossy(&page.body);
            assert!(text.contains("fetch(\"/v1/openapi.json\")") && !text.contains("\"/openapi.json\""));
        }
        assert_eq!(
            ask(&server, Method::GET, "/health").header("authorization", "").done().await.json(),
            json!({ "ok": true })
        );
        // Whatever it names is there, and asks for a token.
        for (path, item) in golden["paths"].as_object().unwrap().iter().filter(|(path, _)| *path != "/health") {
            let path = path.replace("{id}", "nobody").replace("{path}", "workspace/x").replace("{session}", "s");
            for method in item.as_object().unwrap().keys() {
                let method: Method = method.to_uppercase().parse().unwrap();
                let asked = ask(&server, method.clone(), path.replace("{port}", "1")).header("authorization", "");
                assert_eq!(asked.done().await.refusal(), (401, "unauthorized".to_owned()), "{method} {path}");
            }
        }
        let ours = ask(&server, Method::GET, "/openapi.json").done().await.json();
        let paths = ours["paths"].as_object().unwrap();
        assert!(paths.keys().all(|path| !path.starts_with("/v1/sandbox/")), "each has its own");
    });
    server.end();
}

#[test]
fn the_pool_is_what_is_made_ahead() {
    let home = Home::new();
    let server = Server::start(&home, &["--warm", "2", "--max-sandboxes", "5"]);
    let stats = || wait(async { ask(&server, Method::GET, "/v1/pool/stats").done().await.json() });
    let post = |path: &str| {
        let done = wait(async { ask(&server, Method::POST, path).done().await.json() });
        assert_eq!(done, json!({ "ok": true }));
    };
    let config = json!({ "warmTarget": 2, "refreshInterval": 0 });
    let expected = |warm: u64, assigned: u64| json!({ "warm": warm, "assigned": assigned, "total": warm + assigned, "config": config, "maxInstances": 5 });
    let become_so = |warm, assigned| until("the pool is so", || (stats() == expected(warm, assigned)).then_some(()));
    become_so(2, 0);
    wait(sh(&server, &home.name(), "true"));
    become_so(2, 1);
    post("/v1/pool/shutdown-prewarmed");
    assert_eq!(stats(), expected(0, 1), "nobody's are ended, and somebody's is not");
    post("/v1/pool/prime");
    become_so(2, 1);
    server.end();
}
