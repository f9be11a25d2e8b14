//! The decision of a host on the message of the last event: taken once, used once, and gone with the next feed.

use crate::feed::linegate;
use crate::status::{
    LINEGATE_ALREADY_USED, LINEGATE_NOT_AUTHORIZED, LINEGATE_OK, LINEGATE_STALE_EVENT, linegate_status,
};

/// Steps of tickets: odd, so that none comes again before 2^64 others.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Open,
    Denied,
    Granted,
    Used,
}

/// The tickets of one gate. They count on over resets and begin at a place that depends on the gate's own, so that a ticket
/// of another gate hardly fits.
pub(crate) struct Tickets {
    last: u64,
    /// 0 while no accepted message is the last event.
    current: u64,
    decision: Decision,
}

impl Tickets {
    pub(crate) const fn new(place: usize) -> Self {
        Self { last: place as u64, current: 0, decision: Decision::Open }
    }

    /// The ticket of a message that was just accepted.
    pub(crate) const fn next(&mut self) -> u64 {
        self.last = self.last.wrapping_add(STEP);
        if self.last == 0 {
            self.last = STEP;
        }
        self.current = self.last;
        self.decision = Decision::Open;
        self.current
    }

    /// The event is over.
    pub(crate) const fn void(&mut self) {
        self.current = 0;
    }

    const fn decide(&mut self, ticket: u64, allowed: bool) -> linegate_status {
        if ticket == 0 || ticket != self.current {
            return LINEGATE_STALE_EVENT;
        }
        if !matches!(self.decision, Decision::Open) {
            return LINEGATE_ALREADY_USED;
        }
        self.decision = if allowed { Decision::Granted } else { Decision::Denied };
        LINEGATE_OK
    }

    const fn take(&mut self, ticket: u64) -> linegate_status {
        if ticket == 0 || ticket != self.current {
            return LINEGATE_STALE_EVENT;
        }
        match self.decision {
            Decision::Open | Decision::Denied => LINEGATE_NOT_AUTHORIZED,
            Decision::Used => LINEGATE_ALREADY_USED,
            Decision::Granted => {
                self.decision = Decision::Used;
                LINEGATE_OK
            }
        }
    }
}

/// Records the host's decision on the message of the last event: allowed is 0 for no, anything else for yes. To be called by
/// the one place that holds the host's policy; there is one decision for each message.
///
/// Returns: 0; 504, a decision was recorded already; 904, the ticket is 0 or not that of the last event; 901.
/// Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_authorize(gate: *mut linegate, ticket: u64, allowed: i32) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise.
        unsafe { (*gate).tickets.decide(ticket, allowed != 0) }
    })
}

/// Whether the message of the last event was authorized: to be asked by whatever executes it, just before it does. It says yes
/// once.
///
/// Returns: 0, execute it now; 503, it was denied or nobody decided; 504, it was executed; 904, the ticket is 0, or its event
/// is over; 901. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_authorized(gate: *mut linegate, ticket: u64) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise.
        unsafe { (*gate).tickets.take(ticket) }
    })
}
