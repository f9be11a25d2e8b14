//! A server on the official Rust SDK behind the gate: the SDK's own client has what it asks for, malformed lines have no
//! effect, and what a tool prints is nowhere but on standard error. The same lines are sent to the bare server, where some of
//! them have one: so these tests can fail.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use rmcp::model::{CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, ProtocolVersion};
use rmcp::service::{ClientServiceExt, PeerRequestOptions, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ServiceError};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

/// How long anything may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder for a server's marks, which goes with the test.
struct Marks(PathBuf);

impl Marks {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("marks-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// How often each was left.
    fn all(&self) -> BTreeMap<String, u64> {
        let count = |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len());
        fs::read_dir(&self.0).unwrap().map(|entry| count(entry.unwrap())).collect()
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const SERVER: &str = env!("CARGO_BIN_EXE_server");

// The SDK's own client.

type Client = RunningService<RoleClient, ()>;

/// Both ways in which a client of the SDK begins.
fn lifecycles() -> [ClientLifecycleMode; 2] {
    let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    [ClientLifecycleMode::Initialize, discover]
}

/// A client of a gated server, and what comes on the server's standard error.
async fn connect(marks: &Marks, lifecycle: ClientLifecycleMode) -> (Client, tokio::process::ChildStderr) {
    let mut command = tokio::process::Command::new(SERVER);
    command.arg("close_all").arg(&marks.0);
    let (transport, stderr) = TokioChildProcess::builder(command).stderr(Stdio::piped()).spawn().unwrap();
    let client = timeout(PATIENCE, ().serve_with_lifecycle(transport, lifecycle)).await.unwrap().unwrap();
    (client, stderr.unwrap())
}

fn call(tool: &'static str, text: &str) -> CallToolRequestParams {
    let arguments: JsonObject = [("text".to_owned(), json!(text))].into_iter().collect();
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

#[tokio::test]
async fn the_sdks_client_gets_what_it_asks_for() {
    for lifecycle in lifecycles() {
        let marks = Marks::new();
        let (client, _stderr) = connect(&marks, lifecycle.clone()).await;
        let tools = timeout(PATIENCE, client.list_all_tools()).await.unwrap().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["record", "print", "wait"], "{lifecycle:?}");
        let calls: Vec<_> = (0..50)
            .map(|number| {
                let peer = client.peer().clone();
                tokio::spawn(async move { peer.call_tool(call("record", &format!("call_{number}"))).await })
            })
            .collect();
        for (number, called) in calls.into_iter().enumerate() {
            let result = timeout(PATIENCE, called).await.unwrap().unwrap().unwrap();
            assert_eq!(text(&result), format!("call_{number}"));
        }
        // A tool whose text holds what would be a line of its own.
        let result = client.call_tool(call("record", "a\nb\u{2028}\u{1F980}")).await.unwrap();
        assert_eq!(text(&result), "a\nb\u{2028}\u{1F980}");
        timeout(PATIENCE, client.cancel()).await.unwrap().unwrap();
        let mut want: BTreeMap<String, u64> = (0..50).map(|number| (format!("call_{number}"), 1)).collect();
        want.insert("ab".to_owned(), 1);
        assert_eq!(marks.all(), want);
    }
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled() {
    for lifecycle in lifecycles() {
        let marks = Marks::new();
        let (client, _stderr) = connect(&marks, lifecycle).await;
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call("wait", "cancelled")));
        let waiting = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
        client.call_tool(call("record", "meanwhile")).await.unwrap();
        assert_eq!(marks.all().len(), 1);
        waiting.cancel(None).await.unwrap();
        let start = Instant::now();
        while !marks.all().contains_key("cancelled") {
            assert!(start.elapsed() < PATIENCE, "the tool was not told");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The session goes on, whether or not the server answered all the same.
        client.call_tool(call("record", "after")).await.unwrap();
        timeout(PATIENCE, client.cancel()).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn prints_of_a_tool_go_to_standard_error() {
    let marks = Marks::new();
    let (client, mut stderr) = connect(&marks, ClientLifecycleMode::Initialize).await;
    for _ in 0..3 {
        let result = timeout(PATIENCE, client.call_tool(call("print", "printed"))).await.unwrap().unwrap();
        assert_eq!(text(&result), "printed");
    }
    timeout(PATIENCE, client.cancel()).await.unwrap().unwrap();
    let mut told = String::new();
    timeout(PATIENCE, stderr.read_to_string(&mut told)).await.unwrap().unwrap();
    for line in ["printed by rust\n", "printed without a line feed", "printed by a child process\n"] {
        assert_eq!(told.matches(line).count(), 3, "{told}");
    }
    assert_eq!(marks.all(), [("printed".to_owned(), 3)].into());
}

#[tokio::test]
async fn an_error_of_the_gate_is_an_error_of_the_call() {
    let marks = Marks::new();
    let mut command = tokio::process::Command::new(SERVER);
    command.arg("close_malformed").arg(&marks.0);
    let client = ().serve_with_lifecycle(TokioChildProcess::new(command).unwrap(), ClientLifecycleMode::Initialize);
    let client = timeout(PATIENCE, client).await.unwrap().unwrap();
    let mut deep = json!(1);
    for _ in 0..40 {
        deep = json!([deep]);
    }
    let mut params = call("record", "deep");
    params.arguments.as_mut().unwrap().insert("deep".to_owned(), deep);
    let Err(ServiceError::McpError(error)) = timeout(PATIENCE, client.call_tool(params)).await.unwrap() else {
        panic!("no error")
    };
    assert_eq!(error.code.0, -32600);
    client.call_tool(call("record", "after")).await.unwrap();
    timeout(PATIENCE, client.cancel()).await.unwrap().unwrap();
    assert_eq!(marks.all(), [("after".to_owned(), 1)].into());
}

// Raw lines.

/// What a server said and did.
struct Outcome {
    /// What it wrote after the handshake.
    stdout: String,
    marks: BTreeMap<String, u64>,
}

const INITIALIZE: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\
    \"capabilities\":{},\"clientInfo\":{\"name\":\"raw\",\"version\":\"1\"}}}\n";
const INITIALIZED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// Sends the bytes after a handshake, then the end of input, and waits for the server's end.
fn send(mode: &str, bytes: &[u8]) -> Outcome {
    let marks = Marks::new();
    let mut child = Command::new(SERVER)
        .arg(mode)
        .arg(&marks.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(INITIALIZE).unwrap();
    stdout.read_line(&mut String::new()).unwrap();
    stdin.write_all(INITIALIZED).unwrap();
    let reading = std::thread::spawn(move || {
        let mut rest = Vec::new();
        stdout.read_to_end(&mut rest).map(|_| rest)
    });
    // A server that has ended reads no more.
    let _ = stdin.write_all(bytes);
    drop(stdin);
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the server did not end: {}", bytes.escape_ascii());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let stdout = String::from_utf8(reading.join().unwrap().unwrap()).unwrap();
    Outcome { stdout, marks: marks.all() }
}

/// A vector.
struct Boundary {
    name: String,
    policy: String,
    stream: Vec<u8>,
    /// The marks of the lines that are accepted.
    marks: BTreeMap<String, u64>,
}

/// Those that a server with the default switches can be held to.
fn boundary() -> Vec<Boundary> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/boundary.jsonl");
    let mut all = Vec::new();
    for row in fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let options = row["options"].as_object().unwrap();
        if row.get("action").is_none() || options.keys().any(|option| option != "policy") {
            continue;
        }
        let stream = match (row.get("input"), row.get("input_b64")) {
            (Some(text), _) => text.as_str().unwrap().as_bytes().to_vec(),
            (_, Some(text)) => base64::engine::general_purpose::STANDARD.decode(text.as_str().unwrap()).unwrap(),
            _ => continue,
        };
        let mut marks = BTreeMap::new();
        for (line, event) in stream.split(|byte| *byte == b'\n').zip(row["events"].as_array().unwrap()) {
            if event.get("accept").is_some() {
                let message: Value = serde_json::from_slice(line).unwrap();
                if message["method"] == json!("tools/call") {
                    let (name, text) = (&message["params"]["name"], &message["params"]["arguments"]["text"]);
                    *marks.entry(text.as_str().or(name.as_str()).unwrap().to_owned()).or_default() += 1;
                }
            }
        }
        let policy = options.get("policy").map_or("close_malformed", |policy| policy.as_str().unwrap()).to_owned();
        all.push(Boundary { name: row["name"].as_str().unwrap().to_owned(), policy, stream, marks });
    }
    all
}

#[test]
fn of_the_boundary_vectors_only_accepted_calls_run() {
    let all = boundary();
    assert!(all.len() > 80);
    let mut ran_bare = Vec::new();
    for Boundary { name, policy, stream, marks: want } in &all {
        assert_eq!(&send(policy, stream).marks, want, "{name}");
        let marks = send("bare", stream).marks;
        if marks.iter().any(|(mark, count)| want.get(mark).is_none_or(|want| count > want)) {
            ran_bare.push(name);
        }
    }
    assert!(ran_bare.len() >= 20, "{} of {}: {ran_bare:?}", ran_bare.len(), all.len());
}

/// One spoilt call of `record` each, whose text is the row's name.
fn spoilt() -> Vec<(&'static str, Vec<u8>)> {
    let call = |name: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"{name}\",\"method\":\"tools/call\",\
             \"params\":{{\"name\":\"record\",\"arguments\":{{\"text\":\"{name}\"}}}}}}"
        )
        .into_bytes()
    };
    let swap = |name: &'static str, old: &str, new: &[u8]| {
        let valid = call(name);
        let at = valid.windows(old.len()).position(|window| window == old.as_bytes()).unwrap();
        (name, [&valid[..at], new, &valid[at + old.len()..], b"\n"].concat())
    };
    let around = |name: &'static str, before: &[u8], after: &[u8]| (name, [before, &call(name), after, b"\n"].concat());
    let argument = |name: &'static str, member: &str| {
        swap(name, "\"arguments\":{", format!("\"arguments\":{{{member},").as_bytes())
    };
    vec![
        around("space_before", b" ", b""),
        around("tab_behind", b"", b"\t"),
        around("bom", b"\xef\xbb\xbf", b""),
        around("nul_behind", b"", b"\0"),
        around("cr_before", b"\r", b""),
        around("cr_cr_lf", b"", b"\r\r"),
        around("banner_behind", b"", b" ready."),
        around("debug_prefix", b"DEBUG ", b""),
        around("batch_of_one", b"[", b"]"),
        swap("cr_as_space", ",\"params\"", b",\r\"params\""),
        swap("byte_ff", "\"arguments\":{", b"\"arguments\":{\"other\":\"\xff\","),
        swap("overlong", "\"arguments\":{", b"\"arguments\":{\"other\":\"\xc0\xaf\","),
        argument("lone_surrogate", "\"other\":\"\\ud800\""),
        argument("escaped_nul", "\"other\":\"\\u0000\""),
        argument("two_to_53", "\"other\":9007199254740992"),
        argument("huge_float", "\"other\":1e999"),
        argument("proto", "\"__proto__\":{}"),
        argument("deep", &format!("\"other\":{}{}", "[".repeat(40), "]".repeat(40))),
        argument("duplicate_argument", "\"text\":\"duplicate_argument\""),
        argument("two_cases", "\"Text\":\"two_cases\""),
        argument("trailing_comma", ""),
        argument("comment", "/* */\"a\":1"),
        argument("nan", "\"other\":NaN"),
        argument("zero_one", "\"other\":01"),
        swap("duplicate_tool", "\"name\":", b"\"name\":\"wait\",\"name\":"),
        swap("duplicate_method", "\"method\":", b"\"method\":\"ping\",\"method\":"),
        swap("duplicate_by_escape", "\"method\":", b"\"m\\u0065thod\":\"ping\",\"method\":"),
        swap("method_in_capitals", "\"method\"", b"\"Method\""),
        swap("method_by_escape", "\"method\"", b"\"m\\u0065thod\""),
        swap("jsonrpc_missing", "\"jsonrpc\":\"2.0\",", b""),
        swap("jsonrpc_1", "\"2.0\"", b"\"1.0\""),
        swap("id_null", "\"id\":\"id_null\"", b"\"id\":null"),
        swap("id_true", "\"id\":\"id_true\"", b"\"id\":true"),
        swap("id_fraction", "\"id\":\"id_fraction\"", b"\"id\":41.0"),
        swap("id_missing", "\"id\":\"id_missing\",", b""),
        swap("unknown_member", "\"method\":", b"\"extra\":1,\"method\":"),
        swap("result_too", "\"method\":", b"\"result\":{},\"method\":"),
        swap("method_unknown", "tools/call", b"tools/run"),
        swap("tool_number", "\"name\":\"record\"", b"\"name\":41"),
    ]
}

/// All rows in one session, each with a good call behind it.
fn all_spoilt() -> Vec<u8> {
    let good = |name: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"after_{name}\",\"method\":\"tools/call\",\
             \"params\":{{\"name\":\"record\",\"arguments\":{{\"text\":\"after_{name}\"}}}}}}\n"
        )
    };
    spoilt().into_iter().flat_map(|(name, line)| [line, good(name).into_bytes()].concat()).collect()
}

#[test]
fn no_spoilt_call_runs_and_every_good_one_does() {
    let outcome = send("continue", &all_spoilt());
    let want: BTreeMap<String, u64> = spoilt().iter().map(|(name, _)| (format!("after_{name}"), 1)).collect();
    assert_eq!(outcome.marks, want);
    // One answer to each good call, and errors for the others.
    let lines: Vec<Value> = outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let results: Vec<&Value> = lines.iter().filter(|line| line.get("result").is_some()).collect();
    assert_eq!(results.len(), want.len());
    assert!(results.iter().all(|line| line["id"].as_str().is_some_and(|id| want.contains_key(id))));
    let errors = lines.len() - results.len();
    assert!(errors > 30, "{errors} errors");
}

#[test]
fn bare_the_same_server_runs_some() {
    // One by one: some of them might end the session.
    let mut ran: Vec<&str> = Vec::new();
    for (name, line) in spoilt() {
        if send("bare", &line).marks.contains_key(name) {
            ran.push(name);
        }
    }
    assert!(ran.len() >= 12, "{ran:?}");
    assert!(ran.contains(&"duplicate_argument"), "{ran:?}");
}

/// The control of the test in which a client of the SDK sees none of it.
#[test]
fn bare_the_same_prints_are_on_the_wire() {
    let print = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"print\"}}\n";
    let bare = send("bare", print).stdout;
    assert!(bare.contains("printed by rust\n") && bare.contains("printed by a child process\n"), "{bare}");
    let gated = send("close_all", print).stdout;
    assert!(
        gated.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()) && !gated.contains("printed"),
        "{gated}"
    );
}
