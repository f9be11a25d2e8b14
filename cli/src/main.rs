//! The command `linegate`: chooses the subcommand; everything else stands in the subcommand's module.
//!
//! Exit status of every subcommand: 0 clean, 1 refusals or violations, 2 could not do it (`run`: the server's own status
//! where no refusal ended the session).

mod args;
mod check;
mod example_server;
mod position;
mod rules;
mod run;
mod scan;
mod tell;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

/// Exit status where the command could not do what it was asked for.
const COULD_NOT: u8 = 2;

fn main() -> ExitCode {
    #[cfg(unix)]
    linegate_host::supervise::adopt_orphans();
    match Cli::parse().command {
        Command::Scan(args) => scan::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Rules(args) => rules::run(&args),
        Command::ExampleServer(args) => example_server::run(&args),
    }
}
