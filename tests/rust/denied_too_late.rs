//! A story that gateways tell: the client reads "denied" while the service has seen traffic. First the program that does it, then
//! the nearest one that can be written with linegate: its own order does not compile (`compile-fail/denied_too_late.rs`).

use std::io::{self, Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use linegate::action::testing::Ledger;
use linegate::action::{
    Action, Actions, Authorize, Authorized, Denial, Entry, Execute, Misfit, Origin, RawArguments, Target, Text,
};
use linegate::{AuditKey, Direction, Event, Gate, Options, Policy};
use linegate_host::{HeapStorage, Session};
use serde::Deserialize;
use serde_json::{Value, json};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
"#;

/// Nobody may read this item.
const SECRET: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{"item":"secret"}}}
"#;

const PUBLIC: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fetch","arguments":{"item":"public"}}}
"#;

/// A service that is busy the first two times that it is asked, and counts connections.
struct Service {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Service {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, connections) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&connections);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let status = if counted.fetch_add(1, Ordering::SeqCst) < 2 { "503 Busy" } else { "200 OK" };
                stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                let (mut head, mut chunk) = (Vec::new(), [0; 1024]);
                while !head.ends_with(b"\r\n\r\n") {
                    match stream.read(&mut chunk) {
                        Ok(len @ 1..) => head.extend_from_slice(&chunk[..len]),
                        _ => break,
                    }
                }
                let _ = write!(stream, "HTTP/1.0 {status}\r\n\r\nthe item");
            }
        });
        Self { address, connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Asks until it is answered, four times at most. Helpers are like this; who calls one doesn't see it.
fn get(address: SocketAddr, path: &str) -> Result<String, &'static str> {
    for _ in 0..4 {
        let Ok(mut stream) = TcpStream::connect(address) else { continue };
        if write!(stream, "GET {path} HTTP/1.0\r\n\r\n").is_err() {
            continue;
        }
        match io::read_to_string(stream) {
            Ok(response) if response.starts_with("HTTP/1.0 200") => return Ok(response),
            _ => {}
        }
    }
    Err("the service is busy")
}

fn may_be_read(item: &str) -> bool {
    item == "public"
}

/// The handler as it is easily written, here without its loop. Its stdout is its protocol.
fn naive(line: &str, service: SocketAddr, stdout: &mut impl Write) {
    let message: Value = serde_json::from_str(line).unwrap();
    let (id, arguments) = (&message["id"], &message["params"]["arguments"]);
    let Some(item) = arguments["item"].as_str() else { return };
    let path = format!("/items/{item}");
    writeln!(stdout, "fetching http://{service}{path}").unwrap();
    let fetched = get(service, &path);
    let answer = match fetched {
        _ if !may_be_read(item) => json!({ "error": { "code": -32602, "message": "denied" } }),
        Ok(text) => json!({ "result": { "content": [{ "type": "text", "text": text }] } }),
        Err(error) => json!({ "error": { "code": -32603, "message": error } }),
    };
    let mut line = json!({ "jsonrpc": "2.0", "id": id });
    line.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
    writeln!(stdout, "{line}").unwrap();
}

/// The client is told "denied". The service was asked three times, and a client's reader chokes on the line before the answer.
#[test]
fn the_naive_handler_denies_what_it_has_done() {
    let (service, mut stdout) = (Service::start(), Vec::new());
    naive(SECRET, service.address, &mut stdout);
    let stdout = String::from_utf8(stdout).unwrap();
    let [dirt, answer] = stdout.lines().collect::<Vec<_>>()[..] else { panic!("{stdout}") };
    assert_eq!(serde_json::from_str::<Value>(answer).unwrap()["error"]["message"], "denied");
    assert_eq!(service.connections(), 3);
    let mut gate = Gate::new(Options::new(Direction::FromServer, AuditKey::new([1; 16])), HeapStorage::new()).unwrap();
    let dirt = format!("{dirt}\n");
    let Event::Refused(refusal) = gate.feed(dirt.as_bytes()).event else { panic!("{dirt}") };
    assert_eq!(refusal.code().number(), 202);
}

/// The nearest program to it that compiles; its own order does not: `compile-fail/denied_too_late.rs`.
struct Fetch;
#[derive(Deserialize)]
struct Item<'a> {
    item: &'a str,
}
impl Action for Fetch {
    const TARGET: Target<'static> = Target::Tool("fetch");
    type Arguments<'a> = Item<'a>;
    fn read(arguments: RawArguments<'_>) -> Result<Item<'_>, Misfit<'_>> {
        arguments.typed()
    }
}

struct Rules;
impl Authorize<Fetch> for Rules {
    fn authorize(&self, _: &Origin<'_>, asked: &Item<'_>) -> Result<(), Denial> {
        if may_be_read(asked.item) { Ok(()) } else { Err(Denial::because("nobody may read it")) }
    }
}

/// The same helper, the same path. It has no stdout of the protocol to write to.
struct Client(SocketAddr);
impl Execute<Fetch> for Client {
    type Output = Text<String>;
    type Error = &'static str;
    fn execute(&mut self, action: Authorized<'_, Fetch>) -> Result<Text<String>, &'static str> {
        let Item { item } = action.open();
        get(self.0, &format!("/items/{item}")).map(Text)
    }
}

/// Denied is denied: no connection, nothing on stdout but the answer. What is allowed is done as before, retries and all.
#[test]
fn the_nearest_program_that_compiles() {
    const TOOLS: &[Entry<Rules, Client>] = &[Entry::of::<Fetch>()];
    for (policy, allowed) in [(Policy::CloseAll, false), (Policy::Continue, true)] {
        let (service, mut stdout) = (Service::start(), Vec::new());
        let mut options = Options::new(Direction::FromClient, AuditKey::new([2; 16]));
        options.policy = policy;
        let mut actions = Actions::new(TOOLS, Rules, Client(service.address), Ledger::default()).unwrap();
        let about = json!({ "name": "s", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": about });
        let input = [HELLO, SECRET, PUBLIC].concat();
        let served = Session::of(options).serve(&mut actions, |_| Some(&hello), input.as_bytes(), &mut stdout).unwrap();

        let stdout = String::from_utf8(stdout).unwrap();
        let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let error = json!({ "code": -32602, "message": "The call is not allowed here; nothing was done." });
        assert_eq!(lines[1], json!({ "jsonrpc": "2.0", "id": 1, "error": error }));
        assert_eq!(lines.len(), 2 + usize::from(allowed));
        let refused: Vec<_> = actions.audit().refused.iter().map(|record| record.code.number()).collect();
        assert_eq!((refused, served.client.refused_total()), (vec![503], 1));
        assert_eq!(actions.journal().executed(), u64::from(allowed));
        assert_eq!(service.connections(), if allowed { 3 } else { 0 });
    }
}
