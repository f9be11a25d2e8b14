//! `linegate run` as the keeper of a session: what it refuses of either side because of the lines before it, and that
//! honest sessions of either era pass whole.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::ChildStdout;

use serde_json::{Value, json};
use support::{Outcome, Running, linegate_bin, scratch};

/// A server that says what it is told to. Its first argument names, for each method, the lines that it answers with: `ID`
/// stands for the id, `LINE` for the line as a JSON string. Methods that have no name there get -32601, and answers to
/// requests of its own go by the name of "". It writes every line that it gets to the file in its second argument.
const SCRIPTED: &str = r#"
import json, sys
says, record = json.loads(sys.argv[1]), open(sys.argv[2], "ab", buffering=0)
unknown = ['{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"unknown method"}}']
for line in sys.stdin.buffer:
    record.write(line)
    message = json.loads(line)
    for text in says.get(message.get("method", ""), unknown if "method" in message and "id" in message else []):
        text = text.replace("ID", json.dumps(message.get("id"))).replace("LINE", json.dumps(line.decode()))
        sys.stdout.write(text + "\n")
    sys.stdout.flush()
"#;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
const TOOLS: &str = r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[]}}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#;

fn ping(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

/// A request as revision 2026-07-28 wants it.
fn modern(id: u32, method: &str, params: Value) -> String {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// The client of one session.
struct Client {
    running: Running,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Client {
    fn start(options: &[&str], server: &[&str]) -> Self {
        let mut running = Running::start_unread(&[&["run"], options, &["--"], server].concat());
        let lines = BufReader::new(running.child.stdout.take().expect("a pipe")).lines();
        Self { running, lines }
    }

    /// In front of the example server.
    fn of_example(options: &[&str]) -> Self {
        let linegate = linegate_bin();
        Self::start(options, &[linegate.to_str().expect("UTF-8"), "example-server"])
    }

    fn send(&mut self, line: &str) {
        self.running.send(format!("{line}\n"));
    }

    /// The next line that comes.
    fn hear(&mut self) -> Value {
        let line = self.lines.next().expect("a line").expect("read");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Sends a line; the next one that comes.
    fn ask(&mut self, line: &str) -> Value {
        self.send(line);
        self.hear()
    }

    /// The error code of the answer; 0 where it is a result.
    fn code(&mut self, line: &str) -> i64 {
        let answer = self.ask(line);
        answer["error"]["code"].as_i64().unwrap_or_default()
    }

    /// Begins a session of the older revisions.
    fn greet(&mut self, revision: &str) {
        let answer = self.ask(&INITIALIZE.replace("2025-11-25", revision));
        assert_eq!(answer["result"]["protocolVersion"], revision);
        self.send(INITIALIZED);
    }

    /// The end of its input. What still came, and how it ended.
    fn finish(mut self) -> (Vec<String>, Outcome) {
        self.running.close();
        let rest = self.lines.by_ref().map_while(Result::ok).collect();
        (rest, self.running.wait())
    }

    /// The end of a session in which nothing was refused.
    #[track_caller]
    fn finish_clean(self) {
        let (rest, outcome) = self.finish();
        assert_eq!((rest, outcome.code, outcome.stderr.as_str()), (vec![], Some(0), ""));
    }
}

/// A client before a scripted server that greets at that revision, and the file of what the server got.
fn scripted(options: &[&str], revision: &str, says: &[(&str, &[&str])]) -> (Client, std::path::PathBuf) {
    let (server, path) = (scratch("scripted.py"), scratch("record"));
    fs::write(&server, SCRIPTED).expect("written");
    fs::write(&path, "").expect("written");
    let hello = json!({"protocolVersion": revision, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}});
    let mut script =
        json!({"initialize": [format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{hello}}}"#)], "ping": [PONG]});
    for (method, lines) in says {
        script[method] = json!(lines);
    }
    let command = ["python3", server.to_str().expect("UTF-8"), &script.to_string(), path.to_str().expect("UTF-8")];
    (Client::start(options, &command), path)
}

fn seen(record: &std::path::Path) -> Vec<String> {
    fs::read_to_string(record).expect("read").lines().map(str::to_owned).collect()
}

#[test]
fn a_request_before_initialize_is_answered_and_the_session_goes_on() {
    let (mut client, record) = scripted(&[], "2025-11-25", &[("tools/list", &[TOOLS])]);
    let answer = client.ask(LIST);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&7.into(), &(-32600).into()));
    // It was refused, so its id was never used.
    client.greet("2025-11-25");
    assert_eq!(client.ask(LIST)["result"], json!({"tools": []}));
    let (_, outcome) = client.finish();
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("of the client at offset 0: 451 not_initialized, byte 33"), "{}", outcome.stderr);
    assert_eq!(seen(&record), [INITIALIZE, INITIALIZED, LIST]);
}

#[test]
fn a_second_initialize_is_refused() {
    let (mut client, _) = scripted(&[], "2025-11-25", &[]);
    client.greet("2025-11-25");
    assert_eq!(client.code(&INITIALIZE.replace("\"i\"", "\"j\"")), -32600);
    assert_eq!(client.code(&ping(1)), 0);
    let (_, outcome) = client.finish();
    assert!(outcome.stderr.contains("452 initialize_again"), "{}", outcome.stderr);
}

#[test]
fn an_id_in_flight_is_not_used_again() {
    // The reply has no id of its own: with that of the first request it would end that one.
    for (revision, id) in [("2025-06-18", Some(Value::Null)), ("2025-11-25", None)] {
        let late = TOOLS.replace("ID", "7");
        let (mut client, record) = scripted(&[], revision, &[("tools/list", &[]), ("ping", &[PONG, &late])]);
        client.greet(revision);
        client.send(LIST);
        let refused = client.ask(LIST);
        assert_eq!((refused.get("id").cloned(), &refused["error"]["code"]), (id, &(-32600).into()));
        assert_eq!(client.ask(&ping(1))["id"], 1);
        assert_eq!(client.hear()["id"], 7);
        let (_, outcome) = client.finish();
        assert_eq!(outcome.code, Some(0));
        assert!(outcome.stderr.contains("453 id_in_use"), "{}", outcome.stderr);
        assert_eq!(seen(&record).iter().filter(|line| *line == LIST).count(), 1);
    }
}

#[test]
fn more_requests_than_it_can_remember_are_refused() {
    let (mut client, _) = scripted(&[], "2025-11-25", &[("tools/list", &[])]);
    client.greet("2025-11-25");
    for id in 0..1024 {
        client.send(&LIST.replace('7', &id.to_string()));
    }
    let answer = client.ask(&LIST.replace('7', "1024"));
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&1024.into(), &(-32600).into()));
    let (_, outcome) = client.finish();
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("456 too_many_in_flight"), "{}", outcome.stderr);
}

#[test]
fn ids_are_free_again_once_they_are_answered() {
    let mut client = Client::of_example(&[]);
    client.greet("2025-11-25");
    // As many as may be in flight, all at once and in one write, again and again.
    let lines: String = (0..1000).map(|id| ping(id) + "\n").collect();
    for _ in 0..10 {
        client.send(lines.trim_end());
        for id in 0..1000 {
            assert_eq!(client.hear()["id"], id);
        }
    }
    client.finish_clean();
}

#[test]
fn an_answer_to_nothing_is_dropped_and_told() {
    let audit = scratch("audit.jsonl");
    let stray = PONG.replace("ID", "99");
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none","progress":1}}"#;
    let (mut client, record) = scripted(
        &["--audit", audit.to_str().expect("UTF-8")],
        "2025-11-25",
        &[("ping", &[&stray, progress, PONG, PONG])],
    );
    client.greet("2025-11-25");
    assert_eq!(client.ask(&ping(1))["id"], 1);
    assert_eq!(client.ask(&ping(2))["id"], 2);
    let (rest, outcome) = client.finish();
    // The session went on, and nobody was answered for any of it.
    assert_eq!((rest, outcome.code), (vec![], Some(0)));
    assert_eq!(seen(&record), [INITIALIZE, INITIALIZED, &ping(1), &ping(2)]);
    for told in ["454 unknown_response", "457 unknown_progress", "458 answered_twice"] {
        assert_eq!(outcome.stderr.matches(told).count(), 2, "{told}: {}", outcome.stderr);
    }
    assert!(outcome.stderr.contains(&format!("The line: {stray}")), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("This ends the session."), "{}", outcome.stderr);
    let audit = fs::read_to_string(audit).expect("read");
    assert_eq!(audit.lines().count(), 6);
    let first: Value = serde_json::from_str(audit.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&first["stage"], &first["code"], &first["direction"]),
        (&"session".into(), &454.into(), &"server".into())
    );
}

#[test]
fn a_result_of_the_wrong_shape_leaves_nobody_waiting() {
    let (mut client, _) = scripted(&[], "2025-11-25", &[("tools/list", &[PONG])]);
    client.greet("2025-11-25");
    let answer = client.ask(LIST);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&7.into(), &(-32603).into()));
    // The id is free, the session is not over.
    assert_eq!(client.code(&LIST.replace("tools/list", "ping")), 0);
    let (_, outcome) = client.finish();
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("408 result_shape"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("The request that it answers gets error -32603 instead."), "{}", outcome.stderr);
}

#[test]
fn a_refused_answer_of_the_client_leaves_no_server_waiting() {
    let ask = r#"{"jsonrpc":"2.0","id":"s","method":"roots/list"}"#;
    let echo = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":LINE}}"#;
    let (mut client, record) = scripted(&[], "2025-11-25", &[("tools/list", &[ask, TOOLS]), ("", &[echo])]);
    client.greet("2025-11-25");
    assert_eq!(client.ask(LIST)["id"], "s");
    assert_eq!(client.hear()["id"], 7);
    // In one write: what comes before and behind the answer keeps its place.
    client.send(&format!("{}\n{}\n{}", ping(1), PONG.replace("ID", "\"s\""), ping(2)));
    let came: Vec<Value> = (0..3).map(|_| client.hear()).collect();
    let settled: Value = serde_json::from_str(came[1]["params"]["data"].as_str().expect("text")).expect("JSON");
    assert_eq!((&settled["id"], &settled["error"]["code"]), (&"s".into(), &(-32603).into()));
    let (_, outcome) = client.finish();
    assert!(outcome.stderr.contains("408 result_shape"), "{}", outcome.stderr);
    let seen = seen(&record);
    assert_eq!((&seen[3], &seen[5]), (&ping(1), &ping(2)));
}

#[test]
fn where_the_session_ends_nothing_more_is_said() {
    let (mut client, _) = scripted(&["--on-reject", "close-all"], "2025-11-25", &[("tools/list", &[PONG])]);
    client.greet("2025-11-25");
    client.send(LIST);
    let (rest, outcome) = client.finish();
    assert_eq!((rest, outcome.code), (vec![], Some(1)));
    assert!(outcome.stderr.contains("408 result_shape"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("This ends the session."), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("-32603"), "{}", outcome.stderr);
}

#[test]
fn a_probe_that_fails_leaves_the_session_to_initialize() {
    let (mut client, _) = scripted(&[], "2025-06-18", &[("tools/list", &[TOOLS])]);
    assert_eq!(client.code(&modern(0, "server/discover", json!({}))), -32601);
    client.greet("2025-06-18");
    assert_eq!(client.code(LIST), 0);
    client.finish_clean();
}

#[test]
fn sessions_of_the_older_revisions_pass_whole() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        for options in [&[][..], &["--revision", revision]] {
            let mut client = Client::of_example(options);
            client.greet(revision);
            assert_eq!(client.code(&ping(1)), 0);
            assert_eq!(client.ask(&LIST.replace('7', "2"))["result"]["tools"][0]["name"], "echo");
            let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"t"},"_meta":{"progressToken":3}}}"#;
            assert_eq!(client.ask(call)["result"]["content"][0]["text"], "t");
            client.finish_clean();
        }
    }
}

#[test]
fn sessions_of_the_newest_revision_pass_whole() {
    for options in [&[][..], &["--revision", "2026-07-28"]] {
        let mut client = Client::of_example(options);
        assert_eq!(client.ask(&modern(1, "server/discover", json!({})))["result"]["resultType"], "complete");
        assert_eq!(client.code(&modern(2, "tools/list", json!({}))), 0);
        let call = json!({"name": "echo", "arguments": {"text": "t"}});
        assert_eq!(client.ask(&modern(3, "tools/call", call))["result"]["content"][0]["text"], "t");
        client.finish_clean();
    }
}

#[test]
fn a_server_of_the_newest_revision_alone_is_found_behind_a_failed_handshake() {
    let none = r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"unknown method"}}"#;
    let discovered = r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}"#;
    let (mut client, _) = scripted(&[], "2026-07-28", &[("initialize", &[none]), ("server/discover", &[discovered])]);
    assert_eq!(client.code(INITIALIZE), -32601);
    assert_eq!(client.code(&modern(1, "server/discover", json!({}))), 0);
    // What has no `_meta` is of no revision that this session has.
    assert_eq!(client.code(LIST), -32600);
    let (_, outcome) = client.finish();
    assert_eq!(outcome.stderr.matches("refused a line").count(), 1, "{}", outcome.stderr);
}

#[test]
fn a_subscription_of_the_newest_revision_is_followed() {
    let tagged = |method: &str, more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{more}"_meta":{{"io.modelcontextprotocol/subscriptionId":ID}}}}}}"#
        )
    };
    let acknowledged =
        tagged("notifications/subscriptions/acknowledged", r#""notifications":{"toolsListChanged":true},"#);
    let changed = tagged("notifications/tools/list_changed", "");
    let early = changed.replace("ID", "1");
    let listen = modern(1, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let (mut client, _) = scripted(
        &["--revision", "2026-07-28"],
        "2026-07-28",
        &[("subscriptions/listen", &[&early, &acknowledged, &changed])],
    );
    assert_eq!(client.ask(&listen)["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(client.hear()["method"], "notifications/tools/list_changed");
    let (rest, outcome) = client.finish();
    assert_eq!((rest, outcome.code), (vec![], Some(0)));
    assert_eq!(outcome.stderr.matches("459 unknown_subscription").count(), 1, "{}", outcome.stderr);
}

#[test]
fn a_server_of_both_eras_serves_both() {
    // A client that asks first, and stays with what it heard; then an older client in the same process.
    let mut client = Client::of_example(&[]);
    assert_eq!(client.code(&modern(1, "server/discover", json!({}))), 0);
    assert_eq!(client.code(&modern(2, "tools/list", json!({}))), 0);
    client.greet("2025-06-18");
    assert_eq!(client.code(LIST), 0);
    client.finish_clean();
}

#[test]
fn methods_of_the_host_travel_either_way() {
    let (request, note) =
        (r#"{"jsonrpc":"2.0","id":7,"method":"acme/refresh"}"#, r#"{"jsonrpc":"2.0","method":"acme/changed"}"#);
    let start = |options: &[&str]| {
        let (mut client, record) =
            scripted(options, "2025-11-25", &[("acme/refresh", &[note, PONG]), ("ping", &[note, PONG])]);
        client.greet("2025-11-25");
        (client, record)
    };

    let (mut client, record) = start(&[]);
    assert_eq!(client.code(request), -32601);
    client.send(note);
    assert_eq!(client.ask(&ping(1))["id"], 1);
    let (_, outcome) = client.finish();
    assert_eq!((outcome.code, seen(&record).len()), (Some(0), 3));
    assert_eq!(outcome.stderr.matches(": 402 unknown_method").count(), 3, "{}", outcome.stderr);

    let (mut client, record) = start(&["--allow-method", "acme/refresh", "--allow-method", "acme/changed"]);
    client.send(note);
    assert_eq!(client.ask(request)["method"], "acme/changed");
    assert_eq!(client.hear()["id"], 7);
    client.finish_clean();
    assert_eq!(seen(&record)[2..], [note, request]);
}

#[test]
fn result_types_of_the_host_are_taken() {
    let partial = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"resultType":"acme_partial"}}"#;
    let call = modern(1, "tools/call", json!({"name": "t"}));
    let (mut client, _) = scripted(&[], "2026-07-28", &[("tools/call", &[partial])]);
    assert_eq!(client.code(&call), -32603);
    let (_, outcome) = client.finish();
    assert!(outcome.stderr.contains("408 result_shape"), "{}", outcome.stderr);

    let (mut client, _) =
        scripted(&["--allow-result-type", "acme_partial"], "2026-07-28", &[("tools/call", &[partial])]);
    assert_eq!(client.ask(&call)["result"]["resultType"], "acme_partial");
    client.finish_clean();
}

#[test]
fn plain_json_rpc_has_no_sessions() {
    // No handshake, methods of nobody's, an id twice, answers to nothing, results of any shape.
    let lines: [&str; 4] =
        [r#"{"jsonrpc":"2.0","id":99,"result":7}"#, r#"{"jsonrpc":"2.0","id":"s","method":"tell"}"#, PONG, PONG];
    let (mut client, record) = scripted(&["--revision", "jsonrpc"], "2025-11-25", &[("tools/list", &lines)]);
    client.send(LIST);
    client.send(LIST);
    for id in [json!(99), json!("s"), json!(7), json!(7)].iter().cycle().take(8) {
        assert_eq!(client.hear()["id"], *id);
    }
    client.send(r#"{"jsonrpc":"2.0","id":"u","result":[]}"#);
    client.finish_clean();
    assert_eq!(seen(&record).len(), 3);
}
