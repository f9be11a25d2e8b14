//! The scenarios: what each sends to a fresh start of the server, and what it makes of the answer.

use std::io;
use std::time::Duration;

use linegate::Revision;
use serde_json::{Value, json};

use super::bench::{Action, Bench, Server, greet, marker_of};
use super::child::Exit;
use super::corpus::{Target, Then, VECTORS, Vector};
use super::judge::{self, Class, Finding};
use super::outcome::{Outcome, Session};
use super::wire::{AFTER, Answer, MODERN, Members, NEWEST_LEGACY, Request, TESTED};

/// How long an answer behind a malformed line is waited for: the server is up, and most close or answer at once.
const SETTLE: Duration = Duration::from_secs(2);

/// One scenario of the plan.
pub struct Scenario {
    /// Its name, as `--list` shows it and `--only` takes it.
    pub name: String,
    kind: Kind,
}

enum Kind {
    Handshake,
    ToolList,
    Call,
    Malformed(&'static Vector),
    Eof { traffic: bool },
    Stdout,
}

impl Scenario {
    /// Every scenario, in the order in which they run.
    pub fn all() -> Vec<Self> {
        let named = |name: &str, kind| Self { name: name.to_owned(), kind };
        let mut all = vec![
            named("handshake", Kind::Handshake),
            named("tool-list", Kind::ToolList),
            named("call", Kind::Call),
            named("eof/at-once", Kind::Eof { traffic: false }),
            named("eof/after-traffic", Kind::Eof { traffic: true }),
        ];
        all.extend(VECTORS.iter().map(|vector| named(&format!("malformed/{}", vector.name), Kind::Malformed(vector))));
        all.push(named("stdout-clean", Kind::Stdout));
        all
    }

    /// Whether this is the handshake, which settles the revision of all others.
    pub const fn is_handshake(&self) -> bool {
        matches!(self.kind, Kind::Handshake)
    }

    /// Whether this one starts nothing itself, but judges the stdout of all others.
    pub const fn is_stdout(&self) -> bool {
        matches!(self.kind, Kind::Stdout)
    }

    /// What it shows, in one sentence.
    pub const fn why(&self) -> &'static str {
        match self.kind {
            Kind::Handshake => "The server answers the first request of a session.",
            Kind::ToolList => "The server lists its tools.",
            Kind::Call => "The server answers a valid call, with its effect once.",
            Kind::Malformed(vector) => vector.why,
            Kind::Eof { .. } => "The end of input is the one portable signal to end.",
            Kind::Stdout => "A client reads every byte of stdout as part of a message.",
        }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// The server can't be started.
    pub fn run(&self, bench: &mut Bench) -> io::Result<Outcome> {
        let mut outcome = Outcome::new(self);
        match (&self.kind, bench.settled) {
            // How a probe ends says nothing of the server: its revision may be foreign to it.
            (Kind::Handshake, _) => return handshake(bench, &mut outcome).map(|()| outcome),
            (Kind::Eof { traffic: false }, _) => end_of_input(bench, None, &mut outcome)?,
            (_, None) => outcome.not_run = Some("there was no handshake"),
            (Kind::Eof { traffic: true }, settled) => end_of_input(bench, settled, &mut outcome)?,
            (Kind::ToolList, Some(revision)) => tool_list(bench, revision, &mut outcome)?,
            (Kind::Call, Some(revision)) => call(bench, revision, &mut outcome)?,
            (Kind::Malformed(vector), Some(revision)) if !vector.applies_to(revision) => {
                outcome.not_run = Some("this revision allows it");
            }
            (Kind::Malformed(vector), Some(revision)) => malformed(bench, revision, vector, &mut outcome)?,
            (Kind::Stdout, Some(_)) => {}
        }
        bench.ends &= outcome.runs.iter().all(|run| run.exit != Exit::Killed);
        Ok(outcome)
    }
}

/// Settles the revision: the one asked for, or the modern one, or, where that brings no proper answer, the legacy
/// revision that the server chooses.
fn handshake(bench: &mut Bench, outcome: &mut Outcome) -> io::Result<()> {
    let auto = bench.wanted == Revision::Auto;
    let mut greeted = greet_fresh(bench, if auto { MODERN } else { bench.wanted }, outcome, auto)?;
    if auto && let Err(why) = &greeted {
        outcome.notes.push(format!("not {MODERN}: {why}"));
        greeted = greet_fresh(bench, NEWEST_LEGACY, outcome, false)?;
    }
    bench.settled = greeted.as_ref().ok().copied();
    match greeted {
        Ok(settled) if auto || settled == bench.wanted => outcome.notes.insert(0, format!("speaks {settled}")),
        Ok(settled) => outcome.fail(format!("the server settles on {settled}, not on {}", bench.wanted)),
        Err(why) => outcome.fail(why),
    }
    Ok(())
}

/// Greets a fresh start at one revision. How a probe ends is not judged: its revision may be foreign to the server.
fn greet_fresh(
    bench: &Bench,
    revision: Revision,
    outcome: &mut Outcome,
    probe: bool,
) -> io::Result<Result<Revision, String>> {
    let (mut child, _record) = bench.start()?;
    let greeted = greet(&mut child, revision, bench.launch.timeout);
    if probe && greeted.is_err() {
        outcome.runs.push(child.finish(SETTLE.min(bench.launch.timeout))?);
    } else {
        bench.finish(child, outcome, false)?;
    }
    Ok(greeted)
}

fn tool_list(bench: &Bench, revision: Revision, outcome: &mut Outcome) -> io::Result<()> {
    let (mut child, _record) = bench.start()?;
    if bench.open(&mut child, revision, outcome) {
        child.send(&Request::new(revision, "tools/list", Members::new()).line(TESTED));
        match child.answer(TESTED, bench.launch.timeout) {
            Answer::Result(result) => match tool_names(&result) {
                Ok(names) => outcome.notes.push(format!("tools: {}", names.join(", "))),
                Err(why) => outcome.fail(why),
            },
            Answer::Error { code: -32601, .. } => outcome.notes.push("the server has no tools".to_owned()),
            other => outcome.fail(format!("tools/list was answered with {}", other.words())),
        }
    }
    bench.finish(child, outcome, false)
}

fn call(bench: &Bench, revision: Revision, outcome: &mut Outcome) -> io::Result<()> {
    let (mut child, record) = bench.start()?;
    let marker = marker_of(&outcome.name);
    if bench.open(&mut child, revision, outcome) {
        let request = bench.request(revision, &marker);
        child.send(&request.line(TESTED));
        match child.answer(TESTED, bench.launch.timeout) {
            Answer::Result(result) if result.get("isError") == Some(&json!(true)) => {
                outcome.notes.push("the tool says that it failed".to_owned());
            }
            Answer::Result(_) => {}
            other => outcome.fail(format!("{} was answered with {}", request.method, other.words())),
        }
        if let (Server::Command(_), Action::Harmless) = (&bench.server, &bench.action) {
            outcome.notes.push(format!("without --call NAME JSON no tool was called, only {}", request.method));
        }
    }
    bench.finish(child, outcome, false)?;
    if let (Some(record), Action::Tool(name, _)) = (record, &bench.action)
        && name == "record"
        && record.read()?.iter().filter(|byte| **byte == b'\n').count() != 1
    {
        let (what, fix) = ("the call did not have its effect exactly once".to_owned(), "Run each call once.");
        outcome.findings.push(Finding { class: Class::Effects, what, fix });
    }
    Ok(())
}

fn malformed(bench: &Bench, revision: Revision, vector: &Vector, outcome: &mut Outcome) -> io::Result<()> {
    let (mut child, record) = bench.start()?;
    let harmless = Request::harmless(revision);
    let marker = marker_of(&outcome.name);
    let target = Target::new(bench.request(revision, &marker), harmless.clone(), marker);
    let open = bench.open(&mut child, revision, outcome);
    if open {
        child.send(&(vector.make)(&target));
        if vector.then == Then::LineFeed {
            child.send(b"\n");
            child.send(&harmless.line(AFTER));
            outcome.session = Some(match child.answer(AFTER, SETTLE) {
                Answer::Result(_) | Answer::Error { .. } => Session::WentOn,
                Answer::Closed => Session::Closed,
                Answer::Silent => Session::Silent,
            });
        }
    }
    bench.finish(child, outcome, false)?;
    let recorded = record.map_or_else(|| Ok(Vec::new()), |record| record.read())?;
    if let Some(run) = outcome.runs.last()
        && open
    {
        outcome.findings.extend(judge::effects(run, vector, &target.marker, &recorded));
    }
    Ok(())
}

/// Ends the input, at once or behind a handshake.
fn end_of_input(bench: &Bench, traffic: Option<Revision>, outcome: &mut Outcome) -> io::Result<()> {
    let (mut child, _record) = bench.start()?;
    if let Some(revision) = traffic {
        bench.open(&mut child, revision, outcome);
    }
    bench.finish(child, outcome, true)
}

fn tool_names(result: &Value) -> Result<Vec<String>, String> {
    let tools = result.get("tools").and_then(Value::as_array).ok_or("the result of tools/list has no array tools")?;
    tools
        .iter()
        .map(|tool| match (tool.get("name").and_then(Value::as_str), tool.get("inputSchema")) {
            (Some(name), Some(Value::Object(_))) => Ok(name.to_owned()),
            _ => Err("a tool of the list has no string name or no object inputSchema".to_owned()),
        })
        .collect()
}
