//! A refused line, and the JSON-RPC error line that answers it.
//!
//! The gate only makes the reply. Whether it is sent is the host's act, and only a host that owns the one writer of the
//! wire may do it.

use core::fmt;

use crate::audit::{Fingerprint, Record};
use crate::code::{Code, INTERNAL_ERROR};
use crate::limits::Direction;
use crate::response::{Line, TooSmall};

/// Bytes that suffice for any reply with the default `max_id`: the echoed id, the longest text, and the frame around them.
/// With a larger `max_id`, as many more.
pub const REPLY_LEN: usize = 1024;

/// How a refused line is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Not at all.
    None,
    /// By an error with this code.
    Error(i32),
    /// By the result of a tool that says that it is one of a failure, as the revisions from 2025-11-25 on have it for arguments
    /// that don't fit; from 2026-07-28 on it is of the type `complete`.
    ToolResult { complete: bool },
}

impl Reply {
    /// The reply to a line refused for this.
    pub(crate) const fn to(code: Code) -> Self {
        match code.rpc_code() {
            Some(code) => Self::Error(code),
            None => Self::None,
        }
    }
}

/// What a refusal says beyond its code: words of this library or of the host, none of the peer's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    /// Why, more exactly.
    pub(crate) reason: Option<&'static str>,
    /// What it is about: a member of the arguments, a switch.
    pub(crate) name: Option<&'static str>,
    /// Whether the reply says it too.
    pub(crate) told: bool,
}

/// Longest name that a reply repeats, so that [`REPLY_LEN`] suffices.
const MAX_NAME: usize = 64;

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
    pub(crate) reply: Reply,
    pub(crate) reply_due: bool,
    pub(crate) null_id: bool,
    pub(crate) closes: bool,
    pub(crate) detail: Detail,
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
    /// a response, and not where the answer is the result of a failed tool (502 from 2025-11-25 on). How many replies went out
    /// before doesn't count here.
    #[must_use]
    pub const fn rpc_code(&self) -> Option<i32> {
        match self.reply {
            Reply::Error(code) => Some(code),
            Reply::None | Reply::ToolResult { .. } => None,
        }
    }

    /// Why, more exactly than the code says: what is wrong with the arguments (502), or the reason that the host gave for
    /// denying (503). Never words of the peer.
    #[must_use]
    pub const fn reason(&self) -> Option<&'static str> {
        self.detail.reason
    }

    /// What it is about: the member of the arguments, as the host's type names it (502), or the switch (505).
    #[must_use]
    pub const fn subject(&self) -> Option<&'static str> {
        self.detail.name
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
        if !self.reply_due {
            return Ok(0);
        }
        let id = self.id.or(if self.null_id { Some(b"null") } else { None });
        let mut line = Line::response(out, id);
        match self.reply {
            Reply::None => return Ok(0),
            Reply::ToolResult { complete } => {
                line.begin_tool_text(complete);
                self.put_text(&mut line);
                line.end_tool_text(true);
            }
            Reply::Error(code) => {
                line.begin_error(code);
                self.put_text(&mut line);
                line.put(b"\"");
                self.put_versions(&mut line);
                line.put(b"}");
            }
        }
        line.end()
    }

    /// The versions that are served and the one that was asked for (407).
    fn put_versions(&self, line: &mut Line<'_>) {
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
    }

    /// The rule that was broken, and what else may be told.
    fn put_text(&self, line: &mut Line<'_>) {
        line.put_inside(self.code.text());
        let short = |name: &&str| name.len() <= MAX_NAME && name.bytes().all(|byte| byte.is_ascii_graphic());
        for (before, text) in [(&b" "[..], self.detail.reason), (b" Name: ", self.detail.name.filter(short))] {
            if let Some(text) = text.filter(|_| self.detail.told) {
                line.put(before);
                line.put_inside(text);
                line.put(b".");
            }
        }
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
        let mut line = Line::response(out, Some(id));
        line.put_error(INTERNAL_ERROR, self.code.text());
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
            .field("rpc_code", &self.rpc_code())
            .finish_non_exhaustive()
    }
}
