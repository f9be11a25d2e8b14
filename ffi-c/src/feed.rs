//! The gate: bytes in, one event a line out.

use core::ffi::{c_char, c_void};
use core::mem;
use core::slice;

use gate::{Event, Fed, Gate, Options, Refusal, Switches};

use crate::boundary::is_too_long;
use crate::event::linegate_event;
use crate::grow;
use crate::session::linegate_tracker;
use crate::status::{
    LINEGATE_BAD_OPTIONS, LINEGATE_CLOSED, LINEGATE_NEED_MORE, LINEGATE_NULL_ARGUMENT, LINEGATE_OK,
    LINEGATE_STALE_EVENT, LINEGATE_TRAILING_BYTES, linegate_status,
};
use crate::storage::Memory;
use crate::ticket::Tickets;

/// The session of a gate that has a tracker. By pointers, so that a program without a tracker doesn't link what it takes.
#[derive(Clone, Copy)]
pub(crate) struct Tracked {
    /// Feeds the gate with the tracker.
    pub(crate) feed: for<'a> fn(&'a mut Gate<Memory>, &'a [u8], *mut linegate_tracker) -> Fed<'a>,
    /// Ends the wait of a call that was refused.
    pub(crate) settle: fn(&Refusal<'_>, *mut linegate_tracker),
    pub(crate) tracker: *mut linegate_tracker,
}

/// A gate: judges one stream, line by line.
pub struct linegate {
    pub(crate) gate: Gate<Memory>,
    pub(crate) tickets: Tickets,
    pub(crate) tracked: Option<Tracked>,
    /// Whether the line of the last event was judged in that session.
    pub(crate) in_session: bool,
    /// Loosened switches by which a line may have passed and still ask for an action.
    pub(crate) granted: Switches,
    /// The refusal that came last, if it is the last event. It lends from the storage, which nothing writes to until it is forgotten.
    pub(crate) refusal: Option<Refusal<'static>>,
    /// Whether the input stands inside a line.
    pub(crate) inside: bool,
    /// Bytes of the block that linegate_new took; 0 for a gate in storage of the caller's.
    #[cfg(feature = "hosted")]
    pub(crate) block: usize,
}

impl linegate {
    /// Writes a gate to its place.
    ///
    /// # Safety
    /// The place is aligned and long enough, and nobody else's.
    pub(crate) unsafe fn write(
        place: *mut Self,
        options: Options,
        granted: Switches,
        key: [u8; 16],
        memory: Memory,
    ) -> Result<(), linegate_status> {
        let gate = Gate::new(options, memory).map_err(|_| LINEGATE_BAD_OPTIONS)?;
        let made = Self {
            gate,
            tickets: Tickets::new(place.addr(), key),
            tracked: None,
            in_session: false,
            granted,
            refusal: None,
            inside: false,
            #[cfg(feature = "hosted")]
            block: 0,
        };
        // SAFETY: the caller's promise.
        unsafe { place.write(made) };
        Ok(())
    }

    /// What the last event lent is over.
    pub(crate) fn forget(&mut self) {
        self.refusal = None;
        self.tickets.void();
    }

    /// Judges input up to the end of one line; gives what was consumed of it.
    ///
    /// The core lends what it can from the input. Slices of an event must lie in the storage, so the first byte of a line goes
    /// in by itself: the line is then gathered in the frame buffer, whose copy costs little beside its judgement. For the same
    /// reason no feed of the core reaches beyond a line feed, behind which another line might begin.
    pub(crate) fn feed(&mut self, input: &[u8], tracked: bool) -> (usize, linegate_event) {
        self.forget();
        self.in_session = tracked && self.tracked.is_some();
        let mut consumed = 0;
        loop {
            let Some(rest) = input.get(consumed..).filter(|rest| !rest.is_empty()) else {
                return (consumed, linegate_event::need_more());
            };
            let end = if self.inside { line_feed(rest).map_or(rest.len(), |at| at + 1) } else { 1 };
            let piece = rest.get(..end).unwrap_or(rest);
            let Fed { consumed: count, event } = match self.tracked.filter(|_| tracked) {
                Some(Tracked { feed, tracker, .. }) => feed(&mut self.gate, piece, tracker),
                None => self.gate.feed(piece),
            };
            let used = piece.get(..count).unwrap_or(piece);
            consumed += used.len();
            let said = match event {
                Event::NeedMore => None,
                Event::Message(message) => {
                    Some(linegate_event { ticket: self.tickets.next(), ..linegate_event::accepted(&message) })
                }
                Event::Refused(refusal) => {
                    let said = linegate_event::refused(&refusal);
                    // SAFETY: it lends from the storage, which stays as it is until `forget`.
                    self.refusal = Some(unsafe { kept(refusal) });
                    Some(said)
                }
                _ => {
                    consumed = input.len();
                    Some(linegate_event::none(LINEGATE_CLOSED))
                }
            };
            if let Some(last) = used.last() {
                self.inside = *last != b'\n';
            }
            if let Some(said) = said {
                return (consumed, said);
            }
        }
    }

    /// Judges one line by itself, given without its line feed, and leaves the gate behind that line whatever came of it. The
    /// event is one of NEED_MORE where the line is empty and a switch skips empty lines.
    pub(crate) fn judge(&mut self, line: &[u8], tracked: bool) -> linegate_event {
        self.forget();
        if let Some(offset) = line_feed(line) {
            return linegate_event { offset, length: line.len(), ..linegate_event::none(LINEGATE_TRAILING_BYTES) };
        }
        for piece in [line, b"\n"] {
            let (consumed, event) = self.feed(piece, tracked);
            if event.status != LINEGATE_NEED_MORE {
                if self.gate.discarding() {
                    // Refused before its end: what is left is read over, and nothing that the refusal lends is touched.
                    let _ = self.gate.feed(piece.get(consumed..).unwrap_or_default());
                    let _ = self.gate.feed(b"\n");
                    self.inside = false;
                }
                return event;
            }
        }
        linegate_event::need_more()
    }

    pub(crate) fn refusal(&self) -> Result<&Refusal<'_>, linegate_status> {
        self.refusal.as_ref().ok_or(LINEGATE_STALE_EVENT)
    }
}

/// Where the first line feed stands.
fn line_feed(bytes: &[u8]) -> Option<usize> {
    if cfg!(feature = "small") { bytes.iter().position(|byte| *byte == b'\n') } else { memchr::memchr(b'\n', bytes) }
}

/// A refusal that a gate keeps.
///
/// # Safety
/// What it lends stays as it is until it is dropped.
pub(crate) const unsafe fn kept(refusal: Refusal<'_>) -> Refusal<'static> {
    // SAFETY: the caller's promise.
    unsafe { mem::transmute::<Refusal<'_>, Refusal<'static>>(refusal) }
}

/// Tells an event and its status.
///
/// # Safety
/// `event` has a size that can be one, and can be written for as many bytes.
unsafe fn tell(event: *mut linegate_event, said: &linegate_event) -> linegate_status {
    // SAFETY: the caller's promise.
    unsafe { grow::write(event, said) }.err().unwrap_or(said.status)
}

/// Bytes of the caller's; `None` where they are NULL and not empty.
///
/// # Safety
/// They can be read for `len` bytes while `'a` lasts.
pub(crate) unsafe fn input<'a>(data: *const c_void, len: usize) -> Option<&'a [u8]> {
    if len == 0 {
        return Some(&[]);
    }
    if data.is_null() || is_too_long(len) {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { slice::from_raw_parts(data.cast(), len) })
}

/// Room of the caller's; `None` where it is NULL and not empty.
///
/// # Safety
/// It can be written for `cap` bytes while `'a` lasts, and nobody else reads or writes there.
pub(crate) unsafe fn output<'a>(out: *mut c_char, cap: usize) -> Option<&'a mut [u8]> {
    if cap == 0 {
        return Some(&mut []);
    }
    if out.is_null() || is_too_long(cap) {
        return None;
    }
    // SAFETY: the caller's promise; what was never written is bytes of any value to whoever gave it.
    Some(unsafe { slice::from_raw_parts_mut(out.cast(), cap) })
}

/// Judges input up to the end of one line at most; call it again with the rest until all is consumed.
///
/// data may be NULL where len is 0. *consumed is how many bytes are dealt with; beside a refusal that came before its line's
/// end it may be 0, and the next call goes on. So it may be less than event->offset, which counts from the line's start, and
/// bytes of the line may have come in calls before. Every call but one that gives 901 or 903 ends what the event before it
/// lent, its ticket included.
///
/// Returns: 0, a line was accepted; 1, no line has ended; 101 to 459, a line was refused, and has had no effect; 905, the
/// session is over and the input was consumed unread; 901 where gate, consumed, event, or data of some length is NULL or
/// misaligned; 903 where event->size was not set (nothing is consumed then, and the event before lives on).
/// Owner: the input stays the caller's and isn't kept; the event lends from the gate's storage until the gate's next event.
/// Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_feed(
    gate: *mut linegate,
    data: *const c_void,
    len: usize,
    consumed: *mut usize,
    event: *mut linegate_event,
) -> linegate_status {
    boundary!(gate, consumed, event; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            consumed.write(0);
            if let Err(status) = grow::has_size(event) {
                return status;
            }
            let Some(input) = input(data, len) else { return LINEGATE_NULL_ARGUMENT };
            let (count, said) = (*gate).feed(input, true);
            consumed.write(count);
            tell(event, &said)
        }
    })
}

/// The end of input. A line without its line feed is refused (104), never accepted; the session is over either way.
///
/// Returns: 0, the input ended between two lines; 104, inside one (the event says where); 905, the session was over before;
/// 901, 903 as of linegate_feed. Owner: as of linegate_feed. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_finish(gate: *mut linegate, event: *mut linegate_event) -> linegate_status {
    boundary!(gate, event; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            if let Err(status) = grow::has_size(event) {
                return status;
            }
            let gate = &mut *gate;
            gate.forget();
            gate.inside = false;
            let over = if gate.gate.is_closed() { LINEGATE_CLOSED } else { LINEGATE_OK };
            let said = match gate.gate.finish() {
                Event::Refused(refusal) => {
                    let said = linegate_event::refused(&refusal);
                    // As in `feed`: the storage stays as it is until the refusal is forgotten.
                    gate.refusal = Some(kept(refusal));
                    said
                }
                _ => linegate_event::none(over),
            };
            tell(event, &said)
        }
    })
}

/// Begins a new session with the same options: counters, sequence and what is held of a line are gone. A tracker is reset by
/// linegate_tracker_reset. Tickets of the session before stay stale.
///
/// Returns: 0; 901. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_reset(gate: *mut linegate) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise.
        let gate = unsafe { &mut *gate };
        gate.forget();
        gate.inside = false;
        gate.gate.reset();
        LINEGATE_OK
    })
}

/// Judges one line by itself: begins a new session, as linegate_reset does, and feeds the line with a line feed behind it.
/// line is given without its line feed; line may be NULL where len is 0. A tracker isn't asked. For a stream's own gate this
/// is the wrong call: take a gate for it alone.
///
/// Returns: 0, accepted; 1, the line is empty and LINEGATE_SWITCH_BLANK_LINES skips it; 101 to 410, refused; 207 too where a
/// line feed stands inside, at event->offset; 901 and 903 as of linegate_feed.
/// Owner: as of linegate_feed. Thread: one at a time for each gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_check_line(
    gate: *mut linegate,
    line: *const c_void,
    len: usize,
    event: *mut linegate_event,
) -> linegate_status {
    boundary!(gate, event; {
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            if let Err(status) = grow::has_size(event) {
                return status;
            }
            let Some(line) = input(line, len) else { return LINEGATE_NULL_ARGUMENT };
            let gate = &mut *gate;
            gate.gate.reset();
            gate.inside = false;
            let said = gate.judge(line, false);
            tell(event, &said)
        }
    })
}
