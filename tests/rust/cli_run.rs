//! `linegate run` between a client (the test) and servers that behave, pollute, hang, flood or won't end.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Outcome, PATIENCE, Running, eventually, scratch};

/// Answers every line that has an id, and writes every line that it gets to the file in its argument.
const RECORDER: &str = r#"
import json, sys
record = open(sys.argv[1], "ab", buffering=0)
for line in sys.stdin.buffer:
    record.write(line)
    message = json.loads(line)
    if "id" in message:
        result = {"method": message["method"]}
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "r", "version": "1"}}
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
"#;

fn run_with<'a>(options: &[&'a str], server: &[&'a str]) -> Vec<&'a str> {
    [&["run"], options, &["--"], server].concat()
}

/// A session with the recording server: `input` whole, then the end.
fn record(options: &[&str], input: impl AsRef<[u8]>) -> (Outcome, String) {
    let path = scratch("record");
    fs::write(&path, "").expect("written");
    let server = ["python3", "-c", RECORDER, path.to_str().expect("UTF-8")];
    let mut running = Running::start(&run_with(options, &server));
    running.send(input);
    let outcome = running.finish();
    (outcome, fs::read_to_string(&path).expect("read"))
}

/// A session with a shell script as the server: `input` whole, then the end.
fn shell(options: &[&str], script: &str, input: impl AsRef<[u8]>) -> Outcome {
    let mut running = Running::start(&run_with(options, &["sh", "-c", script]));
    running.send(input);
    running.finish()
}

fn ping(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
}

/// A well-framed request that is refused for its contents (214): answered, and the session goes on by default.
const REFUSED: &str = "{\"jsonrpc\":\"2.0\",\"id\":41,\"method\":\"tools/call\",\"params\":{\"n\":-0}}\n";

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

/// For tests of pipes and processes: any method and id may travel, as often as it likes.
const PLAIN: [&str; 2] = ["--revision", "jsonrpc"];
/// The same, for servers that won't end by themselves.
const IMPATIENT: [&str; 6] = ["--revision", "jsonrpc", "--close-wait", "0.2", "--term-wait", "0.2"];

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn lives(pid: &str) -> bool {
    Command::new("kill").args(["-0", pid]).output().expect("kill starts").status.success()
}

#[test]
fn a_clean_session() {
    let input = format!("{HELLO}{}", ping(2));
    let (outcome, record) = record(&[], &input);
    assert_eq!(record, input);
    let replies: Vec<Value> = outcome.lines().into_iter().map(json).collect();
    assert_eq!(replies.iter().map(|reply| reply["id"].clone()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(outcome.code, Some(0));
    assert_eq!(outcome.stderr, "");
}

#[test]
fn bytes_pass_as_they_are_but_for_the_line_end() {
    let message =
        "{ \"jsonrpc\" : \"2.0\",\t\"id\":\"\\u0061é\u{2028}\",\"method\":\"m\",\"params\":{\"b\":1,\"a\":1.50} }";
    let (_, seen) = record(&PLAIN, format!("{message}\r\n{message}\n"));
    assert_eq!(seen, format!("{message}\n{message}\n"));

    let reply =
        "{ \"jsonrpc\":\"2.0\", \"id\":1, \"result\":{\"n\":12345678901234567890,\"s\":\"\\ud83d\\ude00 🚀\"} }";
    let path = scratch("output");
    fs::write(&path, format!("{reply}\r\n{reply}\n")).expect("written");
    let outcome = shell(&PLAIN, &format!("cat {}; cat >/dev/null", path.display()), "");
    assert_eq!(outcome.stdout, format!("{reply}\n{reply}\n").as_bytes());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_refused_request_is_answered_and_not_passed_on() {
    let (outcome, record) = record(&[], format!("{}{REFUSED}{}", ping(1), ping(2)));
    assert_eq!(record, format!("{}{}", ping(1), ping(2)));
    let mut replies: Vec<Value> = outcome.lines().into_iter().map(json).collect();
    replies.sort_by_key(|reply| reply["id"].as_i64());
    assert_eq!(replies.iter().map(|reply| reply["id"].clone()).collect::<Vec<_>>(), [1, 2, 41]);
    assert_eq!(replies[2]["error"]["code"], -32600);
    assert!(replies[2]["error"]["message"].as_str().expect("text").contains("as strings"));
    // The session went on: the status is the server's.
    assert_eq!(outcome.code, Some(0));
    assert!(
        outcome.stderr.contains("refused a line of the client at offset 41: 214 number_range, byte 61"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("of the client: 2 accepted, 1 refused; of the server: 2 accepted, 0 refused"));
    // What a client sends may be secret.
    assert!(!outcome.stderr.contains("tools/call"));
}

#[test]
fn a_malformed_line_ends_the_session() {
    let (outcome, record) = record(&[], format!("{}{{oops\n{}", ping(1), ping(2)));
    assert_eq!(record, ping(1));
    let (errors, results): (Vec<Value>, Vec<Value>) =
        outcome.lines().into_iter().map(json).partition(|line| line["error"].is_object());
    assert_eq!(errors.iter().map(|line| &line["error"]["code"]).collect::<Vec<_>>(), [-32700]);
    // What was accepted before is answered all the same.
    assert_eq!(results.iter().map(|line| &line["id"]).collect::<Vec<_>>(), [1]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("202 unexpected_byte"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("This ends the session."), "{}", outcome.stderr);
}

#[test]
fn nothing_has_an_effect_after_close_all() {
    // In the same write, and in a later one.
    let (outcome, seen) = record(&["--on-reject", "close-all"], format!("{REFUSED}{}", ping(1)));
    assert_eq!(seen, "");
    assert_eq!(outcome.lines().len(), 1);
    assert_eq!(json(outcome.lines()[0])["id"], 41);
    assert_eq!(outcome.code, Some(1));

    let path = scratch("record");
    let server = ["python3", "-c", RECORDER, path.to_str().expect("UTF-8")];
    let mut running = Running::start(&run_with(&["--on-reject", "close-all"], &server));
    running.send(ping(1));
    eventually("the first request arrives", || fs::read_to_string(&path).is_ok_and(|seen| seen == ping(1)));
    running.send(REFUSED);
    running.send(ping(2));
    // The client keeps its end open; the session ends all the same.
    let outcome = running.wait();
    assert_eq!(outcome.code, Some(1));
    assert_eq!(fs::read_to_string(&path).expect("read"), ping(1));
}

#[test]
fn with_continue_only_the_line_is_lost() {
    let (outcome, record) = record(&["--on-reject", "continue"], format!("{{oops\n{REFUSED}{}", ping(1)));
    assert_eq!(record, ping(1));
    assert_eq!(outcome.lines().len(), 3);
    assert_eq!(outcome.code, Some(0));
}

#[test]
fn a_refused_notification_is_not_answered() {
    let note = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"n\":-0}}\n";
    let (outcome, record) = record(&[], note);
    assert_eq!((outcome.stdout.as_slice(), record.as_str()), (&b""[..], ""));
    assert_eq!(outcome.code, Some(0));
}

#[test]
fn a_cut_off_request_is_not_passed_on() {
    let (outcome, record) = record(&[], ping(1).trim_end());
    assert_eq!((record.as_str(), outcome.code), ("", Some(1)));
    assert!(outcome.stderr.contains("104 truncated"), "{}", outcome.stderr);
    assert!(outcome.stdout.is_empty());
}

#[test]
fn pollution_before_the_first_message() {
    let outcome =
        shell(&[], &format!("printf '\\033[32mServer\\001 started 🚀\\n'; echo '{NOTE}'; cat >/dev/null"), "");
    assert_eq!(outcome.stdout, b"");
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.stderr.contains("refused a line of the server at offset 0: 202 unexpected_byte"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains(r"The line: \u{1b}[32mServer\u{1} started 🚀"), "{}", outcome.stderr);
}

#[test]
fn pollution_between_messages() {
    let outcome =
        shell(&[], &format!("echo '{NOTE}'; echo '{{\"level\":\"info\"}}'; echo '{NOTE}'; cat >/dev/null"), "");
    assert_eq!(outcome.stdout, format!("{NOTE}\n").as_bytes());
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("of the server at offset 62: 312 unknown_member"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("The line: {\"level\":\"info\"}"), "{}", outcome.stderr);
}

#[test]
fn pollution_after_the_last_message() {
    for bye in ["bye\\n", "{bye\\n", "{\"bye\"", "\\n\\n{"] {
        let outcome = shell(&[], &format!("echo '{NOTE}'; cat >/dev/null; printf '{bye}'"), "");
        assert_eq!(outcome.stdout, format!("{NOTE}\n").as_bytes(), "{bye}");
        assert_eq!(outcome.code, Some(1), "{bye}: {}", outcome.stderr);
    }
}

#[test]
fn pollution_is_never_answered_and_the_server_is_ended() {
    let path = scratch("stdin");
    let started = Instant::now();
    // A prompt that never ends its line, from a server that waits for ever.
    let mut running = Running::start(&run_with(
        &["--close-wait", "0.2", "--term-wait", "0.2"],
        &["sh", "-c", &format!("printf 'password: '; cat >{}; exec sleep 600", path.display())],
    ));
    running.send("");
    let outcome = running.wait();
    assert_eq!(outcome.code, Some(1));
    assert_eq!(fs::read(&path).expect("read"), b"");
    assert!(outcome.stderr.contains("The line: password: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the server ended with status 143"), "{}", outcome.stderr);
    assert!(started.elapsed() < PATIENCE / 2);
}

#[test]
fn with_continue_pollution_is_dropped() {
    let outcome =
        shell(&["--on-reject", "continue"], &format!("echo noise; echo '{NOTE}'; echo; echo '{NOTE}'; exit 3"), "");
    assert_eq!(outcome.stdout, format!("{NOTE}\n{NOTE}\n").as_bytes());
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.stderr.contains("102 frame_empty"), "{}", outcome.stderr);
}

#[test]
fn a_fault_far_back_in_a_line_is_shown() {
    let script = format!(
        "printf '{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"a\":\"{}\"}}}} trailing log\\n'; cat >/dev/null",
        "x".repeat(300)
    );
    let outcome = shell(&[], &script, "");
    assert!(outcome.stderr.contains("207 trailing_bytes"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("trailing log"), "{}", outcome.stderr);
}

#[test]
fn the_servers_output_flows_while_it_reads_nothing() {
    let script = format!("while :; do echo '{NOTE}'; sleep 0.05; done");
    // In a session: what waits for one pipe must not hold what both directions share.
    let options = ["--close-wait", "0.2", "--term-wait", "0.2"];
    let mut running = Running::start_unread(&run_with(&options, &["sh", "-c", &script]));
    let mut stdin = running.stdin.take().expect("a pipe");
    // Far more than the pipes hold.
    let sender = thread::spawn(move || {
        use std::io::Write;
        let fill = format!(",\"params\":{{\"fill\":\"{}\"}}}}\n", "x".repeat(20_000));
        for id in 0..100 {
            if stdin.write_all(ping(id).replace("}\n", &fill).as_bytes()).is_err() {
                break;
            }
        }
    });
    let mut lines = BufReader::new(running.child.stdout.take().expect("a pipe")).lines();
    for _ in 0..10 {
        assert_eq!(lines.next().expect("a line").expect("read"), NOTE);
    }
    assert!(!sender.is_finished());
    // The client ends it: by a signal, as clients do.
    let _ = Command::new("kill").arg(running.child.id().to_string()).status();
    let rest: Vec<_> = lines.map_while(Result::ok).collect();
    assert!(rest.iter().all(|line| line == NOTE));
    assert_eq!(running.wait().code, Some(143));
    sender.join().expect("joined");
}

#[test]
fn a_server_that_reads_nothing_is_ended_when_the_client_is_gone() {
    let mut running = Running::start(&run_with(&IMPATIENT, &["sleep", "600"]));
    // More than one pipe holds, less than two: the client gets rid of it all, and the gate can't.
    for _ in 0..90 {
        running.send(ping(1).repeat(25));
    }
    let outcome = running.finish();
    assert_eq!(outcome.code, Some(143));
    let why = "the server has read nothing for 0.2 s, and the client is gone: it gets SIGTERM";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
}

#[test]
fn a_flood_on_stderr_passes_and_blocks_nothing() {
    let script =
        "head -c 1048576 /dev/zero | tr '\\0' x >&2; read line; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'";
    let outcome = shell(&[], script, ping(1));
    assert_eq!(outcome.lines(), ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"]);
    assert_eq!(outcome.stderr, "x".repeat(1 << 20));
    assert_eq!(outcome.code, Some(0));
}

#[test]
fn a_server_that_ignores_sigterm_is_killed() {
    let started = Instant::now();
    let outcome =
        shell(&["--close-wait", "0.1", "--term-wait", "0.2"], "trap '' TERM; while :; do sleep 600; done", "");
    assert_eq!(outcome.code, Some(128 + 9));
    assert!(started.elapsed() < PATIENCE / 2);
}

#[test]
fn the_status_is_the_servers() {
    assert_eq!(shell(&[], "cat >/dev/null; exit 7", "").code, Some(7));
    assert_eq!(shell(&[], "exit 0", "").code, Some(0));
    assert_eq!(shell(&[], "kill -9 $$", "").code, Some(137));
    let crashed = shell(&[], "printf '{'; kill -9 $$", "");
    assert_eq!(crashed.code, Some(1));
    assert!(crashed.stderr.contains("104 truncated") && crashed.stderr.contains("status 137"), "{}", crashed.stderr);
}

#[test]
fn the_servers_last_lines_are_passed_on() {
    // It answers after its input was closed, and writes more than a pipe holds before it ends.
    let script = format!("cat >/dev/null; i=0; while [ $i -lt 3000 ]; do echo '{NOTE}'; i=$((i+1)); done");
    let mut running = Running::start_unread(&run_with(&[], &["sh", "-c", &script]));
    let stdout = running.child.stdout.take().expect("a pipe");
    running.close();
    // A client that reads late.
    thread::sleep(Duration::from_millis(500));
    let lines = BufReader::new(stdout).lines().map_while(Result::ok).filter(|line| line == NOTE).count();
    assert_eq!(lines, 3000);
    assert_eq!(running.wait().code, Some(0));
}

#[test]
fn a_client_that_stops_reading_ends_the_session() {
    let script = format!("trap '' PIPE; while :; do echo '{NOTE}' || exit 9; sleep 0.01; done");
    let mut running =
        Running::start_unread(&run_with(&["--close-wait", "0.2", "--term-wait", "0.2"], &["sh", "-c", &script]));
    let mut byte = [0];
    running.child.stdout.as_mut().expect("a pipe").read_exact(&mut byte).expect("up");
    drop(running.child.stdout.take());
    // Its stdin stays open.
    let outcome = running.wait();
    assert_eq!(outcome.code, Some(143));
    assert!(outcome.stderr.contains("as the client reads no more (--close-wait)"), "{}", outcome.stderr);
}

#[test]
fn a_server_that_stops_reading_ends_the_session() {
    let mut running = Running::start(&run_with(
        &PLAIN,
        &["sh", "-c", &format!("exec <&-; echo '{NOTE}'; sleep 0.3; echo '{NOTE}'; exit 5")],
    ));
    thread::sleep(Duration::from_millis(100));
    for _ in 0..2000 {
        running.send(ping(1));
    }
    let outcome = running.wait();
    assert_eq!(outcome.code, Some(5));
    assert_eq!(outcome.lines(), [NOTE, NOTE]);
}

#[test]
fn a_server_that_closes_its_output_is_ended() {
    let running = Running::start(&run_with(
        &["--close-wait", "0.1", "--term-wait", "0.2"],
        &["sh", "-c", "exec >&-; exec sleep 600"],
    ));
    assert_eq!(running.wait().code, Some(143));
}

#[test]
fn no_process_of_the_group_stays() {
    // One that its parent waits for, and one that its parent leaves behind; both hold the pipes.
    for rest in ["cat >/dev/null; wait", "cat >/dev/null", "exit 0"] {
        let path = scratch("pid");
        let script = format!("sleep 600 & echo $! >{}; {rest}", path.display());
        let outcome = shell(&["--close-wait", "0.2", "--term-wait", "0.2"], &script, "");
        assert!(matches!(outcome.code, Some(0 | 143)), "{outcome:?}");
        let pid = fs::read_to_string(&path).expect("read");
        eventually("the grandchild is gone", || !lives(pid.trim()));
    }
}

#[test]
fn a_grandchild_that_ignores_sigterm_is_killed() {
    let path = scratch("pid");
    let script =
        format!("(trap '' TERM; echo up >&2; sleep 600; sleep 600) & echo $! >{}; cat >/dev/null", path.display());
    let outcome = shell(&["--close-wait", "0.5", "--term-wait", "0.2"], &script, "");
    assert_eq!(outcome.code, Some(0));
    let pid = fs::read_to_string(&path).expect("read");
    eventually("the grandchild is gone", || !lives(pid.trim()));
}

#[test]
fn signals_go_to_the_server() {
    for (signal, code) in [("TERM", 21), ("INT", 22), ("HUP", 23)] {
        let script =
            format!("trap 'echo '\\''{NOTE}'\\''; exit {code}' {signal}; echo '{NOTE}'; while :; do sleep 0.02; done");
        let mut running = Running::start_unread(&run_with(&[], &["sh", "-c", &script]));
        let mut lines = BufReader::new(running.child.stdout.take().expect("a pipe")).lines();
        assert_eq!(lines.next().expect("a line").expect("read"), NOTE);
        let _ = Command::new("kill").args(["-s", signal, &running.child.id().to_string()]).status();
        assert_eq!(lines.next().expect("a last word").expect("read"), NOTE);
        assert_eq!(running.wait().code, Some(code));
    }
}

#[test]
fn a_signal_that_the_server_ignores_does_not_leave_it_behind() {
    let script = format!("trap '' TERM; echo '{NOTE}'; while :; do sleep 600; done");
    let mut running = Running::start_unread(&run_with(&["--term-wait", "0.2"], &["sh", "-c", &script]));
    let mut lines = BufReader::new(running.child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("read"), NOTE);
    let _ = Command::new("kill").arg(running.child.id().to_string()).status();
    assert_eq!(running.wait().code, Some(137));
}

#[test]
fn the_audit_file_has_a_record_for_each_refusal() {
    let path = scratch("audit.jsonl");
    fs::write(&path, "{\"before\":true}\n").expect("written");
    let audit = path.to_str().expect("UTF-8");
    let (outcome, _) =
        record(&["--audit", audit, "--on-reject", "continue"], format!("{}{REFUSED}{REFUSED}# no\n", ping(1)));
    assert_eq!(outcome.code, Some(0));
    let text = fs::read_to_string(&path).expect("read");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    let fingerprint = json(lines[1])["fingerprint"].as_str().expect("text").to_owned();
    assert_eq!(fingerprint.len(), 32);
    assert!(fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(
        lines[1],
        format!(
            r#"{{"event":"refused","sequence":2,"direction":"client","stage":"json","code":214,"name":"number_range","at":61,"length":65,"fingerprint":"{fingerprint}"}}"#
        )
    );
    assert_eq!(json(lines[2])["fingerprint"], json(lines[1])["fingerprint"]);
    assert_eq!((&json(lines[3])["code"], &json(lines[3])["length"]), (&202.into(), &1.into()));
    assert!(!text.contains("tools/call"));

    let outcome = shell(&["--audit", audit], "echo noise", "");
    assert_eq!(outcome.code, Some(1));
    let text = fs::read_to_string(&path).expect("read");
    assert_eq!(json(text.lines().last().expect("a line"))["direction"], "server");
}

#[test]
fn an_audit_file_that_fails_changes_no_verdict() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let (outcome, record) = record(&["--audit", "/dev/full"], format!("{REFUSED}{REFUSED}{}", ping(1)));
    assert_eq!(record, ping(1));
    assert_eq!(outcome.lines().len(), 3);
    assert_eq!(outcome.code, Some(0));
    assert_eq!(outcome.stderr.matches("the audit file can't be written").count(), 1);
}

#[test]
fn ten_thousand_lines_both_ways() {
    let input: String = (0..10_000).map(ping).collect();
    let path = scratch("record");
    let server = ["python3", "-c", RECORDER, path.to_str().expect("UTF-8")];
    let mut running = Running::start(&run_with(&["--revision", "jsonrpc", "--close-wait", "30"], &server));
    running.send(&input);
    let outcome = running.finish();
    assert_eq!(outcome.code, Some(0));
    assert_eq!(fs::read_to_string(&path).expect("read"), input);
    let ids: Vec<Value> = outcome.lines().into_iter().map(|line| json(line)["id"].clone()).collect();
    assert_eq!(ids, (0..10_000).collect::<Vec<_>>());
}

#[test]
fn each_line_is_passed_on_at_once() {
    let path = scratch("record");
    let server = ["python3", "-c", RECORDER, path.to_str().expect("UTF-8")];
    let mut running = Running::start_unread(&run_with(&[], &server));
    let mut lines = BufReader::new(running.child.stdout.take().expect("a pipe")).lines();
    for id in 0..200 {
        // In two pieces, so that the line is not whole in any read.
        let line = ping(id);
        let (first, second) = line.split_at(20);
        running.send(first);
        running.send(second);
        assert_eq!(json(&lines.next().expect("a line").expect("read"))["id"], id);
    }
    assert_eq!(running.finish().code, Some(0));
}

#[test]
fn long_lines_pass_whole() {
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"a\":\"{}\"}}}}\n",
        "é".repeat(2 << 20)
    );
    let (outcome, seen) = record(&["--close-wait", "30"], &long);
    assert!(seen == long);
    assert_eq!(outcome.code, Some(0));
    let (outcome, seen) = record(&["--max-frame", "100000", "--on-reject", "continue"], format!("{long}{}", ping(2)));
    assert_eq!(seen, ping(2));
    assert!(outcome.stderr.contains("101 frame_too_long"), "{}", outcome.stderr);
}

#[test]
fn lines_on_stdout_are_never_torn() {
    // Refusals are answered while the server pours out lines longer than a pipe takes at once.
    let script = "i=0; l=$(head -c 20000 /dev/zero | tr '\\0' x); while [ $i -lt 200 ]; do \
                  echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"'$l'\"}}'; i=$((i+1)); done; cat >/dev/null";
    let mut running = Running::start(&run_with(&["--on-reject", "continue"], &["sh", "-c", script]));
    for _ in 0..16 {
        running.send(REFUSED);
        thread::sleep(Duration::from_millis(5));
    }
    let outcome = running.finish();
    let lines: Vec<Value> = outcome.lines().into_iter().map(json).collect();
    assert_eq!(lines.iter().filter(|line| line["id"] == 41).count(), 16);
    assert_eq!(lines.iter().filter(|line| line["method"] == "notifications/message").count(), 200);
}

#[test]
fn says_what_it_could_not_do() {
    for (args, hint) in [
        (&["run", "--", "/nonexistent/server"][..], "cannot start /nonexistent/server"),
        (&["run", "--"], "COMMAND"),
        (&["run"], "COMMAND"),
        (&["run", "--on-reject", "stop", "--", "cat"], "close, close-all, continue"),
        (&["run", "--close-wait", "-1", "--", "cat"], "seconds"),
        (&["run", "--term-wait", "soon", "--", "cat"], "seconds from 0 to 86400"),
        (&["run", "--audit", "/nonexistent/audit", "--", "cat"], "cannot open the audit file"),
        (&["run", "--allow-method", "", "--", "cat"], "1 to 255 bytes"),
        (&["run", "--allow-method", &"m".repeat(256), "--", "cat"], "1 to 255 bytes"),
        (&["run", "--allow-result-type", "", "--", "cat"], "not empty"),
        (&["run", "--track", "--", "cat"], "--track"),
        (&["run", "--allow-methods", "x", "--", "cat"], "--allow-methods"),
    ] {
        let outcome = Running::start(args).finish();
        assert_eq!(outcome.code, Some(2), "{args:?}: {outcome:?}");
        assert!(outcome.stderr.contains(hint), "{args:?}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty());
    }
}
