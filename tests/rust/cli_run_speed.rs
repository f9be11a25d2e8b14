//! What `linegate run` costs a session, measured against a plain pipe to the same server in the same run. The bounds are loose
//! enough for a busy machine and a build without optimizations; `make bench` has the figures.
#![cfg(unix)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use support::linegate_bin;

/// A server that gives each line back: under plain JSON-RPC a request may go either way.
fn bare() -> Command {
    Command::new("cat")
}

fn gated() -> Command {
    let mut command = Command::new(linegate_bin());
    command.args(["run", "--revision", "jsonrpc", "--", "cat"]);
    command
}

fn start(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts")
}

/// The median way of one line there and back.
fn round_trip(command: Command) -> Duration {
    let mut child = start(command);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut times = Vec::new();
    for id in 0..500 {
        let started = Instant::now();
        writeln!(stdin, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}").expect("written");
        lines.read_line(&mut String::new()).expect("read");
        times.push(started.elapsed());
    }
    drop(stdin);
    assert!(child.wait().expect("ended").success());
    times.sort_unstable();
    times[times.len() / 2]
}

/// How long so many bytes take there and back.
fn bulk(command: Command, lines: &'static [u8]) -> Duration {
    let mut child = start(command);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = child.stdout.take().expect("a pipe");
    let started = Instant::now();
    let writer = thread::spawn(move || stdin.write_all(lines));
    let mut seen = 0;
    let mut piece = vec![0; 64 << 10];
    while seen < lines.len() {
        let len = stdout.read(&mut piece).expect("read");
        assert!(len > 0, "it ended after {seen} bytes");
        seen += len;
    }
    let took = started.elapsed();
    writer.join().expect("joined").expect("written");
    assert!(child.wait().expect("ended").success());
    took
}

#[test]
fn a_line_is_under_way_for_less_than_a_millisecond_more() {
    let (bare, gated) = (round_trip(bare()), round_trip(gated()));
    println!("a line there and back: {bare:?} by a plain pipe, {gated:?} through linegate run");
    // Two lines are judged in it.
    assert!(gated < bare + Duration::from_millis(2), "{gated:?} instead of {bare:?}");
}

#[test]
fn lines_in_bulk_take_a_small_multiple_of_a_plain_pipe() {
    let line = |id: usize| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\",\"params\":{{\"text\":\"{}\"}}}}\n",
            "word ".repeat(200)
        )
    };
    let lines: &'static [u8] = (0..32_000).map(line).collect::<String>().leak().as_bytes();
    let (bare, gated) = (bulk(bare(), lines), bulk(gated(), lines));
    let ratio = gated.as_secs_f64() / bare.as_secs_f64();
    println!(
        "{} MB there and back: {bare:?} by a plain pipe, {gated:?} through linegate run: {ratio:.1}",
        lines.len() / 1_000_000
    );
    assert!(ratio < 40.0, "{gated:?} instead of {bare:?}");
}
