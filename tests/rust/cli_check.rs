//! `linegate check` and `linegate example-server`, run as programs: the example server is clean, and servers that are not
//! are found out, each for its own fault.
#![cfg(unix)]

mod support;

use std::fs;
use std::process::Command;

use serde_json::Value;

use support::servers::{Server, linegate, names, scenario};
use support::{linegate_bin, scratch};

#[test]
fn the_example_server_is_clean_in_every_revision() {
    for revision in ["auto", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let outcome = linegate(&["check", "--revision", revision], "");
        let report = String::from_utf8_lossy(&outcome.stdout);
        assert_eq!(outcome.code, Some(0), "{revision}: {report}");
        assert!(report.contains("clean: "), "{revision}: {report}");
        assert!(!report.contains("FAIL"), "{revision}: {report}");
        assert_eq!(outcome.stderr, "", "progress is for terminals");
    }
}

#[test]
fn a_strict_server_is_clean() {
    let (document, status) = Server::new("", false, "").check(&[]);
    assert_eq!((names(&document, "fail"), status), (vec![], 0), "{document:#}");
    assert_eq!((&document["linegate_check"], &document["clean"]), (&Value::from(1), &Value::from(true)));
    assert_eq!(document["revision"], "2025-11-25");
    let notes = scenario(&document, "tool-list")["notes"].as_array().expect("notes");
    assert_eq!(notes, &["the server has no tools"]);
    assert_eq!(scenario(&document, "malformed/bom")["session"], "went on");
}

#[test]
fn a_banner_on_stdout_is_found() {
    let server = Server::new("print('Ready \\x1b[32m:)', flush=True)", false, "");
    let (document, status) = server.check(&["--skip", "malformed"]);
    assert_eq!((names(&document, "fail"), status), (vec!["stdout-clean"], 1), "{document:#}");
    let found = scenario(&document, "stdout-clean");
    assert_eq!(found["findings"][0]["class"], "stdout");
    let fault = &found["fault"];
    assert_eq!((&fault["line"], &fault["at"], &fault["code"]), (&1.into(), &0.into(), &202.into()));
    assert_eq!(fault["bytes"], "Ready \\x1b[32m:)\\n");
    assert_eq!(fault["hex"], "52 65 61 64 79 20 1b 5b 33 32 6d 3a 29 0a");
    assert_eq!(document["summary"]["fix_first"], "stdout-clean");
}

#[test]
fn a_failing_report_leads_with_what_to_fix_first() {
    let server = Server::new("print('Ready \\x1b[32m:)', flush=True)", true, "sys.exit(3)");
    let options = ["check", "--only", "eof/at-once", "--only", "malformed/nan", "--only", "stdout-clean"];
    let outcome =
        linegate(&[&options, &["--", "python3", "-I", server.path().to_str().expect("text")][..]].concat(), "");
    assert_eq!(outcome.code, Some(1));
    let report = outcome.lines().join("\n");

    let (first, rest) = report.split_once("\n\n").expect("a head").1.split_once("\n\n").expect("a table");
    let mut facts = first.lines();
    assert_eq!(facts.next(), Some("FAIL  stdout-clean - fix this first"));
    for start in [
        "  stdout     line 1 of stdout in handshake is no message",
        r"  bytes      Ready \x1b[32m:)\n",
        "  hex        52 65",
        "  rule       202 unexpected_byte at byte 0: A byte stands",
        "  written by probably something that colours its output",
        "             Send it to stderr",
        "  why        A client reads every byte",
        "  fix        Write logs",
        "  reproduce  printf '{",
    ] {
        assert!(facts.next().is_some_and(|fact| fact.starts_with(start)), "{start}: {first}");
    }

    let places: Vec<_> = [
        "FAIL  eof/at-once                         lifecycle: it ended with status 3\n",
        "FAIL  malformed/nan\n  effects    the malformed line was answered with a result\n  bytes      {",
        "\"linegate/value\":NaN}}}\n  rule       202 unexpected_byte: A byte stands",
        "FAIL  eof/at-once\n  lifecycle  it ended with status 3\n",
        "3 of 3 failed; violations: stdout 1, effects 1, lifecycle 1\nfix first: stdout-clean, ",
    ]
    .map(|text| rest.find(text).unwrap_or_else(|| panic!("{text}: {rest}")))
    .to_vec();
    assert!(places.is_sorted(), "{report}");
}

#[test]
fn each_row_of_a_clean_report_says_what_was_seen() {
    let outcome = linegate(&["check", "--call", "echo", r#"{"text":"{{marker}}"}"#], "");
    assert_eq!(outcome.code, Some(0));
    let rows: Vec<_> = outcome.lines().into_iter().filter(|line| line.starts_with("ok ")).collect();
    let row = |name: &str, remark: &str| format!("ok    {name:<35} {remark}");
    for row in [
        row("call", "the tool echo answered"),
        row("eof/at-once", "ended by itself with status 0"),
        row("malformed/bom", "no effect seen; session closed"),
        row("malformed/no-line-feed", "no effect seen; input ended"),
    ] {
        assert!(rows.contains(&row.as_str()), "{row}: {rows:#?}");
    }
    assert!(rows.iter().all(|row| row.len() > "ok    ".len() + 36), "{rows:#?}");
}

#[test]
fn text_of_a_refused_line_that_comes_back_is_found() {
    let echoing = r#"
def serve():
    for line in sys.stdin.buffer:
        try:
            message = checked(line)
            reply = {"id": message["id"], **answer(message)} if "id" in message else None
        except Exception:
            reply = {"id": None, "error": {"code": -32700, "message": line.decode("utf-8", "replace")}}
        if reply:
            print(json.dumps({"jsonrpc": "2.0", **reply}), flush=True)
"#;
    let (document, status) = Server::new(echoing, false, "").check(&["--only", "malformed/bom"]);
    assert_eq!((names(&document, "fail"), status), (vec!["malformed/bom"], 1), "{document:#}");
    let found = scenario(&document, "malformed/bom");
    assert_eq!(found["findings"][0]["what"], "text of the malformed line came back on stdout");
    assert_eq!((&found["malformed"]["code"], &found["malformed"]["rule"]), (&105.into(), &"bom".into()));
    assert!(found["malformed"]["bytes"].as_str().is_some_and(|bytes| bytes.starts_with(r"\xef\xbb\xbf{")));
}

#[test]
fn text_at_exit_without_a_line_feed_is_found() {
    let server = Server::new("", false, "print('{', end='')");
    let (document, status) = server.check(&["--only", "stdout-clean", "--skip", "malformed"]);
    assert_eq!((names(&document, "fail"), status), (vec!["stdout-clean"], 1), "{document:#}");
    assert_eq!(scenario(&document, "stdout-clean")["fault"]["rule"], "truncated");
}

#[test]
fn acting_on_a_malformed_line_is_found() {
    // What Python's json takes and others don't, or read otherwise; then what no parser takes.
    let taken = ["duplicate-method", "duplicate-method-escaped", "lone-surrogate", "nan", "no-line-feed"]
        .map(|name| format!("malformed/{name}"));
    let refused = ["bom", "not-json", "trailing-bytes", "two-objects"].map(|name| format!("malformed/{name}"));
    let options: Vec<_> = taken.iter().chain(&refused).flat_map(|name| ["--only", name.as_str()]).collect();
    let (document, status) = Server::new("", true, "").check(&options);
    assert_eq!(status, 1, "{document:#}");

    let sorted = |verdict| {
        let mut names = names(&document, verdict);
        names.sort_unstable();
        names
    };
    assert_eq!(sorted("fail"), taken);
    assert_eq!(sorted("ok"), refused);
    for name in &taken {
        assert_eq!(scenario(&document, name)["findings"][0]["class"], "effects", "{name}");
    }
}

#[test]
fn acting_on_what_the_protocol_does_not_have_is_found() {
    let eager = r#"
hello = answer
def answer(message):
    return hello(message) if message["method"] == "initialize" else {"result": {}}
"#;
    let taken = ["unknown-method", "request-of-a-server", "notification-with-id"];
    let calls = ["call-without-name", "call-name-number", "call-arguments-array"];
    let taken: Vec<_> = taken.iter().chain(&calls).map(|name| format!("malformed/{name}")).collect();
    let foreign = ["malformed/no-meta", "malformed/unsupported-version"];
    let all = taken.iter().map(String::as_str).chain(foreign).chain(["malformed/request-without-id"]);
    let options: Vec<_> = all.flat_map(|name| ["--only", name]).collect();
    let (document, status) = Server::new(eager, false, "").check(&options);
    assert_eq!((names(&document, "fail"), status), (taken.iter().map(String::as_str).collect(), 1), "{document:#}");
    assert_eq!(names(&document, "skip"), foreign);
    assert_eq!(names(&document, "ok"), ["malformed/request-without-id"]);
    let found = scenario(&document, "malformed/unknown-method");
    assert_eq!(found["findings"][0]["what"], "the malformed line was answered with a result");
    assert_eq!((&found["malformed"]["code"], &found["session"]), (&402.into(), &"went on".into()));
}

#[test]
fn messages_out_of_place_on_stdout_are_found() {
    let twice = r#"
def serve():
    for line in sys.stdin.buffer:
        message = checked(line)
        if "id" in message:
            reply = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)})
            print(reply, reply, sep="\n", flush=True)
"#;
    let (document, status) = Server::new(twice, false, "").check(&["--skip", "malformed"]);
    assert_eq!((names(&document, "fail"), status), (vec!["stdout-clean"], 1), "{document:#}");
    let found = scenario(&document, "stdout-clean");
    assert_eq!((&found["fault"]["rule"], &found["fault"]["line"]), (&"answered_twice".into(), &2.into()));
    let what = found["findings"][0]["what"].as_str().expect("text");
    assert!(
        what.starts_with("line 2 of stdout in handshake is a message that the protocol does not have there"),
        "{what}"
    );
    assert!(found["findings"][0]["fix"].as_str().is_some_and(|fix| fix.contains("answer each request once")));

    let empty = r#"
known = answer
def answer(message):
    return {"result": {}} if message["method"] == "tools/list" else known(message)
"#;
    let (document, _) = Server::new(empty, false, "").check(&["--skip", "malformed"]);
    assert_eq!(names(&document, "fail"), ["tool-list", "stdout-clean"], "{document:#}");
    assert_eq!(scenario(&document, "stdout-clean")["fault"]["rule"], "result_shape");
}

#[test]
fn what_answers_a_probe_may_be_of_another_revision() {
    // The code is none of 2026-07-28; many older servers give it to what comes before initialize.
    let server = Server::new("", false, "");
    let text = fs::read_to_string(server.path()).expect("read").replace("-32601", "-32002");
    fs::write(server.path(), text).expect("written");
    let (document, status) = server.check(&["--only", "handshake", "--only", "call", "--only", "stdout-clean"]);
    assert_eq!((names(&document, "fail"), status), (vec![], 0), "{document:#}");
}

#[test]
fn linegate_run_keeps_malformed_lines_from_the_server() {
    let server = Server::new("", true, "");
    let names = ["duplicate-method", "bare-cr", "lone-surrogate", "nan", "no-line-feed"];
    let names = names.map(|name| format!("malformed/{name}"));
    let options: Vec<_> = names.iter().flat_map(|name| ["--only", name.as_str()]).collect();
    let (linegate_bin, server) = (linegate_bin(), server.path().to_str().expect("text"));
    let linegate_bin = linegate_bin.to_str().expect("text");
    let behind = ["--", linegate_bin, "run", "--close-wait", "20", "--", "python3", "-I", server];
    let outcome = linegate(&[&["check"], &*options, &behind].concat(), "");
    assert_eq!(outcome.code, Some(0), "{}", String::from_utf8_lossy(&outcome.stdout));
}

#[test]
fn linegate_run_lets_a_server_start_slowly_and_then_end() {
    // At once: the input has ended before the server reads.
    let server = Server::new("import time; time.sleep(3)", false, "");
    let (linegate_bin, server) = (linegate_bin(), server.path().to_str().expect("text"));
    let options = ["check", "--revision", "2025-11-25", "--only", "eof"];
    let behind = ["--", linegate_bin.to_str().expect("text"), "run", "--", "python3", "-I", server];
    let outcome = linegate(&[&options[..], &behind].concat(), "");
    assert_eq!(outcome.code, Some(0), "{}", String::from_utf8_lossy(&outcome.stdout));
}

#[test]
fn what_reproduces_a_violation_does() {
    let (document, _) = Server::new("", true, "").check(&["--only", "malformed/duplicate-method"]);
    let line = scenario(&document, "malformed/duplicate-method")["runs"][0]["reproduce"].as_str().expect("a command");
    assert!(line.starts_with("printf '"), "{line}");
    // The server's file is gone; what is sent to it is not.
    let sent = line.split_once(" | ").expect("a pipe").0;
    let output = Command::new("sh").args(["-c", sent]).output().expect("sh runs");
    let sent = String::from_utf8(output.stdout).expect("text");
    assert!(sent.contains(r#""method":"linegate/none","method":"ping""#), "{sent}");
}

#[test]
fn a_server_that_never_ends_is_found() {
    let server = Server::new("import time", false, "time.sleep(600)");
    let (document, status) = server.check_within("3", &["--only", "eof"]);
    assert_eq!((names(&document, "fail"), status), (vec!["eof/at-once", "eof/after-traffic"], 1), "{document:#}");
    let found = scenario(&document, "eof/at-once");
    assert_eq!(found["findings"][0]["class"], "lifecycle");
    assert_eq!(found["runs"][0]["exit"]["killed"], true);
}

#[test]
fn a_status_other_than_zero_at_the_end_of_input_is_found() {
    let (document, status) = Server::new("", false, "sys.exit(3)").check(&["--only", "eof"]);
    assert_eq!((names(&document, "fail").len(), status), (2, 1), "{document:#}");
    assert_eq!(scenario(&document, "eof/at-once")["runs"][0]["exit"]["status"], 3);
}

#[test]
fn a_server_without_a_handshake_is_found() {
    let (document, status) = Server::new("sys.exit()", false, "").check(&[]);
    assert_eq!((names(&document, "fail"), status), (vec!["handshake"], 1), "{document:#}");
    assert!(names(&document, "skip").contains(&"malformed/bom"));
}

#[test]
fn what_cannot_be_done_is_no_verdict() {
    for arguments in [
        &["check", "--", "no-such-command-on-any-path"][..],
        &["check", "--only", "no-such-name"],
        &["check", "--only", "eof", "--skip", "eof"],
        &["check", "--revision", "jsonrpc"],
        &["check", "--call", "echo", "[1]"],
    ] {
        let outcome = linegate(arguments, "");
        assert_eq!(outcome.code, Some(2), "{arguments:?}");
        assert_eq!(outcome.stdout, b"", "{arguments:?}");
        assert!(outcome.stderr.starts_with("linegate: check: "), "{arguments:?}");
    }
}

#[test]
fn the_report_holds_the_raw_bytes() {
    let folder = scratch("report");
    let folder_name = folder.to_str().expect("text");
    let outcome = linegate(&["check", "--only", "malformed/invalid-utf8", "--report", folder_name], "");
    assert_eq!(outcome.code, Some(0));
    let read = |name: &str| fs::read(folder.join(name)).expect("a file");
    let (sent, came) = (read("malformed.invalid-utf8.stdin"), read("malformed.invalid-utf8.stdout"));
    assert!(sent.contains(&0xFF));
    assert!(came.ends_with(b"\n"));
    assert_eq!(read("report.txt"), outcome.stdout);
    let document: Value = serde_json::from_slice(&read("report.json")).expect("a JSON document");
    assert_eq!(document["clean"], true);
    fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn list_names_every_scenario_once() {
    let outcome = linegate(&["check", "--list"], "");
    let mut names = outcome.lines();
    assert_eq!((names.first(), names.last()), (Some(&"handshake"), Some(&"stdout-clean")));
    let listed = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), listed);
    assert!(listed >= 30);
}

/// What the example server answers to these lines.
fn served(lines: &[&str]) -> Vec<Value> {
    let outcome = linegate(&["example-server"], &(lines.join("\n") + "\n"));
    assert_eq!(outcome.code, Some(0));
    outcome.lines().into_iter().map(|line| serde_json::from_str(line).expect("a message")).collect()
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

#[test]
fn the_example_server_answers_one_line_with_one_line() {
    let answers = served(&[INITIALIZE]);
    assert_eq!(answers.len(), 1);
    assert_eq!((&answers[0]["id"], &answers[0]["result"]["protocolVersion"]), (&1.into(), &"2025-06-18".into()));

    let answers = served(&[DISCOVER]);
    assert_eq!(answers.len(), 1);
    let result = &answers[0]["result"];
    assert_eq!((&answers[0]["id"], &result["resultType"]), (&"d".into(), &"complete".into()));
    assert_eq!(result["supportedVersions"], Value::from(vec!["2026-07-28"]));
    assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string());
}

#[test]
fn one_line_piped_into_the_example_server_brings_one_line_out() {
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let initialize = INITIALIZE.replace("2025-06-18", "2025-03-26");
    for line in [discover, &initialize] {
        let outcome = linegate(&["example-server"], &format!("{line}\n"));
        assert_eq!((outcome.code, outcome.lines().len(), outcome.stderr.as_str()), (Some(0), 1, ""));
        assert_eq!(outcome.stdout.last(), Some(&b'\n'));
        let answer: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
        assert!(answer["id"] == 1 && answer["result"].is_object(), "{answer}");
    }
}

#[test]
fn the_example_server_negotiates() {
    let at =
        |revision: &str| served(&[&INITIALIZE.replace("2025-06-18", revision)])[0]["result"]["protocolVersion"].clone();
    for known in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(at(known), known);
    }
    assert_eq!(at("2099-01-01"), "2025-11-25");
}

/// The error code of the last answer; 0 where it is a result.
fn code(lines: &[&str]) -> i64 {
    served(lines).last().map_or(1, |answer| answer["error"]["code"].as_i64().unwrap_or_default())
}

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{method}","params":{params}}}"#)
}

#[test]
fn the_example_server_refuses_by_the_rules_of_the_era() {
    // Legacy: nothing before initialize but ping, and initialize once.
    assert_eq!(code(&[&request("ping", "{}")]), 0);
    assert_eq!(code(&[&request("tools/list", "{}")]), -32600);
    assert_eq!(code(&[INITIALIZE, &request("tools/list", "{}")]), 0);
    assert_eq!(code(&[INITIALIZE, &INITIALIZE.replace(":1,", ":2,")]), -32600);
    assert_eq!(code(&[INITIALIZE, &request("logging/setLevel", r#"{"level":"info"}"#)]), -32601);
    assert_eq!(code(&[INITIALIZE, &request("tools/call", r#"{"name":"none"}"#)]), -32602);
    assert_eq!(code(&[INITIALIZE, &request("tools/list", r#"{"cursor":"x"}"#)]), -32602);
    assert_eq!(code(&[INITIALIZE, &request("roots/list", "{}")]), -32600);
    assert_eq!(code(&[INITIALIZE, &request("acme/refresh", "{}")]), -32601);
    assert_eq!(code(&[INITIALIZE, &request("tools/call", r#"{"name":7}"#)]), -32602);
    assert_eq!(code(&[&INITIALIZE.replace(r#","clientInfo":{"name":"test","version":"1"}"#, "")]), -32602);

    // Modern: each request says its revision and the client's capabilities.
    assert_eq!(code(&[&request("server/discover", "{}")]), -32602);
    assert_eq!(code(&[&DISCOVER.replace(r#","io.modelcontextprotocol/clientCapabilities":{}"#, "")]), -32602);
    assert_eq!(code(&[&DISCOVER.replace("server/discover", "ping")]), -32601);
    assert_eq!(code(&[&DISCOVER.replace("server/discover", "tools/list")]), 0);
    assert_eq!(code(&[&DISCOVER.replace("server/discover", "tools/call")]), -32602);
    // A probe of the other era spoils nothing.
    assert_eq!(code(&[DISCOVER, INITIALIZE, &request("tools/list", "{}")]), 0);
    let answers = served(&[&DISCOVER.replace("2026-07-28", "2099-01-01")]);
    let error = &answers[0]["error"];
    assert_eq!((&error["code"], &error["data"]["requested"]), (&(-32022).into(), &"2099-01-01".into()));
    assert_eq!(error["data"]["supported"], Value::from(vec!["2026-07-28"]));
}

#[test]
fn the_example_servers_tools_answer() {
    let call = |name: &str, arguments: &str| {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let line = request("tools/call", &format!(r#"{{"name":"{name}","arguments":{arguments},{meta}}}"#));
        let result = served(&[&line])[0]["result"].clone();
        (result["content"][0]["text"].as_str().expect("a text").to_owned(), result["isError"] == true)
    };
    assert_eq!(
        call("echo", r#"{"text":"a\n\u00e9\u2028\ud83d\ude00"}"#),
        ("a\n\u{e9}\u{2028}\u{1f600}".to_owned(), false)
    );
    assert_eq!(call("add", r#"{"a":9007199254740991,"b":-1}"#), ("9007199254740990".to_owned(), false));
    assert!(call("add", r#"{"a":1.5,"b":1}"#).1);
    assert!(call("add", r#"{"a":1,"b":1,"c":1}"#).1);
    assert!(call("record", r#"{"text":"without a file"}"#).1);
}

#[test]
fn arguments_that_do_not_fit_are_told_as_the_revision_says() {
    let add = request("tools/call", r#"{"name":"add","arguments":{}}"#);
    assert_eq!(code(&[INITIALIZE, &add]), -32602);
    let answers = served(&[&INITIALIZE.replace("2025-06-18", "2025-11-25"), &add]);
    assert_eq!(answers[1]["result"]["isError"], true);
}

#[test]
fn the_example_server_answers_refused_lines_and_ends() {
    let answers = served(&[r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"ping"}"#, INITIALIZE]);
    assert_eq!(answers.len(), 1, "the session ends at the malformed line");
    assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&7.into(), &(-32600).into()));
}
