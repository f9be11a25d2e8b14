//! What the gate says of a line agrees with serde_json and with a reader that refuses duplicate keys:
//!
//! - accepted under `strict`: JSON, unique keys, the same method, the same id, the same value once written and read again;
//! - refused as not JSON (-32700 of the stage `json`): serde_json refuses it too;
//! - JSON with unique keys to serde_json: no rule of RFC 8259 refuses it under `rfc8259`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use linegate::{Code, Direction, Event, Gate, Kind, Message, Options, Profile, Revision, Stage};
use linegate_fuzz::{KEY, Storage, unique};
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let strict = Options::new(Direction::FromClient, KEY);
    let mut rfc8259 = Options::new(Direction::FromServer, KEY).with_profile(Profile::Rfc8259);
    rfc8259.revision = Revision::JSON_RPC;
    let mut strict = Gate::new(strict, Storage::new()).expect("defaults fit");
    let mut rfc8259 = Gate::new(rfc8259, Storage::new()).expect("defaults fit");
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        let Some(content) = line.strip_suffix(b"\n") else { break };
        judge(&mut strict, line, |message| check(message, content), |code| refuse(code, content));
        judge(
            &mut rfc8259,
            line,
            |message| check_keys(message.bytes()),
            |code| {
                refuse(code, content);
                let rule = code.stage() == Stage::Json && !matches!(code, Code::TooDeep | Code::TooManyKeys);
                assert!(!rule || unique(content).is_err(), "{code}: refused under rfc8259");
            },
        );
    }
});

/// One line, one verdict, from a fresh session.
fn judge(gate: &mut Gate<Storage>, line: &[u8], accepted: impl FnOnce(&Message<'_>), refused: impl FnOnce(Code)) {
    gate.reset();
    match gate.feed(line).event {
        Event::Message(message) => accepted(&message),
        Event::Refused(refusal) => refused(refusal.code()),
        other => panic!("no verdict on a whole line: {other:?}"),
    }
}

fn check(message: &Message<'_>, content: &[u8]) {
    let bytes = message.bytes();
    assert_eq!(bytes, content.strip_suffix(b"\r").unwrap_or(content), "other bytes than the line's");
    unique(bytes).expect("accepted, and serde_json or the key checker refuses it");
    let value: Value = serde_json::from_slice(bytes).expect("accepted, and serde_json refuses it");
    let again: Value = serde_json::from_str(&value.to_string()).expect("serde_json reads its own writing");
    assert_eq!(again, value);

    let member = |name: &str| value.get(name);
    assert_eq!(message.method(), member("method").and_then(Value::as_str));
    let id: Option<Value> = message.id().map(|raw| serde_json::from_slice(raw).expect("an id is JSON"));
    // An error's null id is no id.
    assert_eq!(id.as_ref(), member("id").filter(|id| !id.is_null()));
    let cursor = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("a member is JSON");
    assert_eq!(message.params().map(|at| cursor(at.bytes())).as_ref(), member("params"));
    assert_eq!(message.result().map(|at| cursor(at.bytes())).as_ref(), member("result"));
    assert_eq!(message.error().map(|at| cursor(at.bytes())).as_ref(), member("error"));
    let has = |name: &str| member(name).is_some();
    let kind = match (has("method"), has("id"), has("result"), has("error")) {
        (true, true, false, false) => Kind::Request,
        (true, false, false, false) => Kind::Notification,
        (false, true, true, false) => Kind::Result,
        (false, _, false, true) => Kind::Error,
        other => panic!("accepted with method, id, result, error = {other:?}"),
    };
    assert_eq!(message.kind(), kind);
}

/// `rfc8259` lets pass what serde_json doesn't take: halves of surrogate pairs, numbers beyond a double.
fn check_keys(bytes: &[u8]) {
    assert!(unique(bytes).is_ok() || serde_json::from_slice::<Value>(bytes).is_err(), "accepted with a key twice");
}

fn refuse(code: Code, content: &[u8]) {
    if code.stage() == Stage::Json && code.rpc_code() == Some(-32700) {
        assert!(serde_json::from_slice::<Value>(content).is_err(), "{code}: refused as not JSON");
    }
}
