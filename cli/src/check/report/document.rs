//! The report for programs: one JSON document. Members are added, never changed; a change counts its version up.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::outline::{Outline, last_words};
use crate::check::child::{Exit, Run};
use crate::check::finding::Class;
use crate::check::outcome::{BadLine, Dirt, Malformed, Outcome, Verdict};
use crate::check::text::{escaped, hex};

/// The version of the document.
const VERSION: u32 = 1;

/// Writes the document.
///
/// # Errors
///
/// The output can't be written.
pub fn write(outline: &Outline<'_>, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(outline))?;
    writeln!(out)
}

fn document(outline: &Outline<'_>) -> Value {
    let violations: Map<_, _> =
        Class::ALL.iter().map(|class| (class.name().to_owned(), json!(outline.violations(*class)))).collect();
    json!({
        "linegate_check": VERSION,
        "command": outline.command(),
        "revision": outline.revision(),
        "clean": outline.clean(),
        "summary": {
            "ok": outline.count(Verdict::Ok),
            "failed": outline.count(Verdict::Fail),
            "not_run": outline.count(Verdict::Skip),
            "violations": violations,
            "fix_first": outline.failed().first().map(|outcome| &outcome.name),
        },
        "scenarios": outline.reported().map(|outcome| scenario(outline, outcome)).collect::<Vec<_>>(),
    })
}

fn scenario(outline: &Outline<'_>, outcome: &Outcome) -> Value {
    let findings: Vec<_> = outcome
        .findings
        .iter()
        .map(|finding| json!({"class": finding.class.name(), "what": finding.what, "fix": finding.fix}))
        .collect();
    let session = outcome.malformed.as_ref().and_then(|malformed| malformed.session);
    json!({
        "name": outcome.name,
        "verdict": outcome.verdict().name(),
        "why": outcome.why,
        "not_run": outcome.not_run,
        "malformed": outcome.malformed.as_ref().map(malformed),
        "session": session.map(|session| session.name()),
        "findings": findings,
        "notes": outcome.notes,
        "fault": outcome.dirt.as_ref().map(|dirt| fault(outline, outcome, dirt)),
        "runs": outcome.runs.iter().map(|one| run(outline, one)).collect::<Vec<_>>(),
    })
}

fn malformed(malformed: &Malformed) -> Value {
    let Malformed { code, bytes, .. } = malformed;
    json!({
        "code": code.number(),
        "rule": code.name(),
        "text": code.text(),
        "bytes": escaped(bytes),
        "hex": hex(bytes),
    })
}

fn fault(outline: &Outline<'_>, outcome: &Outcome, dirt: &Dirt) -> Value {
    let BadLine { number, at, code, bytes, bad_lines } = &dirt.line;
    json!({
        "scenario": dirt.scenario,
        "line": number,
        "at": at,
        "code": code.number(),
        "rule": code.name(),
        "text": code.text(),
        "bytes": escaped(bytes),
        "hex": hex(bytes),
        "bad_lines": bad_lines,
        "reproduce": outline.evidence(outcome).map(|run| outline.reproduce(run)),
    })
}

fn run(outline: &Outline<'_>, run: &Run) -> Value {
    json!({
        "exit": exit(run.exit),
        "milliseconds": u64::try_from(run.took.as_millis()).unwrap_or(u64::MAX),
        "bytes": {"stdin": run.stdin.len(), "stdout": run.stdout.len(), "stderr": run.stderr.len()},
        "stdin": escaped(&run.stdin),
        "reproduce": outline.reproduce(run),
        "stderr": last_words(run),
    })
}

fn exit(exit: Exit) -> Value {
    match exit {
        Exit::Status(status) => json!({"status": status}),
        Exit::Signal(signal) => json!({"signal": signal}),
        Exit::Killed => json!({"killed": true}),
    }
}
