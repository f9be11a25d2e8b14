//! The plan: which scenarios the arguments ask for, how the server is started, and carrying it out in order.

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use linegate::Revision;
use serde_json::{Value, json};

use super::bench::{Action, Bench, MARKER, Server};
use super::child::{Exit, Launch};
use super::judge::{self, Class, Finding};
use super::outcome::Outcome;
use super::report::Report;
use super::scenario::Scenario;
use super::{text, wire};
use crate::args::{CheckArgs, Format};

/// Whether nothing was violated.
///
/// # Errors
///
/// The check could not be done, in words; or an [`io::Error`], where the report can't be printed.
pub fn check(args: &CheckArgs) -> Result<bool, Box<dyn Error>> {
    let plan = Plan::new(args)?;
    let mut output = anstream::stdout().lock();
    if args.list {
        for selected in &plan.scenarios {
            writeln!(output, "{}", selected.scenario.name)?;
        }
        return Ok(true);
    }

    let mut bench = bench(args)?;
    let outcomes = plan.carry_out(&mut bench)?;
    let report = Report::new(&bench, &outcomes);
    if let Some(folder) = &args.report {
        report.save(folder).map_err(|error| format!("cannot write the report to {}: {error}", folder.display()))?;
    }
    match args.format {
        Format::Text => report.text(&mut output)?,
        Format::Json => report.json(&mut output)?,
    }
    output.flush()?;
    Ok(!report.outcomes().any(Outcome::failed))
}

/// What the scenarios have in common.
fn bench(args: &CheckArgs) -> Result<Bench, String> {
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
        signal_hook::flag::register(signal, Arc::clone(&interrupted)).map_err(|error| error.to_string())?;
    }
    let launch = Launch { env: args.env.clone(), timeout: args.timeout, interrupted };
    Ok(Bench { launch, server, action, wanted: args.revision, settled: None, ends: true })
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

    /// Runs the scenarios in order; the outcomes of those that are reported, marked.
    fn carry_out(&self, bench: &mut Bench) -> Result<Vec<(bool, Outcome)>, String> {
        let progress = io::stderr().is_terminal();
        let mut outcomes = Vec::new();
        for (number, selected) in self.scenarios.iter().enumerate() {
            let Selected { scenario, reported } = selected;
            if progress {
                show(&format!("[{}/{}] {}", number + 1, self.scenarios.len(), scenario.name));
            }
            let outcome = if scenario.is_stdout() {
                stdout_clean(scenario, bench.settled, &outcomes)
            } else {
                scenario.run(bench)
            };
            if progress {
                show("");
            }
            if bench.launch.interrupted.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            outcomes.push((*reported, outcome.map_err(|error| cannot_start(bench, &error))?));
        }
        Ok(outcomes)
    }
}

fn cannot_start(bench: &Bench, error: &io::Error) -> String {
    match &bench.server {
        Server::Command(command) => format!("cannot run {}: {error}", text::command_line(command)),
        Server::Example(_) => format!("cannot run the example server: {error}"),
    }
}

/// Shows one line of progress in the place of the last.
fn show(line: &str) {
    // Progress is a courtesy.
    let _ = write!(io::stderr(), "\r\x1b[K{line}");
}

/// Judges the stdout of all scenarios so far.
fn stdout_clean(scenario: &Scenario, settled: Option<Revision>, outcomes: &[(bool, Outcome)]) -> io::Result<Outcome> {
    let mut outcome = Outcome::new(scenario);
    let mut dirty = Vec::new();
    let mut bytes = 0;
    for (_, judged) in outcomes {
        for (number, run) in judged.runs.iter().enumerate() {
            bytes += run.stdout.len();
            let whole = run.exit != Exit::Killed;
            if let Some(mut fault) = judge::stdout(&run.stdout, settled.unwrap_or_default(), whole)? {
                fault.run = number;
                dirty.push(judged.name.as_str());
                outcome.fault.get_or_insert((judged.name.clone(), fault));
            }
        }
    }
    if let Some((name, fault)) = &outcome.fault {
        dirty.dedup();
        let what = format!(
            "line {} of stdout in {name} is refused: {} at byte {} ({}) - dirty in {} of {} scenarios",
            fault.line,
            fault.code,
            fault.at,
            fault.code.text(),
            dirty.len(),
            outcomes.len(),
        );
        let fix = "Write logs, banners and progress to stderr, and keep libraries and child processes off stdout.";
        outcome.findings.push(Finding { class: Class::Stdout, what, fix });
    } else {
        outcome.notes.push(format!("{bytes} bytes of stdout, all of them messages"));
    }
    Ok(outcome)
}
