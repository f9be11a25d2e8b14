//! Faults that are known and accepted for the time being: a file with a fingerprint a line. A fault keeps its fingerprint as
//! long as it is the same one; counts, times and numbers in its text don't matter.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::finding::Finding;
use super::outcome::Outcome;
use super::text::{escaped, without_numbers};

/// Accepted faults.
#[derive(Debug, Default)]
pub struct Baseline(BTreeSet<String>);

impl Baseline {
    /// Reads a file: a fingerprint at the beginning of each line, and behind it what people want to remember; lines that
    /// begin with # are for people alone.
    ///
    /// # Errors
    ///
    /// The file can't be read, or a line does not begin with a fingerprint.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let mut known = BTreeSet::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let first = line.split_whitespace().next().unwrap_or_default();
            if first.len() != 16 || !first.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(format!("{}, line {}: {first} is no fingerprint", path.display(), number + 1));
            }
            known.insert(first.to_owned());
        }
        Ok(Self(known))
    }

    /// Moves the findings that are known to those accepted; gives the fingerprints that fit none of them.
    pub fn accept(&self, outcomes: &mut [Outcome]) -> Vec<String> {
        let mut unused = self.0.clone();
        for outcome in outcomes {
            for finding in std::mem::take(&mut outcome.findings) {
                let print = fingerprint(outcome, &finding);
                unused.remove(&print);
                let to = if self.0.contains(&print) { &mut outcome.accepted } else { &mut outcome.findings };
                to.push(finding);
            }
        }
        unused.into_iter().collect()
    }
}

/// Writes a file that accepts every fault of these outcomes. What it had of scenarios that are not among them stays.
///
/// # Errors
///
/// The file can't be written, or what is there can't be read.
pub fn update(path: &Path, outcomes: &[Outcome]) -> Result<(), String> {
    let mut text =
        String::from("# Faults that linegate check accepts; each line is a fingerprint and what it stands for.\n");
    if path.exists() {
        Baseline::read(path)?;
        let old = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let ran = |name: &str| outcomes.iter().any(|outcome| outcome.reported && outcome.name == name);
        for line in old.lines().filter(|line| !line.trim_start().starts_with('#')) {
            if scenario(line).is_some_and(|name| !ran(name)) {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    for outcome in outcomes.iter().filter(|outcome| outcome.reported) {
        for finding in outcome.findings.iter().chain(&outcome.accepted) {
            let what = escaped(finding.what.as_bytes());
            let _ = writeln!(text, "{}  {}: {what}", fingerprint(outcome, finding), outcome.name);
        }
    }
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The scenario that a line of the file is about, as [`update`] writes it.
fn scenario(line: &str) -> Option<&str> {
    line.split_whitespace().nth(1)?.strip_suffix(':')
}

/// What stays the same of a finding from one check to the next, in 16 hexadecimal digits.
pub fn fingerprint(outcome: &Outcome, finding: &Finding) -> String {
    // Where a line is bad, it and its rule are the fault, wherever it was seen first.
    let about = finding.dirt.as_ref().map_or_else(|| without_numbers(&finding.what), |dirt| dirt.line.look());
    let text = format!("{}\n{}\n{about}", finding.class.name(), outcome.name);
    // FNV-1a: it has to be the same on every machine and in every version, and nobody attacks it.
    let hash = text
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Class;

    #[test]
    fn numbers_do_not_change_a_fingerprint() {
        let finding = |what: &str| Finding { class: Class::Lifecycle, what: what.to_owned(), fix: "", dirt: None };
        let print = |name: &str, what: &str| fingerprint(&Outcome::new(name.to_owned(), ""), &finding(what));
        assert_eq!(print("a", "after 10 s"), print("a", "after 2 s"));
        assert_ne!(print("a", "after 10 s"), print("b", "after 10 s"));
        assert_ne!(print("a", "after 10 s"), print("a", "before 10 s"));
        // For ever: a change would make every file of accepted faults useless.
        assert_eq!(print("eof/at-once", "it ended with status 3"), "085b6e90facf13c7");
    }
}
