//! Every vector of `action.jsonl` through a gate and the actions behind it: whole, byte by byte and cut at every place, with
//! the same verdicts, executions and replies each time.

#[path = "support/vectors.rs"]
#[allow(dead_code, reason = "the gate's own vectors have more to them")]
mod vectors;

use std::collections::BTreeSet;
use std::{fmt, fs};

use linegate::action::{
    Action, Actions, Answer, Authorize, Authorized, Denial, Entry, Execute, Handled, Misfit, Origin, RawArguments,
    ResultLine, Target, Wire, Writer,
};
use linegate::{Code, Direction, Event, Gate, Options, REPLY_LEN, Stage, Switches};
use linegate_host::HeapStorage;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

// The table that `action-table.json` says.

#[derive(Deserialize, Serialize)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, Serialize)]
struct Note<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<&'a str>,
}

#[derive(Deserialize, Serialize)]
struct Nothing {}

#[derive(Deserialize, Serialize)]
struct Dim {
    percent: u8,
}

#[derive(Deserialize, Serialize)]
struct Switch {
    on: bool,
    at: Point,
}

#[derive(Deserialize, Serialize)]
struct Point {
    x: i64,
    y: i64,
}

#[derive(Deserialize, Serialize)]
struct Read {
    a: i64,
}

#[derive(Deserialize, Serialize)]
struct Order {
    count: u8,
}

#[derive(Deserialize, Serialize)]
struct Resource<'a> {
    uri: &'a str,
}

macro_rules! table {
    ($( $action:ident $target:expr, $arguments:ty; )*) => {
        $(
            struct $action;
            impl Action for $action {
                const TARGET: Target<'static> = $target;
                type Arguments<'a> = $arguments;
                fn read<'a>(arguments: RawArguments<'a>) -> Result<$arguments, Misfit<'a>> {
                    arguments.typed()
                }
            }
        )*
        const TABLE: &[Entry<Denying, Noting>] = &[$( Entry::of::<$action>(), )*];
    };
}

table! {
    AddTool Target::Tool("add"), Add;
    NoteTool Target::Tool("note"), Note<'a>;
    NothingTool Target::Tool("nothing"), Nothing;
    DimTool Target::Tool("dim"), Dim;
    SwitchTool Target::Tool("switch"), Switch;
    ReadTool Target::Tool("resources/read"), Read;
    OrderMethod Target::Method("plant/order"), Order;
    ReadMethod Target::Method("resources/read"), Resource<'a>;
}

/// Denies the targets of these names.
struct Denying(Vec<String>);

impl<A: Action> Authorize<A> for Denying {
    fn authorize(&self, _: &Origin<'_>, _: &A::Arguments<'_>) -> Result<(), Denial> {
        if self.0.iter().any(|name| name == A::TARGET.name()) { Err(Denial::because("by name")) } else { Ok(()) }
    }
}

/// The least result of a tool, and of a method.
struct Fine(Target<'static>);

impl Answer for Fine {
    fn write(&self, result: ResultLine<'_, '_>) -> fmt::Result {
        match self.0 {
            Target::Tool(_) => result.text(&"ok"),
            Target::Method(_) => result.json("{}"),
        }
    }
}

/// Notes what it is given, in the words of the vectors.
struct Noting(Vec<Value>);

impl<A: Action> Execute<A> for Noting
where
    for<'a> A::Arguments<'a>: Serialize,
{
    type Output = Fine;
    type Error = &'static str;
    fn execute(&mut self, action: Authorized<'_, A>) -> Result<Self::Output, Self::Error> {
        let mut noted = json!({"executed": A::TARGET.name(), "arguments": action.open()});
        if matches!(A::TARGET, Target::Method(_)) {
            noted["method"] = json!(true);
        }
        self.0.push(noted);
        Ok(Fine(A::TARGET))
    }
}

/// A server's wire that keeps the last line. What doesn't pass its gate is a fault of ours.
struct Kept(Option<String>, Options);

impl Wire for Kept {
    fn send(&mut self, line: &[u8]) -> bool {
        let mut writer = Writer::new(self.1.clone(), HeapStorage::new(), |_: &[u8]| {}).unwrap();
        let text = String::from_utf8(line.to_vec()).unwrap();
        assert!(writer.write_line(line).is_ok(), "{text}");
        assert!(self.0.replace(text.strip_suffix('\n').unwrap().to_owned()).is_none(), "two lines for one");
        true
    }
}

fn rows() -> Vec<Value> {
    let text = fs::read_to_string(vectors::folder().join("action.jsonl")).unwrap();
    text.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

fn names(row: &Value, key: &str) -> Vec<String> {
    let names = row.get(key).map(|names| names.as_array().unwrap().clone()).unwrap_or_default();
    names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// The switch of that name.
fn switch(name: &str) -> linegate::Switch {
    linegate::Switch::ALL
        .iter()
        .copied()
        .find(|switch| switch.name() == name)
        .unwrap_or_else(|| panic!("no switch {name}"))
}

/// The line of the stream that this place is in.
fn line_at(stream: &[u8], place: usize) -> &[u8] {
    let start = stream[..place].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    stream[start..].split(|byte| *byte == b'\n').next().unwrap()
}

/// The gate's events and the outcomes of what it accepted.
fn walk(row: &Value, pieces: &[&[u8]]) -> (Vec<Value>, Vec<Value>) {
    let options = vectors::options(&row["options"]);
    let mut way_back = Options::new(Direction::FromServer, options.audit_key);
    way_back.revision = options.revision;
    let mut gate = Gate::new(options, HeapStorage::new()).unwrap();
    let granted = names(row, "granted").iter().fold(Switches::NONE, |all, name| all.with(switch(name)));
    let actions = Actions::new(TABLE, Denying(names(row, "deny")), Noting(Vec::new()), ()).unwrap();
    let mut actions = actions.with_granted(granted);
    let (mut events, mut outcomes) = (Vec::new(), Vec::new());
    let (mut room, mut out) = ([0; 1024], [0; REPLY_LEN]);
    let (stream, mut consumed) = (pieces.concat(), 0);
    // Nothing that is fed to a closed gate is left of the line that closed it: its line feed ended it.
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let fed = gate.feed(rest);
            rest = &rest[fed.consumed..];
            consumed += fed.consumed;
            match fed.event {
                Event::NeedMore => {}
                Event::Closed => {
                    if events.last() != Some(&json!({"closed": true})) {
                        events.push(json!({"closed": true}));
                    }
                }
                Event::Refused(refusal) => {
                    let length = if vectors::is_early(&refusal) {
                        line_at(&stream, consumed).len()
                    } else {
                        refusal.frame_len()
                    };
                    let mut event = json!({
                        "refuse": refusal.code().number(), "at": refusal.at(), "length": length, "rpc_code": refusal.rpc_code(),
                    });
                    if let Some(id) = refusal.id() {
                        event["id"] = json!(std::str::from_utf8(id).unwrap());
                    }
                    events.push(event);
                }
                Event::Message(message) => {
                    let mut event = json!({"accept": message.kind().name()});
                    for (key, text) in
                        [("method", message.method()), ("id", message.id().map(|id| std::str::from_utf8(id).unwrap()))]
                    {
                        if let Some(text) = text {
                            event[key] = json!(text);
                        }
                    }
                    events.push(event);
                    let (mut kept, asks) = (Kept(None, way_back.clone()), message.id().is_some());
                    let executed = actions.journal().executed();
                    let outcome = match actions.handle(message, &mut room, &mut out, &mut kept) {
                        Handled::Message(_) => {
                            assert!(kept.0.is_none());
                            json!({"passed": true})
                        }
                        Handled::Refused(record) => {
                            assert_eq!(record.stage, Stage::Action);
                            json!({"refuse": record.code.number(), "at": record.at, "reply": kept.0})
                        }
                        Handled::Executed(..) => {
                            assert_eq!(kept.0.is_some(), asks);
                            assert_eq!(actions.journal().executed(), executed + 1);
                            actions.executor().0.last().unwrap().clone()
                        }
                        other => panic!("{other:?}"),
                    };
                    outcomes.push(outcome);
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let executed = outcomes.iter().filter(|outcome| outcome.get("executed").is_some()).count();
    assert_eq!(actions.executor().0.len(), executed, "nothing was executed unseen");
    let refused = outcomes.iter().filter(|outcome| outcome.get("refuse").is_some()).count() as u64;
    assert_eq!(gate.counters().refused(Stage::Action), refused);
    (events, outcomes)
}

#[test]
fn every_vector_in_every_cut() {
    let mut faults = Vec::new();
    let rows = rows();
    for row in &rows {
        let stream = row["input"].as_str().unwrap().as_bytes();
        let want = (row["events"].as_array().unwrap().clone(), row["actions"].as_array().unwrap().clone());
        let whole = walk(row, &[stream]);
        if whole != want {
            faults.push(format!("{}:\n  want {want:?}\n  got  {whole:?}", row["name"]));
            continue;
        }
        assert_eq!(walk(row, &stream.chunks(1).collect::<Vec<_>>()), want, "{} byte by byte", row["name"]);
        for cut in 1..stream.len() {
            assert_eq!(walk(row, &[&stream[..cut], &stream[cut..]]), want, "{} cut at {cut}", row["name"]);
        }
    }
    assert!(faults.is_empty(), "{} of {} vectors differ:\n{}", faults.len(), rows.len(), faults.join("\n"));
}

#[test]
fn the_table_is_the_one_that_is_written_down() {
    let written: Value =
        serde_json::from_str(&fs::read_to_string(vectors::folder().join("action-table.json")).unwrap()).unwrap();
    let names = |key: &str| written[key].as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let rows = |is_tool: bool| {
        let targets = TABLE.iter().map(Entry::target).filter(|target| matches!(target, Target::Tool(_)) == is_tool);
        targets.map(|target| target.name().to_owned()).collect::<BTreeSet<_>>()
    };
    assert_eq!(names("tools"), rows(true));
    assert_eq!(names("methods"), rows(false));
}

#[test]
fn there_are_enough_of_them_and_each_is_well_formed() {
    let rows = rows();
    let all: BTreeSet<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(all.len() == rows.len() && all.len() >= 60 && all.iter().all(|name| name.starts_with("action/")));
    let mut codes = BTreeSet::new();
    for row in &rows {
        let said = row["events"].as_array().unwrap().iter().chain(row["actions"].as_array().unwrap());
        let said: BTreeSet<u64> = said.filter_map(|said| said.get("refuse")?.as_u64()).collect();
        assert_eq!(json!(said), row["codes"], "{}", row["name"]);
        codes.extend(said);
        let accepted = row["events"].as_array().unwrap().iter().filter(|event| event.get("accept").is_some()).count();
        assert_eq!(row["actions"].as_array().unwrap().len(), accepted, "{}", row["name"]);
    }
    // That an action runs once is the compiler's here; who has no such compiler gives 504 instead.
    for code in Code::ALL.iter().filter(|code| code.stage() == Stage::Action && **code != Code::AlreadyUsed) {
        assert!(codes.contains(&u64::from(code.number())), "{code} has no vector");
    }
}
