//! The order, proved where it can be counted: an executor that looks a name up, fills a template, reads a credential, opens a
//! connection, starts a process and writes a file, each through an instrument. Whatever is refused, at whichever stage, leaves
//! every instrument and the world at zero; what is accepted moves each by one.
#![cfg(unix)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::convert::Infallible;
use std::fs;
use std::marker::PhantomData;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;

use linegate::action::testing::{Allow, Ledger, Recorder, Sent};
use linegate::action::{
    Action, Actions, Authorize, Authorized, Denial, Entry, Execute, Misfit, Origin, Outcome, RawArguments, Target, Text,
};
use linegate::{
    AuditKey, Code, Counters, Direction, Event, Gate, Kind, Options, Policy, Slot, Stage, Switch, Switches, Tracker,
};
use linegate_host::HeapStorage;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;

mod support;
#[path = "support/vectors.rs"]
#[allow(dead_code, reason = "of the vectors' driver only the reading is of use here")]
mod vectors;

use support::scratch;
use vectors::all;

/// An action whose arguments are a `T`.
struct Takes<T>(PhantomData<T>);

impl<T: DeserializeOwned> Action for Takes<T> {
    const TARGET: Target<'static> = Target::Tool("takes");
    type Arguments<'a> = T;
    fn read(arguments: RawArguments<'_>) -> Result<T, Misfit<'_>> {
        arguments.typed()
    }
}

/// Arguments that may be anything, keys that are no text among them.
type Anything = IgnoredAny;

/// What an effect needs, each a count of its uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    names: usize,
    templates: usize,
    credentials: usize,
    connections: usize,
    processes: usize,
    files: usize,
}

impl Uses {
    const fn each(n: usize) -> Self {
        Self { names: n, templates: n, credentials: n, connections: n, processes: n, files: n }
    }
}

/// Instruments that count what goes through them. What they touch is in the home directory and on the loopback.
#[derive(Debug)]
struct Instruments {
    home: PathBuf,
    listener: TcpListener,
    address: SocketAddr,
    /// Connections that the listener has taken.
    taken: usize,
    uses: Uses,
}

impl Instruments {
    fn new() -> Self {
        let home = scratch("instruments");
        fs::create_dir_all(home.join("files")).unwrap();
        fs::write(home.join("token"), "a-token").unwrap();
        fs::write(home.join("processes"), "").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { home, listener, address, taken: 0, uses: Uses::default() }
    }

    fn look_up(&mut self, name: &str) -> SocketAddr {
        self.uses.names += 1;
        (name, self.address.port()).to_socket_addrs().unwrap().find(SocketAddr::is_ipv4).unwrap()
    }

    fn fill(&mut self, template: &str, with: &str) -> String {
        self.uses.templates += 1;
        template.replace("{}", with)
    }

    fn credential(&mut self) -> String {
        self.uses.credentials += 1;
        fs::read_to_string(self.home.join("token")).unwrap()
    }

    fn connect(&mut self, to: SocketAddr) {
        self.uses.connections += 1;
        drop(TcpStream::connect(to).unwrap());
        self.take();
    }

    /// The listener's side: whoever has connected.
    fn take(&mut self) {
        while self.listener.accept().is_ok() {
            self.taken += 1;
        }
    }

    fn run(&mut self, script: &str) {
        self.uses.processes += 1;
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(&self.home).stdin(Stdio::null());
        assert!(command.status().unwrap().success());
    }

    fn write(&mut self, name: &str, content: &str) {
        self.uses.files += 1;
        fs::write(self.home.join("files").join(name), content).unwrap();
    }

    /// What the world has seen since this was asked last: connections, processes, files.
    fn seen(&mut self) -> [usize; 3] {
        self.take();
        let connections = std::mem::take(&mut self.taken);
        let processes = fs::read(self.home.join("processes")).unwrap().len();
        fs::write(self.home.join("processes"), "").unwrap();
        let files: Vec<_> = fs::read_dir(self.home.join("files")).unwrap().map(|file| file.unwrap().path()).collect();
        files.iter().for_each(|file| fs::remove_file(file).unwrap());
        [connections, processes, files.len()]
    }
}

/// The instruments as an executor, shared by many tables.
#[derive(Clone)]
struct Hands(Rc<RefCell<Instruments>>);

impl Hands {
    fn new() -> Self {
        Self(Rc::new(RefCell::new(Instruments::new())))
    }

    /// The uses since this was asked last, which are also what the world has seen.
    fn uses(&self) -> Uses {
        let uses = std::mem::take(&mut self.0.borrow_mut().uses);
        assert_eq!(self.0.borrow_mut().seen(), [uses.connections, uses.processes, uses.files]);
        uses
    }
}

impl<T: DeserializeOwned> Execute<Takes<T>> for Hands {
    type Output = Text<&'static str>;
    type Error = Infallible;
    fn execute(&mut self, action: Authorized<'_, Takes<T>>) -> Result<Self::Output, Infallible> {
        let _: T = action.open();
        let mut tools = self.0.borrow_mut();
        let address = tools.look_up("localhost");
        let number = tools.uses.files.to_string();
        let name = tools.fill("file-{}", &number);
        let token = tools.credential();
        tools.connect(address);
        tools.run("printf x >> processes");
        tools.write(&name, &token);
        Ok(Text("done"))
    }
}

/// Denies one target, by what the origin says.
struct Denies(Option<Target<'static>>);

impl<A: Action> Authorize<A> for Denies {
    fn authorize(&self, origin: &Origin<'_>, _: &A::Arguments<'_>) -> Result<(), Denial> {
        if self.0 == origin.target() { Err(Denial::because("it is the one")) } else { Ok(()) }
    }
}

/// What a stream came to. The gate's counters, its end, and the journal and executor of the room know nothing of each other.
struct Ran<Z: 'static, X: 'static> {
    counters: Counters,
    is_closed: bool,
    actions: Actions<Z, X, Ledger>,
    answers: usize,
}

impl<Z, X> Ran<Z, X> {
    fn codes(&self) -> Vec<u16> {
        self.actions.audit().refused.iter().map(|record| record.code.number()).collect()
    }
}

/// Runs a stream through a gate with these options, and a table.
fn run<Z, X>(
    options: &Options,
    policy: Policy,
    stream: &[u8],
    table: Vec<Entry<Z, X>>,
    (authorizer, executor, granted): (Z, X, Switches),
) -> Ran<Z, X> {
    let mut options = options.clone();
    options.policy = policy;
    let mut gate = Gate::new(options, HeapStorage::new()).unwrap();
    let actions = Actions::new(table.leak(), authorizer, executor, Ledger::default());
    let mut actions = actions.unwrap().with_granted(granted);
    let (mut room, mut out, mut sent) = (vec![0; stream.len()], vec![0; 2048], Sent::default());
    let mut rest = stream;
    while !rest.is_empty() {
        let fed = gate.feed(rest);
        rest = &rest[fed.consumed..];
        match fed.event {
            Event::Message(message) => {
                let _ = actions.handle(message, &mut room, &mut out, &mut sent);
            }
            Event::Refused(refusal) => actions.refused(&refusal),
            _ => {}
        }
    }
    if !gate.is_closed()
        && let Event::Refused(refusal) = gate.finish()
    {
        actions.refused(&refusal);
    }
    Ran { counters: *gate.counters(), is_closed: gate.is_closed(), actions, answers: sent.lines.len() }
}

/// A message that asks for something, as the gate passed it.
#[derive(Clone)]
struct Ask {
    line: Vec<u8>,
    target: Target<'static>,
    loosened: Switches,
}

/// Everything that a stream asks for under a policy. Tools are read by another reader than the gate's, where it can.
fn asked(options: &Options, policy: Policy, stream: &[u8]) -> Vec<Ask> {
    let mut options = options.clone();
    options.policy = policy;
    let is_mcp = options.revision.is_mcp();
    let mut gate = Gate::new(options, HeapStorage::new()).unwrap();
    let (mut asks, mut rest) = (Vec::new(), stream);
    while !rest.is_empty() {
        let fed = gate.feed(rest);
        rest = &rest[fed.consumed..];
        let Event::Message(message) = fed.event else { continue };
        let Some(method) = message.method() else { continue };
        // Half of a surrogate pair somewhere in the line is more than that reader takes.
        let tool = || match serde_json::from_slice::<Value>(message.bytes()) {
            Ok(value) => value["params"]["name"].as_str().unwrap().to_owned(),
            Err(_) => message.params().unwrap().get("name").unwrap().as_str().unwrap().to_owned(),
        };
        let target = match method {
            "tools/call" if is_mcp => Target::Tool(tool().leak()),
            _ => Target::Method(method.to_owned().leak()),
        };
        let line = [message.bytes(), b"\n"].concat();
        asks.push(Ask { line, target, loosened: message.loosened() });
    }
    asks
}

/// A table with a row for each of these, taking any arguments. `tools/call` of plain JSON-RPC can be no row.
fn rows<Z, X>(targets: impl IntoIterator<Item = Target<'static>>) -> Vec<Entry<Z, X>>
where
    Z: Authorize<Takes<Anything>>,
    X: Execute<Takes<Anything>>,
{
    let unique: HashSet<Target<'static>> = targets.into_iter().filter(is_a_row).collect();
    unique.into_iter().map(Entry::named::<Takes<Anything>>).collect()
}

fn is_a_row(target: &Target<'static>) -> bool {
    *target != Target::Method("tools/call")
}

/// A valid message behind the others that a gate with these options takes, whatever its direction and revision; none where its
/// bounds are too narrow for any.
fn second(options: &Options) -> Option<Ask> {
    let meta =
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let lines = [
        r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"second","arguments":{}}}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"name":"second","_meta":{meta}}}}}"#),
        r#"{"jsonrpc":"2.0","id":9,"method":"second"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"second"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
    ];
    let lines = lines.into_iter().map(|line| (line + "\n").into_bytes());
    lines.flat_map(|line| asked(options, Policy::Continue, &line)).find(|ask| is_a_row(&ask.target))
}

fn all_switches() -> Switches {
    Switch::ALL.iter().fold(Switches::NONE, |all, switch| all.with(*switch))
}

fn ended(stream: &[u8]) -> Vec<u8> {
    let end: &[u8] = if stream.is_empty() || stream.ends_with(b"\n") { b"" } else { b"\n" };
    [stream, end].concat()
}

/// Every vector that is refused anywhere, with a valid message behind it, everything that its lines could ask for a row of the
/// table: what was accepted before the refusal was done, and nothing else.
#[test]
fn refused_vectors_touch_nothing() {
    let hands = Hands::new();
    let (mut codes, mut zero, mut narrow) = (BTreeMap::<u16, usize>::new(), 0, 0);
    for vector in all() {
        let (options, name) = (&vector.options, &vector.name);
        let Some(second) = second(options) else {
            narrow += 1;
            continue;
        };
        let targets = |asks: &[Ask]| asks.iter().map(|ask| ask.target).chain([second.target]).collect::<Vec<_>>();
        let done = |asks: &[Ask]| asks.iter().filter(|ask| is_a_row(&ask.target)).count();

        // A stream that is cut off is a refusal at its end, with nothing behind it.
        let is_cut = !vector.stream.ends_with(b"\n");
        let stream = if is_cut { vector.stream.clone() } else { [&*vector.stream, &second.line].concat() };
        let asks = asked(options, Policy::CloseAll, &stream);
        let table = rows(targets(&asks));
        let ran = run(options, Policy::CloseAll, &stream, table, (Allow, hands.clone(), all_switches()));
        let [code] = ran.codes()[..] else {
            assert!(ran.codes().is_empty(), "{name}");
            assert_eq!(hands.uses(), Uses::each(done(&asks)), "{name}");
            continue;
        };
        *codes.entry(code).or_default() += 1;
        zero += usize::from(done(&asks) == 0);
        assert_eq!(ran.counters.refused_total(), 1, "{name}");
        assert!(ran.is_closed, "{name}");
        assert_eq!(ran.actions.journal().executed(), done(&asks) as u64, "{name}");
        assert_eq!(hands.uses(), Uses::each(done(&asks)), "{name}");
        let table = rows(targets(&asks));
        let ran = run(options, Policy::CloseAll, &stream, table, (Allow, Recorder::default(), all_switches()));
        assert_eq!(ran.actions.executor().calls.len(), done(&asks), "{name}");

        let stream = ended(&vector.stream);
        let asks = asked(options, Policy::Continue, &stream);
        let (table, both) = (rows(targets(&asks)), [stream, second.line.clone()].concat());
        let ran = run(options, Policy::Continue, &both, table, (Allow, hands.clone(), all_switches()));
        assert_eq!(ran.actions.journal().executed(), done(&asks) as u64 + 1, "{name}");
        assert_eq!(hands.uses(), Uses::each(done(&asks) + 1), "{name}");
        assert_eq!(ran.actions.audit().authorized.len(), done(&asks) + 1, "{name}");
    }
    let refused: usize = codes.values().sum();
    println!("{refused} refused, {zero} of them before anything was accepted, {narrow} without room: {codes:?}");
    assert!(zero > 2000 && narrow < 60);
    // Each code that a gate without a tracker gives.
    for code in Code::ALL.iter().copied().filter(|code| code.number() < 450) {
        assert!(codes.contains_key(&code.number()), "{code} refuses no vector");
    }
}

/// The same in sessions: every transcript, all that its client asks for a row of the table. What the tracker refuses (451 to
/// 459) is as far from an effect as the rest.
#[test]
fn refused_in_a_session() {
    let (hands, mut codes) = (Hands::new(), BTreeSet::new());
    let text = fs::read_to_string(vectors::folder().join("session.jsonl")).unwrap();
    for row in text.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()) {
        for policy in [Policy::CloseAll, Policy::Continue] {
            let options = ["client", "server"].map(|from| {
                let mut row = row["options"].clone();
                row["from"] = from.into();
                let mut options = vectors::options(&row);
                options.policy = policy;
                options
            });
            let tracks = row["options"]["track"] == true && options[0].revision.is_mcp();
            let max_ids = row["options"].get("max_ids").map_or(1024, |n| n.as_u64().unwrap());
            let slots = vec![Slot::EMPTY; 4 * usize::try_from(max_ids).unwrap()];
            let mut tracker = tracks.then(|| Tracker::new(&options[0], &options[1], slots).unwrap());
            let steps = row["steps"].as_array().unwrap();
            let lines = || steps.iter().map(|step| (step["from"] == "client", step["line"].as_str().unwrap()));
            let targets = lines().filter(|(is_client, _)| *is_client).filter_map(|(_, line)| {
                let value: Value = serde_json::from_str(line).ok()?;
                let (method, tool) = (value["method"].as_str()?.to_owned(), value["params"]["name"].as_str());
                Some(match method.as_str() {
                    "tools/call" => Target::Tool(tool?.to_owned().leak()),
                    _ => Target::Method(method.leak()),
                })
            });
            let table = rows::<Allow, Hands>(targets).leak();
            let mut actions = Actions::new(table, Allow, hands.clone(), Ledger::default()).unwrap();
            let [mut client, mut server] = options.map(|options| Gate::new(options, HeapStorage::new()).unwrap());
            let (mut accepted, mut room, mut out) = (0, vec![0; 1 << 16], vec![0; 2048]);
            for (is_client, line) in lines() {
                let line = format!("{line}\n").into_bytes();
                let gate = if is_client { &mut client } else { &mut server };
                let fed = match &mut tracker {
                    Some(tracker) => gate.feed_with(&line, tracker),
                    None => gate.feed(&line),
                };
                match fed.event {
                    Event::Message(message) if is_client => {
                        accepted += usize::from(matches!(message.kind(), Kind::Request | Kind::Notification));
                        let _ = actions.handle(message, &mut room, &mut out, &mut Sent::default());
                    }
                    Event::Refused(refusal) if is_client => actions.refused(&refusal),
                    _ => {}
                }
                // Where one gate has closed the host stops both.
                if client.is_closed() || server.is_closed() {
                    break;
                }
            }
            assert_eq!(hands.uses(), Uses::each(accepted), "{}", row["name"]);
            assert_eq!(actions.journal().executed(), accepted as u64, "{}", row["name"]);
            assert_eq!(client.counters().refused_total(), actions.audit().refused.len() as u64, "{}", row["name"]);
            codes.extend(actions.audit().refused.iter().map(|record| record.code.number()));
        }
    }
    // What a client can be refused for.
    for code in [451, 452, 453, 454, 456, 457, 458] {
        assert!(codes.contains(&code), "{code}");
    }
}

/// Calls of the vectors that their gates accept, each line once, with the options under which it is accepted.
fn calls() -> Vec<(Options, Ask)> {
    let mut lines = HashSet::new();
    let mut calls = Vec::new();
    for vector in all() {
        for ask in asked(&vector.options, Policy::Continue, &vector.stream) {
            if matches!(ask.target, Target::Tool(_)) && lines.insert(ask.line.clone()) {
                calls.push((vector.options.clone(), ask));
            }
        }
    }
    calls
}

/// Arguments that none of the vectors has.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "nothing is read of what never comes")]
struct Nobodys {
    of_nobody: u8,
}

/// What the room refuses, for each call that the vectors' gates accept: unknown, unfit, denied, by a switch that isn't granted.
/// Nothing is touched, and under `continue` the next call is done once.
#[test]
fn refused_by_the_room() {
    let hands = Hands::new();
    let mut seen = BTreeMap::<u16, usize>::new();
    for (options, ask) in calls() {
        let Some(second) = second(&options) else { continue };
        let stream = [&*ask.line, &second.line].concat();
        for code in [501, 502, 503, 505] {
            let first = || match code {
                501 => None,
                502 => Some(Entry::named::<Takes<Nobodys>>(ask.target)),
                _ => Some(Entry::named::<Takes<Anything>>(ask.target)),
            };
            let denies = || Denies((code == 503).then_some(ask.target));
            let granted = if code == 505 { Switches::NONE } else { all_switches() };
            if code == 505 && ask.loosened == Switches::NONE {
                continue;
            }
            let after = || Entry::named::<Takes<Anything>>(second.target);
            let table = || first().into_iter().chain([after()]).collect::<Vec<_>>();
            let text = String::from_utf8_lossy(&ask.line);
            let ran = run(&options, Policy::CloseAll, &stream, table(), (denies(), hands.clone(), granted));
            assert_eq!(ran.codes(), [code], "{text}");
            assert_eq!((ran.counters.refused_total(), ran.counters.refused(Stage::Action)), (1, 1), "{text}");
            assert!(ran.is_closed, "{text}");
            assert_eq!(ran.actions.journal().executed(), 0, "{text}");
            assert!(ran.actions.audit().authorized.is_empty(), "{text}");
            assert_eq!(hands.uses(), Uses::default(), "{text}");
            assert_eq!(ran.answers, 1, "{text}");

            let ran = run(&options, Policy::Continue, &stream, table(), (denies(), hands.clone(), granted));
            assert_eq!(ran.codes(), [code], "{text}");
            assert_eq!(ran.counters.refused_total(), 1, "{text}");
            assert_eq!(ran.actions.journal().executed(), 1, "{text}");
            assert_eq!(hands.uses(), Uses::each(1), "{text}");
            assert_eq!(ran.actions.audit().ended[0].1, Outcome::Done, "{text}");
            *seen.entry(code).or_default() += 1;
        }
    }
    println!("refused by the room: {seen:?}");
    assert!(seen[&501] > 200 && seen[&502] > 200 && seen[&503] > 200 && seen[&505] >= 20);
}

/// Keeps the arguments that it is given, as another writer writes them.
#[derive(Default)]
struct Keeps(Vec<Value>);

impl<T: DeserializeOwned + Serialize> Execute<Takes<T>> for Keeps {
    type Output = Text<&'static str>;
    type Error = Infallible;
    fn execute(&mut self, action: Authorized<'_, Takes<T>>) -> Result<Self::Output, Infallible> {
        self.0.push(serde_json::to_value(action.open()).unwrap());
        Ok(Text("kept"))
    }
}

/// Runs an accepted call, whose arguments are to be a `T`. None where another reader can't read them as one.
fn kept<T: DeserializeOwned + Serialize>(options: &Options, ask: &Ask) -> Option<()> {
    #[derive(Deserialize)]
    struct Line<T> {
        params: Params<T>,
    }
    #[derive(Deserialize)]
    struct Params<T> {
        arguments: T,
    }
    let line: Line<T> = serde_json::from_slice(&ask.line).ok()?;
    let table = vec![Entry::named::<Takes<T>>(ask.target)];
    let ran = run(options, Policy::CloseAll, &ask.line, table, (Allow, Keeps::default(), all_switches()));
    let wanted = serde_json::to_value(line.params.arguments).unwrap();
    assert_eq!(ran.actions.executor().0, [wanted], "{}", String::from_utf8_lossy(&ask.line));
    assert_eq!((ran.actions.journal().executed(), ran.answers), (1, 1));
    Some(())
}

/// An accepted call runs once, with its own arguments: the same that another reader of the same line finds, type by type.
#[test]
fn accepted_calls_run_with_their_own_arguments() {
    type Map<T> = BTreeMap<String, T>;
    let (mut compared, mut other) = (0, Vec::new());
    for (options, ask) in calls() {
        let ways: [fn(&Options, &Ask) -> Option<()>; 8] = [
            kept::<Map<String>>,
            kept::<Map<i64>>,
            kept::<Map<u64>>,
            kept::<Map<bool>>,
            kept::<Map<Option<String>>>,
            kept::<Map<Vec<String>>>,
            kept::<Map<Vec<i64>>>,
            kept::<Map<Map<String>>>,
        ];
        match ways.into_iter().find_map(|way| way(&options, &ask)) {
            Some(()) => compared += 1,
            None => other.push(ask),
        }
    }
    println!("{compared} compared, {} of other types", other.len());
    assert!(compared > 100);
}

/// Without arguments a tool gets an empty object.
#[test]
fn absent_arguments_are_empty() {
    let options = Options::new(Direction::FromClient, AuditKey::new([5; 16]));
    let table = vec![Entry::named::<Takes<BTreeMap<String, String>>>(Target::Tool("t"))];
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n";
    let ran = run(&options, Policy::CloseAll, line, table, (Allow, Keeps::default(), Switches::NONE));
    assert_eq!(ran.actions.executor().0, [Value::Object(serde_json::Map::new())]);
    assert_eq!(ran.actions.journal().executed(), 1);
    assert_eq!(ran.counters.refused_total(), 0);
    assert!(ran.is_closed, "by the end of input");
}
