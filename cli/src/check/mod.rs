//! `linegate check`: starts a server again and again, each time with other input, and judges what comes back.
//!
//! From the top: the [plan] chooses the scenarios and carries them out; a [scenario] is what is sent and what is made of
//! the answer; the [setup] knows the server, a [child] is one start of it, and the [past] what is kept of that; the [judge]
//! knows what is a violation; the [report] says it. Below them is what they hand on: an [outcome] with its
//! [findings](finding), the malformed lines of the [corpus], the [author]s of bad lines, and messages as [wire] writes and
//! reads them.
//!
//! Beside the check itself: the [baseline] of accepted faults, [recorded] sessions, the [replay] of one start, and a look at the
//! [source].

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use crate::args::CheckArgs;
use crate::trouble::Done;
use crate::{CLEAN, FAULTS};

mod author;
mod baseline;
mod child;
mod corpus;
mod finding;
mod judge;
mod lenient;
mod outcome;
mod past;
mod plan;
mod recorded;
mod replay;
mod report;
mod scenario;
mod setup;
mod source;
mod strays;
mod text;
mod wire;

pub use text::{command_line, escaped, hex};

/// What is known of a server by its check.
pub struct Examination {
    setup: setup::Setup,
    outcomes: Vec<outcome::Outcome>,
}

/// Checks a server as a client's configuration has it: with the safe variables and these alone, and in this directory.
///
/// # Errors
///
/// The check could not be done: why.
pub fn examine(
    args: &CheckArgs,
    env: Vec<(String, String)>,
    directory: Option<PathBuf>,
) -> Result<Examination, String> {
    let (setup, outcomes) = plan::examine(args, env, directory)?;
    Ok(Examination { setup, outcomes })
}

impl Examination {
    fn outline(&self) -> report::Outline<'_> {
        report::Outline::new(&self.setup, &self.outcomes, &[])
    }

    /// Whether nothing was violated.
    pub fn clean(&self) -> bool {
        self.outline().clean()
    }

    /// What was violated and how it is mended, shortly.
    pub fn complaints(&self) -> Vec<String> {
        report::complaints(&self.outline())
    }

    /// The document of the check.
    pub fn document(&self) -> Value {
        report::document(&self.outline())
    }
}

/// Checks as the arguments say, or records a session. `program` starts the program that this is.
pub fn run(args: &CheckArgs, program: Vec<OsString>) -> Done {
    if let Some(file) = &args.record {
        return recorded::record(file, &args.command);
    }
    Ok(if plan::check(args, program)? { CLEAN } else { FAULTS })
}
