//! `linegate doctor`, `wrap` and `unwrap` on configurations of clients.
#![cfg(unix)]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::{Outcome, Running, linegate_bin, scratch};

fn linegate(args: &[&str]) -> Outcome {
    Running::start(args).finish()
}

/// A folder with a configuration in it.
fn config(text: impl AsRef<[u8]>) -> PathBuf {
    let folder = scratch("config");
    fs::create_dir(&folder).expect("made");
    let path = folder.join("mcp.json");
    fs::write(&path, text).expect("written");
    path
}

fn path_of(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn files_beside(path: &Path) -> Vec<String> {
    let folder = fs::read_dir(path.parent().expect("a folder")).expect("read");
    let mut names: Vec<_> =
        folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// With a mark, line ends of Windows, tabs, escapes, and spellings that no writer keeps.
const ODD: &str = "\u{feff}{\r\n\t\"theme\" : \"\\u0064ark\",\r\n\t\"zoom\":1.50e+01,\r\n\t\"mcpServers\": {\r\n\t\t\"a b\": {\"command\":\"npx\",  \"args\": [\r\n\t\t\t\"-y\" ,\r\n\t\t\t\"caf\\u00e9 é\"\r\n\t\t], \"env\":{\"N\":\"1\"}},\r\n\t\t\"z\": {}\r\n\t}\r\n}\r\n\r\n";

#[test]
fn wrapping_keeps_every_other_byte_and_unwrapping_gives_all_back() {
    let path = config(ODD);
    fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("set");
    let outcome = linegate(&["wrap", path_of(&path), "a b"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let wrapped = fs::read_to_string(&path).expect("read");
    let expected = ODD
        .replace("\"command\":\"npx\"", "\"command\":\"linegate\"")
        .replace("\"-y\" ,", "\"run\", \"--\", \"npx\", \"-y\" ,");
    assert_eq!(wrapped, expected);
    assert_eq!(files_beside(&path), ["mcp.json", "mcp.json.bak"]);
    assert_eq!(fs::read_to_string(path.with_extension("json.bak")).expect("read"), ODD);
    for name in ["mcp.json", "mcp.json.bak"] {
        let mode = fs::metadata(path.with_file_name(name)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{name}");
    }

    let again = linegate(&["wrap", path_of(&path), "a b"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("a b stands behind linegate run already"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(&path).expect("read"), wrapped);

    let outcome = linegate(&["unwrap", path_of(&path), "a b"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(fs::read_to_string(&path).expect("read"), ODD);
    assert_eq!(files_beside(&path), ["mcp.json", "mcp.json.bak", "mcp.json.bak1"]);
    assert_eq!(fs::read_to_string(path.with_extension("json.bak1")).expect("read"), wrapped);
}

#[test]
fn a_link_stays_a_link() {
    let path = config(ODD);
    let link = scratch("link.json");
    symlink(&path, &link).expect("linked");
    assert_eq!(linegate(&["wrap", path_of(&link), "a b"]).code, Some(0));
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(fs::read_to_string(&path).expect("read").contains("\"linegate\""));
    assert_eq!(files_beside(&path), ["mcp.json", "mcp.json.bak"]);
}

#[test]
fn a_wrapped_server_works() {
    let bin = linegate_bin();
    let text = json!({"mcpServers": {"e": {"command": path_of(&bin), "args": ["example-server"]}}}).to_string();
    let path = config(&text);
    let audit = scratch("audit");
    let options = ["wrap", path_of(&path), "e", "--program", path_of(&bin), "--", "--audit", path_of(&audit)];
    assert_eq!(linegate(&options).code, Some(0));
    let wrapped: Value = serde_json::from_slice(&fs::read(&path).expect("read")).expect("JSON");
    let words: Vec<&str> = wrapped["mcpServers"]["e"]["args"]
        .as_array()
        .expect("args")
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    assert_eq!(words, ["run", "--audit", path_of(&audit), "--", path_of(&bin), "example-server"]);
    let mut session = Running::start(&words);
    session.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}\n");
    let outcome = session.finish();
    assert!(outcome.lines().iter().any(|line| line.contains("\"id\":1,\"result\"")), "{outcome:?}");
    assert_eq!(fs::read_to_string(&audit).expect("read").lines().count(), 1);
    assert_eq!(linegate(&["unwrap", path_of(&path), "e"]).code, Some(0));
    assert_eq!(fs::read_to_string(&path).expect("read"), text);
}

#[test]
fn what_can_not_be_changed_is_left_as_it_was() {
    let valid = r#"{"mcpServers": {"s": {"command": "x"}, "u": {"url": "https://h"}}}"#;
    for (text, args, hint) in [
        (&b"{\"mcpServers\": "[..], &["s"][..], "neither JSON nor JSON with comments"),
        (b"\xff\xfe{\0", &["s"], "no UTF-8"),
        (valid.as_bytes(), &["t"], "there is no server t, but s, u"),
        (valid.as_bytes(), &["u"], "by URL"),
        (valid.as_bytes(), &["s", "--", "--no-such-option"], "--no-such-option"),
        (valid.as_bytes(), &["s", "--", "--on-reject", "never"], "never"),
    ] {
        let path = config(text);
        let outcome = linegate(&[&["wrap", path_of(&path)], args].concat());
        assert_eq!(outcome.code, Some(2), "{args:?}: {outcome:?}");
        assert!(outcome.stderr.contains(hint), "{args:?}: {}", outcome.stderr);
        assert_eq!((fs::read(&path).expect("read").as_slice(), files_beside(&path).len()), (text, 1));
    }
    let path = config(valid);
    fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("set");
    let outcome = linegate(&["wrap", path_of(&path), "s"]);
    assert_eq!((outcome.code, files_beside(&path).len()), (Some(2), 1));
    assert!(outcome.stderr.contains("read-only"), "{}", outcome.stderr);
    assert_eq!(linegate(&["wrap", "/nonexistent/mcp.json", "s"]).code, Some(2));
    let outcome = linegate(&["unwrap", path_of(&config(valid)), "s"]);
    assert!(outcome.stderr.contains("s does not stand behind linegate run"), "{}", outcome.stderr);
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
        (r#"{"mcpServers": {}}"#, &["s"], "there is no server s"),
        (r#"{"mcpServers": {"s": {}, "s": {}}}"#, &[], "s stands twice"),
    ] {
        let path = config(text);
        let outcome = linegate(&[&["doctor", path_of(&path)], args].concat());
        assert_eq!(outcome.code, Some(2), "{text}: {outcome:?}");
        assert!(outcome.stderr.contains(hint), "{text}: {}", outcome.stderr);
    }
    let empty = linegate(&["doctor", path_of(&config(r#"{"mcpServers": {}}"#))]);
    assert_eq!(empty.code, Some(0));
}
