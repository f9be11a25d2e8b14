//! The malformed lines: each with its name, the rule it breaks, how it is made, and what goes wrong where it gets through.
//!
//! Every line asks for the tested request in a way that some reader runs and another refuses, or reads as another
//! request, or is one that the protocol's revision doesn't have. A server proves itself by doing nothing at all.

use linegate::{Code, Revision};
use serde_json::{Value, json};

use super::wire::{META_REVISION, MODERN, Members, Request, TESTED, object};

/// A method that no server has, and the id of a request that must not be read either.
const NO_METHOD: &str = r#""linegate/none""#;
const BESIDE: &str = "linegate-beside";
/// A tool that no server has, and an id that no request has.
const NONE: &str = "linegate-none";

/// The method that calls a tool.
const CALL: &str = "tools/call";

/// One malformed input.
pub struct Vector {
    /// Its name behind `malformed/`.
    pub name: &'static str,
    /// The rule that refuses it.
    pub code: Code,
    /// What happens where it is not refused.
    pub why: &'static str,
    /// Makes the bytes, without the last line feed.
    pub make: fn(&Target) -> Vec<u8>,
    /// What follows the bytes.
    pub then: Then,
}

/// What follows the bytes of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// A line feed, and a harmless request that shows whether the session goes on.
    LineFeed,
    /// The end of input.
    EndOfInput,
}

impl Vector {
    /// Whether the line is malformed under this revision.
    pub fn applies_to(&self, revision: Revision) -> bool {
        match self.code {
            Code::Batch => revision != Revision::V2025_03_26,
            Code::WrongDirection => revision != MODERN,
            Code::MetaMissing | Code::UnsupportedRevision => revision == MODERN,
            _ => true,
        }
    }
}

const fn line(name: &'static str, code: Code, make: fn(&Target) -> Vec<u8>, why: &'static str) -> Vector {
    Vector { name, code, why, make, then: Then::LineFeed }
}

const fn at_end(name: &'static str, code: Code, make: fn(&Target) -> Vec<u8>, why: &'static str) -> Vector {
    Vector { name, code, why, make, then: Then::EndOfInput }
}

/// The corpus.
#[rustfmt::skip] // A table: one vector is its facts and, below them, its reason.
pub static VECTORS: &[Vector] = &[
    // Text that is not from the protocol.
    line("debug-line", Code::UnexpectedByte, |t| format!("DEBUG: {} {}", t.method(), t.marker).into(),
        "A debug line stands before a valid request; a reader that guesses takes one for the other."),
    line("debug-prefix", Code::UnexpectedByte, |t| [b"DEBUG: sending ", &*t.valid()].concat(),
        "A reader that looks for the first brace runs the rest of the line."),
    line("banner-behind", Code::TrailingBytes, |t| [&*t.valid(), b" listening on port 3000"].concat(),
        "A reader that stops at the closing brace runs the request and ignores what follows."),
    line("html-error-page", Code::UnexpectedByte, |t| format!("<html><head><title>502 Bad Gateway</title></head><body>{}</body></html>", t.marker).into(),
        "A proxy's error page is no message."),
    line("not-json", Code::UnexpectedByte, |t| format!("{{not json {}}}", t.marker).into(),
        "Readers of relaxed JSON take unquoted names."),
    // Values that are no message.
    line("null", Code::NotAnObject, |_| b"null".to_vec(),
        "A reader that does not look at the type takes null for an empty message."),
    line("batch", Code::Batch, |t| [b"[", &*t.valid(), b"]"].concat(),
        "Some peers run what stands in an array, others refuse it; only revision 2025-03-26 has batches."),
    // The envelope.
    line("jsonrpc-1.0", Code::JsonrpcWrong, |t| t.with("jsonrpc", r#""1.0""#),
        "Some peers never look at the version of the protocol."),
    line("string-params", Code::ParamsType, |t| t.with("params", &Value::from(&*t.marker).to_string()),
        "Params that are no object are read as absent by some peers."),
    line("id-null", Code::IdNull, |t| t.with("id", "null"),
        "Some peers take it for a notification, some for a request: an effect without an answer."),
    line("id-fraction", Code::IdType, |t| t.with("id", "1.5"),
        "Some peers cut the fraction off and answer another request's id."),
    line("method-and-result", Code::MixedShape, |t| t.plus("result", "{}"),
        "Some peers read a request, some a response."),
    line("unknown-member", Code::UnknownMember, |t| t.plus("linegate", "true"),
        "Some peers ignore it, some refuse the message."),
    line("case-variant-method", Code::MisspeltMember, |t| t.renamed("method", "Method"),
        "Peers that compare names without case run it."),
    line("case-variant-beside", Code::CaseCollision, |t| t.before("method", "Method", NO_METHOD),
        "Peers that compare names without case and peers that don't read two different methods."),
    line("duplicate-method", Code::DuplicateKey, |t| t.before("method", "method", NO_METHOD),
        "Of two equal names most peers take the last, some the first: a filter and its server read two different methods."),
    line("duplicate-method-escaped", Code::DuplicateKey, |t| t.before("method", "m\\u0065thod", NO_METHOD),
        "The same with one name spelt with an escape: a filter that compares bytes sees no duplicate."),
    // Bytes around the value.
    line("bare-cr", Code::BareCr, |t| [&*t.beside(), b"\r", &*t.valid()].concat(),
        "Readers with universal newlines cut here and run two messages where others see one line."),
    line("bom", Code::Bom, |t| [b"\xEF\xBB\xBF", &*t.valid()].concat(),
        "Some peers drop a byte order mark, others refuse the line."),
    line("nul-byte", Code::NulByte, |t| [&*t.valid(), b"\0"].concat(),
        "Readers of C strings end at the NUL byte and run what stands before it."),
    line("trailing-bytes", Code::TrailingBytes, |t| [&*t.valid(), b"]"].concat(),
        "A reader that stops behind the first value runs it."),
    line("two-objects", Code::TrailingBytes, |t| [&*t.beside(), &*t.valid()].concat(),
        "Readers of concatenated values run both, others the first, others none."),
    at_end("truncated-object", Code::Truncated, |t| t.valid().split_last().map_or_else(Vec::new, |(_, cut)| cut.to_vec()),
        "A reader that repairs what it got runs a request that was never finished."),
    at_end("half-line", Code::Truncated, |t| t.valid().split_at(t.valid().len() / 2).0.to_vec(),
        "A client that crashes leaves half a line behind; a reader that guesses the rest runs what nobody sent."),
    at_end("no-line-feed", Code::Truncated, Target::valid,
        "Without its line feed nobody knows whether the request was whole; some readers run it."),
    // JSON text.
    line("invalid-utf8", Code::InvalidUtf8, |t| t.value(b"\"\xFF\""),
        "Some peers replace the byte and run what was not sent."),
    line("lone-surrogate", Code::LoneSurrogate, |t| t.value(br#""\ud800""#),
        "Parsers refuse it, replace it, drop it or keep it: the same line has several values."),
    line("control-character", Code::ControlInString, |t| t.value(b"\"a\tb\""),
        "Lenient parsers take raw control characters, others refuse the line."),
    line("big-integer", Code::NumberRange, |t| t.value(b"9007199254740992"),
        "Beyond 2^53-1 parsers round: two different numbers become one."),
    line("leading-zero", Code::BadNumber, |t| t.value(b"01"),
        "Some parsers read it as octal, some as decimal, some refuse it."),
    line("nan", Code::UnexpectedByte, |t| t.value(b"NaN"),
        "Python's json reads and writes it; it is not JSON."),
    line("depth-33", Code::TooDeep, |t| t.value(&nested(30)),
        "At 33 levels the first parsers give up, others go on."),
    // Messages that the protocol does not have.
    line("unknown-method", Code::UnknownMethod, |t| t.with("method", NO_METHOD),
        "A client that asks whether a method is there, as for the version of the protocol, waits for error -32601."),
    line("request-of-a-server", Code::WrongDirection, |t| t.message("roots/list", &t.request.params),
        "A server that answers what only a client is asked takes its own part for the other's."),
    line("request-without-id", Code::IdPresence, |t| t.without("id"),
        "A request that nobody waits for: an effect without an answer."),
    line("notification-with-id", Code::IdPresence, |t| t.message("notifications/cancelled", &t.cancellation()),
        "Some peers answer it and some don't: a client that counts its answers waits for ever."),
    line("call-without-name", Code::ParamMissing, |t| t.call(|params| { params.shift_remove("name"); }),
        "A server that fills in what is missing runs a tool that nobody named."),
    line("call-name-number", Code::ParamType, |t| t.call(|params| { params.insert("name".to_owned(), json!(7)); }),
        "Some peers make text of the number and look for a tool of that name."),
    line("call-arguments-array", Code::ParamType, |t| t.call(|params| { params.insert("arguments".to_owned(), json!([t.marker])); }),
        "Some peers take arguments by their places, some take the array for none and run the tool without."),
    line("no-meta", Code::MetaMissing, Target::without_meta,
        "From 2026-07-28 on every request says its revision: without it peers judge the same request by different ones."),
    line("unsupported-version", Code::UnsupportedRevision, Target::of_no_version,
        "A server that serves a version it doesn't know answers by rules that the client doesn't have."),
];

/// So many arrays, one in the other. Root, params and `_meta` are the three levels around them.
fn nested(levels: usize) -> Vec<u8> {
    [vec![b'['; levels], vec![b']'; levels]].concat()
}

/// The request that the vectors spoil.
pub struct Target {
    request: Request,
    beside: Request,
    /// What must never be recorded, nor come back.
    pub marker: String,
}

/// The free place in `_meta` for values under test, and the place of the marker in requests without arguments.
const META_VALUE: &str = "linegate/value";
const META_MARKER: &str = "linegate/marker";

impl Target {
    /// The target `request` with a harmless request `beside` it.
    pub fn new(mut request: Request, beside: Request, marker: String) -> Self {
        if !Value::Object(request.params.clone()).to_string().contains(&marker) {
            request.params = with_meta(&request.params, META_MARKER, Value::from(marker.as_str()));
        }
        Self { request, beside, marker }
    }

    fn method(&self) -> &str {
        &self.request.method
    }

    /// The members of the message, each with its value as written.
    fn members(&self) -> Vec<(&'static str, String)> {
        members(self.method(), &self.request.params)
    }

    /// Another message with the id of the target.
    fn message(&self, method: &str, params: &Members) -> Vec<u8> {
        written(&members(method, params))
    }

    /// A call with its params changed: the target itself, or, where that calls no tool, a call of one that is not there.
    fn call(&self, change: impl FnOnce(&mut Members)) -> Vec<u8> {
        let mut params = self.request.params.clone();
        if self.method() != CALL {
            params.insert("name".to_owned(), NONE.into());
            params.insert("arguments".to_owned(), json!({}));
        }
        change(&mut params);
        self.message(CALL, &params)
    }

    /// The params of a cancellation of nothing.
    fn cancellation(&self) -> Members {
        object(json!({"requestId": NONE, "reason": self.marker}))
    }

    /// The request with the marker in it, but without `_meta`.
    fn without_meta(&self) -> Vec<u8> {
        let mut params = self.request.params.clone();
        params.shift_remove("_meta");
        params.insert(META_MARKER.to_owned(), self.marker.as_str().into());
        self.message(self.method(), &params)
    }

    /// The request with a version that nobody has.
    fn of_no_version(&self) -> Vec<u8> {
        self.message(self.method(), &with_meta(&self.request.params, META_REVISION, "1999-01-01".into()))
    }

    /// The request as it would be right.
    pub fn valid(&self) -> Vec<u8> {
        written(&self.members())
    }

    /// A harmless request that shares its line with the target.
    fn beside(&self) -> Vec<u8> {
        let mut line = self.beside.line(BESIDE);
        line.pop();
        line
    }

    /// The request with another value of one member.
    fn with(&self, name: &str, value: &str) -> Vec<u8> {
        let mut members = self.members();
        members.iter_mut().filter(|(known, _)| *known == name).for_each(|member| value.clone_into(&mut member.1));
        written(&members)
    }

    /// The request without one member.
    fn without(&self, name: &str) -> Vec<u8> {
        let mut members = self.members();
        members.retain(|(known, _)| *known != name);
        written(&members)
    }

    /// The request with one member under another name.
    fn renamed(&self, name: &str, other: &str) -> Vec<u8> {
        let members = self.members().into_iter();
        written(&members.map(|(known, value)| (if known == name { other } else { known }, value)).collect::<Vec<_>>())
    }

    /// The request with one member more at its end.
    fn plus(&self, name: &str, value: &str) -> Vec<u8> {
        let mut members = self.members();
        members.push((name, value.to_owned()));
        written(&members)
    }

    /// The request with one member more before that one.
    fn before(&self, next: &str, name: &str, value: &str) -> Vec<u8> {
        let mut members = self.members();
        let at = members.iter().position(|(known, _)| *known == next).unwrap_or_default();
        members.insert(at, (name, value.to_owned()));
        written(&members)
    }

    /// The request with a value, as written, where peers that read it don't mind what it is.
    fn value(&self, value: &[u8]) -> Vec<u8> {
        let params = with_meta(&self.request.params, META_VALUE, Value::Null);
        let line = self.with("params", &Value::Object(params).to_string());
        let place = format!("\"{META_VALUE}\":");
        let Some(at) = line.windows(place.len()).position(|bytes| bytes == place.as_bytes()) else { return line };
        let (before, behind) = line.split_at(at + place.len());
        [before, value, behind.strip_prefix(b"null").unwrap_or(behind)].concat()
    }
}

/// The params with one member more in their `_meta`.
fn with_meta(params: &Members, name: &str, value: Value) -> Members {
    let mut meta = params.get("_meta").cloned().map(object).unwrap_or_default();
    meta.insert(name.to_owned(), value);
    let mut params = params.clone();
    params.insert("_meta".to_owned(), Value::Object(meta));
    params
}

/// The members of a message with the id of the target, each with its value as written.
fn members(method: &str, params: &Members) -> Vec<(&'static str, String)> {
    vec![
        ("jsonrpc", r#""2.0""#.to_owned()),
        ("id", Value::from(TESTED).to_string()),
        ("method", Value::from(method).to_string()),
        ("params", Value::Object(params.clone()).to_string()),
    ]
}

fn written(members: &[(&str, String)]) -> Vec<u8> {
    let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}

#[cfg(test)]
mod tests {
    use linegate::{AuditKey, Direction, Event, Gate, Options};
    use linegate_host::HeapStorage;

    use super::*;

    fn targets() -> Vec<(Revision, Target)> {
        let call = object(json!({"name": "record", "arguments": {"text": "the marker"}}));
        let revisions = Revision::PUBLISHED.iter().filter_map(|name| Revision::from_name(name));
        revisions
            .flat_map(|revision| {
                let harmless = Request::harmless(revision);
                [Request::new(revision, CALL, call.clone()), harmless.clone()]
                    .map(|request| (revision, Target::new(request, harmless.clone(), "the marker".to_owned())))
            })
            .collect()
    }

    /// The verdict on the bytes as the check sends them: `None` where the gate of a server of that revision accepts them.
    fn verdict(bytes: &[u8], then: Then, revision: Revision) -> Option<Code> {
        let mut options = Options::new(Direction::FromClient, AuditKey::new([7; 16]));
        options.revision = revision;
        let mut gate = Gate::new(options, HeapStorage::new()).expect("the defaults fit");
        let bytes = if then == Then::LineFeed { [bytes, b"\n"].concat() } else { bytes.to_vec() };
        match gate.feed(&bytes).event {
            Event::Refused(refusal) => return Some(refusal.code()),
            Event::Message(_) => return None,
            _ => {}
        }
        match gate.finish() {
            Event::Refused(refusal) => Some(refusal.code()),
            _ => None,
        }
    }

    #[test]
    fn each_vector_breaks_the_rule_it_names() {
        for (revision, target) in targets() {
            assert_eq!(verdict(&target.valid(), Then::LineFeed, revision), None);
            for vector in VECTORS.iter().filter(|vector| vector.applies_to(revision)) {
                let bytes = (vector.make)(&target);
                let shown = String::from_utf8_lossy(&bytes);
                assert_eq!(verdict(&bytes, vector.then, revision), Some(vector.code), "{}: {shown}", vector.name);
            }
        }
    }

    #[test]
    fn one_level_less_is_accepted() {
        for (revision, target) in targets() {
            assert_eq!(verdict(&target.value(&nested(29)), Then::LineFeed, revision), None);
            assert_eq!(verdict(&target.value(b"9007199254740991"), Then::LineFeed, revision), None);
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = VECTORS.iter().map(|vector| vector.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), VECTORS.len());
    }
}
