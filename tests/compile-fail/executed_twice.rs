//! E0382: an action can't be executed twice.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::action::{Authorized, Execute as _};
use tools::{Open, Plant};

fn twice(action: Authorized<'_, Open>) {
    let _ = Plant.execute(action);
    let _ = Plant.execute(action);
}

fn main() {}
