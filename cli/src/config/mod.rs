//! A client's configuration of servers: [`entries`] reads it, with the place of every word in it; `linegate wrap` and `unwrap`
//! change one entry ([`edit`]) in the file as it is ([`place`]); `linegate doctor` looks at all of them.
//!
//! Comments and trailing commas are taken as well, as some clients take them; anything else that is no JSON is not.

use std::io::Write;
use std::path::Path;

use crate::CLEAN;
use crate::args::{Cli, UnwrapArgs, WrapArgs};
use crate::tell::printable;
use crate::trouble::{Done, Trouble};

#[cfg(unix)]
pub mod doctor;
mod edit;
mod entries;
#[cfg(unix)]
mod exposed;
mod place;

/// Puts `linegate run` in front of a server.
pub fn wrap(args: &WrapArgs) -> Done {
    // What `run` would not take must not get into a configuration.
    let words = ["linegate", "run"].into_iter().chain(args.options.iter().map(String::as_str)).chain(["--", "server"]);
    if let Err(told) = <Cli as clap::Parser>::try_parse_from(words) {
        return Err(format!("linegate run does not take these options: {}", first_line(&told.to_string())).into());
    }
    let changed = change(&args.config, |text| edit::wrap(text, &args.name, &args.program, &args.options))?;
    tell_change(&args.name, "is started through linegate run now", &changed)
}

/// Takes it away again.
pub fn unwrap(args: &UnwrapArgs) -> Done {
    let changed = change(&args.config, |text| edit::unwrap(text, &args.name))?;
    tell_change(&args.name, "is started directly again", &changed)
}

/// Changes the text of the file; gives the name of its backup.
fn change(path: &Path, edit: impl FnOnce(&str) -> Result<String, String>) -> Result<String, String> {
    let file = place::ConfigFile::read(path)?;
    let text = edit(file.text()).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(file.replace(&text)?.display().to_string())
}

fn tell_change(name: &str, what: &str, backup: &str) -> Done {
    writeln!(anstream::stdout(), "{} {what}; the file as it was: {backup}", printable(name))
        .map_err(|error| Trouble::writing("the result", &error))?;
    Ok(CLEAN)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
