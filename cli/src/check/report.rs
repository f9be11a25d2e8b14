//! The report: a table of the scenarios, then each violation with what mends it and how to see it again; the same as one
//! JSON document; and the raw bytes of every run as files.
//!
//! Bytes and words of the server are escaped: a report can be read on a terminal.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::bench::{Bench, Server};
use super::child::{Exit, Run};
use super::judge::{Class, Fault};
use super::outcome::Outcome;
use super::text::{command_line, escaped, hex, pipeline};
use crate::tell::printable;

/// The version of the JSON document.
const DOCUMENT: u32 = 1;
/// Lines of the server's stderr that are shown of one run: the last ones, where a crash says its reason.
const STDERR_LINES: usize = 8;
/// The longest line of stderr that is shown, in characters.
const STDERR_WIDTH: usize = 160;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const DIM: Style = Style::new().dimmed();

/// What a check has found.
pub struct Report<'a> {
    bench: &'a Bench,
    all: &'a [(bool, Outcome)],
}

impl<'a> Report<'a> {
    /// A report of these outcomes; only the marked ones are shown, the bytes of all are kept.
    pub const fn new(bench: &'a Bench, all: &'a [(bool, Outcome)]) -> Self {
        Self { bench, all }
    }

    /// The outcomes that are shown.
    pub fn outcomes(&self) -> impl Iterator<Item = &'a Outcome> + use<'a> {
        self.all.iter().filter(|(reported, _)| *reported).map(|(_, outcome)| outcome)
    }

    /// How many violations of this class there are.
    fn count(&self, class: Class) -> usize {
        self.outcomes().flat_map(|outcome| &outcome.findings).filter(|finding| finding.class == class).count()
    }

    /// The violation that is best mended first.
    fn first(&self) -> Option<&'a Outcome> {
        self.outcomes().filter(|outcome| outcome.failed()).min_by_key(|outcome| urgency(outcome))
    }

    fn command(&self) -> String {
        match &self.bench.server {
            Server::Command(command) => command_line(command),
            Server::Example(_) => "the built-in example server".to_owned(),
        }
    }

    /// For people.
    ///
    /// # Errors
    ///
    /// The output can't be written.
    pub fn text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "linegate check: {}\n", printable(&self.command()))?;
        for outcome in self.outcomes() {
            let (style, word) = verdict(outcome);
            writeln!(out, "{style}{word:<4}{style:#}  {:<35} {}", outcome.name, printable(&remark(outcome)))?;
        }
        writeln!(out)?;
        let mut failed: Vec<_> = self.outcomes().filter(|outcome| outcome.failed()).collect();
        failed.sort_by_key(|outcome| urgency(outcome));
        let mut said = Vec::new();
        for outcome in failed {
            self.failure(out, outcome, &mut said)?;
        }
        self.summary(out)
    }

    /// One failed scenario. What mends it is said once in a report.
    fn failure(&self, out: &mut impl Write, outcome: &'a Outcome, said: &mut Vec<&'static str>) -> io::Result<()> {
        writeln!(out, "{BAD}FAIL{BAD:#}  {}", outcome.name)?;
        for finding in &outcome.findings {
            writeln!(out, "  {:<10} {}", finding.class.name(), printable(&finding.what))?;
            if !said.contains(&finding.fix) {
                writeln!(out, "  {:<10} {}", "fix", finding.fix)?;
                said.push(finding.fix);
            }
        }
        writeln!(out, "  {:<10} {}", "why", outcome.why)?;
        if let Some((_, fault)) = &outcome.fault {
            writeln!(out, "  {:<10} {}", "bytes", escaped(&fault.bytes))?;
            writeln!(out, "  {:<10} {}", "hex", hex(&fault.bytes))?;
        }
        if let Some(run) = self.evidence(outcome) {
            writeln!(out, "  {:<10} {}", "reproduce", self.pipeline(run))?;
            let lines = last_lines(&run.stderr);
            if !lines.is_empty() {
                writeln!(out, "  {DIM}the server's stderr, its last lines:{DIM:#}")?;
            }
            for line in lines {
                writeln!(out, "  {DIM}|{DIM:#} {line}")?;
            }
        }
        writeln!(out)
    }

    fn summary(&self, out: &mut impl Write) -> io::Result<()> {
        let left_out = match self.not_run() {
            0 => String::new(),
            number => format!(", {number} not run"),
        };
        let (total, failed) = (self.outcomes().count(), self.outcomes().filter(|outcome| outcome.failed()).count());
        let Some(first) = self.first() else {
            return writeln!(out, "{GOOD}clean{GOOD:#}: {} ok{left_out}", total - self.not_run());
        };
        let classes = Class::ALL.map(|class| format!("{} {}", class.name(), self.count(class)));
        writeln!(out, "{BAD}{failed} of {total} failed{BAD:#}{left_out}; violations: {}", classes.join(", "))?;
        let fix = first.findings.iter().min_by_key(|finding| finding.class).map_or("", |finding| finding.fix);
        writeln!(out, "fix first: {} - {fix}", first.name)
    }

    fn not_run(&self) -> usize {
        self.outcomes().filter(|outcome| outcome.not_run.is_some()).count()
    }

    /// The run that shows the violation: of stdout the one with the bad line, otherwise the scenario's last.
    fn evidence(&self, outcome: &'a Outcome) -> Option<&'a Run> {
        match &outcome.fault {
            Some((name, fault)) => {
                let (_, dirty) = self.all.iter().find(|(_, dirty)| dirty.name == *name)?;
                dirty.runs.get(fault.run)
            }
            None => outcome.runs.last(),
        }
    }

    fn pipeline(&self, run: &Run) -> String {
        pipeline(&run.stdin, &self.bench.launch.env, &run.command)
    }

    /// For programs: one document.
    ///
    /// # Errors
    ///
    /// The output can't be written.
    pub fn json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &self.document())?;
        writeln!(out)
    }

    fn document(&self) -> Value {
        let violations: serde_json::Map<_, _> =
            Class::ALL.iter().map(|class| (class.name().to_owned(), json!(self.count(*class)))).collect();
        let failed = self.outcomes().filter(|outcome| outcome.failed()).count();
        json!({
            "linegate_check": DOCUMENT,
            "command": self.command(),
            "revision": self.bench.settled.map(linegate::Revision::name),
            "clean": failed == 0,
            "summary": {
                "ok": self.outcomes().count() - failed - self.not_run(),
                "failed": failed,
                "not_run": self.not_run(),
                "violations": violations,
                "fix_first": self.first().map(|outcome| &outcome.name),
            },
            "scenarios": self.outcomes().map(|outcome| self.scenario(outcome)).collect::<Vec<_>>(),
        })
    }

    fn scenario(&self, outcome: &'a Outcome) -> Value {
        let findings = outcome.findings.iter();
        let findings: Vec<_> = findings
            .map(|finding| json!({"class": finding.class.name(), "what": finding.what, "fix": finding.fix}))
            .collect();
        json!({
            "name": outcome.name,
            "verdict": verdict(outcome).1.to_ascii_lowercase(),
            "why": outcome.why,
            "not_run": outcome.not_run,
            "session": outcome.session.map(|session| session.name()),
            "findings": findings,
            "notes": outcome.notes,
            "fault": outcome.fault.as_ref().map(|(name, fault)| self.fault(outcome, name, fault)),
            "runs": outcome.runs.iter().map(|run| self.run(run)).collect::<Vec<_>>(),
        })
    }

    fn fault(&self, outcome: &'a Outcome, scenario: &str, fault: &Fault) -> Value {
        json!({
            "scenario": scenario,
            "line": fault.line,
            "at": fault.at,
            "code": fault.code.number(),
            "rule": fault.code.name(),
            "text": fault.code.text(),
            "bytes": escaped(&fault.bytes),
            "hex": hex(&fault.bytes),
            "bad_lines": fault.bad_lines,
            "reproduce": self.evidence(outcome).map(|run| self.pipeline(run)),
        })
    }

    fn run(&self, run: &Run) -> Value {
        json!({
            "exit": exit(run.exit),
            "milliseconds": u64::try_from(run.took.as_millis()).unwrap_or(u64::MAX),
            "bytes": {"stdin": run.stdin.len(), "stdout": run.stdout.len(), "stderr": run.stderr.len()},
            "stdin": escaped(&run.stdin),
            "reproduce": self.pipeline(run),
            "stderr": last_lines(&run.stderr),
        })
    }

    /// Writes the report in both forms and the bytes of every run into a folder.
    ///
    /// # Errors
    ///
    /// The folder or a file can't be written.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut report = Vec::new();
        self.text(&mut anstream::StripStream::new(&mut report))?;
        fs::write(folder.join("report.txt"), &report)?;
        report.clear();
        self.json(&mut report)?;
        fs::write(folder.join("report.json"), &report)?;
        for (_, outcome) in self.all {
            for (number, run) in outcome.runs.iter().enumerate() {
                let again = if number == 0 { String::new() } else { format!(".{}", number + 1) };
                let name = format!("{}{again}", outcome.name.replace('/', "."));
                for (stream, bytes) in [("stdin", &run.stdin), ("stdout", &run.stdout), ("stderr", &run.stderr)] {
                    fs::write(folder.join(format!("{name}.{stream}")), bytes)?;
                }
            }
        }
        Ok(())
    }
}

/// The order of mending: without a handshake nothing else shows, and a dirty stdout hides the rest.
fn urgency(outcome: &Outcome) -> (bool, Option<Class>) {
    (outcome.name != "handshake", outcome.findings.iter().map(|finding| finding.class).min())
}

const fn verdict(outcome: &Outcome) -> (Style, &'static str) {
    match (outcome.not_run, outcome.findings.is_empty()) {
        (_, false) => (BAD, "FAIL"),
        (Some(_), true) => (DIM, "skip"),
        (None, true) => (GOOD, "ok"),
    }
}

/// What stands behind a scenario's name: the violations' classes, or what is worth knowing.
fn remark(outcome: &Outcome) -> String {
    if let Some(why) = outcome.not_run {
        return why.to_owned();
    }
    let mut classes: Vec<_> = outcome.findings.iter().map(|finding| finding.class.name()).collect();
    classes.dedup();
    let session = outcome.session.map(|session| format!("session {}", session.name()));
    let words = classes.into_iter().map(str::to_owned).chain(session).chain(outcome.notes.iter().cloned());
    words.collect::<Vec<_>>().join("; ")
}

fn exit(exit: Exit) -> Value {
    match exit {
        Exit::Status(status) => json!({"status": status}),
        Exit::Signal(signal) => json!({"signal": signal}),
        Exit::Killed => json!({"killed": true}),
    }
}

/// The last lines of a server's stderr, fit for a terminal.
fn last_lines(stderr: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<_> = text.lines().collect();
    let from = lines.len().saturating_sub(STDERR_LINES);
    lines.iter().skip(from).map(|line| printable(line).chars().take(STDERR_WIDTH).collect()).collect()
}
