//! How a session of `linegate run` ends: for a client that reads slowly or never, for a server that is held up or stopped, by a
//! signal, and what is told of it.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Outcome, PATIENCE, Running, eventually, linegate_bin, scratch};

/// Short times, so that a test sees them pass.
const IMPATIENT: [&str; 6] = ["--revision", "jsonrpc", "--close-wait", "0.3", "--term-wait", "0.2"];
/// So long a client reads nothing: longer than all of them.
const LATE: Duration = Duration::from_millis(1500);

/// Answers each request: the first ones, as many as its argument says, with more than a pipe holds.
const BIG: &str = r#"
import json, sys
for number, line in enumerate(sys.stdin):
    result = "x" * (300_000 if number < int(sys.argv[1]) else 1)
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": result}), flush=True)
"#;

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

fn ping(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
}

fn start(options: &[&str], server: &[&str]) -> Running {
    Running::start_unread(&[&["run"], options, &["--"], server].concat())
}

fn shell(options: &[&str], script: &str) -> Running {
    start(options, &["sh", "-c", script])
}

/// What a client gets that sends lines, and more when the server has begun to answer; then closes its end, and reads only late.
fn read_late(mut running: Running, input: &str, more: &str) -> (Outcome, Vec<Value>) {
    let mut stdout = running.child.stdout.take().expect("a pipe");
    running.send(input);
    let mut text = vec![0];
    stdout.read_exact(&mut text).expect("the beginning of an answer");
    running.send(more);
    running.close();
    thread::sleep(LATE);
    stdout.read_to_end(&mut text).expect("read");
    assert!(text.ends_with(b"\n"), "a torn line");
    let text = String::from_utf8(text).expect("text");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect();
    (running.wait(), lines)
}

fn ids(lines: &[Value]) -> Vec<Option<u64>> {
    lines.iter().map(|line| line["id"].as_u64()).collect()
}

fn kill(signal: &str, pid: u32) {
    let killed = Command::new("kill").args(["-s", signal, &pid.to_string()]).status();
    assert!(killed.expect("kill starts").success());
}

#[test]
fn a_client_that_reads_late_gets_every_answer() {
    let server = ["python3", "-c", BIG, "3"];
    let (outcome, lines) = read_late(start(&IMPATIENT, &server), &[ping(1), ping(2), ping(3)].concat(), "");
    assert_eq!(ids(&lines), [Some(1), Some(2), Some(3)]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_client_that_reads_late_gets_the_answers_of_before_a_refusal_and_its_reply() {
    let server = ["python3", "-c", BIG, "1"];
    let (outcome, mut lines) = read_late(start(&IMPATIENT, &server), &ping(1), "oops\n");
    lines.sort_by_key(|line| line["id"].as_u64());
    assert_eq!(ids(&lines), [None, Some(1)]);
    assert_eq!(lines[0]["error"]["code"], -32700);
    assert_eq!(outcome.code, Some(1));
    assert_eq!(outcome.stderr.matches("refused a line").count(), 1, "{}", outcome.stderr);
}

#[test]
fn a_server_that_reads_nothing_for_a_client_that_reads_late_is_not_stuck() {
    // More than one pipe holds waits for a server that waits for the client.
    let count = 120;
    let fill = format!(",\"params\":{{\"fill\":\"{}\"}}}}", "x".repeat(1000));
    let input: String = (0..count).map(|id| ping(id).replace('}', &fill)).collect();
    let (outcome, lines) = read_late(start(&IMPATIENT, &["python3", "-c", BIG, "3"]), &input, "");
    assert_eq!(ids(&lines), (0..count).map(|id| Some(id.into())).collect::<Vec<_>>());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_a_leader_left_to_write_reaches_a_client_that_reads_late() {
    let lines = scratch("lines");
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{{\"fill\":\"{}\"}}}}\n", "x".repeat(300_000));
    fs::write(&lines, line.repeat(3)).expect("written");
    let script = format!("cat {} & sleep 0.5; exit 5", lines.display());
    let (outcome, lines) = read_late(shell(&IMPATIENT, &script), "", "");
    assert_eq!((lines.len(), outcome.code), (3, Some(5)));
    assert_eq!(outcome.stderr, "linegate: the server ended with status 5\n");
}

#[test]
fn the_wait_for_answers_stands_as_well() {
    // It drops the second request where its input has ended when the first answer is out.
    let script = r#"
import select, sys
sys.stdin.readline(), sys.stdin.readline()
print('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"%s"}}' % ("x" * 300_000), flush=True)
if not select.select([sys.stdin], [], [], 0)[0]:
    print('{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"x"}}', flush=True)
"#;
    let (outcome, lines) =
        read_late(start(&["--answer-wait", "0.5"], &["python3", "-c", script]), &[ping(1), ping(2)].concat(), "");
    assert_eq!(ids(&lines), [Some(1), Some(2)], "{}", outcome.stderr);
}

#[test]
fn a_client_that_never_reads_ends_it_by_a_signal_or_by_closing_its_end() {
    for by_signal in [true, false] {
        let mut running = start(&IMPATIENT, &["python3", "-c", BIG, "9"]);
        running.send((0..9).map(ping).collect::<String>());
        running.child.stdout.as_mut().expect("a pipe").read_exact(&mut [0]).expect("the beginning of an answer");
        running.close();
        thread::sleep(LATE);
        assert!(running.child.try_wait().expect("a child").is_none());
        let started = Instant::now();
        let kept = if by_signal {
            kill("TERM", running.child.id());
            None
        } else {
            drop(running.child.stdout.take());
            Some(())
        };
        let outcome = running.wait();
        assert!(started.elapsed() < PATIENCE / 4, "{outcome:?}");
        assert_eq!(outcome.code, if kept.is_none() { Some(143) } else { Some(0) }, "{outcome:?}");
    }
}

#[test]
fn a_line_that_is_cut_by_the_end_is_no_fault_of_the_server() {
    let script = r#"printf '{"jsonrpc":"2.0","id":1,'; exec sleep 600"#;
    for signalled in [false, true] {
        let running = Running::start(&["run", "--close-wait", "2", "--", "sh", "-c", script]);
        if signalled {
            thread::sleep(Duration::from_secs(1));
            kill("TERM", running.child.id());
        }
        let outcome = running.finish();
        assert_eq!((outcome.code, outcome.stdout.as_slice()), (Some(143), &b""[..]), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("ended within a line of its output, which is dropped"), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("refused"), "{}", outcome.stderr);
    }
}

#[test]
fn it_is_told_why_a_server_was_ended() {
    let told = |options: &[&str], script: &str, input: &str| {
        let mut running = shell(options, &format!("echo '{NOTE}'; {script}"));
        running.child.stdout.as_mut().expect("a pipe").read_exact(&mut [0]).expect("up");
        thread::sleep(Duration::from_millis(100));
        running.send(input);
        running.finish().stderr
    };
    let stays = "exec sleep 600";
    let closed = "the server has not ended 0.3 s after its input was closed, as the client closed its end (--close-wait): \
                  it gets SIGTERM\n";
    assert_eq!(told(&IMPATIENT, stays, ""), format!("linegate: {closed}"));
    let killed = "the server has not ended 0.2 s after it was asked to by a signal (--term-wait): it gets SIGKILL\n";
    let ignores = "trap '' TERM; while :; do sleep 600; done";
    assert_eq!(told(&IMPATIENT, ignores, ""), format!("linegate: {closed}linegate: {killed}"));
    let refused = told(&IMPATIENT, stays, "oops\n");
    assert!(refused.contains("as a refusal ended the session (--close-wait): it gets SIGTERM\n"), "{refused}");

    // The client stays.
    for (script, why) in [
        ("exec >&-; exec sleep 600", "after it closed its own output (--close-wait)"),
        ("exec <&-; sleep 0.5; exec sleep 600", "after it closed its own input (--close-wait)"),
    ] {
        let mut running = Running::start(&[&["run"][..], &IMPATIENT, &["--", "sh", "-c", script]].concat());
        thread::sleep(Duration::from_millis(200));
        running.send(ping(1));
        let outcome = running.wait();
        assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
        assert_eq!(outcome.code, Some(143));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn orphans_are_reaped_as_they_end() {
    let script = r#"
import json, os, pathlib, subprocess, sys, time
def zombies():
    count = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rsplit(") ", 1)[1].split()[:2]
        except OSError:
            continue
        count += state == "Z" and int(parent) == os.getppid()
    return count
for line in sys.stdin:
    # As many tools do: one of the server's group, and one of a session of its own.
    subprocess.run(["sh", "-c", "(true &)"])
    subprocess.run(["sh", "-c", "(true &)"], start_new_session=True)
    time.sleep(0.05)
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": zombies()}), flush=True)
sys.exit(7)
"#;
    let mut running =
        Running::start(&["run", "--revision", "jsonrpc", "--close-wait", "30", "--", "python3", "-c", script]);
    running.send((0..20).map(ping).collect::<String>());
    let outcome = running.finish();
    let counts: Vec<u64> = outcome
        .lines()
        .into_iter()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["result"].as_u64().expect("a count"))
        .collect();
    // One may just have ended.
    assert!(counts.len() == 20 && counts.iter().all(|count| *count <= 2), "{counts:?}");
    assert_eq!(outcome.code, Some(7));
}

#[test]
fn a_signal_that_was_ignored_stays_so() {
    for signal in ["HUP", "INT", "QUIT"] {
        let script = format!("trap '' {signal}; exec \"$0\" run -- sh -c 'echo up >&2; exec cat'");
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(linegate_bin())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sh starts");
        let mut up = [0; 3];
        child.stderr.as_mut().expect("a pipe").read_exact(&mut up).expect("up");
        kill(signal, child.id());
        thread::sleep(Duration::from_millis(300));
        assert!(child.try_wait().expect("a child").is_none(), "{signal}");
        let output = child.wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(0), "{signal}");
    }
}

#[test]
fn signals_before_there_is_a_server_do_what_they_are_for() {
    // A value that takes its time holds the start up.
    let fifo = scratch("value");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo starts").success());
    let value = format!("A=file:{}", fifo.display());
    let args = ["run", "--env", &value, "--", "sh", "-c", "exit 3"];
    let running = Running::start(&args);
    thread::sleep(Duration::from_millis(300));
    kill("USR1", running.child.id());
    kill("USR2", running.child.id());
    thread::sleep(Duration::from_millis(100));
    let written = Command::new("timeout").args(["20", "sh", "-c", "echo x >\"$0\""]).arg(&fifo).status();
    assert!(written.expect("timeout starts").success());
    assert_eq!(running.finish().code, Some(3));

    let mut running = Running::start(&args);
    thread::sleep(Duration::from_millis(300));
    kill("TERM", running.child.id());
    eventually("it has ended", || running.child.try_wait().expect("a child").is_some());
}

#[test]
fn a_client_that_wants_to_hear_of_no_child_changes_nothing() {
    // What it ignores a program inherits, and could then not wait for its server.
    let script =
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])";
    let output = Command::new("python3")
        .args(["-c", script])
        .arg(linegate_bin())
        .args(["run", "--", "sh", "-c", "(exit 4); exit $?"])
        .stdin(Stdio::null())
        .output()
        .expect("python3 starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), stderr.as_ref()), (Some(4), "linegate: the server ended with status 4\n"));
}

/// Runs linegate under a terminal, with a stdin that stays open, until its stderr has a line; then ends it by SIGTERM.
const TERMINAL: &str = r#"
import os, pty, signal, sys
signal.alarm(30)
pid, terminal = pty.fork()
if pid == 0:
    reader, writer = os.pipe()
    os.dup2(reader, 0)
    os.set_inheritable(writer, True)
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while b"\n" not in seen:
    seen += os.read(terminal, 4096)
os.kill(pid, signal.SIGTERM)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

#[test]
fn a_server_that_asks_on_the_terminal_is_told_of_and_ended_properly() {
    let output = Command::new("python3")
        .args(["-c", TERMINAL])
        .arg(linegate_bin())
        .args(["run", "--", "sh", "-c", "trap 'exit 9' TERM; while :; do read answer </dev/tty; done"])
        .output()
        .expect("python3 starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("the server is stopped (SIGTTIN): it asks on the terminal"), "{text}");
    assert_eq!(output.status.code(), Some(9), "{text}");
}

#[test]
fn a_slow_client_gets_lines_in_order_and_whole() {
    let script = format!("i=0; while [ $i -lt 3000 ]; do echo '{NOTE}'; i=$((i+1)); done; cat >/dev/null");
    let mut running = shell(&IMPATIENT, &script);
    let stdout = running.child.stdout.take().expect("a pipe");
    running.close();
    let mut count = 0;
    for line in BufReader::with_capacity(512, stdout).lines().map_while(Result::ok) {
        assert_eq!(line, NOTE);
        count += 1;
        if count % 8 == 0 {
            thread::sleep(Duration::from_millis(3));
        }
    }
    assert_eq!((count, running.wait().code), (3000, Some(0)));
}
