//! The cursor reads the checked bytes as serde_json does, whichever way it is walked.

#![no_main]

use libfuzzer_sys::fuzz_target;
use linegate::JsonKind as Kind;
use linegate::{Cursor, Direction, Event, Gate, Options, Profile, Revision};
use linegate_fuzz::{Choices, KEY, Storage};
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::of(data);
    let mut options = Options::new(Direction::FromServer, KEY);
    if choices.below(2) == 0 {
        options = options.with_profile(Profile::Rfc8259);
    }
    options.revision = Revision::JSON_RPC;
    let mut gate = Gate::new(options, Storage::new()).expect("defaults fit");
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        gate.reset();
        let Event::Message(message) = gate.feed(line).event else { continue };
        // Halves of surrogate pairs and numbers beyond a double pass rfc8259 and not serde_json: then only walk.
        let value: Option<Value> = serde_json::from_slice(message.bytes()).ok();
        for (name, cursor) in [("params", message.params()), ("result", message.result()), ("error", message.error())] {
            let Some(cursor) = cursor else { continue };
            compare(cursor, value.as_ref().map(|value| &value[name]));
            wander(cursor, &mut choices);
        }
    }
});

/// Every value below, in order.
fn compare(cursor: Cursor<'_>, value: Option<&Value>) {
    match cursor.kind() {
        Kind::Object => {
            let mut expected = value.map(|value| value.as_object().expect("an object").iter());
            for (key, inner) in cursor.members() {
                let pair = expected.as_mut().map(|pairs| pairs.next().expect("no more members than serde_json sees"));
                if let Some((name, value)) = pair {
                    assert_eq!(text(key).as_deref(), Some(name.as_str()));
                    let found = cursor.get(name).expect("a member is found by its name");
                    assert_eq!(found.bytes(), inner.bytes());
                    compare(inner, Some(value));
                } else {
                    compare(inner, None);
                }
            }
            assert!(expected.is_none_or(|mut rest| rest.next().is_none()), "fewer members than serde_json sees");
        }
        Kind::Array => {
            let mut expected = value.map(|value| value.as_array().expect("an array").iter());
            for inner in cursor.elements() {
                let value = expected.as_mut().map(|rest| rest.next().expect("no more elements than serde_json sees"));
                compare(inner, value);
            }
            assert!(expected.is_none_or(|mut rest| rest.next().is_none()), "fewer elements than serde_json sees");
        }
        Kind::String => {
            let read = text(cursor);
            if let Some(value) = value {
                assert_eq!(read.as_deref(), Some(value.as_str().expect("a string")));
            }
        }
        Kind::Number => {
            if let Some(value) = value {
                assert!(value.is_number());
                // serde_json takes minus zero for a float; the cursor goes by the spelling.
                let expected = if cursor.bytes() == b"-0" { Some(0) } else { value.as_i64() };
                assert_eq!(cursor.as_i64(), expected, "{}", String::from_utf8_lossy(cursor.bytes()));
            }
        }
        Kind::Bool => assert!(value.is_none_or(|value| value.as_bool() == cursor.as_bool())),
        Kind::Null => assert!(value.is_none_or(Value::is_null)),
    }
}

fn text(cursor: Cursor<'_>) -> Option<String> {
    let mut buffer = vec![0; cursor.bytes().len()];
    cursor.string_into(&mut buffer).map(str::to_owned)
}

/// A walk of random steps: wrong names, wrong kinds, buffers that are too small.
fn wander(start: Cursor<'_>, choices: &mut Choices) {
    let mut at = start;
    for _ in 0..64 {
        let mut buffer = [0; 8];
        let small = choices.below(9);
        let read = at.string_into(&mut buffer[..small]).map(str::len);
        assert!(read.is_none_or(|len| len <= small));
        assert!(at.as_bool().is_none() || at.kind() == Kind::Bool);
        assert!(at.as_i64().is_none() || at.kind() == Kind::Number);
        let next = match choices.below(4) {
            0 => at.members().nth(choices.below(4)).map(|(_, value)| value),
            1 => at.elements().nth(choices.below(4)),
            2 => at.get(["", "name", "arguments", "_meta", "a"][choices.below(5)]),
            _ => at.members().nth(choices.below(4)).map(|(key, _)| key),
        };
        at = next.unwrap_or(start);
    }
}
