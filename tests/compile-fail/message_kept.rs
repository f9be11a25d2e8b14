//! E0499: a message can't be kept over the next feed.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use tools::LINE;

fn main() {
    let mut gate = tools::gate();
    let first = tools::message(&mut gate, LINE);
    let second = tools::message(&mut gate, LINE);
    let _ = (first.bytes(), second.bytes());
}
