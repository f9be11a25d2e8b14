//! E0451: nor can the stage before it, by which the authorizer would be asked about other arguments.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::action::Typed;
use tools::Open;

fn forged(typed: Typed<'_, Open>) -> Typed<'_, Open> {
    Typed { arguments: 1, ..typed }
}

fn main() {}
