//! A gate over inline storage takes nothing from the heap, whatever it is fed and however it is cut.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use linegate::JsonKind as Kind;
use linegate::action::{
    Action, Actions, Authorize, Authorized, Denial, Entry, Execute, Handled, Misfit, Origin, RawArguments, Target,
    Text, Writer,
};
use linegate::{
    AuditKey, Cursor, Direction, Event, Fed, Gate, Inline, Options, Policy, Profile, REPLY_LEN, Slot, Tracker,
};

/// The system's allocator, counting what the current thread asks of it.
struct Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no counter any more, and no test either.
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
}

// SAFETY: every call goes to `System` as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often the heap was asked for anything while `work` ran.
fn asked_during(work: impl FnOnce()) -> u64 {
    let before = ASKED.get();
    work();
    ASKED.get() - before
}

const LINES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"text":"\ud83d\ude00\n","n":[1,2.5,-3e2,true,null]}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/\u0063ancelled","params":{"requestId":1}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"a":{"b":{"c":[[],{}]}}}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
    "",
    "\r",
    "Server ready",
    "\u{feff}{}",
    "{\"a\":\u{0}}",
    r#" {"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping","id":2}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"\u0061":2}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"A":2}}"#,
    r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\ud800"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":1}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping","extra":1}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping""#,
    r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#,
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]",
    "true",
];

/// A session: the place of the sender's gate, and the line. The last two are refused: a result without content settles its
/// request, and an answer answers nothing.
const SESSION: &[(usize, &str)] = &[
    (
        0,
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n",
    ),
    (
        1,
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n",
    ),
    (
        0,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"_meta\":{\"progressToken\":\"p\"}}}\n",
    ),
    (
        1,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"p\",\"progress\":1}}\n",
    ),
    (0, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n"),
    (0, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n"),
    (1, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"),
    (1, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n"),
];

/// Everything that a host can ask of an event.
fn look(event: &Event<'_>, out: &mut [u8]) -> usize {
    match event {
        Event::Message(message) => {
            let cursors = [message.params(), message.result(), message.error()];
            let read: usize = cursors.into_iter().flatten().map(|cursor| walk(cursor, out)).sum();
            read + message.bytes().len() + message.method().map_or(0, str::len) + message.id().map_or(0, <[u8]>::len)
        }
        Event::Refused(refusal) => {
            let _ = refusal.record();
            let reply = if refusal.reply_due() { refusal.write_reply(out) } else { Ok(0) };
            usize::from(refusal.code().number()) + reply.expect("REPLY_LEN suffices")
        }
        _ => 0,
    }
}

fn walk(cursor: Cursor<'_>, out: &mut [u8]) -> usize {
    match cursor.kind() {
        Kind::Object => {
            cursor.members().map(|(key, value)| key.string_into(out).map_or(0, str::len) + walk(value, out)).sum()
        }
        Kind::Array => cursor.elements().map(|value| walk(value, out)).sum(),
        Kind::String => cursor.string_into(out).map_or(0, str::len),
        _ => usize::from(cursor.as_bool().is_some() || cursor.as_i64().is_some()),
    }
}

fn nothing_is_allocated(profile: Profile, policy: Policy) {
    let mut stream: Vec<u8> = LINES.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
    // Longer than the storage; more keys than the table; and a line without an end.
    stream.extend_from_slice(&[b'"'; 5000]);
    stream.push(b'\n');
    let keys: Vec<String> = (0..300).map(|n| format!("\"{n}\":0")).collect();
    stream.extend_from_slice(format!("{{{}}}\n{{", keys.join(",")).as_bytes());

    let mut options = Options::new(Direction::FromClient, AuditKey::new([1; 16])).with_profile(profile);
    options.policy = policy;
    let mut out = [0; REPLY_LEN];
    let (mut events, mut seen) = (0, 0);
    let asked = asked_during(|| {
        let mut gate = Gate::new(options, Inline::<4096, 256>::new()).expect("the options fit");
        for piece in [1, 2, 7, 64, 1000, usize::MAX].iter().cycle().take(120) {
            for mut input in stream.chunks((*piece).min(stream.len())) {
                while !input.is_empty() {
                    let Fed { consumed, event } = gate.feed(input);
                    input = &input[consumed..];
                    events += usize::from(!matches!(event, Event::NeedMore | Event::Closed));
                    seen += look(&event, &mut out);
                }
            }
            seen += look(&gate.finish(), &mut out);
            gate.reset();
        }
    });
    assert!(events >= 120 && seen > 0);
    if policy == Policy::Continue {
        assert_eq!(events, 120 * (LINES.len() + 2), "each line has one verdict");
    }
    assert_eq!(asked, 0, "the gate asked for heap memory");
}

#[test]
fn a_tracked_session_uses_no_heap() {
    let options = [Direction::FromClient, Direction::FromServer].map(|from| Options::new(from, AuditKey::new([1; 16])));
    let [client, server] = options.clone();
    let mut out = [0; REPLY_LEN];
    let (mut accepted, mut seen) = (0_u64, 0);
    let asked = asked_during(|| {
        let mut tracker = Tracker::new(&client, &server, [Slot::EMPTY; 4 * 4]).expect("the options make a session");
        let mut gates = options.map(|options| Gate::new(options, Inline::<4096, 256>::new()).expect("the options fit"));
        for _ in 0..50 {
            for (place, line) in SESSION {
                let fed = gates[*place].feed_with(line.as_bytes(), &mut tracker);
                assert_eq!(fed.consumed, line.len());
                seen += look(&fed.event, &mut out);
                if let Event::Refused(refusal) = &fed.event {
                    seen += refusal.write_settlement(&mut out).expect("REPLY_LEN suffices");
                }
            }
            accepted += gates.iter().map(|gate| gate.counters().accepted).sum::<u64>();
            gates.iter_mut().for_each(Gate::reset);
            tracker.reset();
        }
    });
    assert_eq!(accepted, 50 * 6, "each line but the last two is accepted");
    assert!(seen > 0);
    assert_eq!(asked, 0, "the gate asked for heap memory");
}

/// Arguments that borrow from the line, or from the room where they were written with escapes.
#[derive(serde::Deserialize)]
struct Words<'a> {
    text: &'a str,
    tag: Option<&'a str>,
    place: (i32, bool),
    tone: Tone<'a>,
}

#[derive(serde::Deserialize)]
enum Tone<'a> {
    Plain,
    Named { name: &'a str },
}

struct Say;

impl Action for Say {
    const TARGET: Target<'static> = Target::Tool("say");
    type Arguments<'a> = Words<'a>;
    fn read<'a>(arguments: RawArguments<'a>) -> Result<Words<'a>, Misfit<'a>> {
        arguments.typed()
    }
}

/// Says how many bytes it was given.
struct Speaker(usize);

impl Execute<Say> for Speaker {
    type Output = Text<usize>;
    type Error = &'static str;
    fn execute(&mut self, action: Authorized<'_, Say>) -> Result<Text<usize>, &'static str> {
        let Words { text, tag, place, tone } = action.open();
        let name = match tone {
            Tone::Plain => "",
            Tone::Named { name } => name,
        };
        self.0 += text.len() + tag.map_or(0, str::len) + name.len();
        if place.1 { Ok(Text(self.0)) } else { Err("out of place") }
    }
}

struct NoShouting;

impl Authorize<Say> for NoShouting {
    fn authorize(&self, _: &Origin<'_>, words: &Words<'_>) -> Result<(), Denial> {
        if words.text.contains('!') { Err(Denial::because("too loud")) } else { Ok(()) }
    }
}

/// What a client asks for, and what becomes of it: an execution, or a refusal of that code.
const SAID: &[(&str, u16)] = &[
    (r#"{"text":"plain","place":[1,true],"tone":"Plain"}"#, 0),
    (r#"{"t\u0065xt":"\u00e9\n","tag":"\ud83d\ude00","place":[-1,true],"tone":{"Named":{"name":"\"n\""}}}"#, 0),
    (r#"{"text":"plain","tag":null,"place":[1,false],"tone":"Plain"}"#, 0),
    (r#"{"text":"plain","place":[1,true],"tone":"Loud"}"#, 502),
    (r#"{"text":"plain!","place":[1,true],"tone":"Plain"}"#, 503),
    (r#"{"text":"plain","place":[1,true],"tone":"Plain","more":1}"#, 502),
];

#[test]
fn the_way_to_an_effect_uses_no_heap() {
    const TABLE: &[Entry<NoShouting, Speaker>] = &[Entry::of::<Say>()];
    let options = [Direction::FromClient, Direction::FromServer].map(|from| Options::new(from, AuditKey::new([1; 16])));
    let [mut client, server] = options;
    client.policy = Policy::Continue;
    let lines: Vec<(String, u16)> = SAID
        .iter()
        .map(|(arguments, code)| {
            let params = format!("{{\"name\":\"say\",\"arguments\":{arguments}}}");
            (format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{params}}}\n"), *code)
        })
        .collect();
    let (mut sent, mut executed) = (0, 0);
    let asked = asked_during(|| {
        let mut gate = Gate::new(client, Inline::<1024, 64>::new()).expect("the options fit");
        let put = |_: &[u8]| sent += 1;
        let mut wire = Writer::new(server, Inline::<1024, 128>::new(), put).expect("the options fit");
        let mut actions = Actions::new(TABLE, NoShouting, Speaker(0), ()).expect("one row");
        let (mut room, mut out) = ([0; 1024], [0; REPLY_LEN]);
        for _ in 0..50 {
            for (line, code) in &lines {
                let Event::Message(message) = gate.feed(line.as_bytes()).event else { panic!("refused") };
                match actions.handle(message, &mut room, &mut out, &mut wire) {
                    Handled::Executed(..) => assert_eq!(*code, 0),
                    Handled::Refused(record) => assert_eq!(record.code.number(), *code),
                    _ => panic!("no call"),
                }
            }
        }
        executed = actions.journal().executed();
    });
    assert_eq!((sent, executed), (50 * SAID.len(), 50 * 3));
    assert_eq!(asked, 0, "the room for actions asked for heap memory");
}

#[test]
fn strict_over_inline_storage_uses_no_heap() {
    nothing_is_allocated(Profile::Strict, Policy::Continue);
    nothing_is_allocated(Profile::Strict, Policy::CloseMalformed);
}

#[test]
fn rfc8259_over_inline_storage_uses_no_heap() {
    nothing_is_allocated(Profile::Rfc8259, Policy::Continue);
}

#[test]
fn the_counter_counts() {
    assert_ne!(asked_during(|| drop(std::hint::black_box(vec![0_u8; 10]))), 0);
}
