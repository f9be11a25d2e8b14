//! Every vector through the gate: whole, byte by byte and cut at every place, with the same events, codes and offsets each
//! time; what a refused line leaves behind; and that the vectors would notice if a rule were missing.

#![allow(clippy::print_stdout, reason = "a test says what it skipped and which rows differ")]

#[path = "support/vectors.rs"]
mod vectors;

use std::collections::BTreeSet;

use linegate::{Code, Event, Gate, Options, Policy, Stage, Storage, Switch};
use vectors::{Seen, Transcript, Vector, drive, storage};

/// Above this length a stream is cut at seeded places instead of every one.
const EVERY_CUT: usize = 4096;
/// How many those are.
const SEEDED_CUTS: usize = 1000;

fn judge(vector: &Vector, gate: &mut Gate<impl Storage>, cuts: &[usize]) -> Transcript {
    gate.reset();
    let stream = &vector.stream;
    let ends = cuts.iter().copied().chain([stream.len()]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let pieces: Vec<&[u8]> = starts.zip(ends).map(|(start, end)| &stream[start..end]).collect();
    drive(gate, stream, pieces, true)
}

fn compare(vector: &Vector, how: &str, transcript: &Transcript, faults: &mut Vec<String>) {
    if transcript.events != vector.events {
        faults.push(format!("{} ({how}):\n  want {:?}\n  got  {:?}", vector.name, vector.events, transcript.events));
    } else if vector.reply_ids.as_ref().is_some_and(|ids| *ids != transcript.reply_ids) {
        faults.push(format!("{} ({how}): reply ids {:?}", vector.name, transcript.reply_ids));
    } else if vector.reply_data.as_ref().is_some_and(|data| *data != transcript.reply_data) {
        faults.push(format!("{} ({how}): reply data {:?}", vector.name, transcript.reply_data));
    }
}

#[test]
fn every_vector_in_every_cut() {
    let mut faults = Vec::new();
    let all = vectors::all();
    for vector in &all {
        let mut gate = Gate::new(vector.options.clone(), storage()).unwrap();
        let whole = judge(vector, &mut gate, &[]);
        let before = faults.len();
        compare(vector, "whole", &whole, &mut faults);
        check_counters(vector, &gate, &mut faults);
        if faults.len() > before {
            continue;
        }
        let len = vector.stream.len();
        if len <= EVERY_CUT {
            let every: Vec<usize> = (1..len).collect();
            compare(vector, "byte by byte", &judge(vector, &mut gate, &every), &mut faults);
            for cut in 1..len {
                compare(vector, &format!("cut at {cut}"), &judge(vector, &mut gate, &[cut]), &mut faults);
            }
        } else {
            let mut state = len as u64;
            for _ in 0..SEEDED_CUTS {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let cut = 1 + (state >> 33) as usize % (len - 1);
                compare(vector, &format!("cut at {cut}"), &judge(vector, &mut gate, &[cut]), &mut faults);
                if faults.len() > before {
                    break;
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {} vectors differ:\n{}", faults.len(), all.len(), faults.join("\n"));
}

fn check_counters<S: Storage>(vector: &Vector, gate: &Gate<S>, faults: &mut Vec<String>) {
    let counters = gate.counters();
    let refused = vector.events.iter().filter(|event| matches!(event, Seen::Refuse { .. })).count() as u64;
    let accepted = vector.events.iter().filter(|event| matches!(event, Seen::Accept { .. })).count() as u64;
    if (counters.accepted, counters.refused_total()) != (accepted, refused) {
        faults.push(format!("{}: counters {counters:?}", vector.name));
    }
    for (name, value) in [
        ("accepted", counters.accepted),
        ("refused", counters.refused_total()),
        ("blank_lines", counters.blank_lines),
        ("stripped_crs", counters.stripped_crs),
        ("replies", counters.replies),
    ] {
        if vector.counters.get(name).is_some_and(|want| want.as_u64() != Some(value)) {
            faults.push(format!("{}: counter {name} is {value}", vector.name));
        }
    }
}

#[test]
fn there_are_enough_of_them_and_each_is_well_formed() {
    let all = vectors::all();
    let own = all.iter().filter(|vector| {
        ["frame/", "json/", "rpc/", "gate/", "boundary/", "mcp/"].iter().any(|file| vector.name.starts_with(file))
    });
    assert!(own.count() >= 400);
    let names: BTreeSet<&str> = all.iter().map(|vector| vector.name.as_str()).collect();
    assert_eq!(names.len(), all.len(), "a name stands twice");
    for vector in &all {
        let codes: BTreeSet<u16> = vector
            .events
            .iter()
            .filter_map(|event| match event {
                Seen::Refuse { code, .. } => Some(*code),
                _ => None,
            })
            .collect();
        assert!(vector.codes.iter().eq(&codes), "{}: codes {:?}, events {codes:?}", vector.name, vector.codes);
    }
    let boundary: Vec<_> = all.iter().filter(|vector| vector.name.starts_with("boundary/")).collect();
    let actions: BTreeSet<_> = boundary.iter().filter_map(|vector| vector.action.as_deref()).collect();
    assert!(actions.len() >= 5, "each boundary input has an action name of its own");
    let named: Vec<_> = all.iter().filter_map(|vector| Some((&vector.name, vector.differs.as_ref()?))).collect();
    for (name, differs) in named {
        println!("{name} differs from its source: {differs}");
    }
}

/// The line that must be judged after a refused one as if nothing had been before it.
const PROBE: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":\"probe\",\"method\":\"tools/call\",\"params\":{\"name\":\"probe\"}}\n";

#[test]
fn a_refused_line_leaves_nothing_behind() {
    for vector in vectors::all() {
        if vector.codes.is_empty() {
            continue;
        }
        let mut options = vector.options.clone();
        options.limits.max_frame = options.limits.max_frame.max(256);
        options.policy = Policy::Continue;
        let mut used = Gate::new(options.clone(), storage()).unwrap();
        let mut stream = vector.stream.clone();
        if stream.last() != Some(&b'\n') {
            stream.push(b'\n');
        }
        drive(&mut used, &stream, [&stream[..]], false);
        let mut fresh = Gate::new(options, storage()).unwrap();
        assert!(!used.is_closed() && !used.discarding(), "{}", vector.name);
        for probe in [PROBE, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":1}\n", b"x\n"] {
            let (after, alone) = (probe_of(&mut used, probe), probe_of(&mut fresh, probe));
            assert_eq!(after, alone, "{}", vector.name);
        }
    }
}

/// Everything a gate says of one line, but for its number in the session and the run of replies.
fn probe_of(gate: &mut Gate<impl Storage>, line: &[u8]) -> String {
    let mut rest = line;
    let mut said = String::new();
    while !rest.is_empty() {
        let fed = gate.feed(rest);
        match &fed.event {
            Event::Message(message) => {
                said += &format!(
                    "{:?} {:?} {:?} {:?} {:?} {:?}",
                    message.bytes(),
                    message.kind(),
                    message.method(),
                    message.id(),
                    message.params().map(|params| params.bytes()),
                    message.loosened(),
                );
            }
            Event::Refused(refusal) => {
                let record = refusal.record();
                said += &format!("{:?} {:?} {:?} {:?}", record.code, record.at, record.fingerprint, refusal.id());
            }
            other => said += &format!("{other:?}"),
        }
        rest = &rest[fed.consumed..];
    }
    said
}

#[test]
fn after_a_closing_refusal_nothing_is_judged() {
    for vector in vectors::all() {
        if vector.codes.is_empty() {
            continue;
        }
        let mut options = vector.options.clone();
        options.policy = Policy::CloseAll;
        let mut gate = Gate::new(options, storage()).unwrap();
        let mut stream = vector.stream.clone();
        if stream.last() != Some(&b'\n') {
            stream.push(b'\n');
        }
        let said = drive(&mut gate, &stream, [&stream[..]], false);
        let refusals = said.events.iter().filter(|event| matches!(event, Seen::Refuse { .. })).count();
        // A vector that ends inside a line may have no other fault than that.
        if refusals == 0 && vector.codes == [104] {
            continue;
        }
        assert_eq!(refusals, 1, "{}", vector.name);
        assert!(gate.is_closed());
        let fed = gate.feed(PROBE);
        assert!(matches!(fed.event, Event::Closed) && fed.consumed == PROBE.len(), "{}", vector.name);
        assert!(matches!(gate.finish(), Event::Closed));
    }
}

/// For each rule: the gate without it is told apart from the gate with it by some vector.
#[test]
fn a_missing_rule_is_noticed() {
    let all = vectors::all();
    let caught = |change: &dyn Fn(&mut Options), skip: Option<Code>| {
        all.iter().any(|vector| {
            let mut options = vector.options.clone();
            change(&mut options);
            let mut gate = Gate::new(options, storage()).unwrap();
            let mut said = judge(vector, &mut gate, &[]);
            if let Some(code) = skip {
                said.events
                    .retain(|event| !matches!(event, Seen::Refuse { code: given, .. } if *given == code.number()));
            }
            said.events != vector.events
        })
    };
    for switch in Switch::ALL.iter().copied().filter(|switch| *switch != Switch::Depth) {
        assert!(caught(&|options| options.allowed = options.allowed.with(switch), None), "{} loosened", switch.name());
        assert!(
            caught(&|options| options.allowed = options.allowed.without(switch), None),
            "{} tightened",
            switch.name()
        );
    }
    for (name, change) in [
        ("max_frame", &(|options: &mut Options| options.limits.max_frame += 1) as &dyn Fn(&mut Options)),
        ("max_depth", &|options| options.limits.max_depth += 1),
        ("max_depth", &|options| options.limits.max_depth -= 1),
        ("max_keys", &|options| options.limits.max_keys += 1),
        ("max_id", &|options| options.limits.max_id += 1),
        ("max_id", &|options| options.limits.max_id -= 1),
        ("max_replies", &|options| options.limits.max_replies += 1),
    ] {
        assert!(caught(change, None), "{name} off by one");
    }
    for code in codes() {
        assert!(caught(&|_| {}, Some(code)), "{code} skipped");
    }
    for (name, change) in [
        ("versions", &(|options: &mut Options| options.versions = &[]) as &dyn Fn(&mut Options)),
        ("methods", &|options| options.methods = &[]),
        ("result_types", &|options| options.result_types = &[]),
    ] {
        assert!(caught(change, None), "{name} left out");
    }
}

/// The codes of the stages that a stream of one direction passes.
fn codes() -> impl Iterator<Item = Code> {
    Code::ALL.iter().copied().filter(|code| code.stage() < Stage::Session)
}

/// For each rule there is a vector that it refuses, and one that stays just on this side of it.
#[test]
fn every_code_has_a_vector() {
    let all = vectors::all();
    for code in codes() {
        assert!(all.iter().any(|vector| vector.codes.contains(&code.number())), "{code} has no vector");
    }
}
