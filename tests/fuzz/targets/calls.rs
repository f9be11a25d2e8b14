//! The functions of the C face in random order with random arguments: pointers that are good, or NULL. Nothing may crash,
//! read or write beyond what it was given, or panic (999). Each export is told on standard error when it first succeeds and when
//! it first doesn't: `reached NAME ok`, `reached NAME error`.

#![no_main]

use std::collections::HashSet;
use std::ffi::CStr;
use std::ptr;
use std::sync::Mutex;

use libfuzzer_sys::fuzz_target;
use linegate_capi::*;
use linegate_fuzz::Choices;

/// What was reached in this process.
static REACHED: Mutex<Option<HashSet<(&'static str, bool)>>> = Mutex::new(None);

fn reached(name: &'static str, ok: bool) {
    let mut reached = REACHED.lock().expect("nobody panics with it");
    if reached.get_or_insert_default().insert((name, ok)) {
        eprintln!("reached {name} {}", if ok { "ok" } else { "error" });
    }
}

/// Notes a call's status, which must have a name and be no fault of the library itself.
fn note(name: &'static str, status: linegate_status) -> bool {
    assert_ne!(status, LINEGATE_INTERNAL, "{name}");
    // SAFETY: a static string.
    assert_ne!(unsafe { CStr::from_ptr(linegate_status_name(status)) }, c"unknown", "{name} gave {status}");
    let ok = matches!(status, LINEGATE_OK | LINEGATE_NEED_MORE);
    reached(name, ok);
    ok
}

const ABSENT: linegate_slice = linegate_slice { data: ptr::null(), len: 0 };
const NAMES: [&CStr; 5] = [c"params", c"name", c"arguments", c"_meta", c"\xff"];
const ROOM: usize = 16384;
/// The first two gates lie in storage of ours, the third is the heap's.
const HEAP: usize = 2;

struct World<'d> {
    choices: Choices,
    data: &'d [u8],
    storage: [Box<[u128]>; 3],
    gates: [*mut linegate; 3],
    events: [linegate_event; 3],
    /// Whether what the event lent is still there.
    live: [bool; 3],
    tickets: Vec<u64>,
    tracker: *mut linegate_tracker,
    wire: i32,
}

fn event() -> linegate_event {
    // SAFETY: integers and pointers, of which zero is one.
    let mut event: linegate_event = unsafe { std::mem::zeroed() };
    event.size = size_of::<linegate_event>();
    event
}

impl World<'_> {
    /// A pointer, or once in a while NULL.
    fn or_null<T>(&mut self, pointer: *mut T) -> *mut T {
        if self.choices.below(32) == 0 { ptr::null_mut() } else { pointer }
    }

    /// Some of the input that is left; a copy of exactly that length, so that reading beyond it is seen.
    fn piece(&mut self) -> Box<[u8]> {
        let len = match self.choices.below(3) {
            0 => self.choices.below(8),
            1 => self.data.iter().position(|byte| *byte == b'\n').map_or(self.data.len(), |end| end + 1),
            _ => self.data.len(),
        };
        let (piece, rest) = self.data.split_at(len.min(self.data.len()));
        self.data = rest;
        piece.into()
    }

    fn options(&mut self, names: &[*const std::ffi::c_char; 2]) -> linegate_options {
        // SAFETY: integers and pointers, of which zero is one.
        let mut options: linegate_options = unsafe { std::mem::zeroed() };
        let mut pick = |bound: usize| self.choices.below(bound) as u32;
        options.size = size_of::<linegate_options>() - if pick(16) == 0 { 24 } else { 0 };
        (options.direction, options.profile, options.revision) = (pick(2), pick(4), pick(7));
        (options.policy, options.batches, options.error_id) = (2 - pick(3), pick(3) * pick(2), pick(3));
        (options.max_frame, options.max_keys, options.max_depth) = (256 << pick(5), 16 + pick(200), pick(40));
        if pick(4) == 0 {
            (options.allow, options.refuse) = (1 << pick(15), 1 << pick(15));
        }
        (options.max_id, options.max_replies) = (pick(300), pick(4));
        if pick(4) == 0 {
            (options.methods, options.methods_len) = (names.as_ptr(), 2);
            options.versions = names.as_ptr();
            options.versions_len = pick(2) as usize;
        }
        if pick(16) == 0 {
            (options.reserved, options.direction) = (pick(2), pick(3));
        }
        options.audit_key = [7; 16];
        options
    }

    fn make(&mut self, which: usize) {
        let names = [c"vendor/own".as_ptr(), if self.choices.below(8) == 0 { c"".as_ptr() } else { c"x".as_ptr() }];
        let mut options = self.options(&names);
        let mut options = &raw mut options;
        if which < 2 && self.choices.below(4) > 0 {
            // SAFETY: it was just made. A session needs one of each direction.
            unsafe { ((*options).direction, (*options).revision) = (which as u32, 0) };
        }
        options = self.or_null(options);
        // SAFETY: all pointers are good, or NULL.
        unsafe {
            let size = linegate_storage_size(options);
            reached("linegate_storage_size", size > 0);
            let mut gate = ptr::null_mut();
            if which == HEAP {
                if note("linegate_new", linegate_new(options, &raw mut gate)) {
                    assert_eq!(linegate_free(self.gates[HEAP]), LINEGATE_OK);
                    (self.gates[HEAP], self.live[HEAP]) = (gate, false);
                }
                return;
            }
            // A tracker knows the gates of its session by their places: it is over with either.
            for other in 0..2 {
                self.gates[other] = if other == which { ptr::null_mut() } else { self.gates[other] };
            }
            self.live[which] = false;
            let len = if self.choices.below(8) == 0 { self.choices.below(size + 1) } else { ROOM };
            let place: *mut u128 = self.storage[which].as_mut_ptr();
            let place = self.or_null(place);
            if note("linegate_init", linegate_init(place.cast(), len, options, &raw mut gate)) {
                self.gates[which] = gate;
            }
        }
    }

    /// A slice that the library lent and that is still there.
    fn slice(&mut self) -> linegate_slice {
        let which = self.choices.below(3);
        if !self.live[which] {
            return ABSENT;
        }
        let event = &self.events[which];
        [event.line, event.method, event.id, event.params, event.result, event.error][self.choices.below(6)]
    }

    fn read(&mut self) {
        let mut value = self.slice();
        let mut small = [0_i8; 40];
        for _ in 0..8 {
            let cap = self.choices.below(41);
            let (mut len, mut integer, mut boolean) = (0_usize, 0_i64, 0_i32);
            let (out, key) = (self.or_null(small.as_mut_ptr()), self.choices.below(2) == 0);
            let mut name = ABSENT;
            // SAFETY: the slice is live, and all other pointers are good, or NULL.
            unsafe {
                let mut iter = linegate_iter { rest: ABSENT, kind: 0 };
                reached("linegate_type", linegate_type(value) != LINEGATE_TYPE_NONE);
                note("linegate_string", linegate_string(value, out.cast(), cap, &raw mut len));
                note("linegate_integer", linegate_integer(value, &raw mut integer));
                note("linegate_boolean", linegate_boolean(value, &raw mut boolean));
                let mut next = ABSENT;
                if self.choices.below(2) == 0 {
                    let wanted = NAMES[self.choices.below(NAMES.len())].as_ptr();
                    note("linegate_get", linegate_get(value, wanted, &raw mut next));
                } else {
                    note("linegate_iterate", linegate_iterate(value, &raw mut iter));
                    for _ in 0..=self.choices.below(4) {
                        let name = if key { &raw mut name } else { ptr::null_mut() };
                        note("linegate_next", linegate_next(&raw mut iter, name, &raw mut next));
                    }
                }
                value = if key && !name.data.is_null() { name } else { next };
            }
        }
    }

    fn write(&mut self, which: usize) {
        let gate = self.or_null(self.gates[which]);
        let mut id = self.slice();
        if self.choices.below(2) == 0 {
            id = linegate_slice { data: c"7".as_ptr(), len: 1 };
        }
        let body = if self.choices.below(2) == 0 { Box::from(&b"{}"[..]) } else { self.piece() };
        let cap = if self.choices.below(4) == 0 { self.choices.below(64) } else { 8192 };
        let mut out = vec![0_i8; cap];
        let mut len = 0;
        let (data, out_at, len_at) = (body.as_ptr().cast(), out.as_mut_ptr().cast(), &raw mut len);
        // SAFETY: the id is live until the call ends what its gate lent; all pointers are good, or NULL.
        let ok = unsafe {
            match self.choices.below(3) {
                0 => note("linegate_write_line", linegate_write_line(gate, data, body.len(), out_at, cap, len_at)),
                1 => note(
                    "linegate_write_result",
                    linegate_write_result(gate, id, data, body.len(), out_at, cap, len_at),
                ),
                _ => {
                    let text = NAMES[self.choices.below(NAMES.len())].as_ptr();
                    let body_len = body.len() * self.choices.below(2);
                    let code = self.choices.below(9) as i32 - 4;
                    note(
                        "linegate_write_error",
                        linegate_write_error(gate, id, code, text, data, body_len, out_at, cap, len_at),
                    )
                }
            }
        };
        assert!(!ok || out[..len].last() == Some(&(b'\n' as i8)));
        self.live[which] = false;
    }

    fn step(&mut self) {
        let which = self.choices.below(3);
        let gate = self.or_null(self.gates[which]);
        let mut said = event();
        said.size -= [0, 0, 0, 8, said.size][self.choices.below(5)];
        let mut small = [0_i8; 300];
        let (mut used, mut len, cap) = (0_usize, 0_usize, self.choices.below(301));
        let out: *mut i8 = small.as_mut_ptr();
        // SAFETY: all pointers are good for their lengths, or NULL.
        unsafe {
            match self.choices.below(18) {
                0..=4 => {
                    let piece = self.piece();
                    let status = linegate_feed(gate, piece.as_ptr().cast(), piece.len(), &raw mut used, &raw mut said);
                    note("linegate_feed", status);
                    assert!(used <= piece.len());
                    if !gate.is_null() && status != LINEGATE_BAD_OPTIONS {
                        self.tickets.push(said.ticket);
                        (self.events[which], self.live[which]) = (said, said.size == size_of::<linegate_event>());
                    }
                }
                5 => {
                    note("linegate_finish", linegate_finish(gate, &raw mut said));
                    self.live[which] = false;
                }
                6 => {
                    note("linegate_reset", linegate_reset(gate));
                    self.live[which] = false;
                }
                7 => {
                    let piece = self.piece();
                    let line = piece.strip_suffix(b"\n").unwrap_or(&piece);
                    note(
                        "linegate_check_line",
                        linegate_check_line(gate, line.as_ptr().cast(), line.len(), &raw mut said),
                    );
                    self.live[which] = false;
                }
                8 => {
                    note("linegate_reply", linegate_reply(gate, out.cast(), cap, &raw mut len));
                    note("linegate_settlement", linegate_settlement(gate, out.cast(), cap, &raw mut len));
                }
                9 => {
                    let mut record: linegate_record = std::mem::zeroed();
                    let mut counters: linegate_counters = std::mem::zeroed();
                    record.size = size_of::<linegate_record>() - 8 * self.choices.below(4);
                    counters.size = size_of::<linegate_counters>() * self.choices.below(4);
                    let counters_size = counters.size.min(size_of::<linegate_counters>());
                    counters.size = counters_size;
                    note("linegate_audit", linegate_audit(gate, &raw mut record));
                    note("linegate_get_counters", linegate_get_counters(gate, &raw mut counters));
                }
                10 | 11 => {
                    let old = self.tickets.len().checked_sub(1 + self.choices.below(3));
                    let ticket = old.and_then(|at| self.tickets.get(at)).copied().unwrap_or(0);
                    if self.choices.below(2) == 0 {
                        note("linegate_authorize", linegate_authorize(gate, ticket, self.choices.below(2) as i32));
                    } else {
                        note("linegate_authorized", linegate_authorized(gate, ticket));
                    }
                }
                12 => self.read(),
                13 => self.write(which),
                14 => self.make(which),
                15 => {
                    let in_flight = self.choices.below(5);
                    let size = linegate_tracker_size(in_flight);
                    reached("linegate_tracker_size", size > 0);
                    let storage: *mut u128 = self.storage[2].as_mut_ptr();
                    let storage = self.or_null(storage);
                    let short = if self.choices.below(8) == 0 { 1 } else { 0 };
                    let len = (size_of_val(&*self.storage[2]) * (1 - short)).max(size.saturating_sub(short));
                    // The gates of the tracker before must not be fed with it any more.
                    let before = self.tracker;
                    if before.is_null() {
                        let status = linegate_tracker_init(
                            storage.cast(),
                            len,
                            in_flight,
                            self.gates[0],
                            self.gates[1],
                            &raw mut self.tracker,
                        );
                        note("linegate_tracker_init", status);
                    }
                }
                16 => {
                    let tracker = self.or_null(self.tracker);
                    let (mut client, mut server, mut late) = (0, 0, 0);
                    let status = linegate_tracker_count(tracker, &raw mut client, &raw mut server, &raw mut late);
                    note("linegate_tracker_count", status);
                    note("linegate_tracker_reset", linegate_tracker_reset(tracker));
                }
                _ => {
                    reached("linegate_version", !linegate_version().is_null());
                    reached(
                        "linegate_status_name",
                        !linegate_status_name(self.choices.below(1100) as i32 - 50).is_null(),
                    );
                    reached(
                        "linegate_status_message",
                        !linegate_status_message(self.choices.below(1100) as i32).is_null(),
                    );
                    reached("linegate_storage_align", linegate_storage_align() > 0);
                    note("linegate_free", linegate_free(self.gates[0]));
                    if self.choices.below(16) == 0 {
                        let mut wire = -1;
                        if note("linegate_guard_stdout", linegate_guard_stdout(&raw mut wire)) {
                            self.wire = wire;
                        }
                        note(
                            "linegate_release_stdout",
                            linegate_release_stdout(self.wire + self.choices.below(2) as i32),
                        );
                    }
                }
            }
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let room = || vec![0_u128; ROOM / 16].into_boxed_slice();
    let mut world = World {
        choices: Choices::of(data),
        data,
        storage: [room(), room(), room()],
        gates: [ptr::null_mut(); 3],
        events: [event(); 3],
        live: [false; 3],
        tickets: Vec::new(),
        tracker: ptr::null_mut(),
        wire: -1,
    };
    for which in 0..3 {
        world.make(which);
    }
    for _ in 0..24 + world.choices.below(40) {
        world.step();
    }
    // SAFETY: the heap's own gate, and the guard if it stands.
    unsafe { note("linegate_free", linegate_free(world.gates[HEAP])) };
    linegate_release_stdout(world.wire);
});
