//! JSON deserialization that agrees with JSON Schema. serde accepts a list for a struct, field by field, and rejects
//! whole numbers written with a decimal point; JSON Schema says the opposite of both.

use serde::Deserializer;
use serde::de::{DeserializeSeed, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};

/// A deserializer wrapper that also wraps all nested deserializers.
#[derive(Debug)]
pub struct Strict<T>(pub T);

/// The first whole numbers that `u64` and `i64` cannot hold, as floats: 2^64 and 2^63.
const BEYOND_UNSIGNED: f64 = 18_446_744_073_709_551_616.0;
const BEYOND_SIGNED: f64 = 9_223_372_036_854_775_808.0;

macro_rules! pass {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(Strict(visitor))
        }
    )*};
}

macro_rules! pass_whole {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(Whole(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    pass! {
        deserialize_any deserialize_bool deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_option deserialize_unit deserialize_seq
        deserialize_map deserialize_identifier deserialize_ignored_any
    }

    pass_whole! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, Strict(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Strict(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, Strict(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, len, Strict(visitor))
    }

    /// Accepts only an object for a struct. This is the main purpose of the wrapper.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Strict(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, Strict(visitor))
    }
}

macro_rules! visit {
    ($($method:ident($kind:ty))*) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strict<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) visit_borrowed_str(&'de str)
        visit_string(String) visit_bytes(&[u8]) visit_borrowed_bytes(&'de [u8]) visit_byte_buf(Vec<u8>)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Strict(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Strict(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Strict(variant))
    }
}

/// A visitor that accepts a whole number in any notation, such as `80.0`.
struct Whole<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Whole<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.expecting(f)
    }

    visit! { visit_i64(i64) visit_u64(u64) }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, and within what the kind holds"
    )]
    fn visit_f64<E: Error>(self, value: f64) -> Result<V::Value, E> {
        if value.fract() != 0.0 {
            self.0.visit_f64(value)
        } else if (0.0..BEYOND_UNSIGNED).contains(&value) {
            self.0.visit_u64(value as u64)
        } else if (-BEYOND_SIGNED..0.0).contains(&value) {
            self.0.visit_i64(value as i64)
        } else {
            self.0.visit_f64(value)
        }
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(inner))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.0.next_key_seed(Strict(seed))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Strict<A> {
    type Error = A::Error;
    type Variant = Strict<A::Variant>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant), A::Error> {
        self.0.variant_seed(Strict(seed)).map(|(value, variant)| (value, Strict(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        self.0.newtype_variant_seed(Strict(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Strict(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        self.0.newtype_variant_seed(Object(visitor))
    }
}

/// A visitor that accepts only an object for a struct variant.
struct Object<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Object<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        inner.deserialize_map(Strict(self.0))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::{CreateSandbox, ExecRequest, ResizeRequest, StartRequest, WaitFor, WaitRequest};

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
        let mut json = serde_json::Deserializer::from_str(text);
        T::deserialize(Strict(&mut json)).map_err(|error| error.to_string())
    }

    #[test]
    fn list_is_not_accepted_as_struct_at_any_depth() {
        for text in ["[]", "[null, null]", r#"["x"]"#] {
            assert!(read::<CreateSandbox>(text).unwrap_err().contains("invalid type: sequence"), "{text}");
        }
        assert!(read::<CreateSandbox>(r#"{"limits":[1,2,3,4]}"#).is_err());
        assert!(read::<WaitRequest>(r#"{"for":{"port":[80]}}"#).is_err());
        assert!(read::<StartRequest>(r#"{"command":"x","restart":{"on_failure":[3]}}"#).is_err());
    }

    #[test]
    fn valid_input_is_read_unchanged() {
        let text = r#"{"argv":["a","b"],"env":{"A":null,"B":"1"},"timeout_ms":5,"background":"kill"}"#;
        assert_eq!(read::<ExecRequest>(text).unwrap(), serde_json::from_str(text).unwrap());
        let text = r#"{"for":{"port":{"port":80,"http":{"path":"/"}}},"timeout_ms":5}"#;
        assert_eq!(read::<WaitRequest>(text).unwrap(), serde_json::from_str(text).unwrap());
        assert_eq!(read::<WaitRequest>(r#"{"for":"exit"}"#).unwrap().r#for, WaitFor::Exit);
        let text = r#"{"command":"x","restart":{"on_failure":{"max":3}}}"#;
        assert_eq!(read::<StartRequest>(text).unwrap(), serde_json::from_str(text).unwrap());
    }

    #[test]
    fn whole_number_may_have_a_decimal_point() {
        assert_eq!(read::<ResizeRequest>(r#"{"cols":80.0,"rows":2.4e1}"#).unwrap().rows, 24);
        // Only an exact float parser reads the second number as whole.
        for (written, meant) in [("1e17", 100_000_000_000_000_000), ("3733037604238414.0", 3_733_037_604_238_414)] {
            let text = format!(r#"{{"for":"exit","timeout_ms":{written}}}"#);
            assert_eq!(read::<WaitRequest>(&text).unwrap().timeout_ms, Some(meant), "{written}");
        }
        for wrong in ["80.5", "-1.0", "1e30", "70000.0", "\"80\"", "null"] {
            assert!(read::<ResizeRequest>(&format!(r#"{{"cols":{wrong},"rows":24}}"#)).is_err(), "{wrong}");
        }
    }
}
