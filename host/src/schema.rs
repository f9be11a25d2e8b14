//! Arguments by JSON Schema, for hosts whose tools have schemas and no types. The judgement is that of the `jsonschema` crate;
//! what is added here is that members which the schema doesn't name are refused, and where in the line the fault is.

use std::collections::BTreeSet;
use std::fmt;

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use jsonschema::{Draft, JsonType, Validator};
use linegate::action::{Misfit, RawArguments, Wrong};
use linegate::{Cursor, JsonKind};
use serde_json::{Map, Value};

/// The schema of a tool's arguments, drafts 2019-09 and 2020-12 (the default, as in MCP). References to other documents are
/// not followed, so nothing is ever fetched.
///
/// A JSON Schema lets members pass that it doesn't name. Here they are refused, in the arguments and in every object that is
/// the value of a member or an element: where a subschema says neither `additionalProperties` nor `unevaluatedProperties`, it
/// is read as if it said `"unevaluatedProperties": false`. Only `true`, `{}` and elements of which it says nothing still take
/// anything. Nothing passes that the schema as it was given doesn't take. (Where two branches of an
/// `allOf` describe one nested object by halves, that object must say so itself. So must one that refers to itself from below
/// an `anyOf` or `oneOf`: to find out what such a schema names takes time that doubles with each level.)
///
/// ```
/// use std::sync::LazyLock;
///
/// use linegate::action::{Action, Misfit, RawArguments, Target};
/// use linegate_host::Schema;
///
/// static ADD: LazyLock<Schema> = LazyLock::new(|| {
///     Schema::new(r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#)
///         .expect("the schema of add is one")
/// });
///
/// struct Add;
/// impl Action for Add {
///     const TARGET: Target<'static> = Target::Tool("add");
///     type Arguments<'a> = serde_json::Value;
///     fn read<'a>(arguments: RawArguments<'a>) -> Result<serde_json::Value, Misfit<'a>> { ADD.check(&arguments) }
/// }
/// # assert_eq!(ADD.text()["required"][0], "a");
/// ```
pub struct Schema {
    text: Value,
    /// The schema as it was given.
    given: Validator,
    /// The same without what it doesn't name.
    closed: Validator,
    /// The names of members in it, by which a fault is told.
    names: BTreeSet<String>,
}

impl Schema {
    /// A schema from its text.
    ///
    /// # Errors
    /// [`BadSchema`] where it is none, is of an older draft, or refers to another document.
    pub fn new(text: &str) -> Result<Self, BadSchema> {
        let text: Value = serde_json::from_str(text).map_err(|error| BadSchema(error.to_string()))?;
        let mut closed = text.clone();
        close(&mut closed);
        if !matches!(Draft::Draft202012.detect(&text), Draft::Draft201909 | Draft::Draft202012) {
            return Err(BadSchema("$schema names another draft than 2019-09 and 2020-12".to_owned()));
        }
        let build = |schema: &Value| {
            let validator = jsonschema::options().should_validate_formats(true).build(schema);
            validator.map_err(|error| BadSchema(error.to_string()))
        };
        // Both are asked: below a `not`, refusing more lets more pass, and a reference may lead there from anywhere.
        let (given, closed) = (build(&text)?, build(&closed)?);
        let mut names = BTreeSet::new();
        collect(&text, &mut names);
        Ok(Self { text, given, closed, names })
    }

    /// The schema as it was given: what `tools/list` says as `inputSchema`.
    #[must_use]
    pub const fn text(&self) -> &Value {
        &self.text
    }

    /// The arguments, if they fit.
    ///
    /// # Errors
    /// The first fault that is found, and where it is.
    pub fn check<'a>(&'static self, arguments: &RawArguments<'a>) -> Result<Value, Misfit<'a>> {
        let cursor = arguments.cursor();
        let unread = |_| Misfit::new(Wrong::Value, cursor);
        let value: Value = serde_json::from_slice(cursor.bytes()).map_err(unread)?;
        match self.given.validate(&value).and_then(|()| self.closed.validate(&value)) {
            Ok(()) => Ok(value),
            Err(error) => Err(self.misfit(cursor, &error)),
        }
    }

    fn misfit<'a>(&'static self, arguments: Cursor<'a>, error: &ValidationError<'_>) -> Misfit<'a> {
        let mut at = arguments;
        let mut member = None;
        for segment in error.instance_path().segments() {
            let below = match &segment {
                LocationSegment::Property(name) => {
                    member = Some(name.clone());
                    at.get(name)
                }
                LocationSegment::Index(index) => at.elements().nth(*index),
            };
            at = below.unwrap_or(at);
        }
        let (wrong, at, member) = match error.kind() {
            ValidationErrorKind::Required { property } => {
                (Wrong::Missing, at, property.as_str().map(|name| name.to_owned().into()))
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let key = at.members().map(|(key, _)| key).find(|key| unexpected.iter().any(|name| key.is_str(name)));
                (Wrong::Unknown, key.unwrap_or(at), None)
            }
            ValidationErrorKind::Type { kind } if !fits(kind, at.kind()) => (Wrong::Type, at, member),
            _ => (Wrong::Value, at, member),
        };
        let misfit = Misfit::new(wrong, at);
        match member.and_then(|name| self.names.get(name.as_ref())) {
            Some(name) => misfit.of_member(name),
            None => misfit,
        }
    }
}

/// Whether a value of this kind may be of the type; a number that is no integer has the right kind for one.
fn fits(kind: &TypeKind, value: JsonKind) -> bool {
    let fits = |one: JsonType| matches!((one, value), (JsonType::Integer | JsonType::Number, JsonKind::Number));
    match kind {
        TypeKind::Single(one) => fits(*one),
        TypeKind::Multiple(all) => all.iter().any(fits),
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.text).finish()
    }
}

/// A text that is no schema for arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSchema(String);

impl fmt::Display for BadSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadSchema {}

/// Refuses what the schema doesn't name.
fn close(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    // What a schema gives as values of its own is named by them.
    if members.is_empty() || members.contains_key("const") || members.contains_key("enum") {
        return;
    }
    close_below(members);
    if !["additionalProperties", "unevaluatedProperties"].iter().any(|name| members.contains_key(*name)) {
        members.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
    }
}

/// Does so for the values of members and elements that a schema describes. What `not` and `if` hold stays as it is: refusing more
/// there would let more pass here.
fn close_below(members: &mut Map<String, Value>) {
    for (name, value) in members {
        match name.as_str() {
            // A schema of other values, or (in 2019-09) a list of them.
            "items"
            | "contains"
            | "additionalItems"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "unevaluatedItems" => {
                close(value);
                if let Value::Array(all) = value {
                    all.iter_mut().for_each(close);
                }
            }
            "prefixItems" | "properties" | "patternProperties" => each(value, close),
            // Schemas of the same value, or to be referred to: they are parts of what is closed elsewhere.
            "then" | "else" => same(value),
            "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "$defs" | "definitions" => each(value, same),
            _ => {}
        }
    }
}

fn same(schema: &mut Value) {
    if let Value::Object(members) = schema {
        close_below(members);
    }
}

fn each(value: &mut Value, act: impl FnMut(&mut Value)) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(act),
        Value::Object(all) => all.values_mut().for_each(act),
        _ => {}
    }
}

/// The names of members that a schema has anywhere.
fn collect(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                if let ("properties", Value::Object(properties)) = (name.as_str(), value) {
                    names.extend(properties.keys().cloned());
                }
                if let ("required", Value::Array(required)) = (name.as_str(), value) {
                    names.extend(required.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                collect(value, names);
            }
        }
        Value::Array(all) => all.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use linegate::action::{Action, Target};
    use linegate::{AuditKey, Direction, Event, Gate, Options, Switches};

    use super::*;
    use crate::HeapStorage;

    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        Schema::new(
            r##"{"type":"object","required":["host"],
                "properties":{
                    "host":{"type":"string","minLength":1,"format":"hostname"},
                    "port":{"type":"integer","minimum":1},
                    "via":{"$ref":"#/$defs/hop"},
                    "hops":{"type":"array","items":{"$ref":"#/$defs/hop"}},
                    "tags":{"type":"object","additionalProperties":{"type":"string"}},
                    "any":{},
                    "mode":{"enum":["fast","safe"]}},
                "oneOf":[{"properties":{"user":{"type":"string"}},"required":["user"]},{"not":{"required":["user"]}}],
                "$defs":{"hop":{"type":"object","properties":{"name":{"type":"string"}}}}}"##,
        )
        .unwrap()
    });

    struct Connect;
    impl Action for Connect {
        const TARGET: Target<'static> = Target::Tool("connect");
        type Arguments<'a> = Value;
        fn read(arguments: RawArguments<'_>) -> Result<Value, Misfit<'_>> {
            SCHEMA.check(&arguments)
        }
    }

    /// What the gate and the schema say of these arguments: the reason, the member, and the text that the place points at.
    fn judged(arguments: &str) -> Option<(String, Option<&'static str>, String)> {
        let options = Options::new(Direction::FromClient, AuditKey::new([1; 16]));
        let mut gate = Gate::new(options, HeapStorage::new()).unwrap();
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"connect","arguments":{arguments}}}}}"#
        ) + "\n";
        let Event::Message(message) = gate.feed(line.as_bytes()).event else { panic!("{line}") };
        let call = message.into_call(Switches::NONE).unwrap();
        match call.arguments::<Connect>(&mut []) {
            Ok(_) => None,
            Err(refusal) => {
                assert_eq!(refusal.code().number(), 502);
                let rest: String = line[refusal.at()..].chars().take(4).collect();
                Some((refusal.reason().unwrap().to_owned(), refusal.subject(), rest))
            }
        }
    }

    #[test]
    fn takes_what_the_schema_takes_and_names() {
        for fits in [
            r#"{"host":"a"}"#,
            r#"{"host":"a","port":1,"mode":"safe"}"#,
            r#"{"host":"a","user":"u"}"#,
            r#"{"host":"a","via":{"name":"b"},"hops":[{"name":"c"},{}]}"#,
            r#"{"host":"a","tags":{"x":"y"},"any":{"what":["ever"]}}"#,
        ] {
            assert_eq!(judged(fits), None, "{fits}");
        }
    }

    #[test]
    fn says_what_doesn_t_fit_and_where() {
        for (arguments, wrong, member, rest) in [
            (r#"{"port":1}"#, Wrong::Missing, Some("host"), r#"{"po"#),
            (r#"{"host":7}"#, Wrong::Type, Some("host"), "7}}}"),
            (r#"{"host":""}"#, Wrong::Value, Some("host"), r#"""}}"#),
            (r#"{"host":"a","port":0}"#, Wrong::Value, Some("port"), "0}}}"),
            (r#"{"host":"a","port":1.5}"#, Wrong::Value, Some("port"), "1.5}"),
            (r#"{"host":"a","mode":"slow"}"#, Wrong::Value, Some("mode"), r#""slo"#),
            (r#"{"host":"a","via":{"nam":"b"}}"#, Wrong::Unknown, None, r#""nam"#),
            (r#"{"host":"a","hops":[{},{"x":1}]}"#, Wrong::Unknown, None, r#""x":"#),
            (r#"{"host":"a","tags":{"x":1}}"#, Wrong::Type, None, "1}}}"),
            (r#"{"host":"a b"}"#, Wrong::Value, Some("host"), r#""a b"#),
        ] {
            let expected = (wrong.text().to_owned(), member, rest.to_owned());
            assert_eq!(judged(arguments), Some(expected), "{arguments}");
        }
    }

    /// Closing what a schema forbids would let it pass.
    #[test]
    fn nothing_passes_that_the_schema_itself_refuses() {
        for (schema, refused) in [
            (
                r##"{"not":{"$ref":"#/$defs/forbidden"},"properties":{"target":{"properties":{"host":{},"port":{}}}},
                    "$defs":{"forbidden":{"properties":{"target":{"properties":{"host":{"const":"prod"}}}}}}}"##,
                r#"{"target":{"host":"prod","port":1}}"#,
            ),
            (
                r##"{"if":{"$ref":"#/$defs/prod"},"then":{"required":["ticket"]},
                    "properties":{"target":{"properties":{"host":{},"port":{}}},"ticket":{}},
                    "$defs":{"prod":{"required":["target"],"properties":{"target":{"properties":{"host":{"const":"prod"}}}}}}}"##,
                r#"{"target":{"host":"prod","port":1}}"#,
            ),
            (
                r#"{"properties":{"all":{"contains":{"properties":{"admin":{"const":true}}},"minContains":0,"maxContains":1}}}"#,
                r#"{"all":[{"admin":true,"name":"a"},{"admin":true,"name":"b"}]}"#,
            ),
        ] {
            let schema = Schema::new(schema).unwrap();
            let value: Value = serde_json::from_str(refused).unwrap();
            assert!(!schema.given.is_valid(&value), "{refused}");
            assert!(schema.given.validate(&value).and_then(|()| schema.closed.validate(&value)).is_err());
        }
    }

    #[test]
    fn what_is_named_by_its_value_needs_no_closing() {
        let schema = Schema::new(r#"{"properties":{"mode":{"enum":[{"a":1},"b"]},"one":{"const":{"a":1}}}}"#).unwrap();
        let fits = serde_json::json!({"mode": {"a": 1}, "one": {"a": 1}});
        assert!(schema.given.is_valid(&fits) && schema.closed.is_valid(&fits));
        assert!(!schema.closed.is_valid(&serde_json::json!({"mode": {"a": 1, "x": 2}})));
    }

    #[test]
    fn a_text_that_is_no_schema_here_is_refused_with_the_reason() {
        for (text, reason) in [
            ("{", "EOF"),
            (r#"{"type":"objekt"}"#, "objekt"),
            (r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#, "2020-12"),
            (r#"{"$ref":"https://example.org/schema.json"}"#, "example.org"),
        ] {
            let error = Schema::new(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
