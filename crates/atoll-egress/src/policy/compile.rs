//! From rules as they were given to rules that decide. What is not certainly meant is refused, with what to give instead.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use atoll_protocol::{EgressProtocol, EgressRule, NetworkPolicy};

use super::{Policy, Protocols, Rule, Tls, To, sets};
use crate::address::Block;
use crate::name::Name;

/// Rules of one policy, those of its sets not counted.
const RULES_MAX: usize = 256;

/// Port ranges of one rule.
const PORTS_MAX: usize = 64;

/// Names with addresses of their own, and addresses of one.
const HOSTS_MAX: usize = 256;
const ADDRESSES_MAX: usize = 16;

/// Bytes of certificates.
const TRUST_MAX: usize = 64 * 1024;

/// What a domain means that names no ports.
const WEB_PORTS: [RangeInclusive<u16>; 2] = [80..=80, 443..=443];

/// A policy that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("network: {0}")]
pub struct PolicyError(String);

impl PolicyError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl Policy {
    /// Checks and prepares a policy.
    pub fn compile(given: &NetworkPolicy) -> Result<Self, PolicyError> {
        if given.trust.as_ref().is_some_and(|trust| trust.len() > TRUST_MAX) {
            return Err(PolicyError::new(format!("trust: more than {TRUST_MAX} bytes")));
        }
        if let Some(trust) = &given.trust {
            crate::tls::certificates(trust)
                .map_err(|why| PolicyError::new(format!("trust: {why}: give certificates in PEM")))?;
        }
        Ok(Self {
            hosts: hosts(given)?,
            resolver: given.resolver.as_deref().map(resolver).transpose()?,
            trust: given.trust.clone(),
            ..Self::rules(&given.allow)?
        })
    }

    /// Rules alone, as a command has them.
    pub fn rules(given: &[EgressRule]) -> Result<Self, PolicyError> {
        if given.len() > RULES_MAX {
            return Err(PolicyError::new(format!("more than {RULES_MAX} rules")));
        }
        let mut rules = Vec::new();
        for (index, rule) in given.iter().enumerate() {
            let compiled = compile(rule).map_err(|why| PolicyError::new(format!("allow[{index}]: {why}")))?;
            rules.extend(compiled);
        }
        Ok(Self { rules, ..Self::default() })
    }
}

fn compile(given: &EgressRule) -> Result<Vec<Rule>, String> {
    match (given.set, &given.domain, &given.cidr) {
        (Some(set), None, None) => {
            if given.ports.is_some() || given.protocols.is_some() {
                return Err("a set has its own ports and protocols: give them with a domain".to_owned());
            }
            let domain = |name: &&str| {
                let rule = EgressRule {
                    domain: Some((*name).to_owned()),
                    ports: Some(sets::ports(set)),
                    inspect: given.inspect,
                    ..EgressRule::default()
                };
                compile(&rule)
            };
            Ok(sets::names(set).iter().map(domain).collect::<Result<Vec<_>, _>>()?.concat())
        }
        (None, Some(domain), None) => {
            let ports = given.ports.as_deref().map_or_else(|| Ok(WEB_PORTS.to_vec()), ports)?;
            let protocols = protocols(given, Protocols::WEB)?;
            if given.inspect && protocols.tcp {
                return Err("`inspect` and the protocol tcp exclude each other".to_owned());
            }
            let tls = if given.inspect { Tls::Ended } else { Tls::PassedOn };
            Ok(vec![Rule { to: pattern(domain)?, ports, protocols, tls, text: text(domain, given) }])
        }
        (None, None, Some(cidr)) => {
            if given.inspect {
                return Err("`inspect` needs a domain: a certificate is for a name".to_owned());
            }
            let block = Block::parse(cidr).map_err(|why| format!("`{}`: {why}", cidr.escape_debug()))?;
            let named = given.ports.as_deref().ok_or("a block of addresses must name its ports (`1-65535` for all)")?;
            let protocols = protocols(given, Protocols::ANY)?;
            let to = To::Block(block);
            Ok(vec![Rule { to, ports: ports(named)?, protocols, tls: Tls::PassedOn, text: text(cidr, given) }])
        }
        _ => Err("give exactly one of `set`, `domain` and `cidr`".to_owned()),
    }
}

fn text(to: &str, given: &EgressRule) -> String {
    match &given.ports {
        None => to.to_owned(),
        Some(ports) => format!("{to}:{}", ports.join(",")),
    }
}

fn pattern(domain: &str) -> Result<To, String> {
    let shown = domain.escape_debug();
    if !domain.is_ascii() {
        return Err(format!("`{shown}` has letters beyond ASCII: give its xn-- form"));
    }
    let wrong = || format!("`{shown}` is no name: give `example.com`, or `*.example.com` for all names below it");
    match domain.strip_prefix("*.") {
        None => Name::with_dot(domain.as_bytes()).map(To::Name).ok_or_else(|| {
            if domain.parse::<IpAddr>().is_ok() {
                format!("`{shown}` is an address: give it as `cidr`")
            } else {
                wrong()
            }
        }),
        Some(parent) => {
            let parent = Name::with_dot(parent.as_bytes()).ok_or_else(wrong)?;
            if parent.labels() < 2 {
                return Err(format!("`{shown}` is every name of a whole top-level domain: name what is needed"));
            }
            Ok(To::Below(parent))
        }
    }
}

fn ports(given: &[String]) -> Result<Vec<RangeInclusive<u16>>, String> {
    if given.is_empty() || given.len() > PORTS_MAX {
        return Err(format!("give 1 to {PORTS_MAX} ports, or leave them out"));
    }
    given.iter().map(|text| range(text).ok_or_else(|| format!("`{}` is no port", text.escape_debug()))).collect()
}

/// `443` or `8000-8999`.
fn range(text: &str) -> Option<RangeInclusive<u16>> {
    let port = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|port| digits && *port > 0)
    };
    let (first, last) = match text.split_once('-') {
        None => (port(text)?, port(text)?),
        Some((first, last)) => (port(first)?, port(last)?),
    };
    (first <= last).then_some(first..=last)
}

fn protocols(given: &EgressRule, usual: Protocols) -> Result<Protocols, String> {
    let Some(named) = &given.protocols else { return Ok(usual) };
    if named.is_empty() {
        return Err("give at least one protocol, or leave them out".to_owned());
    }
    Ok(Protocols {
        http: named.contains(&EgressProtocol::Http),
        tls: named.contains(&EgressProtocol::Tls),
        tcp: named.contains(&EgressProtocol::Tcp),
    })
}

fn hosts(given: &NetworkPolicy) -> Result<HashMap<Name, Vec<IpAddr>>, PolicyError> {
    if given.hosts.len() > HOSTS_MAX {
        return Err(PolicyError::new(format!("hosts: more than {HOSTS_MAX} names")));
    }
    let mut hosts = HashMap::new();
    for (name, addresses) in &given.hosts {
        let wrong = |why: &str| PolicyError::new(format!("hosts: `{}` {why}", name.escape_debug()));
        let key = Name::with_dot(name.as_bytes()).ok_or_else(|| wrong("is no name"))?;
        if !(1..=ADDRESSES_MAX).contains(&addresses.len()) {
            return Err(wrong(&format!("needs 1 to {ADDRESSES_MAX} addresses")));
        }
        let parsed = addresses.iter().map(|text| text.parse::<IpAddr>().map(|address| address.to_canonical()));
        let parsed = parsed.collect::<Result<_, _>>().map_err(|_| wrong("has something that is no address"))?;
        hosts.insert(key, parsed);
    }
    Ok(hosts)
}

fn resolver(text: &str) -> Result<SocketAddr, PolicyError> {
    let parsed = text.parse().or_else(|_| text.parse::<IpAddr>().map(|address| SocketAddr::from((address, 53))));
    parsed.map_err(|_| PolicyError::new(format!("resolver: `{}` is no ADDRESS:PORT", text.escape_debug())))
}
