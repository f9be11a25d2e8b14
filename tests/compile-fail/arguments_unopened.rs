//! E0616: the arguments of an authorized action can't be read without opening it, which counts.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::action::Authorized;
use tools::Open;

fn peek(action: &Authorized<'_, Open>) -> u8 {
    action.arguments
}

fn main() {}
