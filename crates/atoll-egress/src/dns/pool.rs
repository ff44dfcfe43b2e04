//! Addresses that stand for names: each name that is told gets one of its own, so that a connection says which is meant.
//!
//! They are of 198.18.0.0/15, which is nobody's (RFC 2544). An address is not given to a second name until all others
//! were used, and names are forgotten oldest first.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};

use crate::name::Name;

/// Where name servers seem to be, for the inside.
pub const NAME_SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// The first address that stands for a name, and how many there are.
const FIRST: u32 = Ipv4Addr::new(198, 18, 1, 0).to_bits();
const COUNT: u32 = (1 << 17) - 256;

/// Names remembered at once.
const NAMES_MAX: usize = 4096;

/// What stands for what.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    names: HashMap<Name, u32>,
    addresses: HashMap<u32, Name>,
    order: VecDeque<u32>,
    next: u32,
}

impl Pool {
    /// The address that stands for this name.
    pub(crate) fn address(&mut self, name: &Name) -> Ipv4Addr {
        if let Some(number) = self.names.get(name) {
            return Ipv4Addr::from_bits(FIRST + number);
        }
        if self.order.len() >= NAMES_MAX
            && let Some(oldest) = self.order.pop_front()
            && let Some(name) = self.addresses.remove(&oldest)
        {
            self.names.remove(&name);
        }
        let number = self.next;
        self.next = (self.next + 1) % COUNT;
        self.names.insert(name.clone(), number);
        self.addresses.insert(number, name.clone());
        self.order.push_back(number);
        Ipv4Addr::from_bits(FIRST + number)
    }

    /// The name that this address stands for.
    pub(crate) fn name(&self, address: IpAddr) -> Option<Name> {
        let IpAddr::V4(address) = address else { return None };
        let number = address.to_bits().checked_sub(FIRST)?;
        self.addresses.get(&number).cloned()
    }

    /// Whether this name was told.
    pub(crate) fn knows(&self, name: &Name) -> bool {
        self.names.contains_key(name)
    }

    /// Whether it is an address that could stand for a name.
    pub(crate) fn owns(address: IpAddr) -> bool {
        matches!(address, IpAddr::V4(address) if address.octets()[0] == 198 && address.octets()[1] & 0xfe == 18)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_address_and_no_two_share_one() {
        let mut pool = Pool::default();
        let name = |number: usize| Name::new(format!("n{number}.test").as_bytes()).unwrap();
        let first = pool.address(&name(0));
        assert_eq!((first, pool.address(&name(0))), (Ipv4Addr::new(198, 18, 1, 0), first));
        for number in 1..NAMES_MAX {
            let address = pool.address(&name(number));
            assert!(Pool::owns(address.into()));
            assert_eq!(pool.name(address.into()), Some(name(number)));
        }
        assert_eq!(pool.name(first.into()), Some(name(0)));
        pool.address(&name(NAMES_MAX));
        assert_eq!(pool.name(first.into()), None);
        assert_ne!(pool.address(&name(0)), first);
        assert_eq!(pool.name("198.19.255.255".parse().unwrap()), None);
    }

    #[test]
    fn the_last_address_is_within_the_block() {
        let mut pool = Pool { next: COUNT - 1, ..Pool::default() };
        assert_eq!(pool.address(&Name::new(b"a.test").unwrap()), Ipv4Addr::new(198, 19, 255, 255));
        assert_eq!(pool.address(&Name::new(b"b.test").unwrap()), Ipv4Addr::new(198, 18, 1, 0));
    }
}
