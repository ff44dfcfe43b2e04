//! The way out of a sandbox, seen from inside: every address leads to loopback, and loopback to us.
//!
//! The network namespace has nothing but `lo`. A `local` route for all addresses makes each of them one of our own
//! ("AnyIP"); a rule of nf_tables sends every TCP connection, and every question to a name server, to sockets that are
//! made here and handed to the agent, which decides. Everything else finds nobody and is refused by the kernel. So no
//! packet ever leaves the namespace, and taking a rule away can never open anything. What UDP is refused is told.
//!
//! Opening can be repeated after it failed at any step, here or in the agent: rules of an earlier attempt, which lead to
//! sockets that are closed, are replaced as a whole; an address or a route that is there already is left.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use crate::sys::netlink::{self, Messages};
use crate::sys::network;

/// `<linux/rtnetlink.h>`
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RT_TABLE_LOCAL: u8 = 255;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_HOST: u8 = 254;
const RTN_LOCAL: u8 = 2;
const RTA_OIF: u16 = 4;

/// `lo` is the first interface of every namespace.
const LOOPBACK_INDEX: u32 = 1;

/// Of the block for such purposes (RFC 2544): programs that ask for names only if they have an address that is not
/// loopback (AI_ADDRCONFIG, getaddrinfo(3)) have one.
const OWN: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);

/// `<linux/netlink.h>`
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_CREATE: u16 = 0x400;
const NLM_F_APPEND: u16 = 0x800;

/// `<linux/netfilter/nfnetlink.h>` and `nf_tables.h`
const NFNL_MSG_BATCH_BEGIN: u16 = 0x10;
const NFNL_MSG_BATCH_END: u16 = 0x11;
const NFNL_SUBSYS_NFTABLES: u16 = 10;
const NFT_MSG_NEWTABLE: u16 = NFNL_SUBSYS_NFTABLES << 8;
const NFT_MSG_DELTABLE: u16 = NFT_MSG_NEWTABLE | 2;
const NFT_MSG_NEWCHAIN: u16 = NFT_MSG_NEWTABLE | 3;
const NFT_MSG_NEWRULE: u16 = NFT_MSG_NEWTABLE | 6;
const NF_INET_LOCAL_OUT: u32 = 3;
/// Where destinations are translated, as nft(8) calls it: `dstnat`.
const NF_IP_PRI_NAT_DST: i32 = -100;
const NFT_REG_1: u32 = 1;
const NFT_META_L4PROTO: u32 = 16;
const NFT_PAYLOAD_NETWORK: u32 = 1;
const NFT_PAYLOAD_TRANSPORT: u32 = 2;

/// `<linux/netfilter/nfnetlink_log.h>`
const NFULNL_MSG_CONFIG: u16 = (4 << 8) | 1;
const NFULA_CFG_CMD: u16 = 1;
const NFULA_CFG_MODE: u16 = 2;
const NFULA_CFG_QTHRESH: u16 = 5;
const NFULNL_CFG_CMD_BIND: u8 = 1;
const NFULNL_COPY_PACKET: u8 = 2;

/// Packets that are told, per second: enough to know, too few to be a burden.
const TOLD_PER_SECOND: u64 = 50;

/// Bytes of a packet that are told: both headers.
const TOLD_BYTES: u32 = 64;

const TABLE: &[u8] = b"atoll\0";
const CHAIN: &[u8] = b"out\0";
const REFUSED: &[u8] = b"refused\0";

/// The port that name servers answer on.
const DNS: u16 = 53;

/// One of the two families, and how its packets are told apart from those that stay inside.
#[derive(Debug, Clone, Copy)]
enum Family {
    V4,
    V6,
}

impl Family {
    /// `AF_*`, which is also nf_tables' number for it.
    fn number(self) -> u8 {
        match self {
            Self::V4 => 2,
            Self::V6 => 10,
        }
    }

    fn loopback(self) -> SocketAddr {
        match self {
            Self::V4 => (Ipv4Addr::LOCALHOST, 0).into(),
            Self::V6 => (Ipv6Addr::LOCALHOST, 0).into(),
        }
    }

    /// Where in the header the destination is, and the beginning of it that means "inside": 127.0.0.0/8, ::1.
    fn inside(self) -> (u32, Vec<u8>) {
        match self {
            Self::V4 => (16, vec![127]),
            Self::V6 => (24, Ipv6Addr::LOCALHOST.octets().to_vec()),
        }
    }
}

/// Opens the way: rules, routes, and the sockets that [`Request::Egress`](crate::wire::Request::Egress) promises. In the
/// current network namespace, with the right to change it.
pub(crate) fn open() -> io::Result<Vec<OwnedFd>> {
    let mut sockets = vec![netlink::open(libc::NETLINK_SOCK_DIAG)?, netlink::open(libc::NETLINK_NETFILTER)?];
    // Told or not, it is refused; a kernel that cannot tell it is no reason to do without.
    let telling = tell_refused(&sockets[1]).is_ok();
    address()?;
    sockets.extend(family(Family::V4, telling)?);
    match family(Family::V6, telling) {
        // A kernel without IPv6 has no other way out either.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL)) => {}
        more => sockets.extend(more?),
    }
    Ok(sockets)
}

/// Packets that a rule logs come to this socket, one by one.
fn tell_refused(socket: &OwnedFd) -> io::Result<()> {
    let mut messages = Messages::default();
    let mut configure = |kind: u16, value: &[u8]| {
        let begun = messages.begin(NFULNL_MSG_CONFIG, NLM_F_REQUEST | NLM_F_ACK);
        messages.fixed(&[0; 4]);
        messages.attribute(kind, value);
        messages.end(begun);
    };
    configure(NFULA_CFG_CMD, &[NFULNL_CFG_CMD_BIND]);
    let [a, b, c, d] = TOLD_BYTES.to_be_bytes();
    configure(NFULA_CFG_MODE, &[a, b, c, d, NFULNL_COPY_PACKET, 0]);
    configure(NFULA_CFG_QTHRESH, &1u32.to_be_bytes());
    netlink::request(socket, &messages, 3)
}

fn family(family: Family, telling: bool) -> io::Result<[OwnedFd; 2]> {
    let (tcp, tcp_port) = network::listen_tcp(family.loopback())?;
    let (dns, dns_port) = network::bind_udp(family.loopback())?;
    // The rule first: with the route alone, an address would lead to whatever listens inside.
    redirect(family, tcp_port, dns_port)?;
    if telling {
        // As above: what is not told is refused all the same.
        tell(family, dns_port).ok();
    }
    route(family)?;
    Ok([tcp, dns])
}

/// `ip address add 198.18.0.2/32 dev lo`
fn address() -> io::Result<()> {
    let mut messages = Messages::default();
    let begun = messages.begin(RTM_NEWADDR, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE);
    // ifaddrmsg: family, prefix length, flags, scope, interface.
    messages.fixed(&[Family::V4.number(), 32, 0, 0]);
    messages.fixed(&LOOPBACK_INDEX.to_ne_bytes());
    messages.attribute(IFA_LOCAL, &OWN.octets());
    messages.attribute(IFA_ADDRESS, &OWN.octets());
    messages.end(begun);
    unless_there(netlink::request(&netlink::open(libc::NETLINK_ROUTE)?, &messages, 1))
}

/// `ip route add local default dev lo`
fn route(family: Family) -> io::Result<()> {
    let mut messages = Messages::default();
    let begun = messages.begin(RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE);
    // rtmsg: family, two prefix lengths, tos, table, protocol, scope, type, flags.
    messages.fixed(&[family.number(), 0, 0, 0, RT_TABLE_LOCAL, RTPROT_STATIC, RT_SCOPE_HOST, RTN_LOCAL, 0, 0, 0, 0]);
    messages.attribute(RTA_OIF, &LOOPBACK_INDEX.to_ne_bytes());
    messages.end(begun);
    unless_there(netlink::request(&netlink::open(libc::NETLINK_ROUTE)?, &messages, 1))
}

/// An earlier attempt has made the same.
fn unless_there(made: io::Result<()>) -> io::Result<()> {
    match made {
        Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(()),
        made => made,
    }
}

/// `type nat hook output priority dstnat; ip daddr != 127.0.0.0/8 …  redirect to :port`, for TCP and for DNS by UDP.
fn redirect(family: Family, tcp_port: u16, dns_port: u16) -> io::Result<()> {
    let mut messages = Messages::default();
    batch_edge(&mut messages, NFNL_MSG_BATCH_BEGIN);
    // As one transaction: there is a table, it goes with all that is in it, and there is an empty one.
    for kind in [NFT_MSG_NEWTABLE, NFT_MSG_DELTABLE, NFT_MSG_NEWTABLE] {
        message(&mut messages, family, kind, 0, |table| table.attribute(1, TABLE));
    }
    chain(&mut messages, family, CHAIN, b"nat\0", NF_IP_PRI_NAT_DST);
    rule(&mut messages, family, libc::IPPROTO_TCP, None, tcp_port);
    rule(&mut messages, family, libc::IPPROTO_UDP, Some(DNS), dns_port);
    batch_edge(&mut messages, NFNL_MSG_BATCH_END);
    netlink::request(&netlink::open(libc::NETLINK_NETFILTER)?, &messages, 6)
}

/// `type filter hook output priority 0; ip daddr != 127.0.0.0/8 meta l4proto udp limit rate 50/second log group 0`: questions
/// to name servers were led elsewhere by then.
fn tell(family: Family, dns_port: u16) -> io::Result<()> {
    let (offset, inside) = family.inside();
    let mut messages = Messages::default();
    batch_edge(&mut messages, NFNL_MSG_BATCH_BEGIN);
    chain(&mut messages, family, REFUSED, b"filter\0", 0);
    message(&mut messages, family, NFT_MSG_NEWRULE, NLM_F_APPEND, |rule| {
        rule.attribute(1, TABLE);
        rule.attribute(2, REFUSED);
        rule.nest(4, |list| {
            expression(list, b"meta\0", |data| numbers(data, &[(1, NFT_REG_1), (2, NFT_META_L4PROTO)]));
            compare(list, Comparison::Equal, &[u8::try_from(libc::IPPROTO_UDP).expect("a byte on the wire")]);
            load(list, NFT_PAYLOAD_NETWORK, offset, u32::try_from(inside.len()).expect("at most 16"));
            compare(list, Comparison::Different, &inside);
            // Answers of our own name server.
            load(list, NFT_PAYLOAD_TRANSPORT, 0, 2);
            compare(list, Comparison::Different, &dns_port.to_be_bytes());
            expression(list, b"limit\0", |data| {
                data.attribute(1, &TOLD_PER_SECOND.to_be_bytes());
                data.attribute(2, &1u64.to_be_bytes());
            });
            expression(list, b"log\0", |data| data.attribute(1, &0u16.to_be_bytes()));
        });
    });
    batch_edge(&mut messages, NFNL_MSG_BATCH_END);
    netlink::request(&netlink::open(libc::NETLINK_NETFILTER)?, &messages, 2)
}

fn chain(messages: &mut Messages, family: Family, name: &[u8], kind: &[u8], priority: i32) {
    message(messages, family, NFT_MSG_NEWCHAIN, 0, |chain| {
        chain.attribute(1, TABLE);
        chain.attribute(3, name);
        chain.nest(4, |hook| {
            hook.attribute(1, &NF_INET_LOCAL_OUT.to_be_bytes());
            hook.attribute(2, &priority.to_be_bytes());
        });
        chain.attribute(7, kind);
    });
}

/// nfgenmsg: family, version, and the subsystem that the batch is for.
fn batch_edge(messages: &mut Messages, kind: u16) {
    let begun = messages.begin(kind, NLM_F_REQUEST);
    let [high, low] = NFNL_SUBSYS_NFTABLES.to_be_bytes();
    messages.fixed(&[0, 0, high, low]);
    messages.end(begun);
}

fn message(messages: &mut Messages, family: Family, kind: u16, flags: u16, fill: impl FnOnce(&mut Messages)) {
    let begun = messages.begin(kind, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | flags);
    messages.fixed(&[family.number(), 0, 0, 0]);
    fill(messages);
    messages.end(begun);
}

fn rule(messages: &mut Messages, family: Family, protocol: libc::c_int, port: Option<u16>, to: u16) {
    let (offset, inside) = family.inside();
    let length = u32::try_from(inside.len()).expect("at most 16");
    message(messages, family, NFT_MSG_NEWRULE, NLM_F_APPEND, |rule| {
        rule.attribute(1, TABLE);
        rule.attribute(2, CHAIN);
        rule.nest(4, |list| {
            expression(list, b"meta\0", |data| numbers(data, &[(1, NFT_REG_1), (2, NFT_META_L4PROTO)]));
            compare(list, Comparison::Equal, &[u8::try_from(protocol).expect("a byte on the wire")]);
            load(list, NFT_PAYLOAD_NETWORK, offset, length);
            compare(list, Comparison::Different, &inside);
            if let Some(port) = port {
                load(list, NFT_PAYLOAD_TRANSPORT, 2, 2);
                compare(list, Comparison::Equal, &port.to_be_bytes());
            }
            expression(list, b"immediate\0", |data| {
                numbers(data, &[(1, NFT_REG_1)]);
                data.nest(2, |value| value.attribute(1, &to.to_be_bytes()));
            });
            expression(list, b"redir\0", |data| numbers(data, &[(1, NFT_REG_1)]));
        });
    });
}

fn expression(list: &mut Messages, name: &[u8], fill: impl FnOnce(&mut Messages)) {
    list.nest(1, |element| {
        element.attribute(1, name);
        element.nest(2, fill);
    });
}

fn numbers(data: &mut Messages, pairs: &[(u16, u32)]) {
    for (kind, number) in pairs {
        data.attribute(*kind, &number.to_be_bytes());
    }
}

#[derive(Debug, Clone, Copy)]
enum Comparison {
    Equal,
    Different,
}

fn compare(list: &mut Messages, comparison: Comparison, value: &[u8]) {
    let operator = match comparison {
        Comparison::Equal => 0,
        Comparison::Different => 1,
    };
    expression(list, b"cmp\0", |data| {
        numbers(data, &[(1, NFT_REG_1), (2, operator)]);
        data.nest(3, |inner| inner.attribute(1, value));
    });
}

fn load(list: &mut Messages, base: u32, offset: u32, length: u32) {
    expression(list, b"payload\0", |data| numbers(data, &[(1, NFT_REG_1), (2, base), (3, offset), (4, length)]));
}
