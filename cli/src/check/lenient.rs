//! A line of a server as a careless client reads it. All that a gate takes is read, such as 1e999, which is JSON and no number of most
//! readers; and so is what some readers take beside: NaN, Infinity, bytes that are no UTF-8.

use jsonc_parser::ast::Value as Node;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

/// What is allowed beside JSON.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: true,
    allow_extended_string_escapes: false,
};

/// The value of a line; `None` where it is none.
pub fn read(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line).ok().or_else(|| {
        let text = String::from_utf8_lossy(line);
        Some(value(&parse_to_ast(&text, &CollectOptions::default(), &OPTIONS).ok()?.value?))
    })
}

/// Lines that are not blank and can't be read.
pub fn unread(stream: &[u8]) -> usize {
    let lines = stream.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.filter(|line| read(line).is_none()).count()
}

/// The same value, with a text in the place of each number that there is no other word for.
fn value(node: &Node<'_>) -> Value {
    match node {
        Node::NullKeyword(_) => Value::Null,
        Node::BooleanLit(is) => is.value.into(),
        Node::NumberLit(is) => serde_json::from_str(is.value).unwrap_or_else(|_| is.value.into()),
        Node::StringLit(is) => is.value.as_ref().into(),
        Node::Array(is) => is.elements.iter().map(value).collect(),
        Node::Object(is) => is.properties.iter().map(|one| (one.name.as_str(), value(&one.value))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use linegate::{Direction, Event};
    use serde_json::json;

    use super::*;
    use crate::gates;

    fn is_taken(line: &str) -> bool {
        let mut gate = gates::open(gates::options(Direction::FromServer).expect("options")).expect("a gate");
        matches!(gate.feed(format!("{line}\n").as_bytes()).event, Event::Message(_))
    }

    #[test]
    fn what_the_gate_takes_is_read() {
        let deep = format!("{}1e999{}", "[".repeat(28), "]".repeat(28));
        for value in
            ["1e999", "-1e400", "[1e999,{\"a\":-1E+999}]", "1e-999", "0.1e1", "\"\\ud83d\\ude00\"", "\"1e999\"", &deep]
        {
            let line = format!(r#"{{"jsonrpc":"2.0","id":"a","result":{{"n":{value}}}}}"#);
            assert!(is_taken(&line), "{line}");
            let message = read(line.as_bytes());
            assert_eq!(message.as_ref().map(|message| &message["id"]), Some(&json!("a")), "{line}");
            assert!(message.is_some_and(|message| message["result"]["n"] != Value::Null), "{line}");
        }
        assert!(!is_taken(r#"{"jsonrpc":"2.0","id":"a","result":{"n":"\ud83d"}}"#));
    }

    #[test]
    fn what_careless_readers_take_is_read_and_nothing_else() {
        for (text, value) in [
            (&br#"{"a":[NaN,-Infinity, 1e999 ],"b":true}"#[..], json!({"a": ["NaN", "-Infinity", "1e999"], "b": true})),
            (
                br#"["\u0041","\ud83d\ude00\\ud800","\"1e999",1e999,7,null]"#,
                json!(["A", "\u{1F600}\\ud800", "\"1e999", "1e999", 7, null]),
            ),
            (b"[\"ab\xFF\"]", json!(["ab\u{FFFD}"])),
            (b" {\"e\":1e999}\r", json!({"e": "1e999"})),
        ] {
            assert_eq!(read(text), Some(value), "{}", String::from_utf8_lossy(text));
        }
        for text in [
            &b"done"[..],
            b"",
            b"{",
            b"[1e999",
            b"{1e999}",
            b"[nan]",
            b"[\"\\ud800]",
            b"[1.]",
            b"[+1e999]",
            b"[1e999,]",
            b"[1e999 1]",
            b"{a:1e999}",
            b"[1e999] // x",
            b"{'a':1}",
            b"[] x",
            b"[01]",
            "[".repeat(100_000).as_bytes(),
        ] {
            assert_eq!(read(text), None, "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(unread(b"banner\n\n{\"a\":1e999}\r\n \n[1\n"), 2);
    }
}
