//! Every transcript of `session.jsonl` through two gates that share a tracker: each line whole, byte by byte, and cut at every
//! place, with the same events each time.

use std::fs;

use linegate::{Code, Direction, Event, Fed, Gate, REPLY_LEN, Slot, Stage, Tracker};
use linegate_host::HeapStorage;
use serde_json::{Map, Value, json};

#[path = "support/vectors.rs"]
#[allow(dead_code, reason = "of the streams' driver only the options are of use here")]
mod vectors;

/// One side's gate.
struct Side {
    from: Direction,
    gate: Gate<HeapStorage>,
}

/// A transcript's two gates and what they share.
struct Session {
    sides: [Side; 2],
    tracker: Option<Tracker<Vec<Slot>>>,
}

impl Session {
    fn new(options: &Value) -> Self {
        let sides = ["client", "server"].map(|from| {
            let mut row = options.clone();
            row["from"] = json!(from);
            vectors::options(&row)
        });
        let max_ids = usize::try_from(options.get("max_ids").map_or(1024, |n| n.as_u64().unwrap())).unwrap();
        let track = options.get("track").is_some_and(|track| track.as_bool().unwrap());
        // Plain JSON-RPC has nothing to track.
        let tracker = (track && sides[0].revision.is_mcp())
            .then(|| Tracker::new(&sides[0], &sides[1], vec![Slot::EMPTY; 4 * max_ids]).unwrap());
        let sides = sides
            .map(|options| Side { from: options.direction, gate: Gate::new(options, HeapStorage::new()).unwrap() });
        Self { sides, tracker }
    }

    /// Feeds a line in pieces of these lengths, the last of them as often as need be; gives what is said of it.
    fn hear(&mut self, from: &str, line: &str, pieces: &[usize]) -> Value {
        let side = self.sides.iter_mut().find(|side| side.from.name() == from).unwrap();
        let bytes = format!("{line}\n").into_bytes();
        let (mut fed, mut pieces, mut said) = (0, pieces.iter().chain(pieces.last()).copied(), None);
        let mut piece = pieces.next().unwrap();
        while fed < bytes.len() {
            let end = bytes.len().min(fed + piece);
            let mut rest = &bytes[fed..end];
            while !rest.is_empty() {
                let Fed { consumed, event } = match &mut self.tracker {
                    Some(tracker) => side.gate.feed_with(rest, tracker),
                    None => side.gate.feed(rest),
                };
                rest = &rest[consumed..];
                if let Some(event) = told(&event) {
                    said.get_or_insert(event);
                }
            }
            fed = end;
            piece = pieces.next().unwrap_or(piece);
        }
        said.unwrap()
    }
}

/// An event in the words of the transcripts.
fn told(event: &Event<'_>) -> Option<Value> {
    let text = |bytes: &[u8]| json!(String::from_utf8(bytes.to_vec()).unwrap());
    let mut said = Map::new();
    match event {
        Event::NeedMore => return None,
        Event::Closed => return Some(json!({"closed": true})),
        Event::Message(message) => {
            said.insert("accept".into(), json!(message.kind().name()));
            if let Some(method) = message.method() {
                said.insert("method".into(), json!(method));
            }
            let null = || message.value().get("id").filter(|_| message.kind().name() == "error");
            if let Some(id) = message.id().or_else(|| null().map(|id| id.bytes())) {
                said.insert("id".into(), text(id));
            }
        }
        Event::Refused(refusal) => {
            said.insert("refuse".into(), json!(refusal.code().number()));
            said.insert("at".into(), json!(refusal.at()));
            said.insert("rpc_code".into(), json!(refusal.rpc_code()));
            if refusal.rpc_code().is_some() && !refusal.reply_due() {
                said.insert("reply".into(), json!(false));
                if let Some(id) = refusal.id() {
                    said.insert("id".into(), text(id));
                }
            } else if refusal.reply_due() {
                let mut line = [0; REPLY_LEN];
                let len = refusal.write_reply(&mut line).unwrap();
                let reply: Value = serde_json::from_slice(&line[..len]).unwrap();
                match (refusal.id(), reply.get("id")) {
                    (Some(id), Some(_)) => said.insert("id".into(), text(id)),
                    (None, Some(Value::Null)) => said.insert("reply_id".into(), json!("null")),
                    (None, None) => said.insert("reply_id".into(), json!("absent")),
                    other => panic!("{other:?}"),
                };
            }
        }
        other => panic!("{other:?}"),
    }
    Some(Value::Object(said))
}

fn transcripts() -> Vec<Value> {
    let text = fs::read_to_string(vectors::folder().join("session.jsonl")).unwrap();
    text.split_terminator('\n').map(|row| serde_json::from_str(row).unwrap()).collect()
}

/// For each rule of the stage there is a transcript that it refuses a line of; 455 is only counted.
#[test]
fn every_code_has_a_transcript() {
    let all = transcripts();
    let has = |code: Code| all.iter().any(|row| row["codes"].as_array().unwrap().contains(&json!(code.number())));
    for code in Code::ALL.iter().copied().filter(|code| code.stage() == Stage::Session) {
        let counted = code == Code::AnsweredAfterCancel && all.iter().any(|row| row.get("late_responses").is_some());
        assert!(has(code) || counted, "{code} has no transcript");
    }
    for row in &all {
        let steps = row["steps"].as_array().unwrap();
        let mut codes: Vec<u64> = steps.iter().filter_map(|step| step["event"]["refuse"].as_u64()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(row["codes"], json!(codes), "{}", row["name"]);
    }
}

#[test]
fn every_transcript_in_every_cut() {
    let mut faults = Vec::new();
    let all = transcripts();
    let rows = all.len();
    for row in all {
        let steps = row["steps"].as_array().unwrap();
        let longest = steps.iter().map(|step| step["line"].as_str().unwrap().len()).max().unwrap();
        let ways = [vec![usize::MAX >> 1], vec![1]];
        let cuts = (1..=longest.min(400)).map(|cut| vec![cut, usize::MAX >> 1]);
        for pieces in ways.into_iter().chain(cuts) {
            let mut session = Session::new(&row["options"]);
            let before = faults.len();
            for (place, step) in steps.iter().enumerate() {
                let said = session.hear(step["from"].as_str().unwrap(), step["line"].as_str().unwrap(), &pieces);
                if said != step["event"] {
                    faults.push(format!(
                        "{} step {place} ({pieces:?}):\n  want {}\n  got  {said}",
                        row["name"], step["event"]
                    ));
                    break;
                }
            }
            let late = session.tracker.as_ref().map_or(0, Tracker::late_responses);
            if faults.len() == before && row.get("late_responses").map_or(0, |n| n.as_u64().unwrap()) != late {
                faults.push(format!("{}: late_responses is {late}", row["name"]));
            }
            if faults.len() > before {
                break;
            }
        }
    }
    assert!(rows >= 400);
    assert!(faults.is_empty(), "{} of {rows} transcripts differ:\n{}", faults.len(), faults.join("\n"));
}
