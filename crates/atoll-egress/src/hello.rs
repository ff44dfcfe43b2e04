//! The first words of TLS: which name is meant. Reads, never speaks.
//!
//! Strict where a server may be lenient: a hello that two readers could take for two names is refused. Nothing is
//! trusted but lengths that were checked.

use crate::name::Name;

/// Most bytes of a hello. Real ones, with the keys of post-quantum exchange, are below 4 KiB.
const HELLO_MAX: usize = 32 * 1024;

/// RFC 8446: record types, handshake types, extensions.
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const ENCRYPTED_CLIENT_HELLO: u16 = 0xfe0d;
/// Its drafts' predecessor.
const ENCRYPTED_SERVER_NAME: u16 = 0xffce;

/// What a hello says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hello {
    /// More bytes are needed.
    Incomplete,
    /// This name.
    Named(Name),
    /// None.
    Nameless,
    /// One that only the server can read.
    Hidden,
    /// Something that is no name.
    BadName,
    /// It is no hello.
    Malformed,
}

/// Reads the beginning of a connection.
pub(crate) fn read(bytes: &[u8]) -> Hello {
    match handshake(bytes) {
        Ok(Some(message)) => client_hello(&message).unwrap_or(Hello::Malformed),
        Ok(None) if bytes.len() > HELLO_MAX => Hello::Malformed,
        Ok(None) => Hello::Incomplete,
        Err(Malformed) => Hello::Malformed,
    }
}

#[derive(Debug)]
struct Malformed;

/// Puts the first message together from however many records it came in. `None`: not yet whole.
fn handshake(mut bytes: &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
    let mut message = Vec::new();
    loop {
        if let [kind, high, mid, low, ..] = message[..] {
            let length = usize::from(high) << 16 | usize::from(mid) << 8 | usize::from(low);
            if kind != CLIENT_HELLO || length > HELLO_MAX {
                return Err(Malformed);
            }
            if message.len() >= 4 + length {
                message.truncate(4 + length);
                return Ok(Some(message));
            }
        }
        let [kind, major, _, high, low, rest @ ..] = bytes else {
            let wrong =
                bytes.first().is_some_and(|kind| *kind != HANDSHAKE) || bytes.get(1).is_some_and(|major| *major != 3);
            return if wrong { Err(Malformed) } else { Ok(None) };
        };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        // RFC 8446, section 5.1: no empty records here, none above 2^14.
        if *kind != HANDSHAKE || *major != 3 || length == 0 || length > 1 << 14 {
            return Err(Malformed);
        }
        let Some(fragment) = rest.get(..length) else { return Ok(None) };
        message.extend_from_slice(fragment);
        bytes = &rest[length..];
    }
}

/// A reader that never goes past its end.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<usize> {
        self.take(1).map(|bytes| usize::from(bytes[0]))
    }

    fn short(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// What follows a length of two bytes.
    fn block(&mut self) -> Option<Self> {
        let length = self.short()?;
        self.take(length.into()).map(Self)
    }
}

fn client_hello(message: &[u8]) -> Option<Hello> {
    let mut reader = Reader(message.get(4..)?);
    reader.take(2 + 32)?;
    let session = reader.byte()?;
    reader.take(session)?;
    reader.block()?;
    let compressions = reader.byte()?;
    reader.take(compressions)?;
    if reader.0.is_empty() {
        return Some(Hello::Nameless);
    }
    let mut extensions = reader.block()?;
    if !reader.0.is_empty() {
        return None;
    }
    let (mut name, mut hidden) = (None, false);
    while !extensions.0.is_empty() {
        let kind = extensions.short()?;
        let body = extensions.block()?;
        match kind {
            // Twice the same extension is forbidden (RFC 8446, section 4.2); with this one it would be two names.
            SERVER_NAME if name.is_some() => return None,
            SERVER_NAME => name = Some(server_name(body)?),
            ENCRYPTED_CLIENT_HELLO | ENCRYPTED_SERVER_NAME => hidden = true,
            _ => {}
        }
    }
    if hidden {
        return Some(Hello::Hidden);
    }
    Some(name.unwrap_or(Hello::Nameless))
}

/// RFC 6066, section 3: a list of which only one entry, of kind 0, has ever been defined.
fn server_name(mut body: Reader<'_>) -> Option<Hello> {
    let mut list = body.block().filter(|_| body.0.is_empty())?;
    let kind = list.byte()?;
    let name = list.block()?;
    if kind != 0 || !list.0.is_empty() {
        return None;
    }
    Some(Name::new(name.0).map_or(Hello::BadName, Hello::Named))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A hello with these extensions, in records of at most so many bytes.
    pub(crate) fn hello(extensions: &[(u16, Vec<u8>)], record: usize) -> Vec<u8> {
        let mut list = Vec::new();
        for (kind, body) in extensions {
            list.extend(kind.to_be_bytes());
            list.extend(u16::try_from(body.len()).unwrap().to_be_bytes());
            list.extend(body);
        }
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.extend([0, 0, 2, 0x13, 1, 1, 0]);
        body.extend(u16::try_from(list.len()).unwrap().to_be_bytes());
        body.extend(list);
        let mut message = vec![1, 0];
        message.extend(u16::try_from(body.len()).unwrap().to_be_bytes());
        message.extend(body);
        let mut out = Vec::new();
        for piece in message.chunks(record) {
            out.extend([22, 3, 1]);
            out.extend(u16::try_from(piece.len()).unwrap().to_be_bytes());
            out.extend(piece);
        }
        out
    }

    pub(crate) fn sni(name: &[u8]) -> (u16, Vec<u8>) {
        let length = u16::try_from(name.len()).unwrap();
        let mut body = (length + 3).to_be_bytes().to_vec();
        body.push(0);
        body.extend(length.to_be_bytes());
        body.extend(name);
        (0, body)
    }

    fn named(text: &str) -> Hello {
        Hello::Named(Name::new(text.as_bytes()).unwrap())
    }

    #[test]
    fn the_name_is_found_however_it_is_cut() {
        for record in [1, 3, 40, 4096] {
            let whole = hello(&[(43, vec![2, 3, 4]), sni(b"A.example.com"), (16, vec![0, 0])], record);
            assert_eq!(read(&whole), named("a.example.com"), "{record}");
            for end in 0..whole.len() {
                assert_eq!(read(&whole[..end]), Hello::Incomplete, "{record} {end}");
            }
        }
    }

    #[test]
    fn what_hides_or_doubles_the_name_is_told() {
        let a = || sni(b"a.test");
        assert_eq!(read(&hello(&[a(), (0xfe0d, vec![0])], 999)), Hello::Hidden);
        assert_eq!(read(&hello(&[a(), (0xffce, vec![0])], 999)), Hello::Hidden);
        assert_eq!(read(&hello(&[a(), sni(b"b.test")], 999)), Hello::Malformed);
        assert_eq!(read(&hello(&[(16, vec![0, 0])], 999)), Hello::Nameless);
        for bad in [&b"evil\0.a.test"[..], b"a.test.", b"10.0.0.1", b"u@a.test", b""] {
            assert_eq!(read(&hello(&[sni(bad)], 999)), Hello::BadName, "{}", bad.escape_ascii());
        }
        let mut two = sni(b"a.test").1;
        two.extend([0, 0, 1, b'b']);
        let length = u16::try_from(two.len() - 2).unwrap();
        two[..2].copy_from_slice(&length.to_be_bytes());
        assert_eq!(read(&hello(&[(0, two)], 999)), Hello::Malformed);
    }

    #[test]
    fn what_is_no_hello_is_known_by_its_first_bytes() {
        for bytes in
            [&b"GET / HTTP/1.1\r\n"[..], b"SSH-2.0", &[22, 2], &[22, 3, 1, 0, 0], &[22, 3, 1, 0, 4, 2, 0, 0, 0]]
        {
            assert_eq!(read(bytes), Hello::Malformed, "{}", bytes.escape_ascii());
        }
        assert_eq!(read(&[22, 3, 1, 0xff, 0xff]), Hello::Malformed);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_fail(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            read(&bytes);
            read(&[&[22, 3, 1, 0, 100, 1, 0, 0, 96][..], &bytes].concat());
        }
    }
}
