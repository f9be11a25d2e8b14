//! E0599, E0308: work before permission: the arguments are looked at, the effect is tried, and only then is it asked whether it may be.

use linegate::action::testing::{Deny, Recorder};
use linegate::action::{Action, Execute, Journal, Misfit, RawArguments, Target};
use linegate::{Message, Switches};

#[derive(Debug)]
struct Place<'a>(Option<&'a str>);

struct Fetch;
impl Action for Fetch {
    const TARGET: Target<'static> = Target::Tool("fetch");
    type Arguments<'a> = Place<'a>;
    fn read(arguments: RawArguments<'_>) -> Result<Place<'_>, Misfit<'_>> {
        Ok(Place(arguments.cursor().get("item").and_then(|item| item.as_str())))
    }
}

fn handle(message: Message<'_>, room: &mut [u8], client: &mut Recorder, rules: &Deny, journal: &Journal) {
    let Ok(call) = message.into_call(Switches::NONE) else { return };
    let Ok(typed) = call.arguments::<Fetch>(room) else { return };
    // The request is built of arguments that nobody has allowed yet.
    let Place(_item) = typed.open();
    // It is sent.
    let _ = client.execute(typed);
    // May it be?
    let _ = typed.authorize(rules, journal);
}

fn main() {}
