//! The plan: which scenarios the arguments ask for, how the server is started, and carrying it out in order.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::child::Launch;
use super::outcome::Outcome;
use super::report::{self, Outline};
use super::scenario::Scenario;
use super::setup::{Action, MARKER, Server, Setup};
use super::{text, wire};
use crate::args::CheckArgs;
use crate::trouble::Trouble;

/// Whether nothing was violated.
///
/// # Errors
///
/// The check could not be done, or the report can't be written.
pub fn check(args: &CheckArgs) -> Result<bool, Trouble> {
    let plan = Plan::new(args)?;
    let mut output = anstream::stdout().lock();
    if args.list {
        plan.list(&mut output).map_err(|error| Trouble::writing("the list", &error))?;
        return Ok(true);
    }

    let mut setup = setup(args)?;
    let outcomes = plan.carry_out(&mut setup)?;
    let outline = Outline::new(&setup, &outcomes);
    if let Some(folder) = &args.report {
        report::save(&outline, folder)
            .map_err(|error| format!("cannot write the report to {}: {error}", folder.display()))?;
    }
    report::print(&outline, args.format, &mut output).map_err(|error| Trouble::writing("the report", &error))?;
    Ok(outline.clean())
}

/// What the scenarios have in common.
fn setup(args: &CheckArgs) -> Result<Setup, String> {
    if !args.revision.is_mcp() {
        return Err("a server is checked by MCP; give one of its revisions, or auto".to_owned());
    }
    let server = if args.command.is_empty() {
        Server::Example(std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?)
    } else {
        Server::Command(args.command.clone())
    };
    let action = match (args.call.as_slice(), &server) {
        ([name, arguments], _) => match serde_json::from_str(arguments) {
            Ok(Value::Object(arguments)) => Action::Tool(name.clone(), arguments),
            _ => {
                return Err(
                    r#"the second value of --call is a JSON object, such as '{"text":"{{marker}}"}'"#.to_owned()
                );
            }
        },
        (_, Server::Example(_)) => Action::Tool("record".to_owned(), wire::object(json!({"text": MARKER}))),
        (_, Server::Command(_)) => Action::Harmless,
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    // The server runs in a group of its own and does not get the terminal's signals: it is ended from here.
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .map_err(|error| format!("cannot handle signals: {error}"))?;
    }
    let launch = Launch { env: args.env.clone(), timeout: args.timeout, interrupted };
    Ok(Setup { launch, server, action, wanted: args.revision, settled: None, ends_in_time: true })
}

/// The scenarios that run.
struct Plan {
    scenarios: Vec<Selected>,
}

struct Selected {
    scenario: Scenario,
    /// Whether it stands in the report; others run because a selected one needs them.
    reported: bool,
}

impl Plan {
    /// The scenarios that `--only` and `--skip` leave, by name or by the beginning of it, and what they need.
    fn new(args: &CheckArgs) -> Result<Self, String> {
        let all = Scenario::all();
        for given in args.only.iter().chain(&args.skip) {
            // A slip of the pen must not make a check that checks nothing.
            if !all.iter().any(|scenario| scenario.name.starts_with(given)) {
                return Err(format!("no check is called {given}; --list shows the names"));
            }
        }
        let named = |list: &[String], name: &str| list.iter().any(|given| name.starts_with(given.as_str()));
        let skipped = |scenario: &Scenario| named(&args.skip, &scenario.name);
        let selected =
            |scenario: &Scenario| (args.only.is_empty() || named(&args.only, &scenario.name)) && !skipped(scenario);

        let speaks = all.iter().any(|scenario| selected(scenario) && !scenario.is_stdout());
        // stdout alone is judged on the traffic of everything that is not left out.
        let for_stdout = !speaks && all.iter().any(|scenario| selected(scenario) && scenario.is_stdout());
        let scenarios: Vec<_> = all
            .into_iter()
            .filter_map(|scenario| {
                let reported = selected(&scenario);
                let needed = !args.list && (scenario.is_handshake() || (for_stdout && !skipped(&scenario)));
                (reported || needed).then_some(Selected { scenario, reported })
            })
            .collect();
        if !scenarios.iter().any(|selected| selected.reported) {
            return Err("--only and --skip leave no check".to_owned());
        }
        Ok(Self { scenarios })
    }

    /// Writes the names of the scenarios.
    fn list(&self, output: &mut impl Write) -> io::Result<()> {
        for selected in &self.scenarios {
            writeln!(output, "{}", selected.scenario.name)?;
        }
        output.flush()
    }

    /// Runs the scenarios in order.
    fn carry_out(&self, setup: &mut Setup) -> Result<Vec<Outcome>, String> {
        let progress = io::stderr().is_terminal();
        let mut outcomes = Vec::new();
        for (number, selected) in self.scenarios.iter().enumerate() {
            let Selected { scenario, reported } = selected;
            if progress {
                show(&format!("[{}/{}] {}", number + 1, self.scenarios.len(), scenario.name));
            }
            let outcome = scenario.run(setup, &outcomes);
            if progress {
                show("");
            }
            if setup.launch.interrupted.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            let outcome = outcome.map_err(|error| cannot_start(setup, &error))?;
            outcomes.push(Outcome { reported: *reported, ..outcome });
        }
        Ok(outcomes)
    }
}

fn cannot_start(setup: &Setup, error: &io::Error) -> String {
    match &setup.server {
        Server::Command(command) => format!("cannot run {}: {error}", text::command_line(command)),
        Server::Example(_) => format!("cannot run the example server: {error}"),
    }
}

/// Shows one line of progress in the place of the last.
fn show(line: &str) {
    // Progress is a courtesy.
    let _ = write!(io::stderr(), "\r\x1b[K{line}");
}
