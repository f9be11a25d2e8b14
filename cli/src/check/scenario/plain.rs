//! The plain session: the handshake, the list of tools, and a call. What they show is what odd sessions are compared with.

use std::io;
use std::time::Duration;

use linegate::Revision;
use serde_json::{Value, json};

use super::{Play, Script, Turn, lookup};
use crate::check::finding::{Class, Finding};
use crate::check::judge::Ends;
use crate::check::outcome::Outcome;
use crate::check::past::{Conditions, Run};
use crate::check::setup::{Action, Setup, greet};
use crate::check::wire::{MODERN, Members, NEWEST_LEGACY, NoResult, Request, TESTED};
use crate::tell::printable;

/// How long a server that did not answer a probe may take to end.
const SETTLE: Duration = Duration::from_secs(2);

/// The method that lists the tools.
pub const LIST: &str = "tools/list";

/// The scenarios' names.
pub const TOOL_LIST: &str = "tool-list";
pub const CALL: &str = "call";

pub const SCRIPTS: &[Script] = &[
    Script::new(TOOL_LIST, "The server lists its tools.", tool_list).turn(Turn::First),
    Script::new(CALL, "The server answers a valid call, with its effect once.", call).turn(Turn::First),
];

/// Settles the revision: the one asked for, or the modern one, or, where that brings no proper answer, the legacy
/// revision that the server chooses.
pub fn handshake(setup: &Setup, outcome: &mut Outcome) -> io::Result<()> {
    let auto = setup.wanted == Revision::AUTO;
    let mut greeted = greet_fresh(setup, if auto { MODERN } else { setup.wanted }, outcome, auto)?;
    if auto && let Err(finding) = &greeted {
        outcome.notes.push(format!("not {MODERN}: {}", finding.what));
        greeted = greet_fresh(setup, NEWEST_LEGACY, outcome, false)?;
    }
    if let Ok(settled) = &greeted {
        setup.settled.get_or_init(|| *settled);
    }
    match greeted {
        Ok(settled) if auto || settled == setup.wanted => outcome.notes.insert(0, format!("speaks {settled}")),
        Ok(settled) => outcome.findings.push(Finding::life(
            format!("the server settles on {settled}, not on {}", setup.wanted),
            "Settle on the revision that initialize asks for, or check with the one that the server speaks.",
        )),
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
    let (mut child, _record) = setup.start(Conditions::default())?;
    let greeted = greet(&mut child, revision, setup.launch.timeout);
    if probe && greeted.is_err() {
        let run = child.finish(SETTLE.min(setup.launch.timeout))?;
        outcome.runs.push(Run { probe: true, ..run });
    } else {
        setup.finish(child, outcome, Ends::ByItself)?;
    }
    Ok(greeted)
}

fn tool_list(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    let mut lack = None;
    if play.open(&mut child) {
        child.send(&Request::new(play.revision, LIST, Members::new()).line(TESTED));
        let answer = child.answer(TESTED, play.setup.launch.timeout);
        match &answer {
            Ok(result) => match tool_names(result) {
                Ok(names) => play.note(format!("tools: {}", names.join(", "))),
                Err(what) => play.outcome.findings.push(Finding::wrong_result(what)),
            },
            Err(NoResult::Error { code: -32601, .. }) => play.note("the server has no tools"),
            Err(instead) => play.outcome.findings.push(Finding::no_result(LIST, instead)),
        }
        if let Action::Tool(name, _) = &play.setup.action {
            lack = lookup::lack(play, &mut child, name, &answer);
        }
    }
    play.finish(child, Ends::ByItself)?;
    lack.map_or(Ok(()), |lack| Err(io::Error::other(lack)))
}

fn call(play: &mut Play<'_>) -> io::Result<()> {
    let (mut child, record) = play.start(Conditions::default())?;
    if play.open(&mut child) {
        let request = play.request();
        child.send(&request.line(TESTED));
        match (child.answer(TESTED, play.setup.launch.timeout), &play.setup.action) {
            (Ok(result), Action::Tool(name, _)) if result.get("isError") == Some(&json!(true)) => {
                play.note(format!("the tool {name} says that it failed"));
            }
            (Ok(_), Action::Tool(name, _)) => play.note(format!("the tool {name} answered")),
            (Ok(_), Action::Request(method, _)) => play.note(format!("{method} was answered")),
            (Ok(_), Action::Harmless) => {
                let method = &request.method;
                play.note(format!("{method} was answered; no tool was called, for want of --call NAME JSON"));
            }
            (Err(NoResult::Error { code: -32601, message }), Action::Request(method, _)) => {
                let told = format!("the server has no {method}, which --request names: error -32601: {message}");
                return Err(io::Error::other(printable(&told).to_string()));
            }
            (Err(instead), _) => play.outcome.findings.push(Finding::no_result(&request.method, &instead)),
        }
    }
    play.finish(child, Ends::ByItself)?;
    if let (Some(record), Action::Tool(name, _)) = (record, &play.setup.action)
        && name == "record"
        && record.read()?.iter().filter(|byte| **byte == b'\n').count() != 1
    {
        let (what, fix) = ("the call did not have its effect exactly once".to_owned(), "Run each call once.");
        play.outcome.findings.push(Finding { class: Class::Effects, what, fix, dirt: None });
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
