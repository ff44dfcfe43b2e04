//! Names that rules allow, and those that they do not.

use atoll_protocol::DenialReason;

use super::outside::Server;
use super::{assert_denied, domain, loopback, policy, reasons, sh, with};
use crate::harness::{Fixture, assert_exited, err, out};

in_every_mode! {
    isolated {
        without_rules_there_is_no_way_out,
        a_name_that_is_allowed_is_reached,
        a_name_that_is_not_allowed_is_told_by_its_reason,
    }
}

async fn without_rules_there_is_no_way_out(f: &Fixture) {
    let outside = Server::http().await;
    let output = f
        .sh("cat /proc/net/route | wc -l; curl -sS http://93.184.216.34/; echo $?; curl -sS http://a.test/; echo $?")
        .await;
    assert!(out(&output).starts_with("1\n7\n6\n"), "{} {}", out(&output), err(&output));
    assert!(err(&output).contains("Couldn't connect") || err(&output).contains("connect to"), "{}", err(&output));
    assert_eq!(reasons(&output), []);
    assert!(outside.heard().is_empty() && !f.sandbox.network().open);
}

async fn a_name_that_is_allowed_is_reached(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let rules = vec![domain("a.test", &[port]), loopback(&[port])];
    let sandbox = with(f, policy(rules, &["a.test"])).await;
    let output = sh(&sandbox, &format!("curl -sS http://a.test:{port}/; getent ahostsv4 a.test | head -1")).await;
    assert_exited(&output, 0);
    assert!(out(&output).starts_with("welcome\n198.18.1.0"), "{}", out(&output));
    assert_eq!(reasons(&output), []);
    assert!(
        outside.heard()[0].contains(&format!("Host: a.test:{port}"))
            || outside.heard()[0].contains(&format!("host: a.test:{port}"))
    );
    let totals = sandbox.network().totals;
    assert_eq!((totals.connections, totals.denied), (1, 0));
}

async fn a_name_that_is_not_allowed_is_told_by_its_reason(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let rules = vec![domain("a.test", &[port]), loopback(&[port])];
    let sandbox = with(f, policy(rules, &["a.test", "b.test"])).await;
    let output = sh(&sandbox, &format!("curl -sS http://b.test:{port}/")).await;
    assert_exited(&output, 6);
    assert_denied(&output, DenialReason::NoRule);
    let output = sh(&sandbox, "curl -sS http://a.test:81/").await;
    assert_denied(&output, DenialReason::PortNotAllowed);
    assert!(out(&output).contains("port_not_allowed"), "{}", out(&output));
    assert!(outside.heard().is_empty());
}
