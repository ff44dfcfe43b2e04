//! Little-endian, length-prefixed encoding of plain data.

/// The bytes are not a message of this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("malformed message")
    }
}

impl std::error::Error for Malformed {}

/// Data that can cross the socket.
pub trait Wire: Sized {
    /// Appends the encoding to `out`.
    fn put(&self, out: &mut Vec<u8>);
    /// Takes one value off the front of the input.
    fn take(input: &mut Decoder<'_>) -> Result<Self, Malformed>;

    /// Appends many in a row.
    fn put_all(items: &[Self], out: &mut Vec<u8>) {
        for item in items {
            item.put(out);
        }
    }
    /// Takes so many in a row.
    fn take_all(count: usize, input: &mut Decoder<'_>) -> Result<Vec<Self>, Malformed> {
        let mut items = Vec::with_capacity(count.min(4096));
        for _ in 0..count {
            items.push(Self::take(input)?);
        }
        Ok(items)
    }

    /// The whole encoding.
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        self.put(&mut out);
        out
    }

    /// Decodes a whole message: everything must be used up.
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Decoder(bytes);
        let value = Self::take(&mut input)?;
        if input.0.is_empty() { Ok(value) } else { Err(Malformed) }
    }
}

/// What is left of a message while it is decoded.
#[derive(Debug)]
pub struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    /// Takes `count` raw bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }
}

macro_rules! integers {
    ($($kind:ty),*) => {$(
        impl Wire for $kind {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
                let bytes = input.bytes(size_of::<Self>())?;
                Ok(Self::from_le_bytes(bytes.try_into().map_err(|_| Malformed)?))
            }
        }
    )*};
}
integers!(u16, u32, u64, i32, i64);

/// A byte. Many of them are copied as they are.
impl Wire for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }
    fn take(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        input.bytes(1)?.first().copied().ok_or(Malformed)
    }
    fn put_all(items: &[Self], out: &mut Vec<u8>) {
        out.extend_from_slice(items);
    }
    fn take_all(count: usize, input: &mut Decoder<'_>) -> Result<Vec<Self>, Malformed> {
        input.bytes(count).map(<[Self]>::to_vec)
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn take(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        match u8::take(input)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }
}

/// A list. Bytes take this way too: one length, then the items; the length is checked against what is left, so a
/// forged one cannot make us allocate.
impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_list(self, out);
    }
    fn take(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let count = u32::take(input)? as usize;
        if count > input.0.len() {
            return Err(Malformed);
        }
        T::take_all(count, input)
    }
}

/// A list that is somebody else's.
pub fn put_list<T: Wire>(items: &[T], out: &mut Vec<u8>) {
    u32::try_from(items.len()).expect("no message has four billion items").put(out);
    T::put_all(items, out);
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn take(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        if bool::take(input)? { T::take(input).map(Some) } else { Ok(None) }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok((A::take(input)?, B::take(input)?))
    }
}

impl<A: Wire, B: Wire, C: Wire> Wire for (A, B, C) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
        self.2.put(out);
    }
    fn take(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok((A::take(input)?, B::take(input)?, C::take(input)?))
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_bytes().to_vec().put(out);
    }
    fn take(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Self::from_utf8(Vec::take(input)?).map_err(|_| Malformed)
    }
}

/// Writes `Wire` for a struct (fields in order) or an enum (a tag byte, then the fields).
#[macro_export]
macro_rules! wire {
    (struct $name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($crate::wire::Wire::put($field, out);)*
            }
            fn take(input: &mut $crate::wire::Decoder<'_>) -> Result<Self, $crate::wire::Malformed> {
                $(let $field = $crate::wire::Wire::take(input)?;)*
                Ok(Self { $($field),* })
            }
        }
    };
    (enum $name:ident { $($tag:literal => $variant:ident $({ $($field:ident),* $(,)? })?),* $(,)? }) => {
        impl $crate::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $({ $($field),* })? => {
                        out.push($tag);
                        $($($crate::wire::Wire::put($field, out);)*)?
                    })*
                }
            }
            fn take(input: &mut $crate::wire::Decoder<'_>) -> Result<Self, $crate::wire::Malformed> {
                match <u8 as $crate::wire::Wire>::take(input)? {
                    $($tag => {
                        $($(let $field = $crate::wire::Wire::take(input)?;)*)?
                        Ok(Self::$variant $({ $($field),* })?)
                    })*
                    _ => Err($crate::wire::Malformed),
                }
            }
        }
    };
}
