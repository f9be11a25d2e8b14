//! `linegate run`: stands between a client (stdin and stdout of this process) and a server that it starts.
//!
//! One thread a direction: [`client`] judges what the client sends and passes it to the server, [`server`] judges what the
//! server prints and passes it to the client. Neither waits for the other. The main thread, in [`session`], only decides
//! when the session ends and ends the server. stdout carries checked lines and replies, nothing else.

use std::process::ExitCode;

use crate::COULD_NOT;
use crate::args::RunArgs;
use crate::tell::tell;

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod excerpt;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod session;
#[cfg(unix)]
mod wire;

/// Runs a session as the arguments say. The exit status is the server's, or 1 where a refusal ended the session.
#[cfg(unix)]
pub fn run(args: &RunArgs) -> ExitCode {
    match session::run(args) {
        Ok(code) => ExitCode::from(code),
        Err(text) => {
            tell(format_args!("{text}"));
            ExitCode::from(COULD_NOT)
        }
    }
}

/// Process groups and their signals are what `run` is made of.
#[cfg(not(unix))]
pub fn run(_: &RunArgs) -> ExitCode {
    tell(format_args!("run needs a unix system"));
    ExitCode::from(COULD_NOT)
}
