//! `linegate doctor` on configurations of clients.
#![cfg(unix)]

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{Outcome, Running, config, linegate_bin, path_of, scratch};

fn linegate(args: &[&str]) -> Outcome {
    Running::start(args).finish()
}

/// Only what shows that a server is started as it should be.
const QUICK: [&str; 8] = ["--only", "handshake", "--only", "eof", "--only", "stdout-clean", "--timeout", "20"];

fn doctor(path: &Path, options: &[&str]) -> Outcome {
    linegate(&[&["doctor", path_of(path)], options, &QUICK].concat())
}

#[test]
fn the_doctor_checks_every_server_as_its_client_would_start_it() {
    let bin = linegate_bin();
    let good = json!({"command": path_of(&bin), "args": ["example-server"]});
    let dirty = format!("echo \"Listening, $API_TOKEN\"; exec '{}' example-server", bin.display());
    let here = scratch("here");
    fs::create_dir(&here).expect("made");
    // It comes up only with its variables, in its directory, and with nothing else.
    let particular = format!(
        "test \"$PLACE\" = here && test \"$(pwd -P)\" = '{}' && test -z \"$CARGO_MANIFEST_DIR\" && exec '{}' example-server",
        here.canonicalize().expect("there").display(),
        bin.display()
    );
    let path = config(
        json!({"mcpServers": {
            "good": good,
            "dirty": {"command": "sh", "args": ["-c", dirty], "env": {"API_TOKEN": "abc-123-xyz"}},
            "particular": {"command": "sh", "args": ["-c", particular], "env": {"PLACE": "here"}, "cwd": path_of(&here)},
            "missing": {"command": "/nonexistent/server"},
            "far": {"url": "https://user:pass@example.org/mcp?token=abcdef", "headers": {"Authorization": "Bearer abcdef"}},
            "asks": {"command": "x", "env": {"KEY": "${input:key}"}},
            "odd": {"command": 7},
        }})
        .to_string(),
    );
    let outcome = doctor(&path, &[]);
    let text = String::from_utf8(outcome.stdout).expect("UTF-8");
    assert_eq!(outcome.code, Some(1), "{text}");
    let line = |name: &str| text.lines().find(|line| line.split_whitespace().nth(1) == Some(name)).unwrap_or_default();
    for (name, verdict) in [
        ("good", "ok"),
        ("dirty", "FAIL"),
        ("particular", "ok"),
        ("missing", "FAIL"),
        ("far", "skip"),
        ("asks", "skip"),
        ("odd", "skip"),
    ] {
        assert!(line(name).starts_with(verdict), "{name}: {text}");
    }
    assert!(text.contains("bytes: Listening, [API_TOKEN]"), "{text}");
    assert!(line("far").ends_with("a server by URL, example.org"), "{text}");
    assert!(text.contains("cannot run /nonexistent/server"), "{text}");
    assert!(text.contains("the variable API_TOKEN stands in the open"), "{text}");
    assert!(text.contains("linegate run --env API_TOKEN=file:PATH -- ..."), "{text}");
    assert!(text.contains("the header Authorization stands in the open"), "{text}");
    assert!(text.contains("2 ok, 2 failed, 3 skipped; secrets in the open: 4"), "{text}");

    let outcome = doctor(&path, &["--format", "json"]);
    assert_eq!(outcome.code, Some(1));
    let both = format!("{text}{}", String::from_utf8_lossy(&outcome.stdout));
    for secret in ["abc-123-xyz", "abcdef", "user:pass"] {
        assert!(!both.contains(secret), "{secret}: {both}");
    }
    let document: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
    assert_eq!((&document["version"], &document["healthy"]), (&json!(1), &json!(false)));
    let servers = document["servers"].as_array().expect("servers");
    assert_eq!(servers.len(), 7);
    let dirty = &servers[1];
    assert_eq!(
        (&dirty["name"], &dirty["verdict"], &dirty["wrapped"]),
        (&json!("dirty"), &json!("fail"), &json!(false))
    );
    assert_eq!(dirty["check"]["classes"]["stdout"]["status"], "violated");
    assert_eq!(dirty["warnings"][0]["place"], "the variable API_TOKEN");
}

#[test]
fn the_doctor_is_content_with_healthy_servers() {
    let bin = linegate_bin();
    let wrapped = ["run", "--", path_of(&bin), "example-server"];
    let path = config(format!(
        "// VS Code takes this.\n{}",
        json!({"servers": {
            "good": {"type": "stdio", "command": path_of(&bin), "args": ["example-server"]},
            "wrapped": {"command": path_of(&bin), "args": wrapped},
            "missing": {"command": "/nonexistent/server"},
        }})
    ));
    let outcome = doctor(&path, &["good", "wrapped", "--format", "json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let document: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
    assert_eq!(document["healthy"], true);
    let wrapped: Vec<_> = document["servers"].as_array().expect("servers").iter().map(|one| &one["wrapped"]).collect();
    assert_eq!(wrapped, [&json!(false), &json!(true)]);
}

#[test]
fn malformed_lines_are_sent_where_that_is_asked_for() {
    let path = config(json!({"mcpServers": {"lax": {"command": "python3", "args": ["-c", LAX]}}}).to_string());
    let one = ["--only", "handshake", "--only", "malformed/duplicate", "--timeout", "20"];
    assert_eq!(linegate(&[&["doctor", path_of(&path)], &one[..]].concat()).code, Some(0));
    let outcome = linegate(&[&["doctor", path_of(&path), "--full"], &one[..]].concat());
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(String::from_utf8_lossy(&outcome.stdout).contains("effects: "), "{outcome:?}");
}

/// A server that takes whatever its parser takes.
const LAX: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = {}
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "r", "version": "1"}}
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        if message["method"] == "server/discover":
            reply = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}
        print(json.dumps(reply), flush=True)
"#;

#[test]
fn what_the_doctor_can_not_read_is_told() {
    for (text, args, hint) in [
        ("{}", &[][..], "there is no map of servers, mcpServers or servers"),
        ("nope", &[], "neither JSON nor JSON with comments"),
        (r#"{"mcpServers": {}}"#, &["s"], "there is no server s, and no other"),
        (r#"{"mcpServers": {"a\u001b": {}}}"#, &["s"], "there is no server s, but a\\u{1b}"),
        (r#"{"mcpServers": {}}"#, &[], "there is no server in it"),
        (r#"{"mcpServers": {"s": {}, "s": {}}}"#, &[], "s stands twice"),
    ] {
        let path = config(text);
        let outcome = linegate(&[&["doctor", path_of(&path)], args].concat());
        assert_eq!(outcome.code, Some(2), "{text}: {outcome:?}");
        assert!(outcome.stderr.contains(hint), "{text}: {}", outcome.stderr);
    }
}

/// A server that prints this word of a shell before it works.
fn printing(word: &str) -> Vec<String> {
    let script = format!("printf '%s\\n' {word}; exec '{}' example-server", linegate_bin().display());
    vec!["-c".to_owned(), script]
}

/// What the doctor says in both forms; their JSON strings as well.
fn said(path: &Path) -> String {
    let text = doctor(path, &[]);
    let document = doctor(path, &["--format", "json"]);
    let parsed: Value = serde_json::from_slice(&document.stdout).expect("JSON");
    let mut said = String::from_utf8([text.stdout, document.stdout].concat()).expect("UTF-8");
    gather(&parsed, &mut said);
    said
}

fn gather(value: &Value, said: &mut String) {
    match value {
        Value::String(text) => said.extend([text, "\n"]),
        Value::Array(elements) => elements.iter().for_each(|element| gather(element, said)),
        Value::Object(members) => members.values().for_each(|member| gather(member, said)),
        _ => {}
    }
}

#[test]
fn a_secret_is_shown_in_no_form() {
    // Each part stands alone in some form: quoted, escaped, in hexadecimal, or where a long line is cut.
    let secret = format!("head-1234 it's p\"ss\\word {} tail-5678", "abcdefgh".repeat(12));
    let forms = ["head-1234", "it's", "p\"ss", "ss\\", "word abc", "abcdefgh", "gh tail", "tail-5678"];
    let hexed = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    let bin = linegate_bin();
    for entry in [
        json!({"command": "sh", "args": printing("\"$API_KEY\""), "env": {"API_KEY": secret}}),
        // The end of it alone is shown, and its beginning.
        json!({"command": "sh", "args": printing("\"{\\\"$API_KEY\\\": 1, }\""), "env": {"API_KEY": secret}}),
        json!({"command": "sh", "args": printing("\"a $API_KEY\" >&2; echo"), "env": {"API_KEY": secret}}),
        json!({"command": "python3", "args": ["-c", "import os; print({'k': os.environ['API_KEY']})"], "env": {"API_KEY": secret}}),
        json!({"command": "sh", "args": ["-c", printing("\"$1\"")[1], "sh", format!("--token={secret}")]}),
        json!({"command": "sh", "args": ["-c", printing("\"$2\"")[1], "sh", "--password", secret]}),
        json!({"command": "/nonexistent/server", "args": [format!("--token={secret}")]}),
        json!({"command": path_of(&bin), "args": [7, "--header", format!("X-Api-Key: {secret}")]}),
    ] {
        let said = said(&config(json!({"mcpServers": {"s": entry}}).to_string()));
        assert!(said.contains("stands in the open"), "{said}");
        for form in forms {
            assert!(!said.contains(form) && !said.contains(&hexed(form)), "{form} of {entry}: {said}");
        }
    }
}

#[test]
fn secrets_are_told_from_what_only_looks_like_them() {
    let open = json!({"command": "/nonexistent/server", "args": ["--header", "Authorization: Bearer abcdef-1", "https://h/sse?x=1&api_key=abcdef-2",
        "--pass", "abcdef-3"], "env": {"DB_PASS": "abcdef-4", "GITHUB_PAT": "abcdef-5", "REDIS": "redis://:abcdef-6@h/0"}});
    let fine = json!({"command": "/nonexistent/server", "args": ["--max-tokens", "100000", "--key-file", "/etc/ssl/key.pem", "--author", "John Smith"],
        "env": {"API_KEY": "YOUR_API_KEY_HERE", "G_TOKEN": "$GITHUB_TOKEN", "H_TOKEN": "<your-token>", "W_TOKEN": "%TOKEN%", "AUTH_MODE": "header",
        "TOKENIZERS_PARALLELISM": "disabled", "MAX_TOKENS": "100000", "KEY_PATH": "/etc/ssl/key.pem"}});
    let said = said(&config(json!({"mcpServers": {"open": open, "fine": fine}}).to_string()));
    assert!(said.contains("secrets in the open: 6"), "{said}");
    assert!(!said.contains("abcdef-"), "{said}");
}

#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let text = r#"{"mcpServers": {"a\u001b[1m": {"command": "/nonexistent/\u001b[1m", "env": {"X\u001b[1m\u009b_TOKEN": "abcdef"}},
        "b": {"command": 7, "env": {"\u001b[1mTOKEN": "abcdef"}}, "c": {"command": "x", "cwd": "/\u001b[1m"}}}"#;
    let path = config(text);
    for format in ["text", "json"] {
        let outcome = doctor(&path, &["--format", format]);
        let said = String::from_utf8(outcome.stdout).expect("UTF-8");
        assert!(said.contains("[1m") && !said.contains(['\u{1b}', '\u{9b}']), "{said:?}");
    }
}

#[test]
fn every_entry_of_both_maps_is_looked_at() {
    let bin = linegate_bin();
    let works = json!({"command": path_of(&bin), "args": ["example-server"]});
    let mut off = works.clone();
    off["disabled"] = true.into();
    let mut lost = works.clone();
    lost["cwd"] = "/nonexistent".into();
    let path = config(
        json!({"servers": {"second": {"command": "/nonexistent/server", "env": {"API_KEY": "abcdef"}}},
        "mcpServers": {"first": works, "off": off, "lost": lost}})
        .to_string(),
    );
    let document: Value = serde_json::from_slice(&doctor(&path, &["--format", "json"]).stdout).expect("JSON");
    let servers = document["servers"].as_array().expect("servers");
    let told: Vec<_> = servers
        .iter()
        .map(|one| [&one["name"], &one["map"], &one["verdict"]].map(|text| text.as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ["first", "mcpServers", "ok"],
            ["off", "mcpServers", "skip"],
            ["lost", "mcpServers", "fail"],
            ["second", "servers", "fail"]
        ]
    );
    assert!(servers[1]["why"].as_str().is_some_and(|why| why.contains("switched off")), "{document}");
    assert!(servers[2]["why"].as_str().is_some_and(|why| why.contains("/nonexistent is not there")), "{document}");
    assert_eq!(servers[3]["warnings"].as_array().map(Vec::len), Some(1));
    // Who names it means it.
    let outcome = doctor(&path, &["off"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn a_configuration_may_come_by_a_pipe() {
    for place in ["-", "/dev/stdin"] {
        let mut running = Running::start(&["doctor", place]);
        running.send("{\"mcpServers\": {\"s\": {\"url\": \"https://h\"}}}");
        let outcome = running.finish();
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(String::from_utf8_lossy(&outcome.stdout).contains("1 skipped"), "{outcome:?}");
    }
}
