//! From an accepted message to an effect: every refusal on the way with its reply and what it does to the session, what an
//! executor can and can't put on the wire, what is counted and recorded, and that nothing of a payload shows.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Debug};
use std::rc::Rc;

use linegate::action::testing::{Allow, Deny, Ledger, Recorder, Sent};
use linegate::action::{
    Action, Actions, Answer, Authorize, Authorized, Denial, Entry, Execute, Handled, Journal, Json, Misfit, NoCall,
    NotSent, Origin, Outcome, RawArguments, ResultLine, Structured, Target, Text, Unwritten, Wire, Writer, Wrong,
};
use linegate::{
    AuditKey, Code, Direction, Event, Gate, Inline, Options, Policy, REPLY_LEN, Record, Revision, Slot, Stage, Switch,
    Switches, Tracker,
};
use linegate_host::HeapStorage;
use serde::Deserialize;
use serde_json::{Value, json};

// The host under test: three tools, two methods.

#[derive(Debug, Deserialize)]
struct Sum {
    a: i64,
    b: i64,
}

#[expect(dead_code, reason = "the recorder shows it")]
#[derive(Debug, Deserialize)]
struct Words<'a> {
    text: &'a str,
    tag: Option<&'a str>,
}

#[expect(dead_code, reason = "the recorder shows it")]
#[derive(Debug, Deserialize)]
struct Uri<'a> {
    uri: &'a str,
}

/// Arguments that are an enum as a whole.
#[expect(dead_code, reason = "the recorder shows it")]
#[derive(Debug, Deserialize)]
enum Order {
    Start { at: u8 },
    Stop(u8),
}

macro_rules! actions {
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
    };
}

actions! {
    Add Target::Tool("add"), Sum;
    Note Target::Tool("note"), Words<'a>;
    ReadTool Target::Tool("resources/read"), Sum;
    ReadMethod Target::Method("resources/read"), Uri<'a>;
    AddMethod Target::Method("add"), Vec<i64>;
    OrderMethod Target::Method("plant/order"), Order;
}

/// A tool that takes whatever the gate lets through, and says how long it is.
struct Touch;
impl Action for Touch {
    const TARGET: Target<'static> = Target::Tool("touch");
    type Arguments<'a> = usize;
    fn read(arguments: RawArguments<'_>) -> Result<usize, Misfit<'_>> {
        Ok(arguments.cursor().bytes().len())
    }
}

const TABLE: &[Entry<Guard, Recorder>] = &[
    Entry::of::<Add>(),
    Entry::of::<Note>(),
    Entry::of::<ReadTool>(),
    Entry::of::<ReadMethod>(),
    Entry::of::<AddMethod>(),
    Entry::of::<OrderMethod>(),
    Entry::of::<Touch>(),
];

/// Denies one target.
struct Guard(Option<(Target<'static>, Denial)>);

impl<A: Action> Authorize<A> for Guard {
    fn authorize(&self, origin: &Origin<'_>, _: &A::Arguments<'_>) -> Result<(), Denial> {
        assert_eq!(origin.target(), Some(A::TARGET));
        match self.0 {
            Some((target, denial)) if target == A::TARGET => Err(denial),
            _ => Ok(()),
        }
    }
}

const ALLOW: Guard = Guard(None);
const KEY: AuditKey = AuditKey::new(*b"a key of actions");

fn options(revision: Revision, policy: Policy) -> Options {
    let mut options = Options::new(Direction::FromClient, KEY);
    options.revision = revision;
    options.policy = policy;
    options.methods = &["add", "plant/order"];
    options
}

fn plain(revision: Revision) -> Options {
    options(revision, Policy::Continue)
}

/// The gate of the way back.
fn server(revision: Revision) -> Options {
    let mut options = Options::new(Direction::FromServer, KEY);
    options.revision = revision;
    options
}

/// What became of one line.
#[derive(Debug, PartialEq)]
enum Became {
    Executed(Target<'static>, Outcome),
    Refused(Record),
    Message,
    ByGate(Record),
    Closed,
}

impl Became {
    fn code(&self) -> u16 {
        match self {
            Self::Refused(record) | Self::ByGate(record) => record.code.number(),
            _ => 0,
        }
    }
}

/// A host: a gate, its actions, and all that went out.
struct Host<Z: 'static, X: 'static> {
    gate: Gate<HeapStorage>,
    actions: Actions<Z, X, Ledger>,
    sent: Vec<String>,
}

impl<Z, X> Host<Z, X> {
    fn new(options: Options, table: &'static [Entry<Z, X>], authorizer: Z, executor: X) -> Self {
        let actions = Actions::new(table, authorizer, executor, Ledger::default()).expect("targets are different");
        Self { gate: Gate::new(options, HeapStorage::new()).unwrap(), actions, sent: Vec::new() }
    }

    /// Handles one line, and checks that what goes out may go out.
    fn line(&mut self, line: &str) -> Became {
        let (mut room, mut out) = (vec![0; line.len()], vec![0; 4096]);
        let revision = self.gate.options().revision;
        let mut sent = Vec::new();
        let put = |line: &[u8]| sent.push(String::from_utf8(line.to_vec()).unwrap());
        let mut wire = Writer::new(server(revision), Inline::<4096, 256>::new(), put).unwrap();
        let line = format!("{line}\n");
        let became = match self.gate.feed(line.as_bytes()).event {
            Event::Message(message) => match self.actions.handle(message, &mut room, &mut out, &mut wire) {
                Handled::Message(_) => Became::Message,
                Handled::Refused(record) => Became::Refused(record),
                Handled::Executed(execution, outcome) => Became::Executed(execution.target, outcome),
                other => panic!("{other:?}"),
            },
            Event::Refused(refusal) => {
                self.actions.refused(&refusal);
                Became::ByGate(refusal.record())
            }
            Event::Closed => Became::Closed,
            other => panic!("{other:?}"),
        };
        for line in &sent {
            check_sent(line, revision);
        }
        assert!(sent.len() <= 1, "{sent:?}");
        self.sent.extend(sent);
        became
    }

    fn last(&self) -> Value {
        serde_json::from_str(self.sent.last().expect("something went out")).unwrap()
    }
}

fn host(options: Options) -> Host<Guard, Recorder> {
    Host::new(options, TABLE, ALLOW, Recorder::default())
}

/// A line that goes out is one line, JSON to another parser, and passes a gate that has seen nothing.
fn check_sent(line: &str, revision: Revision) {
    assert_eq!(line.find('\n'), Some(line.len() - 1), "{line}");
    serde_json::from_str::<Value>(line).unwrap();
    let mut gate = Gate::new(server(revision), HeapStorage::new()).unwrap();
    assert!(matches!(gate.feed(line.as_bytes()).event, Event::Message(_)), "{line}");
}

const MODERN_META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn call(id: u32, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
    )
}

fn modern_call(id: u32, name: &str, arguments: &str) -> String {
    call(id, name, arguments).replacen("\"params\":{", &format!("\"params\":{{{MODERN_META},"), 1)
}

fn call_of(revision: Revision, id: u32, name: &str, arguments: &str) -> String {
    if revision == Revision::V2026_07_28 { modern_call(id, name, arguments) } else { call(id, name, arguments) }
}

const MCP: [Revision; 6] = [
    Revision::AUTO,
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

// Refusals.

#[test]
fn a_call_executes_once_and_is_answered() {
    for revision in MCP {
        let mut host = host(plain(revision));
        let became = host.line(&call_of(revision, 7, "add", r#"{"a":2,"b":3}"#));
        assert_eq!(became, Became::Executed(Target::Tool("add"), Outcome::Done));
        assert_eq!((host.actions.journal().executed(), host.actions.journal().failed()), (1, 0));
        let recorded = &host.actions.executor().calls;
        assert_eq!((recorded.len(), recorded[0].arguments.as_str()), (1, "Sum { a: 2, b: 3 }"));
        assert_eq!(recorded[0].id.as_deref(), Some(b"7".as_slice()));
        assert_eq!(host.last()["result"]["content"], json!([{"type": "text", "text": "recorded"}]));
        assert_eq!(host.last()["id"], 7);
        assert_eq!(host.gate.counters().refused_total(), 0);
    }
}

/// The code, the place in the line, the JSON-RPC code, and the text behind the code's own.
fn refused(host: &mut Host<Guard, Recorder>, line: &str, code: Code, at: &str, rpc_code: i32, more: &str) {
    let before = (*host.gate.counters(), host.sent.len(), host.actions.audit().refused.len());
    let became = host.line(line);
    let Became::Refused(record) = became else { panic!("{line}: {became:?}") };
    let at = if at.is_empty() { 0 } else { line.find(at).unwrap() };
    assert_eq!((record.code, record.at, record.stage), (code, at, Stage::Action), "{line}");
    assert_eq!((record.frame_len, record.direction), (line.len(), Direction::FromClient));
    let counters = host.gate.counters();
    assert_eq!(counters.refused(Stage::Action), before.0.refused(Stage::Action) + 1);
    assert_eq!(counters.refused_total(), before.0.refused_total() + 1);
    assert_eq!(host.actions.audit().refused.len(), before.2 + 1);
    assert_eq!(host.actions.audit().refused.last(), Some(&record));
    assert!(host.actions.audit().authorized.is_empty() && host.actions.journal().executed() == 0);
    assert!(host.actions.executor().calls.is_empty());
    let id = line.split_once("\"id\":").map(|(_, rest)| rest.split([',', '}']).next().unwrap());
    let Some(id) = id else {
        assert_eq!((host.sent.len(), counters.replies), (before.1, before.0.replies), "{line}");
        return;
    };
    let text = format!("{}{more}", code.text());
    let message = serde_json::to_string(&text).unwrap();
    let reply =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{rpc_code},\"message\":{message}}}}}\n");
    assert_eq!(host.sent.last(), Some(&reply), "{line}");
    assert_eq!(counters.replies, before.0.replies + 1);
}

#[test]
fn unknown_tool_501() {
    for revision in MCP {
        let mut host = host(plain(revision));
        for name in ["subtract", "Add", "add ", "", "tools/call", "plant/order", "\\u0061dd\\u0061"] {
            let at = format!("\"{name}\",\"arg");
            refused(&mut host, &call_of(revision, 1, name, "{}"), Code::UnknownTool, &at, -32602, "");
        }
        assert_eq!(host.line(&call_of(revision, 1, "\\u0061dd", r#"{"a":1,"b":1}"#)).code(), 0);
    }
}

#[test]
fn arguments_that_do_not_fit_502_as_an_error() {
    let missing = " A required member is missing. Name: b.";
    for revision in [Revision::AUTO, Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18] {
        let mut host = host(plain(revision));
        let code = Code::ArgumentsSchema;
        refused(&mut host, &call(1, "add", r#"{"a":1}"#), code, r#"{"a""#, -32602, missing);
        let kind = " A value has a JSON type that the tool does not take there. Name: b.";
        refused(&mut host, &call(2, "add", r#"{"a":1,"b":"x"}"#), code, r#""x""#, -32602, kind);
        let unknown = " There is a member that the tool does not know.";
        refused(&mut host, &call(3, "add", r#"{"a":1,"b":2,"c":3}"#), code, r#""c""#, -32602, unknown);
        // Absent arguments are empty; their place is that of the params that lack them.
        let absent = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"add"}}"#;
        refused(&mut host, absent, code, r#"{"name"#, -32602, " A required member is missing. Name: a.");
    }
    let mut host = host(plain(Revision::JSON_RPC));
    let kind = " A value has a JSON type that the tool does not take there.";
    let line = r#"{"jsonrpc":"2.0","id":4,"method":"add","params":{"a":1}}"#;
    refused(&mut host, line, Code::ArgumentsSchema, r#"{"a"#, -32602, kind);
    refused(&mut host, r#"{"jsonrpc":"2.0","id":4,"method":"add"}"#, Code::ArgumentsSchema, "", -32602, kind);
    // Nobody waits for the answer to a notification.
    refused(&mut host, r#"{"jsonrpc":"2.0","method":"add","params":[1,"x"]}"#, Code::ArgumentsSchema, "\"x", 0, "");
}

/// The result of a tool that says what was wrong.
fn misfit_result(complete: bool) -> Value {
    let text = format!("{} A required member is missing. Name: b.", Code::ArgumentsSchema.text());
    let mut result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    if complete {
        result["resultType"] = json!("complete");
    }
    json!({"jsonrpc": "2.0", "id": 1, "result": result})
}

#[test]
fn arguments_that_do_not_fit_502_as_a_result() {
    for (revision, complete, line) in [
        (Revision::V2025_11_25, false, call(1, "add", r#"{"a":1}"#)),
        (Revision::V2026_07_28, true, modern_call(1, "add", r#"{"a":1}"#)),
        // Nobody named a revision, but the request says its own.
        (Revision::AUTO, true, modern_call(1, "add", r#"{"a":1}"#)),
    ] {
        let mut host = host(plain(revision));
        let became = host.line(&line);
        assert_eq!(became.code(), 502);
        assert_eq!(host.last(), misfit_result(complete), "{revision}");
        assert_eq!(host.gate.counters().replies, 1);
    }
    // A method that is no tool has no result that could say so.
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut host = host(plain(revision));
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"plant/order","params":{{{MODERN_META},"Start":{{}}}}}}"#);
        assert_eq!(host.line(&line).code(), 502);
        assert_eq!(host.last()["error"]["code"], -32602);
    }
}

/// A wire in a session.
struct Tracked<F> {
    writer: Writer<HeapStorage, F>,
    tracker: Rc<RefCell<Tracker<Vec<Slot>>>>,
}

impl<F: FnMut(&[u8])> Wire for Tracked<F> {
    fn send(&mut self, line: &[u8]) -> bool {
        self.writer.write_line_with(line, &mut *self.tracker.borrow_mut()).is_ok()
    }
}

#[test]
fn the_session_knows_its_revision() {
    for (version, form) in
        [("2024-11-05", None), ("2025-03-26", None), ("2025-06-18", None), ("2025-11-25", Some(false))]
    {
        let (client, from_server) = (plain(Revision::AUTO), server(Revision::AUTO));
        let slots = vec![Slot::EMPTY; 4 * 8];
        let tracker = Rc::new(RefCell::new(Tracker::new(&client, &from_server, slots).unwrap()));
        let mut gate = Gate::new(client, HeapStorage::new()).unwrap();
        let mut sent = Vec::new();
        let put = |line: &[u8]| sent.push(serde_json::from_slice::<Value>(line).unwrap());
        let writer = Writer::new(from_server, HeapStorage::new(), put).unwrap();
        let mut wire = Tracked { writer, tracker: Rc::clone(&tracker) };
        let mut actions = Actions::new(TABLE, ALLOW, Recorder::default(), Ledger::default()).unwrap();
        let (mut room, mut out) = ([0; 256], [0; REPLY_LEN]);
        let initialize = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
        ) + "\n";
        let Event::Message(message) = gate.feed_with(initialize.as_bytes(), &mut *tracker.borrow_mut()).event else {
            panic!("{version}")
        };
        assert!(matches!(actions.handle(message, &mut room, &mut out, &mut wire), Handled::Message(_)));
        let initialized = format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        ) + "\n";
        assert!(wire.send(initialized.as_bytes()));
        for (id, arguments) in [(1, r#"{"a":1}"#), (2, r#"{"a":1,"b":2}"#)] {
            let line = call(id, "add", arguments) + "\n";
            let Event::Message(message) = gate.feed_with(line.as_bytes(), &mut *tracker.borrow_mut()).event else {
                panic!("{version}")
            };
            let _ = actions.handle(message, &mut room, &mut out, &mut wire);
        }
        assert_eq!(tracker.borrow().in_flight(Direction::FromClient), 0, "{version}: each was answered");
        assert!(!wire.send(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[]}}\n"), "answered twice");
        drop(wire);
        assert_eq!(sent.len(), 3);
        match form {
            Some(complete) => assert_eq!(sent[1], misfit_result(complete)),
            None => assert_eq!(sent[1]["error"]["code"], -32602, "{version}"),
        }
        assert_eq!(sent[2]["result"]["isError"], false);
    }
}

#[test]
fn a_denied_call_503() {
    for revision in MCP {
        let denial = Denial::because("the password is xyzzy");
        let mut host =
            Host::new(plain(revision), TABLE, Guard(Some((Target::Tool("add"), denial))), Recorder::default());
        let line = call_of(revision, 1, "add", r#"{"a":1,"b":2}"#);
        refused(&mut host, &line, Code::NotAuthorized, "", -32602, "");
        assert!(!host.sent[0].contains("xyzzy"));
        // The one denial has nothing to do with other actions.
        let line = call_of(revision, 2, "note", r#"{"text":"t"}"#);
        assert_eq!(host.line(&line), Became::Executed(Target::Tool("note"), Outcome::Done));
    }
    let denial = Denial::because("no").with_rpc_code(-32001);
    let mut host =
        Host::new(plain(Revision::AUTO), TABLE, Guard(Some((Target::Tool("add"), denial))), Recorder::default());
    refused(&mut host, &call(1, "add", r#"{"a":1,"b":2}"#), Code::NotAuthorized, "", -32001, "");
}

/// The host may choose a code that the revision doesn't let a server send (409). The client is answered all the same.
#[test]
fn a_denial_is_answered_whatever_its_code() {
    for rpc_code in [-32002, -32042, -32099, -32700, 0, 1, i32::MIN, i32::MAX] {
        let guard = Guard(Some((Target::Tool("add"), Denial::because("no").with_rpc_code(rpc_code))));
        let mut host = Host::new(plain(Revision::V2026_07_28), TABLE, guard, Recorder::default());
        assert_eq!(host.line(&modern_call(1, "add", r#"{"a":1,"b":2}"#)).code(), 503);
        let sent = if matches!(rpc_code, -32002 | -32042 | -32099) { -32602 } else { rpc_code };
        assert_eq!((host.sent.len(), &host.last()["error"]["code"]), (1, &json!(sent)));
    }
}

/// A line that one switch lets through.
fn loosened(switch: Switch) -> Option<String> {
    let with = |arguments: &str| Some(call(1, "touch", arguments));
    match switch {
        Switch::SurroundingSpace => with("{}").map(|line| format!(" {line}")),
        Switch::LoneSurrogates => with(r#"{"a":"\ud800"}"#),
        Switch::LongKeys => with(&format!("{{\"{}\":1}}", "k".repeat(8193))),
        Switch::CaseCollisions => with(r#"{"a":1,"A":2}"#),
        Switch::EscapedNul => with(r#"{"a":"\u0000"}"#),
        Switch::EscapedNulInKeys => with(r#"{"a\u0000":1}"#),
        Switch::BigIntegers => with(r#"{"a":9007199254740993}"#),
        Switch::NumberRange => with(r#"{"a":1e400}"#),
        Switch::ForbiddenKeys => with(r#"{"__proto__":1}"#),
        Switch::UnknownMembers => with("{}").map(|line| line.replacen('{', r#"{"more":1,"#, 1)),
        Switch::Depth => with(&format!("{{\"a\":{}{}}}", "[".repeat(40), "]".repeat(40))),
        // No line of a message passes by it: the blank ones are skipped.
        Switch::BlankLines => None,
        // Every profile allows them.
        Switch::Separators | Switch::InexactDecimals => None,
        other => panic!("a new switch: {}", other.name()),
    }
}

#[test]
fn a_switch_that_is_not_granted_505() {
    let mut switches = 0;
    for switch in Switch::ALL.iter().copied() {
        let Some(line) = loosened(switch) else { continue };
        switches += 1;
        let mut options = plain(Revision::AUTO);
        options.limits.max_depth = 64;
        assert_ne!(host(plain(Revision::AUTO)).line(&line).code(), 0, "{}: strict refuses it", switch.name());
        options.allowed = options.allowed.with(switch);
        let granted = Switches::NONE.with(switch);
        let all = Switch::ALL.iter().fold(Switches::NONE, |all, switch| all.with(*switch));
        let more = format!(" Name: {}.", switch.name());
        let mut refusing = host(options.clone());
        refusing.actions = refusing.actions.with_granted(all.without(switch));
        refused(&mut refusing, &line, Code::SwitchNotGranted, "", -32600, &more);
        let mut granting = host(options);
        granting.actions = granting.actions.with_granted(granted);
        assert_eq!(granting.line(&line), Became::Executed(Target::Tool("touch"), Outcome::Done), "{}", switch.name());
        assert_eq!(granting.actions.journal().executed(), 1);
    }
    assert_eq!(switches, Switch::ALL.len() - 3);
    let mut host = host(plain(Revision::AUTO));
    for free in ["{\"a\":\"\u{2028}\"}", r#"{"a":0.12345678901234567}"#] {
        assert_eq!(host.line(&call(1, "touch", free)), Became::Executed(Target::Tool("touch"), Outcome::Done));
    }
}

#[test]
fn a_line_that_needs_two_switches_needs_both() {
    let (one, two) = (Switch::BigIntegers, Switch::ForbiddenKeys);
    let line = call(1, "touch", r#"{"__proto__":9007199254740993}"#);
    for (granted, executed) in [
        (Switches::NONE, 0),
        (Switches::NONE.with(one), 0),
        (Switches::NONE.with(two), 0),
        (Switches::NONE.with(one).with(two), 1),
    ] {
        let mut options = plain(Revision::AUTO);
        options.allowed = options.allowed.with(one).with(two);
        let mut host = host(options);
        host.actions = host.actions.with_granted(granted);
        host.line(&line);
        assert_eq!(host.actions.journal().executed(), executed, "{granted:?}");
    }
}

/// Lines that are refused: by the gate, and at every stage behind it.
fn refusals() -> Vec<(u16, String)> {
    vec![
        (209, call(1, "add", r#"{"a":1,"b":2,"a":3}"#)),
        (402, r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#.to_owned()),
        (501, call(1, "subtract", "{}")),
        (502, call(1, "add", "{}")),
        (503, call(1, "note", r#"{"text":"t"}"#)),
        (505, call(1, "touch", r#"{"a":9007199254740993}"#)),
    ]
}

#[test]
fn what_a_refused_call_does_to_the_session() {
    let denied = || Guard(Some((Target::Tool("note"), Denial::because("no"))));
    for policy in [Policy::CloseAll, Policy::CloseMalformed, Policy::Continue] {
        for (code, line) in refusals() {
            let mut options = options(Revision::AUTO, policy);
            options.allowed = options.allowed.with(Switch::BigIntegers);
            let mut host = Host::new(options, TABLE, denied(), Recorder::default());
            assert_eq!(host.line(&line).code(), code);
            let closes = policy == Policy::CloseAll || (policy == Policy::CloseMalformed && code == 209);
            assert_eq!(host.gate.is_closed(), closes, "{policy:?} {code}");
            let became = host.line(&call(2, "add", r#"{"a":1,"b":2}"#));
            let executed = host.actions.journal().executed();
            if closes {
                assert_eq!((became, executed), (Became::Closed, 0), "{policy:?} {code}");
                // A new session is a new one.
                host.gate.reset();
                assert_eq!(host.line(&call(2, "add", r#"{"a":1,"b":2}"#)).code(), 0);
            } else {
                assert_eq!((became, executed), (Became::Executed(Target::Tool("add"), Outcome::Done), 1));
            }
            assert_eq!(host.actions.executor().calls.len(), 1);
            assert_eq!(host.actions.executor().calls[0].id.as_deref(), Some(b"2".as_slice()));
        }
    }
}

#[test]
fn lines_in_one_piece_after_a_refused_call_are_not_executed() {
    let mut gate = Gate::new(options(Revision::AUTO, Policy::CloseAll), HeapStorage::new()).unwrap();
    let mut actions = Actions::new(TABLE, ALLOW, Recorder::default(), ()).unwrap();
    let stream = [call(1, "no", "{}"), call(2, "add", r#"{"a":1,"b":2}"#)].map(|line| line + "\n").concat();
    let (mut rest, mut room, mut out) = (stream.as_bytes(), [0; 256], [0; REPLY_LEN]);
    while !rest.is_empty() {
        let fed = gate.feed(rest);
        rest = &rest[fed.consumed..];
        if let Event::Message(message) = fed.event {
            let _ = actions.handle(message, &mut room, &mut out, &mut Sent::default());
        }
    }
    assert!(gate.is_closed());
    assert_eq!(actions.journal().executed(), 0);
}

/// A stopped reply leaves the refusal as it is.
#[test]
fn replies_can_be_switched_off() {
    let mut options = plain(Revision::AUTO);
    options.limits.max_replies = 0;
    let mut host = host(options);
    assert_eq!(host.line(&call(1, "no", "{}")).code(), 501);
    assert!(host.sent.is_empty());
    assert_eq!(host.line(&call(1, "add", r#"{"a":1,"b":2}"#)).code(), 0);
    assert_eq!(host.sent.len(), 1, "an answer is no reply");
}

// Targets.

#[test]
fn tools_and_methods_of_one_name_are_told_apart() {
    let mut host = host(plain(Revision::V2025_11_25));
    let method = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"u:x","_meta":{"a":1}}}"#;
    assert_eq!(host.line(method), Became::Executed(Target::Method("resources/read"), Outcome::Done));
    let tool = call(2, "resources/read", r#"{"a":1,"b":2}"#);
    assert_eq!(host.line(&tool), Became::Executed(Target::Tool("resources/read"), Outcome::Done));
    let swapped = [
        call(3, "resources/read", r#"{"uri":"u:x"}"#),
        r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"u:x","a":1,"b":2}}"#.to_owned(),
    ];
    assert_eq!(swapped.map(|line| host.line(&line).code()), [502, 502]);
    assert_eq!(host.line(&call(5, "plant/order", "{}")).code(), 501);
    // A method with escapes is that method.
    let spelt = call(6, "add", r#"{"a":1,"b":2}"#).replacen("tools/call", r"tool\u0073\/call", 1);
    assert_eq!(host.line(&spelt), Became::Executed(Target::Tool("add"), Outcome::Done));
    let spelt = method.replacen("resources/read", r"\u0072esources\/read", 1);
    assert_eq!(host.line(&spelt), Became::Executed(Target::Method("resources/read"), Outcome::Done));
    assert_eq!(host.line(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#), Became::Message);
}

#[test]
fn plain_json_rpc_has_methods_and_no_tools() {
    let mut host = host(plain(Revision::JSON_RPC));
    let line = r#"{"jsonrpc":"2.0","id":"i\u0064","method":"add","params":[1,2]}"#;
    assert_eq!(host.line(line), Became::Executed(Target::Method("add"), Outcome::Done));
    assert_eq!(host.actions.executor().calls[0].arguments, "[1, 2]");
    assert_eq!(host.sent[0], "{\"jsonrpc\":\"2.0\",\"id\":\"i\\u0064\",\"result\":\"recorded\"}\n");
    assert_eq!(host.line(&call(1, "add", r#"{"a":1,"b":2}"#)), Became::Message, "tools/call is a method like any");
    let meta = r#"{"jsonrpc":"2.0","id":1,"method":"plant/order","params":{"Stop":1,"_meta":{}}}"#;
    assert_eq!(host.line(meta).code(), 502, "and _meta a member");
    let notification = r#"{"jsonrpc":"2.0","method":"add","params":[3]}"#;
    let sent = host.sent.len();
    assert_eq!(host.line(notification), Became::Executed(Target::Method("add"), Outcome::Done));
    assert_eq!(host.sent.len(), sent, "nobody waits for it");
}

#[test]
fn meta_is_no_argument_of_a_method() {
    let mut host = host(plain(Revision::V2026_07_28));
    for (order, shown) in [(r#""Stop":1"#, "Stop(1)"), (r#""Start":{"at":2}"#, "Start { at: 2 }")] {
        for params in [format!("{{{MODERN_META},{order}}}"), format!("{{{order},{MODERN_META}}}")] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"plant/order","params":{params}}}"#);
            assert_eq!(host.line(&line).code(), 0, "{line}");
            assert_eq!(host.actions.executor().calls.last().unwrap().arguments, shown);
        }
    }
    // It is one only there.
    let line = modern_call(1, "add", r#"{"a":1,"b":2,"_meta":{}}"#);
    assert_eq!(host.line(&line).code(), 502);
}

#[test]
fn a_table_has_one_row_for_each_target() {
    const TWICE: &[Entry<Allow, Recorder>] = &[Entry::of::<Add>(), Entry::of::<Note>(), Entry::of::<Add>()];
    assert_eq!(Actions::new(TWICE, Allow, Recorder::default(), ()).unwrap_err().option, "table");
    actions! { Calls Target::Method("tools/call"), Sum; }
    const CALLS: &[Entry<Allow, Recorder>] = &[Entry::of::<Calls>()];
    assert_eq!(Actions::new(CALLS, Allow, Recorder::default(), ()).unwrap_err().option, "table");
}

#[test]
fn a_batch_and_a_response_are_no_calls() {
    let mut host = host(plain(Revision::V2025_03_26));
    assert_eq!(host.line(&format!("[{}]", call(1, "add", r#"{"a":1,"b":2}"#))), Became::Message);
    assert_eq!(host.line(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Became::Message);
    assert_eq!(host.actions.journal().executed(), 0);
    let mut gate = Gate::new(plain(Revision::V2025_03_26), HeapStorage::new()).unwrap();
    let Event::Message(message) = gate.feed(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").event else { panic!() };
    assert!(matches!(message.into_call(Switches::NONE), Err(NoCall::Message(message)) if message.id() == Some(b"1")));
}

// Executors.

/// An executor that answers with whatever a test wants.
struct Puppet<T> {
    open: bool,
    answer: Result<T, String>,
}

impl<A: Action, T: Answer + Clone> Execute<A> for Puppet<T> {
    type Output = T;
    type Error = String;
    fn execute(&mut self, action: Authorized<'_, A>) -> Result<T, String> {
        if self.open {
            drop(action.open());
        }
        self.answer.clone()
    }
}

/// What goes out for such an answer, and how the execution ended.
fn answered<T: Answer + Clone + 'static>(
    revision: Revision,
    open: bool,
    answer: Result<T, String>,
) -> (Outcome, String) {
    let table = const { &[Entry::of::<Add>()] };
    let mut host: Host<Allow, Puppet<T>> = Host::new(plain(revision), table, Allow, Puppet { open, answer });
    let became = host.line(&call_of(revision, 1, "add", r#"{"a":1,"b":2}"#));
    let Became::Executed(_, outcome) = became else { panic!("{became:?}") };
    assert_eq!(host.actions.journal().executed(), u64::from(open));
    assert_eq!(host.actions.journal().failed(), u64::from(outcome == Outcome::Failed));
    assert_eq!(host.sent.len(), 1);
    (outcome, host.sent.remove(0))
}

const NO_ANSWER: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"The action was executed; its result can't be sent.\"}}\n";

const UNTOUCHED: &str =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"The action was not executed.\"}}\n";

#[test]
fn only_opened_actions_count() {
    assert_eq!(answered(Revision::AUTO, true, Ok(Text("x"))).0, Outcome::Done);
    // Nothing was done, whatever the executor says.
    assert_eq!(answered(Revision::AUTO, false, Ok(Text("x"))), (Outcome::Untouched, UNTOUCHED.to_owned()));
    assert_eq!(answered::<Text<&str>>(Revision::AUTO, false, Err("x".to_owned())).0, Outcome::Untouched);
    let (outcome, sent) = answered::<Text<&str>>(Revision::AUTO, true, Err("a \"b\"\n".to_owned()));
    assert_eq!(outcome, Outcome::Failed);
    let failed = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "a \"b\"\n"}], "isError": true}});
    assert_eq!(serde_json::from_str::<Value>(&sent).unwrap(), failed);
}

#[test]
fn any_text_can_be_sent() {
    let text: String =
        ('\0'..='\u{ff}').chain("\u{2028}\u{2029}\u{feff}\u{ffff}😀\"}],\"isError\":true".chars()).collect();
    for revision in MCP {
        let (outcome, sent) = answered(revision, true, Ok(Text(text.clone())));
        assert_eq!(outcome, Outcome::Done);
        let sent: Value = serde_json::from_str(&sent).unwrap();
        assert_eq!(sent["result"]["content"][0]["text"], text.as_str());
        assert_eq!(sent["result"]["isError"], false);
        assert_eq!(sent["result"].get("resultType").is_some(), revision == Revision::V2026_07_28);
    }
}

#[test]
fn a_result_that_is_none_does_not_go_out() {
    let long = format!("{{\"content\":[],\"x\":\"{}\"}}", "x".repeat(5000));
    for revision in MCP {
        for json in [
            "",
            " ",
            "{",
            "}",
            "{}}",
            "[1",
            "nul",
            "01",
            "'a'",
            "\"a",
            "1",
            "null",
            "[]",
            "{\"a\":1,\"a\":2}",
            "{\"a\":\"\u{0}\"}",
            "{}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}",
            "1,\"id\":2",
            "{},\"id\":2",
            "{},\"error\":{\"code\":1,\"message\":\"\"}",
            "{}} {",
            "{}\n",
            "{\"a\":\r1}",
            "{},\"_meta\":{}",
            "{} {}",
            "{}/**/",
            "\u{feff}{}",
            &long,
        ] {
            let (outcome, sent) = answered(revision, true, Ok(Json(json.to_owned())));
            assert_eq!((outcome, sent.as_str()), (Outcome::Done, NO_ANSWER), "{revision} {json}");
        }
        for json in [
            "",
            "{",
            "{}}",
            "{},\"isError\":true",
            "{},\"x\":1",
            "{}},\"id\":{\"a\":1",
            "{\"a\":",
            "1,2",
            "{\"a\":1,\"a\":2}",
            "tru",
            "{}\n",
            "\"",
            &long,
        ] {
            let (outcome, sent) = answered(revision, true, Ok(Structured(json.to_owned())));
            if revision == Revision::AUTO || !sent.contains("result") || sent == NO_ANSWER {
                assert_eq!(outcome, Outcome::Done);
            }
            let sent: Value = serde_json::from_str(&sent).unwrap();
            // Before 2025-06-18 it is a text like any, in one string.
            let members = sent["result"].as_object().map_or(0, serde_json::Map::len);
            assert!(sent["error"]["code"] == -32603 || members == 2, "{revision} {json}: {sent}");
            assert_eq!((sent["id"].clone(), sent["result"]["isError"] == true), (json!(1), false));
        }
    }
}

#[test]
fn results_as_json_and_structured() {
    let (_, sent) = answered(Revision::V2025_11_25, true, Ok(Json(" {\"content\":[]} ")));
    assert_eq!(sent, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\": {\"content\":[]} }\n");
    for revision in MCP {
        let (_, sent) = answered(revision, true, Ok(Structured("{\"a\":\"\\u2028 ]}\"}")));
        let sent: Value = serde_json::from_str(&sent).unwrap();
        assert_eq!(sent["result"]["content"][0]["text"], "{\"a\":\"\\u2028 ]}\"}");
        let known = [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28].contains(&revision);
        let structured = if known { json!({"a": "\u{2028} ]}"}) } else { Value::Null };
        assert_eq!(sent["result"]["structuredContent"], structured, "{revision}");
    }
}

/// An answer that breaks off, and one that writes nothing.
#[derive(Clone)]
struct Broken;
impl Answer for Broken {
    fn write(&self, result: ResultLine<'_, '_>) -> fmt::Result {
        struct HalfWay;
        impl fmt::Display for HalfWay {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("half of it")?;
                Err(fmt::Error)
            }
        }
        result.text(&HalfWay)
    }
}
#[derive(Clone)]
struct Silent;
impl Answer for Silent {
    fn write(&self, _: ResultLine<'_, '_>) -> fmt::Result {
        Ok(())
    }
}

#[test]
fn an_answer_that_breaks_off_does_not_go_out() {
    assert_eq!(answered(Revision::AUTO, true, Ok(Broken)), (Outcome::Done, NO_ANSWER.to_owned()));
    assert_eq!(answered(Revision::AUTO, true, Ok(Silent)), (Outcome::Done, NO_ANSWER.to_owned()));
}

#[test]
fn an_answer_that_has_no_room_does_not_go_out() {
    let mut gate = Gate::new(plain(Revision::AUTO), HeapStorage::new()).unwrap();
    let line = call(1, "add", r#"{"a":1,"b":2}"#) + "\n";
    let (mut room, text) = ([0; 64], "x".repeat(300));
    for len in [0, 1, NO_ANSWER.len() - 1, NO_ANSWER.len(), 300, 500] {
        let table = const { &[Entry::of::<Add>()] };
        let puppet = Puppet { open: true, answer: Ok(Text(text.clone())) };
        let mut actions = Actions::new(table, Allow, puppet, ()).unwrap();
        let Event::Message(message) = gate.feed(line.as_bytes()).event else { panic!() };
        let mut sent = Sent::default();
        assert!(matches!(
            actions.handle(message, &mut room, &mut vec![0; len], &mut sent),
            Handled::Executed(_, Outcome::Done)
        ));
        match len {
            500 => assert!(sent.lines[0].len() > 300 && sent.lines[0].ends_with(b"\n")),
            len if len >= NO_ANSWER.len() => assert_eq!(sent.lines, [NO_ANSWER.as_bytes()]),
            _ => assert!(sent.lines.is_empty()),
        }
    }
}

/// The writer's own storage may be shorter than a result: the next line is judged as if there had been none.
#[test]
fn a_writer_goes_on_after_a_line_that_it_refused() {
    let good = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    let mut put = Vec::new();
    let mut writer =
        Writer::new(server(Revision::AUTO), Inline::<200, 128>::new(), |line: &[u8]| put.push(line.to_vec())).unwrap();
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"a\":\"{}\"}}}}\n", "x".repeat(300));
    let mut refused = 0;
    for bad in [long.as_bytes(), b"Server ready\n", b"\xEF\xBB\xBF{}\n", b"\0\n", b"\r{}\n", b"{}\n", b"[]\n"] {
        assert!(matches!(writer.write_line(bad), Err(NotSent::Refused(_))), "{bad:?}");
        refused += 1;
        assert!(writer.write_line(good).is_ok(), "after {bad:?}");
    }
    for bad in [b"".as_slice(), b"{}", b"\n\n", b"{}\n{}\n", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"] {
        assert!(matches!(writer.write_line(bad), Err(NotSent::NotALine)), "{bad:?}");
        assert!(writer.write_line(good).is_ok(), "after {bad:?}");
    }
    assert_eq!(writer.gate().counters().refused_total(), refused);
    assert!(put.iter().all(|line| line == good) && put.len() == 12);
}

#[test]
fn origins_write_by_hand() {
    let mut gate = Gate::new(plain(Revision::V2025_11_25), HeapStorage::new()).unwrap();
    let line = call(1, "add", r#"{"a":1,"b":2}"#) + "\n";
    let Event::Message(message) = gate.feed(line.as_bytes()).event else { panic!() };
    let call = message.into_call(Switches::NONE).unwrap();
    let origin = *call.origin();
    assert_eq!((origin.method(), origin.id(), origin.sequence()), ("tools/call", Some(b"1".as_slice()), 1));
    assert_eq!((origin.revision(), origin.direction()), (Some("2025-11-25"), Direction::FromClient));
    assert!(origin.target().is_none() && origin.execution().is_none());
    let mut room = [];
    let journal = Journal::new();
    let authorized = call.arguments::<Add>(&mut room).unwrap().authorize(&Allow, &journal).unwrap();
    let origin = *authorized.origin();
    assert_eq!(origin.execution().map(|execution| execution.target), Some(Target::Tool("add")));
    let mut out = [0; REPLY_LEN];
    let len = origin.write_result(&Text(7), &mut out).unwrap();
    for short in 0..len {
        let small = origin.write_result(&Text(7), &mut out[..short]).unwrap_err();
        assert!(matches!(small, Unwritten::Room(small) if small.needed == len));
    }
    let len = origin.write_failure(&"no", &mut out).unwrap();
    check_sent(std::str::from_utf8(&out[..len]).unwrap(), Revision::V2025_11_25);
    assert_eq!(origin.write_result(&Json("1,2"), &mut out), Err(Unwritten::Answer));
    assert_eq!(journal.executed(), 0);
    drop(authorized);
    assert_eq!(journal.executed(), 0, "what is dropped was not executed");
}

// Records.

#[test]
fn the_audit_is_told_in_order() {
    #[derive(Default)]
    struct Order(Vec<String>);
    impl linegate::action::Audit for Order {
        fn refused(&mut self, record: &Record) {
            self.0.push(format!("refused {} {}", record.sequence, record.code.number()));
        }
        fn authorized(&mut self, execution: &linegate::action::Execution) {
            self.0.push(format!("authorized {} {}", execution.sequence, execution.target.name()));
        }
        fn ended(&mut self, execution: &linegate::action::Execution, outcome: Outcome) {
            self.0.push(format!("ended {} {}", execution.sequence, outcome.name()));
        }
    }
    let mut gate = Gate::new(plain(Revision::AUTO), HeapStorage::new()).unwrap();
    let mut order = Order::default();
    let mut actions =
        Actions::new(TABLE, ALLOW, Recorder { failure: Some("broken"), ..Recorder::default() }, &mut order).unwrap();
    for line in [call(1, "no", "{}"), call(2, "add", r#"{"a":1,"b":2}"#), "x".to_owned(), call(3, "add", "{}")] {
        let line = line + "\n";
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            let fed = gate.feed(rest);
            rest = &rest[fed.consumed..];
            match fed.event {
                Event::Message(message) => {
                    let _ = actions.handle(message, &mut [], &mut [0; REPLY_LEN], &mut Sent::default());
                }
                Event::Refused(refusal) => actions.refused(&refusal),
                _ => {}
            }
        }
    }
    assert_eq!(actions.journal().failed(), 1);
    drop(actions);
    assert_eq!(order.0, ["refused 1 501", "authorized 2 add", "ended 2 failed", "refused 3 202", "refused 4 502"]);
}

/// The same line has the same fingerprint whoever refuses or executes it: the gate, or any stage behind it.
#[test]
fn fingerprints_are_those_of_the_gate() {
    let line = call(1, "add", r#"{"a":1,"b":2}"#) + "\r";
    let mut narrow = plain(Revision::AUTO);
    narrow.limits.max_depth = 2;
    let Became::ByGate(by_gate) = host(narrow).line(&line) else { panic!() };
    let mut executing = host(plain(Revision::AUTO));
    executing.line(&line);
    let ledger = executing.actions.audit();
    assert_eq!(ledger.authorized[0].fingerprint, by_gate.fingerprint);
    assert_eq!(ledger.ended, [(ledger.authorized[0], Outcome::Done)]);
    let guard = Guard(Some((Target::Tool("add"), Denial::because("no"))));
    let mut denying = Host::new(plain(Revision::AUTO), TABLE, guard, Recorder::default());
    let Became::Refused(record) = denying.line(&line) else { panic!() };
    assert_eq!((record.fingerprint, record.frame_len), (by_gate.fingerprint, by_gate.frame_len));
}

thread_local! {
    static SHOWN: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Notes how a value shows itself, plainly and at length.
fn show(value: &dyn Debug) {
    SHOWN.with_borrow_mut(|shown| *shown += &format!("{value:?}\n{value:#?}\n"));
}

struct Shown;
impl Action for Shown {
    const TARGET: Target<'static> = Target::Tool("MARKtool");
    type Arguments<'a> = Words<'a>;
    fn read<'a>(arguments: RawArguments<'a>) -> Result<Words<'a>, Misfit<'a>> {
        show(&arguments);
        show(&arguments.cursor());
        show(&Misfit::new(Wrong::Value, arguments.cursor()));
        arguments.typed()
    }
}

#[test]
fn no_payload_shows() {
    let long = "MARK".repeat(30);
    let lines = [
        call(77345, "MARKtool", r#"{"text":"MARK","tag":"\u004dARK"}"#),
        call(77345, "MARKtool", r#"{"text":"MARK","MARKmember":77345}"#),
        call(77345, "MARKtool", r#"{"text":77345}"#),
        call(77345, "MARKother", r#"{"MARK":["MARK",77345]}"#),
        call(77345, "MARKtool", r#"{"text":"MARK","MARK":90071992547409931}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"MARK","method":"MARK{long}","params":{{"MARK":"MARK"}}}}"#),
        r#"{"jsonrpc":"2.0","id":"MARK","method":"MARK","params":{"MARK":"MARK","MARK":1}}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":"MARK","error":{{"code":77345,"message":"{long}"}}}}"#),
        format!("MARK{long}"),
    ];
    let table = const { &[Entry::<Deny, Recorder>::of::<Shown>()] };
    for line in &lines {
        let line = line.clone() + "\n";
        let mut options = plain(Revision::AUTO);
        options.methods = &[];
        options.allowed = options.allowed.with(Switch::BigIntegers);
        let gate = || Gate::new(options.clone(), HeapStorage::new()).unwrap();
        // Each stage by hand, as far as the line goes.
        let (mut by_hand, mut room, journal) = (gate(), vec![0; line.len()], Journal::new());
        let fed = by_hand.feed(line.as_bytes());
        show(&fed);
        show(&fed.event);
        match fed.event {
            Event::Refused(refusal) => {
                show(&refusal);
                show(&refusal.record());
            }
            Event::Message(message) => {
                show(&message);
                match message.into_call(Switches::NONE) {
                    Err(no_call) => show(&no_call),
                    Ok(call) => {
                        show(&call);
                        show(call.origin());
                        match call.arguments::<Shown>(&mut room) {
                            Err(refusal) => show(&refusal),
                            Ok(typed) => {
                                show(&typed);
                                let authorized = typed.authorize(&Allow, &journal).unwrap();
                                show(&authorized);
                                show(authorized.origin());
                                show(&authorized.origin().execution());
                                let _ = authorized.open();
                            }
                        }
                    }
                }
            }
            _ => {}
        }
        show(&by_hand);
        show(&journal);
        // And by the table.
        let (mut gate, mut out, mut room) = (gate(), [0; REPLY_LEN], vec![0; line.len()]);
        let mut actions = Actions::new(table, Deny("MARK, which is the host's own"), Recorder::default(), ()).unwrap();
        let mut wire = Writer::new(server(Revision::AUTO), HeapStorage::new(), |_: &[u8]| {}).unwrap();
        if let Event::Message(message) = gate.feed(line.as_bytes()).event {
            show(&actions.handle(message, &mut room, &mut out, &mut wire));
        }
        show(&actions);
        if let Err(not_sent) = wire.write_line(line.as_bytes()) {
            show(&not_sent);
        }
    }
    let shown = SHOWN.take();
    // The name in the table is the host's, and shows.
    let foreign = shown.replace("Tool(\"MARKtool\")", "").replace("\"MARKtool\",", "");
    assert!(shown.len() > 5000 && shown.contains("MARKtool"));
    let at = foreign.find("MARK").or_else(|| foreign.find("77345"));
    assert!(at.is_none(), "{}", &foreign[at.unwrap().saturating_sub(200)..][..300]);
}

// The stand-ins for tests.

#[test]
fn stand_ins_stand_in() {
    let table = const { &[Entry::<Deny, Recorder>::of::<Add>()] };
    let mut denying = Host::new(plain(Revision::AUTO), table, Deny("never"), Recorder::default());
    assert_eq!(denying.line(&call(1, "add", r#"{"a":1,"b":2}"#)).code(), 503);
    assert!(denying.actions.executor().calls.is_empty());
    let failing = Recorder { failure: Some("on purpose"), ..Recorder::default() };
    let mut failing = Host::new(plain(Revision::AUTO), TABLE, ALLOW, failing);
    assert_eq!(
        failing.line(&call(1, "note", r#"{"text":"a\tb"}"#)),
        Became::Executed(Target::Tool("note"), Outcome::Failed)
    );
    let recorded = &failing.actions.executor().calls[0];
    assert_eq!(
        (recorded.target, recorded.arguments.as_str()),
        (Target::Tool("note"), "Words { text: \"a\\tb\", tag: None }")
    );
    assert_eq!(failing.last()["result"]["content"][0]["text"], "on purpose");
    let mut sent = Sent::default();
    assert!(sent.send(b"anything"));
    assert_eq!(sent.lines, [b"anything"]);
}

/// The authorizer sees the arguments that will be executed, borrowed from the line or the room.
#[test]
fn an_authorizer_decides_by_the_arguments() {
    struct Below(i64, Cell<u32>);
    impl Authorize<Add> for Below {
        fn authorize(&self, origin: &Origin<'_>, sum: &Sum) -> Result<(), Denial> {
            self.1.set(self.1.get() + 1);
            assert_eq!(origin.method(), "tools/call");
            if sum.a + sum.b < self.0 { Ok(()) } else { Err(Denial::because("too much")) }
        }
    }
    let table = const { &[Entry::of::<Add>()] };
    let mut host: Host<Below, Recorder> =
        Host::new(plain(Revision::AUTO), table, Below(10, Cell::new(0)), Recorder::default());
    assert_eq!(host.line(&call(1, "add", r#"{"a":4,"b":5}"#)).code(), 0);
    assert_eq!(host.line(&call(2, "add", r#"{"a":5,"b":5}"#)).code(), 503);
    assert_eq!(host.line(&call(3, "add", r#"{"a":5}"#)).code(), 502);
    assert_eq!(host.actions.journal().executed(), 1);
}
