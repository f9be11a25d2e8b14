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
