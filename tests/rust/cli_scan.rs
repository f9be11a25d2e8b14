//! `linegate scan`: every line of its frozen output, to the byte, and how it behaves as a part of a pipeline.
#![cfg(unix)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};
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
        b"\n\r\n{\"a\":1,\"a\":2}\n{\"jsonrpc\":\"1.0\",\"method\":\"m\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":7}
{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}\n",
        &[
            r#"{"frame":1,"offset":0,"length":0,"verdict":"reject","stage":"frame","rule":"frame_empty","code":102,"rpc_code":-32700,"at":0}"#,
            r#"{"frame":2,"offset":1,"length":1,"verdict":"reject","stage":"frame","rule":"frame_empty","code":102,"rpc_code":-32700,"at":0}"#,
            r#"{"frame":3,"offset":3,"length":13,"verdict":"reject","stage":"json","rule":"duplicate_key","code":209,"rpc_code":-32600,"at":7}"#,
            r#"{"frame":4,"offset":17,"length":30,"verdict":"reject","stage":"rpc","rule":"jsonrpc_wrong","code":304,"rpc_code":null,"at":11}"#,
            r#"{"frame":5,"offset":48,"length":51,"verdict":"reject","stage":"rpc","rule":"params_type","code":309,"rpc_code":-32602,"at":49}"#,
            r#"{"frame":6,"offset":100,"length":37,"verdict":"reject","stage":"mcp","rule":"unknown_method","code":402,"rpc_code":-32601,"at":33}"#,
            r#"{"frame":7,"offset":138,"length":30,"verdict":"reject","stage":"mcp","rule":"unknown_method","code":402,"rpc_code":null,"at":26}"#,
            r#"{"frame":8,"offset":169,"length":46,"verdict":"reject","stage":"mcp","rule":"param_missing","code":403,"rpc_code":-32602,"at":45}"#,
            r#"{"summary":{"frames":8,"accepted":0,"rejected":8}}"#,
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
    let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"n\":-0}}\n";
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
    let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":[1]}}\n";
    assert_eq!(scan(&["--max-depth", "4"], input).code, Some(0));
    assert_eq!(
        scan(&["--max-depth", "3"], input).lines()[0],
        r#"{"frame":1,"offset":0,"length":59,"verdict":"reject","stage":"json","rule":"too_deep","code":208,"rpc_code":-32600,"at":55}"#
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
fn names_of_the_host_are_taken() {
    let note = b"{\"jsonrpc\":\"2.0\",\"method\":\"acme/changed\"}\n";
    for from in ["client", "server"] {
        assert_eq!(scan(&["--from", from], note).code, Some(1));
        assert_eq!(
            scan(&["--from", from, "--allow-method", "x", "--allow-method", "acme/changed"], note).code,
            Some(0)
        );
    }
    let result = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"acme_partial\"}}\n";
    let modern = ["--from", "server", "--revision", "2026-07-28"];
    assert_eq!(scan(&modern, result).code, Some(1));
    assert_eq!(scan(&[&modern[..], &["--allow-result-type", "acme_partial"]].concat(), result).code, Some(0));
}

/// A session that goes wrong in each of its parts, as a transcript.
const TRANSCRIPT: &str = r#"> {"jsonrpc":"2.0","id":1,"method":"tools/list"}
> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
> {"jsonrpc":"2.0","method":"notifications/initialized"}
< {"jsonrpc":"2.0","id":3,"result":{}}
> {"jsonrpc":"2.0","id":2,"method":"tools/list"}
> {"jsonrpc":"2.0","id":2,"method":"ping"}
< {"jsonrpc":"2.0","id":2,"result":{}}
< Listening
< {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"m"}}
> {"jsonrpc":"2.0","id":4,"method":"ping"}"#;

#[test]
fn a_transcript_is_judged_as_a_session() {
    // The marks stand outside: places and lengths are those of the messages.
    expect(
        &["--track"],
        TRANSCRIPT.as_bytes(),
        &[
            r#"{"frame":1,"offset":2,"length":46,"verdict":"reject","stage":"session","rule":"not_initialized","code":451,"rpc_code":-32600,"at":33,"from":"client"}"#,
            r#"{"frame":2,"offset":51,"length":146,"verdict":"accept","kind":"request","method":"initialize","id":1,"from":"client"}"#,
            r#"{"frame":3,"offset":200,"length":124,"verdict":"accept","kind":"result","id":1,"from":"server"}"#,
            r#"{"frame":4,"offset":327,"length":54,"verdict":"accept","kind":"notification","method":"notifications/initialized","from":"client"}"#,
            r#"{"frame":5,"offset":384,"length":36,"verdict":"reject","stage":"session","rule":"unknown_response","code":454,"rpc_code":null,"at":22,"from":"server"}"#,
            r#"{"frame":6,"offset":423,"length":46,"verdict":"accept","kind":"request","method":"tools/list","id":2,"from":"client"}"#,
            r#"{"frame":7,"offset":472,"length":40,"verdict":"reject","stage":"session","rule":"id_in_use","code":453,"rpc_code":-32600,"at":22,"from":"client"}"#,
            r#"{"frame":8,"offset":515,"length":36,"verdict":"reject","stage":"mcp","rule":"result_shape","code":408,"rpc_code":null,"at":33,"from":"server"}"#,
            r#"{"frame":9,"offset":554,"length":9,"verdict":"reject","stage":"json","rule":"unexpected_byte","code":202,"rpc_code":null,"at":0,"from":"server"}"#,
            r#"{"frame":10,"offset":566,"length":62,"verdict":"reject","stage":"session","rule":"answered_twice","code":458,"rpc_code":null,"at":22,"from":"server"}"#,
            r#"{"frame":11,"offset":631,"length":40,"verdict":"reject","stage":"frame","rule":"truncated","code":104,"rpc_code":null,"at":40,"from":"client"}"#,
            r#"{"summary":{"frames":11,"accepted":4,"rejected":7}}"#,
        ],
    );
}

/// What a verdict says, in the words of the vectors: of an accepted line its kind and method, of a refused one code and place.
fn in_short(verdict: &Value) -> Value {
    match verdict["verdict"].as_str() {
        Some("accept") => json!({"accept": verdict["kind"], "method": verdict["method"]}),
        _ => json!({"refuse": verdict["code"], "at": verdict["at"], "rpc_code": verdict["rpc_code"]}),
    }
}

#[test]
fn transcripts_are_judged_as_the_vectors_say() {
    // Those whose options are the command's too.
    let known = ["revision", "track", "allow_methods", "allow_result_types"];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/session.jsonl");
    let mut judged = 0;
    for row in std::fs::read_to_string(path).expect("the vectors").lines() {
        let row: Value = serde_json::from_str(row).expect("JSON");
        let options = row["options"].as_object().expect("options");
        let revision = options.get("revision").map_or("auto", |name| name.as_str().expect("a name"));
        let tracked = options.get("track") == Some(&json!(true)) && revision != "jsonrpc";
        if !tracked || options.keys().any(|option| !known.contains(&option.as_str())) {
            continue;
        }
        let mut args = vec!["--track", "--on-reject", "close", "--revision", revision];
        for (list, option) in [("allow_methods", "--allow-method"), ("allow_result_types", "--allow-result-type")] {
            let names = options.get(list).and_then(Value::as_array).into_iter().flatten();
            args.extend(names.flat_map(|name| [option, name.as_str().expect("a name")]));
        }
        let steps = row["steps"].as_array().expect("steps");
        let marked = steps.iter().map(|step| {
            let mark = if step["from"] == "client" { '>' } else { '<' };
            format!("{mark} {}\n", step["line"].as_str().expect("text"))
        });
        let outcome = scan(&args, marked.collect::<String>().as_bytes());
        let told: Vec<Value> = outcome.lines().iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let (_, told) = told.split_last().expect("a summary");
        // Behind the line that closes, the gate of the vector says so and the scan nothing.
        let events = steps.iter().filter(|step| step["event"].get("closed").is_none());
        let expected: Vec<Value> = events
            .map(|step| match &step["event"] {
                event if event.get("accept").is_some() => json!({"accept": event["accept"], "method": event["method"]}),
                event => json!({"refuse": event["refuse"], "at": event["at"], "rpc_code": event["rpc_code"]}),
            })
            .collect();
        assert_eq!(told.iter().map(in_short).collect::<Vec<_>>(), expected, "{}: {told:#?}", row["name"]);
        judged += 1;
    }
    assert!(judged > 300, "{judged}");
}

#[test]
fn a_transcript_may_come_in_any_pieces() {
    let whole = scan(&["--track"], TRANSCRIPT.as_bytes());
    let mut running = Running::start(&["scan", "--track", "--format", "json"]);
    for byte in TRANSCRIPT.as_bytes().chunks(1) {
        running.send(byte);
    }
    assert_eq!(running.finish().stdout, whole.stdout);
}

#[test]
fn a_transcript_that_closes_ends_for_both() {
    let outcome = scan(&["--track", "--on-reject", "close"], TRANSCRIPT.as_bytes());
    assert_eq!(outcome.lines().last(), Some(&r#"{"summary":{"frames":9,"accepted":4,"rejected":5}}"#));
    assert_eq!(outcome.code, Some(1));
}

#[test]
fn a_transcript_of_the_new_era() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let ask = format!(r#"> {{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t",{meta}}}}}"#);
    let done = r#"< {"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"complete"}}"#;
    assert_eq!(scan(&["--track"], format!("{ask}\n{done}\n").as_bytes()).code, Some(0));
    let outcome = scan(&["--track"], format!("{ask}\n{}\n", done.replace("complete", "acme_partial")).as_bytes());
    assert!(outcome.lines()[1].contains(r#""code":408,"#), "{outcome:?}");
    let options = ["--track", "--allow-result-type", "acme_partial"];
    let outcome = scan(&options, format!("{ask}\n{}\n", done.replace("complete", "acme_partial")).as_bytes());
    assert_eq!(outcome.code, Some(0));
}

#[test]
fn a_transcript_for_people_says_the_sender() {
    let mut running = Running::start(&["scan", "--track"]);
    running.send("> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n< oops\n");
    let outcome = running.finish();
    assert_eq!(outcome.lines()[0], "line 1 at offset 2, of the client: accepted request ping id 1");
    assert!(outcome.lines()[1].starts_with("line 2 at offset 45, of the server: refused 202"), "{outcome:?}");
}

#[test]
fn a_line_without_its_mark_is_a_fault_of_the_transcript() {
    let ping = r#"> {"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for wrong in ["{}", "", ">{}", "<", "? {}", " > {}", ">\n"] {
        let outcome = scan(&["--track"], format!("{ping}\n{wrong}\n").as_bytes());
        // What was judged before is told; there is no summary of what could not be read.
        assert_eq!((outcome.code, outcome.lines().len()), (Some(2), 1), "{wrong}: {outcome:?}");
        assert!(
            outcome.stderr.contains("line 2 of the transcript has no mark: begin it with \"> \""),
            "{wrong}: {outcome:?}"
        );
    }
    let outcome = scan(&["--track"], format!("{ping}\n<").as_bytes());
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    // An empty line on the wire has its mark as any other.
    assert!(scan(&["--track"], b"> \n").lines()[0].contains(r#""offset":2,"length":0,"#));
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
                0 => {
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"ping\",\"params\":{{\"f\":\"{fill}\"}}}}\n")
                }
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
    let mut running = Running::start(&["scan", "--revision", "jsonrpc"]);
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
        (&["scan", "--track", "--from", "client"], "leave --from out"),
        (&["scan", "--track", "--revision", "jsonrpc"], "give one of its revisions, or auto"),
        (&["scan", "--allow-method", ""], "1 to 255 bytes"),
        (&["scan", "--allow-result-type", ""], "not empty"),
        (&["scan", "--audit", "x"], "--audit"),
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
