//! DNS on the wire (RFC 1035): a question read, an answer written; and the other way round for a name server that we ask.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::name::Name;

/// Types of records.
pub(crate) const A: u16 = 1;
pub(crate) const AAAA: u16 = 28;
/// HTTPS and SVCB: what browsers ask beside the address. There is nothing to tell, which is no refusal.
pub(crate) const SVCB: u16 = 64;
pub(crate) const HTTPS: u16 = 65;
const CNAME: u16 = 5;
const CLASS_IN: u16 = 1;

const HEADER: usize = 12;

/// Pointers and names followed while reading one answer: no honest one needs more, and no other can go in circles.
const JUMPS_MAX: usize = 32;

/// How a question was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Fine = 0,
    NoSuchName = 3,
    Refused = 5,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    id: u16,
    recursion: bool,
    /// As it was asked, letter case included: the answer repeats it.
    raw: Vec<u8>,
    /// `None` if it is none that a host can have.
    pub(crate) name: Option<Name>,
    pub(crate) kind: u16,
}

/// Reads a question. `None` if it is none; nobody is to be answered then.
pub(crate) fn question(bytes: &[u8]) -> Option<Question> {
    let header: &[u8; HEADER] = bytes.first_chunk()?;
    let field = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    // A plain query with one question: no answers in it, no other opcode.
    let plain = header[2] & 0xf8 == 0;
    if !plain || field(4) != 1 || field(6) != 0 || field(8) != 0 {
        return None;
    }
    let (mut at, mut text) = (HEADER, Vec::new());
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        // No pointers in a question: there is nothing to point at.
        let label = bytes.get(at..at + length).filter(|_| length < 64)?;
        if !text.is_empty() {
            text.push(b'.');
        }
        // A dot within a label would look like two labels.
        text.extend(label.iter().map(|byte| if *byte == b'.' { 0 } else { *byte }));
        at += length;
    }
    let kind = u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?);
    let class = u16::from_be_bytes(*bytes.get(at + 2..)?.first_chunk()?);
    let raw = bytes[HEADER..at + 4].to_vec();
    let name = Name::new(&text).filter(|_| class == CLASS_IN);
    Some(Question { id: field(0), recursion: header[2] & 1 != 0, raw, name, kind })
}

impl Question {
    /// An answer with these addresses, each good for so many seconds.
    pub(crate) fn answer(&self, code: Code, addresses: &[Ipv4Addr], seconds: u32) -> Vec<u8> {
        let mut out = self.id.to_be_bytes().to_vec();
        out.extend([0x84 | u8::from(self.recursion), 0x80 | code as u8]);
        out.extend(1u16.to_be_bytes());
        out.extend(u16::try_from(addresses.len()).unwrap_or(0).to_be_bytes());
        out.extend([0; 4]);
        out.extend(&self.raw);
        for address in addresses {
            // A pointer to the question's name.
            out.extend([0xc0, 0x0c]);
            out.extend(A.to_be_bytes());
            out.extend(CLASS_IN.to_be_bytes());
            out.extend(seconds.to_be_bytes());
            out.extend(4u16.to_be_bytes());
            out.extend(address.octets());
        }
        out
    }
}

/// A question of ours.
pub(crate) fn ask(id: u16, name: &Name, kind: u16) -> Vec<u8> {
    let mut out = id.to_be_bytes().to_vec();
    out.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.as_str().split('.') {
        out.push(u8::try_from(label.len()).unwrap_or(0));
        out.extend(label.as_bytes());
    }
    out.push(0);
    out.extend(kind.to_be_bytes());
    out.extend(CLASS_IN.to_be_bytes());
    out
}

/// What a name server said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// These addresses, good for so many seconds. None: the name has none of this kind.
    Addresses(Vec<IpAddr>, u32),
    /// It did not fit: ask by TCP.
    Cut,
    /// It could not tell.
    Failed,
}

/// Reads the answer to a question of ours. `None` if it answers something else.
pub(crate) fn answer(bytes: &[u8], asked: &[u8]) -> Option<Said> {
    let header: &[u8; HEADER] = bytes.first_chunk()?;
    let question = &asked[HEADER..];
    let repeated = bytes.get(HEADER..HEADER + question.len())?;
    if header[..2] != asked[..2] || header[2] & 0xf8 != 0x80 || !repeated.eq_ignore_ascii_case(question) {
        return None;
    }
    if header[2] & 2 != 0 {
        return Some(Said::Cut);
    }
    match header[3] & 0x0f {
        0 => {}
        3 => return Some(Said::Addresses(Vec::new(), 0)),
        _ => return Some(Said::Failed),
    }
    let count = u16::from_be_bytes([header[6], header[7]]);
    records(bytes, HEADER + question.len(), count).or(Some(Said::Failed))
}

/// Aliases are followed by taking every address in the answer: it is the answer to our one question.
fn records(bytes: &[u8], mut at: usize, count: u16) -> Option<Said> {
    let (mut found, mut seconds) = (Vec::new(), u32::MAX);
    for _ in 0..count {
        at = skip_name(bytes, at)?;
        let fixed: &[u8; 10] = bytes.get(at..)?.first_chunk()?;
        let kind = u16::from_be_bytes([fixed[0], fixed[1]]);
        let ttl = u32::from_be_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]);
        let length = usize::from(u16::from_be_bytes([fixed[8], fixed[9]]));
        let data = bytes.get(at + 10..at + 10 + length)?;
        at += 10 + length;
        let address = match (kind, length) {
            (A, 4) => data.first_chunk::<4>().map(|octets| IpAddr::from(Ipv4Addr::from(*octets))),
            (AAAA, 16) => data.first_chunk::<16>().map(|octets| IpAddr::from(Ipv6Addr::from(*octets))),
            (CNAME, _) => None,
            _ => continue,
        };
        seconds = seconds.min(ttl);
        found.extend(address.map(|address| address.to_canonical()));
    }
    Some(Said::Addresses(found, seconds))
}

fn skip_name(bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..JUMPS_MAX * 4 {
        match *bytes.get(at)? {
            0 => return Some(at + 1),
            length @ 1..64 => at += 1 + usize::from(length),
            0xc0.. => return Some(at + 2),
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_question_is_answered_as_it_was_asked() {
        let mut asked = ask(7, &name("a.test"), A);
        asked[13] = b'A';
        let read = question(&asked).unwrap();
        assert_eq!((read.name.clone(), read.kind), (Some(name("a.test")), A));
        let told = read.answer(Code::Fine, &[Ipv4Addr::new(198, 18, 1, 2)], 30);
        let addresses = vec![IpAddr::from([198, 18, 1, 2])];
        assert_eq!(answer(&told, &asked), Some(Said::Addresses(addresses, 30)));
        assert_eq!(answer(&told, &ask(8, &name("a.test"), A)), None);
        assert_eq!(answer(&told, &ask(7, &name("b.test"), A)), None);
        let refused = read.answer(Code::Refused, &[], 0);
        assert_eq!(answer(&refused, &asked), Some(Said::Failed));
    }

    #[test]
    fn names_that_no_host_has_are_none() {
        for label in [&b"evil\0"[..], b"a.b", b"\xc3\xbc", b"a b"] {
            let mut asked = ask(7, &name("x.test"), A);
            asked.splice(12..14, [&[u8::try_from(label.len()).unwrap()][..], label].concat());
            assert_eq!(question(&asked).unwrap().name, None, "{}", label.escape_ascii());
        }
        let mut chaos = ask(7, &name("x.test"), A);
        *chaos.last_mut().unwrap() = 3;
        assert_eq!(question(&chaos).unwrap().name, None);
    }

    #[test]
    fn what_is_no_single_question_is_left_unanswered() {
        let good = ask(7, &name("x.test"), A);
        for (at, value) in [(2, 0x80), (2, 0x28), (5, 2), (7, 1), (9, 1), (12, 0xc0)] {
            let mut bad = good.clone();
            bad[at] = value;
            assert_eq!(question(&bad), None, "{at}");
        }
        for end in 0..good.len() {
            assert_eq!(question(&good[..end]), None, "{end}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_fail(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..100)) {
            question(&bytes);
            let asked = ask(7, &name("a.test"), A);
            answer(&bytes, &asked);
            let mut told = asked.clone();
            told[2] = 0x80;
            told[7] = 9;
            told.extend(bytes);
            answer(&told, &asked);
        }
    }
}
