//! A host's table of tools and methods as rows of the header, and arguments held to the types that a row says.

use core::ffi::{CStr, c_char};
use core::mem::{self, offset_of, size_of};

use gate::action::{Misfit, Target, Wrong};
use gate::{Cursor, JsonKind};

use crate::boundary::is_missing;
use crate::event::linegate_slice;
use crate::grow::{self, Grows};
use crate::status::{LINEGATE_BAD_OPTIONS, LINEGATE_NULL_ARGUMENT, linegate_status};
use crate::value::{
    LINEGATE_TYPE_ARRAY, LINEGATE_TYPE_BOOLEAN, LINEGATE_TYPE_INTEGER, LINEGATE_TYPE_NONE, LINEGATE_TYPE_NULL,
    LINEGATE_TYPE_NUMBER, LINEGATE_TYPE_OBJECT, LINEGATE_TYPE_STRING, type_of,
};

/// A tool, by the name in tools/call of MCP.
pub const LINEGATE_TARGET_TOOL: u32 = 0;
/// Any other method, by its name; its params are the arguments. Their _meta is none of them: it is the protocol's, unless the row
/// has a member of that name, to which it is held then. Under LINEGATE_REVISION_JSONRPC, which has no tools, _meta is a member
/// like any, and tools/call a method like any.
pub const LINEGATE_TARGET_METHOD: u32 = 1;

/// Objects and arrays that the rows of a table may nest in each other.
pub const LINEGATE_MAX_NESTING: usize = 8;

/// One member of arguments: a row of a table, which is read as long as the event lives in which it was used; a static one serves.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_member {
    /// sizeof(linegate_member).
    pub size: usize,
    /// Its name, NUL-terminated UTF-8; of the elements of an array NULL.
    pub name: *const c_char,
    /// LINEGATE_TYPE_... that its value must have: LINEGATE_TYPE_INTEGER for a number without fraction and exponent,
    /// LINEGATE_TYPE_NONE for a value of any type. A null that one of LINEGATE_TYPE_NONE or LINEGATE_TYPE_NULL takes is there, but
    /// among the values of linegate_call it is absent like any null.
    pub r#type: u32,
    /// 1 where it may be missing or null, which are the same, else 0.
    pub optional: u32,
    /// The least value of a LINEGATE_TYPE_INTEGER. min and max of 0: any of 64 bits. Of another type 0.
    pub min: i64,
    /// Its largest value, not below min. Of another type 0.
    pub max: i64,
    /// Of an object its members, each of another name; of an array one row, for each of its elements. NULL: any. Of another
    /// type NULL.
    pub members: *const linegate_member,
    /// How many; 0 beside NULL. An object whose members pointer is NULL may have any members; one of 0 members beside a pointer
    /// that isn't, none.
    pub members_len: usize,
}

// SAFETY: repr(C), the size first, integers and pointers only.
unsafe impl Grows for linegate_member {
    const FIRST: usize = offset_of!(Self, members_len) + size_of::<usize>();
}

/// A tool or method that a host has: a row of its table, which is read as long as the event lives in which it was used.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_action {
    /// sizeof(linegate_action).
    pub size: usize,
    /// Its name, NUL-terminated UTF-8. No other row of its target has the same.
    pub name: *const c_char,
    /// LINEGATE_TARGET_...
    pub target: u32,
    /// Nothing; must be 0.
    pub reserved: u32,
    /// The members of its arguments. What isn't among them doesn't fit. Beside 0 members NULL is no members as well.
    pub members: *const linegate_member,
    /// How many.
    pub members_len: usize,
}

// SAFETY: repr(C), the size first, integers and pointers only.
unsafe impl Grows for linegate_action {
    const FIRST: usize = offset_of!(Self, members_len) + size_of::<usize>();
}

/// Rows of the caller's, one behind the other, each of the size that it says.
#[derive(Clone, Copy)]
struct Rows<T> {
    first: *const T,
    len: usize,
}

impl<T: Grows> Rows<T> {
    /// The row at that place.
    ///
    /// # Safety
    /// The caller of the library promised an array of rows, and `place` is below its length.
    unsafe fn get(&self, place: usize) -> Result<T, linegate_status> {
        if is_missing(self.first) {
            return Err(LINEGATE_NULL_ARGUMENT);
        }
        // SAFETY: the promise: the first row is there, and all are of its size.
        unsafe {
            let row = self.at(place);
            if is_missing(row) || row.cast::<usize>().read() != self.first.cast::<usize>().read() {
                return Err(LINEGATE_BAD_OPTIONS);
            }
            grow::read(row)
        }
    }

    /// Where the row at that place begins.
    ///
    /// # Safety
    /// The first row is there.
    unsafe fn at(&self, place: usize) -> *const T {
        // SAFETY: the caller's promise.
        self.first.wrapping_byte_add(place.wrapping_mul(unsafe { self.first.cast::<usize>().read() }))
    }
}

impl linegate_member {
    /// The rows inside.
    const fn rows(&self) -> Rows<Self> {
        Rows { first: self.members, len: self.members_len }
    }
}

impl linegate_action {
    /// The members of its arguments.
    const fn rows(&self) -> Rows<linegate_member> {
        Rows { first: self.members, len: self.members_len }
    }
}

/// A name of the caller's, which lives as long as the event.
///
/// # Safety
/// It is a C string, or NULL.
unsafe fn name_at(name: *const c_char) -> Result<&'static str, linegate_status> {
    if name.is_null() {
        return Err(LINEGATE_NULL_ARGUMENT);
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| LINEGATE_BAD_OPTIONS)
}

/// Whether two names are one.
///
/// # Safety
/// Both are C strings.
unsafe fn is_same(mut one: *const c_char, mut other: *const c_char) -> bool {
    loop {
        // SAFETY: neither has ended before this byte.
        let bytes = unsafe { (one.read(), other.read()) };
        if bytes.0 != bytes.1 || bytes.0 == 0 {
            return bytes.0 == bytes.1;
        }
        (one, other) = (one.wrapping_add(1), other.wrapping_add(1));
    }
}

/// Whether a table's members can be, and all that they hold: looked at before any argument is, so that no fault of a table is
/// taken for one of the client's, nor waits for the line that meets it. An array's one row has no name.
///
/// # Safety
/// The rows are as the header asks.
unsafe fn check(rows: Rows<linegate_member>, named: bool, nesting: usize) -> Result<(), linegate_status> {
    for at in 0..rows.len {
        // SAFETY: the caller's promise; the rows before are those that were read.
        unsafe {
            let row = rows.get(at)?;
            if named {
                name_at(row.name)?;
                for before in 0..at {
                    if is_same((&raw const (*rows.at(before)).name).read(), row.name) {
                        return Err(LINEGATE_BAD_OPTIONS);
                    }
                }
            } else if !row.name.is_null() {
                return Err(LINEGATE_BAD_OPTIONS);
            }
            check_member(&row, nesting)?;
        }
    }
    Ok(())
}

/// Whether a member can be, its name aside.
///
/// # Safety
/// The rows inside are as the header asks.
unsafe fn check_member(row: &linegate_member, nesting: usize) -> Result<(), linegate_status> {
    let bounded = row.min != 0 || row.max != 0;
    let holds = !row.members.is_null() || row.members_len > 0;
    let fits = match row.r#type {
        LINEGATE_TYPE_INTEGER => row.min <= row.max && !holds,
        LINEGATE_TYPE_OBJECT => !bounded,
        LINEGATE_TYPE_ARRAY => !bounded && (!holds || row.members_len == 1),
        LINEGATE_TYPE_NONE
        | LINEGATE_TYPE_STRING
        | LINEGATE_TYPE_NUMBER
        | LINEGATE_TYPE_BOOLEAN
        | LINEGATE_TYPE_NULL => !bounded && !holds,
        _ => false,
    };
    if !fits || row.optional > 1 {
        return Err(LINEGATE_BAD_OPTIONS);
    }
    if !holds {
        return Ok(());
    }
    let nesting = nesting.checked_sub(1).ok_or(LINEGATE_BAD_OPTIONS)?;
    // SAFETY: the caller's promise.
    unsafe { check(row.rows(), row.r#type == LINEGATE_TYPE_OBJECT, nesting) }
}

/// Why arguments were not read.
pub(crate) enum Unread<'a> {
    /// They don't fit.
    Misfit(Misfit<'a>),
    /// The table is not in order.
    Table(linegate_status),
}

impl From<linegate_status> for Unread<'_> {
    fn from(status: linegate_status) -> Self {
        Self::Table(status)
    }
}

fn misfit<'a>(wrong: Wrong, at: Cursor<'a>, name: Option<&'static str>) -> Unread<'a> {
    let misfit = Misfit::new(wrong, at);
    Unread::Misfit(name.map_or(misfit, |name| misfit.of_member(name)))
}

/// Holds an object to its members: in the order of the text what each is, then in that of the table what is missing. `aside`
/// is a member that may be there without a row.
///
/// # Safety
/// The rows are as the header asks, and were checked.
unsafe fn fit_object<'a>(
    object: Cursor<'a>,
    rows: Rows<linegate_member>,
    aside: Option<&str>,
) -> Result<(), Unread<'a>> {
    for (key, value) in object.members() {
        let mut found = None;
        for at in 0..rows.len {
            // SAFETY: the caller's promise.
            let (row, name) = unsafe {
                let row = rows.get(at)?;
                (row, name_at(row.name)?)
            };
            if key.is_str(name) {
                found = Some((row, name));
                break;
            }
        }
        let Some((row, name)) = found else {
            if aside.is_some_and(|aside| key.is_str(aside)) {
                continue;
            }
            return Err(misfit(Wrong::Unknown, key, None));
        };
        if row.optional == 0 || value.kind() != JsonKind::Null {
            // SAFETY: the caller's promise.
            unsafe { fit(value, &row, Some(name)) }?;
        }
    }
    for at in 0..rows.len {
        // SAFETY: the caller's promise.
        let (row, name) = unsafe {
            let row = rows.get(at)?;
            (row, name_at(row.name)?)
        };
        if row.optional == 0 && object.get(name).is_none() {
            return Err(misfit(Wrong::Missing, object, Some(name)));
        }
    }
    Ok(())
}

/// Holds a value to the type that a row says. `name` is that of the member it is in.
///
/// # Safety
/// The row is as the header asks, and was checked.
unsafe fn fit<'a>(value: Cursor<'a>, row: &linegate_member, name: Option<&'static str>) -> Result<(), Unread<'a>> {
    let is = type_of(Some(value));
    let wanted = if row.r#type == LINEGATE_TYPE_INTEGER { LINEGATE_TYPE_NUMBER } else { row.r#type };
    if wanted != LINEGATE_TYPE_NONE && wanted != is {
        return Err(misfit(Wrong::Type, value, name));
    }
    let rows = row.rows();
    match row.r#type {
        LINEGATE_TYPE_INTEGER => {
            if value.bytes().iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
                return Err(misfit(Wrong::Type, value, name));
            }
            let any = row.min == 0 && row.max == 0;
            let fits = |number: i64| any || (row.min..=row.max).contains(&number);
            if !value.as_i64().is_some_and(fits) {
                return Err(misfit(Wrong::Value, value, name));
            }
        }
        LINEGATE_TYPE_STRING if has_lone_surrogate(value) => return Err(misfit(Wrong::Value, value, name)),
        LINEGATE_TYPE_OBJECT if !rows.first.is_null() => {
            // SAFETY: the caller's promise.
            return unsafe { fit_object(value, rows, None) };
        }
        LINEGATE_TYPE_ARRAY if !rows.first.is_null() => {
            // SAFETY: the caller's promise.
            let element = unsafe { rows.get(0) }?;
            for one in value.elements() {
                if element.optional == 0 || one.kind() != JsonKind::Null {
                    // SAFETY: the caller's promise.
                    unsafe { fit(one, &element, name) }?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether a string holds half of a surrogate pair, which comes as three bytes that are no UTF-8.
fn has_lone_surrogate(value: Cursor<'_>) -> bool {
    let mut before = 0;
    value.unescaped().is_some_and(|mut bytes| bytes.any(|byte| mem::replace(&mut before, byte) == 0xED && byte >= 0xA0))
}

/// The row at that place, and what it is for.
///
/// # Safety
/// The rows are as the header asks.
unsafe fn row_at(
    rows: Rows<linegate_action>,
    at: usize,
) -> Result<(linegate_action, Target<'static>), linegate_status> {
    // SAFETY: the caller's promise.
    let (row, name) = unsafe {
        let row = rows.get(at)?;
        (row, name_at(row.name)?)
    };
    let target = match row.target {
        LINEGATE_TARGET_TOOL => Target::Tool(name),
        LINEGATE_TARGET_METHOD => Target::Method(name),
        _ => return Err(LINEGATE_BAD_OPTIONS),
    };
    if row.reserved == 0 { Ok((row, target)) } else { Err(LINEGATE_BAD_OPTIONS) }
}

/// The one row of a table that is asked for, checked with all that it holds; its place and what it is for.
///
/// # Safety
/// The rows are as the header asks.
pub(crate) unsafe fn find(
    first: *const linegate_action,
    len: usize,
    is_for: impl Fn(Target<'_>) -> bool,
) -> Result<Option<(usize, linegate_action, Target<'static>)>, linegate_status> {
    let mut found: Option<(usize, linegate_action, Target<'static>)> = None;
    for at in 0..len {
        // SAFETY: the caller's promise.
        let (row, target) = unsafe { row_at(Rows { first, len }, at) }?;
        match found {
            // SAFETY: both names were read.
            Some((_, one, _)) if one.target == row.target && unsafe { is_same(one.name, row.name) } => {
                return Err(LINEGATE_BAD_OPTIONS);
            }
            None if is_for(target) => found = Some((at, row, target)),
            _ => {}
        }
    }
    if let Some((_, row, _)) = &found {
        // SAFETY: the caller's promise.
        unsafe { check(row.rows(), true, LINEGATE_MAX_NESTING) }?;
    }
    Ok(found)
}

/// Reads the arguments of a row into the caller's values, which are absent before.
///
/// # Safety
/// The row is one that was found, and the values are as the header asks.
pub(crate) unsafe fn read<'a>(
    row: &linegate_action,
    arguments: Cursor<'a>,
    aside: Option<&str>,
    values: *mut linegate_slice,
    values_len: usize,
) -> Result<(), Unread<'a>> {
    let rows = row.rows();
    if arguments.kind() != JsonKind::Object {
        return Err(misfit(Wrong::Type, arguments, None));
    }
    // SAFETY: the caller's promise, for rows and values alike; there are as many values as rows, or none.
    unsafe {
        fit_object(arguments, rows, aside)?;
        for at in 0..values_len.min(rows.len) {
            let found = arguments.get(name_at(rows.get(at)?.name)?).filter(|value| value.kind() != JsonKind::Null);
            if let Some(found) = found {
                values.add(at).write(linegate_slice::new(found.bytes()));
            }
        }
    }
    Ok(())
}
