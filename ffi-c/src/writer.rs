//! Lines on the way out: composed in the caller's buffer, and judged by a gate of the writer's direction before the caller
//! gets to know their length.

use core::ffi::{CStr, c_char, c_void};

use gate::Cursor;

use crate::event::{linegate_event, linegate_slice};
use crate::feed::{input, linegate, output};
use crate::status::{
    LINEGATE_BUFFER_TOO_SMALL, LINEGATE_CLOSED, LINEGATE_FRAME_EMPTY, LINEGATE_NEED_MORE, LINEGATE_NULL_ARGUMENT,
    LINEGATE_OK, LINEGATE_STALE_EVENT, LINEGATE_TRAILING_BYTES, linegate_status,
};

/// Counts what the buffer can't hold, so that the needed length is known.
struct Line<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl Line<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if let Some(place) = self.out.get_mut(self.len..end) {
            // Not copy_from_slice, whose check of the lengths is a path that can panic.
            place.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        }
        self.len = end;
    }

    /// What every line begins with, and the id if there is one.
    fn begin(&mut self, id: &[u8]) {
        self.put(b"{\"jsonrpc\":\"2.0\",");
        if !id.is_empty() {
            self.put(b"\"id\":");
            self.put(id);
            self.put(b",");
        }
    }

    /// A text as a JSON string.
    fn string(&mut self, text: &[u8]) {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        self.put(b"\"");
        for byte in text {
            match byte {
                b'"' | b'\\' => self.put(&[b'\\', *byte]),
                0..=0x1F => {
                    let digit = DIGITS.get(usize::from(byte & 15)).copied().unwrap_or(b'0');
                    self.put(&[b'\\', b'u', b'0', b'0', b'0' + (byte >> 4), digit]);
                }
                _ => self.put(core::slice::from_ref(byte)),
            }
        }
        self.put(b"\"");
    }

    fn integer(&mut self, value: i32) {
        if value < 0 {
            self.put(b"-");
        }
        let (mut divisor, rest) = (1_000_000_000_u32, value.unsigned_abs());
        while divisor > 1 && rest / divisor == 0 {
            divisor /= 10;
        }
        while divisor > 0 {
            self.put(&[b'0' + (rest / divisor % 10) as u8]);
            divisor /= 10;
        }
    }
}

/// Judges what was composed, and tells its length if it may go out. `fits` looks at the event of an accepted line.
///
/// # Safety
/// `gate` and `len` are as the header asks.
unsafe fn release(
    gate: *mut linegate,
    mut line: Line<'_>,
    len: *mut usize,
    fits: impl FnOnce(&linegate_event) -> bool,
) -> linegate_status {
    line.put(b"\n");
    // SAFETY: the caller's promise.
    let gate = unsafe { &mut *gate };
    gate.forget();
    if gate.inside {
        return LINEGATE_STALE_EVENT;
    }
    if gate.gate.is_closed() {
        return LINEGATE_CLOSED;
    }
    let Some(content) = line.out.get(..line.len.saturating_sub(1)).filter(|_| line.len <= line.out.len()) else {
        // SAFETY: the caller's promise.
        unsafe { len.write(line.len) };
        return LINEGATE_BUFFER_TOO_SMALL;
    };
    let event = gate.judge(content, true);
    // Nobody is told the ticket of a line that goes out.
    gate.tickets.void();
    match event.status {
        LINEGATE_OK if fits(&event) => {
            // SAFETY: the caller's promise.
            unsafe { len.write(line.len) };
            LINEGATE_OK
        }
        LINEGATE_OK => LINEGATE_TRAILING_BYTES,
        // Skipped on the way in, but nothing to send.
        LINEGATE_NEED_MORE => LINEGATE_FRAME_EMPTY,
        status => status,
    }
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
/// *len is the length of the line, its line feed counted; where out is too small, the length that suffices; 0 where the line
/// is refused: send *len bytes, and never a byte of a line that was refused. The line itself must not lie in out.
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
            let Some(content) = input(line, line_len) else { return LINEGATE_NULL_ARGUMENT };
            let mut line = Line { out: output(out, cap), len: 0 };
            line.put(content);
            release(gate, line, len, |_| true)
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
            let (Some(result), id) = (input(result, result_len), id.bytes()) else { return LINEGATE_NULL_ARGUMENT };
            let mut line = Line { out: output(out, cap), len: 0 };
            line.begin(id);
            line.put(b"\"result\":");
            line.put(result);
            line.put(b"}");
            release(gate, line, len, |event| holds(event.id, id) && holds(event.result, result))
        }
    })
}

/// Writes the error that answers a request: code as JSON-RPC has it, message as NUL-terminated UTF-8, which is escaped, and data as
/// JSON text; data may be NULL where data_len is 0. An absent id leaves the member out; a slice that holds null says null.
///
/// Everything else is as of linegate_write_line.
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
            let (Some(data), id) = (input(data, data_len), id.bytes()) else { return LINEGATE_NULL_ARGUMENT };
            let mut line = Line { out: output(out, cap), len: 0 };
            line.begin(id);
            line.put(b"\"error\":{\"code\":");
            line.integer(code);
            line.put(b",\"message\":");
            line.string(CStr::from_ptr(message).to_bytes());
            if !data.is_empty() {
                line.put(b",\"data\":");
                line.put(data);
            }
            line.put(b"}}");
            release(gate, line, len, |event| {
                // An event has no id where the error says null.
                let id = if id == b"null" { &[] } else { id };
                let error = Cursor::from_bytes(event.error.bytes());
                let found = error.get("data").map(|data| data.bytes());
                holds(event.id, id) && found.unwrap_or_default() == data.trim_ascii()
            })
        }
    })
}
