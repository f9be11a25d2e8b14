//! E0277: no stage can be copied, or come from nowhere.

#[path = "support/tools.rs"]
#[allow(dead_code, unused_imports)]
mod tools;

use linegate::Message;
use linegate::action::{Authorized, Call, Journal, Typed};
use tools::Open;

fn cloned<T: Clone>() {}
fn copied<T: Copy>() {}
fn from_nowhere<T: Default>() {}

fn main() {
    cloned::<Message<'_>>();
    cloned::<Call<'_>>();
    cloned::<Typed<'_, Open>>();
    cloned::<Authorized<'_, Open>>();
    cloned::<Journal>();
    copied::<Message<'_>>();
    copied::<Call<'_>>();
    copied::<Typed<'_, Open>>();
    copied::<Authorized<'_, Open>>();
    from_nowhere::<Message<'_>>();
    from_nowhere::<Call<'_>>();
    from_nowhere::<Typed<'_, Open>>();
    from_nowhere::<Authorized<'_, Open>>();
}
