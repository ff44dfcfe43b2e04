//! Egress whose opening failed can be opened again in the same life.

use atoll_protocol::{DenialReason, EgressEvent};

use super::outside::Server;
use super::{domain, loopback, policy, python};
use crate::harness::{Fixture, err, eventually, out};

in_every_mode! {
    isolated {
        opening_can_be_repeated_after_it_failed,
    }
}

async fn opening_can_be_repeated_after_it_failed(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let given = policy(vec![domain("a.test", &[port]), loopback(&[port])], &["a.test"]);
    // The last step writes this file: everything before it has been done when it fails.
    f.sh("rm -f /etc/resolv.conf; mkdir /etc/resolv.conf").await;
    for _ in 0..3 {
        let failed = f.sandbox.set_network(given.clone()).await;
        if failed.is_err() {
            let info = f.sandbox.network();
            assert!(!info.open && info.policy.allow.is_empty(), "{info:?}");
        }
    }
    f.sh("rmdir /etc/resolv.conf").await;
    let info = f.sandbox.set_network(given.clone()).await.unwrap();
    assert!(info.open && info.policy == given);
    let output = f.sh(&format!("curl -sS -m 10 --resolve a.test:{port}:1.1.1.1 http://a.test:{port}/")).await;
    assert_eq!(out(&output), "welcome\n", "{}", err(&output));
    // What the kernel refuses by itself is still reported, by the socket of the last attempt.
    let datagram = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('1.1.1.1', 443))";
    python(&f.sandbox, datagram).await;
    let events = || f.sandbox.egress_events().since(0, 1000).events;
    let is_udp = |event: &EgressEvent| event.reason == Some(DenialReason::UdpNotAllowed);
    eventually("the datagram is reported", || events().iter().any(is_udp)).await;
}
