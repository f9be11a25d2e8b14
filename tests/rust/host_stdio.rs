//! The guards of standard input and output, each in a process of its own: what is printed in whatever way and at whatever time
//! reaches the wire only if it was written to the wire, or after the guard.
//!
//! The process is this test binary once more, with one test that does what it is told. Its descriptor 1 is a file from there
//! on, so that what the test harness says stands elsewhere.

#![cfg(unix)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "where prints go is what is tested")]

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use linegate_host::{Session, StdinGuard, StdioGuard, StdoutGuard};

/// Which scenario the child plays; unset where the tests run.
const SCENARIO: &str = "LINEGATE_STDIO_SCENARIO";
/// The file that is its standard output.
const WIRE: &str = "LINEGATE_STDIO_WIRE";

/// What a process left on its two outputs, and its exit status.
struct Left {
    wire: String,
    stderr: String,
    code: Option<i32>,
}

fn play(scenario: &str) -> Left {
    let wire = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("stdio-{}-{scenario}", std::process::id()));
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(SCENARIO, scenario)
        .env(WIRE, &wire)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A child that doesn't read may have ended.
    let _ = child.stdin.take().unwrap().write_all(PING.as_bytes());
    let output = child.wait_with_output().unwrap();
    let left = fs::read_to_string(&wire).unwrap();
    fs::remove_file(&wire).unwrap();
    Left { wire: left, stderr: String::from_utf8(output.stderr).unwrap(), code: output.status.code() }
}

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
const PONG: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

/// The child's side. Where the tests run it has nothing to do.
#[test]
fn child() {
    let Ok(scenario) = std::env::var(SCENARIO) else { return };
    io::stdout().flush().unwrap();
    rustix::stdio::dup2_stdout(File::create(std::env::var(WIRE).unwrap()).unwrap()).unwrap();
    act(&scenario);
    std::process::exit(0);
}

/// C's `puts`: waits in C's buffer, as standard output is a file.
fn print_in_c(text: &std::ffi::CStr) {
    // SAFETY: the string ends in a NUL.
    unsafe { libc::puts(text.as_ptr()) };
}

fn print_in_child(text: &str) {
    assert!(Command::new("sh").args(["-c", &format!("echo {text}")]).status().unwrap().success());
}

/// Writes to descriptor 1, past every buffer.
fn print_raw(text: &str) {
    rustix::io::write(rustix::stdio::stdout(), text.as_bytes()).unwrap();
}

fn act(scenario: &str) {
    match scenario {
        "ways" => {
            let (guard, mut wire) = StdoutGuard::take().unwrap();
            println!("rust");
            print_raw("raw\n");
            print_in_child("subprocess");
            print_in_c(c"c");
            wire.write_all(PONG.as_bytes()).unwrap();
            drop(guard);
        }
        "buffered before" => {
            print!("rust before");
            print_in_c(c"c before");
            let _guard = StdoutGuard::take().unwrap();
            print_raw("raw inside");
        }
        "buffered at the end" => {
            let (guard, _) = StdoutGuard::take().unwrap();
            print_in_c(c"c inside");
            print!("rust inside");
            drop(guard);
        }
        "exit" => {
            let _guard = StdoutGuard::take().unwrap();
            print_in_c(c"c inside");
            print!("rust inside");
            std::process::exit(3);
        }
        "forgotten" => {
            std::mem::forget(StdoutGuard::take().unwrap());
            print!("rust inside");
        }
        "after" => {
            print_raw("raw before\n");
            drop(StdoutGuard::take().unwrap());
            println!("rust after");
            print_in_c(c"c after");
            print_in_child("subprocess after");
        }
        "panic" => {
            let caught = std::panic::catch_unwind(|| {
                let _guard = StdoutGuard::take().unwrap();
                print!("rust inside");
                panic!("on purpose");
            });
            assert!(caught.is_err());
            println!("rust after");
        }
        "threads" => {
            let (guard, _wire) = StdoutGuard::take().unwrap();
            let printing = std::thread::spawn(|| (0..2000).for_each(|_| println!("rust inside")));
            printing.join().unwrap();
            drop(guard);
        }
        "second" => {
            let first = StdoutGuard::take().unwrap();
            let error = StdoutGuard::take().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            eprintln!("{error}");
            // One that is refused takes nothing from the first, nor from the other stream.
            assert!(StdioGuard::take().is_err());
            drop(StdinGuard::take().unwrap());
            println!("rust inside");
            drop(first);
            let (_guard, mut wire) = StdoutGuard::take().unwrap();
            wire.write_all(PONG.as_bytes()).unwrap();
            println!("rust inside again");
        }
        "stdin" => {
            let (guard, mut input) = StdinGuard::take().unwrap();
            let cat = Command::new("cat").stdin(Stdio::inherit()).output().unwrap();
            assert_eq!(cat.stdout, b"");
            assert_eq!(io::stdin().read(&mut [0; 8]).unwrap(), 0);
            let mut head = [0; 9];
            input.read_exact(&mut head).unwrap();
            assert_eq!(&head, &PING.as_bytes()[..9]);
            drop(guard);
            let mut rest = String::new();
            io::stdin().read_to_string(&mut rest).unwrap();
            assert_eq!(rest, PING[9..]);
        }
        "no more streams" => {
            // A child has neither the wire nor the input under any number.
            let (_guard, _input, _output) = StdioGuard::take().unwrap();
            let open = Command::new("sh").args(["-c", "for fd in /proc/self/fd/*; do readlink $fd; done"]).output();
            let open = String::from_utf8(open.unwrap().stdout).unwrap();
            assert!(!open.contains(&std::env::var(WIRE).unwrap()), "{open}");
        }
        "session" => {
            let (_guard, reader, mut writer) = Session::new().unwrap().stdio().unwrap();
            for line in io::BufRead::lines(reader) {
                assert_eq!(line.unwrap(), PING.trim_end());
                println!("rust inside");
                print_in_child("subprocess");
                writer.write_line(PONG.as_bytes()).unwrap();
            }
        }
        other => panic!("no scenario {other}"),
    }
}

/// Plays it: these are on the wire, and these somewhere on standard error.
fn check(scenario: &str, wire: &str, told: &[&str]) -> Left {
    let left = play(scenario);
    assert_eq!(left.wire, wire, "{scenario}: {}", left.stderr);
    for text in told {
        assert!(left.stderr.contains(text), "{scenario}: {text} isn't in {:?}", left.stderr);
    }
    left
}

#[test]
fn no_way_of_printing_reaches_the_wire() {
    let left = check("ways", PONG, &["rust\n", "raw\n", "subprocess\n", "c\n"]);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
}

#[test]
fn what_was_printed_before_and_waited_does_not_reach_the_wire() {
    let left = check("buffered before", "", &["rust before", "c before\n"]);
    // Not at the end, but when the guard begins.
    assert!(left.stderr.ends_with("raw inside"), "{}", left.stderr);
}

#[test]
fn what_waits_when_the_guard_ends_does_not_reach_the_wire() {
    check("buffered at the end", "", &["rust inside", "c inside\n"]);
}

#[test]
fn what_waits_when_the_process_exits_does_not_reach_the_wire() {
    let left = check("exit", "", &["rust inside", "c inside\n"]);
    assert_eq!(left.code, Some(3));
    check("forgotten", "", &["rust inside"]);
}

#[test]
fn standard_output_is_given_back() {
    let left = check("after", "raw before\nrust after\nsubprocess after\nc after\n", &[]);
    assert!(!left.stderr.contains("after"));
}

#[test]
fn a_panic_gives_it_back_too() {
    check("panic", "rust after\n", &["rust inside", "on purpose"]);
}

#[test]
fn other_threads_print_to_standard_error() {
    let left = check("threads", "", &[]);
    assert_eq!(left.stderr.matches("rust inside\n").count(), 2000);
}

#[test]
fn a_second_guard_is_refused_while_one_stands() {
    let left = check("second", PONG, &["standard output is guarded already", "rust inside\n", "rust inside again\n"]);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
}

#[test]
fn nobody_else_reads_standard_input() {
    let left = check("stdin", "", &[]);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_process_inherits_neither() {
    let left = check("no more streams", "", &[]);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
}

#[test]
fn a_session_on_standard_input_and_output() {
    let left = check("session", PONG, &["rust inside\n", "subprocess\n"]);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
}
