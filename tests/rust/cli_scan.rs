//! `linegate scan`: every line of its frozen output, to the byte, and how it behaves as a part of a pipeline.
#![cfg(unix)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use support::{Outcome, Running, linegate_bin, scratch};

fn scan(args: &[&str], input: &[u8]) -> Outcome {
    let mut running = Running::start(&[&["scan", "--format", "json"], args].concat());
    running.send(input);
    running.finish()
}

/// Scans and compares all of the output.
#[track_caller]
fn expect(args: &[&str], input: &[u8], lines: &[&str]) {
    let outcome = scan(args, input);
    assert_eq!(outcome.lines(), lines);
    assert_eq!(outcome.stdout.last(), Some(&b'\n'));
    assert_eq!(outcome.code, Some(i32::from(lines.iter().any(|line| line.contains(r#""reject""#)))));
    assert_eq!(outcome.stderr, "");
}

#[test]
fn the_kinds_of_accepted_lines() {
    let input = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}
{"method":"notifications/initialized","jsonrpc":"2.0"}
{"jsonrpc":"2.0","id":"a\u0062","result":{}}
{"jsonrpc":"2.0","id":-3,"error":{"code":-32603,"message":"m"}}
{"jsonrpc":"2.0","error":{"code":-32603,"message":"m"}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"m"}}
{"jsonrpc":"2.0","id":1,"method":"tools\/call \"\u00e9\u0001"}
"#;
    expect(
        &["--revision", "jsonrpc"],
        input,
        &[
            r#"{"frame":1,"offset":0,"length":68,"verdict":"accept","kind":"request","method":"tools/call","id":7}"#,
            r#"{"frame":2,"offset":69,"length":54,"verdict":"accept","kind":"notification","method":"notifications/initialized"}"#,
            r#"{"frame":3,"offset":124,"length":44,"verdict":"accept","kind":"result","id":"a\u0062"}"#,
            r#"{"frame":4,"offset":169,"length":63,"verdict":"accept","kind":"error","id":-3}"#,
            r#"{"frame":5,"offset":233,"length":55,"verdict":"accept","kind":"error"}"#,
            r#"{"frame":6,"offset":289,"length":65,"verdict":"accept","kind":"error","id":null}"#,
            r#"{"frame":7,"offset":355,"length":62,"verdict":"accept","kind":"request","method":"tools/call \"é\u0001","id":1}"#,
            r#"{"summary":{"frames":7,"accepted":7,"rejected":0}}"#,
        ],
    );
}

#[test]
fn batches_carry_neither_id_nor_method() {
    expect(
        &["--revision", "2025-03-26"],
        b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n",
        &[
            r#"{"frame":1,"offset":0,"length":42,"verdict":"accept","kind":"batch"}"#,
            r#"{"summary":{"frames":1,"accepted":1,"rejected":0}}"#,
        ],
    );
}

#[test]
fn a_refusal_of_each_stage() {
    expect(
        &[],
        b"\n\r\n{\"a\":1,\"a\":2}\n{\"jsonrpc\":\"1.0\",\"method\":\"m\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":7}\n",
        &[
            r#"{"frame":1,"offset":0,"length":0,"verdict":"reject","stage":"frame","rule":"frame_empty","code":102,"rpc_code":-32700,"at":0}"#,
            r#"{"frame":2,"offset":1,"length":1,"verdict":"reject","stage":"frame","rule":"frame_empty","code":102,"rpc_code":-32700,"at":0}"#,
            r#"{"frame":3,"offset":3,"length":13,"verdict":"reject","stage":"json","rule":"duplicate_key","code":209,"rpc_code":-32600,"at":7}"#,
            r#"{"frame":4,"offset":17,"length":30,"verdict":"reject","stage":"rpc","rule":"jsonrpc_wrong","code":304,"rpc_code":null,"at":11}"#,
            r#"{"frame":5,"offset":48,"length":51,"verdict":"reject","stage":"rpc","rule":"params_type","code":309,"rpc_code":-32602,"at":49}"#,
            r#"{"summary":{"frames":5,"accepted":0,"rejected":5}}"#,
        ],
    );
}

#[test]
fn a_servers_lines_are_never_answered_and_looser() {
    expect(
        &["--from", "server"],
        b"Starting\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":12345678901234567890}}\n",
        &[
            r#"{"frame":1,"offset":0,"length":8,"verdict":"reject","stage":"json","rule":"unexpected_byte","code":202,"rpc_code":null,"at":0}"#,
            r#"{"frame":2,"offset":9,"length":60,"verdict":"accept","kind":"result","id":1}"#,
            r#"{"summary":{"frames":2,"accepted":1,"rejected":1}}"#,
        ],
    );
}

#[test]
fn a_profile_is_chosen_by_name() {
    let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"n\":-0}}\n";
    assert_eq!(scan(&[], input).code, Some(1));
    assert_eq!(scan(&["--profile", "data"], input).code, Some(0));
    assert_eq!(scan(&["--profile", "rfc8259"], input).code, Some(0));
    assert_eq!(scan(&["--from", "server", "--profile", "strict"], input).code, Some(1));
}

#[test]
fn a_carriage_return_counts_in_the_length() {
    expect(
        &[],
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
        &[
            r#"{"frame":1,"offset":0,"length":41,"verdict":"accept","kind":"request","method":"ping","id":1}"#,
            r#"{"frame":2,"offset":42,"length":40,"verdict":"accept","kind":"request","method":"ping","id":2}"#,
            r#"{"summary":{"frames":2,"accepted":2,"rejected":0}}"#,
        ],
    );
}

#[test]
fn a_cut_off_last_line() {
    expect(
        &[],
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        &[
            r#"{"frame":1,"offset":0,"length":40,"verdict":"reject","stage":"frame","rule":"truncated","code":104,"rpc_code":null,"at":40}"#,
            r#"{"summary":{"frames":1,"accepted":0,"rejected":1}}"#,
        ],
    );
}

#[test]
fn a_line_refused_by_its_first_byte_has_its_whole_length() {
    expect(
        &[],
        b"> tell me more\n\xEF\xBB\xBF{}\n\0\0\n>",
        &[
            r#"{"frame":1,"offset":0,"length":14,"verdict":"reject","stage":"json","rule":"unexpected_byte","code":202,"rpc_code":-32700,"at":0}"#,
            r#"{"frame":2,"offset":15,"length":5,"verdict":"reject","stage":"frame","rule":"bom","code":105,"rpc_code":-32700,"at":0}"#,
            r#"{"frame":3,"offset":21,"length":2,"verdict":"reject","stage":"frame","rule":"nul_byte","code":106,"rpc_code":-32700,"at":0}"#,
            r#"{"frame":4,"offset":24,"length":1,"verdict":"reject","stage":"json","rule":"unexpected_byte","code":202,"rpc_code":-32700,"at":0}"#,
            r#"{"summary":{"frames":4,"accepted":0,"rejected":4}}"#,
        ],
    );
}

#[test]
fn a_line_beyond_the_bound() {
    expect(
        &["--max-frame", "8"],
        b"{\"a\":\"12345678\"}\n{}\n",
        &[
            r#"{"frame":1,"offset":0,"length":16,"verdict":"reject","stage":"frame","rule":"frame_too_long","code":101,"rpc_code":-32600,"at":8}"#,
            r#"{"frame":2,"offset":17,"length":2,"verdict":"reject","stage":"rpc","rule":"jsonrpc_missing","code":303,"rpc_code":-32600,"at":1}"#,
            r#"{"summary":{"frames":2,"accepted":0,"rejected":2}}"#,
        ],
    );
}

#[test]
fn depth_is_an_option() {
    let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":[1]}}\n";
    assert_eq!(scan(&["--max-depth", "4"], input).code, Some(0));
    assert_eq!(
        scan(&["--max-depth", "3"], input).lines()[0],
        r#"{"frame":1,"offset":0,"length":56,"verdict":"reject","stage":"json","rule":"too_deep","code":208,"rpc_code":-32600,"at":52}"#
    );
}

#[test]
fn close_ends_the_scan_with_the_refusal_that_closes() {
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    // An empty line does not close, an early refusal does, and is measured to its end all the same.
    expect(
        &["--on-reject", "close"],
        format!("{ping}\n> not a message\n{ping}").as_bytes(),
        &[
            r#"{"frame":1,"offset":0,"length":40,"verdict":"accept","kind":"request","method":"ping","id":1}"#,
            r#"{"frame":2,"offset":41,"length":0,"verdict":"reject","stage":"frame","rule":"frame_empty","code":102,"rpc_code":-32700,"at":0}"#,
            r#"{"frame":3,"offset":42,"length":15,"verdict":"reject","stage":"json","rule":"unexpected_byte","code":202,"rpc_code":-32700,"at":0}"#,
            r#"{"summary":{"frames":3,"accepted":1,"rejected":2}}"#,
        ],
    );
    let malformed = scan(&["--on-reject", "close"], format!("{{]\n{ping}").as_bytes());
    assert_eq!(malformed.lines()[1], r#"{"summary":{"frames":1,"accepted":0,"rejected":1}}"#);
}

#[test]
fn nothing_in_nothing_out() {
    expect(&[], b"", &[r#"{"summary":{"frames":0,"accepted":0,"rejected":0}}"#]);
}

#[test]
fn a_line_does_not_depend_on_the_line_before_it() {
    let lines: [&[u8]; 5] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        b"x",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}",
        b"{\"a\"",
        b"",
    ];
    // A verdict without the counts that stand before it.
    let verdict = |line: &str| line[line.find("\"length\"").expect("a length")..].to_owned();
    for before in lines {
        for line in lines {
            let alone = scan(&[], &[line, b"\n"].concat());
            let behind = scan(&[], &[before, b"\n", line, b"\n"].concat());
            assert_eq!(verdict(alone.lines()[0]), verdict(behind.lines()[1]));
        }
    }
}

#[test]
fn offsets_add_up_over_reads() {
    // Lines of all lengths around the size of a read, some accepted, some refused at once, some at their end.
    let mut input = Vec::new();
    let mut starts = Vec::new();
    for n in 0..40 {
        starts.push(input.len());
        let fill = "y".repeat(n * 6151);
        input.extend_from_slice(
            match n % 3 {
                0 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"m\",\"params\":{{\"f\":\"{fill}\"}}}}\n"),
                1 => format!("# {fill}\n"),
                _ => format!("[\"{fill}\n"),
            }
            .as_bytes(),
        );
    }
    let outcome = scan(&[], &input);
    let lines = outcome.lines();
    assert_eq!(lines.len(), starts.len() + 1);
    starts.push(input.len());
    for (n, line) in lines[..40].iter().enumerate() {
        let seen: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(seen["offset"], starts[n]);
        assert_eq!(seen["length"], starts[n + 1] - starts[n] - 1);
        assert_eq!(seen["verdict"], if n % 3 == 0 { "accept" } else { "reject" });
    }
}

#[test]
fn a_verdict_is_seen_before_the_input_ends() {
    let mut running = Running::start_unread(&["scan", "--format", "json"]);
    let mut seen = BufReader::new(running.child.stdout.take().expect("a pipe")).lines();
    for id in 0..3 {
        running.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"));
        assert!(seen.next().expect("a line").expect("read").contains(&format!("\"id\":{id}")));
    }
    running.send("half a line");
    running.send(" and its end\n");
    assert!(seen.next().expect("a line").expect("read").contains("\"length\":23,"));
    running.close();
    assert!(seen.next().expect("a line").expect("read").contains("summary"));
    assert_eq!(running.wait().code, Some(1));
}

#[test]
#[cfg(target_os = "linux")]
fn memory_stays_bounded() {
    // The same twice: refused by the first byte, and by the bound.
    for first in [b'z', b'"'] {
        let mut running = Running::start_unread(&["scan", "--format", "json", "--max-frame", "100000"]);
        running.send([first]);
        let piece = vec![b'z'; 1 << 20];
        for _ in 0..96 {
            running.send(&piece);
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", running.child.id())).expect("a status");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        let kib: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(kib < 24 << 10, "{kib} KiB");
        let stdout = running.child.stdout.take().expect("a pipe");
        running.send("\n");
        running.close();
        let line = BufReader::new(stdout).lines().next().expect("a line").expect("read");
        assert!(line.contains("\"length\":100663297,"), "{line}");
    }
}

#[test]
fn text_for_people_has_no_colour_in_a_pipe() {
    let mut running = Running::start(&["scan"]);
    running.send("{\"jsonrpc\":\"2.0\",\"id\":\"\u{85}\",\"method\":\"a\\u001b[31m\"}\n{\"a\":1,\"a\":2}\n");
    let outcome = running.finish();
    let lines = outcome.lines();
    assert_eq!(lines[0], "line 1 at offset 0: accepted request a\\u{1b}[31m id \"\\u{85}\"");
    assert!(
        lines[1].starts_with("line 2 at offset 51: refused 209 duplicate_key, byte 7 of the line: An object"),
        "{}",
        lines[1]
    );
    assert_eq!(lines[2], "2 lines, 1 accepted, 1 refused");
    assert_eq!(outcome.code, Some(1));
    assert!(!outcome.stdout.contains(&0x1b));
}

#[test]
fn reads_a_file() {
    let path = scratch("lines.jsonl");
    std::fs::write(&path, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").expect("written");
    let outcome = Running::start(&["scan", path.to_str().expect("UTF-8")]).finish();
    assert_eq!(outcome.lines()[1], "1 line, 1 accepted, 0 refused");
    assert_eq!(outcome.code, Some(0));
    let mut dash = Running::start(&["scan", "-"]);
    dash.send(std::fs::read(&path).expect("read"));
    assert_eq!(dash.finish().code, Some(0));
}

#[test]
fn says_what_it_could_not_do() {
    for (args, hint) in [
        (&["scan", "/nonexistent/lines"][..], "cannot open /nonexistent/lines"),
        (&["scan", "/"], "cannot read /"),
        (&["scan", "--from", "peer"], "client, server"),
        (&["scan", "--revision", "2025"], "2025-11-25"),
        (&["scan", "--profile", "lax"], "strict, data, rfc8259"),
        (&["scan", "--on-reject", "close-all"], "continue, close"),
        (&["scan", "--max-frame", "3"], "4..=2147483647"),
        (&["scan", "--max-frame", "8M"], "--max-frame"),
        (&["scan", "--max-frame", "-1"], "4..=2147483647"),
        (&["scan", "--max-depth", "513"], "1..=512"),
        (&["scan", "--format", "xml"], "text, json"),
        (&["scan", "--track"], "--track"),
        (&["scan", "a", "b"], "'b'"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let outcome = Running::start(args).finish();
        assert_eq!(outcome.code, Some(2), "{args:?}: {outcome:?}");
        assert!(outcome.stderr.contains(hint), "{args:?}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let mut running = Running::start_unread(&["scan"]);
    drop(running.child.stdout.take());
    for _ in 0..2000 {
        running.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    }
    let outcome = running.finish();
    assert_eq!(outcome.code, Some(2));
    assert_eq!(outcome.stderr, "");
}

#[test]
fn a_full_disk_is_said() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let mut child = std::process::Command::new(linegate_bin())
        .arg("scan")
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .expect("linegate starts");
    let _ = child.stdin.take().expect("a pipe").write_all(b"x\n");
    let outcome = child.wait_with_output().expect("ended");
    assert_eq!(outcome.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("cannot write the verdicts"));
}
