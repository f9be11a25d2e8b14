//! JSON text: the check of one line against RFC 8259 and the switchable rules on top of it, and reading what was checked.
//!
//! Nothing here knows of JSON-RPC. [`walk`] passes once over the text and tells a [`Listener`] of the members of the outer
//! levels as it meets them; [`Cursor`] reads values out of text that was checked, and can't fail on syntax.

mod check;
mod cursor;
mod keys;
mod number;
mod simd;
mod string;

pub(crate) use check::{Halt, Listener, Stop, Text, Walker, walk};
pub use cursor::{Cursor, Elements, Members};
pub(crate) use keys::KeyHash;
#[cfg_attr(not(feature = "mcp"), allow(unused_imports, reason = "asked for by the rules of MCP"))]
pub(crate) use number::is_plain_integer;
pub(crate) use number::{is_integer, is_integral, is_safe_integer};
pub(crate) use string::{Spelling, Unescaped, Words, folds_to, is_sound};

use crate::code::Fault;

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `{...}`
    Object,
    /// `[...]`
    Array,
    /// `"..."`
    String,
    /// A number of any form.
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

/// The kind of a value by its first byte; what can begin none counts as a number's.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Number; 256];
    kinds[b'{' as usize] = Kind::Object;
    kinds[b'[' as usize] = Kind::Array;
    kinds[b'"' as usize] = Kind::String;
    kinds[b't' as usize] = Kind::Bool;
    kinds[b'f' as usize] = Kind::Bool;
    kinds[b'n' as usize] = Kind::Null;
    kinds
};

impl Kind {
    /// The kind of a value that begins with this byte. A table, for a jump to one of six places is easily foretold wrongly.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn beginning(byte: u8) -> Self {
        KINDS.get(usize::from(byte)).copied().unwrap_or(Self::Number)
    }
}

/// A string token in checked text: from its opening quote to behind its closing one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Written without escapes.
    pub(crate) plain: bool,
}

impl Token {
    /// The bytes between the quotes, as written.
    pub(crate) fn raw<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.start + 1..self.end.wrapping_sub(1)).unwrap_or_default()
    }
}
