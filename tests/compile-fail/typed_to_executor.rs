//! E0308: nor can a call that is typed and not authorized.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::Switches;
use linegate::action::Execute as _;
use tools::{LINE, Open, Plant};

fn main() {
    let (mut gate, mut room) = (tools::gate(), [0; 64]);
    let call = tools::message(&mut gate, LINE).into_call(Switches::NONE).unwrap();
    let typed = call.arguments::<Open>(&mut room).unwrap();
    let _ = Plant.execute(typed);
}
