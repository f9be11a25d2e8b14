//! An accepted line. Whatever is read of it later is read from exactly the bytes that were checked.

use crate::json::{Cursor, Kind as Json};
use crate::limits::Switches;
use crate::mcp::Set;
use crate::options::Options;
use crate::rpc::{Envelope, Kind, Member};
use crate::standing::{Counters, Standing};

/// A line that was accepted. It lives until the gate is fed again, and can be made only by a gate.
#[must_use]
pub struct Message<'a> {
    pub(crate) text: &'a [u8],
    /// The same with the carriage return that was stripped.
    pub(crate) line: &'a [u8],
    /// Its members, by place; of a batch, none.
    pub(crate) envelope: Option<&'a Envelope>,
    pub(crate) method: Option<&'a [u8]>,
    pub(crate) loosened: Switches,
    /// The revisions that it may be of, as far as the gate had to know.
    pub(crate) revisions: Set,
    pub(crate) options: &'a Options,
    /// Where a refusal is counted that comes after the gate's.
    pub(crate) standing: &'a mut Standing,
}

impl<'a> Message<'a> {
    /// Exactly the bytes that were checked, without CR and LF: what is passed on.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.text
    }

    /// What the message is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self.envelope {
            Some(envelope) => envelope.slots.kind(),
            None => Kind::Batch,
        }
    }

    /// The method of a request or notification, unescaped.
    #[must_use]
    pub fn method(&self) -> Option<&'a str> {
        core::str::from_utf8(self.method?).ok()
    }

    /// The id as it was written, quotes included: `7` and `"7"` are different ids. `None` for notifications, batches, and
    /// errors with an unknown id (null or absent).
    #[must_use]
    pub fn id(&self) -> Option<&'a [u8]> {
        let id = self.envelope?.get(Member::Id).filter(|id| id.kind != Json::Null)?;
        Some(id.of(self.text))
    }

    /// The params of a request or notification.
    #[must_use]
    pub fn params(&self) -> Option<Cursor<'a>> {
        self.cursor(Member::Params)
    }

    /// The result of a response.
    #[must_use]
    pub fn result(&self) -> Option<Cursor<'a>> {
        self.cursor(Member::Result)
    }

    /// The error of a response.
    #[must_use]
    pub fn error(&self) -> Option<Cursor<'a>> {
        self.cursor(Member::Error)
    }

    /// The whole value: the object, or the array of a batch.
    #[must_use]
    pub fn value(&self) -> Cursor<'a> {
        Cursor::new(self.text.trim_ascii())
    }

    /// The switches without which the line would have been refused, beyond the two that every profile allows.
    #[must_use]
    pub const fn loosened(&self) -> Switches {
        self.loosened
    }

    /// The ordinal of the line in its session, from 1.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.standing.sequence
    }

    /// Bytes of the line before its LF, a stripped CR counted.
    #[must_use]
    pub const fn line_len(&self) -> usize {
        self.line.len()
    }

    /// What its gate has counted since the start or reset, this line too.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.standing.counters
    }

    /// Whether it is judged as one of MCP.
    pub(crate) const fn is_mcp(&self) -> bool {
        self.options.revision.is_mcp()
    }

    pub(crate) fn cursor(&self, member: Member) -> Option<Cursor<'a>> {
        Some(Cursor::new(self.envelope?.get(member)?.of(self.text)))
    }
}

impl core::fmt::Debug for Message<'_> {
    /// Shows what kind of message it is and how long, never the payload.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Message")
            .field("kind", &self.kind())
            .field("sequence", &self.sequence())
            .field("len", &self.text.len())
            .finish_non_exhaustive()
    }
}
