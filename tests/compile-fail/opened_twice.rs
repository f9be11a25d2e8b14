//! E0382: nor can its arguments be taken twice.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::action::Authorized;
use tools::Open;

fn twice(action: Authorized<'_, Open>) -> u8 {
    action.open() + action.open()
}

fn main() {}
