//! Each scenario of `linegate check` beside the malformed lines: a server with the fault that it is there for, which must
//! fail it and nothing else, and the strict server, which must pass it.
#![cfg(unix)]

mod support;

use std::fs;

use serde_json::Value;

use support::scratch;
use support::servers::{Server, linegate, names, scenario};

/// A fault: the code put before the strict server's loop, and what has to be said of it.
struct Fault {
    scenario: &'static str,
    class: &'static str,
    /// How the sentence begins.
    what: &'static str,
    code: &'static str,
    options: &'static [&'static str],
}

const fn fault(scenario: &'static str, class: &'static str, what: &'static str, code: &'static str) -> Fault {
    Fault { scenario, class, what, code, options: &[] }
}

const FAULTS: &[Fault] = &[
    fault(
        "start/minimal-environment",
        "lifecycle",
        "the handshake failed this time: ",
        // Set by cargo, so that the check has it and hands it down elsewhere.
        "import os\nif 'CARGO_MANIFEST_DIR' not in os.environ: sys.exit('no settings')",
    ),
    fault(
        "start/debug-environment",
        "stdout",
        "line 1 of stdout in start/debug-environment is no message",
        "import os\nif os.environ.get('DEBUG'): print('debug: on', flush=True)",
    ),
    fault(
        "start/unbuffered",
        "stdout",
        "line 1 of stdout in start/unbuffered is no message",
        // Elsewhere the banner is still in the buffer when the process ends without flushing it.
        r"
import os
print('Ready')
if os.environ.get('PYTHONUNBUFFERED'): sys.stdout.flush()
def reply(message):
    os.write(1, (json.dumps({'jsonrpc': '2.0', 'id': message['id'], **answer(message)}) + '\n').encode())
strict = serve
def serve():
    strict()
    os._exit(0)
",
    ),
    fault("start/empty-directory", "lifecycle", "the handshake failed this time: ", "open('Cargo.toml').close()"),
    fault(
        "start/empty-home",
        "lifecycle",
        "the handshake failed this time: ",
        "import os\nif not os.listdir(os.path.expanduser('~')): sys.exit('no settings')",
    ),
    fault(
        "start/without-config",
        "lifecycle",
        "the handshake failed this time: ",
        "import os\nif not os.listdir('.') and not os.listdir(os.path.expanduser('~')): sys.exit('no settings')",
    ),
    Fault {
        // What the user sets beside it doesn't help.
        options: &["--break-env", "LINEGATE_WANTED", "--env", "LINEGATE_WANTED=yes"],
        ..fault(
            "start/variables-unset",
            "lifecycle",
            "it neither answered initialize nor ended",
            "import os, time\nif 'LINEGATE_WANTED' not in os.environ: time.sleep(600)",
        )
    },
    Fault {
        options: &["--break-env", "LINEGATE_WANTED=never", "--env", "LINEGATE_WANTED=yes"],
        ..fault(
            "start/variables-bogus",
            "stdout",
            "line 1 of stdout in start/variables-bogus is no message",
            "import os\nif os.environ.get('LINEGATE_WANTED') == 'never': sys.exit(print('LINEGATE_WANTED is no number'))",
        )
    },
    fault(
        "start/idle",
        "lifecycle",
        "the handshake failed this time: ",
        r"
import signal
def checked(line, strict=checked):
    signal.setitimer(signal.ITIMER_REAL, 0)
    return strict(line)
signal.signal(signal.SIGALRM, lambda *_: sys.exit(0))
signal.setitimer(signal.ITIMER_REAL, 0.3)
",
    ),
    fault(
        "traffic/two-in-one-write",
        "lifecycle",
        "a request that shared its write with another was not answered in time",
        r"
import os
def serve():
    while data := os.read(0, 65536):
        message = checked(data.split(b'\n')[0] + b'\n')
        if 'id' in message:
            reply(message)
",
    ),
    fault(
        "traffic/byte-by-byte",
        "lifecycle",
        "a request that came byte by byte was not answered in time",
        r"
import os
def serve():
    while data := os.read(0, 65536):
        for line in data.splitlines(keepends=True):
            try:
                message = checked(line)
            except Exception:
                continue
            if 'id' in message:
                reply(message)
",
    ),
    fault(
        "traffic/crlf",
        "lifecycle",
        "a request whose line ended with CR LF was not answered in time",
        r"
def checked(line, strict=checked):
    if line.endswith(b'\r\n'):
        raise ValueError('a CR')
    return strict(line)
",
    ),
    fault(
        "traffic/burst",
        "lifecycle",
        "of 256 requests at once 156 were not answered in time",
        r"
import itertools
count = itertools.count(1)
def reply(message, strict=reply):
    if message['method'] != 'ping' or next(count) <= 100:
        strict(message)
",
    ),
    fault(
        "traffic/large-request",
        "lifecycle",
        "a request of a megabyte was not answered in time",
        r"
def serve():
    while line := sys.stdin.buffer.readline(65536):
        try:
            message = checked(line)
        except Exception:
            continue
        if 'id' in message:
            reply(message)
",
    ),
    Fault {
        options: &["--call", "echo", r#"{"text":"{{marker}}"}"#],
        ..fault(
            "traffic/large-response",
            "lifecycle",
            "a request with a text of a megabyte was not answered in time",
            r"
import os
os.set_blocking(1, False)
def answer(message, strict=answer):
    if message['method'] == 'tools/call':
        return {'result': {'content': [{'type': 'text', 'text': message['params']['arguments']['text']}]}}
    return strict(message)
def reply(message):
    os.write(1, (json.dumps({'jsonrpc': '2.0', 'id': message['id'], **answer(message)}) + '\n').encode())
",
        )
    },
    Fault {
        options: &["--call", "slow", "{}"],
        ..fault(
            "traffic/cancelled",
            "lifecycle",
            "a cancelled request was answered once its cancellation was read",
            r"
import threading
def answer(message, strict=answer):
    return {'result': {'content': []}} if message['method'] == 'tools/call' else strict(message)
def reply(message, strict=reply):
    if message['method'] == 'tools/call':
        threading.Timer(0.8, strict, [message]).start()
    else:
        strict(message)
",
        )
    },
    fault(
        "traffic/duplicate-id",
        "lifecycle",
        "no request was answered behind two with the same id",
        r"
seen = set()
def reply(message, strict=reply):
    if message['id'] in seen:
        sys.stdin.buffer.read()
    seen.add(message['id'])
    strict(message)
",
    ),
    fault(
        "traffic/stderr-unread",
        "lifecycle",
        "",
        r"
def reply(message, strict=reply):
    print('x' * 8192, file=sys.stderr, flush=True)
    strict(message)
",
    ),
    fault(
        "end/in-flight",
        "lifecycle",
        "it ended with status 7",
        r"
import os, threading
waiting = []
def reply(message, strict=reply):
    if message['method'] != 'ping':
        return strict(message)
    waiting.append(threading.Timer(0.5, strict, [message]))
    waiting[-1].start()
def serve(strict=serve):
    strict()
    if any(timer.is_alive() for timer in waiting):
        os._exit(7)
",
    ),
    fault(
        "end/one-request",
        "lifecycle",
        "one request by a pipe, and the end of input, brought no answer",
        r"
import threading
def reply(message, strict=reply):
    timer = threading.Timer(0.5, strict, [message])
    timer.daemon = True
    timer.start()
",
    ),
    fault(
        "end/sigterm",
        "lifecycle",
        "it was still running",
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)",
    ),
    fault(
        "end/stdout-closed",
        "lifecycle",
        "it was still running",
        r"
import time
def reply(message, strict=reply):
    try:
        strict(message)
    except BrokenPipeError:
        time.sleep(600)
",
    ),
    fault(
        "end/own-stdout",
        "lifecycle",
        "it closed its own stdout and ran on",
        r"
import os
def reply(message, strict=reply):
    strict(message)
    if message['method'] == 'ping':
        os.close(1)
",
    ),
    fault(
        "end/child-left",
        "lifecycle",
        "processes that it had started outlived it",
        r"
import subprocess
none = subprocess.DEVNULL
def reply(message, strict=reply):
    if message['method'] == 'ping':
        subprocess.Popen(['sleep', '600'], stdin=none, stdout=none, stderr=none)
    strict(message)
",
    ),
    fault(
        "end/killed",
        "lifecycle",
        "started again after it was killed, it does not begin a session",
        r"
import os
LOCK = __file__ + '.lock'
os.close(os.open(LOCK, os.O_CREAT | os.O_EXCL))
def serve(strict=serve):
    strict()
    os.remove(LOCK)
",
    ),
    fault(
        "malformed/half-line",
        "effects",
        "the malformed line was answered with a result",
        r#"
def checked(line, strict=checked):
    return strict(line) if line.endswith(b"\n") else {"id": "a guess", "method": "ping"}
"#,
    ),
];

#[test]
fn each_fault_is_found_by_its_own_scenario() {
    for Fault { scenario: name, class, what, code, options } in FAULTS {
        let server = Server::new(code, false, "");
        let (document, status) = server.check_within("4", &[options, &["--only", name][..]].concat());
        let _ = fs::remove_file(server.path().with_extension("py.lock"));
        assert_eq!((names(&document, "fail"), status), (vec![*name], 1), "{name}: {document:#}");
        let finding = &scenario(&document, name)["findings"][0];
        assert_eq!(finding["class"], *class, "{name}: {finding}");
        assert!(finding["what"].as_str().is_some_and(|text| text.starts_with(what)), "{name}: {finding}");
    }
}

#[test]
fn a_start_that_fails_in_time_and_in_silence_is_no_fault() {
    let code = "import os\nif os.environ.get('LINEGATE_WANTED') != 'yes': sys.exit('LINEGATE_WANTED is missing')";
    let server = Server::new(code, false, "");
    let wanted = ["--env", "LINEGATE_WANTED=yes", "--only", "start/variables"];
    let (document, status) = server.check(&[&wanted[..], &["--break-env", "LINEGATE_WANTED"]].concat());
    assert_eq!((names(&document, "ok").len(), status), (2, 0), "{document:#}");
    let notes = &scenario(&document, "start/variables-unset")["notes"];
    assert_eq!(notes[0], "it did not come up");
    let (document, status) = server.check(&[&wanted[..], &["--only", "handshake"]].concat());
    assert_eq!((names(&document, "skip").len(), status), (2, 0), "{document:#}");
}

/// Writes files where a call says so, and takes whatever its parser takes.
const WRITER: &str = r"
def answer(message, strict=answer):
    if message['method'] == 'tools/call':
        open(message['params']['arguments']['path'], 'w').close()
        return {'error': {'code': -32600, 'message': 'nothing happened'}}
    return strict(message)
";

#[test]
fn a_file_that_a_malformed_line_makes_is_an_effect() {
    let call = ["--call", "write", r#"{"path":"{{canary}}"}"#, "--only", "malformed/duplicate-method"];
    let (document, status) = Server::new(WRITER, true, "").check(&call);
    assert_eq!((names(&document, "fail").len(), status), (2, 1), "{document:#}");
    let finding = &scenario(&document, "malformed/duplicate-method")["findings"][0];
    assert_eq!(
        (&finding["class"], &finding["what"]),
        (&"effects".into(), &"the malformed line made the canary file".into())
    );
    let (document, status) = Server::new(WRITER, false, "").check(&call);
    assert_eq!((names(&document, "fail"), status), (vec![], 0), "{document:#}");
}

#[test]
fn a_server_starts_in_the_named_directory_and_is_asked_the_named_request() {
    let folder = scratch("folder");
    fs::create_dir(&folder).expect("made");
    let folder = folder.canonicalize().expect("there");
    let code = format!(
        "import os\nif os.getcwd() != {:?}: sys.exit('elsewhere')\ndef answer(message, strict=answer):\n    \
         return {{'result': {{'contents': []}}}} if message['method'] == 'resources/read' else strict(message)",
        folder.to_str().expect("text")
    );
    let server = Server::new(&code, false, "");
    let options = ["--only", "call", "--cwd", folder.to_str().expect("text"), "--request", "resources/read"];
    let (document, status) = server.check(&[&options[..], &[r#"{"uri":"x:{{marker}}"}"#]].concat());
    assert_eq!((names(&document, "ok"), status), (vec!["call"], 0), "{document:#}");
    let run = &scenario(&document, "call")["runs"][0];
    assert!(
        run["stdin"]
            .as_str()
            .expect("text")
            .contains(r#""method":"resources/read","params":{"uri":"x:linegate-marker-call"}"#)
    );
    assert!(run["reproduce"].as_str().expect("text").starts_with(&format!("cd {} && ", folder.display())));
    // Elsewhere it doesn't come up, and that is told even where it was not asked for.
    let (document, status) = server.check(&["--only", "call"]);
    assert_eq!((names(&document, "fail"), names(&document, "skip"), status), (vec!["handshake"], vec!["call"], 1));
}

#[test]
fn every_scenario_that_has_no_malformed_line_has_a_fault() {
    let outcome = linegate(&["check", "--list", "--skip", "malformed"], "");
    let with_fault = |name: &str| FAULTS.iter().any(|fault| fault.scenario == name);
    // These are in the tests of the command itself.
    let elsewhere = ["handshake", "tool-list", "call", "eof/at-once", "eof/after-traffic", "stdout-clean"];
    for name in outcome.lines() {
        assert!(with_fault(name) || elsewhere.contains(&name), "{name} has no server that fails it");
    }
}

#[test]
fn the_strict_server_passes_by_a_relative_path_too() {
    let server = Server::new("", false, "");
    let folder = server.path().parent().expect("a folder");
    let name = server.path().file_name().expect("a name");
    let mut command = std::process::Command::new(support::linegate_bin());
    command.args(["check", "--only", "start", "--only", "end", "--", "python3", "-I"]).arg(name).current_dir(folder);
    let output = command.output().expect("linegate runs");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}");
    assert!(report.contains("ok    start/empty-directory "), "{report}");
}

#[test]
fn the_exit_status_can_look_at_some_classes_only() {
    let server = Server::new("print('Ready', flush=True)", true, "sys.exit(3)");
    let status = |options: &[&str]| {
        let only = ["--only", "eof/at-once", "--only", "malformed/nan", "--only", "stdout-clean"];
        server.check(&[&only, options].concat()).1
    };
    assert_eq!(status(&["--class", "stdout"]), 1);
    assert_eq!(status(&["--class", "effects", "--class", "lifecycle"]), 1);
    let clean = Server::new("print('Ready', flush=True)", false, "");
    let (document, code) = clean.check(&["--only", "eof", "--only", "stdout-clean", "--class", "lifecycle"]);
    assert_eq!((names(&document, "fail"), code), (vec!["stdout-clean"], 0));
}

#[test]
fn what_fails_now_and_then_is_found_by_repeating() {
    let tally = scratch("tally");
    let code = format!(
        "import os\nwith open({:?}, 'a') as tally: tally.write('x')\nif os.path.getsize({:?}) == 5: FAIL = 3\nelse: FAIL = 0",
        tally.to_str().expect("text"),
        tally.to_str().expect("text")
    );
    let server = Server::new(&code, false, "sys.exit(FAIL)");
    // Two starts are the handshake's probe and the handshake; they are repeated too.
    let (document, status) = server.check(&["--only", "eof/at-once", "--repeat", "2", "--jobs", "1"]);
    fs::remove_file(tally).expect("removed");
    assert_eq!((names(&document, "fail"), status), (vec!["eof/at-once"], 1), "{document:#}");
    let notes = scenario(&document, "eof/at-once")["notes"].as_array().expect("notes");
    assert_eq!(notes.last(), Some(&Value::from("failed 1 times of 2")));
}

#[test]
fn a_server_that_runs_once_on_a_machine_is_not_failed_for_it() {
    let lock = scratch("single");
    let code = format!(
        "import fcntl\nLOCK = open({:?}, 'w')\nfcntl.flock(LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        lock.to_str().expect("text")
    );
    let server = Server::new(&code, false, "");
    let (document, status) = server.check(&["--only", "eof", "--only", "end", "--only", "start", "--jobs", "8"]);
    fs::remove_file(lock).expect("removed");
    assert_eq!((names(&document, "fail"), status), (vec![], 0), "{document:#}");
}
