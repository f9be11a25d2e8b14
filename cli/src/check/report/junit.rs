//! The report in the XML of JUnit, which every CI reads: a test case for each scenario, a failure for each class violated.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::outline::{Outline, last_words};
use crate::check::outcome::{Outcome, Verdict};
use crate::check::text::{escaped, hex};

/// Writes the document.
///
/// # Errors
///
/// The output can't be written.
pub fn write(outline: &Outline<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut suite = TestSuite::new(outline.command());
    suite.add_test_cases(outline.reported().map(|outcome| case(outline, outcome)));
    let mut report = Report::new("linegate check");
    report.add_test_suite(suite);
    report.serialize(&mut *out).map_err(io::Error::other)
}

fn case(outline: &Outline<'_>, outcome: &Outcome) -> TestCase {
    let status = match outcome.verdict() {
        Verdict::Ok => TestCaseStatus::success(),
        Verdict::Skip => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(outcome.not_run.unwrap_or_default());
            status
        }
        Verdict::Fail => failure(outline, outcome),
    };
    let mut case = TestCase::new(outcome.name.as_str(), status);
    let group = outcome.name.split_once('/').map_or("session", |(group, _)| group);
    case.set_classname(format!("linegate.{group}"));
    case.set_time(outcome.runs.iter().map(|run| run.took).sum());
    if let Some(run) = outcome.runs.last().filter(|_| outcome.failed()) {
        case.set_system_err(last_words(outline.secrets(), run).join("\n"));
    }
    case
}

fn failure(outline: &Outline<'_>, outcome: &Outcome) -> TestCaseStatus {
    let counts = outcome.findings.iter().any(|finding| outline.counted().contains(&finding.class));
    // What does not count for the exit status must not fail the build by another way.
    let mut status =
        if counts { TestCaseStatus::non_success(NonSuccessKind::Failure) } else { TestCaseStatus::skipped() };
    let whats: Vec<_> = outcome.findings.iter().map(|finding| escaped(finding.what.as_bytes())).collect();
    status.set_message(whats.join("; "));
    if let Some(first) = outcome.findings.first() {
        status.set_type(first.class.name());
    }
    let mut text = String::new();
    for finding in &outcome.findings {
        text.push_str(&format!(
            "{}: {}\nfix: {}\n",
            finding.class.name(),
            escaped(finding.what.as_bytes()),
            finding.fix
        ));
    }
    if let Some(line) = outcome.dirt().map(|dirt| &dirt.line) {
        text.push_str(&format!("bytes: {}\nhex: {}\n", escaped(&line.bytes), hex(&line.bytes)));
    }
    if let Some(run) = outline.evidence(outcome) {
        text.push_str(&format!("reproduce: {}\n", outline.reproduce(run)));
    }
    status.set_description(text);
    status
}
