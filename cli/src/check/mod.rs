//! `linegate check`: starts a server again and again, each time with other input, and judges what comes back.
//!
//! From the top: the [plan] chooses the scenarios and carries them out; a [scenario] is what is sent and what is made of
//! the answer; the [setup] knows the server, and a [child] is one start of it; the [judge] knows what is a violation; the
//! [report] says it. Below them is what they hand on: an [outcome] with its [findings](finding), the malformed lines of the
//! [corpus], the [author]s of bad lines, and messages as [wire] writes and reads them.
//!
//! Beside the check itself: the [baseline] of accepted faults, [recorded] sessions, the [replay] of one start, and a look at the
//! [source].

use std::ffi::OsString;

use crate::args::CheckArgs;
use crate::trouble::Done;
use crate::{CLEAN, FAULTS};

mod author;
mod baseline;
mod child;
mod corpus;
mod finding;
mod judge;
mod outcome;
mod plan;
mod recorded;
mod replay;
mod report;
mod scenario;

mod setup;
mod source;
mod text;
mod wire;

/// Checks as the arguments say, or records a session. `program` starts the program that this is.
pub fn run(args: &CheckArgs, program: Vec<OsString>) -> Done {
    if let Some(file) = &args.record {
        return recorded::record(file, &args.command);
    }
    Ok(if plan::check(args, program)? { CLEAN } else { FAULTS })
}
