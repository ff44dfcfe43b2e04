//! Addresses: blocks of them, and which are nobody's but this machine's or its neighbours'.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    base: IpAddr,
    length: u8,
}

impl Block {
    const fn v4(octets: [u8; 4], length: u8) -> Self {
        let [a, b, c, d] = octets;
        Self { base: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), length }
    }

    const fn v6(segments: [u16; 8], length: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = segments;
        Self { base: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), length }
    }

    /// `10.0.0.0/8`, `fd00::/8`, or one address. What is behind the prefix must be zero: else two blocks could be meant.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let (base, length) = match text.split_once('/') {
            None => (text, None),
            Some((base, length)) => (base, Some(length)),
        };
        let base: IpAddr = base.parse().map_err(|_| "it is no address")?;
        if base != base.to_canonical() {
            return Err("an IPv4 address in the form of IPv6: give it as IPv4");
        }
        let most = if base.is_ipv4() { 32 } else { 128 };
        let length = match length {
            None => most,
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok().filter(|length| *length <= most).ok_or("the length of its prefix is wrong")?
            }
            Some(_) => return Err("the length of its prefix is wrong"),
        };
        let block = Self { base, length };
        if bits(base) & !mask(base, length) != 0 {
            return Err("it has bits behind its prefix: give the first address of the block");
        }
        Ok(block)
    }

    /// Whether the address is in it.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.base.is_ipv4() && bits(address) & mask(self.base, self.length) == bits(self.base)
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.length)
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn mask(of: IpAddr, length: u8) -> u128 {
    let (width, all) = if of.is_ipv4() { (32, u128::from(u32::MAX)) } else { (128, u128::MAX) };
    let behind = u32::from(width - length);
    all & all.checked_shl(behind).unwrap_or(0)
}

/// What of IPv4 is no public host (IANA's special-purpose registry, and multicast).
const SPECIAL: [Block; 16] = [
    Block::v4([0, 0, 0, 0], 8),
    Block::v4([10, 0, 0, 0], 8),
    Block::v4([100, 64, 0, 0], 10),
    Block::v4([127, 0, 0, 0], 8),
    Block::v4([169, 254, 0, 0], 16),
    Block::v4([172, 16, 0, 0], 12),
    Block::v4([192, 0, 0, 0], 24),
    Block::v4([192, 0, 2, 0], 24),
    Block::v4([192, 31, 196, 0], 24),
    Block::v4([192, 88, 99, 0], 24),
    Block::v4([192, 168, 0, 0], 16),
    Block::v4([198, 18, 0, 0], 15),
    Block::v4([198, 51, 100, 0], 24),
    Block::v4([203, 0, 113, 0], 24),
    Block::v4([224, 0, 0, 0], 4),
    Block::v4([240, 0, 0, 0], 4),
];

/// All that is public of IPv6 is in here; so what maps or carries IPv4 (`::ffff:0:0/96`, `64:ff9b::/96`) is not.
const GLOBAL_V6: Block = Block::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// And of that, not these: protocol assignments with Teredo, documentation, 6to4, documentation.
const SPECIAL_V6: [Block; 4] = [
    Block::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    Block::v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    Block::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    Block::v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

/// Whether this is the address of some host on the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    let address = address.to_canonical();
    match address {
        IpAddr::V4(_) => !SPECIAL.iter().any(|block| block.contains(address)),
        IpAddr::V6(_) => GLOBAL_V6.contains(address) && !SPECIAL_V6.iter().any(|block| block.contains(address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn special_addresses_are_not_public() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.1.2.3",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:a00:1::",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "3fff::1",
        ] {
            assert!(!is_public(ip(text)), "{text}");
        }
        for text in
            ["1.1.1.1", "100.63.255.255", "100.128.0.0", "172.32.0.1", "192.1.0.1", "2606:4700::1111", "::ffff:1.1.1.1"]
        {
            assert!(is_public(ip(text)), "{text}");
        }
    }

    #[test]
    fn a_block_is_what_it_says() {
        let block = Block::parse("10.1.0.0/16").unwrap();
        assert!(block.contains(ip("10.1.255.255")) && !block.contains(ip("10.2.0.0")));
        assert!(block.contains(ip("::ffff:10.1.0.1")));
        assert!(!Block::parse("0.0.0.0/0").unwrap().contains(ip("::1")));
        assert!(Block::parse("::/0").unwrap().contains(ip("fe80::1")));
        assert_eq!(Block::parse("1.2.3.4").unwrap().to_string(), "1.2.3.4/32");
        for text in [
            "",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "010.0.0.1",
            "0x0a.0.0.1",
            "10.1",
            "::ffff:10.0.0.0/104",
            "10.0.0.0/",
            "10.0.0.0/+8",
        ] {
            assert!(Block::parse(text).is_err(), "{text}");
        }
    }
}
