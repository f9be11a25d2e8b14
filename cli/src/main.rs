//! The command `linegate`: chooses the subcommand; everything else stands in the subcommand's module.
//!
//! Exit status of every subcommand: 0 clean, 1 refusals or violations, 2 could not do it (`run`: the server's own status
//! where no refusal ended the session).

mod args;
#[cfg(unix)]
mod check;
mod example_server;
mod gates;
mod position;
mod rules;
#[cfg(unix)]
mod run;
mod scan;
mod tell;
mod trouble;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::tell::tell;
use crate::trouble::{Done, Trouble};

/// Exit status where the command could not do what it was asked for.
const COULD_NOT: u8 = 2;

fn main() -> ExitCode {
    #[cfg(unix)]
    linegate_host::supervise::adopt_orphans();
    let Cli { command } = Cli::parse();
    // Gates keep the names that it adds to their tables for as long as the program runs.
    let command: &'static Command = Box::leak(Box::new(command));
    do_it(command).unwrap_or_else(|trouble| {
        if let Trouble::Because(why) = trouble {
            tell(format_args!("{}: {why}", command.name()));
        }
        ExitCode::from(COULD_NOT)
    })
}

fn do_it(command: &'static Command) -> Done {
    match command {
        Command::Scan(args) => scan::run(args),
        #[cfg(unix)]
        Command::Check(args) => check::run(args),
        #[cfg(unix)]
        Command::Run(args) => run::run(args),
        // Process groups and their signals are what these are made of.
        #[cfg(not(unix))]
        Command::Check(_) | Command::Run(_) => Err("this command needs a unix system".into()),
        Command::Rules(args) => rules::run(args),
        Command::ExampleServer(args) => example_server::run(args),
    }
}
