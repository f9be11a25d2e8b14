//! The decision of a host on the message of the last event: taken once, used once, and gone with the next feed.

use crate::action::{denial, refuse};
use crate::feed::linegate;
use crate::status::{
    LINEGATE_ALREADY_USED, LINEGATE_NOT_AUTHORIZED, LINEGATE_OK, LINEGATE_STALE_EVENT, linegate_status,
};

/// Steps of tickets: odd, so that none comes again before 2^64 others.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Open,
    /// linegate_call was asked, and has not come to an end: nobody has held its arguments to anything.
    Asked,
    /// linegate_call found a row for it, and its arguments fit.
    Called,
    Denied,
    Granted,
    Used,
}

/// The tickets of one gate. They count on over resets and begin at a number that depends on the gate's own place and key, so that
/// a ticket of another gate hardly fits, nor one of a gate that lay there before, unless it had the same key.
pub(crate) struct Tickets {
    last: u64,
    /// 0 while no accepted message is the last event.
    current: u64,
    decision: Decision,
}

impl Tickets {
    pub(crate) fn new(place: usize, key: [u8; 16]) -> Self {
        let key = u128::from_le_bytes(key);
        Self { last: place as u64 ^ key as u64 ^ (key >> 64) as u64, current: 0, decision: Decision::Open }
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

    const fn is_current(&self, ticket: u64) -> Result<(), linegate_status> {
        if ticket == 0 || ticket != self.current { Err(LINEGATE_STALE_EVENT) } else { Ok(()) }
    }

    /// linegate_call is asked about the message, which was neither called nor decided.
    pub(crate) const fn ask(&mut self, ticket: u64) -> Result<(), linegate_status> {
        match (self.is_current(ticket), self.decision) {
            (Ok(()), Decision::Open | Decision::Asked) => {
                self.decision = Decision::Asked;
                Ok(())
            }
            (Ok(()), _) => Err(LINEGATE_ALREADY_USED),
            (stale, _) => stale,
        }
    }

    /// The table has nothing for it: it is the host's.
    pub(crate) const fn pass(&mut self) {
        self.decision = Decision::Open;
    }

    /// Whether linegate_call was asked in vain, by a fault of the program's.
    const fn is_asked(&self) -> bool {
        matches!(self.decision, Decision::Asked)
    }

    /// Whether nothing was decided about it yet.
    pub(crate) const fn is_undecided(&self, ticket: u64) -> Result<(), linegate_status> {
        match (self.is_current(ticket), self.decision) {
            (Ok(()), Decision::Open | Decision::Asked | Decision::Called) => Ok(()),
            (Ok(()), _) => Err(LINEGATE_ALREADY_USED),
            (stale, _) => stale,
        }
    }

    /// Its arguments fit.
    pub(crate) const fn call(&mut self) {
        self.decision = Decision::Called;
    }

    /// It is allowed.
    const fn grant(&mut self) {
        self.decision = Decision::Granted;
    }

    /// It was refused.
    pub(crate) const fn deny(&mut self) {
        self.decision = Decision::Denied;
    }

    const fn take(&mut self, ticket: u64) -> linegate_status {
        if let Err(status) = self.is_current(ticket) {
            return status;
        }
        match self.decision {
            Decision::Open | Decision::Asked | Decision::Called | Decision::Denied => LINEGATE_NOT_AUTHORIZED,
            Decision::Used => LINEGATE_ALREADY_USED,
            Decision::Granted => {
                self.decision = Decision::Used;
                LINEGATE_OK
            }
        }
    }
}

/// Records the host's decision on the message of the last event: allowed is 0 for no, anything else for yes. To be called by
/// the one place that holds the host's policy; there is one decision for each message. With linegate_call before it, the policy
/// sees arguments that fit.
///
/// A no, and a yes to a line that passed only by a switch that options.grant doesn't have, is a refusal as that of
/// linegate_call: linegate_reply answers it. So is a yes where linegate_call was asked about the message and came to 901, 902,
/// 903 or 999: nobody has seen arguments that fit. A response asks for nothing, and what a batch asks for is not executed:
/// whatever the host says, both are denied, and no reply is due. Where actions are asked for, leave batches refused.
///
/// Returns: 0, it is allowed; 503, it is denied, by the host or as above; 505, it is denied for the switch; 504, it was decided
/// before; 904, the ticket is 0 or not that of the last event; 901. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_authorize(gate: *mut linegate, ticket: u64, allowed: i32) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise.
        let linegate { gate, tickets, refusal, granted, tracked, in_session, .. } = unsafe { &mut *gate };
        let session = tracked.filter(|_| *in_session);
        if let Err(status) = tickets.is_undecided(ticket) {
            return status;
        }
        // What asks for nothing can't be allowed anything: nobody has looked for a tool in it or at its arguments.
        let Some(call) = gate.refusable() else {
            tickets.deny();
            return LINEGATE_NOT_AUTHORIZED;
        };
        match call.granted(*granted) {
            Err(refused) => refuse(tickets, session, refusal, refused),
            Ok(call) if allowed == 0 || tickets.is_asked() => refuse(tickets, session, refusal, call.denied(denial(0))),
            Ok(_) => {
                tickets.grant();
                LINEGATE_OK
            }
        }
    })
}

/// Whether the message of the last event was authorized: to be asked by whatever executes it, just before it does. It says yes
/// once.
///
/// Returns: 0, execute it now; 503, it was refused or nobody decided; 504, it was executed; 904, the ticket is 0, or its event
/// is over; 901. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_authorized(gate: *mut linegate, ticket: u64) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise.
        unsafe { (*gate).tickets.take(ticket) }
    })
}
