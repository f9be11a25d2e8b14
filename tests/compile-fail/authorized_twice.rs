//! E0382: a typed call is gone once an authorizer was asked about it.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::action::{Journal, Typed};
use tools::{Anyone, Open};

fn again<'a>(typed: Typed<'a, Open>, journal: &'a Journal) {
    let _ = typed.authorize(&Anyone, journal);
    let _ = typed.authorize(&Anyone, journal);
}

fn main() {}
