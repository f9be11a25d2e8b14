//! Session tracking in storage of its own: a tracker for the two gates of one session.

use core::ffi::c_void;
use core::mem::{align_of, size_of};
use core::ptr;
use core::slice;

use gate::{Direction, Fed, Gate, Refusal, Slot, Tracker};

use crate::boundary::is_missing;
use crate::feed::{Tracked, linegate};
use crate::status::{
    LINEGATE_BAD_OPTIONS, LINEGATE_BUFFER_TOO_SMALL, LINEGATE_NULL_ARGUMENT, LINEGATE_OK, LINEGATE_STALE_EVENT,
    linegate_status,
};
use crate::storage::Memory;

/// Remembers one session for the two gates of its directions: ids in flight, cancellations, progress, the revision.
pub struct linegate_tracker {
    tracker: Tracker<&'static mut [Slot]>,
}

/// A feed with the tracker of the gate.
fn feed_tracked<'a>(gate: &'a mut Gate<Memory>, input: &'a [u8], tracker: *mut linegate_tracker) -> Fed<'a> {
    // SAFETY: the caller of linegate_tracker_init keeps the tracker as long as its gates are fed, one call at a time.
    gate.feed_with(input, unsafe { &mut (*tracker).tracker })
}

/// Ends the wait of the gate's call that was refused.
fn settle_tracked(refusal: &Refusal<'_>, tracker: *mut linegate_tracker) {
    // SAFETY: as of `feed_tracked`.
    unsafe { (*tracker).tracker.settle(refusal) };
}

/// Where the slots begin, how many they are, and where they end.
fn layout(in_flight: usize) -> Option<(usize, usize, usize)> {
    let (head, align) = (size_of::<linegate_tracker>(), align_of::<linegate_tracker>().max(align_of::<Slot>()));
    let first = head.checked_add(align - 1)? & !(align - 1);
    let slots = in_flight.checked_mul(4).filter(|slots| *slots > 0)?;
    Some((first, slots, first.checked_add(slots.checked_mul(size_of::<Slot>())?)?))
}

/// How many bytes of storage a tracker needs that remembers so many requests in flight of each side, and as many that
/// ended: about 160 each on a 64-bit machine. Aligned as linegate_storage_align says.
///
/// Returns: bytes; 0 where in_flight is 0 or too large. Thread: any.
#[unsafe(no_mangle)]
pub extern "C" fn linegate_tracker_size(in_flight: usize) -> usize {
    boundary!(or 0; { layout(in_flight).map_or(0, |(_, _, total)| total) })
}

/// Makes a tracker in storage of the caller's, and hands it to the two gates: client judges the client's lines, server the
/// server's, both of the same revision of MCP or both of LINEGATE_REVISION_AUTO. From then on linegate_feed and the writer judge
/// each line in its session as well (451 to 459). Where one gate has closed, the host stops both.
///
/// A gate is in one session as long as it is there: linegate_tracker_reset begins a new one with the same gates, and
/// linegate_init makes a gate that is in none.
///
/// Returns: 0, and the tracker in *tracker; 901 where an argument is NULL or misaligned; 902 where the storage is shorter than
/// linegate_tracker_size says; 903 where in_flight is 0 or too large, or the two gates don't make a session; 904 where one of
/// the two is in a session. *tracker is NULL then, and gates, session and storage stay as they are.
/// Owner: the caller owns the storage, and keeps it until the last call with either gate; that another session's tracker lives
/// in it can't be told. Thread: the tracker and its two gates belong to one thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_tracker_init(
    storage: *mut c_void,
    len: usize,
    in_flight: usize,
    client: *mut linegate,
    server: *mut linegate,
    tracker: *mut *mut linegate_tracker,
) -> linegate_status {
    boundary!(tracker, client, server; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            tracker.write(ptr::null_mut());
            if is_missing(storage.cast::<linegate_tracker>()) || is_missing(storage.cast::<Slot>()) {
                return LINEGATE_NULL_ARGUMENT;
            }
            let Some((first, slots, total)) = layout(in_flight) else { return LINEGATE_BAD_OPTIONS };
            if len < total {
                return LINEGATE_BUFFER_TOO_SMALL;
            }
            if (*client).tracked.is_some() || (*server).tracked.is_some() {
                return LINEGATE_STALE_EVENT;
            }
            // Judged before a byte is written: another tracker may live there.
            let (client_options, server_options) = ((*client).gate.options(), (*server).gate.options());
            if Tracker::new(client_options, server_options, [Slot::EMPTY; 4]).is_err() {
                return LINEGATE_BAD_OPTIONS;
            }
            let memory = storage.cast::<u8>().add(first).cast::<Slot>();
            for at in 0..slots {
                memory.add(at).write(Slot::EMPTY);
            }
            let slots = slice::from_raw_parts_mut(memory, slots);
            let Ok(made) = Tracker::new(client_options, server_options, slots) else {
                return LINEGATE_BAD_OPTIONS;
            };
            let place = storage.cast::<linegate_tracker>();
            place.write(linegate_tracker { tracker: made });
            let tracked = Tracked { feed: feed_tracked, settle: settle_tracked, tracker: place };
            (*client).tracked = Some(tracked);
            (*server).tracked = Some(tracked);
            tracker.write(place);
            LINEGATE_OK
        }
    })
}

/// Forgets the session: to be called with linegate_reset of both gates.
///
/// Returns: 0; 901. Thread: that of its gates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_tracker_reset(tracker: *mut linegate_tracker) -> linegate_status {
    boundary!(tracker; {
        // SAFETY: the caller's promise.
        unsafe { (*tracker).tracker.reset() };
        LINEGATE_OK
    })
}

/// How many requests of each side wait for their answers, and how many answers came to requests that had been cancelled (455,
/// which is no refusal).
///
/// Returns: 0; 901 where an argument is NULL or misaligned. Thread: that of its gates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_tracker_count(
    tracker: *const linegate_tracker,
    client_in_flight: *mut usize,
    server_in_flight: *mut usize,
    late_responses: *mut u64,
) -> linegate_status {
    boundary!(tracker, client_in_flight, server_in_flight, late_responses; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            let tracker = &(*tracker).tracker;
            client_in_flight.write(tracker.in_flight(Direction::FromClient));
            server_in_flight.write(tracker.in_flight(Direction::FromServer));
            late_responses.write(tracker.late_responses());
        }
        LINEGATE_OK
    })
}
