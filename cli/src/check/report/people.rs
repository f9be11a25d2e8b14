//! The report for people: what to fix first, a row for each scenario, the other violations, and the result.
//!
//! A violation is shown whole, for readers who know no rule: what was seen, the bytes, the rule as a sentence, what goes
//! wrong in other programs, what mends it, and a command that shows it again.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::outline::{Outline, last_words};
use crate::check::author;
use crate::check::finding::Class;
use crate::check::outcome::{Malformed, Outcome, Verdict};
use crate::check::source::Hint;
use crate::check::text::{escaped, hex};
use crate::tell::printable;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const DIM: Style = Style::new().dimmed();

/// Writes the report.
///
/// # Errors
///
/// The output can't be written.
pub fn write(outline: &Outline<'_>, out: &mut impl Write) -> io::Result<()> {
    let yours = if outline.is_example() { "; for yours: linegate check -- COMMAND" } else { "" };
    writeln!(out, "linegate check: {}{yours}\n", printable(&outline.command()))?;

    let failed = outline.failed();
    if let Some(first) = failed.first() {
        failure(outline, first, " - fix this first", out)?;
    }
    for outcome in outline.reported() {
        let (style, word) = label(outcome.verdict());
        writeln!(out, "{style}{word:<4}{style:#}  {:<35} {}", outcome.name, printable(&remark(outcome)))?;
    }
    writeln!(out)?;
    for outcome in failed.iter().skip(1) {
        failure(outline, outcome, "", out)?;
    }
    hints(outline, out)?;
    for gone in outline.unused() {
        writeln!(out, "the baseline accepts {gone}, which is no longer seen: take it out")?;
    }
    result(outline, failed.first().copied(), out)
}

const fn label(verdict: Verdict) -> (Style, &'static str) {
    match verdict {
        Verdict::Ok => (GOOD, "ok"),
        Verdict::Fail => (BAD, "FAIL"),
        Verdict::Skip => (DIM, "skip"),
    }
}

/// What was violated and what mends it, in a few lines for each failed scenario.
pub fn complaints(outline: &Outline<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for outcome in outline.failed() {
        lines.extend(
            outcome
                .findings
                .iter()
                .map(|finding| format!("{}: {}: {}", outcome.name, finding.class.name(), finding.what)),
        );
        if let Some(line) = outcome.dirt().map(|dirt| &dirt.line) {
            lines.push(format!("  bytes: {}", escaped(&line.bytes)));
            lines.extend(author::of(&line.text).map(|author| format!("  probably {}: {}", author.name, author.advice)));
        }
        lines.extend(outline.fixes(outcome).into_iter().map(|fix| format!("  fix: {fix}")));
    }
    lines
}

/// What stands behind a scenario's name: why it did not run, or what was seen.
pub fn remark(outcome: &Outcome) -> String {
    if let Some(why) = outcome.not_run {
        return why.to_owned();
    }
    let violations = outcome.findings.iter().map(|finding| format!("{}: {}", finding.class.name(), finding.what));
    let quiet = (outcome.malformed.is_some() && !outcome.failed()).then(|| "no effect seen".to_owned());
    let accepted = outcome.accepted.iter().map(|finding| format!("accepted: {}", finding.what));
    let sequel = outcome.malformed.as_ref().map(sequel);
    violations
        .chain(accepted)
        .chain(quiet)
        .chain(sequel)
        .chain(outcome.notes.iter().cloned())
        .collect::<Vec<_>>()
        .join("; ")
}

fn sequel(malformed: &Malformed) -> String {
    malformed.session.map_or_else(|| "input ended".to_owned(), |session| format!("session {}", session.name()))
}

/// One failed scenario.
fn failure(outline: &Outline<'_>, outcome: &Outcome, remark: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{BAD}FAIL{BAD:#}  {}{remark}", outcome.name)?;
    for finding in &outcome.findings {
        fact(out, finding.class.name(), printable(&finding.what))?;
    }
    if let Some(malformed) = &outcome.malformed {
        fact(out, "bytes", escaped(&malformed.bytes))?;
        fact(out, "rule", format_args!("{}: {}", malformed.code, malformed.code.text()))?;
    }
    if let Some(line) = outcome.dirt().map(|dirt| &dirt.line) {
        fact(out, "bytes", escaped(&line.bytes))?;
        fact(out, "hex", hex(&line.bytes))?;
        fact(out, "rule", format_args!("{} at byte {}: {}", line.code, line.at, line.code.text()))?;
        if let Some(author) = author::of(&line.text) {
            fact(out, "written by", format_args!("probably {}", author.name))?;
            fact(out, "", author.advice)?;
        }
    }
    fact(out, "why", outcome.why)?;
    for fix in outline.fixes(outcome) {
        fact(out, "fix", fix)?;
    }
    if let Some(run) = outline.evidence(outcome) {
        fact(out, "reproduce", outline.reproduce_shortly(run))?;
        let words = last_words(outline.secrets(), run);
        if !words.is_empty() {
            writeln!(out, "  {DIM}the server's stderr, its last lines:{DIM:#}")?;
        }
        for line in words {
            writeln!(out, "  {DIM}|{DIM:#} {line}")?;
        }
    }
    writeln!(out)
}

fn fact(out: &mut impl Write, name: &str, value: impl Display) -> io::Result<()> {
    writeln!(out, "  {name:<10} {value}")
}

/// Places in the sources, where stdout may be soiled.
fn hints(outline: &Outline<'_>, out: &mut impl Write) -> io::Result<()> {
    /// More than this many help nobody.
    const SHOWN: usize = 20;
    let hints = outline.hints();
    if hints.is_empty() {
        return Ok(());
    }
    writeln!(out, "hints: {} places in the sources may write to stdout (no violations by themselves)", hints.len())?;
    for Hint { file, line, text, .. } in hints.iter().take(SHOWN) {
        writeln!(out, "  {}:{line}: {}", printable(&file.to_string_lossy()), printable(text))?;
    }
    if hints.len() > SHOWN {
        writeln!(out, "  and {} more, in --format json", hints.len() - SHOWN)?;
    }
    writeln!(out)
}

/// The last lines: all of it in numbers, and where to begin.
fn result(outline: &Outline<'_>, first: Option<&Outcome>, out: &mut impl Write) -> io::Result<()> {
    let [ok, failed, skipped] = [Verdict::Ok, Verdict::Fail, Verdict::Skip].map(|verdict| outline.count(verdict));
    let not_run = if skipped == 0 { String::new() } else { format!(", {skipped} not run") };
    let Some(first) = first else {
        let unseen =
            if outline.calls_no_tool() { "; no tool was called, name a harmless one: --call NAME JSON" } else { "" };
        return writeln!(out, "{GOOD}clean{GOOD:#}: {ok} ok{not_run}{unseen}");
    };
    let total = ok + failed + skipped;
    let classes = Class::ALL.map(|class| format!("{} {}", class.name(), outline.violations(class)));
    writeln!(out, "{BAD}{failed} of {total} failed{BAD:#}{not_run}; violations: {}", classes.join(", "))?;
    let counted: Vec<_> = outline.counted().iter().map(|class| class.name()).collect();
    if counted.len() < Class::ALL.len() {
        let how = match (outline.clean(), outline.has_session()) {
            (true, _) => "clean",
            (false, true) => "not clean",
            (false, false) => "not clean, for no session was begun in which to look",
        };
        writeln!(out, "the exit status looks at {} only: {how}", counted.join(" and "))?;
    }
    let author = first.dirt().and_then(|dirt| author::of(&dirt.line.text));
    let fix = first.findings.iter().min_by_key(|finding| finding.class).map_or("", |finding| finding.fix);
    let fix = author.map_or(fix, |author| author.advice);
    writeln!(out, "fix first: {}, at the top of this report - {fix}", first.name)
}
