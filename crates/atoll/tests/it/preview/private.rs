//! Private previews: by a token of the server, or by a link that was signed, and by no other way.

use atoll_protocol::{CreateToken, ExposePort, LinkRequest, Scope, Verb, Visibility};

use super::{Answer, BOTH, Form, PORT, Shown, public, show, with_app};
use crate::server::{Server, wait};

fn private() -> ExposePort {
    ExposePort { visibility: Some(Visibility::Private), ..public() }
}

fn refused(answer: &Answer) -> (u16, String) {
    (answer.status, answer.code())
}

fn closed() -> (u16, String) {
    (401, "UNAUTHORIZED".to_owned())
}

/// Path and query of a URL.
fn place(url: &str) -> String {
    let rest = url.split_once("://").unwrap().1;
    rest[rest.find('/').unwrap()..].to_owned()
}

/// A signed link in this form.
fn link(server: &Server<'_>, shown: &Shown, form: Form, expires_in_ms: u64) -> (String, String) {
    let asked = LinkRequest { expires_in_ms: Some(expires_in_ms) };
    let link = wait(server.client().preview_link(&shown.name, PORT, &asked)).unwrap();
    let (host, _) = shown.at(form, "/");
    (host, place(if form == Form::Host { &link.url } else { &link.path_url }))
}

#[test]
fn a_token_of_the_server_opens_it_and_is_not_passed_on() {
    with_app(private(), |server, shown| {
        for form in BOTH {
            assert_eq!(refused(&server.get(shown.at(form, "/echo"))), closed());
            let with = |token: &str| format!("authorization: Bearer {token}");
            let root = with(&server.token);
            let answer = server.look(shown.at(form, "/echo"), "GET", &[&root], b"");
            assert_eq!((answer.status, answer.seen("authorization")), (200, None));
            let wrong = with("atoll_root_guess");
            assert_eq!(refused(&server.look(shown.at(form, "/echo"), "GET", &[&wrong], b"")), closed());
            let scopes = vec![Scope { sandboxes: "elsewhere".to_owned(), verbs: vec![Verb::Read] }];
            let asked = CreateToken { name: "x".to_owned(), scopes, expires_in_ms: None };
            let other = wait(server.client().create_token(&asked)).unwrap();
            let other = server.look(shown.at(form, "/echo"), "GET", &[&with(&other.token)], b"");
            assert_eq!(refused(&other), (403, "FORBIDDEN".to_owned()));
        }
    });
}

#[test]
fn a_signed_link_becomes_a_cookie_that_opens_this_preview_alone() {
    with_app(private(), |server, shown| {
        let other = wait(show(server, private()));
        for form in BOTH {
            let (host, path) = link(server, shown, form, 60_000);
            let answer = server.get((host.clone(), format!("{}&a=1", path.replacen("?", "echo?", 1))));
            assert_eq!(answer.status, 303, "{answer:?}");
            let (_, clean) = shown.at(form, "/echo?a=1");
            assert_eq!(answer.header("location"), Some(clean.as_str()), "the link is gone from the address");
            let cookie = answer.header("set-cookie").unwrap().to_owned();
            let (_, below) = shown.at(form, "/");
            assert!(cookie.contains(&format!("; Path={below};")) && cookie.contains("HttpOnly"), "{cookie}");
            assert!(!cookie.to_ascii_lowercase().contains("domain"), "{cookie}");
            let cookie = format!("cookie: b=2; {}", cookie.split(';').next().unwrap());
            let answer = server.look((host, clean), "GET", &[&cookie], b"");
            assert_eq!((answer.status, answer.seen("cookie").as_deref()), (200, Some("b=2")));
            assert_eq!(answer.json()["path"], "/echo?a=1");
            assert_eq!(refused(&server.look(other.at(form, "/"), "GET", &[&cookie], b"")), closed());
            // A neighbour's page has the same cookie sent along.
            for foreign in ["origin: http://evil.localhost", "sec-fetch-site: same-site"] {
                let answer = server.look(shown.at(form, "/"), "GET", &[&cookie, foreign], b"");
                assert_eq!(refused(&answer), (403, "FORBIDDEN".to_owned()), "{foreign}");
            }
            let upgrade = ["connection: upgrade", "upgrade: websocket", "origin: http://evil.localhost", &cookie];
            assert_eq!(server.look(shown.at(form, "/ws"), "GET", &upgrade, b"").status, 403);
        }
    });
}

#[test]
fn a_link_is_over_when_its_time_is_up_or_its_token_is_rotated() {
    with_app(private(), |server, shown| {
        let short = link(server, shown, Form::Host, 1);
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert_eq!(refused(&server.get(short)), closed());
        let good = link(server, shown, Form::Path, 60_000);
        assert_eq!(server.get(good.clone()).status, 303);
        let forged = (good.0.clone(), good.1.replace("atoll_link=1", "atoll_link=2"));
        assert_eq!(refused(&server.get(forged)), closed());
        wait(server.client().rotate_preview(&shown.name, PORT)).unwrap();
        assert_eq!(server.get(good).status, 404);
    });
}
