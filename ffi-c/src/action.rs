//! From an accepted message to a call: which row of the host's table it asks for, whether its arguments are of the types that
//! the row says, and the refusal where not. What is decided then is in [`ticket`](crate::ticket).

use core::ffi::{CStr, c_char};
use core::mem;

use gate::action::{Denial, Misfit, Target, Wrong};
use gate::{Cursor, JsonKind, Refusal};

use crate::boundary::is_missing;
use crate::event::{linegate_event, linegate_slice};
use crate::feed::{kept, linegate};
use crate::grow::{self, Grows};
use crate::status::{
    LINEGATE_ABSENT, LINEGATE_ARGUMENTS_SCHEMA, LINEGATE_BAD_OPTIONS, LINEGATE_BUFFER_TOO_SMALL,
    LINEGATE_NOT_AUTHORIZED, LINEGATE_NULL_ARGUMENT, LINEGATE_OK, LINEGATE_STALE_EVENT, LINEGATE_UNKNOWN_TOOL,
    linegate_status, status_of,
};
use crate::ticket::Tickets;
use crate::value::{
    LINEGATE_TYPE_ARRAY, LINEGATE_TYPE_INTEGER, LINEGATE_TYPE_NONE, LINEGATE_TYPE_NULL, LINEGATE_TYPE_NUMBER,
    LINEGATE_TYPE_OBJECT, LINEGATE_TYPE_STRING, type_of,
};

/// A tool, by the name in tools/call of MCP.
pub const LINEGATE_TARGET_TOOL: u32 = 0;
/// Any other method, by its name; its params, _meta aside, are the arguments.
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
    /// LINEGATE_TYPE_NONE for a value of any type.
    pub r#type: u32,
    /// 1 where it may be missing or null, which are the same, else 0.
    pub optional: u32,
    /// The least value of an integer. min and max of 0: any of 64 bits.
    pub min: i64,
    /// Its largest value.
    pub max: i64,
    /// Of an object its members; of an array one row, for each of its elements. NULL: any.
    pub members: *const linegate_member,
    /// How many. An object whose members pointer is NULL may have any members; one of 0 members beside a pointer that isn't, none.
    pub members_len: usize,
}

// SAFETY: repr(C), the size first, integers and pointers only.
unsafe impl Grows for linegate_member {}

/// A tool or method that a host has: a row of its table, which is read as long as the event lives in which it was used.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_action {
    /// sizeof(linegate_action).
    pub size: usize,
    /// Its name, NUL-terminated UTF-8.
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
unsafe impl Grows for linegate_action {}

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
            let size = self.first.cast::<usize>().read();
            let row = self.first.wrapping_byte_add(place.wrapping_mul(size));
            if is_missing(row) || row.cast::<usize>().read() != size {
                return Err(LINEGATE_BAD_OPTIONS);
            }
            grow::read(row)
        }
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

/// Why arguments were not read.
enum Unread<'a> {
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
/// is a member that is none of them.
///
/// # Safety
/// The rows are as the header asks.
unsafe fn fit_object<'a>(
    object: Cursor<'a>,
    rows: Rows<linegate_member>,
    aside: Option<&str>,
    nesting: usize,
) -> Result<(), Unread<'a>> {
    for (key, value) in object.members() {
        if aside.is_some_and(|aside| key.is_str(aside)) {
            continue;
        }
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
        let Some((row, name)) = found else { return Err(misfit(Wrong::Unknown, key, None)) };
        if row.optional == 0 || value.kind() != JsonKind::Null {
            // SAFETY: the caller's promise.
            unsafe { fit(value, &row, Some(name), nesting) }?;
        }
    }
    for at in 0..rows.len {
        // SAFETY: the caller's promise.
        let (row, name) = unsafe {
            let row = rows.get(at)?;
            (row, name_at(row.name)?)
        };
        if row.optional > 1 {
            return Err(Unread::Table(LINEGATE_BAD_OPTIONS));
        }
        if row.optional == 0 && object.get(name).is_none() {
            return Err(misfit(Wrong::Missing, object, Some(name)));
        }
    }
    Ok(())
}

/// Holds a value to the type that a row says. `name` is that of the member it is in.
///
/// # Safety
/// The row is as the header asks.
unsafe fn fit<'a>(
    value: Cursor<'a>,
    row: &linegate_member,
    name: Option<&'static str>,
    nesting: usize,
) -> Result<(), Unread<'a>> {
    let is = type_of(Some(value));
    let wanted = if row.r#type == LINEGATE_TYPE_INTEGER { LINEGATE_TYPE_NUMBER } else { row.r#type };
    if wanted > LINEGATE_TYPE_NULL {
        return Err(Unread::Table(LINEGATE_BAD_OPTIONS));
    }
    if wanted != LINEGATE_TYPE_NONE && wanted != is {
        return Err(misfit(Wrong::Type, value, name));
    }
    let rows = Rows { first: row.members, len: row.members_len };
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
        LINEGATE_TYPE_OBJECT | LINEGATE_TYPE_ARRAY if !rows.first.is_null() => {
            let nesting = nesting.checked_sub(1).ok_or(LINEGATE_BAD_OPTIONS)?;
            if row.r#type == LINEGATE_TYPE_OBJECT {
                // SAFETY: the caller's promise.
                return unsafe { fit_object(value, rows, None, nesting) };
            }
            if rows.len != 1 {
                return Err(Unread::Table(LINEGATE_BAD_OPTIONS));
            }
            // SAFETY: the caller's promise.
            let element = unsafe { rows.get(0) }?;
            for one in value.elements() {
                if element.optional == 0 || one.kind() != JsonKind::Null {
                    // SAFETY: the caller's promise.
                    unsafe { fit(one, &element, name, nesting) }?;
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

/// Keeps a refusal that was made of the last event's message, for linegate_reply and what else tells of it; gives its code.
pub(crate) fn refuse(
    tickets: &mut Tickets,
    place: &mut Option<Refusal<'static>>,
    refusal: Refusal<'_>,
) -> linegate_status {
    tickets.deny();
    let status = status_of(refusal.code());
    // SAFETY: it lends from the storage, which stays as it is until it is forgotten, and from the host's table, as does the host.
    *place = Some(unsafe { kept(refusal) });
    status
}

/// Looks for the row of a host's table that the message of the last event asks for, and reads its arguments: values[0] is the value
/// of the row's first member, and so on, absent where it is missing or null. They are of the types that the row says, and nothing
/// else is among them. A call that is refused is refused like a line: counted, in the audit, ending the session where the
/// policy wants it, and answered by linegate_reply; linegate_refusal tells the rest.
///
/// The rows are compared in order, and the first of a name counts. Of tools/call the table has the tools, never the method itself.
/// values may be NULL where values_len is 0: nothing is written then.
///
/// Returns: 0, and the row's place in *which; 2, the message asks for nothing in the table (a response, a batch, a method that is no
/// row): it is the host's; 505, the line passed only by a switch that options.grant doesn't have; 501, there is no such tool;
/// 502, the arguments don't fit; 504, it was asked before, or decided; 904, the ticket is 0, or its event is over; 901 where gate,
/// which, a table of some length or a name is NULL or misaligned; 902 where values is shorter than the row's members; 903
/// where a row that was read has a value that it can't have, or the rows nest deeper than LINEGATE_MAX_NESTING. But at 0 *which is
/// actions_len, and each value is absent.
/// Owner: the values lie in the gate's storage, and live as long as the event. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_call(
    gate: *mut linegate,
    ticket: u64,
    actions: *const linegate_action,
    actions_len: usize,
    which: *mut usize,
    values: *mut linegate_slice,
    values_len: usize,
) -> linegate_status {
    boundary!(gate, which; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            which.write(actions_len);
            if values_len > 0 && is_missing(values) {
                return LINEGATE_NULL_ARGUMENT;
            }
            for at in 0..values_len {
                values.add(at).write(linegate_slice::ABSENT);
            }
            let linegate { gate, tickets, refusal, granted, .. } = &mut *gate;
            if let Err(status) = tickets.is_new(ticket) {
                return status;
            }
            let Some(call) = gate.refusable() else { return LINEGATE_ABSENT };
            let mut found = None;
            for at in 0..actions_len {
                let row = match row_at(Rows { first: actions, len: actions_len }, at) {
                    Ok(row) => row,
                    Err(status) => return status,
                };
                if call.is_for(row.1) {
                    found = Some((at, row));
                    break;
                }
            }
            if found.is_none() && !call.is_tool_call() {
                return LINEGATE_ABSENT;
            }
            if found.is_some_and(|(_, (row, _))| values_len > 0 && values_len < row.members_len) {
                return LINEGATE_BUFFER_TOO_SMALL;
            }
            let call = match call.granted(*granted) {
                Ok(call) => call,
                Err(refused) => return refuse(tickets, refusal, refused),
            };
            let Some((at, (row, target))) = found else { return refuse(tickets, refusal, call.unknown()) };
            let (arguments, aside) = call.arguments(target);
            match read(&row, arguments, aside, values, values_len) {
                Ok(()) => {
                    tickets.call();
                    which.write(at);
                    LINEGATE_OK
                }
                Err(Unread::Misfit(misfit)) => refuse(tickets, refusal, call.misfit(misfit)),
                Err(Unread::Table(status)) => status,
            }
        }
    })
}

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

/// Reads the arguments of a row into the caller's values, which are absent before.
///
/// # Safety
/// The row and the values are as the header asks.
unsafe fn read<'a>(
    row: &linegate_action,
    arguments: Cursor<'a>,
    aside: Option<&str>,
    values: *mut linegate_slice,
    values_len: usize,
) -> Result<(), Unread<'a>> {
    let rows = Rows { first: row.members, len: row.members_len };
    if arguments.kind() != JsonKind::Object {
        return Err(misfit(Wrong::Type, arguments, None));
    }
    // SAFETY: the caller's promise, for rows and values alike; there are as many values as rows, or none.
    unsafe {
        fit_object(arguments, rows, aside, LINEGATE_MAX_NESTING)?;
        for at in 0..values_len.min(rows.len) {
            let found = arguments.get(name_at(rows.get(at)?.name)?).filter(|value| value.kind() != JsonKind::Null);
            if let Some(found) = found {
                values.add(at).write(linegate_slice::new(found.bytes()));
            }
        }
    }
    Ok(())
}

/// Refuses the call that the message of the last event is, for a host that looks for tools and reads arguments by itself:
/// with 501, there is no such tool; 502, the arguments don't fit, of which value is the one that is wrong, or absent; 503, it
/// isn't allowed. It is a refusal as that of linegate_call.
///
/// rpc_code is the JSON-RPC code of the reply to 503; 0 for -32602, and for the others always.
///
/// Returns: the code, and the call is refused; 505, it is refused with that one, which comes first, because the line passed only by a
/// switch that options.grant doesn't have; 504, it was decided before; 904, the ticket is 0, or its event is over, or
/// its message asks for nothing (a response, a batch); 903, another code, or rpc_code beside another than 503; 901.
/// Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_refuse(
    gate: *mut linegate,
    ticket: u64,
    code: linegate_status,
    rpc_code: i32,
    value: linegate_slice,
) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise.
        let linegate { gate, tickets, refusal, granted, .. } = unsafe { &mut *gate };
        if !matches!(code, LINEGATE_UNKNOWN_TOOL | LINEGATE_ARGUMENTS_SCHEMA | LINEGATE_NOT_AUTHORIZED)
            || (rpc_code != 0 && code != LINEGATE_NOT_AUTHORIZED)
        {
            return LINEGATE_BAD_OPTIONS;
        }
        if let Err(status) = tickets.is_undecided(ticket) {
            return status;
        }
        let Some(call) = gate.refusable() else { return LINEGATE_STALE_EVENT };
        let call = match call.granted(*granted) {
            Ok(call) => call,
            Err(refused) => return refuse(tickets, refusal, refused),
        };
        let refused = match code {
            LINEGATE_UNKNOWN_TOOL => call.unknown(),
            LINEGATE_ARGUMENTS_SCHEMA => {
                // SAFETY: the caller's promise; it lies in the storage, or its place isn't told.
                call.misfit(Misfit::new(Wrong::Value, Cursor::from_bytes(unsafe { value.bytes() })))
            }
            _ => call.denied(denial(rpc_code)),
        };
        refuse(tickets, refusal, refused)
    })
}

/// A denial of the host's, answered with this code; 0 for the usual one.
pub(crate) const fn denial(rpc_code: i32) -> Denial {
    let denial = Denial::because("the host denied it");
    if rpc_code == 0 { denial } else { denial.with_rpc_code(rpc_code) }
}

/// The refusal that is the gate's last: of the line that linegate_feed refused, or of a call that linegate_call, linegate_refuse or
/// linegate_authorize did. Set event->size.
///
/// Where a reply is due that is the result of a tool (502 from 2025-11-25 on), event->rpc_code is 0 beside it.
///
/// Returns: 0, and event->status has the code; 904, the last event was no refusal; 903, the size was not set; 901.
/// Owner: the event lends from the gate's storage until the gate's next event. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_refusal(gate: *const linegate, event: *mut linegate_event) -> linegate_status {
    boundary!(gate, event; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            let said = (*gate).refusal().map(linegate_event::refused);
            crate::feed::status(said.and_then(|said| grow::write(event, &said)))
        }
    })
}
