//! What `linegate run` does beside its gate: the server's environment, its stderr, counts, signals, and watching only.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Outcome, Running, eventually, scratch};

/// A request that is refused for its contents (214), and one that is no JSON.
const REFUSED: &str = "{\"jsonrpc\":\"2.0\",\"id\":41,\"method\":\"tools/call\",\"params\":{\"n\":-0}}\n";
const NOISE: &str = "# no\n";
const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

fn path_of(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A session with a shell script as the server, in which nothing is sent.
fn shell(env: &[(&str, &str)], options: &[&str], script: &str) -> Outcome {
    Running::start_in(env, &[&["run"], options, &["--", "sh", "-c", script]].concat()).finish()
}

fn send(options: &[&str], script: &str, input: &str) -> Outcome {
    let mut running = Running::start(&[&["run"], options, &["--", "sh", "-c", script]].concat());
    running.send(input);
    running.finish()
}

fn kill(signal: &str, running: &Running) {
    let killed = Command::new("kill").args(["-s", signal, &running.child.id().to_string()]).status();
    assert!(killed.expect("kill starts").success());
}

#[test]
fn variables_come_from_the_command_line_from_files_and_from_outside() {
    let file = scratch("value");
    for (content, value) in [
        (&b"from a file\n"[..], "from a file"),
        (b"from a file", "from a file"),
        (b"from dos\r\n", "from dos"),
        (b" two ends \n\n", " two ends \n"),
        (b"", ""),
    ] {
        fs::write(&file, content).expect("written");
        let from_file = format!("C=file:{}", path_of(&file));
        let out = scratch("out");
        let to_out = format!("OUT={}", path_of(&out));
        let options = ["--env", "A=1=2", "--env", &from_file, "--env", "D", "--env", "A=last", "--env", &to_out];
        let outcome = shell(&[("D", "outside")], &options, r#"printf '%s|%s|%s.' "$A" "$C" "$D" >"$OUT""#);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        assert_eq!(fs::read_to_string(&out).expect("read"), format!("last|{value}|outside."));
    }
}

#[test]
fn what_is_no_variable_stops_the_start() {
    let (nul, long) = (scratch("nul"), scratch("long"));
    fs::write(&nul, b"a\0b").expect("written");
    fs::write(&long, vec![b'x'; (64 << 10) + 1]).expect("written");
    // As many as there may be, a line end, and more.
    let more = scratch("more");
    fs::write(&more, [vec![b'x'; 64 << 10], b"\r\nmore".to_vec()].concat()).expect("written");
    let [nul, long, more] = [nul, long, more].map(|path| format!("A=file:{}", path_of(&path)));
    let started = scratch("started");
    for (given, hint) in [
        ("A=file:/nonexistent/secret", "cannot take the value of A from /nonexistent/secret"),
        ("A=file:/", "cannot take the value of A from /"),
        (&nul, "NUL"),
        (&long, "more than 65536 bytes"),
        (&more, "more than 65536 bytes"),
        ("A=file:", "give a path behind file:"),
        ("=x", "give NAME=VALUE"),
        ("LINEGATE_NOT_SET", "LINEGATE_NOT_SET is to be passed on"),
    ] {
        let outcome = shell(&[], &["--env", given], &format!("touch {}", path_of(&started)));
        assert_eq!(outcome.code, Some(2), "{given}: {outcome:?}");
        assert!(outcome.stderr.contains(hint), "{given}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty() && !started.exists());
    }
}

#[test]
fn a_clean_environment_has_the_safe_variables_and_no_others() {
    let out = scratch("names");
    let names = |env: &[(&str, &str)], options: &[&str]| {
        assert_eq!(shell(env, options, &format!("env >{}", path_of(&out))).code, Some(0));
        let text = fs::read_to_string(&out).expect("read");
        let mut names: Vec<_> = text.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect();
        // What a shell sets by itself.
        names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str()));
        names.sort_unstable();
        names
    };
    let given =
        [("LOGNAME", "me"), ("SHELL", "/bin/sh"), ("TERM", "dumb"), ("USER", "me"), ("HOME", "/"), ("API_KEY", "x")];
    let clean = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
    assert_eq!(names(&given, &["--clean-env"]), clean);
    let more = names(&given, &["--clean-env", "--env", "API_KEY", "--env", "LOG=off"]);
    assert_eq!(more, ["API_KEY", "HOME", "LOG", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]);
    assert!(names(&given, &[]).contains(&"API_KEY".to_owned()));
}

#[test]
fn secrets_are_masked_on_stderr() {
    let file = scratch("secret");
    fs::write(&file, "from-a-file\n").expect("written");
    let from_file = format!("PLAIN=file:{}", path_of(&file));
    let options = ["--env", &from_file, "--env", "DB_PASSWORD=given-here", "--mask", r"sk-[0-9a-z]+"];
    // In pieces, so that no read has a whole secret in it.
    let script = r#"for part in "tok=${API_TOKEN%????}" "${API_TOKEN#????????}" ", $PLAIN, " $DB_PASSWORD "
sk-1" "2a. $EMPTY_KEY"; do printf %s "$part" >&2; sleep 0.1; done"#;
    let outcome = shell(&[("API_TOKEN", "inherited-42"), ("EMPTY_KEY", "")], &options, script);
    assert_eq!(outcome.stderr, "tok=[API_TOKEN], [PLAIN], [DB_PASSWORD]\n[masked]. ");
    assert_eq!(outcome.code, Some(0));

    // What isn't passed to the server is none of its secrets, and what a client keeps to itself none that it can tell.
    let outcome = shell(&[("API_TOKEN", "inherited-42")], &["--clean-env"], "echo inherited-42 >&2");
    assert_eq!(outcome.stderr, "inherited-42\n");
}

#[test]
fn secrets_are_masked_where_a_bad_line_is_shown() {
    let options = ["--mask", "sk-[0-9a-z]+"];
    let outcome = shell(&[("API_TOKEN", "inherited-42")], &options, r#"echo "my $API_TOKEN and sk-12"; sleep 0.1"#);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("The line: my [API_TOKEN] and [masked]\n"), "{}", outcome.stderr);
    // The line is refused at its first byte, when the rest has not come.
    let script = r#"printf %s "x ${API_TOKEN%????}"; sleep 0.2; printf '%s\n' "${API_TOKEN#????????}""#;
    let outcome = shell(&[("API_TOKEN", "inherited-42")], &[], script);
    assert!(outcome.stderr.contains("The line: x [API_TOKEN]\n"), "{}", outcome.stderr);
}

#[test]
fn a_pattern_is_matched_in_a_line_without_its_end() {
    let options = ["--mask", "password=.*$", "--mask", "token=[^ ]+"];
    let script = r"printf 'login password=hunter2xyz\nlogin password=hunter2xyz\r\na token=abc\nsecond line\n' >&2";
    let outcome = shell(&[], &options, script);
    assert_eq!(outcome.stderr, "login [masked]\nlogin [masked]\r\na [masked]\nsecond line\n");
}

#[test]
fn a_bad_line_is_shown_when_it_is_certain_what_a_pattern_matches() {
    let options = ["--mask", r"password=\S+;"];
    let outcome = shell(&[], &options, "printf 'connect password=hunter2xyz'; sleep 0.1; echo '; ok'; cat >/dev/null");
    assert!(outcome.stderr.contains("The line: connect [masked] ok\n"), "{}", outcome.stderr);
    // It is not waited for for ever.
    let script = "printf 'connect password=hunter2xyz'; sleep 2; echo '; ok'";
    let mut running = Running::start(&[&["run"][..], &options, &["--", "sh", "-c", script]].concat());
    running.send("");
    let outcome = running.wait();
    assert!(outcome.stderr.contains("The line: not shown, for it has not ended"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("hunter2"), "{}", outcome.stderr);
    // The end of the stream is the end of its last line.
    let outcome = shell(&[], &options, "printf 'the password=hunter2xyz; is'");
    assert!(outcome.stderr.contains("The line: the [masked] is\n"), "{}", outcome.stderr);
}

#[test]
fn a_value_from_a_file_that_is_too_short_to_be_masked_is_told() {
    let file = scratch("pin");
    let option = format!("PIN=file:{}", path_of(&file));
    for (content, told) in [("1234\n", true), ("12345\n", true), ("123456\n", false), ("", false)] {
        fs::write(&file, content).expect("written");
        let outcome = shell(&[], &["--env", &option], "exit 0");
        let expected =
            "linegate: the value of PIN is shorter than 6 bytes, and is not masked: it would stand in innocent words\n";
        assert_eq!(outcome.stderr, if told { expected } else { "" }, "{content}");
    }
}

#[test]
fn a_prompt_is_passed_on_while_its_line_waits() {
    let script = "printf 'Visit https://x/y: ' >&2; sleep 20; echo >&2";
    let started = Instant::now();
    let mut child = Command::new(support::linegate_bin())
        .args(["run", "--", "sh", "-c", script])
        .env("API_TOKEN", "inherited-42")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("linegate starts");
    let mut prompt = [0; 19];
    std::io::Read::read_exact(child.stderr.as_mut().expect("a pipe"), &mut prompt).expect("read");
    assert_eq!(&prompt, b"Visit https://x/y: ");
    assert!(started.elapsed() < Duration::from_secs(10));
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.expect("kill starts").success());
    child.wait().expect("ended");
}

fn fifo() -> std::path::PathBuf {
    let path = scratch("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo starts").success());
    path
}

#[test]
fn an_audit_that_nobody_reads_stops_neither_the_start_nor_a_line() {
    let path = fifo();
    let options = ["run", "--revision", "jsonrpc", "--on-reject", "continue", "--audit", path_of(&path), "--", "cat"];
    let mut running = Running::start_unread(&options);
    let mut lines = BufReader::new(running.child.stdout.take().expect("a pipe")).lines();
    let mut answer = || lines.next().expect("a line").expect("read");
    running.send(REFUSED);
    assert!(answer().contains("\"id\":41"));
    // Whoever comes later finds what there was.
    let mut records = BufReader::new(fs::File::open(&path).expect("opened"));
    let mut record = String::new();
    records.read_line(&mut record).expect("read");
    assert!(record.contains("\"code\":214"), "{record}");
    // More than a pipe holds.
    running.send(NOISE.repeat(800));
    running.send(PING);
    assert!(std::iter::repeat_with(answer).take(50).any(|line| line == PING.trim_end()));
    let outcome = running.finish();
    assert_eq!(outcome.stderr.matches("the audit file can't be written").count(), 1);
    assert_eq!(outcome.code, Some(0));
}

#[test]
fn a_stderr_in_a_pipe_that_nobody_reads_stops_nothing() {
    let path = fifo();
    let script = format!("head -c 300000 /dev/zero | tr '\\0' '\\n' >&2; echo '{NOTE}'");
    let outcome = shell(&[], &["--stderr", path_of(&path)], &script);
    assert_eq!((outcome.code, outcome.lines()), (Some(0), vec![NOTE]));
    assert_eq!(outcome.stderr.matches("can't be written").count(), 1, "{}", outcome.stderr);
}

#[test]
fn protocol_bytes_are_never_masked() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"token":"inherited-42"}}"#;
    let mut running = Running::start_in(
        &[("API_TOKEN", "inherited-42")],
        &["run", "--mask", "jsonrpc", "--", "sh", "-c", &format!("read line; echo '{answer}'")],
    );
    running.send(PING);
    assert_eq!(running.finish().lines(), [answer]);
}

#[test]
fn stderr_is_kept_in_a_file() {
    let file = scratch("stderr.log");
    let options = ["--stderr", path_of(&file), "--mask", "sk-[0-9a-z]+"];
    let outcome =
        shell(&[("API_TOKEN", "inherited-42")], &options, r#"echo "$API_TOKEN sk-1" >&2; printf 'no end' >&2"#);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(fs::read_to_string(&file).expect("read"), "[API_TOKEN] [masked]\nno end");
    assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
    // The next session goes on in it.
    shell(&[], &options, "echo; echo two >&2");
    assert_eq!(fs::read_to_string(&file).expect("read"), "[API_TOKEN] [masked]\nno endtwo\n");
}

#[test]
fn the_file_is_kept_within_its_bounds() {
    let file = scratch("stderr.log");
    let kept = |number: u32| file.with_file_name(format!("{}.{number}", file.file_name().unwrap().to_str().unwrap()));
    let bounds = ["--stderr", path_of(&file), "--stderr-size", "1024", "--stderr-older", "2", "--stderr-age", "1"];
    let script = "i=0; while [ $i -lt 100 ]; do echo \"line $i of those that are kept\" >&2; i=$((i+1)); done";
    assert_eq!(shell(&[], &bounds, script).code, Some(0));
    let texts: Vec<_> =
        [kept(2), kept(1), file.clone()].iter().map(|path| fs::read_to_string(path).expect("read")).collect();
    assert!(texts.iter().all(|text| text.len() <= 1024 && text.ends_with("kept\n")), "{texts:?}");
    let numbers: Vec<u32> =
        texts.concat().lines().map(|line| line.split(' ').nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(numbers, (100 - u32::try_from(numbers.len()).unwrap()..100).collect::<Vec<_>>());
    assert!(numbers.len() > 60 && !kept(3).exists());

    // What nobody has written for more than a day goes when the next session starts.
    for (path, when) in [(kept(1), "25 hours ago"), (kept(2), "23 hours ago")] {
        let touched = Command::new("touch").arg("-d").arg(when).arg(path).status().expect("touch starts");
        assert!(touched.success());
    }
    assert_eq!(shell(&[], &bounds, "exit 0").code, Some(0));
    assert_eq!((kept(1).exists(), kept(2).exists()), (false, true));
}

#[test]
fn a_file_that_fails_stops_nothing() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let script = format!("head -c 300000 /dev/zero | tr '\\0' '\\n' >&2; echo '{NOTE}'");
    let outcome = shell(&[], &["--stderr", "/dev/full"], &script);
    assert_eq!((outcome.code, outcome.lines()), (Some(0), vec![NOTE]));
    assert_eq!(outcome.stderr.matches("/dev/full can't be written").count(), 1, "{}", outcome.stderr);
}

#[test]
fn a_stderr_that_nobody_reads_stops_the_server_alone() {
    // It is full, and the answers to what is refused come all the same.
    let script = "head -c 1048576 /dev/zero | tr '\\0' x >&2; echo over >&2; cat >/dev/null";
    let mut child = Command::new(support::linegate_bin())
        .args(["run", "--on-reject", "continue", "--close-wait", "0.2", "--mask", "nothing", "--", "sh", "-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("linegate starts");
    thread::sleep(Duration::from_millis(300));
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, REFUSED.as_bytes()).expect("written");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.next().expect("a line").expect("read").contains("\"id\":41"));
    drop(stdin);
    assert!(lines.next().is_none());
    child.wait().expect("ended");
}

#[test]
fn counts_are_told_when_they_are_asked_for() {
    let mut running = Running::start(&["run", "--on-reject", "continue", "--", "cat"]);
    running.send(format!("{REFUSED}{NOISE}"));
    thread::sleep(Duration::from_millis(300));
    kill("USR1", &running);
    thread::sleep(Duration::from_millis(300));
    let outcome = running.finish();
    let counts = "lines of the client: 0 accepted, 2 refused; of the server: 0 accepted, 0 refused; \
                  202 unexpected_byte: 1, 214 number_range: 1; masked on stderr: 0\n";
    assert_eq!(outcome.stderr.matches(counts).count(), 1, "{}", outcome.stderr);
    // At the end the lines alone: each refusal was told with its code.
    assert!(outcome.stderr.ends_with("of the server: 0 accepted, 0 refused\n"), "{}", outcome.stderr);
    assert_eq!(outcome.code, Some(0));

    assert_eq!(send(&[], "read line", PING).stderr, "");
    let outcome = send(&["--counters", "--mask", "sk-1"], "read line; echo sk-1 sk-1 >&2", PING);
    let counts = "linegate: lines of the client: 1 accepted, 0 refused; of the server: 0 accepted, 0 refused; masked on stderr: 2\n";
    assert_eq!(outcome.stderr, format!("[masked] [masked]\n{counts}"));
}

#[test]
fn other_signals_are_the_servers() {
    let script = "trap 'echo '\\''{NOTE}'\\''' USR2; trap 'exit 24' QUIT; echo '{NOTE}'; while :; do sleep 0.02; done";
    let mut running = Running::start_unread(&["run", "--", "sh", "-c", &script.replace("{NOTE}", NOTE)]);
    let mut lines = BufReader::new(running.child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("read"), NOTE);
    for _ in 0..2 {
        // It doesn't end the session.
        kill("USR2", &running);
        assert_eq!(lines.next().expect("a line").expect("read"), NOTE);
        thread::sleep(Duration::from_millis(1200));
    }
    kill("QUIT", &running);
    assert_eq!(running.wait().code, Some(24));
}

/// Answers 0.3 seconds later, unless its input has ended by then.
const DROPS_AT_THE_END: &str =
    r#"read -r line; (sleep 0.3; echo '{"jsonrpc":"2.0","id":1,"result":{}}') & cat >/dev/null; kill $!"#;

#[test]
fn the_end_of_input_waits_for_answers_where_it_is_asked_to() {
    let outcome = send(&["--answer-wait", "20"], DROPS_AT_THE_END, PING);
    assert_eq!(outcome.stdout, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", "{}", outcome.stderr);
    let outcome = send(&[], DROPS_AT_THE_END, PING);
    assert_eq!(outcome.stdout, b"", "{}", outcome.stderr);
}

#[test]
fn the_end_of_input_comes_when_no_answer_is_due_or_none_comes_in_time() {
    let started = Instant::now();
    let note = format!("{NOTE}\n").replace("tools/list_changed", "roots/list_changed");
    assert_eq!(send(&["--answer-wait", "600"], "cat >/dev/null; exit 3", &note).code, Some(3));
    // A refused request is answered by linegate, and the server owes nothing.
    assert_eq!(send(&["--answer-wait", "600"], "cat >/dev/null; exit 3", REFUSED).code, Some(3));
    assert!(started.elapsed() < Duration::from_secs(60));
    let started = Instant::now();
    assert_eq!(send(&["--answer-wait", "0.4"], "cat >/dev/null; exit 4", PING).code, Some(4));
    assert!(started.elapsed() >= Duration::from_millis(400));
}

#[test]
fn nothing_waits_for_answers_when_the_session_is_over() {
    let started = Instant::now();
    // The server has ended.
    assert_eq!(send(&["--answer-wait", "600"], "read -r line; exit 5", PING).code, Some(5));
    // A refusal has ended the session.
    assert_eq!(send(&["--answer-wait", "600"], "cat >/dev/null", &format!("{PING}{NOISE}")).code, Some(1));
    // A signal asks for the end.
    let ready = scratch("ready");
    let script = format!("trap 'exit 6' TERM; read -r line; : >{}; while :; do sleep 0.05; done", path_of(&ready));
    let mut running = Running::start(&["run", "--answer-wait", "600", "--", "sh", "-c", &script]);
    running.send(PING);
    drop(running.stdin.take());
    eventually("the server waits", || ready.exists());
    kill("TERM", &running);
    assert_eq!(running.wait().code, Some(6));
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn plain_json_rpc_knows_of_no_answers() {
    let outcome = send(&["--revision", "jsonrpc", "--answer-wait", "1"], "cat >/dev/null", "");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("needs a revision of MCP or auto"), "{}", outcome.stderr);
}

#[test]
fn observing_passes_everything_on() {
    let (seen, audit) = (scratch("seen"), scratch("audit"));
    let script = format!("echo noise; printf '{NOTE}\\r\\n'; cat >{}; printf 'no end'; exit 5", path_of(&seen));
    let input = format!("{PING}{REFUSED}{NOISE}\n{PING}half a line");
    let outcome = send(&["--observe", "--audit", path_of(&audit)], &script, &input);
    assert_eq!(fs::read_to_string(&seen).expect("read"), input);
    // Nothing is answered, nothing is changed.
    assert_eq!(outcome.stdout, format!("noise\n{NOTE}\r\nno end").as_bytes());
    assert_eq!(outcome.code, Some(5));
    let told: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(
        told[0],
        "linegate: observing only: what would be refused is told and passed on. This is no protection."
    );
    assert!(outcome.stderr.contains("of the client at offset 41: 214 number_range, byte 61"), "{}", outcome.stderr);
    let refusals: Vec<_> = told.iter().filter(|line| line.contains("a line of the ")).collect();
    assert!(refusals.iter().all(|line| line.contains("observed, would have refused")), "{refusals:?}");
    assert!(refusals.iter().all(|line| line.contains("It was passed on.") && !line.contains("ends the session")));
    assert!(outcome.stderr.contains("(observing: all of them were passed on)"), "{}", outcome.stderr);

    let records: Vec<Value> = fs::read_to_string(&audit)
        .expect("read")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert!(records.iter().all(|record| record["event"] == "observed"), "{records:?}");
    // 214, 202, 102, the id in use, and 104 of the client; 202 and 104 of the server.
    assert_eq!((records.len(), refusals.len()), (7, 7), "{records:?}");
}

#[test]
fn observing_and_refusing_exclude_each_other() {
    for (options, hint) in [
        (&["--observe", "--on-reject", "close-all"][..], "--on-reject"),
        (&["--stderr-size", "1023", "--stderr", "x"], "1024"),
        (&["--stderr-size", "2048"], "--stderr"),
        (&["--stderr-older", "101", "--stderr", "x"], "0..=100"),
        (&["--stderr-age", "0", "--stderr", "x"], "days up to 3650"),
        (&["--stderr", "/nonexistent/log"], "cannot keep the server's stderr"),
        (&["--stderr", "-"], "standard output is the protocol's"),
        (&["--audit", "-"], "standard output is the protocol's"),
        (&["--mask", "("], "unclosed group"),
        (&["--mask", "x*"], "it matches where nothing is"),
    ] {
        let outcome = shell(&[], options, "exit 0");
        assert_eq!(outcome.code, Some(2), "{options:?}: {outcome:?}");
        assert!(outcome.stderr.contains(hint), "{options:?}: {}", outcome.stderr);
    }
}

#[test]
fn an_observed_session_works_as_without_it() {
    let mut running = Running::start_unread(&["run", "--observe", "--", "cat"]);
    let mut lines = BufReader::new(running.child.stdout.take().expect("a pipe")).lines();
    for _ in 0..20 {
        running.send(NOISE);
        assert_eq!(lines.next().expect("a line").expect("read"), NOISE.trim_end());
    }
    let id = running.child.id().to_string();
    running.close();
    eventually("it has ended", || lines.next().is_none());
    assert!(!id.is_empty());
    assert_eq!(running.wait().code, Some(0));
}
