//! The gate that keeps its input and its last message: it says what a plain gate says, whatever the pieces, and lets a call go its
//! way once and in order, as the compiler has it in Rust.

#[path = "support/vectors.rs"]
#[allow(dead_code, reason = "the gate's own vectors have more to them")]
mod vectors;

use std::sync::{Arc, Mutex};

use linegate::action::{Denial, Target, Wrong};
use linegate::{Code, Direction, Event, Gate, Slot, Switches, Tracker};
use linegate_host::{HeapStorage, HeldGate, RefusedLine, Stage, named_options};
use serde_json::json;

/// What a verdict is, without what it lends: the number of its line, and of a message whether it asks for something, of a refusal
/// its code.
type Said = (u64, Result<bool, Code>);

fn held(gate: &mut HeldGate) -> Vec<Said> {
    let mut said = Vec::new();
    while let Some(verdict) = gate.judge(|message, ticket| (message.sequence(), ticket)) {
        said.push(match verdict {
            Ok((sequence, ticket)) => (sequence, Ok(gate.call(ticket, all()).unwrap().unwrap().is_some())),
            Err(refused) => (refused.record.sequence, Err(refused.record.code)),
        });
    }
    said
}

/// What a plain gate says that is given single bytes, so that each line is gathered in its storage.
fn plain(gate: &mut Gate<HeapStorage>, stream: &[u8]) -> Vec<Said> {
    let mut said = Vec::new();
    for mut rest in stream.chunks(1) {
        while !rest.is_empty() {
            let fed = gate.feed(rest);
            rest = &rest[fed.consumed..];
            let sequence = match fed.event {
                Event::Message(message) => message.sequence(),
                Event::Refused(refusal) => {
                    said.push((refusal.sequence(), Err(refusal.code())));
                    continue;
                }
                _ => continue,
            };
            said.push((sequence, Ok(gate.refusable().is_some())));
        }
    }
    if let Event::Refused(refusal) = gate.finish() {
        said.push((refusal.sequence(), Err(refusal.code())));
    }
    said
}

/// Every switch.
fn all() -> Switches {
    linegate::Switch::ALL.iter().copied().fold(Switches::NONE, Switches::with)
}

#[test]
fn every_vector_is_judged_as_by_a_plain_gate() {
    for vector in vectors::all() {
        let mut gate = Gate::new(vector.options.clone(), HeapStorage::new()).unwrap();
        let (want, counters) = (plain(&mut gate, &vector.stream), *gate.counters());
        // Long streams in pieces of one byte take long and show nothing more.
        let least = if vector.stream.len() > 0x1_0000 { 7 } else { 1 };
        for size in [vector.stream.len().max(1), 7, least] {
            let mut gate = HeldGate::new(vector.options.clone(), None).unwrap();
            for piece in vector.stream.chunks(size) {
                gate.feed(Box::new(piece.to_vec()));
            }
            gate.end();
            assert_eq!(held(&mut gate), want, "{}", vector.name);
            assert_eq!(gate.counters(), (counters, true), "{}", vector.name);
        }
    }
}

const CALL: &str = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"add\",\"arguments\":{\"a\":[1,{\"b\":2}]}}}\n";

/// The number of the next verdict, which is a message.
fn next(gate: &mut HeldGate) -> Option<u64> {
    gate.judge(|_, ticket| ticket).map(Result::unwrap)
}

/// A gate whose last verdict is a call of `add`, behind which another line waits.
fn called() -> (HeldGate, u64) {
    let options = named_options(&json!({"policy": "close_all"})).unwrap();
    let mut gate = HeldGate::new(options, None).unwrap();
    gate.feed(Box::new(format!("{CALL}{CALL}").into_bytes()));
    let ticket = next(&mut gate).unwrap();
    assert_eq!(ticket, gate.ticket());
    let facts = gate.call(ticket, Switches::NONE).unwrap().unwrap().unwrap();
    assert_eq!(
        (facts.tool.as_deref(), facts.arguments.as_slice()),
        (Some(&b"\"add\""[..]), &b"{\"a\":[1,{\"b\":2}]}"[..])
    );
    (gate, ticket)
}

#[test]
fn a_call_goes_its_way_once_and_in_order() {
    let (mut gate, ticket) = called();
    assert_eq!(gate.call(ticket, Switches::NONE), Err(Code::AlreadyUsed));
    // Not read, not asked, not allowed.
    assert_eq!(gate.unfit(ticket, Wrong::Type, &[], None), Err(Code::AlreadyUsed));
    assert_eq!(gate.denied(ticket, Denial::because("no")), Err(Code::AlreadyUsed));
    assert_eq!(gate.advance(ticket, Stage::Allowed, Stage::Over), Err(Code::AlreadyUsed));
    assert_eq!(gate.read(ticket, Some(Target::Tool("add"))), Ok(Ok(())));
    assert_eq!(gate.read(ticket, None), Err(Code::AlreadyUsed));
    for (from, to) in [(Stage::Read, Stage::Asked), (Stage::Asked, Stage::Allowed)] {
        assert_eq!(gate.advance(ticket, from, to), Ok(()));
        assert_eq!(gate.advance(ticket, from, to), Err(Code::AlreadyUsed));
    }
    assert_eq!(gate.unknown(ticket), Err(Code::AlreadyUsed));
    assert_eq!(gate.advance(ticket, Stage::Allowed, Stage::Over), Ok(()));
    assert_eq!(gate.advance(ticket, Stage::Allowed, Stage::Over), Err(Code::AlreadyUsed));
    assert_eq!(gate.counters().0.accepted, 1);
    assert!(next(&mut gate).is_some());
    assert_eq!(gate.advance(ticket, Stage::Allowed, Stage::Over), Err(Code::StaleEvent));
    assert_eq!(gate.call(ticket, Switches::NONE), Err(Code::StaleEvent));
}

#[test]
fn where_nothing_is_left_to_judge_the_last_verdict_stays_the_last() {
    let mut gate = HeldGate::new(named_options(&json!({})).unwrap(), None).unwrap();
    gate.feed(Box::new(CALL.as_bytes().to_vec()));
    let ticket = next(&mut gate).unwrap();
    assert_eq!((next(&mut gate), gate.ticket()), (None, ticket));
    assert!(gate.call(ticket, Switches::NONE).unwrap().unwrap().is_some());
    assert_eq!(next(&mut gate), None);
    assert_eq!(gate.unknown(ticket).unwrap().record.code, Code::UnknownTool);
}

#[test]
fn what_was_fed_since_makes_a_verdict_stale() {
    let changes: [fn(&mut HeldGate); 3] =
        [|gate| gate.feed(Box::new(Vec::new())), HeldGate::end, |gate| drop(gate.filter())];
    for change in changes {
        let (mut gate, ticket) = called();
        change(&mut gate);
        assert_eq!(gate.unknown(ticket), Err(Code::StaleEvent));
    }
}

#[test]
fn a_line_that_begins_with_space_is_a_call_all_the_same() {
    let mut gate = HeldGate::new(named_options(&json!({"profile": "rfc8259"})).unwrap(), None).unwrap();
    gate.feed(Box::new(format!(" {CALL}{CALL}").into_bytes()));
    for _ in 0..2 {
        let ticket = next(&mut gate).unwrap();
        assert!(gate.call(ticket, all()).unwrap().unwrap().is_some());
    }
}

fn ended(gate: &mut HeldGate, refused: &RefusedLine, code: Code, at: usize) {
    assert_eq!((refused.record.code, refused.record.at, refused.closes), (code, at, true));
    assert!(refused.reply.as_ref().is_some_and(|reply| reply.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":7,")));
    // What waited is not judged any more.
    assert_eq!(next(gate), None);
    let (counters, closed) = gate.counters();
    assert_eq!((counters.refused_total(), counters.replies, closed), (1, 1, true));
}

#[test]
fn a_refused_call_ends_the_session_where_the_policy_wants_it() {
    let (mut gate, ticket) = called();
    let refused = gate.unknown(ticket).unwrap();
    ended(&mut gate, &refused, Code::UnknownTool, CALL.find("\"add\"").unwrap());
    assert_eq!(gate.unknown(ticket), Err(Code::AlreadyUsed));

    for target in [Target::Method("tools/call"), Target::Tool("ad")] {
        let (mut gate, ticket) = called();
        let refused = gate.read(ticket, Some(target)).unwrap().unwrap_err();
        ended(&mut gate, &refused, Code::UnknownTool, CALL.find("\"add\"").unwrap());
    }

    let way = ["a", "1", "b"].map(str::to_owned);
    for (wrong, way, at) in [
        (Wrong::Type, &way[..], "2}]"),
        (Wrong::Unknown, &way[..], "\"b\""),
        (Wrong::Missing, &way[..2], "{\"b\""),
        (Wrong::Value, &way[..1], "[1"),
        (Wrong::Type, &[], "{\"a\""),
    ] {
        let (mut gate, ticket) = called();
        assert_eq!(gate.read(ticket, None), Ok(Ok(())));
        let refused = gate.unfit(ticket, wrong, way, Some("b")).unwrap();
        assert_eq!((refused.reason, refused.subject), (Some(wrong.text()), Some("b")));
        ended(&mut gate, &refused, Code::ArgumentsSchema, CALL.find(at).unwrap());
    }

    let (mut gate, ticket) = called();
    gate.advance(ticket, Stage::Called, Stage::Asked).unwrap();
    let refused = gate.denied(ticket, Denial::because("not today")).unwrap();
    assert_eq!(refused.reason, Some("not today"));
    ended(&mut gate, &refused, Code::NotAuthorized, 0);
}

#[test]
fn filtering_gives_the_lines_and_the_refusals() {
    let mut gate = HeldGate::new(named_options(&json!({"policy": "continue"})).unwrap(), None).unwrap();
    gate.feed(Box::new(format!("{{}}\n{CALL}\n").into_bytes()));
    assert!(gate.has_input_of(CALL.len()) && !gate.has_input_of(CALL.len() + 5));
    assert!(gate.has_line_of(2) && !gate.has_line_of(3));
    let (lines, refused) = gate.filter();
    assert_eq!(lines, CALL.as_bytes());
    let codes: Vec<Code> = refused.iter().map(|refused| refused.record.code).collect();
    assert_eq!(codes, [Code::JsonrpcMissing, Code::FrameEmpty]);
    assert!(!format!("{gate:?}").contains("add"));
}

/// Each way to refuse a call, more often than there is room in flight, and room for one call behind each.
#[test]
fn a_call_that_is_refused_waits_no_longer() {
    let allowed = json!({"revision": "2025-11-25", "policy": "continue", "allow": ["big_integers"]});
    let options = named_options(&allowed).unwrap();
    let mut server = options.clone();
    server.direction = Direction::FromServer;
    let tracker = Arc::new(Mutex::new(Tracker::new(&options, &server, vec![Slot::EMPTY; 4 * 2]).unwrap()));
    let mut gate = HeldGate::new(options, Some(Arc::clone(&tracker))).unwrap();
    let waiting = || tracker.lock().unwrap().in_flight(Direction::FromClient);
    gate.feed(Box::new(*b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n"));
    next(&mut gate).unwrap();
    for round in 0..200 {
        let big = CALL.replace("\"b\":2", "\"b\":9007199254740992");
        gate.feed(Box::new(if round % 5 == 0 { big } else { CALL.to_owned() }.into_bytes()));
        let ticket = next(&mut gate).unwrap();
        assert_eq!(waiting(), 2, "{round}");
        let called = gate.call(ticket, Switches::NONE).unwrap();
        let refused = match round % 5 {
            0 => called.unwrap_err(),
            1 => gate.unknown(ticket).unwrap(),
            2 => gate.read(ticket, Some(Target::Tool("other"))).unwrap().unwrap_err(),
            way => {
                gate.read(ticket, Some(Target::Tool("add"))).unwrap().unwrap();
                if way == 3 {
                    gate.unfit(ticket, Wrong::Type, &[], None).unwrap()
                } else {
                    gate.advance(ticket, Stage::Read, Stage::Asked).unwrap();
                    gate.denied(ticket, Denial::because("no")).unwrap()
                }
            }
        };
        assert!(refused.reply.is_some(), "{round}");
        assert_eq!(waiting(), 1, "{round}: {:?}", refused.record.code);
    }
}

/// Lines that come to nothing before their end, or to nothing at all, and lines that end as others do.
const BEFORE: [&[u8]; 12] = [
    b"x\n",
    b"xyz\n",
    b"\0\n",
    b"\r50%\n",
    b"\xef\xbb\xbf\n",
    b"\xef\xbb\xbf{}\n",
    b"\n",
    b"\n\r\n\n",
    b"\r\n",
    b" \n",
    b"{\n",
    b"[]\n",
];

#[test]
fn whatever_stands_before_a_call_it_is_one() {
    let options = json!({"policy": "continue", "allow": ["blank_lines"], "max_frame": 200});
    let long = [&b"{"[..], &[b' '; 300], b"\n"].concat();
    for before in BEFORE.into_iter().chain([&long[..]]) {
        let stream = [before, before, CALL.as_bytes(), before, CALL.as_bytes()].concat();
        for cut in 0..=stream.len() {
            let mut gate = HeldGate::new(named_options(&options).unwrap(), None).unwrap();
            gate.feed(Box::new(stream[..cut].to_vec()));
            let mut calls = held(&mut gate);
            gate.feed(Box::new(stream[cut..].to_vec()));
            calls.extend(held(&mut gate));
            calls.retain(|(_, said)| said.is_ok());
            let said: Vec<_> = calls.iter().map(|(_, said)| *said).collect();
            assert_eq!(said, [Ok(true), Ok(true)], "{:?} cut at {cut}", String::from_utf8_lossy(&stream));
        }
    }
}

#[test]
fn filtered_lines_take_nothing_from_the_calls_behind_them() {
    let options = json!({"policy": "continue", "allow": ["blank_lines"]});
    for before in BEFORE {
        let mut gate = HeldGate::new(named_options(&options).unwrap(), None).unwrap();
        for cut in 0..=before.len() {
            gate.feed(Box::new(before[..cut].to_vec()));
            gate.filter();
            gate.feed(Box::new([&before[cut..], CALL.as_bytes()].concat()));
            let calls: Vec<_> = held(&mut gate).into_iter().filter(|(_, said)| said.is_ok()).collect();
            assert!(matches!(calls[..], [(_, Ok(true))]), "{before:?} cut at {cut}");
        }
    }
}
