//! The whole of the core's surface that a device uses, as functions that a linker can start from: see ../run.
//!
//! The panic handler calls a symbol that nobody defines. If any path from these functions can panic, linking fails.

#![no_std]

use core::mem::size_of;
use core::panic::PanicInfo;
use core::ptr::NonNull;
use core::slice;

use linegate::{AuditKey, Borrowed, Direction, Event, Fed, Gate, Options, Policy, Profile, Revision, Slot, Tracker};

mod act;
mod look;

unsafe extern "C" {
    fn linegate_PANIC_PATH_REMAINS() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never linked; that is the point.
    unsafe { linegate_PANIC_PATH_REMAINS() }
}

type DeviceGate = Gate<Borrowed<'static>>;
type DeviceTracker = Tracker<[Slot; 4 * 8]>;

/// The revision of every gate here, where a build names one: for the sizes that ../run shows.
const ONLY: Option<Revision> = if cfg!(feature = "only-2024-11-05") {
    Some(Revision::V2024_11_05)
} else if cfg!(feature = "only-2025-03-26") {
    Some(Revision::V2025_03_26)
} else if cfg!(feature = "only-2025-06-18") {
    Some(Revision::V2025_06_18)
} else if cfg!(feature = "only-2025-11-25") {
    Some(Revision::V2025_11_25)
} else if cfg!(feature = "only-2026-07-28") {
    Some(Revision::V2026_07_28)
} else if cfg!(feature = "only-jsonrpc") {
    Some(Revision::JSON_RPC)
} else {
    None
};

/// What a caller sets, as bytes: any value is taken, so that the compiler can assume nothing.
#[repr(C)]
pub struct Setup {
    max_frame: u32,
    max_keys: u32,
    max_replies: u32,
    max_depth: u16,
    max_id: u16,
    from_server: u8,
    profile: u8,
    revision: u8,
    policy: u8,
    key: [u8; 16],
}

/// Bytes that a gate needs, without its storage.
#[unsafe(no_mangle)]
pub extern "C" fn proof_size() -> usize {
    size_of::<DeviceGate>()
}

/// Makes a gate at `place`. 0, or -1 where an option can't have its value.
///
/// # Safety
/// `place` is aligned for 16 bytes and `proof_size` bytes long; `frame` and `keys` are for the gate alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn proof_init(
    place: NonNull<DeviceGate>,
    setup: &Setup,
    frame: NonNull<u8>,
    frame_len: usize,
    keys: NonNull<u64>,
    keys_len: usize,
) -> i32 {
    let direction = if setup.from_server == 0 { Direction::FromClient } else { Direction::FromServer };
    let mut options = Options::new(direction, AuditKey::new(setup.key));
    if let Some(profile) = Profile::ALL.get(usize::from(setup.profile)) {
        options = options.with_profile(*profile);
    }
    options.revision = match ONLY {
        Some(only) => only,
        None => Revision::ALL.get(usize::from(setup.revision)).copied().unwrap_or_default(),
    };
    options.policy = match setup.policy {
        0 => Policy::CloseMalformed,
        1 => Policy::CloseAll,
        _ => Policy::Continue,
    };
    options.limits.max_frame = setup.max_frame;
    options.limits.max_depth = setup.max_depth;
    options.limits.max_keys = setup.max_keys;
    options.limits.max_id = setup.max_id;
    options.limits.max_replies = setup.max_replies;
    // SAFETY: the caller's promise.
    let storage = unsafe {
        Borrowed::new(
            slice::from_raw_parts_mut(frame.as_ptr(), frame_len),
            slice::from_raw_parts_mut(keys.as_ptr(), keys_len),
        )
    };
    match Gate::new(options, storage) {
        // SAFETY: the caller's promise.
        Ok(gate) => unsafe { place.write(gate) },
        Err(_) => return -1,
    }
    0
}

/// Feeds bytes and looks at what comes of them, from every side; `out` takes the reply.
///
/// # Safety
/// `proof_init` made the gate; the pointers are good for their lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn proof_feed(
    gate: &mut DeviceGate,
    input: NonNull<u8>,
    len: usize,
    consumed: &mut usize,
    out: NonNull<u8>,
    out_len: usize,
) -> i64 {
    // SAFETY: the caller's promise.
    let (input, out) =
        unsafe { (slice::from_raw_parts(input.as_ptr(), len), slice::from_raw_parts_mut(out.as_ptr(), out_len)) };
    #[cfg(feature = "planted-panic")]
    assert!(out.len() > 7, "planted");
    let Fed { consumed: count, event } = gate.feed(input);
    *consumed = count;
    look::at_event(&event, out)
}

/// Bytes of the actions of a device.
#[unsafe(no_mangle)]
pub extern "C" fn proof_act_size() -> usize {
    size_of::<act::Device>()
}

/// Makes the actions at `place`. 0, or -1 where the table is wrong.
///
/// # Safety
/// `place` is aligned for 16 bytes and `proof_act_size` bytes long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn proof_act_init(place: NonNull<act::Device>, limit: u8) -> i32 {
    let Some(device) = act::device(limit) else { return -1 };
    // SAFETY: the caller's promise.
    unsafe { place.write(device) };
    0
}

/// Feeds bytes, and does what an accepted message asks for; `room` takes strings, `out` the answer.
///
/// # Safety
/// As for `proof_feed`; `proof_act_init` made the actions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn proof_act(
    gate: &mut DeviceGate,
    device: &mut act::Device,
    input: NonNull<u8>,
    len: usize,
    room: NonNull<u8>,
    out: NonNull<u8>,
    out_len: usize,
) -> u64 {
    // SAFETY: the caller's promise.
    let (input, room, out) = unsafe {
        (
            slice::from_raw_parts(input.as_ptr(), len),
            slice::from_raw_parts_mut(room.as_ptr(), len),
            slice::from_raw_parts_mut(out.as_ptr(), out_len),
        )
    };
    match gate.feed(input).event {
        Event::Message(message) => act::act(device, message, room, out),
        event => look::at_event(&event, out).cast_unsigned(),
    }
}

/// Bytes of a tracker of eight requests each way.
#[unsafe(no_mangle)]
pub extern "C" fn proof_tracker_size() -> usize {
    size_of::<DeviceTracker>()
}

/// Makes a tracker at `place` for two gates. 0, or -1 where they don't make a session.
///
/// # Safety
/// `place` is aligned for 16 bytes and `proof_tracker_size` bytes long; `proof_init` made the gates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn proof_tracker_init(
    place: NonNull<DeviceTracker>,
    client: &DeviceGate,
    server: &DeviceGate,
) -> i32 {
    match Tracker::new(client.options(), server.options(), [Slot::EMPTY; 4 * 8]) {
        // SAFETY: the caller's promise.
        Ok(tracker) => unsafe { place.write(tracker) },
        Err(_) => return -1,
    }
    0
}

/// Feeds bytes as `proof_feed` does, in a session.
///
/// # Safety
/// As for `proof_feed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn proof_feed_with(
    gate: &mut DeviceGate,
    tracker: &mut DeviceTracker,
    input: NonNull<u8>,
    len: usize,
    consumed: &mut usize,
    out: NonNull<u8>,
    out_len: usize,
) -> i64 {
    // SAFETY: the caller's promise.
    let (input, out) =
        unsafe { (slice::from_raw_parts(input.as_ptr(), len), slice::from_raw_parts_mut(out.as_ptr(), out_len)) };
    let Fed { consumed: count, event } = gate.feed_with(input, tracker);
    *consumed = count;
    look::at_event(&event, out)
}

/// Begins a new session of both gates; gives what the tracker counted.
#[unsafe(no_mangle)]
pub extern "C" fn proof_tracker_reset(tracker: &mut DeviceTracker) -> u64 {
    let waiting = tracker.in_flight(Direction::FromClient) + tracker.in_flight(Direction::FromServer);
    let counted = tracker.late_responses().wrapping_add(waiting as u64);
    tracker.reset();
    counted
}

/// Ends the input.
///
/// # Safety
/// As for `proof_feed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn proof_finish(gate: &mut DeviceGate, out: NonNull<u8>, out_len: usize) -> i64 {
    // SAFETY: the caller's promise.
    let out = unsafe { slice::from_raw_parts_mut(out.as_ptr(), out_len) };
    look::at_event(&gate.finish(), out)
}

/// Begins a new session; gives what the last one counted.
#[unsafe(no_mangle)]
pub extern "C" fn proof_reset(gate: &mut DeviceGate) -> u64 {
    let counted = look::at_counters(gate.counters());
    let state = u64::from(gate.is_closed()) + u64::from(gate.discarding());
    gate.reset();
    counted.wrapping_add(state).wrapping_add(u64::from(gate.options().limits.max_frame))
}
