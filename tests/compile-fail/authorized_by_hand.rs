//! E0451: an authorized action can't be made by hand.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::action::{Authorized, Journal, Origin};
use tools::{Open, Plant};

fn forged<'a>(origin: Origin<'a>, journal: &'a Journal) {
    use linegate::action::Execute as _;
    let action = Authorized::<'a, Open> { origin, arguments: 1, journal };
    let _ = Plant.execute(action);
}

fn main() {}
