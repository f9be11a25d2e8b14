//! The report in SARIF 2.1.0, the format of code scanning: a rule for each scenario that was violated, a result for each
//! violation. A server command has no lines of source; where it is violated is the scenario.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::outline::Outline;
use crate::check::baseline::fingerprint;
use crate::check::finding::Finding;
use crate::check::outcome::Outcome;
use crate::check::text::escaped;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Writes the log.
///
/// # Errors
///
/// The output can't be written.
pub fn write(outline: &Outline<'_>, out: &mut impl Write) -> io::Result<()> {
    let violated: Vec<_> =
        outline.reported().filter(|outcome| !(outcome.findings.is_empty() && outcome.accepted.is_empty())).collect();
    let rules: Vec<_> = violated.iter().map(|outcome| rule(outcome)).collect();
    let results: Vec<_> = violated
        .iter()
        .enumerate()
        .flat_map(|(index, outcome)| {
            let open = outcome.findings.iter().map(move |finding| (finding, false));
            let accepted = outcome.accepted.iter().map(move |finding| (finding, true));
            open.chain(accepted).map(move |(finding, accepted)| result(outline, index, outcome, finding, accepted))
        })
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "linegate check",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [{"commandLine": outline.command(), "executionSuccessful": true}],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn rule(outcome: &Outcome) -> Value {
    let fix = outcome.findings.iter().chain(&outcome.accepted).map(|finding| finding.fix).next().unwrap_or_default();
    json!({
        "id": outcome.name,
        "shortDescription": {"text": outcome.why},
        "help": {"text": fix},
    })
}

fn result(outline: &Outline<'_>, index: usize, outcome: &Outcome, finding: &Finding, accepted: bool) -> Value {
    let mut text = escaped(finding.what.as_bytes());
    if let Some(line) = finding.dirt.as_ref().map(|dirt| &dirt.line) {
        text.push_str(&format!(": {}", escaped(&line.bytes)));
    }
    let level = if outline.counted().contains(&finding.class) { "error" } else { "note" };
    let place = json!({
        // Code scanning shows no result without a file; the command stands for the server's sources.
        "physicalLocation": {"artifactLocation": {"uri": "server-command"}},
        "logicalLocations": [{"fullyQualifiedName": outcome.name, "kind": "scenario"}],
    });
    let suppressions =
        if accepted { json!([{"kind": "external", "justification": "accepted by the baseline"}]) } else { json!([]) };
    json!({
        "ruleId": outcome.name,
        "ruleIndex": index,
        "level": level,
        "message": {"text": text},
        "locations": [place],
        "partialFingerprints": {"linegateCheck/v1": fingerprint(outcome, finding)},
        "properties": {"class": finding.class.name(), "reproduce": outline.evidence(outcome).map(|run| outline.reproduce(run))},
        "suppressions": suppressions,
    })
}
