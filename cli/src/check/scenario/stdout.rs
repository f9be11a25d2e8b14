//! Stdout: what is told of the bad lines that were found there, by the scenario that judges all others, and by one whose dirt
//! the plain session does not show.

use std::collections::BTreeSet;

use linegate::{Code, Stage};

use crate::check::finding::Finding;
use crate::check::outcome::{Dirt, Outcome};
use crate::tell::printable;

/// Judges the stdout of all scenarios together.
pub fn judge_all(before: &[&Outcome], outcome: &mut Outcome) {
    let ran = before.iter().filter(|judged| !judged.runs.is_empty()).count();
    let dirty = before.iter().filter(|judged| !judged.soiled.is_empty()).count();
    if dirty == 0 {
        let bytes: usize = before.iter().flat_map(|judged| &judged.runs).map(|run| run.stdout.len()).sum();
        outcome.notes.push(format!("{bytes} bytes of stdout, all of them messages"));
        return;
    }
    tell(before.iter().flat_map(|judged| &judged.soiled), &[], outcome);
    if let Some(first) = outcome.findings.first_mut() {
        first.what.push_str(&format!("; stdout is dirty in {dirty} of {ran} scenarios"));
    }
}

/// Judges the stdout of one scenario: what those before it show too is not told again. A message that the protocol doesn't have
/// there is known by its rule, for an odd session has other messages.
pub fn judge_one(before: &[&Outcome], outcome: &mut Outcome) {
    let soiled = std::mem::take(&mut outcome.soiled);
    let known = |code: Code| before.iter().flat_map(|judged| &judged.soiled).any(|dirt| dirt.line.code == code);
    let fresh = |dirt: &&Dirt| dirt.line.code.stage() <= Stage::Rpc || !known(dirt.line.code);
    tell(soiled.iter().filter(fresh), before, outcome);
    outcome.soiled = soiled;
}

/// Looks of bad lines that are told one by one.
const TOLD: usize = 20;

/// Finds each look of a bad line once; of very many the last ones together.
fn tell<'d>(dirt: impl Iterator<Item = &'d Dirt>, before: &[&Outcome], outcome: &mut Outcome) {
    let mut told: BTreeSet<_> = before.iter().flat_map(|judged| &judged.soiled).map(|dirt| dirt.line.look()).collect();
    let mut fresh: Vec<_> = dirt.filter(|dirt| told.insert(dirt.line.look())).map(Finding::dirt).collect();
    let more = fresh.split_off(fresh.len().min(TOLD));
    // Of the first one the report shows the bytes at length.
    for finding in fresh.iter_mut().skip(1) {
        if let Some(dirt) = &finding.dirt {
            let text = String::from_utf8_lossy(&dirt.line.bytes);
            finding.what.push_str(&format!(": {}", printable(text.trim_end())));
        }
    }
    let rest = more.len();
    let rest = more.into_iter().next().map(|finding| Finding {
        what: format!("{rest} more bad lines that look otherwise than these"),
        dirt: None,
        ..finding
    });
    outcome.findings.extend(fresh.into_iter().chain(rest));
}
