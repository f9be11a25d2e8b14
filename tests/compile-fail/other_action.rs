//! E0308: nor can it be given where the other is asked for by name.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::action::{Authorized, Execute};
use tools::{Open, Plant, Shut};

fn wrong(action: Authorized<'_, Shut>) {
    let _ = Execute::<Open>::execute(&mut Plant, action);
}

fn main() {}
