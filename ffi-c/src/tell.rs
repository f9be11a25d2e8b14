//! What can be asked of a gate between two feeds: all that there is to tell of the last refusal, and what was counted.

use core::ffi::c_char;

use gate::{Refusal, Stage, TooSmall};

use crate::event::{linegate_counters, linegate_event, linegate_record};
use crate::feed::{linegate, output};
use crate::grow;
use crate::status::{LINEGATE_BUFFER_TOO_SMALL, LINEGATE_NULL_ARGUMENT, LINEGATE_OK, linegate_status};

/// A status from a result that carries it either way.
fn told(result: Result<(), linegate_status>) -> linegate_status {
    result.err().unwrap_or(LINEGATE_OK)
}

/// Writes what the core writes of the last refusal, and gives its length; of a buffer that is too small, the length that it needs.
///
/// # Safety
/// The pointers are as the header asks.
unsafe fn answer(
    gate: *const linegate,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    write: impl FnOnce(&Refusal<'_>, &mut [u8]) -> Result<usize, TooSmall>,
) -> linegate_status {
    // SAFETY: the caller's promise, for each of the pointers.
    unsafe {
        len.write(0);
        let Some(out) = output(out, cap) else { return LINEGATE_NULL_ARGUMENT };
        let refusal = match (*gate).refusal() {
            Ok(refusal) => refusal,
            Err(status) => return status,
        };
        let (count, status) = match write(refusal, out) {
            Ok(count) => (count, LINEGATE_OK),
            Err(TooSmall { needed }) => (needed, LINEGATE_BUFFER_TOO_SMALL),
        };
        len.write(count);
        status
    }
}

/// Writes the JSON-RPC error line, line feed at its end, that answers the refusal which was the gate's last event. Only who
/// owns the one writer of the wire may send it. It is made of the code's text and the id's own bytes.
///
/// It goes straight to the wire: no gate has to judge it. In a session linegate_write_line takes the reply to a call that was
/// refused as well, once; that to a refused line, whose request was never in flight, it refuses (454).
///
/// out may be NULL where cap is 0. *len is the line's length; 0 where no reply is due (event.reply_due); where out is too small,
/// the length that suffices. LINEGATE_REPLY_LEN bytes always suffice with the default max_id.
///
/// Returns: 0; 902, nothing of use was written; 904, the last event was no refusal; 901.
/// Owner: the line is the caller's. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_reply(
    gate: *const linegate,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> linegate_status {
    boundary!(gate, len; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe { answer(gate, out, cap, len, |refusal, out| refusal.write_reply(out)) }
    })
}

/// Writes the JSON-RPC error line (-32603) for the request that the refused response would have answered, to be sent to the
/// one who waits for it. Only a gate with a tracker knows of such a request.
///
/// *len is 0 where there is none. Everything else is as of linegate_reply.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_settlement(
    gate: *const linegate,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> linegate_status {
    boundary!(gate, len; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe { answer(gate, out, cap, len, |refusal, out| refusal.write_settlement(out)) }
    })
}

/// Bytes that suffice for linegate_reply and linegate_settlement with the default max_id; with a larger one, as many more.
pub const LINEGATE_REPLY_LEN: usize = 1024;

const _: () = assert!(LINEGATE_REPLY_LEN == gate::REPLY_LEN);

/// The refusal that is the gate's last: of the line that linegate_feed refused, or of a call that linegate_call, linegate_refuse or
/// linegate_authorize did. Set event->size.
///
/// Where a reply is due that is the result of a tool (502 from 2025-11-25 on), event->rpc_code is 0 beside it.
///
/// Returns: 0, and event->status has the code; 904, the last event was no refusal; 903, the size was not set; 901.
/// Owner: the event lends from the gate's storage until the gate's next event. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_refusal(gate: *const linegate, event: *mut linegate_event) -> linegate_status {
    boundary!(gate, event; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            let said = (*gate).refusal().map(linegate_event::refused);
            told(said.and_then(|said| grow::write(event, &said)))
        }
    })
}

/// The audit record of the refusal that was the gate's last event. Set record->size.
///
/// Returns: 0; 904, the last event was no refusal; 903, the size was not set; 901.
/// Owner: the record is the caller's. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_audit(gate: *const linegate, record: *mut linegate_record) -> linegate_status {
    boundary!(gate, record; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            let made = (*gate).refusal().map(|refusal| linegate_record::new(&refusal.record()));
            told(made.and_then(|made| grow::write(record, &made)))
        }
    })
}

/// What the gate has counted since its start or reset. Set counters->size.
///
/// Returns: 0; 903, the size was not set; 901. Owner: the counters are the caller's. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_get_counters(
    gate: *const linegate,
    counters: *mut linegate_counters,
) -> linegate_status {
    boundary!(gate, counters; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            let counted = (*gate).gate.counters();
            let made = linegate_counters {
                size: 0,
                accepted: counted.accepted,
                refused: counted.refused_total(),
                refused_frame: counted.refused(Stage::Frame),
                refused_json: counted.refused(Stage::Json),
                refused_rpc: counted.refused(Stage::Rpc),
                refused_mcp: counted.refused(Stage::Mcp),
                refused_session: counted.refused(Stage::Session),
                blank_lines: counted.blank_lines,
                stripped_crs: counted.stripped_crs,
                replies: counted.replies,
                refused_action: counted.refused(Stage::Action),
            };
            told(grow::write(counters, &made))
        }
    })
}
