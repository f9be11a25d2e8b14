//! Reads everything that an event shows, so that no accessor is left out of a proof.

use linegate::JsonKind as Kind;
use linegate::{Code, Counters, Cursor, Event, Stage};

/// A number in which every byte that was read has a part.
pub fn at_event(event: &Event<'_>, out: &mut [u8]) -> i64 {
    match event {
        Event::NeedMore => 1,
        Event::Closed => 2,
        Event::Message(message) => {
            let mut sum = i64::from(message.kind().name().as_bytes().first().copied().unwrap_or_default());
            sum = add(sum, message.bytes().len());
            sum = add(sum, message.line_len());
            sum = add(sum, message.method().map_or(0, str::len));
            sum = add(sum, message.id().map_or(0, <[u8]>::len));
            sum = add(sum, message.loosened().iter().map(|switch| switch.name().len()).fold(0, usize::wrapping_add));
            sum = sum.wrapping_add_unsigned(message.sequence());
            for cursor in [message.params(), message.result(), message.error()].into_iter().flatten() {
                sum = sum.wrapping_add(at_cursor(cursor, out));
            }
            sum
        }
        Event::Refused(refusal) => {
            let code = refusal.code();
            let mut sum = i64::from(code.number());
            sum = add(sum, code.name().len());
            sum = add(sum, code.text().len());
            sum = add(sum, usize::from(Code::from_number(code.number()) == Some(code)));
            sum = sum.wrapping_add(i64::from(refusal.rpc_code().unwrap_or_default()));
            sum = add(sum, refusal.at());
            sum = add(sum, refusal.frame_len());
            sum = add(sum, refusal.id().map_or(0, <[u8]>::len));
            sum = sum.wrapping_add_unsigned(refusal.sequence());
            sum = add(sum, usize::from(refusal.closes()));
            let record = refusal.record();
            sum = add(sum, usize::from(record.code == code));
            if refusal.reply_due()
                && let Ok(len) = refusal.write_reply(out)
            {
                sum = add(sum, len);
            }
            sum = add(sum, refusal.settles().map_or(0, <[u8]>::len));
            if let Ok(len) = refusal.write_settlement(out) {
                sum = add(sum, len);
            }
            sum
        }
        _ => 3,
    }
}

/// Sums what was counted.
pub fn at_counters(counters: &Counters) -> u64 {
    Stage::ALL.iter().map(|stage| counters.refused(*stage)).fold(counters.accepted, u64::wrapping_add)
}

/// Down the first members of a value, with every accessor on the way.
fn at_cursor(cursor: Cursor<'_>, out: &mut [u8]) -> i64 {
    let mut sum = 0_i64;
    let mut next = Some(cursor);
    while let Some(at) = next {
        sum = add(sum, at.bytes().len());
        next = match at.kind() {
            Kind::Object => {
                for (key, value) in at.members() {
                    sum = add(sum, key.string_into(out).map_or(0, str::len));
                    sum = add(sum, value.bytes().len());
                }
                at.get("arguments").or_else(|| at.members().next().map(|(_, value)| value))
            }
            Kind::Array => at.elements().last(),
            Kind::String => {
                sum = add(sum, at.string_into(out).map_or(0, str::len));
                None
            }
            Kind::Number => {
                sum = sum.wrapping_add(at.as_i64().unwrap_or_default());
                None
            }
            Kind::Bool => {
                sum = add(sum, usize::from(at.as_bool().unwrap_or_default()));
                None
            }
            Kind::Null => None,
        };
    }
    sum
}

fn add(sum: i64, len: usize) -> i64 {
    sum.wrapping_add_unsigned(len as u64)
}
