//! Arguments as a type of the host's: a [serde](https://serde.rs) deserializer over text that the gate has checked.
//!
//! It reads by the gate's own [`Cursor`], so that what was judged and what is read can't be two things, as they can where a
//! second parser reads the same bytes. It knows the type it reads into, which gives four properties:
//!
//! - A member that the type doesn't read is refused, at every level, whether or not the type says `deny_unknown_fields`.
//! - A type that would hide its members from it is refused whole instead: what asks for any value it finds
//!   (`#[serde(flatten)]`, untagged and internally tagged enums, `serde_json::Value`) doesn't fit. An adjacently tagged enum fits
//!   with its tag before its content, where the content is a value of one type or a tuple: serde asks for any value where a
//!   variant has named members of its own, or has none and content all the same.
//! - One value has one spelling: no array for a struct, no null for the content of a variant that has none, and names in maps
//!   are read as strings.
//! - It says at which value the arguments don't fit.
//!
//! It recurses as deep as the type does, never as deep as the text alone wants, and has no path to a panic of its own. A type
//! that holds itself goes as deep as the gate's `max_depth` lets the text be.

use core::fmt;

use serde_core::de::{
    self, Deserialize, DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::misfit::{Misfit, Wrong};
use crate::json::{Cursor, Elements, Kind, Members};

/// Reads arguments into a type. `room` takes the strings that were written with escapes; as many bytes as the arguments have
/// always suffice. `aside` is a member of the outermost object that is not among the arguments.
pub(super) fn read<'a, T: Deserialize<'a>>(
    arguments: Cursor<'a>,
    room: &'a mut [u8],
    aside: Option<&'static str>,
) -> Result<T, Misfit<'a>> {
    let mut room = room;
    T::deserialize(Reader { value: arguments, room: &mut room, aside, member: None, unknown: false })
        .map_err(|misfit| misfit.within(arguments, None))
}

impl de::Error for Misfit<'_> {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Wrong::Value.into()
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Wrong::Type.into()
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Wrong::Unknown.into()
    }

    fn missing_field(field: &'static str) -> Self {
        Self { member: Some(field), ..Wrong::Missing.into() }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self { member: Some(field), ..Wrong::Value.into() }
    }
}

impl From<Wrong> for Misfit<'_> {
    fn from(wrong: Wrong) -> Self {
        Self { wrong, at: None, member: None }
    }
}

/// One value on its way into a type.
struct Reader<'a, 'r> {
    value: Cursor<'a>,
    room: &'r mut &'a mut [u8],
    aside: Option<&'static str>,
    /// The member that it is the value of, as the type names it.
    member: Option<&'static str>,
    /// It is the value of a member that the type doesn't know.
    unknown: bool,
}

impl<'a> Reader<'a, '_> {
    /// The string, unescaped.
    fn string(&mut self) -> Result<&'a str, Misfit<'a>> {
        if let Some(text) = self.value.as_str() {
            return Ok(text);
        }
        let bytes = self.value.unescaped().ok_or(Wrong::Type)?;
        let len = bytes.clone().count();
        let (place, rest) = core::mem::take(self.room).split_at_mut_checked(len).ok_or(Wrong::Room)?;
        place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        *self.room = rest;
        // Half of a surrogate pair, which a switch let through, is no text.
        core::str::from_utf8(place).map_err(|_| Wrong::Value.into())
    }

    /// The text of an integer literal.
    fn integer(&self) -> Result<&'a str, Misfit<'a>> {
        if !self.value.is_id() || self.value.kind() != Kind::Number {
            return Err(Wrong::Type.into());
        }
        core::str::from_utf8(self.value.bytes()).map_err(|_| Wrong::Type.into())
    }

    /// A number of the width that is asked for, which has to hold it.
    fn float<F: core::str::FromStr>(&self, is_finite: impl Fn(&F) -> bool) -> Result<F, Misfit<'a>> {
        self.expect(Kind::Number)?;
        let number = core::str::from_utf8(self.value.bytes()).ok().and_then(|text| text.parse().ok());
        number.filter(is_finite).ok_or(Wrong::Value.into())
    }

    fn expect(&self, kind: Kind) -> Result<(), Misfit<'a>> {
        if self.value.kind() == kind { Ok(()) } else { Err(Wrong::Type.into()) }
    }

    /// Runs `read`; an error that knows no place is this value's.
    fn located<T>(self, read: impl FnOnce(Self) -> Result<T, Misfit<'a>>) -> Result<T, Misfit<'a>> {
        let (value, member) = (self.value, self.member);
        read(self).map_err(|misfit| misfit.within(value, member))
    }

    /// An object, of the members `fields` or, where the type is a map, of any.
    fn object<V: Visitor<'a>>(
        self,
        visitor: V,
        fields: Option<&'static [&'static str]>,
    ) -> Result<V::Value, Misfit<'a>> {
        self.located(|reader| {
            reader.expect(Kind::Object)?;
            let members = reader.value.members();
            let mut object = Object { members, fields, aside: reader.aside, room: reader.room, value: None };
            let read = visitor.visit_map(&mut object);
            // A name for whose value nobody asks has been there before, in another spelling.
            read.map_err(|misfit| object.value.map_or(misfit, |(key, ..)| misfit.within(key, None)))
        })
    }

    /// An array, all of whose elements the type must take.
    fn array<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.located(|reader| {
            reader.expect(Kind::Array)?;
            let mut array = Array { elements: reader.value.elements(), room: reader.room, member: reader.member };
            let value = visitor.visit_seq(&mut array)?;
            match array.elements.next() {
                None => Ok(value),
                Some(element) => Err(Misfit { wrong: Wrong::Value, at: Some(element), member: reader.member }),
            }
        })
    }
}

macro_rules! integers {
    ($( $name:ident $visit:ident )*) => {
        $(
            fn $name<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
                self.located(|reader| visitor.$visit(reader.integer()?.parse().map_err(|_| Wrong::Value)?))
            }
        )*
    };
}

impl<'a> de::Deserializer<'a> for Reader<'a, '_> {
    type Error = Misfit<'a>;

    /// A type that takes whatever it finds can't be held to its members.
    fn deserialize_any<V: Visitor<'a>>(self, _: V) -> Result<V::Value, Misfit<'a>> {
        self.located(|_| Err(Wrong::Type.into()))
    }

    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.located(|reader| visitor.visit_bool(reader.value.as_bool().ok_or(Wrong::Type)?))
    }

    integers! {
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_i128 visit_i128
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_u128 visit_u128
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.located(|reader| visitor.visit_f32(reader.float(|number: &f32| number.is_finite())?))
    }

    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.located(|reader| visitor.visit_f64(reader.float(|number: &f64| number.is_finite())?))
    }

    fn deserialize_char<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.deserialize_str(visitor)
    }

    fn deserialize_str<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.located(|mut reader| visitor.visit_borrowed_str(reader.string()?))
    }

    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.deserialize_str(visitor)
    }

    /// The bytes of the string's text.
    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.located(|mut reader| visitor.visit_borrowed_bytes(reader.string()?.as_bytes()))
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        match self.value.kind() {
            Kind::Null => self.located(|_| visitor.visit_none()),
            _ => self.located(|reader| visitor.visit_some(reader)),
        }
    }

    fn deserialize_unit<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.located(|reader| {
            reader.expect(Kind::Null)?;
            visitor.visit_unit()
        })
    }

    fn deserialize_unit_struct<V: Visitor<'a>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.located(|reader| visitor.visit_newtype_struct(reader))
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.array(visitor)
    }

    fn deserialize_tuple<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.array(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit<'a>> {
        self.array(visitor)
    }

    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.object(visitor, None)
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit<'a>> {
        self.object(visitor, Some(fields))
    }

    /// A variant without content is its name, one with content an object of one member.
    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit<'a>> {
        self.located(|reader| {
            let aside = reader.aside;
            let mut members = reader.value.members().filter(|(key, _)| !aside.is_some_and(|aside| key.is_str(aside)));
            let (name, content) = match (reader.value.kind(), members.next(), members.next()) {
                (Kind::String, ..) => (reader.value, None),
                (Kind::Object, Some((name, content)), None) => (name, Some(content)),
                (Kind::Object, ..) => return Err(Wrong::Value.into()),
                _ => return Err(Wrong::Type.into()),
            };
            visitor.visit_enum(Variant { name, content, room: reader.room, member: reader.member })
        })
    }

    /// The value of a member that the type doesn't read. A value that the type reads and drops is no such member's.
    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Misfit<'a>> {
        if self.unknown { Err(Wrong::Unknown.into()) } else { visitor.visit_unit() }
    }
}

/// An object on its way into a type.
struct Object<'a, 'r> {
    members: Members<'a>,
    /// The names that the type reads; a map reads any.
    fields: Option<&'static [&'static str]>,
    aside: Option<&'static str>,
    room: &'r mut &'a mut [u8],
    /// Key and value of the member whose key was read last, and its name if it is one of `fields`.
    value: Option<(Cursor<'a>, Cursor<'a>, Option<&'static str>)>,
}

impl<'a> MapAccess<'a> for &mut Object<'a, '_> {
    type Error = Misfit<'a>;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit<'a>> {
        let aside = self.aside;
        let mut members = self.members.by_ref().skip_while(|(key, _)| aside.is_some_and(|aside| key.is_str(aside)));
        let Some((key, value)) = members.next() else { return Ok(None) };
        let field = self.fields.and_then(|fields| fields.iter().copied().find(|field| key.is_str(field)));
        self.value = Some((key, value, field));
        let reader = Reader { value: key, room: &mut *self.room, aside: None, member: field, unknown: false };
        seed.deserialize(reader).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Misfit<'a>> {
        let (key, value, member) = self.value.take().ok_or_else(|| Misfit::custom("a value before its key"))?;
        let unknown = self.fields.is_some() && member.is_none();
        let reader = Reader { value, room: &mut *self.room, aside: None, member, unknown };
        seed.deserialize(reader).map_err(|misfit| misfit.within(if unknown { key } else { value }, member))
    }
}

/// An array on its way into a type.
struct Array<'a, 'r> {
    elements: Elements<'a>,
    room: &'r mut &'a mut [u8],
    member: Option<&'static str>,
}

impl<'a> SeqAccess<'a> for &mut Array<'a, '_> {
    type Error = Misfit<'a>;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Misfit<'a>> {
        let Some(value) = self.elements.next() else { return Ok(None) };
        let member = self.member;
        let reader = Reader { value, room: &mut *self.room, aside: None, member, unknown: false };
        seed.deserialize(reader).map(Some).map_err(|misfit| misfit.within(value, member))
    }
}

/// A variant of an enum on its way into a type.
struct Variant<'a, 'r> {
    name: Cursor<'a>,
    content: Option<Cursor<'a>>,
    room: &'r mut &'a mut [u8],
    member: Option<&'static str>,
}

impl<'a, 'r> Variant<'a, 'r> {
    /// The content, which a variant of that kind has.
    fn content(self) -> Result<Reader<'a, 'r>, Misfit<'a>> {
        let value = self.content.ok_or(Wrong::Type)?;
        Ok(Reader { value, room: self.room, aside: None, member: self.member, unknown: false })
    }
}

impl<'a> EnumAccess<'a> for Variant<'a, '_> {
    type Error = Misfit<'a>;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Self), Misfit<'a>> {
        let Self { name, member, .. } = self;
        let variant =
            seed.deserialize(Reader { value: name, room: &mut *self.room, aside: None, member, unknown: false })?;
        Ok((variant, self))
    }
}

impl<'a> VariantAccess<'a> for Variant<'a, '_> {
    type Error = Misfit<'a>;

    fn unit_variant(self) -> Result<(), Misfit<'a>> {
        match self.content {
            None => Ok(()),
            Some(content) => Err(Misfit { wrong: Wrong::Type, at: Some(content), member: self.member }),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, Misfit<'a>> {
        let reader = self.content()?;
        let (value, member) = (reader.value, reader.member);
        seed.deserialize(reader).map_err(|misfit| misfit.within(value, member))
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit<'a>> {
        self.content()?.array(visitor)
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit<'a>> {
        self.content()?.object(visitor, Some(fields))
    }
}
