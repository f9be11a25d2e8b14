//! `linegate run`: stands between a client (stdin and stdout of this process) and a server that it starts.
//!
//! One thread a direction: [`client`] judges what the client sends and passes it to the server, [`server`] judges what the
//! server prints and passes it to the client; a third one masks its [`stderr`] or keeps it in a file ([`capture`]), where there
//! is something to mask or to keep. None waits for another; where a client that takes nothing holds them up, the [`clock`] of the
//! server's time stands. The main thread [`start`]s the server, and then, in [`session`], only decides when the session
//! ends and ends the server. What they all use is in [`shared`], what is remembered of the session among it. stdout carries
//! checked lines and replies, nothing else.

use crate::args::RunArgs;
use crate::trouble::Done;

mod append;
mod capture;
mod client;
mod clock;
mod excerpt;
mod report;
mod server;
mod session;
mod shared;
mod signals;
mod start;
mod stderr;
mod wire;

/// Runs a session as the arguments say. The exit status is the server's, or 1 where a refusal ended the session.
pub fn run(args: &'static RunArgs) -> Done {
    Ok(start::run(args)?)
}
