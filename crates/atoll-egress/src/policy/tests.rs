//! Every kind of rule against every kind of wish.

use atoll_protocol::{EgressRule, NetworkPolicy, RuleSet};
use proptest::prelude::*;

use super::*;

fn domain(name: &str) -> EgressRule {
    EgressRule { domain: Some(name.to_owned()), ..EgressRule::default() }
}

fn block(cidr: &str, ports: &[&str]) -> EgressRule {
    let ports = Some(ports.iter().map(|port| (*port).to_owned()).collect());
    EgressRule { cidr: Some(cidr.to_owned()), ports, ..EgressRule::default() }
}

fn policy(rules: &[EgressRule]) -> Policy {
    Policy::rules(rules).unwrap()
}

fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn an_empty_list_allows_nothing() {
    for given in [NetworkPolicy::default(), serde_json::from_str(r#"{"allow":[]}"#).unwrap()] {
        let policy = Policy::compile(&given).unwrap();
        assert!(policy.is_empty());
        assert_eq!(policy.name(&name("a.test")), None);
        assert_eq!(policy.named(&name("a.test"), 443), Err(DenialReason::NoRule));
        assert_eq!(policy.addressed(ip("1.1.1.1"), 443), Err(DenialReason::NoRule));
        assert_eq!(policy.addressed(ip("10.0.0.1"), 443), Err(DenialReason::AddressNotPublic));
        assert!(!policy.has_names_at(443) && !policy.names(ip("10.0.0.1"), None));
    }
}

#[test]
fn empty_lists_within_a_rule_are_refused() {
    let (ports, protocols) = (Some(Vec::new()), Some(Vec::new()));
    for rule in [
        EgressRule::default(),
        EgressRule { ports: ports.clone(), ..domain("a.test") },
        EgressRule { protocols, ..domain("a.test") },
        EgressRule { ports, cidr: Some("1.1.1.1".to_owned()), ..EgressRule::default() },
        EgressRule { cidr: Some("1.1.1.1".to_owned()), ..EgressRule::default() },
        EgressRule { set: Some(RuleSet::Npm), ..domain("a.test") },
        EgressRule { domain: Some(String::new()), ..EgressRule::default() },
    ] {
        assert!(Policy::rules(std::slice::from_ref(&rule)).is_err(), "{rule:?}");
    }
}

#[test]
fn patterns_that_could_mean_more_are_refused() {
    for text in [
        "*",
        "*.",
        "*.com",
        "a.*.com",
        "*a.com",
        "**.a.com",
        "a.com:443",
        "https://a.com",
        "a.com/x",
        "1.2.3.4",
        "bücher.example",
    ] {
        assert!(Policy::rules(&[domain(text)]).is_err(), "{text}");
    }
    for port in ["0", "65536", "-1", "80-", "90-80", "+80", " 80", "http", ""] {
        assert!(Policy::rules(&[block("1.1.1.1", &[port])]).is_err(), "{port}");
    }
}

#[test]
fn a_domain_is_itself_at_the_ports_of_the_web() {
    let policy = policy(&[domain("Example.com.")]);
    assert_eq!(policy.name(&name("example.com")), Some(NameRule::Exact));
    let allowed = policy.named(&name("example.com"), 443).unwrap();
    assert_eq!(allowed.protocols, Protocols::WEB);
    assert!(policy.named(&name("example.com"), 80).is_ok());
    assert_eq!(policy.named(&name("example.com"), 22), Err(DenialReason::PortNotAllowed));
    for other in ["www.example.com", "example.com.evil.test", "evilexample.com", "example.co"] {
        assert_eq!(policy.named(&name(other), 443), Err(DenialReason::NoRule), "{other}");
    }
}

#[test]
fn a_wildcard_is_what_is_below_and_tells_how_much_is_free() {
    let policy = policy(&[domain("*.example.com")]);
    assert_eq!(policy.name(&name("a.b.example.com")), Some(NameRule::Wildcard { free: 3 }));
    assert_eq!(policy.name(&name("example.com")), None);
    assert_eq!(policy.name(&name("aexample.com")), None);
    let both = self::policy(&[domain("*.example.com"), domain("a.example.com")]);
    assert_eq!(both.name(&name("a.example.com")), Some(NameRule::Exact));
}

#[test]
fn private_addresses_open_only_by_a_block() {
    let rules = [domain("a.test"), block("10.1.0.0/16", &["5432", "8000-8001"])];
    let policy = policy(&rules);
    assert!(policy.names(ip("10.1.2.3"), Some(5432)) && policy.names(ip("10.1.2.3"), None));
    assert!(policy.names(ip("::ffff:10.1.2.3"), Some(8001)));
    assert!(!policy.names(ip("10.1.2.3"), Some(443)) && !policy.names(ip("10.2.0.1"), None));
    assert!(!policy.names(ip("1.1.1.1"), Some(1)));
    assert_eq!(policy.addressed(ip("10.1.2.3"), 5432).unwrap().protocols, Protocols::ANY);
    assert_eq!(policy.addressed(ip("10.1.2.3"), 5433), Err(DenialReason::PortNotAllowed));
    assert_eq!(policy.addressed(ip("169.254.169.254"), 80), Err(DenialReason::AddressNotPublic));
}

#[test]
fn rules_for_the_same_name_add_up_and_the_stricter_look_wins() {
    let tcp = EgressRule {
        ports: Some(vec!["443".to_owned()]),
        protocols: Some(vec![EgressProtocol::Tls]),
        inspect: true,
        ..domain("a.test")
    };
    let policy = policy(&[domain("a.test"), tcp]);
    let allowed = policy.named(&name("a.test"), 443).unwrap();
    assert_eq!((allowed.protocols, allowed.tls), (Protocols::WEB, Tls::Ended));
    assert_eq!(policy.named(&name("a.test"), 80).unwrap().tls, Tls::PassedOn);
}

#[test]
fn sets_are_made_of_good_names() {
    for set in [RuleSet::Pypi, RuleSet::Npm, RuleSet::Crates, RuleSet::Debian, RuleSet::Github] {
        let policy = policy(&[EgressRule { set: Some(set), ..EgressRule::default() }]);
        for text in sets::names(set) {
            assert!(policy.named(&name(text), 443).is_ok(), "{text}");
        }
        assert_eq!(policy.named(&name("example.com"), 443), Err(DenialReason::NoRule));
    }
}

proptest! {
    /// Whatever the wish, the answer is the one that a reader of the rule would give.
    #[test]
    fn a_name_is_allowed_exactly_where_its_rule_says(
        labels in proptest::collection::vec("[a-c]{1,2}", 1..4),
        parent in proptest::collection::vec("[a-c]{1,2}", 2..3),
        port in 78u16..84,
        (first, last) in (78u16..84).prop_flat_map(|first| (Just(first), first..84)),
        wildcard: bool,
    ) {
        let (asked, parent) = (labels.join("."), parent.join("."));
        let text = if wildcard { format!("*.{parent}") } else { parent.clone() };
        let rule = EgressRule { ports: Some(vec![format!("{first}-{last}")]), ..domain(&text) };
        let named = if wildcard { asked.ends_with(&format!(".{parent}")) } else { asked == parent };
        let verdict = policy(&[rule]).named(&name(&asked), port).map(drop);
        let expected = match (named, (first..=last).contains(&port)) {
            (false, _) => Err(DenialReason::NoRule),
            (true, false) => Err(DenialReason::PortNotAllowed),
            (true, true) => Ok(()),
        };
        prop_assert_eq!(verdict, expected);
    }
}
