//! What `linegate check` writes: each format of the report, the saved report, replays, accepted faults, the user's corpus,
//! and hints in sources.
#![cfg(unix)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use support::servers::{Server, linegate, names, scenario};
use support::{Running, linegate_bin, scratch};

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = scratch(name);
        fs::create_dir_all(&path).expect("made");
        Self(path)
    }

    fn text(&self) -> &str {
        self.0.to_str().expect("text")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("a JSON document")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Soils stdout, and ends badly.
fn dirty() -> Server {
    Server::new("print('<b>INFO</b> & \\x1b[32mready', flush=True)", true, "sys.exit(3)")
}

const DIRTY: [&str; 8] =
    ["--only", "eof/at-once", "--only", "malformed/nan", "--only", "stdout-clean", "--only", "traffic/large-response"];

/// The report of the dirty server in this format.
fn report(format: &str) -> String {
    let server = dirty();
    let command = ["--", "python3", "-I", server.path().to_str().expect("text")];
    let outcome = linegate(&[&["check", "--format", format][..], &DIRTY, &command].concat(), "");
    assert_eq!(outcome.code, Some(1), "{format}");
    String::from_utf8(outcome.stdout).expect("text")
}

/// Runs a Python program on a text; its output. It fails the test where the program fails.
fn python(program: &str, input: &str) -> String {
    let file = scratch("input");
    fs::write(&file, input).expect("written");
    let output = Command::new("python3").args(["-I", "-c", program]).arg(&file).output().expect("python3 runs");
    let _ = fs::remove_file(file);
    assert!(output.status.success(), "{}: {input}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn junit_has_the_usual_shape() {
    let told = python(
        r#"
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites" and root.get("name") == "linegate check", root.attrib
(suite,) = root
cases = list(suite)
counts = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
assert counts == {"tests": 4, "failures": 3, "errors": 0, "skipped": 1}, counts
for case in cases:
    assert case.tag == "testcase" and case.get("classname").startswith("linegate."), case.attrib
    float(case.get("time"))
    kinds = [child.tag for child in case if child.tag in ("failure", "skipped")]
    print(case.get("name"), *kinds, *[child.get("type") for child in case if child.tag == "failure"])
dirt = next(case for case in cases if case.get("name") == "stdout-clean").find("failure")
assert "<b>INFO</b> & \\x1b[32mready" in dirt.text, dirt.text
assert "fix: " in dirt.text and "reproduce: printf" in dirt.text, dirt.text
"#,
        &report("junit"),
    );
    let lines = [
        "traffic/large-response skipped",
        "eof/at-once failure lifecycle",
        "malformed/nan failure effects",
        "stdout-clean failure stdout",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn sarif_has_the_members_that_the_standard_requires() {
    let log: Value = serde_json::from_str(&report("sarif")).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().is_some_and(|schema| schema.ends_with("sarif-2.1.0.json")));
    let run = &log["runs"][0];
    assert_eq!(log["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(run["tool"]["driver"]["name"], "linegate check");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert_eq!((rules.len(), results.len()), (3, 3));
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(result["ruleId"], rules[index]["id"]);
        assert_eq!(result["level"], "error");
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        assert!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].is_string());
        assert!(result["partialFingerprints"]["linegateCheck/v1"].as_str().is_some_and(|print| print.len() == 16));
        assert_eq!(result["suppressions"], Value::Array(vec![]));
    }
}

#[test]
fn annotations_are_one_line_each() {
    let text = report("github");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].starts_with("::error title=linegate check%3A stdout-clean (stdout)::line 1 of stdout in handshake")
    );
    assert!(lines.iter().all(|line| line.starts_with("::error title=") && line.contains("%0A")), "{text}");
    let clean = linegate(&["check", "--only", "eof", "--format", "github"], "");
    assert_eq!(clean.lines(), ["::notice title=linegate check::clean"]);
}

#[test]
fn the_document_says_its_version_and_the_status_of_each_class() {
    let document: Value = serde_json::from_str(&report("json")).expect("JSON");
    assert_eq!((&document["version"], &document["linegate_check"]), (&1.into(), &1.into()));
    for class in ["stdout", "effects", "lifecycle"] {
        let expected = serde_json::json!({"status": "violated", "violations": 1, "accepted": 0, "counts": true});
        assert_eq!(document["classes"][class], expected, "{class}");
    }
    let author = &scenario(&document, "stdout-clean")["fault"]["author"];
    assert_eq!(author["name"], "something that colours its output");
    let outcome = linegate(&["check", "--only", "eof", "--class", "stdout", "--format", "json"], "");
    let document: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
    let classes = &document["classes"];
    assert_eq!((&classes["stdout"]["status"], &classes["lifecycle"]["counts"]), (&"clean".into(), &false.into()));
}

#[test]
fn the_page_needs_nothing_else_and_escapes_the_server() {
    let page = report("html");
    let told = python(
        r#"
import sys
from html.parser import HTMLParser
class Page(HTMLParser):
    void = {"meta"}
    def __init__(self):
        super().__init__()
        self.open, self.words = [], []
    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img", "iframe", "b"), tag
        assert not any(name in ("src", "href") or name.startswith("on") for name, _ in attributes), attributes
        if tag not in self.void:
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        self.words.append(data)
page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
assert page.open == [], page.open
print("".join(page.words))
"#,
        &page,
    );
    let places: Vec<_> = [
        "3 of 4 scenarios failed.",
        "Fix this first",
        "stdout-clean",
        r"<b>INFO</b> & \x1b[32mready\n",
        "How to fix it",
        "What else is wrong",
        "Everything that was tried",
    ]
    .map(|text| told.find(text).unwrap_or_else(|| panic!("{text}: {told}")))
    .to_vec();
    assert!(places.is_sorted(), "{told}");
}

#[test]
fn a_saved_report_has_every_format_and_no_secret() {
    let folder = Folder::new("report");
    let server = Server::new(
        "import os\nprint('settings', *map(os.environ.get, ['WEATHER_API_KEY', 'GIVEN_TOKEN', 'CACHE']), file=sys.stderr)",
        false,
        "sys.exit(3)",
    );
    let output = Command::new(linegate_bin())
        .args(["check", "--only", "eof/at-once", "--env", "GIVEN_TOKEN=given-value", "--report", folder.text()])
        // Not by its name, but by its looks.
        .args(["--env", "CACHE=redis://:given-value@host", "--", "python3", "-I"])
        .arg(server.path())
        .env("WEATHER_API_KEY", "inherited-value")
        .output()
        .expect("linegate runs");
    assert_eq!(output.status.code(), Some(1));
    for name in ["report.txt", "report.json", "report.junit.xml", "report.sarif", "report.github.txt", "report.html"] {
        assert!(!folder.read(name).is_empty(), "{name}");
    }
    assert_eq!(folder.read("eof.at-once.stderr"), "settings [WEATHER_API_KEY] [GIVEN_TOKEN] [CACHE]\n");
    assert!(folder.read("report.txt").contains("GIVEN_TOKEN=\"$GIVEN_TOKEN\""));
    for entry in fs::read_dir(&folder.0).expect("read") {
        let bytes = fs::read(entry.expect("an entry").path()).expect("read");
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("given-value") && !text.contains("inherited-value"), "{text}");
    }
}

/// Checks the server into a folder, and replays that file of it.
fn replayed(server: &Server, only: &str, file: &str, options: &[&str]) -> (Value, i32) {
    let folder = Folder::new("report");
    server.check(&["--only", only, "--report", folder.text()]);
    let file = folder.0.join(file);
    let file = file.to_str().expect("text");
    let outcome = linegate(&[&["check", "--format", "json", "--replay", file], options].concat(), "");
    (serde_json::from_slice(&outcome.stdout).expect("JSON"), outcome.code.expect("a status"))
}

#[test]
fn a_replay_sends_the_same_bytes_and_finds_the_same_fault() {
    let server = Server::new("import os\nif os.environ.get('DEBUG'): print('debug: on', flush=True)", true, "");
    let (document, status) = replayed(&server, "start/debug", "start.debug-environment.replay.json", &[]);
    assert_eq!((names(&document, "fail"), status), (vec!["start/debug-environment"], 1), "{document:#}");
    let found = scenario(&document, "start/debug-environment");
    assert_eq!(found["fault"]["bytes"], r"debug: on\n");

    let (document, status) = replayed(&server, "malformed/lone", "malformed.lone-surrogate.replay.json", &[]);
    assert_eq!(status, 1, "{document:#}");
    let finding = &scenario(&document, "malformed/lone-surrogate")["findings"][0];
    assert_eq!(finding["what"], "the malformed line was answered with a result");

    // Bytes that are no text come back whole; and another command can be given.
    let folder = Folder::new("report");
    server.check(&["--only", "malformed/invalid-utf8", "--report", folder.text()]);
    let first = fs::read(folder.0.join("malformed.invalid-utf8.stdin")).expect("read");
    let copy = Folder::new("copy");
    let file = folder.0.join("malformed.invalid-utf8.replay.json");
    let strict = Server::new("", false, "");
    let strict = strict.path().to_str().expect("text");
    let file = file.to_str().expect("text");
    let again = linegate(&["check", "--replay", file, "--report", copy.text(), "--", "python3", "-I", strict], "");
    assert_eq!(again.code, Some(0), "{}", String::from_utf8_lossy(&again.stdout));
    assert_eq!(fs::read(copy.0.join("malformed.invalid-utf8.stdin")).expect("read"), first);
    assert!(first.contains(&0xFF));
}

#[test]
fn a_replay_repeats_signals_and_pauses() {
    let stubborn = Server::new("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)", false, "");
    let folder = Folder::new("report");
    stubborn.check_within("4", &["--only", "end/sigterm", "--only", "start/idle", "--report", folder.text()]);
    let document = folder.json("report.json");
    let reproduce = &scenario(&document, "end/sigterm")["runs"][0]["reproduce"];
    assert!(reproduce.as_str().is_some_and(|line| line.contains("# and SIGTERM, SIGKILL, as --replay")), "{reproduce}");
    let steps = folder.json("end.sigterm.replay.json")["steps"].clone();
    let acts: Vec<_> = steps.as_array().expect("steps").iter().filter_map(|step| step["act"].as_str()).collect();
    assert_eq!(acts, ["SIGTERM", "SIGKILL"]);
    let idle = folder.json("start.idle.replay.json");
    assert!(idle["steps"][0]["pause_ms"].as_u64().is_some_and(|pause| pause >= 1500), "{idle:#}");
    let file = folder.0.join("end.sigterm.replay.json");
    let outcome = linegate(&["check", "--replay", file.to_str().expect("text")], "");
    assert_eq!(outcome.code, Some(0), "killed as before: {}", String::from_utf8_lossy(&outcome.stdout));
    assert!(String::from_utf8_lossy(&outcome.stdout).contains("it was ended by signal 9"));
}

#[test]
fn what_is_no_replay_is_told() {
    for text in ["", "{}", r#"{"linegate_replay":2}"#, r#"{"linegate_replay":1,"command":3}"#] {
        let file = scratch("replay");
        fs::write(&file, text).expect("written");
        let outcome = linegate(&["check", "--replay", file.to_str().expect("text")], "");
        assert_eq!(outcome.code, Some(2), "{text}");
        fs::remove_file(file).expect("removed");
    }
}

#[test]
fn accepted_faults_do_not_fail_until_another_comes() {
    let file = scratch("baseline");
    let name = file.to_str().expect("text");
    let server = dirty();
    let with = |more: &[&str]| server.check(&[&DIRTY[..], &["--baseline", name], more].concat());
    assert_eq!(with(&["--update-baseline"]).1, 0);
    let text = fs::read_to_string(&file).expect("written");
    assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 3, "{text}");

    let (document, status) = with(&[]);
    assert_eq!((names(&document, "fail"), status), (vec![], 0), "{document:#}");
    assert_eq!(document["classes"]["stdout"]["status"], "accepted");
    assert_eq!(scenario(&document, "eof/at-once")["accepted"][0]["what"], "it ended with status 3");

    // The fault that was not accepted fails; the one that is gone is told.
    let less: Vec<_> = text.lines().filter(|line| !line.contains("malformed/nan")).collect();
    fs::write(&file, format!("{}\n0123456789abcdef  gone\n", less.join("\n"))).expect("written");
    let (document, status) = with(&[]);
    assert_eq!((names(&document, "fail"), status), (vec!["malformed/nan"], 1), "{document:#}");
    assert_eq!(document["baseline_unused"], serde_json::json!(["0123456789abcdef"]));

    fs::write(&file, "no fingerprint\n").expect("written");
    let outcome = linegate(&["check", "--baseline", name], "");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("line 1: no is no fingerprint"), "{}", outcome.stderr);
    fs::remove_file(file).expect("removed");
}

const CLIENT: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
    "\n",
);

/// Records a session with the server as a file of the folder.
fn record(server: &Path, folder: &Folder) {
    let file = folder.0.join("first.session");
    let server = server.to_str().expect("text");
    let file = file.to_str().expect("text");
    let mut running = Running::start(&["check", "--record", file, "--", "python3", "-I", server]);
    running.send(CLIENT);
    let outcome = running.finish();
    assert_eq!((outcome.code, outcome.lines().len()), (Some(0), 3), "{}", outcome.stderr);
}

#[test]
fn a_recorded_session_is_a_scenario() {
    let folder = Folder::new("corpus");
    let server = Server::new("", false, "");
    record(server.path(), &folder);
    let text = folder.read("first.session");
    assert_eq!(text.lines().filter(|line| line.starts_with("> {")).count(), 4, "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("< {")).count(), 3, "{text}");
    let scanned = linegate(&["scan", "--track", folder.0.join("first.session").to_str().expect("text")], "");
    assert_eq!(scanned.code, Some(0), "a transcript for scan: {}", String::from_utf8_lossy(&scanned.stdout));

    let options = ["--corpus", folder.text(), "--only", "corpus"];
    let (document, status) = server.check(&options);
    assert_eq!((names(&document, "ok"), status), (vec!["corpus/first"], 0), "{document:#}");

    let changed = "def answer(message, strict=answer):\n    return {'error': {'code': -32000, 'message': 'no'}} if message['method'] == 'ping' else strict(message)";
    let (document, status) = Server::new(changed, false, "").check(&options);
    assert_eq!((names(&document, "fail"), status), (vec!["corpus/first"], 1), "{document:#}");
    let what = &scenario(&document, "corpus/first")["findings"][0]["what"];
    assert_eq!(what, "the request with id 2 was answered with a result and now is with error -32000");
}

#[test]
fn a_line_of_the_users_must_have_no_effect() {
    let folder = Folder::new("corpus");
    let line = r#"{"jsonrpc":"2.0","id":9,"method":"ping","method":"ping"}"#;
    fs::write(folder.0.join("twice.line"), line).expect("written");
    fs::write(folder.0.join("README.md"), "not a scenario").expect("written");
    let options = ["--corpus", folder.text(), "--only", "corpus"];
    assert_eq!(Server::new("", false, "").check(&options).1, 0);
    let (document, status) = Server::new("", true, "").check(&options);
    assert_eq!((names(&document, "fail"), status), (vec!["corpus/twice"], 1), "{document:#}");
    assert_eq!(scenario(&document, "corpus/twice")["malformed"]["rule"], "duplicate_key");

    fs::write(folder.0.join("fine.line"), r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#).expect("written");
    let outcome = linegate(&["check", "--corpus", folder.text()], "");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("it is no malformed line"), "{}", outcome.stderr);
}

#[test]
fn sources_give_hints_and_no_verdict() {
    let folder = Folder::new("source");
    fs::write(folder.0.join("server.py"), "import sys\nprint('x', file=sys.stderr)\nprint('ready')\n")
        .expect("written");
    fs::create_dir(folder.0.join("node_modules")).expect("made");
    fs::write(folder.0.join("node_modules").join("a.js"), "console.log(1)\n").expect("written");
    let outcome = linegate(&["check", "--only", "eof", "--source", folder.text(), "--format", "json"], "");
    assert_eq!(outcome.code, Some(0));
    let document: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
    let hints = document["hints"].as_array().expect("hints");
    assert_eq!(hints.len(), 1, "{hints:?}");
    assert_eq!((&hints[0]["line"], &hints[0]["text"]), (&3.into(), &"print('ready')".into()));
}

#[test]
fn a_fault_of_a_message_is_not_told_as_a_print_of_somebody_else() {
    let writes = |line: &str| {
        format!(
            "def reply(message):\n    text = json.dumps({{'jsonrpc': '2.0', 'id': message['id'], **answer(message)}})\n    \
             sys.stdout.write({line} + '\\n')\n    sys.stdout.flush()"
        )
    };
    let (own, other) = (None, Some("a banner at the start"));
    for (line, rule, author, fix) in [
        ("text[:-1] + ', \"took\": 3}'", 312, own, "Leave other members out of the message"),
        (
            "text[:-1] + ', \"id\": ' + json.dumps(message['id']) + '}'",
            209,
            own,
            "Give an object of the message each member once",
        ),
        ("text.replace('\"jsonrpc\": \"2.0\", ', '')", 303, own, "Give each message the member"),
        ("text[:-2] + ', \"n\": NaN}}'", 202, own, "Write messages by a JSON library"),
        ("text + '\\n' + text", 458, own, "Send what the revision has"),
        ("text + text", 207, own, "End each message with a line feed"),
        ("'Server ready\\n' + text", 202, other, "Write logs, banners"),
        ("'Server ready' + text", 202, other, "Write logs, banners"),
        ("text + 'Server ready'", 207, other, "End each message with a line feed"),
        ("'{\"status\": \"server ready\"}\\n' + text", 312, other, "Write logs, banners"),
    ] {
        let server = Server::new(&writes(line), false, "");
        let options = ["--revision", "2025-11-25", "--timeout", "1", "--only", "handshake", "--only", "stdout-clean"];
        let command = ["--", "python3", "-I", server.path().to_str().expect("text")];
        let run = |format: &str| {
            let outcome = linegate(&[&["check", "--format", format][..], &options, &command].concat(), "");
            assert_eq!(outcome.code, Some(1), "{line}");
            String::from_utf8(outcome.stdout).expect("text")
        };
        let document: Value = serde_json::from_str(&run("json")).expect("a document");
        let found = scenario(&document, "stdout-clean");
        let fault = &found["fault"];
        assert_eq!((&fault["code"], fault["author"]["name"].as_str()), (&rule.into(), author), "{line}: {found:#}");
        assert!(found["findings"][0]["fix"].as_str().is_some_and(|told| told.starts_with(fix)), "{line}: {found:#}");

        let (text, page) = (run("text"), run("html"));
        let told =
            [text.contains("written by"), text.contains("Print to stderr"), page.contains("a banner at the start")];
        assert_eq!(told, [author.is_some(); 3], "{line}: {text}");
        let last = text.lines().last().expect("a line");
        assert!(last.starts_with("fix first: "), "{line}: {last}");
        assert_eq!(last.contains(fix), author.is_none() && last.contains("stdout-clean"), "{line}: {last}");
    }
}
