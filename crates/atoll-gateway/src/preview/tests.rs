//! Which preview a request is for.

use hyper::header::HeaderName;

use super::*;

fn config(dir: &tempfile::TempDir) -> PreviewConfig {
    PreviewConfig {
        domain: Domain::default(),
        signer: Signer::load(&dir.path().join("key")).unwrap(),
        address: Some("127.0.0.1:7071".parse().unwrap()),
        scheme: "http",
    }
}

fn request(uri: &str, pairs: &[(&'static str, &'static str)]) -> Request {
    let mut request = Request::builder().uri(uri).body(Body::empty()).unwrap();
    for (name, value) in pairs {
        request.headers_mut().append(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    request
}

fn found(config: &PreviewConfig, request: &Request) -> Option<Target> {
    find(config, request, host(request).ok()?, "http")
}

#[test]
fn preview_is_found_by_host_or_by_path() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(&dir);
    let at = found(&config, &request("/a?b=1", &[("host", "80-my-box-t.LOCALHOST:7071")])).unwrap();
    assert_eq!(
        (at.label.to_string().as_str(), at.inner.as_str(), at.prefix.as_deref()),
        ("80-my-box-t", "/a?b=1", None)
    );
    // Below a preview's own host, all paths belong to the application.
    let at = found(&config, &request("/preview/81-other-t/", &[("host", "80-box-t.localhost")])).unwrap();
    assert_eq!((at.label.port, at.inner.as_str()), (80, "/preview/81-other-t/"));
    let at = found(&config, &request("/preview/80-box-t/a/../b?c", &[("host", "127.0.0.1:7071")])).unwrap();
    assert_eq!((at.inner.as_str(), at.prefix.as_deref()), ("/a/../b?c", Some("/preview/80-box-t")));
    assert_eq!(at.path_and_query, "/preview/80-box-t/a/../b?c");
    let at = found(&config, &request("http://80-box-t.localhost/x", &[("host", "80-box-t.localhost")])).unwrap();
    assert_eq!(at.inner, "/x");
}

#[test]
fn ambiguous_hosts_are_rejected() {
    for odd in [
        request("/", &[]),
        request("/", &[("host", "80-a-t.localhost"), ("host", "81-b-t.localhost")]),
        request("http://80-a-t.localhost/", &[("host", "81-b-t.localhost")]),
        request("/", &[("host", "80-a-t.localhost@evil")]),
        request("/", &[("host", "80-a-t.localhost/x")]),
        request("/", &[("host", "")]),
    ] {
        assert!(host(&odd).is_err(), "{odd:?}");
    }
}

#[test]
fn other_addresses_are_not_previews() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(&dir);
    for (uri, host) in [
        ("/", "localhost"),
        ("/v1/sandboxes", "localhost"),
        ("/", "x.80-a-t.localhost"),
        ("/", "80-a-t.localhost.evil.org"),
        ("/preview/", "localhost"),
        ("/preview/80-a/", "localhost"),
        ("/preview%2f80-a-t/", "localhost"),
        ("/x/../preview/80-a-t/", "localhost"),
        ("//preview/80-a-t/", "localhost"),
    ] {
        let mut requested = request(uri, &[]);
        requested.headers_mut().insert(HOST, HeaderValue::from_str(host).unwrap());
        assert!(found(&config, &requested).is_none(), "{host}{uri}");
    }
}

#[test]
fn absolute_path_is_redirected_by_its_referer() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(&dir);
    let redirect_by_referer = |uri: &str, referer: &'static str| {
        let requested = request(uri, &[("host", "h:1"), ("referer", referer)]);
        redirect_by_referer(&config, &requested, "h:1")
            .map(|response| response.headers()[LOCATION].to_str().unwrap().to_owned())
    };
    assert_eq!(redirect_by_referer("/a?b", "http://h:1/preview/80-a-t/c").as_deref(), Some("/preview/80-a-t/a?b"));
    assert_eq!(redirect_by_referer("/a", "http://other/preview/80-a-t/c"), None);
    assert_eq!(redirect_by_referer("/a", "http://h:1/elsewhere"), None);
}

#[test]
fn preview_host_is_recognised_on_the_api_listener() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(&dir);
    let is =
        |host: &'static str, authority| is_preview_host(&config, request("/", &[("host", host)]).headers(), authority);
    assert!(is("80-a-t.localhost:7070", None) && is("localhost", Some("80-a-t.localhost")));
    assert!(!is("localhost:7070", None) && !is("api.localhost", None) && !is("127.0.0.1", None));
}
