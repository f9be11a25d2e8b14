//! What a gate says of a line, as structs of the header.

use core::ffi::c_char;
use core::mem::{offset_of, size_of};
use core::ptr;

use gate::{Kind, Message, Record, Refusal};

use crate::boundary::is_too_long;
use crate::grow::Grows;
use crate::status::{LINEGATE_NEED_MORE, LINEGATE_OK, linegate_status, status_of};

/// No message: the event of a refusal, or none.
pub const LINEGATE_KIND_NONE: u32 = 0;
/// `method` and `id`: asks for an effect and an answer.
pub const LINEGATE_KIND_REQUEST: u32 = 1;
/// `method` without `id`: is never answered.
pub const LINEGATE_KIND_NOTIFICATION: u32 = 2;
/// `result` and `id`: a request succeeded.
pub const LINEGATE_KIND_RESULT: u32 = 3;
/// `error`: a request failed.
pub const LINEGATE_KIND_ERROR: u32 = 4;
/// An array of messages, where batches are taken. Walk it with linegate_iterate over `line`.
pub const LINEGATE_KIND_BATCH: u32 = 5;

/// Bytes that belong to somebody else; not NUL-terminated. Absent: `data` NULL, `len` 0; where one is given to the library, `data`
/// NULL is enough. Those of an event lie in the gate's storage, never in the caller's input, and live as long as the event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_slice {
    /// The first of them.
    pub data: *const c_char,
    /// How many.
    pub len: usize,
}

impl linegate_slice {
    pub(crate) const ABSENT: Self = Self { data: ptr::null(), len: 0 };

    pub(crate) const fn new(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), len: bytes.len() }
    }

    fn optional(bytes: Option<&[u8]>) -> Self {
        bytes.map_or(Self::ABSENT, Self::new)
    }

    /// Whether there can't be such bytes.
    pub(crate) const fn is_too_long(self) -> bool {
        !self.data.is_null() && is_too_long(self.len)
    }

    /// The bytes, none where it is absent, or too long to be.
    ///
    /// # Safety
    /// They can be read, and live as long as `'a`.
    pub(crate) const unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.data.is_null() || self.is_too_long() {
            return &[];
        }
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(self.data.cast(), self.len) }
    }
}

/// What a line came to. Set `size` to sizeof(linegate_event) before each call that fills one; a library that knows more
/// members than the caller leaves them out, one that knows fewer zeroes the rest.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_event {
    /// Set by the caller: sizeof(linegate_event).
    pub size: usize,
    /// The same as the function returned.
    pub status: linegate_status,
    /// LINEGATE_KIND_...: what the accepted message is.
    pub kind: u32,
    /// What linegate_call, linegate_authorize and linegate_authorized want to see. 0 unless a line was accepted.
    pub ticket: u64,
    /// The ordinal of the line in its session, from 1; 0 where there is no verdict.
    pub sequence: u64,
    /// The whole line without its line break: exactly the bytes that were checked. Absent of a refused line.
    pub line: linegate_slice,
    /// The method, unescaped, in UTF-8.
    pub method: linegate_slice,
    /// The id as it was written, quotes included: 7 and "7" are different ids. Of a refused line the id that its reply echoes.
    pub id: linegate_slice,
    /// The params, a JSON value as it was written.
    pub params: linegate_slice,
    /// The result, likewise.
    pub result: linegate_slice,
    /// The error object, likewise.
    pub error: linegate_slice,
    /// Of a refused line: the byte that the verdict is about, counted from the line's start, wherever the input was cut.
    pub offset: usize,
    /// Bytes of the line before its line feed, a carriage return counted; of a line that was refused before its end, those up
    /// to the decision.
    pub length: usize,
    /// Of a refused line: the JSON-RPC code of the reply, 0 where none is due, or where it is the result of a tool (502).
    pub rpc_code: i32,
    /// Of a refused line: 1 where a reply should go out (see linegate_reply), else 0.
    pub reply_due: u32,
    /// Of a refused line: 1 where the session ended with it, else 0.
    pub closes: u32,
    /// LINEGATE_SWITCH_...: those without which the accepted line would have been refused, beyond the two that every profile allows.
    pub loosened: u32,
}

// SAFETY: repr(C), the size first, integers and pointers only.
unsafe impl Grows for linegate_event {
    const FIRST: usize = offset_of!(Self, loosened) + size_of::<u32>();
}

impl linegate_event {
    /// Of no verdict.
    pub(crate) const fn none(status: linegate_status) -> Self {
        Self {
            size: 0,
            status,
            kind: LINEGATE_KIND_NONE,
            ticket: 0,
            sequence: 0,
            line: linegate_slice::ABSENT,
            method: linegate_slice::ABSENT,
            id: linegate_slice::ABSENT,
            params: linegate_slice::ABSENT,
            result: linegate_slice::ABSENT,
            error: linegate_slice::ABSENT,
            offset: 0,
            length: 0,
            rpc_code: 0,
            reply_due: 0,
            closes: 0,
            loosened: 0,
        }
    }

    pub(crate) fn need_more() -> Self {
        Self::none(LINEGATE_NEED_MORE)
    }

    pub(crate) fn accepted(message: &Message<'_>) -> Self {
        let kind = match message.kind() {
            Kind::Request => LINEGATE_KIND_REQUEST,
            Kind::Notification => LINEGATE_KIND_NOTIFICATION,
            Kind::Result => LINEGATE_KIND_RESULT,
            Kind::Error => LINEGATE_KIND_ERROR,
            Kind::Batch => LINEGATE_KIND_BATCH,
        };
        let value = |cursor: Option<gate::Cursor<'_>>| {
            cursor.map_or(linegate_slice::ABSENT, |cursor| linegate_slice::new(cursor.bytes()))
        };
        Self {
            kind,
            sequence: message.sequence(),
            line: linegate_slice::new(message.bytes()),
            method: linegate_slice::optional(message.method().map(str::as_bytes)),
            id: linegate_slice::optional(message.id()),
            params: value(message.params()),
            result: value(message.result()),
            error: value(message.error()),
            length: message.line_len(),
            loosened: message.loosened().bits(),
            ..Self::none(LINEGATE_OK)
        }
    }

    pub(crate) fn refused(refusal: &Refusal<'_>) -> Self {
        Self {
            sequence: refusal.sequence(),
            id: linegate_slice::optional(refusal.id()),
            offset: refusal.at(),
            length: refusal.frame_len(),
            rpc_code: refusal.rpc_code().unwrap_or(0),
            reply_due: u32::from(refusal.reply_due()),
            closes: u32::from(refusal.closes()),
            ..Self::none(status_of(refusal.code()))
        }
    }
}

/// The audit record of a refusal: why and where, and a keyed fingerprint by which the same line is recognised again; never
/// its bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_record {
    /// Set by the caller: sizeof(linegate_record).
    pub size: usize,
    /// The ordinal of the line in its session, from 1.
    pub sequence: u64,
    /// LINEGATE_FROM_...: who sent it.
    pub direction: u32,
    /// Why: 101 to 505.
    pub code: linegate_status,
    /// The byte it is about, from the line's start.
    pub offset: usize,
    /// Bytes of the line before its line feed; of a line that was refused before its end, those up to the decision.
    pub length: usize,
    /// SipHash-2-4 of these bytes with 128 bits under the gate's audit key, most significant byte first.
    pub fingerprint: [u8; 16],
}

// SAFETY: repr(C), the size first, integers only.
unsafe impl Grows for linegate_record {
    const FIRST: usize = offset_of!(Self, fingerprint) + size_of::<[u8; 16]>();
}

impl linegate_record {
    pub(crate) fn new(record: &Record) -> Self {
        Self {
            size: 0,
            sequence: record.sequence,
            direction: record.direction as u32,
            code: status_of(record.code),
            offset: record.at,
            length: record.frame_len,
            fingerprint: record.fingerprint.get().to_be_bytes(),
        }
    }
}

/// What a gate has counted since its start or reset.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_counters {
    /// Set by the caller: sizeof(linegate_counters).
    pub size: usize,
    /// Lines accepted.
    pub accepted: u64,
    /// Lines and calls refused, by every stage together.
    pub refused: u64,
    /// Lines refused with 1xx.
    pub refused_frame: u64,
    /// Lines refused with 2xx.
    pub refused_json: u64,
    /// Lines refused with 3xx.
    pub refused_rpc: u64,
    /// Lines refused with 40x.
    pub refused_mcp: u64,
    /// Lines refused with 45x.
    pub refused_session: u64,
    /// Empty lines skipped, where LINEGATE_SWITCH_BLANK_LINES allows them.
    pub blank_lines: u64,
    /// Carriage returns stripped before a line feed.
    pub stripped_crs: u64,
    /// Replies that were due.
    pub replies: u64,
    /// Calls refused with 50x.
    pub refused_action: u64,
}

// SAFETY: repr(C), the size first, integers only.
unsafe impl Grows for linegate_counters {
    const FIRST: usize = offset_of!(Self, refused_action) + size_of::<u64>();
}
