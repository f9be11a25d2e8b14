//! `linegate wrap` and `unwrap` on configurations of clients.
#![cfg(unix)]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Outcome, Running, config, linegate_bin, path_of, scratch};

fn linegate(args: &[&str]) -> Outcome {
    Running::start(args).finish()
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
    let outcome = linegate(&["unwrap", path_of(&path), "e"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.lines()[0].starts_with("e is started directly again, without --audit; the file"), "{outcome:?}");
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
        (valid.as_bytes(), &["s", "--", "--audit", "f", "--", "evil"], "a command of their own"),
        (valid.as_bytes(), &["s", "--", "--observe", "--"], "a command of their own"),
        (valid.as_bytes(), &["s", "--", "--help"], "start no server"),
        (valid.as_bytes(), &["s", "--program", ""], "must be named linegate"),
        (b"{\"mcpServers\": {\"a\x1b\": {}}}", &["s"], "there is no server s, but a\\u{1b}\n"),
        (b"{\"mcpServers\": {}}", &["s"], "there is no server s, and no other\n"),
        (b"{\"mcpServers\":\n {\"s\": {\"command\": \"x\"", &["s"], "inside of what begins on line 2 column 8"),
        (
            br#"{"mcpServers": {"s": {"command": "x", "env": {"A": "1", "A": "2"}}}}"#,
            &["s"],
            "s is unclear: A stands twice in env",
        ),
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

#[test]
fn wraps_at_once_all_count() {
    const SERVERS: usize = 8;
    let names: Vec<_> = (0..SERVERS).map(|number| format!("s{number}")).collect();
    let entries: Vec<_> = names.iter().map(|name| format!("\"{name}\": {{\"command\": \"x\"}}")).collect();
    let text = format!("{{\"mcpServers\": {{{}}}}}", entries.join(", "));
    let path = config(&text);
    for command in ["wrap", "unwrap"] {
        let running: Vec<_> = names.iter().map(|name| Running::start(&[command, path_of(&path), name])).collect();
        for outcome in running.into_iter().map(Running::finish) {
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        }
        let now = fs::read_to_string(&path).expect("read");
        let wrapped = if command == "wrap" { SERVERS } else { 0 };
        assert_eq!(now.matches("\"linegate\"").count(), wrapped, "{now}");
    }
    assert_eq!(fs::read_to_string(&path).expect("read"), text);
    assert_eq!(files_beside(&path).len(), 1 + 2 * SERVERS);
}

#[test]
fn a_pipe_is_not_waited_for() {
    let path = scratch("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    for command in ["wrap", "unwrap"] {
        let outcome = linegate(&[command, path_of(&path), "s"]);
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.stderr.contains("is no file"), "{}", outcome.stderr);
    }
}

#[test]
fn what_somebody_else_keeps_locked_is_waited_for() {
    let path = config(r#"{"mcpServers": {"s": {"command": "x"}}}"#);
    let held = fs::File::open(&path).expect("opened");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    let mut running = Running::start(&["wrap", path_of(&path), "s"]);
    thread::sleep(Duration::from_millis(300));
    assert!(running.child.try_wait().expect("a child").is_none(), "it did not wait");
    drop(held);
    assert_eq!(running.finish().code, Some(0));
}
