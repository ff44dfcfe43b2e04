//! Rules, ready to decide: a pure function from what is wanted to yes, or to why not.
//!
//! Rules only ever allow. What no rule allows is refused, so an empty list refuses everything.

mod compile;
mod sets;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use atoll_protocol::{DenialReason, EgressProtocol};

use crate::address::{self, Block};
use crate::name::Name;

pub use compile::PolicyError;

/// What a sandbox, or a command in it, may reach.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Vec<Rule>,
    pub(crate) hosts: HashMap<Name, Vec<IpAddr>>,
    pub(crate) resolver: Option<SocketAddr>,
    pub(crate) trust: Option<String>,
}

/// One thing that may be reached.
#[derive(Debug, Clone)]
struct Rule {
    to: To,
    ports: Vec<RangeInclusive<u16>>,
    protocols: Protocols,
    tls: Tls,
    /// As people read it.
    text: String,
}

#[derive(Debug, Clone)]
enum To {
    /// This name.
    Name(Name),
    /// Every name below this one.
    Below(Name),
    /// These addresses.
    Block(Block),
}

/// Where TLS ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tls {
    /// At the other side.
    PassedOn,
    /// Here, and begins anew.
    Ended,
}

/// What may be spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Protocols {
    pub(crate) http: bool,
    pub(crate) tls: bool,
    pub(crate) tcp: bool,
}

impl Protocols {
    const WEB: Self = Self { http: true, tls: true, tcp: false };
    const ANY: Self = Self { http: false, tls: false, tcp: true };

    /// `tcp` is anything, so it is the others too.
    pub(crate) fn allow(self, protocol: EgressProtocol) -> bool {
        match protocol {
            EgressProtocol::Http => self.http || self.tcp,
            EgressProtocol::Tls => self.tls || self.tcp,
            EgressProtocol::Tcp => self.tcp,
        }
    }

    /// What both allow.
    pub(crate) fn within(self, other: Self) -> Self {
        let both = |protocol| self.allow(protocol) && other.allow(protocol);
        Self { http: both(EgressProtocol::Http), tls: both(EgressProtocol::Tls), tcp: both(EgressProtocol::Tcp) }
    }

    fn and(self, other: Self) -> Self {
        Self { http: self.http || other.http, tls: self.tls || other.tls, tcp: self.tcp || other.tcp }
    }
}

/// What is allowed, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) rule: String,
    pub(crate) protocols: Protocols,
    pub(crate) tls: Tls,
}

/// By what a name is allowed at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// By itself.
    Exact,
    /// By a wildcard, below which these bytes are of the asker's choice.
    Wildcard { free: usize },
}

impl Rule {
    fn names(&self, name: &Name) -> Option<NameRule> {
        match &self.to {
            To::Name(own) => (own == name).then_some(NameRule::Exact),
            To::Below(parent) => name.below(parent).map(|free| NameRule::Wildcard { free: free.len() }),
            To::Block(_) => None,
        }
    }

    fn holds(&self, address: IpAddr) -> bool {
        match &self.to {
            To::Block(block) => block.contains(address),
            To::Name(_) | To::Below(_) => false,
        }
    }

    fn has_port(&self, port: u16) -> bool {
        self.ports.iter().any(|range| range.contains(&port))
    }
}

impl Policy {
    /// Whether it allows nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether some rule is for this name, whatever the port.
    pub(crate) fn name(&self, name: &Name) -> Option<NameRule> {
        let found = self.rules.iter().filter_map(|rule| rule.names(name));
        // A rule for the name itself counts before a wildcard.
        found.reduce(|best, next| if best == NameRule::Exact { best } else { next })
    }

    /// Whether this name may be reached at this port, and what may be spoken there.
    pub(crate) fn named(&self, name: &Name, port: u16) -> Result<Allowed, DenialReason> {
        self.among(|rule| rule.names(name).is_some(), port)
    }

    /// Whether this address may be reached without a name.
    pub(crate) fn addressed(&self, address: IpAddr, port: u16) -> Result<Allowed, DenialReason> {
        self.among(|rule| rule.holds(address), port).map_err(|reason| {
            let closed = reason == DenialReason::NoRule && !address::is_public(address);
            if closed { DenialReason::AddressNotPublic } else { reason }
        })
    }

    fn among(&self, meant: impl Fn(&Rule) -> bool, port: u16) -> Result<Allowed, DenialReason> {
        let mut reason = DenialReason::NoRule;
        let mut allowed: Option<Allowed> = None;
        for rule in self.rules.iter().filter(|rule| meant(rule)) {
            reason = DenialReason::PortNotAllowed;
            if !rule.has_port(port) {
                continue;
            }
            allowed = Some(match allowed {
                None => Allowed { rule: rule.text.clone(), protocols: rule.protocols, tls: rule.tls },
                Some(before) => Allowed {
                    protocols: before.protocols.and(rule.protocols),
                    // Looked into if any rule wants it: to look is the narrower of the two.
                    tls: if rule.tls == Tls::Ended { Tls::Ended } else { before.tls },
                    ..before
                },
            });
        }
        allowed.ok_or(reason)
    }

    /// Whether a rule for a block names this address.
    pub(crate) fn names(&self, address: IpAddr, port: Option<u16>) -> bool {
        self.rules.iter().any(|rule| rule.holds(address) && port.is_none_or(|port| rule.has_port(port)))
    }

    /// Whether some name could be reached at this port by saying it.
    pub(crate) fn has_names_at(&self, port: u16) -> bool {
        self.rules.iter().any(|rule| !matches!(rule.to, To::Block(_)) && rule.has_port(port))
    }
}

#[cfg(test)]
mod tests;
