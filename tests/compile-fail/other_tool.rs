//! E0277: what is authorized for one tool can't be executed as another.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::action::{Authorized, Execute};
use tools::{Plant, Shut};

fn wrong(action: Authorized<'_, Shut>) {
    let _ = Execute::<Shut>::execute(&mut Plant, action);
}

fn main() {}
