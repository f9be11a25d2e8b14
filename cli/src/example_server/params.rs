//! Reading a request's params: members by their names, and strings. What they mean is said where they are read.

use linegate::Cursor;

/// The params of a request, a value in them, or that there is none.
pub type Params<'a> = Option<Cursor<'a>>;

/// A member of an object that may be absent itself.
pub fn member<'a>(object: Params<'a>, name: &str) -> Params<'a> {
    object.and_then(|object| object.get(name))
}

/// The text of a string.
pub fn text(value: Cursor<'_>) -> Option<String> {
    // A string is never longer than its spelling.
    let mut room = vec![0; value.bytes().len()];
    value.string_into(&mut room).map(str::to_owned)
}
