//! Which preview a request means, by everything that it says of itself.

use hyper::header::HeaderName;

use super::*;

fn site(dir: &tempfile::TempDir) -> Site {
    Site {
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

fn found(site: &Site, request: &Request) -> Option<Where> {
    find(site, request, host(request).ok()?, "http")
}

#[test]
fn a_host_of_its_own_or_a_path_means_a_preview() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(&dir);
    let at = found(&site, &request("/a?b=1", &[("host", "80-my-box-t.LOCALHOST:7071")])).unwrap();
    assert_eq!(
        (at.label.to_string().as_str(), at.inner.as_str(), at.prefix.as_deref()),
        ("80-my-box-t", "/a?b=1", None)
    );
    // What lies below a host of its own is the application's, whatever it looks like.
    let at = found(&site, &request("/preview/81-other-t/", &[("host", "80-box-t.localhost")])).unwrap();
    assert_eq!((at.label.port, at.inner.as_str()), (80, "/preview/81-other-t/"));
    let at = found(&site, &request("/preview/80-box-t/a/../b?c", &[("host", "127.0.0.1:7071")])).unwrap();
    assert_eq!((at.inner.as_str(), at.prefix.as_deref()), ("/a/../b?c", Some("/preview/80-box-t")));
    assert_eq!(at.place, "/preview/80-box-t/a/../b?c");
    let at = found(&site, &request("http://80-box-t.localhost/x", &[("host", "80-box-t.localhost")])).unwrap();
    assert_eq!(at.inner, "/x");
}

#[test]
fn what_is_said_in_two_ways_is_refused() {
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
fn nothing_else_means_one() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(&dir);
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
        let mut asked = request(uri, &[]);
        asked.headers_mut().insert(HOST, HeaderValue::from_str(host).unwrap());
        assert!(found(&site, &asked).is_none(), "{host}{uri}");
    }
}

#[test]
fn a_place_from_the_root_is_found_by_the_page_that_asks() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(&dir);
    let strayed = |uri: &str, referer: &'static str| {
        let asked = request(uri, &[("host", "h:1"), ("referer", referer)]);
        strayed(&site, &asked, "h:1").map(|response| response.headers()[LOCATION].to_str().unwrap().to_owned())
    };
    assert_eq!(strayed("/a?b", "http://h:1/preview/80-a-t/c").as_deref(), Some("/preview/80-a-t/a?b"));
    assert_eq!(strayed("/a", "http://other/preview/80-a-t/c"), None);
    assert_eq!(strayed("/a", "http://h:1/elsewhere"), None);
}

#[test]
fn a_previews_host_is_no_way_to_the_api() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(&dir);
    let is =
        |host: &'static str, authority| is_preview_host(&site, request("/", &[("host", host)]).headers(), authority);
    assert!(is("80-a-t.localhost:7070", None) && is("localhost", Some("80-a-t.localhost")));
    assert!(!is("localhost:7070", None) && !is("api.localhost", None) && !is("127.0.0.1", None));
}
