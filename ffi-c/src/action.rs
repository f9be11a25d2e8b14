//! From an accepted message to a call: which row of the host's table it asks for, whether its arguments fit, and the refusal
//! where not. What is decided then is in [`ticket`](crate::ticket).

use gate::action::{Denial, Misfit, Wrong};
use gate::{Cursor, Refusal};

use crate::boundary::is_missing;
use crate::event::linegate_slice;
use crate::feed::{Tracked, kept, linegate};
use crate::status::{
    LINEGATE_ABSENT, LINEGATE_ARGUMENTS_SCHEMA, LINEGATE_BAD_OPTIONS, LINEGATE_BUFFER_TOO_SMALL,
    LINEGATE_NOT_AUTHORIZED, LINEGATE_NULL_ARGUMENT, LINEGATE_OK, LINEGATE_STALE_EVENT, LINEGATE_UNKNOWN_TOOL,
    linegate_status, status_of,
};
use crate::table::{Unread, find, linegate_action, read};
use crate::ticket::Tickets;

/// Keeps a refusal that was made of the last event's message, for linegate_reply and what else tells of it; gives its code. In
/// the session of that message its request waits no longer.
pub(crate) fn refuse(
    tickets: &mut Tickets,
    session: Option<Tracked>,
    place: &mut Option<Refusal<'static>>,
    refusal: Refusal<'_>,
) -> linegate_status {
    tickets.deny();
    if let Some(Tracked { settle, tracker, .. }) = session {
        settle(&refusal, tracker);
    }
    let status = status_of(refusal.code());
    // SAFETY: it lends from the storage, which stays as it is until it is forgotten, and from the host's table, as does the host.
    *place = Some(unsafe { kept(refusal) });
    status
}

/// Looks for the row of a host's table that the message of the last event asks for, and reads its arguments: values[0] is the value
/// of the row's first member, and so on, absent where it is missing or null. They are of the types that the row says, and nothing
/// else is among them. A call that is refused is refused like a line: counted, in the audit, ending the session where the
/// policy wants it, and answered by linegate_reply; linegate_refusal tells the rest. In a session its request waits no longer
/// from then on, whatever becomes of the reply: to send it is the host's.
///
/// Of tools/call of MCP the table has the tools, never the method itself. values may be NULL where values_len is 0: nothing is
/// written then, and no length is too small (902).
///
/// A table that is not in order is a fault of the program, never the client's. Each call looks at the rows of the table, and,
/// before it looks at any argument, at all that the row asked for holds (which takes longer with the square of the members of
/// an object: have tens of them, not thousands). 901, 902 and 903 refuse nothing: linegate_call may be asked again, or
/// linegate_refuse; but a yes of linegate_authorize allows nothing then (503).
///
/// Returns: 0, and the row's place in *which; 2, the message asks for nothing in the table (a response, a batch, a method that
/// is no row): it is the host's; 505, the line passed only by a switch that options.grant doesn't have; 501, there is no such
/// tool; 502, the arguments don't fit; 504, it was asked before, or decided; 904, the ticket is 0, or its event is over; 901
/// where gate, which, a table, values or members of some length, or a name is NULL or misaligned; 902 where values_len isn't 0
/// and less than the row's members; 903 where a row has a value that it can't have, two rows are of one name, or the rows nest
/// deeper than LINEGATE_MAX_NESTING (one that holds itself does). But at 0 *which is actions_len, and each value is absent.
/// Owner: the values lie in the gate's storage, and live as long as the event. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_call(
    gate: *mut linegate,
    ticket: u64,
    actions: *const linegate_action,
    actions_len: usize,
    which: *mut usize,
    values: *mut linegate_slice,
    values_len: usize,
) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            let linegate { gate, tickets, refusal, granted, tracked, in_session, .. } = &mut *gate;
            let session = tracked.filter(|_| *in_session);
            let asked = tickets.ask(ticket);
            if is_missing(which) {
                return LINEGATE_NULL_ARGUMENT;
            }
            which.write(actions_len);
            if values_len > 0 && is_missing(values) {
                return LINEGATE_NULL_ARGUMENT;
            }
            for at in 0..values_len {
                values.add(at).write(linegate_slice::ABSENT);
            }
            if actions_len > 0 && is_missing(actions) {
                return LINEGATE_NULL_ARGUMENT;
            }
            if let Err(status) = asked {
                return status;
            }
            let Some(call) = gate.refusable() else {
                tickets.pass();
                return LINEGATE_ABSENT;
            };
            let found = match find(actions, actions_len, |target| call.is_for(target)) {
                Ok(found) => found,
                Err(status) => return status,
            };
            if found.is_none() && !call.is_tool_call() {
                tickets.pass();
                return LINEGATE_ABSENT;
            }
            if found.is_some_and(|(_, row, _)| values_len > 0 && values_len < row.members_len) {
                return LINEGATE_BUFFER_TOO_SMALL;
            }
            let call = match call.granted(*granted) {
                Ok(call) => call,
                Err(refused) => return refuse(tickets, session, refusal, refused),
            };
            let Some((at, row, target)) = found else { return refuse(tickets, session, refusal, call.unknown()) };
            let (arguments, aside) = call.arguments(target);
            match read(&row, arguments, aside, values, values_len) {
                Ok(()) => {
                    tickets.call();
                    which.write(at);
                    LINEGATE_OK
                }
                Err(Unread::Misfit(misfit)) => refuse(tickets, session, refusal, call.misfit(misfit)),
                Err(Unread::Table(status)) => status,
            }
        }
    })
}

/// Refuses the call that the message of the last event is, for a host that looks for tools and reads arguments by itself:
/// with 501, there is no such tool; 502, the arguments don't fit, of which value is the one that is wrong, or absent; 503, it
/// isn't allowed. It is a refusal as that of linegate_call.
///
/// rpc_code is the JSON-RPC code of the reply to 503; 0 for -32602, and for the others always. Not each code will do: -32002, -32042
/// and those from -32099 to -32023 are 2026-07-28's own, so that a reply with one would be refused (409).
///
/// Returns: the code, and the call is refused; 505, it is refused with that one, which comes first, because the line passed only by a
/// switch that options.grant doesn't have; 504, it was decided before; 904, the ticket is 0, or its event is over, or
/// its message asks for nothing (a response, a batch); 903, another code, rpc_code beside another than 503, or one that the
/// call's revision doesn't take; 901, gate is NULL or misaligned, or value is too long. 901 and 903 refuse nothing.
/// Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_refuse(
    gate: *mut linegate,
    ticket: u64,
    code: linegate_status,
    rpc_code: i32,
    value: linegate_slice,
) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise.
        let linegate { gate, tickets, refusal, granted, tracked, in_session, .. } = unsafe { &mut *gate };
        let session = tracked.filter(|_| *in_session);
        if !matches!(code, LINEGATE_UNKNOWN_TOOL | LINEGATE_ARGUMENTS_SCHEMA | LINEGATE_NOT_AUTHORIZED)
            || (rpc_code != 0 && code != LINEGATE_NOT_AUTHORIZED)
        {
            return LINEGATE_BAD_OPTIONS;
        }
        if value.is_too_long() {
            return LINEGATE_NULL_ARGUMENT;
        }
        if let Err(status) = tickets.is_undecided(ticket) {
            return status;
        }
        let Some(call) = gate.refusable() else { return LINEGATE_STALE_EVENT };
        if !call.may_be_answered_with(rpc_code) {
            return LINEGATE_BAD_OPTIONS;
        }
        let call = match call.granted(*granted) {
            Ok(call) => call,
            Err(refused) => return refuse(tickets, session, refusal, refused),
        };
        let refused = match code {
            LINEGATE_UNKNOWN_TOOL => call.unknown(),
            LINEGATE_ARGUMENTS_SCHEMA => {
                // SAFETY: the caller's promise; it lies in the storage, or its place isn't told.
                call.misfit(Misfit::new(Wrong::Value, Cursor::from_bytes(unsafe { value.bytes() })))
            }
            _ => call.denied(denial(rpc_code)),
        };
        refuse(tickets, session, refusal, refused)
    })
}

/// A denial of the host's, answered with this code; 0 for the usual one.
pub(crate) const fn denial(rpc_code: i32) -> Denial {
    let denial = Denial::because("the host denied it");
    if rpc_code == 0 { denial } else { denial.with_rpc_code(rpc_code) }
}
