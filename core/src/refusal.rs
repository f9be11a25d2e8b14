//! A refused line, and the JSON-RPC error line that answers it.
//!
//! The gate only makes the reply. Whether it is sent is the host's act, and only a host that owns the one writer of the
//! wire may do it.

use core::fmt;

use crate::audit::{Fingerprint, Record};
use crate::code::{Code, INTERNAL_ERROR};
use crate::limits::Direction;

/// Bytes that suffice for any reply with the default `max_id`: the echoed id, the longest text, and the frame around them.
/// With a larger `max_id`, as many more.
pub const REPLY_LEN: usize = 1024;

/// A line that was refused: why, where, and what may be answered. It lives until the gate is fed again.
#[derive(Clone, Copy)]
#[must_use]
pub struct Refusal<'a> {
    pub(crate) code: Code,
    pub(crate) at: usize,
    pub(crate) frame_len: usize,
    pub(crate) sequence: u64,
    pub(crate) direction: Direction,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) id: Option<&'a [u8]>,
    pub(crate) rpc_code: Option<i32>,
    pub(crate) reply_due: bool,
    pub(crate) null_id: bool,
    pub(crate) closes: bool,
    pub(crate) settles: Option<&'a [u8]>,
    pub(crate) requested: Option<&'a [u8]>,
    pub(crate) supported: &'static [&'static str],
}

impl<'a> Refusal<'a> {
    /// Why the line was refused.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The byte the verdict is about, counted from the line's start.
    #[must_use]
    pub const fn at(&self) -> usize {
        self.at
    }

    /// Bytes of the line before its LF, a CR counted. Of a line that was refused before its end (by its first byte, or at
    /// `max_frame`) those up to the decision.
    #[must_use]
    pub const fn frame_len(&self) -> usize {
        self.frame_len
    }

    /// The ordinal of the line in its session, from 1.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// By which the same line is recognised again.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The request's id as it was written, if it could be read beyond doubt.
    #[must_use]
    pub const fn id(&self) -> Option<&'a [u8]> {
        self.id
    }

    /// The JSON-RPC code of the reply where one is due: never for a server's lines, nor for what looks like a notification or
    /// a response. How many replies went out before doesn't count here.
    #[must_use]
    pub const fn rpc_code(&self) -> Option<i32> {
        self.rpc_code
    }

    /// Whether a reply should go out: one is due, and fewer than `max_replies` were due since the last accepted line.
    #[must_use]
    pub const fn reply_due(&self) -> bool {
        self.reply_due
    }

    /// Whether the session ended with it.
    #[must_use]
    pub const fn closes(&self) -> bool {
        self.closes
    }

    /// What may be kept of it.
    #[must_use]
    pub const fn record(&self) -> Record {
        Record {
            sequence: self.sequence,
            direction: self.direction,
            stage: self.code.stage(),
            code: self.code,
            at: self.at,
            frame_len: self.frame_len,
            fingerprint: self.fingerprint,
        }
    }

    /// Writes the JSON-RPC error line, LF at its end, and gives its length; 0 where [`reply_due`](Self::reply_due) is false.
    ///
    /// The line is made of the code table's text and the id's own bytes; of an unsupported version (407) also of the versions
    /// that the host serves and the one asked for. Nothing else of the peer's comes back to it.
    ///
    /// # Errors
    /// [`TooSmall`] (902) where `out` is shorter than the line; nothing of use was written then. [`REPLY_LEN`] suffices.
    pub fn write_reply(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        let Some(code) = self.rpc_code.filter(|_| self.reply_due) else { return Ok(0) };
        let id = self.id.or(if self.null_id { Some(b"null") } else { None });
        let mut line = Line { out, len: 0 };
        line.put_error(id, code, self.code.text());
        if let Some(requested) = self.requested {
            line.put(b",\"data\":{\"supported\":[");
            for (place, version) in self.supported.iter().enumerate() {
                line.put(if place > 0 { b"," } else { b"" });
                line.put_string(version);
            }
            line.put(b"],\"requested\":");
            line.put(requested);
            line.put(b"}");
        }
        line.end()
    }

    /// The id, as this line spells it, of the request that waited for the refused response and is now answered by nobody.
    /// Only a gate that is fed with a [`Tracker`](crate::Tracker) knows of it.
    #[must_use]
    pub const fn settles(&self) -> Option<&'a [u8]> {
        self.settles
    }

    /// Writes the JSON-RPC error line (-32603, with the rule that the response broke) for the request that it [would have
    /// settled](Self::settles), to be sent to the one who waits for it; gives its length, and 0 where there is none.
    ///
    /// # Errors
    /// As of [`write_reply`](Self::write_reply).
    pub fn write_settlement(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        let Some(id) = self.settles else { return Ok(0) };
        let mut line = Line { out, len: 0 };
        line.put_error(Some(id), INTERNAL_ERROR, self.code.text());
        line.end()
    }
}

impl fmt::Debug for Refusal<'_> {
    /// Shows the verdict, never the payload.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refusal")
            .field("code", &self.code)
            .field("at", &self.at)
            .field("frame_len", &self.frame_len)
            .field("sequence", &self.sequence)
            .field("rpc_code", &self.rpc_code)
            .finish_non_exhaustive()
    }
}

/// A buffer was too small (902).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// Bytes that would have sufficed.
    pub needed: usize,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the buffer is too small: {} bytes are needed", self.needed)
    }
}

impl core::error::Error for TooSmall {}

/// Counts what it can't hold, so that the needed length is known.
struct Line<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl Line<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if let Some(place) = self.out.get_mut(self.len..end) {
            place.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        }
        self.len = end;
    }

    /// A text of ours or of the host's as a JSON string.
    fn put_string(&mut self, text: &str) {
        self.put(b"\"");
        for piece in text.as_bytes() {
            if matches!(piece, b'"' | b'\\') {
                self.put(b"\\");
            }
            self.put(core::slice::from_ref(piece));
        }
        self.put(b"\"");
    }

    /// An error up to where its object may go on.
    fn put_error(&mut self, id: Option<&[u8]>, code: i32, message: &str) {
        self.put(b"{\"jsonrpc\":\"2.0\",");
        if let Some(id) = id {
            self.put(b"\"id\":");
            self.put(id);
            self.put(b",");
        }
        self.put(b"\"error\":{\"code\":");
        self.put_integer(code);
        self.put(b",\"message\":");
        self.put_string(message);
    }

    /// The end of the error and of its line.
    fn end(mut self) -> Result<usize, TooSmall> {
        self.put(b"}}\n");
        if self.len > self.out.len() { Err(TooSmall { needed: self.len }) } else { Ok(self.len) }
    }

    fn put_integer(&mut self, value: i32) {
        let mut digits = [0u8; 11];
        let mut at = digits.len();
        let mut rest = value.unsigned_abs();
        loop {
            at -= 1;
            if let Some(place) = digits.get_mut(at) {
                *place = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            self.put(b"-");
        }
        self.put(digits.get(at..).unwrap_or_default());
    }
}
