//! Verdicts of `linegate check` at the edges: dirt beside accepted dirt, a choice of scenarios or classes that must not hide a
//! fault, and servers that are clean though they look odd.
#![cfg(unix)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::servers::{Server, linegate, names, scenario};
use support::{Running, eventually, linegate_bin, scratch};

/// The scenarios of an ordinary session.
const PLAIN: [&str; 6] = ["--only", "handshake", "--only", "tool-list", "--only", "eof"];

fn text_of(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// The strict server with a line on stdout at its start.
fn prints(line: &str) -> Server {
    Server::new(&format!("print({line:?}, flush=True)"), false, "")
}

#[test]
fn dirt_beside_accepted_dirt_is_found() {
    let file = scratch("baseline");
    let with = |server: &Server, more: &[&str]| {
        let options = [&PLAIN[..], &["--only", "stdout-clean", "--baseline", text_of(&file)], more].concat();
        server.check(&options)
    };
    let (document, status) = with(&prints("Server banner"), &["--update-baseline"]);
    assert_eq!((document["classes"]["stdout"]["violations"].as_u64(), status), (Some(1), 0), "{document:#}");
    assert_eq!(with(&prints("Server banner"), &[]).1, 0);
    let both = Server::new("print('Server banner'); print('DEBUG: 2 of 3', flush=True)", false, "");
    let (document, status) = with(&both, &[]);
    assert_eq!((names(&document, "fail"), status), (vec!["stdout-clean"], 1), "{document:#}");
    let found = scenario(&document, "stdout-clean");
    assert_eq!(found["accepted"].as_array().map(Vec::len), Some(1), "{found:#}");
    assert_eq!(found["fault"]["bytes"], "DEBUG: 2 of 3\\n", "the one that is not accepted is shown");
    // Both accepted; numbers make no other line.
    assert_eq!(with(&both, &["--update-baseline"]).1, 0);
    let again = Server::new("print('Server banner'); print('DEBUG: 17 of 40', flush=True)", false, "");
    assert_eq!(with(&again, &[]).1, 0);
    fs::remove_file(file).expect("removed");
}

#[test]
fn very_many_kinds_of_dirt_are_told_together() {
    let server = Server::new("for word in range(26): print(chr(97 + word) * 3)\nsys.stdout.flush()", false, "");
    let (document, status) = server.check(&["--only", "stdout-clean", "--only", "handshake"]);
    let findings = scenario(&document, "stdout-clean")["findings"].as_array().expect("findings").clone();
    assert_eq!((findings.len(), status), (21, 1), "{document:#}");
    assert_eq!(findings[1]["what"], "line 2 of stdout in handshake is no message: bbb");
    assert_eq!(findings[20]["what"], "6 more bad lines that look otherwise than these");
}

#[test]
fn an_update_of_accepted_faults_keeps_those_of_checks_that_did_not_run() {
    let file = scratch("baseline");
    let server = Server::new("print('banner', flush=True)", false, "sys.exit(3)");
    let update = |only: &str| {
        let (_, status) = server.check(&["--only", only, "--baseline", text_of(&file), "--update-baseline"]);
        assert_eq!(status, 0);
        let text = fs::read_to_string(&file).expect("written");
        let names =
            text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_whitespace().nth(1));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(update("stdout-clean"), ["stdout-clean:"]);
    assert_eq!(update("eof/at-once"), ["stdout-clean:", "eof/at-once:", "eof/at-once:"]);
    assert_eq!(update("eof/at-once"), ["stdout-clean:", "eof/at-once:", "eof/at-once:"]);
    fs::remove_file(file).expect("removed");
}

#[test]
fn a_choice_of_scenarios_hides_no_dirt() {
    let server = prints("banner");
    let (document, status) = server.check(&PLAIN);
    assert_eq!((names(&document, "fail"), status), (vec!["handshake"], 1), "{document:#}");
    assert_eq!(scenario(&document, "handshake")["fault"]["bytes"], "banner\\n");
    // It was chosen that stdout is not judged.
    assert_eq!(server.check(&["--only", "handshake", "--skip", "stdout-clean"]).1, 0);
    assert_eq!(Server::new("", false, "").check(&PLAIN).1, 0);
}

#[test]
fn a_server_that_begins_no_session_is_clean_in_no_class() {
    for class in ["stdout", "effects", "lifecycle"] {
        let outcome = linegate(&["check", "--timeout", "1", "--class", class, "--", "sh", "-c", "exit 1"], "");
        assert_eq!(outcome.code, Some(1), "{class}");
        let text = String::from_utf8(outcome.stdout).expect("text");
        assert!(text.contains("not clean, for no session was begun"), "{class}: {text}");
    }
}

#[test]
fn processes_in_sessions_of_their_own_are_left_behind_too() {
    let detached = "import subprocess\nsubprocess.Popen(['sleep', '7177'], start_new_session=True, stdout=2, stdin=subprocess.DEVNULL)";
    let (document, status) = Server::new(detached, false, "").check(&["--only", "end/child-left"]);
    assert_eq!((names(&document, "fail"), status), (vec!["end/child-left"], 1), "{document:#}");
    let what = scenario(&document, "end/child-left")["findings"][0]["what"].as_str().expect("text").to_owned();
    assert!(what.ends_with("had to be ended: sleep"), "{what}");
    let left = Command::new("pgrep").args(["-f", "^sleep 7177$"]).output();
    assert!(left.is_err() || left.is_ok_and(|found| found.stdout.is_empty()));

    let ended = detached.to_owned() + "\nchild = subprocess.Popen(['sleep', '0.2'], start_new_session=True, stdout=2)";
    let ended = ended.replace("7177", "0.1");
    let (document, status) = Server::new(&ended, false, "").check(&["--only", "end/child-left"]);
    assert_eq!((names(&document, "fail"), status), (vec![], 0), "{document:#}");
}

/// What runs this with `sh`, in which `$LINEGATE` is the command: the shell ends by becoming it, and its children are linegate's then.
fn by_shell(script: &str, arguments: &[&str]) -> (Value, Option<i32>) {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("exec 3>&1 >/dev/null 2>&1\n{{ {script}\n}} 3>&-\nexec \"$@\" >&3 3>&-"), "sh"])
        .arg(linegate_bin());
    let first = ["check", "--format", "json", "--timeout", "5", "--only", "end/child-left", "--"];
    let output = command.args(first).args(arguments).output().expect("sh starts");
    (serde_json::from_slice(&output.stdout).expect("a document"), output.status.code())
}

/// Whether something runs with this command line, and the end of it where it does.
#[cfg(target_os = "linux")]
fn ends(command_line: &str) -> bool {
    Command::new("pkill").args(["-xf", command_line]).status().is_ok_and(|status| status.success())
}

#[test]
#[cfg(target_os = "linux")]
fn processes_that_the_server_never_started_are_not_its_own_and_live_on() {
    // A child, and one in a session of its own. Then what a child starts while the check runs, in its own group and in another, and
    // leaves behind: the server's first start waits for that, and the third until its parent is gone.
    let place = scratch("place");
    fs::create_dir(&place).expect("made");
    let script = format!(
        "cd {}
sleep 7181 & setsid sleep 7182 &
( (until [ -s starts ]; do sleep 0.02; done; sleep 7183 & setsid sleep 7184 & : >ready
   until [ \"$(wc -c <starts)\" -ge 2 ]; do sleep 0.02; done); : >gone ) &",
        text_of(&place)
    );
    let awaited = "import os, time\nopen('starts', 'a').write('.')\n\
                   file = 'gone' if os.path.getsize('starts') > 2 else 'ready'\n\
                   while not os.path.exists(file): time.sleep(0.02)";
    let server = Server::new(awaited, false, "");
    let (document, status) = by_shell(&script, &["python3", "-I", text_of(server.path())]);
    let ended: Vec<_> = (1..=4).map(|last| format!("sleep 718{last}")).filter(|line| !ends(line)).collect();
    assert_eq!((names(&document, "fail"), status), (vec![], Some(0)), "{document:#}");
    assert!(ended.is_empty(), "ended by the check: {ended:?}");
    assert!(place.join("gone").exists());
    let _ = fs::remove_dir_all(place);

    // What the server leaves is told beside them all the same, and ended.
    let detached = "import subprocess\nsubprocess.Popen(['sleep', '7185'], start_new_session=True, stdout=2, stdin=subprocess.DEVNULL)";
    let server = Server::new(detached, false, "");
    let (document, status) = by_shell("sleep 7186 &", &["python3", "-I", text_of(server.path())]);
    let (left, stays) = (ends("sleep 7185"), ends("sleep 7186"));
    assert_eq!((names(&document, "fail"), status), (vec!["end/child-left"], Some(1)), "{document:#}");
    let what = scenario(&document, "end/child-left")["findings"][0]["what"].as_str().expect("text").to_owned();
    assert!(what.ends_with("had to be ended: sleep"), "{what}");
    assert_eq!((left, stays), (false, true));
}

/// Answers a ping with this as its result; `loose` makes it take what is malformed.
fn answering(result: &str, loose: bool) -> Server {
    let code = format!(
        "def reply(message, strict=reply):\n    if message['method'] != 'ping': return strict(message)\n    \
         sys.stdout.buffer.write(b'{{\"jsonrpc\":\"2.0\",\"id\":' + json.dumps(message['id']).encode() + b',\"result\":{result}}}\\n')\n    \
         sys.stdout.flush()"
    );
    Server::new(&code, loose, "")
}

#[test]
fn numbers_that_the_gate_accepts_are_read_by_the_check_too() {
    let options = ["--revision", "2025-11-25", "--skip", "malformed"];
    for number in ["1e999", "-1E+400", "1e-999"] {
        let server = answering(&format!("{{\"n\":{number}}}"), false);
        let (document, status) = server.check(&options);
        assert_eq!((names(&document, "fail"), status), (vec![], 0), "{number}: {document:#}");
    }
}

#[test]
fn an_answer_to_a_malformed_line_is_found_whatever_is_in_it() {
    let only = ["--revision", "2025-11-25", "--class", "effects", "--only", "malformed/duplicate-method"];
    for value in ["1e999", "NaN", "\"\\xff\"", "2"] {
        let result = format!("{{\"n\":{value}}}");
        let (document, status) = answering(&result, true).check(&only);
        assert_eq!(status, 1, "{value}: {document:#}");
        let findings = scenario(&document, "malformed/duplicate-method")["findings"].as_array().expect("findings");
        let told = "the malformed line was answered with a result";
        assert!(findings.iter().any(|finding| finding["what"] == told), "{value}: {document:#}");
    }
    let (document, status) = answering("{\"n\":1e999}", false).check(&only);
    assert_eq!((names(&document, "fail"), status), (vec![], 0), "{document:#}");
    // What can't be read is not passed over in silence.
    for unread in ["{n: 1}", "{\"n\":\"\\\\ud800\"}"] {
        let (document, _) = answering(unread, true).check(&only);
        let notes = scenario(&document, "malformed/duplicate-method")["notes"].to_string();
        assert!(notes.contains("lines of stdout can't be read"), "{document:#}");
    }
}

#[test]
fn an_answer_of_a_recorded_session_counts_whatever_numbers_it_has() {
    let folder = scratch("corpus");
    fs::create_dir(&folder).expect("made");
    let client = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    let session = r#"> {"jsonrpc":"2.0","id":1,"method":"initialize","params":CLIENT}
< {"jsonrpc":"2.0","id":1,"result":{}}
> {"jsonrpc":"2.0","method":"notifications/initialized"}
> {"jsonrpc":"2.0","id":2,"method":"ping"}
< {"jsonrpc":"2.0","id":2,"result":{"n":1e999}}
< Ready
"#
    .replace("CLIENT", client);
    fs::write(folder.join("a.session"), session).expect("written");
    let check = |server: &Server| server.check(&["--only", "corpus", "--corpus", text_of(&folder)]);
    let (document, status) = check(&answering("{\"n\":-1e999}", false));
    assert_eq!((names(&document, "fail"), status), (vec![], 0), "{document:#}");
    let notes = &scenario(&document, "corpus/a")["notes"];
    assert_eq!(
        (&notes[0], &notes[1]),
        (
            &"line 6 of the file can't be read: nothing is expected for it".into(),
            &"2 requests were answered as before".into()
        )
    );
    let failing = "def answer(message, strict=answer):\n    if message['method'] == 'ping': return {'error': {'code': 1, 'message': 'no'}}\n    \
                   return strict(message)";
    let (document, status) = check(&Server::new(failing, false, ""));
    assert_eq!((names(&document, "fail"), status), (vec!["corpus/a"], 1), "{document:#}");
    let _ = fs::remove_dir_all(folder);
}

/// A folder with the strict server in it, and in it folders that have the names of the server's arguments.
struct Place(PathBuf, Server);

impl Place {
    fn new() -> Self {
        let folder = scratch("place");
        fs::create_dir_all(folder.join("serve")).expect("made");
        let server = Server::new("if sys.argv[1:] != ['serve']: sys.exit('what is ' + str(sys.argv[1:]))", false, "");
        fs::copy(server.path(), folder.join("server.py")).expect("copied");
        Self(folder, server)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_word_that_is_also_the_name_of_a_folder_stays_a_word() {
    let place = Place::new();
    let _kept = &place.1;
    let only = ["--only", "handshake", "--only", "start/empty-directory", "--only", "start/without-config"];
    let command = ["--", "python3", "-I", "server.py", "serve"];
    let cwd = ["check", "--format", "json", "--timeout", "5", "--cwd", text_of(&place.0)];
    let outcome = linegate(&[&cwd[..], &only, &command].concat(), "");
    let document: Value = serde_json::from_slice(&outcome.stdout).expect("a document");
    assert_eq!((names(&document, "fail"), outcome.code), (vec![], Some(0)), "{document:#}");
}

/// Lists these tools, whatever Python makes of the text.
fn listing(tools: &str) -> String {
    format!(
        "import time\ndef answer(message, strict=answer):\n    if message['method'] == 'tools/list':\n        return \
         {{'result': {{'tools': {tools}}}}}\n    return strict(message)"
    )
}

#[test]
fn what_differs_at_each_start_is_no_damage_of_a_kill() {
    let tool = "[{'name': name, 'inputSchema': {'type': 'object'}} for name in set('abcdefgh')]";
    let clock = "[{'name': 'a', 'description': str(int(time.time())), 'inputSchema': {'type': 'object'}}]";
    for tools in [tool, clock] {
        let (document, status) = Server::new(&listing(tools), false, "").check(&["--only", "end/killed"]);
        assert_eq!((names(&document, "fail"), status), (vec![], 0), "{tools}: {document:#}");
    }
    // What a kill has changed stays changed.
    let lock = "import os\nLOCK = __file__ + '.lock'\nBROKEN = os.path.exists(LOCK)\nopen(LOCK, 'w').close()\n"
        .to_owned()
        + &listing("[] if BROKEN else [{'name': 'a', 'inputSchema': {'type': 'object'}}]")
        + "\ndef serve(strict=serve):\n    strict()\n    if not BROKEN: os.remove(LOCK)";
    let server = Server::new(&lock, false, "");
    let (document, status) = server.check(&["--only", "end/killed"]);
    assert_eq!((names(&document, "fail"), status), (vec!["end/killed"], 1), "{document:#}");
    let _ = fs::remove_file(server.path().with_extension("py.lock"));
}

#[test]
fn one_end_that_takes_too_long_says_nothing_of_the_others() {
    // Longer than a fifth of the time, and at the end without traffic longer than all of it.
    let slow = "import time\nheard = 0\ndef serve(strict=serve):\n    strict()\n    time.sleep(1 if heard else 60)\n\
                def reply(message, strict=reply):\n    global heard\n    heard += 1\n    strict(message)";
    let only = ["--jobs", "1", "--only", "eof", "--only", "traffic/crlf", "--only", "end/own-stdout"];
    let (document, status) = Server::new(slow, false, "").check_within("3", &only);
    assert_eq!((names(&document, "fail"), status), (vec!["eof/at-once"], 1), "{document:#}");
}

#[test]
fn what_a_server_asks_its_client_is_answered() {
    let asks = "def answer(message, strict=answer):\n    if message['method'] != 'tools/list': return strict(message)\n    \
                told = []\n    for method in ['ping', 'roots/list']:\n        request = {'jsonrpc': '2.0', 'id': method, 'method': method}\n        \
                sys.stdout.write(json.dumps(request) + '\\n')\n        sys.stdout.flush()\n        \
                told.append(json.loads(sys.stdin.buffer.readline()))\n    \
                good = told[0] == {'jsonrpc': '2.0', 'id': 'ping', 'result': {}} and told[1]['error']['code'] == -32601\n    \
                return {'result': {'tools': []}} if good else {'error': {'code': 1, 'message': str(told)}}";
    let only = ["--only", "handshake", "--only", "tool-list"];
    let (document, status) = Server::new(asks, false, "").check(&only);
    assert_eq!((names(&document, "ok").len(), status), (2, 0), "{document:#}");
}

#[test]
fn what_is_longer_than_what_is_kept_is_no_verdict() {
    let long = "def answer(message, strict=answer):\n    if message['method'] == 'ping':\n        line = \
                json.dumps({'jsonrpc': '2.0', 'method': 'notifications/message', 'params': {'level': 'info', 'data': 'x' * 2**22}})\n        \
                for _ in range(17): sys.stdout.write(line + '\\n')\n    return strict(message)";
    let server = Server::new(long, false, "");
    let command = ["--", "python3", "-I", text_of(server.path())];
    let outcome = linegate(&[&["check", "--only", "call"][..], &command].concat(), "");
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("in call it wrote more to stdout than 67108864 bytes"), "{}", outcome.stderr);
}

#[test]
fn a_check_of_nothing_is_no_verdict() {
    let strict = Server::new("", false, "");
    let command = ["--", "python3", "-I", text_of(strict.path())];
    for (arguments, told) in [
        (&["--only", "traffic/large-response"][..], "nothing was checked: "),
        (&["--cwd", "/no/such/folder"], "there is no directory /no/such/folder"),
        (&["--timeout", "0"], "give seconds from 0.01"),
    ] {
        let outcome = linegate(&[&["check"][..], arguments, &command].concat(), "");
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(told), "{arguments:?}: {}", outcome.stderr);
    }
    let tools = "[{'name': 'add', 'inputSchema': {'type': 'object'}}]";
    let fails = format!(
        "{}\ndef answer(message, listed=answer):\n    if message['method'] == 'tools/call':\n        return {{'result': {{'content': [], \
         'isError': True}}}}\n    return listed(message)",
        listing(tools)
    );
    let server = Server::new(&fails, false, "");
    let check = |tool: &str| {
        let call = ["check", "--only", "call", "--call", tool, "{}"];
        linegate(&[&call[..], &["--", "python3", "-I", text_of(server.path())]].concat(), "")
    };
    let (slip, right) = (check("ad"), check("add"));
    assert_eq!((slip.code, right.code), (Some(2), Some(0)), "{}{}", slip.stderr, right.stderr);
    assert!(slip.stderr.contains("there is no tool ad; --call takes add"), "{}", slip.stderr);
}

#[test]
fn a_tool_that_the_server_does_not_have_is_no_verdict_whatever_was_chosen() {
    let example = linegate_bin();
    let example = ["--", text_of(&example), "example-server"];
    for only in [&["call"][..], &["handshake", "tool-list", "call"], &["malformed/batch"], &["end/in-flight"]] {
        let options: Vec<_> = only.iter().flat_map(|name| ["--only", name]).collect();
        let check = |tool: &str, command: &[&str]| {
            linegate(
                &[&["check", "--skip", "stdout-clean", "--call", tool, r#"{"text":"x"}"#], &options[..], command]
                    .concat(),
                "",
            )
        };
        for command in [&example[..], &[]] {
            let (slip, right) = (check("ech", command), check("echo", command));
            assert_eq!((slip.code, right.code), (Some(2), Some(0)), "{only:?}: {}{}", slip.stderr, right.stderr);
            let told = "there is no tool ech; --call takes echo, add, record";
            assert!(slip.stderr.contains(told), "{only:?}: {}", slip.stderr);
        }
    }
    // What looks for the tool is no part of the report.
    let call = ["check", "--format", "json", "--call", "echo", r#"{"text":"x"}"#, "--only", "malformed/batch"];
    let outcome = linegate(&[&call[..], &example].concat(), "");
    let document: Value = serde_json::from_slice(&outcome.stdout).expect("a document");
    assert_eq!(document["scenarios"].as_array().map(Vec::len), Some(1), "{document:#}");
}

#[test]
fn a_method_that_the_server_does_not_have_is_no_verdict_either() {
    for (method, code) in [("no/such", Some(2)), ("ping", Some(0))] {
        let strict = Server::new("", false, "");
        let request = ["check", "--only", "malformed/batch", "--request", method, "{}"];
        let outcome = linegate(&[&request[..], &["--", "python3", "-I", text_of(strict.path())]].concat(), "");
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
        assert!(
            code == Some(0) || outcome.stderr.contains("has no no/such, which --request names"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn the_tools_of_a_server_are_looked_for_where_they_are() {
    let paged = "PAGES = {None: (['a'], 'two'), 'two': (['b', '\\x1b'], 'three'), 'three': (['c'], None)}\n\
                 def page(message):\n    names, cursor = PAGES[message.get('params', {}).get('cursor')]\n    \
                 tools = [{'name': name, 'inputSchema': {'type': 'object'}} for name in names]\n    \
                 return {'tools': tools, **({'nextCursor': cursor} if cursor else {})}\n";
    let circle = paged.replace("(['c'], None)", "(['c'], 'two')");
    let late = "import time\nBEGIN = time.monotonic()\n\
                def page(message):\n    there = time.monotonic() > BEGIN + 0.5\n    \
                return {'tools': [{'name': 'c', 'inputSchema': {'type': 'object'}}] if there else []}\n";
    let none = "def page(message): return {'tools': []}\n";
    let failed = "{'result': {'content': [], 'isError': True}}";
    let works = "{'result': {'content': []}}";
    let unknown = "{'error': {'code': -32602, 'message': 'unknown tool'}}";
    let broken = "{'error': {'code': -32603, 'message': 'down'}}";
    for (pages, call, tool, told) in [
        (paged, failed, "c", None),
        (paged, failed, "d", Some("there is no tool d; --call takes a, b, \\u{1b}, c")),
        (paged, unknown, "d", Some("there is no tool d; --call takes a, b, \\u{1b}, c")),
        // Of a list without an end nobody knows what isn't in it, but for what an unknown tool is answered with.
        (&circle, failed, "d", None),
        (&circle, unknown, "d", Some("there is no tool d; --call takes a, b, \\u{1b}, c")),
        (late, failed, "c", None),
        (late, failed, "d", Some("there is no tool d; --call takes c")),
        (none, broken, "d", Some("there is no tool d; the server lists none")),
        // A tool that isn't listed, and is there.
        (none, works, "d", None),
        // No list at all.
        ("", works, "d", None),
        ("", broken, "d", None),
        (
            "",
            unknown,
            "d",
            Some("there is no tool d: the server has no tools/list, and tools/call brings error -32602: unknown tool"),
        ),
    ] {
        let listed = if pages.is_empty() {
            ""
        } else {
            "if message['method'] == 'tools/list': return {'result': page(message)}"
        };
        let code = format!(
            "{pages}def answer(message, strict=answer):\n    {listed}\n    if message['method'] == 'tools/call': return {call}\n    \
             return strict(message)"
        );
        let server = Server::new(&code, false, "");
        let arguments = ["check", "--timeout", "5", "--only", "malformed/batch", "--call", tool, "{}"];
        let outcome = linegate(&[&arguments[..], &["--", "python3", "-I", text_of(server.path())]].concat(), "");
        let expected = if told.is_some() { 2 } else { 0 };
        assert_eq!(outcome.code, Some(expected), "{code}: {}", outcome.stderr);
        assert!(told.is_none_or(|told| outcome.stderr.trim_end().ends_with(told)), "{told:?}: {}", outcome.stderr);
    }
}

#[test]
fn how_long_the_server_is_left_alone_can_be_said() {
    let late = "import threading\nthreading.Timer(0.5, lambda: print('late banner', flush=True)).start()\n\
                def serve(strict=serve):\n    strict()\n    import os; os._exit(0)";
    let server = Server::new(late, false, "");
    for (idle, failed) in [("0", 0), ("1.2", 1)] {
        let (document, status) = server.check(&["--only", "start/idle", "--idle", idle]);
        assert_eq!((names(&document, "fail").len(), status), (failed, i32::from(failed > 0)), "{idle}: {document:#}");
    }
}

#[test]
fn a_signal_to_who_records_ends_the_server() {
    let (session, ready) = (scratch("session"), scratch("ready"));
    let script = format!("trap 'exit 5' TERM; : >{}; while :; do sleep 0.05; done", text_of(&ready));
    let running = Running::start(&["check", "--record", text_of(&session), "--", "sh", "-c", &script]);
    eventually("the server runs", || ready.exists());
    let started = Instant::now();
    let _ = Command::new("kill").arg(running.child.id().to_string()).status();
    assert_eq!(running.wait().code, Some(5));
    assert!(started.elapsed() < Duration::from_secs(20));
    // A command that can't be run leaves what was recorded before.
    fs::write(&session, "> {}\n").expect("written");
    let outcome = linegate(&["check", "--record", text_of(&session), "--", "/no/such/program"], "");
    assert_eq!(outcome.code, Some(2));
    assert_eq!(fs::read_to_string(&session).expect("read"), "> {}\n");
    let _ = fs::remove_file(session);
}
