//! The functions of the C face in random order with random arguments: pointers that are good, or NULL. Nothing may crash,
//! read or write beyond what it was given, or panic (999); what is authorized was allowed, and is so once; what an event lends lies
//! in the gate's storage. Each export is told on standard error when it first succeeds and when it first doesn't: `reached NAME ok`,
//! `reached NAME error`.
//!
//! The first byte of an input says how many of the next are choices, one or two bytes each; the lines come behind them. So a
//! change of one byte changes one call and not all of them, and the fuzzer finds its way.

#![no_main]

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use libfuzzer_sys::fuzz_target;
use linegate_capi::*;
use linegate_fuzz::Script;

/// Says on standard error when an export first succeeds and when it first doesn't.
macro_rules! reached {
    ($name:expr, $ok:expr) => {{
        static SAID: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
        let ok = $ok;
        if !SAID[usize::from(ok)].swap(true, Relaxed) {
            eprintln!("reached {} {}", $name, if ok { "ok" } else { "error" });
        }
    }};
}

/// Statuses that were seen to have a name.
static NAMED: [AtomicBool; 1000] = [const { AtomicBool::new(false) }; 1000];

/// Whether a call succeeded. Its status has a name, and is no fault of the library itself.
fn is_ok(status: linegate_status) -> bool {
    assert_ne!(status, LINEGATE_INTERNAL);
    if !NAMED[status as usize].swap(true, Relaxed) {
        // SAFETY: a static string.
        assert_ne!(unsafe { CStr::from_ptr(linegate_status_name(status)) }, c"unknown", "{status}");
    }
    matches!(status, LINEGATE_OK | LINEGATE_NEED_MORE)
}

/// Notes how a function of that name came out; gives whether it succeeded.
macro_rules! note {
    ($name:ident, $status:expr $(,)?) => {{
        let ok = is_ok($status);
        reached!(stringify!($name), ok);
        ok
    }};
}

const ABSENT: linegate_slice = linegate_slice { data: ptr::null(), len: 0 };
const NAMES: [&CStr; 7] = [c"params", c"arguments", c"name", c"a", c"_meta", c"text", c"\xff"];
/// Values that no gate checked.
const VALUES: [&CStr; 4] = [c"true", c"{\"a\":[false,-3,{}],\"name\":\"\\u00e9\"}", c"[[,\"", c"\"\\ud800"];
/// The first two gates lie in storage of ours, the third is the heap's.
const HEAP: usize = 2;

/// What is known of the last event's ticket.
#[derive(Clone, Copy, PartialEq)]
enum Ticket {
    Undecided,
    /// linegate_call failed by a fault of the caller's.
    InVain,
    Called,
    Allowed,
    Over,
}

impl Ticket {
    /// Whether linegate_call may still be asked.
    fn is_new(self) -> bool {
        matches!(self, Self::Undecided | Self::InVain)
    }

    /// Whether nothing was decided.
    fn is_open(self) -> bool {
        self.is_new() || self == Self::Called
    }
}

/// One gate, what it lies in, and its last event.
struct Place {
    gate: *mut linegate,
    storage: Box<[u128]>,
    event: linegate_event,
    /// Whether what the event lent is still there.
    live: bool,
    ticket: Ticket,
}

struct World<'d> {
    script: Script<'d>,
    data: &'d [u8],
    places: [Place; 3],
    old_ticket: u64,
    /// Gates made, each of which has a key of its own: tickets of gates of one key in one place are the same.
    made: u64,
    memory: Box<[u128]>,
    tracker: *mut linegate_tracker,
    wire: i32,
}

/// A struct of the header, all zero.
fn zeroed<T: Copy>() -> T {
    // SAFETY: integers and pointers, of which zero is one.
    unsafe { std::mem::zeroed() }
}

fn event() -> linegate_event {
    linegate_event { size: size_of::<linegate_event>(), ..zeroed() }
}

/// Memory of exactly as many bytes, rounded up to 16, so that the sanitizer sees what goes beyond.
fn memory(len: usize) -> Box<[u128]> {
    vec![0; len.div_ceil(16)].into_boxed_slice()
}

impl World<'_> {
    fn pick(&mut self, bound: usize) -> usize {
        self.script.below(bound)
    }

    /// A pointer, or once in a while NULL.
    fn or_null<T>(&mut self, pointer: *mut T) -> *mut T {
        if self.pick(32) == 31 { ptr::null_mut() } else { pointer }
    }

    /// Some of the input that is left; a copy of exactly that length, so that reading beyond it is seen.
    fn piece(&mut self) -> Box<[u8]> {
        let line = self.data.iter().position(|byte| *byte == b'\n').map_or(self.data.len(), |end| end + 1);
        let len = match self.pick(4) {
            0 | 1 => line,
            2 => self.pick(8),
            _ => self.data.len(),
        };
        let (piece, rest) = self.data.split_at(len.min(self.data.len()));
        self.data = rest;
        piece.into()
    }

    fn options(&mut self, names: &[*const c_char; 2]) -> linegate_options {
        let mut options: linegate_options = zeroed();
        let mut pick = |bound: usize| self.script.below(bound) as u32;
        options.size = size_of::<linegate_options>();
        let odd = pick(8);
        (options.direction, options.revision) = (pick(2), pick(7));
        (options.profile, options.policy) = (pick(4), 2 - pick(3));
        (options.max_frame, options.max_keys) = (512 << pick(3), 64);
        self.made += 1;
        options.audit_key[..8].copy_from_slice(&self.made.to_le_bytes());
        if odd == 1 {
            (options.batches, options.error_id, options.max_depth) = (pick(3), pick(3), pick(40));
            (options.allow, options.refuse, options.grant) = (1 << pick(14), 1 << pick(15), 1 << pick(15));
            (options.max_id, options.max_replies) = (pick(300), pick(4));
        }
        if odd == 2 {
            (options.methods, options.methods_len) = (names.as_ptr(), 1 + pick(2) as usize);
            (options.result_types, options.result_types_len) = (names.as_ptr(), pick(2) as usize);
            (options.versions, options.versions_len) = (names.as_ptr(), pick(2) as usize);
        }
        if odd == 3 {
            (options.size, options.direction) = (options.size - 8 * (pick(4) / 3) as usize, pick(3));
            (options.allow, options.grant) = (0x3FFF, 0x3FFF);
        }
        options
    }

    fn make(&mut self, which: usize) {
        let names = [c"vendor/own".as_ptr(), if self.pick(8) == 1 { c"".as_ptr() } else { c"x".as_ptr() }];
        let mut options = self.options(&names);
        if which < HEAP && self.pick(4) < 3 {
            // A session needs one of each direction.
            (options.direction, options.revision) = (which as u32, 0);
        }
        let options = self.or_null(&raw mut options);
        let mut complaint = linegate_complaint { size: size_of::<linegate_complaint>(), ..zeroed() };
        let told = self.or_null(&raw mut complaint);
        let mut gate = ptr::null_mut();
        // SAFETY: all pointers are good, or NULL.
        unsafe {
            let checked = linegate_options_check(options, told);
            note!(linegate_options_check, checked);
            assert!(told.is_null() || (checked == LINEGATE_OK) == complaint.option.data.is_null());
            let size = linegate_storage_size(options);
            reached!("linegate_storage_size", size > 0);
            assert!(checked != LINEGATE_OK || size > 0);
            if which == HEAP {
                let made = linegate_new(options, &raw mut gate);
                assert_eq!(made, checked);
                if note!(linegate_new, made) {
                    assert_eq!(linegate_free(self.places[HEAP].gate), LINEGATE_OK);
                    self.forget(HEAP);
                    self.places[HEAP].gate = gate;
                }
                return;
            }
            // A tracker knows the gates of its session by their places: it is over with either.
            if !self.tracker.is_null() {
                for other in 0..HEAP {
                    self.forget(other);
                    self.places[other].gate = ptr::null_mut();
                }
                self.tracker = ptr::null_mut();
            }
            self.forget(which);
            let short = if self.pick(8) == 1 { 1 + self.pick(64) } else { 0 };
            let mut storage = memory(size.max(16));
            let place = self.or_null(storage.as_mut_ptr());
            let made = linegate_init(place.cast(), size.saturating_sub(short), options, &raw mut gate);
            self.places[which].gate = ptr::null_mut();
            if note!(linegate_init, made) {
                assert!(checked == LINEGATE_OK && short == 0);
                self.places[which].gate = gate;
            }
            self.places[which].storage = storage;
        }
    }

    /// Two gates that make a session, without a choice.
    fn begin(&mut self) {
        for which in 0..HEAP {
            let mut options: linegate_options = zeroed();
            (options.size, options.direction) = (size_of::<linegate_options>(), which as u32);
            (options.max_frame, options.max_keys, options.policy) = (512, 64, LINEGATE_POLICY_CONTINUE);
            options.audit_key = [7; 16];
            let place = &mut self.places[which];
            // SAFETY: all pointers are good.
            unsafe {
                let size = linegate_storage_size(&raw const options);
                place.storage = memory(size);
                let at = place.storage.as_mut_ptr().cast();
                assert_eq!(linegate_init(at, size, &raw const options, &raw mut place.gate), LINEGATE_OK);
            }
        }
    }

    /// What the last event of a gate lent is over.
    fn forget(&mut self, which: usize) {
        let place = &mut self.places[which];
        if place.event.ticket != 0 {
            self.old_ticket = place.event.ticket;
        }
        (place.live, place.ticket, place.event) = (false, Ticket::Over, event());
    }

    /// The event of a line that was judged.
    fn judged(&mut self, which: usize, said: linegate_event) {
        self.forget(which);
        let place = &mut self.places[which];
        let bounds = place.storage.as_ptr_range();
        let slices = [said.line, said.method, said.id, said.params, said.result, said.error];
        for slice in slices.iter().filter(|slice| which < HEAP && !slice.data.is_null()) {
            assert!(slice.data.cast() >= bounds.start && slice.data.wrapping_add(slice.len).cast() <= bounds.end);
        }
        (place.event, place.live) = (said, true);
        place.ticket = if said.ticket == 0 { Ticket::Over } else { Ticket::Undecided };
    }

    /// A slice that the library lent and that is still there; or bytes that it never saw, which mean nothing to it.
    fn slice(&mut self) -> linegate_slice {
        let from = self.pick(16);
        if let Some(text) = VALUES.get(from) {
            return linegate_slice { data: text.as_ptr(), len: text.count_bytes() };
        }
        if from == VALUES.len() {
            return linegate_slice { data: self.data.as_ptr().cast(), len: self.data.len() };
        }
        let Some(place) = self.places.iter().find(|place| place.live) else { return ABSENT };
        let event = &place.event;
        let slices = [event.line, event.line, event.params, event.id, event.result, event.method, event.error];
        slices[self.script.below(slices.len())]
    }

    fn read(&mut self) {
        let mut value = self.slice();
        let mut small = [0_u8; 40];
        for _ in 0..1 + self.pick(5) {
            let cap = self.pick(41);
            let (mut len, mut integer, mut boolean) = (0_usize, 0_i64, 0_i32);
            let (mut name, mut next) = (ABSENT, ABSENT);
            // SAFETY: the slice is live, and all other pointers are good, or NULL.
            unsafe {
                reached!("linegate_type", linegate_type(value) != LINEGATE_TYPE_NONE);
                match self.pick(5) {
                    0 => {
                        let out = self.or_null(small.as_mut_ptr());
                        note!(linegate_string, linegate_string(value, out.cast(), cap, &raw mut len));
                    }
                    1 => {
                        note!(linegate_integer, linegate_integer(value, &raw mut integer));
                        note!(linegate_boolean, linegate_boolean(value, &raw mut boolean));
                    }
                    2 => {
                        let wanted = NAMES[self.pick(NAMES.len())].as_ptr();
                        note!(linegate_get, linegate_get(value, wanted, &raw mut next));
                        value = next;
                    }
                    _ => {
                        let mut iter = linegate_iter { rest: ABSENT, kind: 0 };
                        note!(linegate_iterate, linegate_iterate(value, &raw mut iter));
                        let key = if self.pick(2) == 0 { &raw mut name } else { ptr::null_mut() };
                        for _ in 0..=self.pick(4) {
                            note!(linegate_next, linegate_next(&raw mut iter, key, &raw mut next));
                        }
                        value = if self.pick(4) == 1 && !name.data.is_null() { name } else { next };
                    }
                }
            }
        }
    }

    fn write(&mut self, which: usize) {
        let gate = self.or_null(self.places[which].gate);
        let mut id = self.slice();
        if self.pick(2) == 0 {
            id = linegate_slice { data: c"7".as_ptr(), len: 1 };
        }
        let mut body = if self.pick(2) == 0 { Box::from(&b"{}"[..]) } else { self.piece() };
        if self.pick(2) == 0 {
            body = body.strip_suffix(b"\n").unwrap_or(&body).into();
        }
        let cap = if self.pick(4) == 1 { self.pick(64) } else { 4096 };
        let mut out = vec![0_u8; cap];
        let mut len = 0;
        let (data, out_at, len_at) = (body.as_ptr().cast(), out.as_mut_ptr().cast(), &raw mut len);
        // SAFETY: the id is live until the call ends what its gate lent; all pointers are good, or NULL.
        let ok = unsafe {
            match self.pick(3) {
                0 => note!(linegate_write_line, linegate_write_line(gate, data, body.len(), out_at, cap, len_at)),
                1 => {
                    note!(linegate_write_result, linegate_write_result(gate, id, data, body.len(), out_at, cap, len_at),)
                }
                _ => {
                    let text = NAMES[self.pick(NAMES.len())].as_ptr();
                    let body_len = body.len() * self.pick(2);
                    let code = self.pick(9) as i32 - 4;
                    note!(
                        linegate_write_error,
                        linegate_write_error(gate, id, code, text, data, body_len, out_at, cap, len_at),
                    )
                }
            }
        };
        assert!(!ok || out.get(..len).is_some_and(|line| line.iter().position(|byte| *byte == b'\n') == Some(len - 1)));
        if !gate.is_null() {
            self.forget(which);
        }
    }

    /// Looks for the call in a table of random rows.
    fn call(&mut self, gate: *mut linegate, ticket: u64) -> linegate_status {
        let row = linegate_member { size: size_of::<linegate_member>(), name: c"a".as_ptr(), ..zeroed() };
        let integer = linegate_member { r#type: LINEGATE_TYPE_INTEGER, ..row };
        let mut rows = [integer, linegate_member { name: c"b".as_ptr(), ..integer }, row, row];
        let element = [linegate_member { name: ptr::null(), optional: 1, ..integer }];
        let list = linegate_member { r#type: LINEGATE_TYPE_ARRAY, members: element.as_ptr(), members_len: 1, ..row };
        let inner = [list, linegate_member { name: c"b".as_ptr(), optional: 1, ..integer }];
        let action = linegate_action { size: size_of::<linegate_action>(), name: c"add".as_ptr(), ..zeroed() };
        let ping = linegate_action { name: c"ping".as_ptr(), target: LINEGATE_TARGET_METHOD, ..action };
        let mut actions = [linegate_action { members: rows.as_ptr(), members_len: 2, ..action }, ping];
        let mut len = 2;
        if self.pick(3) > 0 {
            // An odd one may be out of order in every way; one that isn't is mostly good, so that arguments are read by it.
            let odd = self.pick(4) == 1;
            let (first, start) = (rows.as_ptr(), self.pick(NAMES.len()));
            for (at, row) in rows.iter_mut().enumerate() {
                let place = if odd { self.script.below(NAMES.len()) } else { (start + at) % (NAMES.len() - 1) };
                row.name = NAMES[place].as_ptr();
                let (types, optional) = if odd { (9, 3) } else { (8, 2) };
                (row.r#type, row.optional) = (self.script.below(types) as u32, self.script.below(optional) as u32);
                if odd || row.r#type == LINEGATE_TYPE_INTEGER {
                    (row.min, row.max) = (self.script.below(2) as i64, self.script.below(3) as i64);
                }
                (row.members, row.members_len) = match row.r#type {
                    _ if odd => (first, self.script.below(3)),
                    LINEGATE_TYPE_OBJECT => (inner.as_ptr(), self.script.below(3)),
                    LINEGATE_TYPE_ARRAY => (element.as_ptr(), 1),
                    _ => (ptr::null(), 0),
                };
            }
            let names = [c"add", c"note", c"tools/list", c"ping"];
            for action in &mut actions {
                (action.name, action.target) = (names[self.pick(4)].as_ptr(), self.pick(3) as u32);
                action.members = rows.as_ptr();
                action.members_len = self.pick(5);
            }
            len = self.pick(3);
        }
        let mut values = [ABSENT; 4];
        let mut which = 9;
        let (values_len, table) =
            (if self.pick(4) == 1 { self.pick(4) } else { 4 }, self.or_null(actions.as_mut_ptr()));
        let which_at = self.or_null(&raw mut which);
        // SAFETY: rows, values and names are good, or NULL; the refusal doesn't name a row any more when they are gone.
        let status = unsafe { linegate_call(gate, ticket, table, len, which_at, values.as_mut_ptr(), values_len) };
        assert_eq!(which < len, status == LINEGATE_OK && !gate.is_null());
        if status >= LINEGATE_UNKNOWN_TOOL && status < LINEGATE_NULL_ARGUMENT {
            self.tell(gate);
        }
        status
    }

    /// Everything that tells of a refusal.
    fn tell(&mut self, gate: *mut linegate) {
        let mut small = [0_u8; 300];
        let cap = if self.pick(2) == 0 { 300 } else { self.pick(300) };
        let (mut len, out) = (0, self.or_null(small.as_mut_ptr()));
        let mut record = linegate_record { size: size_of::<linegate_record>(), ..zeroed() };
        let mut said = event();
        record.size -= 8 * (self.pick(4) / 3);
        // SAFETY: all pointers are good for their lengths, or NULL.
        unsafe {
            note!(linegate_reply, linegate_reply(gate, out.cast(), cap, &raw mut len));
            note!(linegate_settlement, linegate_settlement(gate, out.cast(), cap, &raw mut len));
            note!(linegate_audit, linegate_audit(gate, &raw mut record));
            note!(linegate_refusal, linegate_refusal(gate, &raw mut said));
        }
    }

    /// One of the functions that decide, with a model of what they may say.
    fn decide(&mut self, which: usize, gate: *mut linegate) {
        let ticket = match self.pick(8) {
            0 => self.old_ticket,
            1 => 0,
            _ => self.places[which].event.ticket,
        };
        let current = !gate.is_null() && ticket != 0 && ticket == self.places[which].event.ticket;
        let is = if current { self.places[which].ticket } else { Ticket::Over };
        // SAFETY: the gate is good, or NULL; so is the slice.
        let (status, then) = unsafe {
            match self.pick(6) {
                0 | 1 => {
                    let status = self.call(gate, ticket);
                    let refused = (LINEGATE_UNKNOWN_TOOL..LINEGATE_NULL_ARGUMENT).contains(&status)
                        && status != LINEGATE_ALREADY_USED;
                    assert!(!matches!(status, LINEGATE_OK | LINEGATE_ABSENT) && !refused || is.is_new());
                    note!(linegate_call, status);
                    let then = match status {
                        _ if refused => Ticket::Over,
                        LINEGATE_OK => Ticket::Called,
                        LINEGATE_ABSENT => Ticket::Undecided,
                        _ if is.is_new() => Ticket::InVain,
                        _ => is,
                    };
                    (status, then)
                }
                2 => {
                    let code = LINEGATE_UNKNOWN_TOOL + self.pick(4) as i32;
                    let (rpc_code, value) = (-(self.pick(2) as i32), self.slice());
                    let status = linegate_refuse(gate, ticket, code, rpc_code, value);
                    let refused =
                        status == code && code != LINEGATE_ALREADY_USED || status == LINEGATE_SWITCH_NOT_GRANTED;
                    assert!(!refused || is.is_open());
                    reached!("linegate_refuse", refused);
                    (status, if refused { Ticket::Over } else { is })
                }
                3 | 4 => {
                    let status = linegate_authorize(gate, ticket, i32::from(self.pick(4) != 1));
                    assert!(status != LINEGATE_OK || matches!(is, Ticket::Undecided | Ticket::Called));
                    note!(linegate_authorize, status);
                    let then = match status {
                        LINEGATE_OK => Ticket::Allowed,
                        LINEGATE_NOT_AUTHORIZED | LINEGATE_SWITCH_NOT_GRANTED => Ticket::Over,
                        _ => is,
                    };
                    (status, then)
                }
                _ => {
                    let status = linegate_authorized(gate, ticket);
                    note!(linegate_authorized, status);
                    assert_eq!(status == LINEGATE_OK, is == Ticket::Allowed);
                    (status, if status == LINEGATE_OK { Ticket::Over } else { is })
                }
            }
        };
        assert!(current || status >= LINEGATE_NULL_ARGUMENT || status == LINEGATE_BAD_OPTIONS);
        if current {
            self.places[which].ticket = then;
            if then == Ticket::Allowed && self.pick(2) == 0 {
                // SAFETY: the gate is good, for the ticket is its own.
                assert!(note!(linegate_authorized, unsafe { linegate_authorized(gate, ticket) }));
                self.places[which].ticket = Ticket::Over;
            }
        }
    }

    fn track(&mut self) {
        let in_flight = self.pick(5);
        let size = linegate_tracker_size(in_flight);
        reached!("linegate_tracker_size", size > 0);
        let mut storage = memory(size.max(16));
        let place = self.or_null(storage.as_mut_ptr());
        let short = usize::from(self.pick(8) == 1);
        let (client, server) = (self.places[0].gate, self.places[1].gate);
        let mut tracker = ptr::null_mut();
        // SAFETY: all pointers are good, or NULL; both gates have the tracker as long as they are there.
        let status = unsafe {
            let len = size.saturating_sub(short);
            linegate_tracker_init(place.cast(), len, in_flight, client, server, &raw mut tracker)
        };
        if note!(linegate_tracker_init, status) {
            // A gate that is in a session stays in it.
            assert!(self.tracker.is_null());
            (self.memory, self.tracker) = (storage, tracker);
        }
    }

    fn ask(&mut self, gate: *mut linegate) {
        let mut counters = linegate_counters { size: size_of::<linegate_counters>(), ..zeroed() };
        counters.size *= usize::from(self.pick(8) != 1);
        let tracker = self.or_null(self.tracker);
        let (mut client, mut server, mut late) = (0, 0, 0);
        // SAFETY: all pointers are good, or NULL.
        unsafe {
            match self.pick(4) {
                0 => {
                    note!(linegate_get_counters, linegate_get_counters(gate, &raw mut counters));
                }
                1 => {
                    let status = linegate_tracker_count(tracker, &raw mut client, &raw mut server, &raw mut late);
                    note!(linegate_tracker_count, status);
                    if self.pick(4) == 1 {
                        note!(linegate_tracker_reset, linegate_tracker_reset(tracker));
                    }
                }
                2 => {
                    reached!("linegate_version", !linegate_version().is_null());
                    reached!("linegate_storage_align", linegate_storage_align() > 0);
                    let status = self.pick(1100) as i32 - 50;
                    let name = CStr::from_ptr(linegate_status_name(status));
                    reached!("linegate_status_name", name != c"unknown");
                    let text = CStr::from_ptr(linegate_status_message(status));
                    reached!("linegate_status_message", text != c"No status has this number.");
                }
                _ => {
                    let which = self.pick(3);
                    let status = linegate_free(if which == HEAP { ptr::null_mut() } else { self.places[which].gate });
                    note!(linegate_free, status);
                    if self.pick(64) == 1 {
                        self.guard();
                    }
                }
            }
        }
    }

    fn guard(&mut self) {
        let mut wire = -1;
        let wire_at = self.or_null(&raw mut wire);
        // SAFETY: the pointer is good, or NULL.
        if note!(linegate_guard_stdout, unsafe { linegate_guard_stdout(wire_at) }) {
            self.wire = wire;
        }
        if self.pick(2) == 1 {
            // SAFETY: as above.
            if note!(linegate_guard_stdout, unsafe { linegate_guard_stdout(&raw mut wire) }) {
                self.wire = wire;
            }
        }
        if note!(linegate_release_stdout, linegate_release_stdout(self.wire + (self.pick(3) == 1) as i32)) {
            self.wire = -1;
        }
    }

    fn step(&mut self) {
        let op = self.pick(20);
        let which = self.pick(3);
        let gate = self.or_null(self.places[which].gate);
        let mut said = event();
        said.size -= [0, 0, 0, 0, 0, 0, 8, said.size][self.pick(8)];
        // No caller has less of it: such a call is told to be wrong, and ends nothing.
        let whole = said.size == size_of::<linegate_event>();
        let mut used = 0;
        // SAFETY: all pointers are good for their lengths, or NULL.
        unsafe {
            match op {
                0..=5 => {
                    let piece = self.piece();
                    let status = linegate_feed(gate, piece.as_ptr().cast(), piece.len(), &raw mut used, &raw mut said);
                    note!(linegate_feed, status);
                    assert!(used <= piece.len());
                    if !gate.is_null() && whole {
                        self.judged(which, said);
                    }
                }
                6 => {
                    note!(linegate_finish, linegate_finish(gate, &raw mut said));
                    if !gate.is_null() && whole {
                        self.forget(which);
                    }
                }
                7 => {
                    note!(linegate_reset, linegate_reset(gate));
                    if !gate.is_null() {
                        self.forget(which);
                    }
                }
                8 => {
                    let piece = self.piece();
                    let line = piece.strip_suffix(b"\n").unwrap_or(&piece);
                    let status = linegate_check_line(gate, line.as_ptr().cast(), line.len(), &raw mut said);
                    note!(linegate_check_line, status);
                    if !gate.is_null() && whole {
                        self.judged(which, said);
                    }
                }
                9 => self.tell(gate),
                10..=13 => self.decide(which, gate),
                14 => self.read(),
                15 => self.write(which),
                16 => self.make(which),
                17 => self.track(),
                _ => self.ask(gate),
            }
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((script, data)) = Script::of(data) else { return };
    let place =
        || Place { gate: ptr::null_mut(), storage: Box::default(), event: event(), live: false, ticket: Ticket::Over };
    let mut world = World {
        script,
        data,
        places: [place(), place(), place()],
        old_ticket: 1,
        made: 1 << 32,
        memory: Box::default(),
        tracker: ptr::null_mut(),
        wire: -1,
    };
    world.begin();
    while !world.script.is_over() {
        world.step();
    }
    // SAFETY: the heap's own gate, and the guard if it stands.
    unsafe { note!(linegate_free, linegate_free(world.places[HEAP].gate)) };
    linegate_release_stdout(world.wire);
});
