//! E0308: a call that nobody has typed and authorized can't be given to an executor.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::Switches;
use linegate::action::Execute as _;
use tools::{LINE, Plant};

fn main() {
    let mut gate = tools::gate();
    let call = tools::message(&mut gate, LINE).into_call(Switches::NONE).unwrap();
    let _ = Plant.execute(call);
}
