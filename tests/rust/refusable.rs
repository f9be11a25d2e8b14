//! A call that a host in another language holds: it is refused as a call of Rust's is, once, and only while it is the last event.

use linegate::action::{Denial, Misfit, Target, Wrong};
use linegate::{AuditKey, Code, Cursor, Direction, Event, Gate, Inline, Options, REPLY_LEN, Stage, Switch, Switches};

const CALL: &[u8] =
    br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":9007199254740992}}}
"#;
const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n";

type Small = Gate<Inline<512, 64>>;

fn gate() -> Small {
    let mut options = Options::new(Direction::FromClient, AuditKey::new([7; 16]));
    options.allowed = options.allowed.with(Switch::BigIntegers);
    Gate::new(options, Inline::new()).unwrap()
}

/// A line whose first byte goes in by itself, so that it is gathered in the storage.
fn gathered(gate: &mut Small, line: &[u8]) {
    assert!(matches!(gate.feed(&line[..1]).event, Event::NeedMore));
    assert!(matches!(gate.feed(&line[1..]).event, Event::Message(_)));
}

#[test]
fn it_can_be_read_and_refused_with_each_code() {
    let mut gate = gate();
    let every = Switches::NONE.with(Switch::BigIntegers);
    for code in [Code::UnknownTool, Code::ArgumentsSchema, Code::NotAuthorized, Code::SwitchNotGranted] {
        gathered(&mut gate, CALL);
        let call = gate.refusable().unwrap();
        assert!(call.is_tool_call() && call.is_for(Target::Tool("add")) && call.origin().id() == Some(b"7"));
        let (arguments, aside) = call.arguments(Target::Tool("add"));
        let a: Cursor<'_> = arguments.get("a").unwrap();
        assert_eq!((a.bytes(), aside), (&b"9007199254740992"[..], None));
        let refusal = match code {
            Code::SwitchNotGranted => call.granted(Switches::NONE).unwrap_err(),
            Code::UnknownTool => call.granted(every).unwrap().unknown(),
            Code::ArgumentsSchema => call.misfit(Misfit::new(Wrong::Value, a)),
            _ => call.denied(Denial::because("here").with_rpc_code(-32001)),
        };
        assert_eq!(refusal.code(), code);
        assert_eq!(
            refusal.rpc_code(),
            Some(if code == Code::NotAuthorized { -32001 } else { code.rpc_code().unwrap() })
        );
        assert!(refusal.reply_due() && refusal.write_reply(&mut [0; REPLY_LEN]).unwrap() > 0);
        // Once.
        assert!(gate.refusable().is_none(), "{code}");
    }
    assert_eq!((gate.counters().refused(Stage::Action), gate.counters().accepted), (4, 4));
}

#[test]
fn it_is_there_while_it_is_the_last_event_and_asks_for_something() {
    let mut gate = gate();
    assert!(gate.refusable().is_none());
    gathered(&mut gate, PING);
    assert!(gate.refusable().is_some() && gate.refusable().is_some());
    let _ = gate.feed(b"");
    assert!(gate.refusable().is_none(), "after another feed");
    gathered(&mut gate, PING);
    gate.reset();
    assert!(gate.refusable().is_none(), "after a reset");
    gathered(&mut gate, PING);
    let _ = gate.finish();
    assert!(gate.refusable().is_none(), "after the end");
    gate.reset();
    gathered(&mut gate, b"{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}\n");
    assert!(gate.refusable().is_none(), "a response");
    let _ = gate.feed(PING);
    assert!(gate.refusable().is_none(), "a line that lay whole in the input");
    gathered(&mut gate, PING);
    let _ = gate.feed(b"x\n");
    assert!(gate.refusable().is_none(), "a refused line");
}
