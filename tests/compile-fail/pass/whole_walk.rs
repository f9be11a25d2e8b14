//! The whole way compiles and runs: the other cases fail for their own reasons.

#[path = "../support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::Switches;
use linegate::action::{Execute as _, Journal};
use tools::{Anyone, LINE, Open, Plant};

fn main() {
    let (mut gate, mut room, journal) = (tools::gate(), [0; 64], Journal::new());
    for executed in 1..=2 {
        let call = tools::message(&mut gate, LINE).into_call(Switches::NONE).unwrap();
        let action = call.arguments::<Open>(&mut room).unwrap().authorize(&Anyone, &journal).unwrap();
        assert_eq!(Plant.execute(action).map(|done| done.0), Ok(7));
        assert_eq!(journal.executed(), executed);
    }
}
