//! Stdout: what is told of the bad lines that were found there, by the scenario that judges all others, and by an odd one
//! whose dirt the plain session does not show.

use crate::check::baseline::without_numbers;
use crate::check::finding::Finding;
use crate::check::outcome::{BadLine, Outcome};
use crate::check::text::escaped;

/// Judges the stdout of all scenarios together.
pub fn judge_all(before: &[&Outcome], outcome: &mut Outcome) {
    let ran = before.iter().filter(|judged| !judged.runs.is_empty());
    let dirty: Vec<_> = before.iter().filter_map(|judged| judged.soiled.as_ref()).collect();
    let Some(&first) = dirty.first() else {
        let bytes: usize = before.iter().flat_map(|judged| &judged.runs).map(|run| run.stdout.len()).sum();
        outcome.notes.push(format!("{bytes} bytes of stdout, all of them messages"));
        return;
    };
    let mut finding = Finding::dirt(first);
    finding.what.push_str(&format!("; stdout is dirty in {} of {} scenarios", dirty.len(), ran.count()));
    outcome.findings.push(finding);
    outcome.dirt = Some(first.clone());
}

/// Judges the stdout of one odd scenario: what the plain session shows too is not told again.
pub fn judge_odd(before: &[&Outcome], outcome: &mut Outcome) {
    let Some(dirt) = &outcome.soiled else { return };
    // A log line has another time in each session.
    let look = |line: &BadLine| (line.code, without_numbers(&escaped(&line.bytes)));
    if before.iter().filter_map(|plain| plain.soiled.as_ref()).any(|plain| look(&plain.line) == look(&dirt.line)) {
        return;
    }
    outcome.findings.push(Finding::dirt(dirt));
    outcome.dirt = outcome.soiled.clone();
}
