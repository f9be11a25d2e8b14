//! Where a stream stands: what was counted, whether the session is over, and how many replies went out in a row. Who refuses
//! a line, the gate or the room for actions behind it, does so here, so that no refusal can go uncounted or leave a session
//! open that its policy ends.

use crate::code::{Code, Fault, Stage};
use crate::judge::Told;
use crate::limits::{Direction, Switches};
use crate::mcp::Set;
use crate::options::{ErrorId, Options, Policy};
use crate::refusal::{Refusal, Reply};

/// What a gate has counted since its start or reset. Refusals only: what was executed is counted elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Lines accepted.
    pub accepted: u64,
    /// Empty lines skipped, where the switch allows them.
    pub blank_lines: u64,
    /// Carriage returns stripped before a line feed.
    pub stripped_crs: u64,
    /// Replies that were due.
    pub replies: u64,
    refused: [u64; 6],
}

impl Counters {
    /// Lines refused by a stage.
    #[must_use]
    pub fn refused(&self, stage: Stage) -> u64 {
        self.refused.get(stage as usize).copied().unwrap_or(0)
    }

    /// Lines refused.
    #[must_use]
    pub fn refused_total(&self) -> u64 {
        self.refused.iter().sum()
    }
}

/// What a stream remembers from line to line.
#[derive(Default)]
pub(crate) struct Standing {
    pub(crate) closed: bool,
    pub(crate) sequence: u64,
    replies_in_a_row: u32,
    pub(crate) counters: Counters,
    /// The line that was accepted last, while it is the last event and lies in the storage.
    pub(crate) last: Option<Last>,
}

/// An accepted line in the storage, but for what the judge still knows of it.
#[derive(Clone, Copy)]
pub(crate) struct Last {
    pub(crate) len: usize,
    /// Whether a carriage return was stripped of it.
    pub(crate) stripped: bool,
    /// Of a method that was written with escapes.
    pub(crate) method_len: u8,
    pub(crate) batch: bool,
    pub(crate) loosened: Switches,
    pub(crate) revisions: Set,
}

impl Standing {
    /// The line is accepted.
    pub(crate) const fn accept(&mut self) {
        self.replies_in_a_row = 0;
        self.counters.accepted += 1;
    }

    /// Counts a refusal, ends the session where the policy wants it, and says what may be told and answered.
    pub(crate) fn refuse<'a>(&mut self, options: &Options, told: Told<'a>) -> Refusal<'a> {
        self.last = None;
        let Told { fault, frame_len, fingerprint, id, reply, detail, settles, requested, revisions } = told;
        let Fault { code, at } = fault;
        if let Some(count) = self.counters.refused.get_mut(code.stage() as usize) {
            *count += 1;
        }
        let reply = if options.direction == Direction::FromClient { reply } else { Reply::None };
        let reply_due = reply != Reply::None && self.replies_in_a_row < options.limits.max_replies;
        if reply_due {
            self.replies_in_a_row += 1;
            self.counters.replies += 1;
        }
        let closes = match options.policy {
            Policy::CloseAll => true,
            Policy::CloseMalformed => code.closes(),
            Policy::Continue => code == Code::Truncated,
        };
        self.closed |= closes;
        let null_id = match options.error_id {
            ErrorId::ByRevision => !revisions.omits_error_id(),
            ErrorId::Null => true,
            ErrorId::Absent => false,
        };
        let (sequence, direction) = (self.sequence, options.direction);
        let supported = options.versions;
        Refusal {
            code,
            at,
            frame_len,
            sequence,
            direction,
            fingerprint,
            id,
            reply,
            reply_due,
            null_id,
            closes,
            detail,
            settles,
            requested,
            supported,
        }
    }
}
