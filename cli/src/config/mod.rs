//! A client's configuration of servers: [`entries`] reads it, with the place of every word in it; `linegate wrap` and `unwrap`
//! change one entry ([`edit`]) in the file as it is ([`place`]); `linegate doctor` looks at all of them. What stands in front of a
//! server is asked of [`front`].
//!
//! Comments and trailing commas are taken as well, as some clients take them; anything else that is no JSON is not.

use std::io::Write;
use std::path::Path;

use crate::CLEAN;
use crate::args::{UnwrapArgs, WrapArgs};
use crate::tell::printable;
use crate::trouble::{Done, Trouble};

#[cfg(unix)]
pub mod doctor;
mod edit;
mod entries;
#[cfg(unix)]
mod exposed;
mod front;
mod place;
#[cfg(unix)]
mod veil;

/// Puts `linegate run` in front of a server.
pub fn wrap(args: &WrapArgs) -> Done {
    let changed = change(&args.config, |text| edit::wrap(text, &args.name, &args.program, &args.options))?;
    tell_change(&args.name, "is started through linegate run now", &changed)
}

/// Takes it away again.
pub fn unwrap(args: &UnwrapArgs) -> Done {
    let mut options = Vec::new();
    let changed = change(&args.config, |text| {
        let (text, gone) = edit::unwrap(text, &args.name)?;
        options = gone;
        Ok(text)
    })?;
    let without = if options.is_empty() { String::new() } else { format!(", without {}", options.join(", ")) };
    tell_change(&args.name, &format!("is started directly again{without}"), &changed)
}

/// Changes the text of the file; gives the name of its backup. What a configuration says may stand in an error: it is made fit for
/// a terminal.
fn change(path: &Path, edit: impl FnOnce(&str) -> Result<String, String>) -> Result<String, String> {
    let change = || {
        let file = place::ConfigFile::read(path)?;
        let text = edit(file.text()).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(file.replace(&text)?.display().to_string())
    };
    change().map_err(|why: String| printable(&why).into_owned())
}

fn tell_change(name: &str, what: &str, backup: &str) -> Done {
    writeln!(anstream::stdout(), "{} {}; the file as it was: {}", printable(name), printable(what), printable(backup))
        .map_err(|error| Trouble::writing("the result", &error))?;
    Ok(CLEAN)
}
