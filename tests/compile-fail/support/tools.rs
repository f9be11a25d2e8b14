//! What the cases share: two tools, and the parts of a host that are not under test.

use linegate::action::{Action, Authorize, Authorized, Denial, Execute, Misfit, Origin, RawArguments, Target, Text, Wrong};
use linegate::{AuditKey, Direction, Event, Gate, Inline, Message, Options};

pub struct Open;
pub struct Shut;

impl Action for Open {
    const TARGET: Target<'static> = Target::Tool("open");
    type Arguments<'a> = u8;
    fn read<'a>(arguments: RawArguments<'a>) -> Result<u8, Misfit<'a>> {
        percent(arguments)
    }
}

impl Action for Shut {
    const TARGET: Target<'static> = Target::Tool("shut");
    type Arguments<'a> = u8;
    fn read<'a>(arguments: RawArguments<'a>) -> Result<u8, Misfit<'a>> {
        percent(arguments)
    }
}

fn percent(arguments: RawArguments<'_>) -> Result<u8, Misfit<'_>> {
    let percent = arguments.cursor().get("percent").and_then(|percent| percent.as_i64());
    percent.and_then(|percent| percent.try_into().ok()).ok_or(Misfit::new(Wrong::Missing, arguments.cursor()))
}

/// Does what is asked of one of the two.
pub struct Plant;

impl Execute<Open> for Plant {
    type Output = Text<u8>;
    type Error = &'static str;
    fn execute(&mut self, action: Authorized<'_, Open>) -> Result<Text<u8>, &'static str> {
        Ok(Text(action.open()))
    }
}

/// Allows everything.
pub struct Anyone;

impl<A: Action> Authorize<A> for Anyone {
    fn authorize(&self, _: &Origin<'_>, _: &A::Arguments<'_>) -> Result<(), Denial> {
        Ok(())
    }
}

pub type Client = Gate<Inline<512, 64>>;

pub fn gate() -> Client {
    let options = Options::new(Direction::FromClient, AuditKey::new([7; 16]));
    Gate::new(options, Inline::new()).unwrap()
}

pub fn message<'a>(gate: &'a mut Client, line: &'a [u8]) -> Message<'a> {
    match gate.feed(line).event {
        Event::Message(message) => message,
        other => panic!("{other:?}"),
    }
}

pub const LINE: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"open\",\"arguments\":{\"percent\":7}}}\n";
