//! The command `linegate` as a function: chooses the subcommand; everything else stands in the subcommand's module.
//!
//! The binary calls it, and so does every package of another language that brings the command along: one program, whatever
//! starts it. It speaks to the process's own descriptors and belongs into a process of its own.
//!
//! Exit status of every subcommand: 0 clean, 1 refusals or violations, 2 could not do it (`run`: the server's own status
//! where no refusal ended the session).

use std::ffi::OsString;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::tell::tell;
use crate::trouble::{Done, Trouble};

mod args;
#[cfg(unix)]
mod check;
mod config;
#[cfg(unix)]
mod environment;
mod example_server;
mod gates;
mod position;
mod rules;
#[cfg(unix)]
mod run;
mod scan;
#[cfg(unix)]
mod secrets;
mod tell;
mod trouble;

/// Exit status where nothing was refused or violated.
const CLEAN: u8 = 0;
/// Exit status where something was.
const FAULTS: u8 = 1;
/// Exit status where the command could not do what it was asked for.
const COULD_NOT: u8 = 2;

/// Does what `arguments` say, and gives the exit status. `program` are the words by which this program is started: `check`
/// needs them for its example server.
pub fn main(program: Vec<OsString>, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    #[cfg(unix)]
    linegate_host::supervise::adopt_orphans();
    let words = std::iter::once(OsString::from("linegate")).chain(arguments);
    let Cli { command } = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(told) => {
            // Where nobody reads it there is nobody left to tell that.
            let _ = told.print();
            return u8::try_from(told.exit_code()).unwrap_or(COULD_NOT);
        }
    };
    // Gates keep the names that it adds to their tables for as long as the program runs.
    let command: &'static Command = Box::leak(Box::new(command));
    do_it(command, program).unwrap_or_else(|trouble| {
        if let Trouble::Because(why) = trouble {
            tell(format_args!("{}: {why}", command.name()));
        }
        COULD_NOT
    })
}

fn do_it(command: &'static Command, program: Vec<OsString>) -> Done {
    match command {
        Command::Scan(args) => scan::run(args),
        #[cfg(unix)]
        Command::Check(args) => check::run(args, program),
        #[cfg(unix)]
        Command::Run(args) => run::run(args),
        #[cfg(unix)]
        Command::Doctor(args) => config::doctor::run(args),
        Command::Wrap(args) => config::wrap(args),
        Command::Unwrap(args) => config::unwrap(args),
        // Process groups and their signals are what these are made of.
        #[cfg(not(unix))]
        Command::Check(_) | Command::Run(_) | Command::Doctor(_) => {
            drop(program);
            Err("this command needs a unix system".into())
        }
        Command::Rules(args) => rules::run(args),
        Command::ExampleServer(args) => example_server::run(args),
    }
}
