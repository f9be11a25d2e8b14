//! The scenarios: what each sends to a fresh start of the server, and what it makes of the answer.

use std::io;
use std::time::Duration;

use linegate::{Revision, Stage};
use serde_json::{Value, json};

use super::child::{Exit, Run};
use super::corpus::{Target, Then, VECTORS, Vector};
use super::finding::{Class, Finding};
use super::judge;
use super::outcome::{Dirt, Malformed, Outcome, Session};
use super::setup::{Action, Setup, greet, marker_of};
use super::wire::{AFTER, MODERN, Members, NEWEST_LEGACY, NoResult, Request, TESTED};

/// How long an answer behind a malformed line is waited for: the server is up, and most close or answer at once.
const SETTLE: Duration = Duration::from_secs(2);

/// The method that lists the tools.
const LIST: &str = "tools/list";

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
    const fn why(&self) -> &'static str {
        match self.kind {
            Kind::Handshake => "The server answers the first request of a session.",
            Kind::ToolList => "The server lists its tools.",
            Kind::Call => "The server answers a valid call, with its effect once.",
            Kind::Malformed(vector) => vector.why,
            Kind::Eof { .. } => "The end of input is the one portable signal to end.",
            Kind::Stdout => "A client reads every byte of stdout as part of a message.",
        }
    }

    /// Runs it, after those with the outcomes `before`.
    ///
    /// # Errors
    ///
    /// The server can't be started.
    pub fn run(&self, setup: &mut Setup, before: &[Outcome]) -> io::Result<Outcome> {
        let mut outcome = Outcome::new(self.name.clone(), self.why());
        match (&self.kind, setup.settled) {
            // How a probe ends says nothing of the server: its revision may be foreign to it.
            (Kind::Handshake, _) => return handshake(setup, &mut outcome).map(|()| outcome),
            (Kind::Stdout, settled) => stdout_clean(before, settled.unwrap_or_default(), &mut outcome)?,
            (Kind::Eof { traffic: false }, _) => end_of_input(setup, None, &mut outcome)?,
            (_, None) => outcome.not_run = Some("there was no handshake"),
            (Kind::Eof { traffic: true }, settled) => end_of_input(setup, settled, &mut outcome)?,
            (Kind::ToolList, Some(revision)) => tool_list(setup, revision, &mut outcome)?,
            (Kind::Call, Some(revision)) => call(setup, revision, &mut outcome)?,
            (Kind::Malformed(vector), Some(revision)) if !vector.applies_to(revision) => {
                outcome.not_run = Some("this revision has no such rule");
            }
            (Kind::Malformed(vector), Some(revision)) => malformed(setup, revision, vector, &mut outcome)?,
        }
        setup.ends_in_time &= outcome.runs.iter().all(|run| run.exit != Exit::Killed);
        Ok(outcome)
    }
}

/// Settles the revision: the one asked for, or the modern one, or, where that brings no proper answer, the legacy
/// revision that the server chooses.
fn handshake(setup: &mut Setup, outcome: &mut Outcome) -> io::Result<()> {
    let auto = setup.wanted == Revision::AUTO;
    let mut greeted = greet_fresh(setup, if auto { MODERN } else { setup.wanted }, outcome, auto)?;
    if auto && let Err(finding) = &greeted {
        outcome.notes.push(format!("not {MODERN}: {}", finding.what));
        greeted = greet_fresh(setup, NEWEST_LEGACY, outcome, false)?;
    }
    setup.settled = greeted.as_ref().ok().copied();
    match greeted {
        Ok(settled) if auto || settled == setup.wanted => outcome.notes.insert(0, format!("speaks {settled}")),
        Ok(settled) => outcome.findings.push(Finding {
            class: Class::Lifecycle,
            what: format!("the server settles on {settled}, not on {}", setup.wanted),
            fix: "Settle on the revision that initialize asks for, or check with the one that the server speaks.",
        }),
        Err(finding) => outcome.findings.push(finding),
    }
    Ok(())
}

/// Greets a fresh start at one revision. How a probe ends is not judged: its revision may be foreign to the server.
fn greet_fresh(
    setup: &Setup,
    revision: Revision,
    outcome: &mut Outcome,
    probe: bool,
) -> io::Result<Result<Revision, Finding>> {
    let (mut child, _record) = setup.start()?;
    let greeted = greet(&mut child, revision, setup.launch.timeout);
    if probe && greeted.is_err() {
        let run = child.finish(SETTLE.min(setup.launch.timeout))?;
        outcome.runs.push(Run { probe: true, ..run });
    } else {
        setup.finish(child, outcome, false)?;
    }
    Ok(greeted)
}

fn tool_list(setup: &Setup, revision: Revision, outcome: &mut Outcome) -> io::Result<()> {
    let (mut child, _record) = setup.start()?;
    if setup.open(&mut child, revision, outcome) {
        child.send(&Request::new(revision, LIST, Members::new()).line(TESTED));
        match child.answer(TESTED, setup.launch.timeout) {
            Ok(result) => match tool_names(&result) {
                Ok(names) => outcome.notes.push(format!("tools: {}", names.join(", "))),
                Err(what) => outcome.findings.push(Finding::wrong_result(what)),
            },
            Err(NoResult::Error { code: -32601, .. }) => outcome.notes.push("the server has no tools".to_owned()),
            Err(instead) => outcome.findings.push(Finding::no_result(LIST, &instead)),
        }
    }
    setup.finish(child, outcome, false)
}

fn call(setup: &Setup, revision: Revision, outcome: &mut Outcome) -> io::Result<()> {
    let (mut child, record) = setup.start()?;
    let marker = marker_of(&outcome.name);
    if setup.open(&mut child, revision, outcome) {
        let request = setup.request(revision, &marker);
        child.send(&request.line(TESTED));
        match (child.answer(TESTED, setup.launch.timeout), &setup.action) {
            (Ok(result), Action::Tool(name, _)) if result.get("isError") == Some(&json!(true)) => {
                outcome.notes.push(format!("the tool {name} says that it failed"));
            }
            (Ok(_), Action::Tool(name, _)) => outcome.notes.push(format!("the tool {name} answered")),
            (Ok(_), Action::Harmless) => outcome
                .notes
                .push(format!("{} was answered; no tool was called, for want of --call NAME JSON", request.method)),
            (Err(instead), _) => outcome.findings.push(Finding::no_result(&request.method, &instead)),
        }
    }
    setup.finish(child, outcome, false)?;
    if let (Some(record), Action::Tool(name, _)) = (record, &setup.action)
        && name == "record"
        && record.read()?.iter().filter(|byte| **byte == b'\n').count() != 1
    {
        let (what, fix) = ("the call did not have its effect exactly once".to_owned(), "Run each call once.");
        outcome.findings.push(Finding { class: Class::Effects, what, fix });
    }
    Ok(())
}

fn malformed(setup: &Setup, revision: Revision, vector: &Vector, outcome: &mut Outcome) -> io::Result<()> {
    let (mut child, record) = setup.start()?;
    let harmless = Request::harmless(revision);
    let marker = marker_of(&outcome.name);
    let target = Target::new(setup.request(revision, &marker), harmless.clone(), marker);
    if setup.open(&mut child, revision, outcome) {
        let bytes = (vector.make)(&target);
        child.send(&bytes);
        let session = (vector.then == Then::LineFeed).then(|| {
            child.send(b"\n");
            child.send(&harmless.line(AFTER));
            match child.answer(AFTER, SETTLE) {
                Ok(_) | Err(NoResult::Error { .. }) => Session::WentOn,
                Err(NoResult::Closed) => Session::Closed,
                Err(NoResult::Silent) => Session::Silent,
            }
        });
        outcome.malformed = Some(Malformed { code: vector.code, bytes, session });
    }
    setup.finish(child, outcome, false)?;
    let recorded = record.map_or_else(|| Ok(Vec::new()), |record| record.read())?;
    if let (Some(run), Some(_)) = (outcome.runs.last(), &outcome.malformed) {
        outcome.findings.extend(judge::effects(run, vector.code, &target.marker, &recorded));
    }
    Ok(())
}

/// Ends the input, at once or behind a handshake.
fn end_of_input(setup: &Setup, traffic: Option<Revision>, outcome: &mut Outcome) -> io::Result<()> {
    let (mut child, _record) = setup.start()?;
    if let Some(revision) = traffic {
        setup.open(&mut child, revision, outcome);
    }
    setup.finish(child, outcome, true)?;
    if !outcome.failed() {
        outcome.notes.insert(0, "ended by itself with status 0".to_owned());
    }
    Ok(())
}

/// Judges the stdout of all scenarios before this one.
fn stdout_clean(before: &[Outcome], revision: Revision, outcome: &mut Outcome) -> io::Result<()> {
    let (mut bytes, mut dirty) = (0, 0);
    for judged in before {
        let mut clean = true;
        for (number, run) in judged.runs.iter().enumerate() {
            bytes += run.stdout.len();
            // What answers a malformed line may be malformed by what it repeats of it, such as an id that is none: that is told
            // as an effect. Bytes that are no JSON are dirt all the same. What answers a probe may be of another revision.
            let last = match judged.malformed {
                Some(_) => Stage::Json,
                None if run.probe => Stage::Rpc,
                None => Stage::Session,
            };
            if let Some(line) = judge::stdout(run, revision, last)? {
                clean = false;
                outcome.dirt.get_or_insert_with(|| Dirt { scenario: judged.name.clone(), run: number, line });
            }
        }
        dirty += usize::from(!clean);
    }
    if let Some(Dirt { scenario, line, .. }) = &outcome.dirt {
        let (number, total) = (line.number, before.len());
        let (is, fix) = if line.code.stage() <= Stage::Rpc {
            (
                "no message",
                "Write logs, banners and progress to stderr, and keep libraries and child processes off stdout.",
            )
        } else {
            (
                "a message that the protocol does not have there",
                "Send what the revision has, with all that it asks for, and answer each request once and nothing else.",
            )
        };
        outcome.findings.push(Finding {
            class: Class::Stdout,
            what: format!(
                "line {number} of stdout in {scenario} is {is}; stdout is dirty in {dirty} of {total} scenarios"
            ),
            fix,
        });
    } else {
        outcome.notes.push(format!("{bytes} bytes of stdout, all of them messages"));
    }
    Ok(())
}

/// The names in a result of tools/list.
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
