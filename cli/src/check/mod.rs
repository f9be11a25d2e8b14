//! `linegate check`: starts a server again and again, each time with other input, and judges what comes back.
//!
//! The [plan] chooses the scenarios and carries them out; a [scenario] is what is sent and what is made of the answer,
//! its [outcome] what came of it; the [mod@bench] knows the server, and a [child] is one start of it; the [corpus] holds
//! the malformed lines; [wire] speaks as a client; the [judge] knows what is a violation; the [report] says it.

#[cfg(unix)]
use std::io;
use std::process::ExitCode;

use crate::COULD_NOT;
use crate::args::CheckArgs;
use crate::tell::tell;

#[cfg(unix)]
mod bench;
#[cfg(unix)]
mod child;
#[cfg(unix)]
mod corpus;
#[cfg(unix)]
mod judge;
#[cfg(unix)]
mod outcome;
#[cfg(unix)]
mod plan;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod scenario;
#[cfg(unix)]
mod text;
#[cfg(unix)]
mod wire;

/// Checks as the arguments say.
#[cfg(unix)]
pub fn run(args: &CheckArgs) -> ExitCode {
    match plan::check(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            match error.downcast_ref::<io::Error>().map(io::Error::kind) {
                // Nobody reads the report any more, so nobody is there to be told either.
                Some(io::ErrorKind::BrokenPipe) => {}
                _ => {
                    tell(format_args!("check: {error}"));
                }
            }
            ExitCode::from(COULD_NOT)
        }
    }
}

/// Process groups and their signals are what a fresh start and its end are made of.
#[cfg(not(unix))]
pub fn run(_: &CheckArgs) -> ExitCode {
    tell(format_args!("check needs a unix system"));
    ExitCode::from(COULD_NOT)
}
