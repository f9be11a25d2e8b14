//! The report for programs: one JSON document. Members are added, never changed nor taken away, as long as `version` is the
//! same. What they mean is said in docs/check.md.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::outline::{Outline, last_words};
use crate::check::author;
use crate::check::baseline::fingerprint;
use crate::check::finding::{Class, Finding};
use crate::check::outcome::{BadLine, Dirt, Malformed, Outcome, Verdict};
use crate::check::past::{Exit, Run};
use crate::check::source::Hint;
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

/// The document.
pub fn document(outline: &Outline<'_>) -> Value {
    let violations: Map<_, _> =
        Class::ALL.iter().map(|class| (class.name().to_owned(), json!(outline.violations(*class)))).collect();
    let classes: Map<_, _> = Class::ALL
        .iter()
        .map(|class| {
            let (violations, accepted) = (outline.violations(*class), outline.accepted(*class));
            let status = match (violations, accepted) {
                (0, 0) => "clean",
                (0, _) => "accepted",
                _ => "violated",
            };
            let counts = outline.counted().contains(class);
            let told = json!({"status": status, "violations": violations, "accepted": accepted, "counts": counts});
            (class.name().to_owned(), told)
        })
        .collect();
    json!({
        "linegate_check": VERSION,
        "version": VERSION,
        "command": outline.command(),
        "revision": outline.revision(),
        "clean": outline.clean(),
        "classes": classes,
        "summary": {
            "ok": outline.count(Verdict::Ok),
            "failed": outline.count(Verdict::Fail),
            "not_run": outline.count(Verdict::Skip),
            "violations": violations,
            "fix_first": outline.failed().first().map(|outcome| &outcome.name),
        },
        "hints": outline.hints().iter().map(hint).collect::<Vec<_>>(),
        "baseline_unused": outline.unused(),
        "scenarios": outline.reported().map(|outcome| scenario(outline, outcome)).collect::<Vec<_>>(),
    })
}

fn scenario(outline: &Outline<'_>, outcome: &Outcome) -> Value {
    let told = |findings: &[Finding]| -> Vec<Value> {
        let one = |finding: &Finding| {
            json!({
                "class": finding.class.name(),
                "what": finding.what,
                "fix": finding.fix,
                "fingerprint": fingerprint(outcome, finding),
            })
        };
        findings.iter().map(one).collect()
    };
    let session = outcome.malformed.as_ref().and_then(|malformed| malformed.session);
    json!({
        "name": outcome.name,
        "verdict": outcome.verdict().name(),
        "why": outcome.why,
        "not_run": outcome.not_run,
        "malformed": outcome.malformed.as_ref().map(malformed),
        "session": session.map(|session| session.name()),
        "findings": told(&outcome.findings),
        "accepted": told(&outcome.accepted),
        "notes": outcome.notes,
        "fault": outcome.dirt().map(|dirt| fault(outline, outcome, dirt)),
        "runs": outcome.runs.iter().map(|one| run(outline, one)).collect::<Vec<_>>(),
    })
}

fn hint(hint: &Hint) -> Value {
    json!({"file": hint.file.to_string_lossy(), "line": hint.line, "call": hint.call, "text": hint.text})
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
    let BadLine { number, at, code, bytes, bad_lines, text } = &dirt.line;
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
        "author": author::of(text).map(|author| json!({"name": author.name, "advice": author.advice})),
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
        "stderr": last_words(outline.secrets(), run),
    })
}

fn exit(exit: Exit) -> Value {
    match exit {
        Exit::Status(status) => json!({"status": status}),
        Exit::Signal(signal) => json!({"signal": signal}),
        Exit::Killed => json!({"killed": true}),
    }
}
