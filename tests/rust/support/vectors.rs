//! The shared vectors, read from `tests/vectors`, and a driver that feeds a gate and writes down all that it says.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use linegate::{AuditKey, Code, Event, Fed, Gate, Options, Refusal, Storage};
use linegate_host::HeapStorage;
use serde_json::Value;

/// One vector.
pub struct Vector {
    pub name: String,
    pub options: Options,
    pub stream: Vec<u8>,
    pub events: Vec<Seen>,
    pub codes: Vec<u16>,
    pub reply_ids: Option<Vec<String>>,
    pub reply_data: Option<Vec<Value>>,
    pub counters: Value,
    pub differs: Option<String>,
    pub action: Option<String>,
}

/// What a gate said, in the words of the vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Accept { kind: String, method: Option<String>, id: Option<String> },
    Refuse { code: u16, at: u64, length: u64, rpc_code: Option<i64>, id: Option<String>, reply: bool },
    Closed,
}

/// The folder of the vectors.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

/// Every vector of every file, in order; transcripts and actions are told apart.
pub fn all() -> Vec<Vector> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .filter(|path| !path.ends_with("session.jsonl") && !path.ends_with("action.jsonl"))
        .collect();
    files.sort();
    files.iter().flat_map(|path| read(path)).collect()
}

fn read(path: &Path) -> Vec<Vector> {
    fs::read_to_string(path).unwrap().lines().map(|line| vector(&serde_json::from_str(line).unwrap())).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

fn vector(row: &Value) -> Vector {
    let name = text(&row["name"]);
    Vector {
        options: options(&row["options"]),
        stream: stream(row),
        events: row["events"].as_array().unwrap().iter().map(seen).collect(),
        codes: row["codes"].as_array().unwrap().iter().map(|code| code.as_u64().unwrap().try_into().unwrap()).collect(),
        reply_ids: row.get("reply_ids").map(|ids| ids.as_array().unwrap().iter().map(text).collect()),
        reply_data: row.get("reply_data").map(|data| data.as_array().unwrap().clone()),
        counters: row.get("counters").cloned().unwrap_or(Value::Null),
        differs: row.get("differs").map(text),
        action: row.get("action").map(text),
        name,
    }
}

fn seen(event: &Value) -> Seen {
    let string = |key: &str| event.get(key).map(text);
    if event.get("closed").is_some() {
        return Seen::Closed;
    }
    match event.get("refuse") {
        Some(code) => Seen::Refuse {
            code: code.as_u64().unwrap().try_into().unwrap(),
            at: event["at"].as_u64().unwrap(),
            length: event["length"].as_u64().unwrap(),
            rpc_code: event["rpc_code"].as_i64(),
            id: string("id"),
            reply: event.get("reply").is_none_or(|reply| reply.as_bool().unwrap()) && event["rpc_code"].is_i64(),
        },
        None => Seen::Accept { kind: text(&event["accept"]), method: string("method"), id: string("id") },
    }
}

/// A stream that is given as text, as base64 or as a recipe.
pub fn stream(row: &Value) -> Vec<u8> {
    let base64 = row.get("input_b64").or_else(|| row.get("bytes_b64"));
    if let Some(input) = row.get("input") {
        return text(input).into_bytes();
    }
    if let Some(input) = base64 {
        return base64::engine::general_purpose::STANDARD.decode(text(input)).unwrap();
    }
    let gen_ = &row["gen"];
    let part = |key: &str| gen_.get(key).map(text).unwrap_or_default();
    let count = |key: &str| gen_.get(key).map_or(0, |n| usize::try_from(n.as_u64().unwrap()).unwrap());
    [
        part("prefix"),
        part("repeat").repeat(count("count")),
        part("middle"),
        part("repeat2").repeat(count("count2")),
        part("suffix"),
    ]
    .concat()
    .into_bytes()
}

/// The options of a vector; what only transcripts have is left to their runner.
pub fn options(row: &Value) -> Options {
    let mut row = row.as_object().cloned().unwrap_or_default();
    row.retain(|name, _| !matches!(name.as_str(), "track" | "max_ids"));
    let mut options = linegate_host::named_options(&Value::Object(row)).unwrap();
    options.audit_key = AuditKey::new(*b"a key of vectors");
    options
}

/// Storage that grows to whatever a vector needs.
pub const fn storage() -> HeapStorage {
    HeapStorage::new()
}

/// All that a gate says of a stream, and the replies it makes.
pub struct Transcript {
    pub events: Vec<Seen>,
    pub reply_ids: Vec<String>,
    pub reply_data: Vec<Value>,
    pub sequences: Vec<u64>,
}

/// Feeds a stream in the given pieces, then ends the input if asked to.
pub fn drive<'p, S: Storage>(
    gate: &mut Gate<S>,
    stream: &[u8],
    pieces: impl IntoIterator<Item = &'p [u8]>,
    finish: bool,
) -> Transcript {
    let mut transcript =
        Transcript { events: Vec::new(), reply_ids: Vec::new(), reply_data: Vec::new(), sequences: Vec::new() };
    let mut fed = 0;
    // Where the line ends that closed the session.
    let mut closed_at = None;
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            let Fed { consumed, event } = gate.feed(rest);
            fed += consumed;
            rest = &rest[consumed..];
            match &event {
                Event::NeedMore => {}
                Event::Closed => {
                    let end: usize = closed_at.unwrap();
                    if end < stream.len() && transcript.events.last() != Some(&Seen::Closed) {
                        transcript.events.push(Seen::Closed);
                    }
                }
                Event::Refused(refusal) => {
                    let place = if is_early(refusal) { fed } else { fed - 1 };
                    let start = memchr::memrchr(b'\n', &stream[..place]).map_or(0, |before| before + 1);
                    let length = memchr::memchr(b'\n', &stream[start..]).unwrap_or(stream.len() - start);
                    if refusal.closes() {
                        closed_at = Some(start + length + 1);
                    }
                    note(&mut transcript, &event, length);
                }
                event => note(&mut transcript, event, 0),
            }
        }
    }
    if finish && !gate.is_closed() {
        let start = memchr::memrchr(b'\n', stream).map_or(0, |before| before + 1);
        let event = gate.finish();
        if matches!(event, Event::Refused(_)) {
            note(&mut transcript, &event, stream.len() - start);
        }
    }
    transcript
}

/// Whether the line was refused before its end.
pub fn is_early(refusal: &Refusal<'_>) -> bool {
    match refusal.code() {
        Code::FrameTooLong | Code::Bom => true,
        Code::NulByte | Code::BareCr | Code::UnexpectedByte => refusal.at() == 0,
        _ => false,
    }
}

fn note(transcript: &mut Transcript, event: &Event<'_>, whole_length: usize) {
    let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    match event {
        Event::Message(message) => {
            transcript.sequences.push(message.sequence());
            transcript.events.push(Seen::Accept {
                kind: message.kind().name().to_owned(),
                method: message.method().map(str::to_owned),
                id: message.id().map(string).or_else(|| {
                    let id = message.value().get("id")?;
                    (message.kind().name() == "error").then(|| string(id.bytes()))
                }),
            });
        }
        Event::Refused(refusal) => {
            transcript.sequences.push(refusal.sequence());
            let covered = match refusal.code() {
                _ if !is_early(refusal) => whole_length,
                Code::FrameTooLong => refusal.at(),
                Code::Bom => 3,
                _ => 1,
            };
            assert_eq!(refusal.frame_len(), covered);
            let rpc_code = refusal.rpc_code().map(i64::from);
            transcript.events.push(Seen::Refuse {
                code: refusal.code().number(),
                at: refusal.at() as u64,
                length: whole_length as u64,
                rpc_code,
                id: refusal.id().filter(|_| rpc_code.is_some()).map(string),
                reply: refusal.reply_due(),
            });
            if refusal.reply_due() {
                let (id, data) = reply(refusal);
                transcript.reply_ids.push(id);
                transcript.reply_data.push(data);
            }
        }
        _ => {}
    }
}

/// The id and the data of the reply that a refusal makes, after a look at the whole line.
fn reply(refusal: &Refusal<'_>) -> (String, Value) {
    let mut line = vec![0; linegate::REPLY_LEN + refusal.id().map_or(0, <[u8]>::len)];
    let len = refusal.write_reply(&mut line).unwrap();
    assert!(refusal.write_reply(&mut line[..len - 1]).is_err_and(|small| small.needed == len));
    assert_eq!(line[len - 1], b'\n');
    assert!(!line[..len - 1].contains(&b'\n'));
    let reply = String::from_utf8(line[..len].to_vec()).unwrap();
    let said = match refusal.id() {
        // The token stands there byte for byte; it may be one that serde_json doesn't read.
        Some(raw) => {
            let raw = String::from_utf8(raw.to_vec()).unwrap();
            let member = format!("\"id\":{raw},");
            assert_eq!(reply.matches(&member).count(), 1, "{reply}");
            (reply.replacen(&member, "", 1), raw)
        }
        None if reply.contains("\"id\":null,") => (reply.replacen("\"id\":null,", "", 1), "null".to_owned()),
        None => (reply, "absent".to_owned()),
    };
    let mut rest: Value = serde_json::from_str(&said.0).unwrap();
    let data = rest["error"].as_object_mut().unwrap().remove("data").unwrap_or_default();
    let (code, text) = (refusal.rpc_code().unwrap(), refusal.code().text());
    assert_eq!(rest, serde_json::json!({"jsonrpc": "2.0", "error": {"code": code, "message": text}}));
    (said.1, data)
}
