//! Statuses: the numbers of the core's table as constants of the header, and their names and texts as C strings.

use core::ffi::{CStr, c_char};

use gate::Code;

/// What a function came to: LINEGATE_OK, a small number that is no fault, or a code from 101 up. 1xx to 4xx are faults of the
/// peer's line, 5xx of the action that it asks for, 9xx of the caller of this library. The numbers are for ever. None is
/// negative. errno is never set.
pub type linegate_status = i32;

/// Done. Of a feed: a line was accepted.
pub const LINEGATE_OK: linegate_status = 0;
/// No line has ended: feed what is left of the input, or read more.
pub const LINEGATE_NEED_MORE: linegate_status = 1;
/// The value has no such member, or nothing more in it.
pub const LINEGATE_ABSENT: linegate_status = 2;
/// The value is of another type.
pub const LINEGATE_OTHER_TYPE: linegate_status = 3;
/// The line is longer than the gate's max_frame; send a shorter message.
pub const LINEGATE_FRAME_TOO_LONG: linegate_status = 101;
/// The line is empty; send one JSON-RPC message on each line.
pub const LINEGATE_FRAME_EMPTY: linegate_status = 102;
/// A carriage return may stand only as the last byte before the line feed; some readers end a line at it.
pub const LINEGATE_BARE_CR: linegate_status = 103;
/// The input ended inside a line; a message counts only with its line feed.
pub const LINEGATE_TRUNCATED: linegate_status = 104;
/// The line begins with a byte order mark; send UTF-8 without one.
pub const LINEGATE_BOM: linegate_status = 105;
/// The line holds a raw NUL byte; send UTF-8 JSON text.
pub const LINEGATE_NUL_BYTE: linegate_status = 106;
/// Space or tab stands before or after the message; send the JSON value alone on its line.
pub const LINEGATE_SURROUNDING_SPACE: linegate_status = 107;
/// The line is not well-formed UTF-8.
pub const LINEGATE_INVALID_UTF8: linegate_status = 201;
/// A byte stands where JSON does not allow it; only JSON-RPC messages belong on this stream.
pub const LINEGATE_UNEXPECTED_BYTE: linegate_status = 202;
/// A string holds an escape that JSON does not have.
pub const LINEGATE_BAD_ESCAPE: linegate_status = 203;
/// A string escapes half of a surrogate pair; send the whole character, or U+FFFD in its place.
pub const LINEGATE_LONE_SURROGATE: linegate_status = 204;
/// A string holds a raw control character; escape it.
pub const LINEGATE_CONTROL_IN_STRING: linegate_status = 205;
/// A number is not spelt as JSON spells numbers.
pub const LINEGATE_BAD_NUMBER: linegate_status = 206;
/// Bytes follow the message on its line; send one message on each line and nothing else.
pub const LINEGATE_TRAILING_BYTES: linegate_status = 207;
/// Values nest deeper than the gate's max_depth; send a flatter message.
pub const LINEGATE_TOO_DEEP: linegate_status = 208;
/// An object has the same key twice; readers disagree on which of the two counts.
pub const LINEGATE_DUPLICATE_KEY: linegate_status = 209;
/// More object keys are open at once than the gate's max_keys; send a smaller object.
pub const LINEGATE_TOO_MANY_KEYS: linegate_status = 210;
/// An object key is longer than 8192 bytes; send a shorter key.
pub const LINEGATE_KEY_TOO_LONG: linegate_status = 211;
/// Two keys of one object differ only in case; send keys that no reader can confuse.
pub const LINEGATE_CASE_COLLISION: linegate_status = 212;
/// A string holds \u0000, at which some readers cut it; send text without it, or encode it as base64.
pub const LINEGATE_ESCAPED_NUL: linegate_status = 213;
/// A number is one that readers take for different values; send large or very precise numbers as strings.
pub const LINEGATE_NUMBER_RANGE: linegate_status = 214;
/// A key has a special meaning to some readers (__proto__, $serde_json::private::); choose another name.
pub const LINEGATE_FORBIDDEN_KEY: linegate_status = 215;
/// The line ends inside the JSON value; send the whole message on one line.
pub const LINEGATE_UNEXPECTED_END: linegate_status = 216;
/// A string holds a raw U+0085, U+2028 or U+2029, at which some readers end a line; escape it.
pub const LINEGATE_LINE_SEPARATOR: linegate_status = 217;
/// The message is not a JSON object.
pub const LINEGATE_NOT_AN_OBJECT: linegate_status = 301;
/// A batch (a JSON array) is not taken here in this form; send one message on each line.
pub const LINEGATE_BATCH: linegate_status = 302;
/// The member jsonrpc is missing; it must be the string 2.0.
pub const LINEGATE_JSONRPC_MISSING: linegate_status = 303;
/// The member jsonrpc must be the string 2.0.
pub const LINEGATE_JSONRPC_WRONG: linegate_status = 304;
/// The member method must be a string of 1 to 255 bytes.
pub const LINEGATE_METHOD_TYPE: linegate_status = 305;
/// The member id must be a string or an integer written without fraction, exponent or minus zero.
pub const LINEGATE_ID_TYPE: linegate_status = 306;
/// The member id must not be null.
pub const LINEGATE_ID_NULL: linegate_status = 307;
/// The id is too large: integers go to 2^53-1 either way, strings to the gate's max_id bytes.
pub const LINEGATE_ID_RANGE: linegate_status = 308;
/// The member params must be an object.
pub const LINEGATE_PARAMS_TYPE: linegate_status = 309;
/// A message has exactly one of method, result and error, and params only beside method.
pub const LINEGATE_MIXED_SHAPE: linegate_status = 310;
/// The message has none of method, result and error.
pub const LINEGATE_NO_SHAPE: linegate_status = 311;
/// The message has a member other than jsonrpc, id, method, params, result and error.
pub const LINEGATE_UNKNOWN_MEMBER: linegate_status = 312;
/// A member's name is a protocol name in other case or with escapes; readers disagree on whether it counts.
pub const LINEGATE_MISSPELT_MEMBER: linegate_status = 313;
/// The member error must be an object with an integer code and a string message.
pub const LINEGATE_ERROR_OBJECT: linegate_status = 314;
/// The member result must be an object.
pub const LINEGATE_RESULT_TYPE: linegate_status = 315;
/// A result must carry the id of its request.
pub const LINEGATE_ID_MISSING: linegate_status = 316;
/// Such a message may not travel in this direction under this revision.
pub const LINEGATE_WRONG_DIRECTION: linegate_status = 401;
/// The revision has no such method for this direction, and the host added none of that name.
pub const LINEGATE_UNKNOWN_METHOD: linegate_status = 402;
/// A member that the method requires is missing in params.
pub const LINEGATE_PARAM_MISSING: linegate_status = 403;
/// A member of params has a JSON type or a value that the method does not take.
pub const LINEGATE_PARAM_TYPE: linegate_status = 404;
/// A request of 2026-07-28 carries params._meta with protocolVersion and clientCapabilities (prefix io.modelcontextprotocol/).
pub const LINEGATE_META_MISSING: linegate_status = 405;
/// A key of _meta is not an optional prefix (labels parted by dots, and a slash) and a name.
pub const LINEGATE_META_KEY: linegate_status = 406;
/// The request's protocol version is not one that is served here; data.supported names those that are.
pub const LINEGATE_UNSUPPORTED_REVISION: linegate_status = 407;
/// The result is not one that the request it answers may have.
pub const LINEGATE_RESULT_SHAPE: linegate_status = 408;
/// The revision does not allow a server to send this error code.
pub const LINEGATE_ERROR_CODE: linegate_status = 409;
/// The method is a notification and carries an id, or is a request and carries none.
pub const LINEGATE_ID_PRESENCE: linegate_status = 410;
/// Send initialize first; before it only ping and server/discover are taken.
pub const LINEGATE_NOT_INITIALIZED: linegate_status = 451;
/// The session is initialized already, or an initialize waits for its answer.
pub const LINEGATE_INITIALIZE_AGAIN: linegate_status = 452;
/// A request with this id waits for its answer or was cancelled just now; take another id.
pub const LINEGATE_ID_IN_USE: linegate_status = 453;
/// The response answers no request that is in flight.
pub const LINEGATE_UNKNOWN_RESPONSE: linegate_status = 454;
/// The response answers a request that was cancelled: it is passed on and counted.
pub const LINEGATE_ANSWERED_AFTER_CANCEL: linegate_status = 455;
/// More requests wait for their answers than the gate remembers; wait for some of them.
pub const LINEGATE_TOO_MANY_IN_FLIGHT: linegate_status = 456;
/// Progress is told for a token that no request in flight gave.
pub const LINEGATE_UNKNOWN_PROGRESS: linegate_status = 457;
/// The request was answered already.
pub const LINEGATE_ANSWERED_TWICE: linegate_status = 458;
/// The notification belongs to no subscription that is open, or does not say to which.
pub const LINEGATE_UNKNOWN_SUBSCRIPTION: linegate_status = 459;
/// The call names a tool that is not offered here.
pub const LINEGATE_UNKNOWN_TOOL: linegate_status = 501;
/// The arguments are not those that the tool takes.
pub const LINEGATE_ARGUMENTS_SCHEMA: linegate_status = 502;
/// The host did not authorize the action.
pub const LINEGATE_NOT_AUTHORIZED: linegate_status = 503;
/// The authorization was used already; an action runs once.
pub const LINEGATE_ALREADY_USED: linegate_status = 504;
/// The message passed only because of a switch that this action does not allow.
pub const LINEGATE_SWITCH_NOT_GRANTED: linegate_status = 505;
/// A pointer argument is NULL, or not aligned as its type must be.
pub const LINEGATE_NULL_ARGUMENT: linegate_status = 901;
/// The buffer given is too small; nothing was written.
pub const LINEGATE_BUFFER_TOO_SMALL: linegate_status = 902;
/// An option has a value that it can't have.
pub const LINEGATE_BAD_OPTIONS: linegate_status = 903;
/// The call is about an event that is over, or comes in an order that makes no sense.
pub const LINEGATE_STALE_EVENT: linegate_status = 904;
/// The session has ended; nothing more is judged until a reset.
pub const LINEGATE_CLOSED: linegate_status = 905;
/// The library failed, which is a fault of its own; end the session and report it.
pub const LINEGATE_INTERNAL: linegate_status = 999;

/// The version of the library that this header belongs to: it changes when the binary interface breaks.
pub const LINEGATE_VERSION_MAJOR: u32 = 0;
/// With what is added.
pub const LINEGATE_VERSION_MINOR: u32 = 1;
/// With what is mended.
pub const LINEGATE_VERSION_PATCH: u32 = 0;

const _: () = {
    assert!(is_number(env!("CARGO_PKG_VERSION_MAJOR"), LINEGATE_VERSION_MAJOR));
    assert!(is_number(env!("CARGO_PKG_VERSION_MINOR"), LINEGATE_VERSION_MINOR));
    assert!(is_number(env!("CARGO_PKG_VERSION_PATCH"), LINEGATE_VERSION_PATCH));
};

/// Whether the digits spell the number; the constants above stand in digits for the header's sake.
const fn is_number(digits: &str, number: u32) -> bool {
    let (digits, mut at, mut value) = (digits.as_bytes(), 0, 0);
    while at < digits.len() {
        value = value * 10 + (digits[at] - b'0') as u32;
        at += 1;
    }
    value == number
}

/// The statuses that are no codes: number, name, text.
const STATES: [(linegate_status, &CStr, &CStr); 4] = [
    (LINEGATE_OK, c"ok", c"Done."),
    (LINEGATE_NEED_MORE, c"need_more", c"No line has ended; feed more."),
    (LINEGATE_ABSENT, c"absent", c"The value has no such member, or nothing more in it."),
    (LINEGATE_OTHER_TYPE, c"other_type", c"The value is of another type."),
];

/// One C string after the other, and where each begins, in the order of [`Code::ALL`].
struct Strings<const LEN: usize> {
    bytes: [u8; LEN],
    starts: [u16; Code::ALL.len()],
}

const fn text_of(code: Code, names: bool) -> &'static str {
    if names { code.name() } else { code.text() }
}

const fn length(names: bool) -> usize {
    let (mut at, mut sum) = (0, 0);
    while at < Code::ALL.len() {
        sum += text_of(Code::ALL[at], names).len() + 1;
        at += 1;
    }
    sum
}

impl<const LEN: usize> Strings<LEN> {
    const fn new(names: bool) -> Self {
        let mut strings = Self { bytes: [0; LEN], starts: [0; Code::ALL.len()] };
        let (mut at, mut end) = (0, 0);
        while at < Code::ALL.len() {
            let text = text_of(Code::ALL[at], names).as_bytes();
            assert!(end <= u16::MAX as usize);
            strings.starts[at] = end as u16;
            let mut byte = 0;
            while byte < text.len() {
                strings.bytes[end] = text[byte];
                byte += 1;
                end += 1;
            }
            end += 1;
            at += 1;
        }
        strings
    }

    /// The string of a code; the last one ends with the array, so a search for the NUL stays inside.
    fn get(&'static self, code: Code) -> Option<&'static CStr> {
        let place = Code::ALL.iter().position(|one| *one == code)?;
        let start = usize::from(*self.starts.get(place)?);
        CStr::from_bytes_until_nul(self.bytes.get(start..)?).ok()
    }
}

static NAMES: Strings<{ length(true) }> = Strings::new(true);
static TEXTS: Strings<{ length(false) }> = Strings::new(false);

/// The status of a code.
pub(crate) fn status_of(code: Code) -> linegate_status {
    i32::from(code.number())
}

fn code_of(status: linegate_status) -> Option<Code> {
    Code::from_number(u16::try_from(status).ok()?)
}

fn state_of(status: linegate_status) -> Option<&'static (linegate_status, &'static CStr, &'static CStr)> {
    STATES.iter().find(|(number, ..)| *number == status)
}

/// The name of a status: lower case, stable ("duplicate_key"); "unknown" for a number that is none.
///
/// Returns: a static string, NUL-terminated, never NULL. Thread: any.
#[unsafe(no_mangle)]
pub extern "C" fn linegate_status_name(status: linegate_status) -> *const c_char {
    boundary!(or c"internal".as_ptr(); {
        let state = state_of(status).map(|(_, name, _)| *name);
        state.or_else(|| NAMES.get(code_of(status)?)).unwrap_or(c"unknown").as_ptr()
    })
}

/// The status as a sentence that a person can act on.
///
/// Returns: a static string in UTF-8, NUL-terminated, never NULL. Thread: any.
#[unsafe(no_mangle)]
pub extern "C" fn linegate_status_message(status: linegate_status) -> *const c_char {
    boundary!(or c"The library failed.".as_ptr(); {
        let state = state_of(status).map(|(_, _, text)| *text);
        state.or_else(|| TEXTS.get(code_of(status)?)).unwrap_or(c"No status has this number.").as_ptr()
    })
}

/// The version of the library that is linked, as "MAJOR.MINOR.PATCH", to be compared with the header's.
///
/// Returns: a static string, NUL-terminated, never NULL. Thread: any.
#[unsafe(no_mangle)]
pub extern "C" fn linegate_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: *const c_char) -> &'static str {
        // SAFETY: the functions give static strings.
        unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8")
    }

    #[test]
    fn every_code_has_its_name_and_text_and_no_other_number_has_one() {
        for number in -1..=1100 {
            let code = code_of(number);
            let state = state_of(number).is_some();
            assert_eq!(string(linegate_status_name(number)) == "unknown", code.is_none() && !state, "{number}");
            if let Some(code) = code {
                assert_eq!(string(linegate_status_name(number)), code.name());
                assert_eq!(string(linegate_status_message(number)), code.text());
            }
        }
        assert_eq!(string(linegate_status_name(i32::MIN)), "unknown");
        assert_eq!(string(linegate_status_name(i32::MAX)), "unknown");
        assert_eq!(string(linegate_version()), env!("CARGO_PKG_VERSION"));
    }

    /// The constants are written by hand for the header's sake; here they meet the table.
    #[test]
    fn the_constants_are_the_table() {
        let source = include_str!("status.rs");
        for code in Code::ALL {
            let constant = code.name().to_uppercase();
            let line = format!("pub const LINEGATE_{constant}: linegate_status = {};\n", code.number());
            assert!(source.contains(&line), "{line}");
        }
        let constants =
            source.lines().filter(|line| line.starts_with("pub const ") && line.contains(": linegate_status"));
        assert_eq!(constants.count(), Code::ALL.len() + STATES.len());
    }
}
