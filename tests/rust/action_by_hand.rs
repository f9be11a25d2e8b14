//! A host that reads arguments and decides by itself, as faces for other languages do: its refusals are those that the typed way
//! gives, down to the reply, the counters and the session.

use linegate::action::{Action, Authorize, Call, Denial, Journal, Misfit, Origin, RawArguments, Target, Wrong};
use linegate::{
    AuditKey, Counters, Direction, Event, Gate, Options, Policy, REPLY_LEN, Refusal, Revision, Stage, Switches,
};
use linegate_host::HeapStorage;
use serde::Deserialize;

#[expect(dead_code, reason = "that they are read is enough")]
#[derive(Deserialize)]
struct Sum {
    a: i64,
    b: i64,
}

struct Add;
impl Action for Add {
    const TARGET: Target<'static> = Target::Tool("add");
    type Arguments<'a> = Sum;
    fn read(arguments: RawArguments<'_>) -> Result<Sum, Misfit<'_>> {
        arguments.typed()
    }
}

struct Order;
impl Action for Order {
    const TARGET: Target<'static> = Target::Method("plant/order");
    type Arguments<'a> = Sum;
    fn read(arguments: RawArguments<'_>) -> Result<Sum, Misfit<'_>> {
        arguments.typed()
    }
}

struct Deny;
impl<A: Action> Authorize<A> for Deny {
    fn authorize(&self, _: &Origin<'_>, _: &A::Arguments<'_>) -> Result<(), Denial> {
        Err(Denial::because("closed for today").with_rpc_code(-32000))
    }
}

/// All that can be known of a refusal.
type Known = (linegate::Record, Option<i32>, Option<&'static str>, Option<&'static str>, bool, Vec<u8>);

fn known(refusal: &Refusal<'_>) -> Known {
    let mut reply = [0; REPLY_LEN];
    let len = refusal.write_reply(&mut reply).unwrap();
    let said = (refusal.rpc_code(), refusal.reason(), refusal.subject());
    (refusal.record(), said.0, said.1, said.2, refusal.closes(), reply[..len].to_vec())
}

/// What becomes of a call's refusal, and what the gate has counted then.
fn refused(revision: Revision, line: &str, refuse: impl FnOnce(Call<'_>) -> Known) -> (Known, Counters, bool) {
    let mut options = Options::new(Direction::FromClient, AuditKey::new(*b"a key of actions"));
    (options.revision, options.policy, options.methods) = (revision, Policy::CloseAll, &["plant/order"]);
    let mut gate = Gate::new(options, HeapStorage::new()).unwrap();
    let Event::Message(message) = gate.feed(line.as_bytes()).event else { panic!("{line}") };
    assert_eq!((message.counters().accepted, message.counters().refused_total()), (1, 0));
    let call = message.into_call(Switches::NONE).unwrap();
    assert_eq!(call.counters().accepted, 1);
    let known = refuse(call);
    (known, *gate.counters(), gate.is_closed())
}

fn call(name: &str, arguments: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"arguments\":{arguments}}}}}\n"
    )
}

#[test]
fn arguments_that_the_host_finds_unfit_are_refused_as_the_typed_way_does() {
    let order = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"plant/order\",\"params\":{\"a\":1,\"b\":\"2\"}}\n";
    for revision in [Revision::AUTO, Revision::V2025_06_18, Revision::V2025_11_25] {
        let line = call("add", r#"{"a":1,"b":"2"}"#);
        let typed = refused(revision, &line, |call| {
            let mut room = [0; 64];
            let Err(refusal) = call.arguments::<Add>(&mut room) else { panic!() };
            known(&refusal)
        });
        let by_hand = refused(revision, &line, |call| {
            let at = call.params().and_then(|params| params.get("arguments")?.get("b")).unwrap();
            known(&call.unfit(Misfit::new(Wrong::Type, at).of_member("b")))
        });
        assert_eq!(typed, by_hand);
        assert_eq!((by_hand.1.refused(Stage::Action), by_hand.1.replies, by_hand.2), (1, 1, true));
    }
    let typed = refused(Revision::AUTO, order, |call| {
        let mut room = [0; 64];
        let Err(refusal) = call.arguments::<Order>(&mut room) else { panic!() };
        known(&refusal)
    });
    let by_hand = refused(Revision::AUTO, order, |call| {
        let at = call.params().and_then(|params| params.get("b")).unwrap();
        known(&call.unfit(Misfit::new(Wrong::Type, at).of_member("b")))
    });
    assert_eq!(typed, by_hand);
}

#[test]
fn what_the_host_denies_is_refused_as_the_typed_way_does() {
    let line = call("add", r#"{"a":1,"b":2}"#);
    let typed = refused(Revision::AUTO, &line, |call| {
        let (mut room, journal) = ([0; 64], Journal::new());
        let typed = call.arguments::<Add>(&mut room).unwrap();
        let Err(refusal) = typed.authorize(&Deny, &journal) else { panic!() };
        known(&refusal)
    });
    let by_hand = refused(Revision::AUTO, &line, |call| {
        known(&call.denied(Denial::because("closed for today").with_rpc_code(-32000)))
    });
    assert_eq!(typed, by_hand);
    assert_eq!((by_hand.0.1, by_hand.0.2, by_hand.2), (Some(-32000), Some("closed for today"), true));
}
