//! What only a library with an operating system under it has: gates on the heap, and the guard of standard output.

use std::alloc::{Layout as Block, alloc, dealloc};
use std::mem::align_of;
use std::ptr;

use linegate_host::HeapStorage;

use crate::boundary::is_missing;
use crate::feed::linegate;
use crate::options::linegate_options;
use crate::status::{
    LINEGATE_BAD_OPTIONS, LINEGATE_INTERNAL, LINEGATE_NULL_ARGUMENT, LINEGATE_OK, LINEGATE_STALE_EVENT, linegate_status,
};
use crate::storage::{Memory, Plan};

/// Hosted library only. Makes a gate on the heap, whose memory grows with the longest line and the widest object seen, up to
/// the limits, and never shrinks.
///
/// Returns: 0, and the gate in *gate; 901, 903 as of linegate_init; 999, there is no memory or no randomness. *gate is NULL then.
/// Owner: the caller, who gives it back with linegate_free. Thread: any; the gate then belongs to one thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_new(options: *const linegate_options, gate: *mut *mut linegate) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise.
        unsafe { gate.write(ptr::null_mut()) };
        if is_missing(options) {
            return LINEGATE_NULL_ARGUMENT;
        }
        // SAFETY: the caller's promise.
        match unsafe { Plan::read::<linegate_status>(options).and_then(|plan| made(plan)) } {
            Ok(made) => {
                // SAFETY: the caller's promise.
                unsafe { gate.write(made) };
                LINEGATE_OK
            }
            Err(status) => status,
        }
    })
}

/// # Safety
/// The names of the plan are still there.
unsafe fn made(plan: Plan) -> Result<*mut linegate, linegate_status> {
    let layout = plan.without_lines().ok_or(LINEGATE_BAD_OPTIONS)?;
    let block = block(layout.total).ok_or(LINEGATE_BAD_OPTIONS)?;
    let memory = Memory::Grown(HeapStorage::with_limits(plan.limits()));
    // SAFETY: the block isn't empty: a gate lies in it.
    let place = unsafe { alloc(block) };
    if place.is_null() {
        return Err(LINEGATE_INTERNAL);
    }
    // SAFETY: aligned, as long as the layout says, and new.
    match unsafe { plan.build(place, &layout, memory) } {
        Ok(gate) => {
            // SAFETY: it was just made.
            unsafe { (*gate).block = layout.total };
            Ok(gate)
        }
        Err(status) => {
            // SAFETY: taken above, and nobody knows of it.
            unsafe { dealloc(place, block) };
            Err(status)
        }
    }
}

fn block(len: usize) -> Option<Block> {
    Block::from_size_align(len, align_of::<linegate>()).ok()
}

/// Hosted library only. Gives back a gate that linegate_new made; NULL is nothing to give back.
///
/// Returns: 0; 901, misaligned; 904, the gate lies in storage of the caller's, and stays. Owner: the gate, and all that its
/// events lent, is gone. Thread: any, while nobody else uses the gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_free(gate: *mut linegate) -> linegate_status {
    if gate.is_null() {
        return LINEGATE_OK;
    }
    boundary!(gate; {
        // SAFETY: the caller's promise.
        let Some(block) = block(unsafe { (*gate).block }).filter(|block| block.size() > 0) else {
            return LINEGATE_STALE_EVENT;
        };
        // SAFETY: made by `made`, with this layout.
        unsafe {
            ptr::drop_in_place(gate);
            dealloc(gate.cast(), block);
        }
        LINEGATE_OK
    })
}

#[cfg(unix)]
mod guard {
    use core::ffi::{c_int, c_void};
    use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
    use std::sync::Mutex;

    use rustix::io::fcntl_dupfd_cloexec;
    use rustix::stdio::{dup2_stdout, stderr, stdout};

    use crate::status::{LINEGATE_INTERNAL, LINEGATE_OK, LINEGATE_STALE_EVENT, linegate_status};

    unsafe extern "C" {
        /// Of the C library: writes out what a stream holds, with NULL what all of them hold.
        safe fn fflush(stream: *mut c_void) -> c_int;
    }

    /// The descriptor of the wire while the guard stands: there is one standard output in a process.
    static WIRE: Mutex<Option<i32>> = Mutex::new(None);

    /// Hosted library only. Moves standard output away: *wire is a new descriptor of it (closed on exec), to which the
    /// program writes its protocol lines; descriptor 1 leads to standard error from now on, for prints, for what C's stdout
    /// holds already, for libraries and for child processes. Call it first of all in main.
    ///
    /// Returns: 0; 901; 904, the guard stands already; 999, the operating system refused (nothing has changed). *wire is -1
    /// then. Owner: the descriptor is the guard's; don't close it. Thread: any.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn linegate_guard_stdout(wire: *mut i32) -> linegate_status {
        boundary!(wire; {
            // SAFETY: the caller's promise.
            unsafe { wire.write(-1) };
            let mut state = WIRE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if state.is_some() {
                return LINEGATE_STALE_EVENT;
            }
            let Ok(moved) = fcntl_dupfd_cloexec(stdout(), 3) else { return LINEGATE_INTERNAL };
            if dup2_stdout(stderr()).is_err() {
                return LINEGATE_INTERNAL;
            }
            let moved = moved.into_raw_fd();
            *state = Some(moved);
            // SAFETY: the caller's promise.
            unsafe { wire.write(moved) };
            LINEGATE_OK
        })
    }

    /// Hosted library only. Ends the guard: what C's streams still hold goes to standard error, then descriptor 1 is standard
    /// output again and the wire's descriptor is closed. A program that exits under the guard needs no call: what is
    /// left in C's stdout goes to standard error too.
    ///
    /// Returns: 0; 904, no guard stands, or wire is not its descriptor; 999, the operating system refused (the guard stands).
    /// Thread: any, while nobody else writes.
    #[unsafe(no_mangle)]
    pub extern "C" fn linegate_release_stdout(wire: i32) -> linegate_status {
        boundary!(or LINEGATE_INTERNAL; {
            let mut state = WIRE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if *state != Some(wire) {
                return LINEGATE_STALE_EVENT;
            }
            fflush(core::ptr::null_mut());
            // SAFETY: the guard's own descriptor, open since it was made.
            if dup2_stdout(unsafe { BorrowedFd::borrow_raw(wire) }).is_err() {
                return LINEGATE_INTERNAL;
            }
            // SAFETY: as above, and nobody else's.
            drop(unsafe { OwnedFd::from_raw_fd(wire) });
            *state = None;
            LINEGATE_OK
        })
    }
}

#[cfg(unix)]
pub use guard::*;
