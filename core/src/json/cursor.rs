//! Reading values out of text that was checked. Syntax can't fail any more; what a method gives `None` for is a value of
//! another kind, a member that isn't there, or a buffer that is too small.

use super::Kind;
use super::keys::closing_quote;
use super::number::is_integer;
use super::string::Unescaped;

/// One JSON value in checked text.
///
/// ```
/// # use linegate::{AuditKey, Direction, Event, Gate, Inline, Options};
/// # let options = Options::new(Direction::FromClient, AuditKey::new([7; 16]));
/// # let mut gate = Gate::new(options, Inline::<1024, 64>::new()).unwrap();
/// let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"add\",\"arguments\":{\"a\":2}}}\n";
/// if let Event::Message(message) = gate.feed(line).event {
///     let arguments = message.params().and_then(|params| params.get("arguments")).unwrap();
///     assert_eq!(arguments.get("a").and_then(|a| a.as_i64()), Some(2));
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    value: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Over exactly one value.
    pub(crate) const fn new(value: &'a [u8]) -> Self {
        Self { value }
    }

    /// The cursor over these bytes again, for a host that carried them across the border of a language. They must be those of a
    /// [cursor](Self::bytes): what is read from others has no meaning, and nothing worse happens.
    #[must_use]
    pub const fn from_bytes(value: &'a [u8]) -> Self {
        Self::new(value)
    }

    /// Over the value that begins there in checked text.
    pub(crate) fn starting(text: &'a [u8], at: usize) -> Self {
        let from = text.get(at..).unwrap_or_default();
        Self { value: from.get(..value_len(from)).unwrap_or_default() }
    }

    /// The value's type.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.value.first().map_or(Kind::Number, |first| Kind::beginning(*first))
    }

    /// The value's bytes, as they came.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.value
    }

    /// The member of that name; `None` where this is no object or has none. Names are compared unescaped.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Cursor<'a>> {
        self.members().find(|(key, _)| key.is_str(name)).map(|(_, value)| value)
    }

    /// The members of an object, in order: name and value. Nothing for other kinds.
    #[must_use]
    pub fn members(&self) -> Members<'a> {
        Members { rest: if self.kind() == Kind::Object { self.inside() } else { &[] } }
    }

    /// The elements of an array, in order. Nothing for other kinds.
    #[must_use]
    pub fn elements(&self) -> Elements<'a> {
        Elements { rest: if self.kind() == Kind::Array { self.inside() } else { &[] } }
    }

    /// A boolean's value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// The value of an integer literal (no fraction, no exponent) that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if self.kind() != Kind::Number {
            return None;
        }
        core::str::from_utf8(self.value).ok()?.parse().ok()
    }

    /// A string as it stands, where it was written without escapes.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        let raw = self.string()?;
        if crate::find::byte(b'\\', raw).is_some() {
            return None;
        }
        core::str::from_utf8(raw).ok()
    }

    /// Whether this is that string, compared unescaped.
    #[must_use]
    pub fn is_str(&self, text: &str) -> bool {
        self.string().is_some_and(|raw| raw == text.as_bytes() || Unescaped::new(raw).eq(text.bytes()))
    }

    /// The string, unescaped, into `buffer`. `None` where this is no string, where the buffer is too small (as many bytes as
    /// the value has always suffice), or where it holds half of a surrogate pair that a switch let through.
    pub fn string_into<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b str> {
        let mut len = 0;
        for byte in Unescaped::new(self.string()?) {
            *buffer.get_mut(len)? = byte;
            len += 1;
        }
        core::str::from_utf8(buffer.get(..len)?).ok()
    }

    /// The bytes of a string, unescaped. Half of a surrogate pair comes as three bytes that are no UTF-8.
    #[must_use]
    pub fn unescaped(&self) -> Option<impl Iterator<Item = u8> + Clone + use<'a>> {
        Some(Unescaped::new(self.string()?))
    }

    /// The bytes between the quotes of a string.
    fn string(&self) -> Option<&'a [u8]> {
        (self.kind() == Kind::String).then(|| self.inside())
    }

    /// Whether this is of the kind of an id: a string, or a number without fraction and exponent.
    pub(crate) fn is_id(&self) -> bool {
        match self.kind() {
            Kind::String => true,
            Kind::Number => is_integer(self.value),
            _ => false,
        }
    }

    /// Where the value begins in the text that it was taken from.
    pub(crate) fn place(&self, text: &[u8]) -> usize {
        self.value.as_ptr().addr() - text.as_ptr().addr()
    }

    /// What stands between the first byte and the last.
    pub(crate) fn inside(&self) -> &'a [u8] {
        self.value.get(1..self.value.len().wrapping_sub(1)).unwrap_or_default()
    }
}

impl core::fmt::Debug for Cursor<'_> {
    /// Shows the kind and the length, never the content.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Cursor({:?}, {} bytes)", self.kind(), self.value.len())
    }
}

/// The members of an object.
#[derive(Clone)]
pub struct Members<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cursor<'a>, Cursor<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = next_value(&mut self.rest)?;
        let value = next_value(&mut self.rest)?;
        Some((key, value))
    }
}

impl<'a> Members<'a> {
    /// What is left to read, to go on [from there](Self::from_rest).
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes on with what was [left](Self::rest); what is read from other bytes has no meaning, and nothing worse happens.
    #[must_use]
    pub const fn from_rest(rest: &'a [u8]) -> Self {
        Self { rest }
    }
}

/// The elements of an array.
#[derive(Clone)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Elements<'a> {
    /// What is left to read, to go on [from there](Self::from_rest).
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes on with what was [left](Self::rest); what is read from other bytes has no meaning, and nothing worse happens.
    #[must_use]
    pub const fn from_rest(rest: &'a [u8]) -> Self {
        Self { rest }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Cursor<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        next_value(&mut self.rest)
    }
}

/// Takes the next value, with the separators before it.
fn next_value<'a>(rest: &mut &'a [u8]) -> Option<Cursor<'a>> {
    let start = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b',' | b':'))?;
    let from = rest.get(start..)?;
    let (value, behind) = from.split_at_checked(value_len(from))?;
    *rest = behind;
    // Only text that nobody checked has a place for a value and none there.
    (!value.is_empty()).then_some(Cursor::new(value))
}

/// The length of the value that begins checked text.
fn value_len(text: &[u8]) -> usize {
    match text.first() {
        Some(b'"') => string_len(text),
        Some(b'{' | b'[') => {
            let (mut at, mut depth) = (0, 0usize);
            while let Some(byte) = text.get(at) {
                match byte {
                    b'"' => {
                        at += string_len(text.get(at..).unwrap_or_default());
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return at + 1;
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            text.len()
        }
        _ => text.iter().position(|byte| matches!(byte, b' ' | b'\t' | b',' | b']' | b'}')).unwrap_or(text.len()),
    }
}

/// The length of the string that begins checked text, quotes counted.
fn string_len(text: &[u8]) -> usize {
    (closing_quote(text.get(1..).unwrap_or_default()) + 2).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_goes_on_from_its_bytes() {
        let object = Cursor::from_bytes(b"{\"a\":[1, {\"b\":2}],\"c\":null}");
        let mut members = object.members();
        assert!(members.next().is_some_and(|(key, _)| key.is_str("a")));
        let mut members = Members::from_rest(members.rest());
        assert!(members.next().is_some_and(|(key, value)| key.is_str("c") && value.kind() == Kind::Null));
        assert!(Members::from_rest(members.rest()).next().is_none());

        let array = object.get("a").map(|value| Cursor::from_bytes(value.bytes())).into_iter();
        let mut elements = array.flat_map(|array| array.elements());
        assert_eq!(elements.next().and_then(|one| one.as_i64()), Some(1));
        let rest = object.get("a").map(|value| value.elements());
        let rest = rest.map(|mut elements| (elements.next(), elements.rest()).1).unwrap_or_default();
        assert!(Elements::from_rest(rest).next().is_some_and(|value| value.get("b").is_some()));
    }

    #[test]
    fn bytes_that_nobody_checked_end_the_walk_too() {
        for bytes in
            [&b""[..], b"{", b"\"", b"[[[", b"}{", b"{\"a", b"[\"\\", b"\"\\u12", b"{\"a\":}", b",,,,", b"\"\\ud800"]
        {
            let value = Cursor::from_bytes(bytes);
            assert!(value.members().count() + value.elements().count() < 9);
            assert!(value.get("a").is_none_or(|value| value.bytes().len() < 9));
            let mut buffer = [0; 8];
            let _ = (value.string_into(&mut buffer), value.as_i64(), value.as_str(), value.is_str("x"));
            assert!(Members::from_rest(bytes).count() + Elements::from_rest(bytes).count() < 9);
        }
    }
}
