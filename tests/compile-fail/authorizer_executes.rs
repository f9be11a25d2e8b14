//! E0308: what an authorizer is given can't be executed.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::action::{Authorize, Denial, Execute as _, Origin};
use tools::{Open, Plant};

struct Eager;

impl Authorize<Open> for Eager {
    fn authorize(&self, _: &Origin<'_>, arguments: &u8) -> Result<(), Denial> {
        let _ = Plant.execute(arguments);
        Ok(())
    }
}

fn main() {}
