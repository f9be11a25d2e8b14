//! The plan: which scenarios the arguments ask for, how the server is started, and carrying it out in order.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;

use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::baseline::{self, Baseline};
use super::finding::Class;
use super::outcome::{Outcome, Verdict};
use super::past::Launch;
use super::recorded;
use super::replay::Replay;
use super::report::{self, Outline};
use super::scenario::{Named, Scenario, Turn};
use super::setup::{Action, MARKER, Server, Setup};
use super::strays::Bystanders;
use super::{source, text, wire};
use crate::args::CheckArgs;
use crate::trouble::Trouble;

/// Whether nothing was violated. `program` starts the program that this is, which brings the example server.
///
/// # Errors
///
/// The check could not be done, or the report can't be written.
pub fn check(args: &CheckArgs, program: Vec<OsString>) -> Result<bool, Trouble> {
    let plan = Plan::new(args)?;
    let mut output = anstream::stdout().lock();
    if args.list {
        plan.list(&mut output).map_err(|error| Trouble::writing("the list", &error))?;
        return Ok(true);
    }

    let replay = args.replay.as_deref().map(Replay::read).transpose()?;
    let hints = match &args.source {
        Some(path) => source::look(path).map_err(|error| format!("cannot look at {}: {error}", path.display()))?,
        None => Vec::new(),
    };
    // A file that can't be read is told before the server is started so many times.
    let baseline = match &args.baseline {
        Some(path) if !args.update_baseline => Baseline::read(path)?,
        _ => Baseline::default(),
    };
    let setup = setup(args, replay.as_ref(), program)?;
    let mut outcomes = match replay {
        Some(replay) => vec![replay.run(&setup).map_err(|error| cannot_start(&setup, &error))?],
        None => plan.carry_out(&setup)?,
    };
    nothing_checked(&outcomes)?;
    let unused = baseline.accept(&mut outcomes);
    if let Some(path) = &args.baseline
        && args.update_baseline
    {
        baseline::update(path, &outcomes)?;
    }
    let outline = Outline::new(&setup, &outcomes, &args.classes).with_hints(&hints).with_unused(&unused);
    if let Some(folder) = &args.report {
        report::save(&outline, folder)
            .map_err(|error| format!("cannot write the report to {}: {error}", folder.display()))?;
    }
    report::print(&outline, args.format, &mut output).map_err(|error| Trouble::writing("the report", &error))?;
    Ok(outline.clean() || args.update_baseline)
}

/// What became of the scenarios at a server that is started with the safe variables and these alone, in this directory.
///
/// # Errors
///
/// The check could not be done: why.
pub fn examine(
    args: &CheckArgs,
    env: Vec<(String, String)>,
    directory: Option<PathBuf>,
) -> Result<(Setup, Vec<Outcome>), String> {
    let plan = Plan::new(args)?;
    let mut setup = setup(args, None, Vec::new())?;
    setup.launch.env = env;
    setup.bare = true;
    setup.launch.directory = directory;
    let outcomes = plan.carry_out(&setup)?;
    Ok((setup, outcomes))
}

/// Where no scenario could run, a check has shown nothing.
fn nothing_checked(outcomes: &[Outcome]) -> Result<(), String> {
    let mut reported = outcomes.iter().filter(|outcome| outcome.reported);
    if reported.any(|outcome| outcome.verdict() != Verdict::Skip) {
        return Ok(());
    }
    let why = outcomes.iter().filter(|outcome| outcome.reported).find_map(|outcome| outcome.not_run);
    Err(format!("nothing was checked: {}", why.unwrap_or("no scenario was chosen")))
}

/// What the scenarios have in common.
fn setup(args: &CheckArgs, replay: Option<&Replay>, program: Vec<OsString>) -> Result<Setup, String> {
    if !args.revision.is_mcp() {
        return Err("a server is checked by MCP; give one of its revisions, or auto".to_owned());
    }
    let recorded = replay.and_then(|replay| replay.command.as_ref());
    let server = match (args.command.as_slice(), recorded) {
        ([], None) => Server::Example(program),
        ([], Some(command)) => Server::Command(command.clone()),
        (command, _) => Server::Command(command.to_vec()),
    };
    let members = |option: &str, text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        _ => Err(format!(r#"the second value of {option} is a JSON object, such as '{{"text":"{MARKER}"}}'"#)),
    };
    let action = match (args.call.as_slice(), args.request.as_slice(), &server) {
        ([name, arguments], ..) => Action::Tool(name.clone(), members("--call", arguments)?),
        (_, [method, params], _) => Action::Request(method.clone(), members("--request", params)?),
        (.., Server::Example(_)) => Action::Tool("record".to_owned(), wire::object(json!({"text": MARKER}))),
        (.., Server::Command(_)) => Action::Harmless,
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    // The server runs in a group of its own and does not get the terminal's signals: it is ended from here.
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .map_err(|error| format!("cannot handle signals: {error}"))?;
    }
    let env = replay.map_or(&[][..], |replay| &replay.env).iter().chain(&args.env).cloned().collect();
    let directory = args.cwd.clone().or_else(|| replay.and_then(|replay| replay.directory.clone()));
    if let Some(missing) = directory.as_ref().filter(|directory| !directory.is_dir()) {
        return Err(format!("there is no directory {} to start the server in", missing.display()));
    }
    let launch = Launch { env, directory, timeout: args.timeout, interrupted };
    Ok(Setup {
        launch,
        server,
        action,
        wanted: args.revision,
        settled: OnceLock::new(),
        outstayed: AtomicUsize::new(0),
        bare: false,
        idle: args.idle,
        break_env: args.break_env.clone(),
        bystanders: Bystanders::new(),
    })
}

/// The scenarios that run.
struct Plan {
    scenarios: Vec<Selected>,
    /// Whether each scenario judges its own stdout, because none was chosen that judges that of all.
    each: bool,
    /// How many servers may run at once.
    jobs: usize,
    /// How often each scenario runs.
    repeat: usize,
}

struct Selected {
    scenario: Scenario,
    /// Whether it stands in the report; others run because a selected one needs them.
    reported: bool,
    /// Whether its stdout is judged with that of the others; not where it only looks up what the user has named.
    heard: bool,
}

impl Plan {
    /// The scenarios that `--only` and `--skip` leave, by name or by the beginning of it, and what they need.
    fn new(args: &CheckArgs) -> Result<Self, String> {
        let recorded = args.corpus.as_deref().map(recorded::read).transpose()?.unwrap_or_default();
        let all = Scenario::all(recorded);
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

        let judge = all.iter().find(|scenario| scenario.is_stdout());
        let each = judge.is_some_and(|judge| !selected(judge) && !skipped(judge));
        let speaks = all.iter().any(|scenario| selected(scenario) && !scenario.is_stdout());
        // stdout alone is judged on the traffic of everything that is not left out.
        let for_stdout = !speaks && all.iter().any(|scenario| selected(scenario) && scenario.is_stdout());
        let named_request = match (args.call.is_empty(), args.request.is_empty()) {
            (false, _) => Named::Tool,
            (true, false) => Named::Request,
            (true, true) => Named::Nothing,
        };
        let scenarios: Vec<_> = all
            .into_iter()
            .filter_map(|scenario| {
                let reported = selected(&scenario);
                let heard = reported || scenario.is_handshake() || (for_stdout && !skipped(&scenario));
                let needed = !args.list && (heard || scenario.looks_up(named_request));
                (reported || needed).then_some(Selected { scenario, reported, heard })
            })
            .collect();
        if !scenarios.iter().any(|selected| selected.reported) {
            return Err("--only and --skip leave no check".to_owned());
        }
        let jobs = args.jobs.or(thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        Ok(Self { scenarios, each, jobs, repeat: args.repeat.get() })
    }

    /// Writes the names of the scenarios.
    fn list(&self, output: &mut impl Write) -> io::Result<()> {
        for selected in &self.scenarios {
            writeln!(output, "{}", selected.scenario.name)?;
        }
        output.flush()
    }

    /// Runs the scenarios, turn by turn; gives what became of them in the order of the plan.
    fn carry_out(&self, setup: &Setup) -> Result<Vec<Outcome>, String> {
        let mut progress = Progress { shown: io::stderr().is_terminal(), done: 0, of: self.scenarios.len() };
        let mut slots: Vec<Option<Outcome>> = self.scenarios.iter().map(|_| None).collect();
        for turn in [Turn::First, Turn::Together, Turn::Alone, Turn::Last] {
            let jobs = if turn == Turn::Together { self.jobs } else { 1 };
            let due: Vec<_> = (0..self.scenarios.len()).filter(|at| self.turn(*at) == Some(turn)).collect();
            // In a turn of its own each scenario sees those before it.
            let heaps = if turn == Turn::Together { vec![due] } else { due.into_iter().map(|at| vec![at]).collect() };
            for heap in heaps {
                self.run_heap(setup, &heap, jobs, &mut slots, &mut progress)?;
            }
        }
        Ok(slots.into_iter().flatten().collect())
    }

    fn turn(&self, at: usize) -> Option<Turn> {
        self.scenarios.get(at).map(|selected| selected.scenario.turn())
    }

    /// Runs these scenarios, so many at once. One that fails beside others by what may be want of time is run again alone:
    /// a server that can't run twice on one machine, or a busy machine, is no violation.
    fn run_heap(
        &self,
        setup: &Setup,
        heap: &[usize],
        jobs: usize,
        slots: &mut [Option<Outcome>],
        progress: &mut Progress,
    ) -> Result<(), String> {
        let mut found = Vec::new();
        {
            let before: Vec<_> = slots.iter().flatten().collect();
            let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
            let (results_in, results) = mpsc::channel();
            thread::scope(|scope| {
                for _ in 0..jobs.min(heap.len()) {
                    let (results_in, next, stopped, before) = (results_in.clone(), &next, &stopped, &before);
                    scope.spawn(move || {
                        while let Some(at) = heap.get(next.fetch_add(1, Ordering::Relaxed))
                            && !stopped.load(Ordering::Relaxed)
                        {
                            let outcome = self.run_one(setup, *at, before);
                            stopped.fetch_or(outcome.is_err(), Ordering::Relaxed);
                            // The receiver lives as long as this scope.
                            let _ = results_in.send((*at, outcome));
                        }
                    });
                }
                drop(results_in);
                for (at, outcome) in results {
                    progress.step(&outcome);
                    found.push((at, outcome));
                }
            });
            for (at, outcome) in &mut found {
                let only_lifecycle =
                    |outcome: &Outcome| outcome.findings.iter().all(|finding| finding.class == Class::Lifecycle);
                if let Ok(Some(first)) = outcome
                    && jobs.min(heap.len()) > 1
                    && first.failed()
                    && only_lifecycle(first)
                {
                    progress.show(&format!("{} again, alone", first.name));
                    *outcome = self.run_one(setup, *at, &before);
                }
            }
            progress.show("");
        }
        for (at, outcome) in found {
            if let Some(slot) = slots.get_mut(at) {
                *slot = outcome?;
            }
        }
        Ok(())
    }

    /// Runs one scenario as often as it is to be: the outcome is that of the first run that failed, or of the first.
    fn run_one(&self, setup: &Setup, at: usize, before: &[&Outcome]) -> Result<Option<Outcome>, String> {
        let Some(Selected { scenario, reported, heard }) = self.scenarios.get(at) else { return Ok(None) };
        let repeat = if scenario.is_stdout() { 1 } else { self.repeat };
        let (mut kept, mut failed): (Option<Outcome>, usize) = (None, 0);
        for _ in 0..repeat {
            let outcome = scenario.run(setup, before, self.each);
            if setup.launch.interrupted.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            let outcome = outcome.map_err(|error| cannot_start(setup, &error))?;
            failed += usize::from(outcome.failed());
            // A stdout that was dirty once is shown rather than one that was not.
            let rank = |outcome: &Outcome| (outcome.failed(), !outcome.soiled.is_empty());
            if kept.as_ref().is_none_or(|kept| rank(kept) < rank(&outcome)) {
                kept = Some(outcome);
            }
        }
        Ok(kept.map(|mut outcome| {
            if repeat > 1 && outcome.not_run.is_none() {
                outcome.notes.push(format!("failed {failed} times of {repeat}"));
            }
            // Without it nothing else ran, and a check of nothing is not clean.
            let missed = scenario.is_handshake() && setup.settled.get().is_none();
            if !heard {
                outcome.runs.clear();
                outcome.soiled.clear();
            }
            Outcome { reported: *reported || missed, ..outcome }
        }))
    }
}

/// What is shown on a terminal while the check runs.
struct Progress {
    shown: bool,
    done: usize,
    of: usize,
}

impl Progress {
    /// One more scenario is done.
    fn step(&mut self, outcome: &Result<Option<Outcome>, String>) {
        self.done += 1;
        if let Ok(Some(outcome)) = outcome {
            self.show(&format!("[{}/{}] {}", self.done, self.of, outcome.name));
        }
    }

    /// Shows one line in the place of the last.
    fn show(&self, line: &str) {
        if self.shown {
            // Progress is a courtesy.
            let _ = write!(io::stderr(), "\r\x1b[K{line}");
        }
    }
}

fn cannot_start(setup: &Setup, error: &io::Error) -> String {
    match &setup.server {
        Server::Command(command) if error.kind() == io::ErrorKind::Other => {
            format!("cannot check {}: {error}", text::command_line(command))
        }
        Server::Command(command) => format!("cannot run {}: {error}", text::command_line(command)),
        Server::Example(_) if error.kind() == io::ErrorKind::Other => {
            format!("cannot check the example server: {error}")
        }
        Server::Example(_) => format!("cannot run the example server: {error}"),
    }
}
