//! The example gateway over a real pipe: every vector in a process of its own, as calls of the gateway's tools. What it does
//! outside is counted there, by a service and a machine that the test plays; what it says is compared to the number with a gate
//! and a tracker of the same options.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use linegate::{AuditKey, Batches, Direction, Event, Gate, Kind, Options, Policy, Revision, Slot, Tracker};
use linegate_host::HeapStorage;
use serde_json::{Value, json};

mod support;
#[path = "support/vectors.rs"]
#[allow(dead_code, reason = "of the vectors' driver only the reading is of use here")]
mod vectors;

use support::{build, scratch};
use vectors::{Seen, Vector};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

/// The gateway as it ships.
fn shipped() -> PathBuf {
    static BIN: OnceLock<PathBuf> = OnceLock::new();
    BIN.get_or_init(|| build(&["--package", "linegate-examples", "--bin", "gateway"], "gateway")).clone()
}

/// The gateway with another policy, which tells what it counted.
fn with_policy() -> PathBuf {
    static BIN: OnceLock<PathBuf> = OnceLock::new();
    let what = ["--package", "linegate-tests", "--example", "gateway_policy"];
    BIN.get_or_init(|| build(&what, "examples/gateway_policy")).clone()
}

/// The gateway's two tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tool {
    HttpGet,
    SshRun,
}

impl Tool {
    const ALL: [Self; 2] = [Self::HttpGet, Self::SshRun];

    const fn name(self) -> &'static str {
        match self {
            Self::HttpGet => "http_get",
            Self::SshRun => "ssh_run",
        }
    }

    /// The members of its arguments.
    fn members(self, name: &str) -> String {
        match self {
            Self::HttpGet => format!(r#""service":"store","item":"{name}""#),
            Self::SshRun => format!(r#""host":"north","unit":"{name}""#),
        }
    }

    /// A call that is right in all respects.
    fn call(self, name: &str, id: &str) -> String {
        let (tool, members) = (self.name(), self.members(name));
        format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"{tool}","arguments":{{{members}}}}}}}"#
        ) + "\n"
    }
}

/// The outside: a service that answers HTTP, and a machine that is reached by a program which stands for ssh.
struct Outside {
    config: PathBuf,
    machine: PathBuf,
    service: Arc<Mutex<Service>>,
}

#[derive(Default)]
struct Service {
    connections: usize,
    requests: BTreeMap<String, usize>,
}

impl Outside {
    /// With these beginnings of names in the gateway's rules.
    fn new(rules: &[&str]) -> Self {
        let home = scratch("outside");
        let machine = home.join("machine");
        fs::create_dir_all(machine.join("units")).unwrap();
        fs::write(machine.join("processes"), "").unwrap();
        let (token, identity) = (home.join("token"), home.join("identity"));
        fs::write(&token, "a-token\n").unwrap();
        fs::write(&identity, "an-identity\n").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let service = Arc::new(Mutex::new(Service::default()));
        let ssh = Path::new(env!("CARGO_MANIFEST_DIR")).join("rust/support/fake_ssh");
        let config = json!({
            "rules": rules,
            "gateway": {
                "services": { "store": { "address": address, "path": "/items/{}", "token_file": token } },
                "hosts": { "north": { "reach": [ssh, machine], "command": "run {}", "identity_file": identity } },
            },
        });
        let path = home.join("config.json");
        fs::write(&path, config.to_string()).unwrap();
        let counted = Arc::clone(&service);
        thread::spawn(move || {
            for stream in listener.incoming() {
                counted.lock().unwrap().connections += 1;
                if let Ok(mut stream) = stream
                    && let Some(path) = read_http(&mut stream)
                {
                    *counted.lock().unwrap().requests.entry(path.clone()).or_default() += 1;
                    let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nitem of {path}");
                }
            }
        });
        Self { config: path, machine, service }
    }

    /// How often each tool had an effect by this name.
    fn effects(&self, name: &str) -> [usize; 2] {
        let requests = self.service.lock().unwrap().requests.get(&format!("/items/{name}")).copied();
        let runs = fs::read_to_string(self.machine.join("units").join(name)).unwrap_or_default();
        assert!(runs.lines().all(|line| line == "an-identity"));
        [requests.unwrap_or_default(), runs.lines().count()]
    }

    /// Everything that ever happened: connections, requests, processes, files.
    fn totals(&self) -> [usize; 4] {
        let service = self.service.lock().unwrap();
        let processes = fs::read_to_string(self.machine.join("processes")).unwrap().lines().count();
        let files = fs::read_dir(self.machine.join("units")).unwrap().count();
        [service.connections, service.requests.values().sum(), processes, files]
    }

    /// One session, its whole input and the end; the audit file is given back beside what the process left.
    fn session(&self, program: &Path, policy: Option<&str>, input: &[u8]) -> (Output, Vec<Value>) {
        let audit = scratch("audit");
        let mut command = Command::new(program);
        command.arg(&self.config).arg(&audit).args(policy);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a gateway");
        let mut stdin = child.stdin.take().unwrap();
        let output = thread::scope(|scope| {
            // A gateway that has ended its session doesn't read the rest.
            scope.spawn(move || {
                let _ = stdin.write_all(input);
            });
            child.wait_with_output().unwrap()
        });
        let lines = fs::read_to_string(&audit).unwrap();
        fs::remove_file(&audit).unwrap();
        (output, lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }
}

/// Reads a request's head, which has the token, and gives its path.
fn read_http(stream: &mut TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(support::PATIENCE)).ok()?;
    let (mut head, mut chunk) = (Vec::new(), [0; 1024]);
    while !head.ends_with(b"\r\n\r\n") {
        let len = stream.read(&mut chunk).ok().filter(|len| *len > 0)?;
        head.extend_from_slice(&chunk[..len]);
    }
    let head = String::from_utf8(head).ok()?;
    assert!(head.contains("\r\nAuthorization: Bearer a-token\r\n"), "{head}");
    Some(head.strip_prefix("GET ")?.split_once(" HTTP/1.0\r\n")?.0.to_owned())
}

/// What the gate and the tracker say of one line.
enum Heard {
    /// Refused with this code; whether it is answered.
    Refused(u16, bool),
    /// Accepted: the message, and the place in the line of a call's arguments, or where they would be.
    Accepted { kind: Kind, value: Value, arguments: Option<Range<usize>> },
}

/// Hears a session's input as `serve` does, with the answers that its requests get. `refuses` are calls that the room refuses: a
/// policy that closes all ends the session with them.
fn walk(policy: Policy, input: &[u8], refuses: impl Fn(&Value) -> bool) -> Vec<(u64, Heard)> {
    let key = AuditKey::new(*b"a key of gateway");
    let (mut client, mut server) = (Options::new(Direction::FromClient, key), Options::new(Direction::FromServer, key));
    client.policy = policy;
    client.batches = Batches::Refuse;
    (client.revision, server.revision) = (Revision::V2025_11_25, Revision::V2025_11_25);
    let mut tracker = Tracker::new(&client, &server, vec![Slot::EMPTY; 4 * 1024]).unwrap();
    let mut gate = Gate::new(client, HeapStorage::new()).unwrap();
    let mut answers = Gate::new(server, HeapStorage::new()).unwrap();
    let (mut heard, mut rest) = (Vec::new(), input);
    while !rest.is_empty() {
        let fed = gate.feed_with(rest, &mut tracker);
        rest = &rest[fed.consumed..];
        match fed.event {
            Event::Refused(refusal) => {
                let told = Heard::Refused(refusal.code().number(), refusal.reply_due());
                heard.push((refusal.sequence(), told));
            }
            Event::Message(message) => {
                let (sequence, kind) = (message.sequence(), message.kind());
                let value: Value =
                    serde_json::from_slice(message.bytes()).expect("accepted lines are JSON to others too");
                let place = |part: &[u8]| part.as_ptr() as usize - message.bytes().as_ptr() as usize;
                let arguments =
                    message.params().and_then(|params| match (params.get("arguments"), params.get("name")) {
                        (Some(arguments), _) => {
                            let start = place(arguments.bytes());
                            Some(start..start + arguments.bytes().len())
                        }
                        (None, Some(name)) => {
                            let end = place(name.bytes()) + name.bytes().len();
                            Some(end..end)
                        }
                        (None, None) => None,
                    });
                let said = match value["method"].as_str() {
                    Some("initialize") => {
                        r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#
                    }
                    _ => r#""error":{"code":-32603,"message":"no"}"#,
                };
                let answer = message
                    .id()
                    .filter(|_| kind == Kind::Request)
                    .map(|id| [br#"{"jsonrpc":"2.0","id":"#, id, b",", said.as_bytes(), b"}\n"].concat());
                let over = policy == Policy::CloseAll && refuses(&value);
                heard.push((sequence, Heard::Accepted { kind, value, arguments }));
                if let Some(answer) = answer {
                    let event = answers.feed_with(&answer, &mut tracker).event;
                    assert!(matches!(event, Event::Message(_)), "{event:?} {}", String::from_utf8_lossy(&answer));
                }
                if over {
                    return heard;
                }
            }
            Event::Closed | Event::NeedMore => {}
            other => panic!("{other:?}"),
        }
    }
    if !gate.is_closed()
        && let Event::Refused(refusal) = gate.finish()
    {
        heard.push((refusal.sequence(), Heard::Refused(refusal.code().number(), refusal.reply_due())));
    }
    heard
}

/// What the room makes of a message that asks for a tool: the effect, or the code. None of what is no call.
fn room(value: &Value, rules: &[&str]) -> Option<Result<(Tool, String), u16>> {
    if value["method"] != "tools/call" {
        return None;
    }
    let params = &value["params"];
    let Some(tool) = Tool::ALL.into_iter().find(|tool| params["name"] == tool.name()) else { return Some(Err(501)) };
    let [place, what] = match tool {
        Tool::HttpGet => ["service", "item"],
        Tool::SshRun => ["host", "unit"],
    };
    let fits = |members: &serde_json::Map<String, Value>| {
        let (place, what) = (members.get(place)?.as_str()?, members.get(what)?.as_str()?);
        (members.len() == 2).then(|| (place.to_owned(), what.to_owned()))
    };
    let Some((place, what)) = params["arguments"].as_object().and_then(fits) else { return Some(Err(502)) };
    let plain = what.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if !plain || !rules.iter().any(|rule| what.starts_with(rule)) {
        return Some(Err(503));
    }
    assert!(place == "store" || place == "north");
    Some(Ok((tool, what)))
}

/// What a whole session must come to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    /// Codes of refusals, in order; those of the room among them.
    codes: Vec<u16>,
    effects: Vec<(Tool, String)>,
    accepted: u64,
    replies: u64,
    /// Lines that the client is sent.
    lines: usize,
}

fn expect(policy: Policy, input: &[u8], rules: &[&str]) -> Expected {
    let mut expected = Expected::default();
    for (_, heard) in walk(policy, input, |value| matches!(room(value, rules), Some(Err(_)))) {
        match heard {
            Heard::Refused(code, reply) => {
                expected.codes.push(code);
                expected.replies += u64::from(reply);
                expected.lines += usize::from(reply);
            }
            Heard::Accepted { kind, value, .. } => {
                expected.accepted += 1;
                expected.lines += usize::from(kind == Kind::Request);
                match room(&value, rules) {
                    Some(Ok(effect)) => expected.effects.push(effect),
                    Some(Err(code)) => {
                        expected.codes.push(code);
                        expected.replies += u64::from(kind == Kind::Request);
                    }
                    None => {}
                }
            }
        }
    }
    expected
}

/// The vector's stream, its calls made calls of the gateway's tool for `name`. A line that is accepted gets arguments that fit;
/// into one that is refused they are put beside what is there, so that its fault stays.
fn rewrite(vector: &Vector, policy: Policy, tool: Tool, name: &str) -> Vec<u8> {
    let Some(action) = &vector.action else { return vector.stream.clone() };
    let (asked, ours) = (format!(r#""name":"{action}""#), format!(r#""name":"{}""#, tool.name()));
    let stream = replace(&vector.stream, asked.as_bytes(), ours.as_bytes());
    let mut lines: Vec<Vec<u8>> = stream.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let before = HELLO.lines().count();
    let session = [HELLO.as_bytes(), &stream].concat();
    let mut fit = vec![None; lines.len()];
    for (sequence, heard) in walk(policy, &session, |_| false) {
        let line = usize::try_from(sequence).unwrap() - 1;
        if let Heard::Accepted { value, arguments: Some(arguments), .. } = heard
            && line >= before
            && value["method"] == "tools/call"
            && value["params"]["name"] == tool.name()
        {
            fit[line - before] = Some(arguments);
        }
    }
    for (line, fit) in lines.iter_mut().zip(fit) {
        match fit {
            Some(place) => {
                let missing = if place.is_empty() { r#","arguments":"# } else { "" };
                line.splice(place, format!("{missing}{{{}}}", tool.members(name)).into_bytes());
            }
            None if memchr::memmem::find(line, ours.as_bytes()).is_some() => {
                let (empty, opened) = (br#""arguments":{}"#, br#""arguments":{"#);
                let members = tool.members(name);
                let full = format!(r#""arguments":{{{members}}}"#);
                let begun = format!(r#""arguments":{{{members},"#);
                let marked = replace(line, empty, b"\0empty\0");
                *line = replace(&replace(&marked, opened, begun.as_bytes()), b"\0empty\0", full.as_bytes());
            }
            None => {}
        }
    }
    lines.concat()
}

fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some(at) = memchr::memmem::find(rest, from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Compares what a session left with what it must come to; gives what differs.
fn compare(expected: &Expected, output: &Output, audit: &[Value]) -> Result<(), String> {
    let mut faults = String::new();
    let mut same = |what: &str, is: &dyn std::fmt::Debug, should: &dyn std::fmt::Debug| {
        let (is, should) = (format!("{is:?}"), format!("{should:?}"));
        if is != should {
            let _ = write!(faults, "{what} {is} for {should}; ");
        }
    };
    same("success", &output.status.success(), &true);
    let of = |event: &'static str| audit.iter().filter(move |line| line["event"] == event);
    let codes: Vec<u64> = of("refused").map(|line| line["code"].as_u64().unwrap()).collect();
    same("audited refusals", &codes, &expected.codes);
    let tools = |event| of(event).map(|line| line["tool"].as_str().unwrap()).collect::<Vec<_>>();
    let wanted: Vec<_> = expected.effects.iter().map(|(tool, _)| tool.name()).collect();
    same("audited authorizations", &tools("authorized"), &wanted);
    same("audited ends", &tools("ended"), &wanted);
    same("done", &of("ended").filter(|line| line["outcome"] == "done").count(), &wanted.len());
    same("audit lines", &audit.len(), &(expected.codes.len() + 2 * wanted.len()));
    let mut gate = Gate::new(Options::new(Direction::FromServer, AuditKey::new([3; 16])), HeapStorage::new()).unwrap();
    let lines: Vec<_> = output.stdout.split_inclusive(|byte| *byte == b'\n').collect();
    for line in &lines {
        let event = gate.feed(line).event;
        same("stdout is messages", &matches!(event, Event::Message(_)), &true);
    }
    same("lines on stdout", &lines.len(), &expected.lines);
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// The same for the gateway that tells its counters.
fn compare_counts(expected: &Expected, output: &Output) -> Result<(), String> {
    let told: Value = serde_json::from_slice(&output.stderr)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let wanted = json!({
        "accepted": expected.accepted,
        "refused": expected.codes.len(),
        "refused_actions": expected.codes.iter().filter(|code| **code / 100 == 5).count(),
        "replies": expected.replies,
        "sent": expected.lines,
        "withheld": told["withheld"],
        "executed": expected.effects.len(),
        "failed": 0,
        "lost": 0,
    });
    if told == wanted { Ok(()) } else { Err(format!("counted {told} for {wanted}; ")) }
}

/// What the vectors came to, for the figures at the end.
#[derive(Default)]
struct Tally {
    sessions: AtomicUsize,
    refused: AtomicUsize,
    accepted_calls: AtomicUsize,
    same_code: AtomicUsize,
}

const RULES: [&str; 2] = ["all-", "continue-"];

/// One vector: alone and with a valid call behind it, under the policy that ships, and under `continue`.
fn prove(outside: &Outside, place: usize, vector: &Vector, tally: &Tally) -> Result<[usize; 2], String> {
    let tool = Tool::ALL[place % 2];
    let mut happened = [0; 2];
    let mut run = |program: &Path, policy: Option<&str>, expected: &Expected, input: &[u8], names: [&str; 2]| {
        tally.sessions.fetch_add(1, Ordering::Relaxed);
        let before = names.map(|name| outside.effects(name));
        let (output, audit) = outside.session(program, policy, input);
        compare(expected, &output, &audit)?;
        if policy.is_some() {
            compare_counts(expected, &output)?;
        }
        for (name, before) in names.iter().zip(before) {
            let after = outside.effects(name);
            for (kind, tool) in Tool::ALL.into_iter().enumerate() {
                let wanted = expected.effects.iter().filter(|effect| effect.0 == tool && effect.1 == *name).count();
                let seen = after[kind] - before[kind];
                happened[kind] += seen;
                if seen != wanted {
                    return Err(format!("{} happened {seen} times for {name}, not {wanted}", tool.name()));
                }
            }
        }
        Ok(())
    };

    let (name, second) = (format!("all-{place}"), format!("all-{place}-second"));
    let stream = rewrite(vector, Policy::CloseAll, tool, &name);
    let alone = [HELLO.as_bytes(), &stream].concat();
    let expected = expect(Policy::CloseAll, &alone, &RULES);
    let is_refused = !expected.codes.is_empty();
    let own = vector.events.iter().find_map(|event| match event {
        Seen::Refuse { code, .. } => Some(*code),
        _ => None,
    });
    if asks_as_the_gateway_does(vector) {
        // A line of it that passes its gate may be refused by the session or by the room.
        let first = expected.codes.first().copied();
        if first != own && (own.is_some() || first.is_none_or(|code| code < 450)) {
            return Err(format!("refused with {first:?}, the vector with {own:?}"));
        }
        tally.same_code.fetch_add(1, Ordering::Relaxed);
    }
    if is_refused && !expected.effects.iter().all(|effect| effect.1 == name) {
        return Err("an effect of another name".to_owned());
    }
    run(&shipped(), None, &expected, &alone, [&name, &second])?;
    if !is_refused {
        tally.accepted_calls.fetch_add(expected.effects.len(), Ordering::Relaxed);
        return Ok(happened);
    }
    tally.refused.fetch_add(1, Ordering::Relaxed);
    if stream.ends_with(b"\n") {
        let input = [&alone, tool.call(&second, "second").as_bytes()].concat();
        // The call behind a refusal changes nothing at all.
        run(&shipped(), None, &expected, &input, [&name, &second])?;
    }

    let (name, second) = (format!("continue-{place}"), format!("continue-{place}-second"));
    let stream = rewrite(vector, Policy::Continue, tool, &name);
    let end: &[u8] = if stream.ends_with(b"\n") { b"" } else { b"\n" };
    let input = [HELLO.as_bytes(), &stream, end, tool.call(&second, "second").as_bytes()].concat();
    let expected = expect(Policy::Continue, &input, &RULES);
    if expected.effects.iter().filter(|effect| effect.1 == second).count() != 1 {
        return Err("under continue the call behind the refusal isn't expected once".to_owned());
    }
    run(&with_policy(), Some("continue"), &expected, &input, [&name, &second])?;
    Ok(happened)
}

/// Whether the vector's gate differs from the gateway's in nothing that could change its first refusal: of the same revision, or
/// refused for what no revision decides, as it does which names can be misspelt (313).
fn asks_as_the_gateway_does(vector: &Vector) -> bool {
    let ours = Options::new(Direction::FromClient, AuditKey::new([0; 16]));
    let theirs = &vector.options;
    let same = theirs.direction == ours.direction
        && theirs.allowed == ours.allowed
        && theirs.limits == ours.limits
        && theirs.versions == ours.versions
        && theirs.methods.is_empty()
        && theirs.batches != Batches::Allow;
    let settled = theirs.revision == Revision::V2025_11_25;
    let first = vector.codes.first().is_some_and(|code| *code < 400 && *code != 313);
    same && (settled || first && theirs.revision == Revision::AUTO)
}

/// The client's half of the transcripts.
fn transcripts() -> Vec<Vector> {
    let text = fs::read_to_string(vectors::folder().join("session.jsonl")).unwrap();
    let rows = text.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let vector = |row: Value| {
        let steps = row["steps"].as_array().unwrap().iter().filter(|step| step["from"] == "client");
        let lines: String = steps.map(|step| step["line"].as_str().unwrap().to_owned() + "\n").collect();
        let mut options = Options::new(Direction::FromClient, AuditKey::new([0; 16]));
        // Half of a session isn't that session: its codes aren't compared.
        options.methods = &["half"];
        Vector {
            name: row["name"].as_str().unwrap().to_owned(),
            options,
            stream: lines.into_bytes(),
            events: Vec::new(),
            codes: Vec::new(),
            reply_ids: None,
            reply_data: None,
            counters: Value::Null,
            differs: None,
            action: None,
        }
    };
    rows.map(vector).collect()
}

/// Every vector in processes of its own. Refused: nothing happens outside, then or afterwards, and under `continue` what comes
/// behind it happens once. Accepted: its call happens once.
#[test]
fn every_vector_over_a_pipe() {
    let (outside, tally, next) = (Outside::new(&RULES), Tally::default(), AtomicUsize::new(0));
    let all: Vec<Vector> = vectors::all().into_iter().chain(transcripts()).collect();
    shipped();
    with_policy();
    let begin = Instant::now();
    let faults = Mutex::new(Vec::new());
    let happened = Mutex::new([0; 2]);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(vector) = all.get(place) else { break };
                    match prove(&outside, place, vector, &tally) {
                        Ok(seen) => {
                            let mut happened = happened.lock().unwrap();
                            happened.iter_mut().zip(seen).for_each(|(sum, seen)| *sum += seen);
                        }
                        Err(fault) => faults.lock().unwrap().push(format!("{}: {fault}", vector.name)),
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
    // Whatever it was called: nothing happened that wasn't told above.
    let [http, ssh] = happened.into_inner().unwrap();
    let [connections, requests, processes, files] = outside.totals();
    assert_eq!([connections, requests, processes], [http, http, ssh]);
    assert!(0 < files && files <= processes);
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    println!(
        "{} vectors, {} of them refused, {} calls of accepted ones, {} codes compared; {} sessions, {http} requests, {ssh} \
         processes of ssh in {:.1} s",
        all.len(),
        count(&tally.refused),
        count(&tally.accepted_calls),
        count(&tally.same_code),
        count(&tally.sessions),
        begin.elapsed().as_secs_f64(),
    );
    assert!(count(&tally.refused) > 2000 && count(&tally.accepted_calls) > 100 && count(&tally.same_code) > 800);
}

/// Each answer beyond the handshake's: its id, its error's code, and what a reader is told.
fn answers(output: &Output) -> Vec<(Value, Option<i64>, String)> {
    let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
    let answers =
        lines.map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|answer| answer["id"] != "hello");
    answers
        .map(|answer| {
            let text = match &answer["result"] {
                Value::Null => &answer["error"]["message"],
                result => {
                    assert_eq!(result["isError"], true);
                    &result["content"][0]["text"]
                }
            };
            (answer["id"].clone(), answer["error"]["code"].as_i64(), text.as_str().unwrap().to_owned())
        })
        .collect()
}

/// What the room refuses is answered, ends the session that shall end with any refusal, and has no effect; nor has what comes
/// behind it. Where the session goes on each of them is refused alone.
#[test]
fn refused_by_the_room() {
    let outside = Outside::new(&["ok-"]);
    let call = |tool: &str, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ) + "\n"
    };
    let cases = [
        (501, call("rm", r#"{"service":"store","item":"ok-1"}"#)),
        (501, call("HTTP_GET", r#"{"service":"store","item":"ok-1"}"#)),
        (501, call("http_get ", r#"{"service":"store","item":"ok-1"}"#)),
        (502, call("http_get", "{}")),
        (502, call("http_get", r#"{"service":"store"}"#)),
        (502, call("http_get", r#"{"service":"store","item":7}"#)),
        (502, call("http_get", r#"{"service":"store","item":["ok-1"]}"#)),
        (502, call("http_get", r#"{"service":"store","item":"ok-1","verbose":true}"#)),
        (502, call("ssh_run", r#"{"service":"store","item":"ok-1"}"#)),
        (502, call("http_get", r#"{"host":"north","unit":"ok-1"}"#)),
        (
            502,
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"ssh_run\"}}\n".to_owned(),
        ),
        (503, call("http_get", r#"{"service":"store","item":"other-1"}"#)),
        (503, call("http_get", r#"{"service":"store","item":"ok-1/../secret"}"#)),
        (503, call("http_get", r#"{"service":"store","item":"ok-1 HTTP/1.0"}"#)),
        (503, call("ssh_run", r#"{"host":"north","unit":"ok-1; reboot"}"#)),
        (503, call("ssh_run", r#"{"host":"north","unit":"ok-$(reboot)"}"#)),
        (503, call("ssh_run", r#"{"host":"north","unit":""}"#)),
    ];
    for (code, line) in &cases {
        let input = [HELLO, line, &Tool::HttpGet.call("ok-after", "after")].concat();
        let (output, audit) = outside.session(&shipped(), None, input.as_bytes());
        let expected = Expected { codes: vec![*code], accepted: 3, replies: 1, lines: 2, effects: Vec::new() };
        assert_eq!(compare(&expected, &output, &audit), Ok(()), "{line}");
        // Arguments that don't fit are told to the model, which may ask again, as MCP wants it: as a tool's result.
        let (rpc_code, text) = match code {
            501 => (Some(-32602), "There is no tool of this name here."),
            502 => (None, "The arguments don't fit the tool's schema."),
            _ => (Some(-32602), "The call is not allowed here; nothing was done."),
        };
        let answers = answers(&output);
        let [(id, told, said)] = answers.as_slice() else { panic!("{answers:?}") };
        assert_eq!((id, *told), (&json!(5), rpc_code));
        assert!(said.starts_with(text), "{said}");
        // Whose name may be touched is the host's own business.
        assert!(!said.contains("ok-") && !said.contains("word"), "{said}");
        assert_eq!(outside.totals(), [0; 4], "{line}");
    }
    // All of them in one session that goes on, and a call that is allowed behind each.
    let mut input = HELLO.to_owned();
    for (place, (_, line)) in cases.iter().enumerate() {
        input += line;
        input += &Tool::ALL[place % 2].call(&format!("ok-{place}"), &format!("after-{place}"));
    }
    let (output, audit) = outside.session(&with_policy(), Some("continue"), input.as_bytes());
    let expected = expect(Policy::Continue, input.as_bytes(), &["ok-"]);
    assert_eq!(expected.codes, cases.iter().map(|(code, _)| *code).collect::<Vec<_>>());
    assert_eq!(expected.effects.len(), cases.len());
    assert_eq!(compare(&expected, &output, &audit), Ok(()));
    assert_eq!(compare_counts(&expected, &output), Ok(()));
    assert_eq!(outside.totals(), [9, 9, 8, 8]);
}

/// What is executed and fails is no refusal: it is answered as a tool's error, and the session goes on.
#[test]
fn failed_actions_are_executions() {
    let outside = Outside::new(&["ok-"]);
    let line = Tool::HttpGet.call("ok-1", "missing").replace("store", "nowhere");
    let input = [HELLO, &line, &Tool::SshRun.call("ok-2", "after")].concat();
    let (output, audit) = outside.session(&shipped(), None, input.as_bytes());
    let outcomes: Vec<_> = audit.iter().filter_map(|line| line["outcome"].as_str()).collect();
    assert_eq!((outcomes, audit.len()), (vec!["failed", "done"], 4));
    let lines: Vec<Value> =
        output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(lines[1]["result"]["isError"], true);
    assert_eq!(lines[1]["result"]["content"][0]["text"], "there is no such service");
    assert_eq!(lines[2]["result"]["content"][0]["text"], "ran ok-2\n");
    assert_eq!(outside.totals(), [0, 0, 1, 1]);
    let (output, _) = outside.session(&with_policy(), Some("close_all"), input.as_bytes());
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((&told["executed"], &told["failed"], &told["refused"]), (&json!(2), &json!(1), &json!(0)));
}

/// An audit file that can't be written ends nothing and changes nothing.
#[test]
fn an_audit_on_a_full_disk() {
    let outside = Outside::new(&["ok-"]);
    let input = [HELLO, "{}\n", &Tool::HttpGet.call("ok-1", "a"), &Tool::SshRun.call("no-1", "b")].concat();
    let mut command = Command::new(with_policy());
    command.arg(&outside.config).args(["/dev/full", "continue"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let expected = expect(Policy::Continue, input.as_bytes(), &["ok-"]);
    assert_eq!((expected.codes.as_slice(), expected.effects.len()), (&[303, 503][..], 1));
    assert_eq!(output.stdout.split_inclusive(|byte| *byte == b'\n').count(), expected.lines);
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    // Two refusals, an authorization and its end.
    assert_eq!(told["lost"], 4);
    assert_eq!((&told["executed"], &told["refused"], &told["replies"]), (&json!(1), &json!(2), &json!(2)));
    assert_eq!(outside.totals(), [1, 1, 0, 0]);
}

/// An audit that nobody reads holds the gateway up before anything is answered or done; once it is read all goes on.
#[test]
fn an_audit_that_blocks() {
    let outside = Outside::new(&["ok-"]);
    let fifo = scratch("audit-fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let input = [HELLO, &Tool::HttpGet.call("ok-1", "a")].concat();
    let mut command = Command::new(shipped());
    command.arg(&outside.config).arg(&fifo);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (said, heard) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        while let Ok(len @ 1..) = stdout.read(&mut chunk) {
            bytes.extend_from_slice(&chunk[..len]);
            said.send(bytes.clone()).unwrap();
        }
    });
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let waited = heard.recv_timeout(Duration::from_millis(300));
    assert_eq!(waited, Err(std::sync::mpsc::RecvTimeoutError::Timeout));
    assert_eq!(outside.totals(), [0; 4]);
    let lines = fs::read_to_string(&fifo).unwrap();
    assert_eq!(lines.lines().count(), 2);
    assert!(child.wait().unwrap().success());
    let last = heard.iter().last().unwrap();
    assert_eq!(last.iter().filter(|byte| **byte == b'\n').count(), 2);
    assert_eq!(outside.totals(), [1, 1, 0, 0]);
}
