//! Lines on the way out: composed in the caller's buffer, and judged by a gate of the writer's direction before the caller
//! gets to know their length.

use core::ffi::{CStr, c_char, c_void};

use gate::{Cursor, Elements, Line, TooSmall};

use crate::event::{linegate_event, linegate_slice};
use crate::feed::{input, linegate, output};
use crate::status::{
    LINEGATE_BUFFER_TOO_SMALL, LINEGATE_CLOSED, LINEGATE_FRAME_EMPTY, LINEGATE_INVALID_UTF8, LINEGATE_NEED_MORE,
    LINEGATE_NULL_ARGUMENT, LINEGATE_OK, LINEGATE_STALE_EVENT, LINEGATE_TRAILING_BYTES, linegate_status,
};

/// Judges what was composed in `out`, and tells its length if it may go out. `fits` looks at the event of an accepted line. What
/// was composed of something that isn't `whole` can't go out: it is judged for what to tell of it, and no session sees it.
///
/// # Safety
/// `gate` and `len` are as the header asks.
unsafe fn release(
    gate: *mut linegate,
    out: &[u8],
    composed: Result<usize, TooSmall>,
    len: *mut usize,
    whole: bool,
    fits: impl FnOnce(&linegate_event) -> bool,
) -> linegate_status {
    // SAFETY: the caller's promise.
    let gate = unsafe { &mut *gate };
    gate.forget();
    // First: what a closed gate was fed is no line that it could stand in.
    if gate.gate.is_closed() {
        return LINEGATE_CLOSED;
    }
    if gate.inside {
        return LINEGATE_STALE_EVENT;
    }
    let (line_len, status) = match composed {
        Err(TooSmall { needed }) => (needed, LINEGATE_BUFFER_TOO_SMALL),
        Ok(line_len) => {
            let content = out.get(..line_len.saturating_sub(1)).unwrap_or_default();
            let event = gate.judge(content, whole);
            // Nobody is told the ticket of a line that goes out.
            gate.tickets.void();
            match event.status {
                LINEGATE_OK if whole && fits(&event) => (line_len, LINEGATE_OK),
                LINEGATE_OK => (0, LINEGATE_TRAILING_BYTES),
                // Skipped on the way in, but nothing to send.
                LINEGATE_NEED_MORE => (0, LINEGATE_FRAME_EMPTY),
                status => (0, status),
            }
        }
    };
    // SAFETY: the caller's promise.
    unsafe { len.write(line_len) };
    status
}

/// A response with this id, none where it is empty.
fn begun<'o>(out: &'o mut [u8], id: &[u8]) -> Line<'o> {
    Line::response(out, (!id.is_empty()).then_some(id))
}

/// Whether text is one value and nothing else, if it is JSON at all.
fn is_one(text: &[u8]) -> bool {
    Elements::from_rest(text).next().is_some_and(|value| value.bytes().len() == text.trim_ascii().len())
}

/// Whether a slice of an event holds those bytes.
fn holds(slice: linegate_slice, bytes: &[u8]) -> bool {
    // SAFETY: the event is the last one of its gate.
    unsafe { slice.bytes() == bytes.trim_ascii() }
}

/// Writes a line as it is given, with a line feed behind it, into out, if the gate accepts it: a request, notification or
/// response that was composed elsewhere. gate judges what goes out: of a server one of LINEGATE_FROM_SERVER, for this use alone,
/// with LINEGATE_POLICY_CONTINUE if a refused line shall not end it. With a tracker the line is judged in its session.
///
/// There a response that is refused settles its request, if its id could be read: another would be the second (458). So that the
/// client doesn't wait for ever, send what linegate_settlement of this gate writes: the one answer left. Where it writes
/// nothing (0 bytes, or 904), the request still waits, and linegate_write_error answers it.
///
/// *len is the length of the line, its line feed counted; where out is too small, the length that suffices; 0 where the line is
/// refused: send *len bytes, and never a byte of a line that was refused. The line itself must not lie in out. line may be NULL
/// where line_len is 0, and out where cap is 0.
///
/// Returns: 0; 101 to 459, the line is refused (207 too where it holds a line feed or more than one value); 902; 904, the gate stands
/// inside a line that was fed to it; 905, it is closed; 901.
/// Owner: out is the caller's; what the gate's last event lent is over. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_write_line(
    gate: *mut linegate,
    line: *const c_void,
    line_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> linegate_status {
    boundary!(gate, len; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            len.write(0);
            let (Some(content), Some(out)) = (input(line, line_len), output(out, cap)) else {
                return LINEGATE_NULL_ARGUMENT;
            };
            let needed = content.len().saturating_add(1);
            let composed = match out.get_mut(..needed) {
                Some(place) => {
                    // Not copy_from_slice, whose check of the lengths is a path that can panic.
                    place.iter_mut().zip(content.iter().chain(b"\n")).for_each(|(to, from)| *to = *from);
                    Ok(needed)
                }
                None => Err(TooSmall { needed }),
            };
            release(gate, out, composed, len, true, |_| true)
        }
    })
}

/// Writes the response to a request: id as its event gave it, and result as JSON text. The id may lie in the storage of the gate
/// that read it.
///
/// Everything else is as of linegate_write_line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_write_result(
    gate: *mut linegate,
    id: linegate_slice,
    result: *const c_void,
    result_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> linegate_status {
    boundary!(gate, len; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            len.write(0);
            let (Some(result), Some(out)) = (input(result, result_len), output(out, cap)) else {
                return LINEGATE_NULL_ARGUMENT;
            };
            if id.is_too_long() {
                return LINEGATE_NULL_ARGUMENT;
            }
            let id = id.bytes();
            let mut line = begun(out, id);
            line.put(b"\"result\":");
            line.put(result);
            let composed = line.end();
            let whole = (id.is_empty() || is_one(id)) && is_one(result);
            release(gate, out, composed, len, whole, |event| holds(event.id, id) && holds(event.result, result))
        }
    })
}

/// Writes the error that answers a request: code as JSON-RPC has it, message as NUL-terminated UTF-8, which is escaped, and data as
/// JSON text; data may be NULL where data_len is 0. An absent id leaves the member out; a slice that holds null says null.
///
/// Everything else is as of linegate_write_line; 201 also where the message is no UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_write_error(
    gate: *mut linegate,
    id: linegate_slice,
    code: i32,
    message: *const c_char,
    data: *const c_void,
    data_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> linegate_status {
    boundary!(gate, message, len; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            len.write(0);
            let (Some(data), Some(out)) = (input(data, data_len), output(out, cap)) else {
                return LINEGATE_NULL_ARGUMENT;
            };
            if id.is_too_long() {
                return LINEGATE_NULL_ARGUMENT;
            }
            let id = id.bytes();
            let Ok(message) = CStr::from_ptr(message).to_str() else {
                (*gate).forget();
                return LINEGATE_INVALID_UTF8;
            };
            let mut line = begun(out, id);
            line.begin_error(code);
            line.put_inside(message);
            line.put(b"\"");
            if !data.is_empty() {
                line.put(b",\"data\":");
                line.put(data);
            }
            line.put(b"}");
            let composed = line.end();
            let whole = (id.is_empty() || is_one(id)) && (data.is_empty() || is_one(data));
            release(gate, out, composed, len, whole, |event| {
                // An event has no id where the error says null.
                let id = if id == b"null" { &[] } else { id };
                let error = Cursor::from_bytes(event.error.bytes());
                let found = error.get("data").map(|data| data.bytes());
                holds(event.id, id) && found.unwrap_or_default() == data.trim_ascii()
            })
        }
    })
}
