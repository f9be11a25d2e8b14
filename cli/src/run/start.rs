//! Makes of the arguments what a session needs, starts the server, and conducts the session.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc;

use linegate::{Direction, Options};
use linegate_host::supervise::{Supervised, Waits};

use super::capture::{Bounds, Capture};
use super::client::Patience;
use super::report::Report;
use super::session::Session;
use super::shared::Shared;
use super::signals;
use super::stderr::Place;
use crate::args::RunArgs;
use crate::secrets::{SHORTEST, Secrets};
use crate::tell::{printable, tell};
use crate::{environment, gates};

/// Runs the session. Gives the exit status, or why there was no session.
pub fn run(args: &'static RunArgs) -> Result<u8, String> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err("give the server's command after --".to_owned());
    };
    if !args.answer_wait.is_zero() && !args.revision.is_mcp() {
        return Err("--answer-wait needs a revision of MCP or auto: plain JSON-RPC has no sessions".to_owned());
    }
    let (events, heard) = mpsc::channel();
    let handled = signals::handle(events.clone()).map_err(|error| format!("cannot handle signals: {error}"))?;
    let report = Report::new(args)?;
    let environment = environment(args)?;
    let secrets = secrets(args, &environment);
    // Only where there is something to do for it does this process stand between the server and its stderr.
    let place = match &args.stderr {
        Some(path) => Some(Place::Kept(capture(args, path)?)),
        None if secrets.is_empty() => None,
        None => Some(Place::Own),
    };
    let (client, server) = (options(args, Direction::FromClient)?, options(args, Direction::FromServer)?);
    // Plain JSON-RPC has no sessions.
    let tracker = args.revision.is_mcp().then(|| gates::track(&client, &server)).transpose()?;
    let gates = (gates::open(client)?, gates::open(server)?);

    let mut command = Command::new(program);
    command.args(arguments);
    if args.clean_env {
        command.env_clear().envs(environment::safe());
    }
    command.envs(environment);
    if place.is_some() {
        command.stderr(Stdio::piped());
    }
    let waits = Waits { close: args.close_wait, term: args.term_wait };
    let patience = Patience { answers: args.answer_wait, closed: args.close_wait };
    handled.pass_on();
    let server = Supervised::spawn(command, waits)
        .map_err(|error| format!("cannot start {}: {error}", printable(&program.to_string_lossy())))?;
    if args.observe {
        tell(format_args!("observing only: what would be refused is told and passed on. This is no protection."));
    }
    let shared = Arc::new(Shared::new(args, tracker, report, secrets, events));
    Session::start(server, gates, place, (waits, patience), shared, heard)
        .and_then(Session::conduct)
        .map_err(|error| format!("cannot run the session: {error}"))
}

fn options(args: &'static RunArgs, from: Direction) -> Result<Options, String> {
    let mut options = args.allow.applied_to(gates::options(from)?);
    options.revision = args.revision;
    options.policy = args.policy();
    if let Some(max_frame) = args.max_frame {
        options.limits.max_frame = max_frame;
    }
    Ok(options)
}

/// The variables that the user gives the server.
fn environment(args: &RunArgs) -> Result<Vec<(OsString, OsString)>, String> {
    args.env.iter().map(|variable| Ok((variable.name().into(), variable.value()?))).collect()
}

/// What must not be read in the server's words: the secrets that it is given, and what the user names.
fn secrets(args: &RunArgs, given: &[(OsString, OsString)]) -> Secrets {
    let inherited: Vec<_> = if args.clean_env { environment::safe().collect() } else { std::env::vars_os().collect() };
    let mut secrets = Secrets::of_variables(inherited.into_iter().chain(given.iter().cloned()));
    for (variable, (_, value)) in args.env.iter().zip(given).filter(|(variable, _)| variable.is_from_file()) {
        secrets.add_value(variable.name(), value.as_bytes());
        if !value.is_empty() && value.as_bytes().split(|byte| *byte == b'\n').all(|line| line.len() < SHORTEST) {
            let name = printable(variable.name());
            tell(format_args!(
                "the value of {name} is shorter than {SHORTEST} bytes, and is not masked: it would stand in innocent words"
            ));
        }
    }
    args.mask.iter().for_each(|pattern| secrets.add_pattern(pattern.clone()));
    secrets
}

fn capture(args: &RunArgs, path: &Path) -> Result<Capture, String> {
    let bounds = Bounds { size: args.stderr_size, older: args.stderr_older, age: args.stderr_age };
    Capture::open(path, bounds)
        .map_err(|error| format!("cannot keep the server's stderr in {}: {error}", path.display()))
}
