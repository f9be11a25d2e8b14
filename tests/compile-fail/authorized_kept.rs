//! E0499: nor can an authorized action, for a later moment in which it may not be right any more.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::Switches;
use linegate::action::{Execute as _, Journal};
use tools::{Anyone, LINE, Open, Plant};

fn main() {
    let (mut gate, mut room, journal) = (tools::gate(), [0; 64], Journal::new());
    let call = tools::message(&mut gate, LINE).into_call(Switches::NONE).unwrap();
    let action = call.arguments::<Open>(&mut room).unwrap().authorize(&Anyone, &journal).unwrap();
    let _ = gate.feed(LINE);
    let _ = Plant.execute(action);
}
