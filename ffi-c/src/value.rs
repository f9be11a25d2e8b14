//! Reading values out of a line that was accepted. A value is a slice of it.

use core::ffi::c_char;

use gate::{Cursor, Elements, JsonKind, Members};

use crate::boundary::is_missing;
use crate::event::linegate_slice;
use crate::feed::output;
use crate::status::{
    LINEGATE_ABSENT, LINEGATE_BUFFER_TOO_SMALL, LINEGATE_LONE_SURROGATE, LINEGATE_NULL_ARGUMENT, LINEGATE_NUMBER_RANGE,
    LINEGATE_OK, LINEGATE_OTHER_TYPE, linegate_status,
};

/// No value: an absent slice.
pub const LINEGATE_TYPE_NONE: u32 = 0;
/// {...}
pub const LINEGATE_TYPE_OBJECT: u32 = 1;
/// [...]
pub const LINEGATE_TYPE_ARRAY: u32 = 2;
/// "..."
pub const LINEGATE_TYPE_STRING: u32 = 3;
/// A number of any form.
pub const LINEGATE_TYPE_NUMBER: u32 = 4;
/// true or false
pub const LINEGATE_TYPE_BOOLEAN: u32 = 5;
/// null
pub const LINEGATE_TYPE_NULL: u32 = 6;
/// In a linegate_member: a number without fraction and exponent. linegate_type calls it a number.
pub const LINEGATE_TYPE_INTEGER: u32 = 7;

/// Where a walk through an object or an array stands. Made by linegate_iterate; its members are the library's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_iter {
    /// What is left of it.
    pub rest: linegate_slice,
    /// LINEGATE_TYPE_... of what is walked.
    pub kind: u32,
}

/// The value in a slice; `None` where there is none.
///
/// # Safety
/// The slice's bytes can be read while `'a` lasts.
unsafe fn cursor<'a>(value: linegate_slice) -> Option<Cursor<'a>> {
    // SAFETY: the caller's promise. Space may stand around a whole line.
    let bytes = unsafe { value.bytes() }.trim_ascii();
    (!bytes.is_empty()).then(|| Cursor::from_bytes(bytes))
}

pub(crate) fn type_of(cursor: Option<Cursor<'_>>) -> u32 {
    match cursor.map(|cursor| cursor.kind()) {
        None => LINEGATE_TYPE_NONE,
        Some(JsonKind::Object) => LINEGATE_TYPE_OBJECT,
        Some(JsonKind::Array) => LINEGATE_TYPE_ARRAY,
        Some(JsonKind::String) => LINEGATE_TYPE_STRING,
        Some(JsonKind::Number) => LINEGATE_TYPE_NUMBER,
        Some(JsonKind::Bool) => LINEGATE_TYPE_BOOLEAN,
        Some(JsonKind::Null) => LINEGATE_TYPE_NULL,
    }
}

/// The type of a value of the last event.
///
/// Returns: LINEGATE_TYPE_...; LINEGATE_TYPE_NONE of an absent slice, and of one longer than PTRDIFF_MAX. Thread: that of its gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_type(value: linegate_slice) -> u32 {
    // SAFETY: the caller's promise.
    boundary!(or LINEGATE_TYPE_NONE; { type_of(unsafe { cursor(value) }) })
}

/// The member of an object by its name, which is compared unescaped; name is NUL-terminated.
///
/// Returns: 0, and the member in *member; 2, there is none; 3, the value is no object; 901. *member is absent then.
/// Owner: *member lives as long as value. Thread: that of its gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_get(
    object: linegate_slice,
    name: *const c_char,
    member: *mut linegate_slice,
) -> linegate_status {
    boundary!(name, member; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            member.write(linegate_slice::ABSENT);
            if object.is_too_long() {
                return LINEGATE_NULL_ARGUMENT;
            }
            let Some(cursor) = cursor(object).filter(|cursor| cursor.kind() == JsonKind::Object) else {
                return LINEGATE_OTHER_TYPE;
            };
            let Ok(name) = core::ffi::CStr::from_ptr(name).to_str() else { return LINEGATE_ABSENT };
            let Some(found) = cursor.get(name) else { return LINEGATE_ABSENT };
            member.write(linegate_slice::new(found.bytes()));
            LINEGATE_OK
        }
    })
}

/// Begins a walk through the members of an object or the elements of an array.
///
/// Returns: 0; 3, the value is neither (the walk has nothing in it then); 901. Owner: *iter is the caller's and lives as long
/// as value. Thread: that of its gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_iterate(value: linegate_slice, iter: *mut linegate_iter) -> linegate_status {
    boundary!(iter; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            let cursor = cursor(value);
            let rest = match cursor.map(|cursor| (cursor.kind(), cursor)) {
                Some((JsonKind::Object, cursor)) => Some(cursor.members().rest()),
                Some((JsonKind::Array, cursor)) => Some(cursor.elements().rest()),
                _ => None,
            };
            let rest_slice = rest.map_or(linegate_slice::ABSENT, linegate_slice::new);
            iter.write(linegate_iter { rest: rest_slice, kind: type_of(cursor) });
            match rest {
                Some(_) => LINEGATE_OK,
                None if value.is_too_long() => LINEGATE_NULL_ARGUMENT,
                None => LINEGATE_OTHER_TYPE,
            }
        }
    })
}

/// The next member or element of a walk, in the order of the text. *key is the member's name, a JSON string to be read with
/// linegate_string, and absent in an array. key may be NULL where the names don't matter.
///
/// Returns: 0; 2, the walk is over, and key and value are absent; 901. Owner: both live as long as the value that is walked.
/// Thread: that of its gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_next(
    iter: *mut linegate_iter,
    key: *mut linegate_slice,
    value: *mut linegate_slice,
) -> linegate_status {
    boundary!(iter, value; {
        if !key.is_null() && is_missing(key) {
            return LINEGATE_NULL_ARGUMENT;
        }
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            if (*iter).rest.is_too_long() {
                return LINEGATE_NULL_ARGUMENT;
            }
            let rest = (*iter).rest.bytes();
            let (name, found, rest) = if (*iter).kind == LINEGATE_TYPE_OBJECT {
                let mut members = Members::from_rest(rest);
                let next = members.next();
                (next.map(|(name, _)| name), next.map(|(_, value)| value), members.rest())
            } else {
                let mut elements = Elements::from_rest(rest);
                (None, elements.next(), elements.rest())
            };
            let slice = |cursor: Option<Cursor<'_>>| {
                cursor.map_or(linegate_slice::ABSENT, |cursor| linegate_slice::new(cursor.bytes()))
            };
            value.write(slice(found));
            if !key.is_null() {
                key.write(slice(name));
            }
            (*iter).rest = if found.is_some() { linegate_slice::new(rest) } else { linegate_slice::ABSENT };
            if found.is_some() { LINEGATE_OK } else { LINEGATE_ABSENT }
        }
    })
}

/// A string, unescaped, into a buffer, with a NUL behind it. *len is its length in bytes without that NUL. A string may hold
/// U+0000 where LINEGATE_SWITCH_ESCAPED_NUL lets it pass: *len then counts further than strlen does.
///
/// Returns: 0; 3, the value is no string; 204, it holds half of a surrogate pair that a switch let pass; 902, the buffer is
/// too small: *len + 1 bytes suffice; 901. Nothing of use is in the buffer but at 0. out may be NULL where cap is 0.
/// Owner: the buffer is the caller's. Thread: that of its gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_string(
    value: linegate_slice,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> linegate_status {
    boundary!(len; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            len.write(0);
            if value.is_too_long() {
                return LINEGATE_NULL_ARGUMENT;
            }
            let Some(out) = output(out, cap) else { return LINEGATE_NULL_ARGUMENT };
            let Some(bytes) = cursor(value).and_then(|cursor| cursor.unescaped()) else { return LINEGATE_OTHER_TYPE };
            let mut count = 0_usize;
            for byte in bytes {
                if let Some(place) = out.get_mut(count) {
                    *place = byte;
                }
                count += 1;
            }
            len.write(count);
            let Some(end) = out.get_mut(count) else { return LINEGATE_BUFFER_TOO_SMALL };
            *end = 0;
            match core::str::from_utf8(out.get(..count).unwrap_or_default()) {
                Ok(_) => LINEGATE_OK,
                Err(_) => LINEGATE_LONE_SURROGATE,
            }
        }
    })
}

/// The value of an integer, written without fraction and exponent.
///
/// Returns: 0, and the integer in *integer; 3, the value is no number; 214, it is not such an integer, or beyond 64 bits; 901.
/// *integer is 0 then. Thread: that of its gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_integer(value: linegate_slice, integer: *mut i64) -> linegate_status {
    boundary!(integer; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            integer.write(0);
            if value.is_too_long() {
                return LINEGATE_NULL_ARGUMENT;
            }
            let Some(number) = cursor(value).filter(|cursor| cursor.kind() == JsonKind::Number) else {
                return LINEGATE_OTHER_TYPE;
            };
            let Some(found) = number.as_i64() else { return LINEGATE_NUMBER_RANGE };
            integer.write(found);
            LINEGATE_OK
        }
    })
}

/// The value of a boolean: 1 for true, 0 for false.
///
/// Returns: 0; 3, the value is no boolean; 901. *boolean is 0 then. Thread: that of its gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_boolean(value: linegate_slice, boolean: *mut i32) -> linegate_status {
    boundary!(boolean; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            boolean.write(0);
            if value.is_too_long() {
                return LINEGATE_NULL_ARGUMENT;
            }
            let Some(found) = cursor(value).and_then(|cursor| cursor.as_bool()) else { return LINEGATE_OTHER_TYPE };
            boolean.write(i32::from(found));
            LINEGATE_OK
        }
    })
}
