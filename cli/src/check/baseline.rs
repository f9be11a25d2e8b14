//! Faults that are known and accepted for the time being: a file with a fingerprint a line. A fault keeps its fingerprint as
//! long as it is the same one; counts, times and numbers in its text don't matter.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::finding::Finding;
use super::outcome::Outcome;
use super::text::escaped;

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

/// Writes a file that accepts every fault of these outcomes.
///
/// # Errors
///
/// The file can't be written.
pub fn write(path: &Path, outcomes: &[Outcome]) -> Result<(), String> {
    let mut text =
        String::from("# Faults that linegate check accepts; each line is a fingerprint and what it stands for.\n");
    for outcome in outcomes.iter().filter(|outcome| outcome.reported) {
        for finding in outcome.findings.iter().chain(&outcome.accepted) {
            let what = escaped(finding.what.as_bytes());
            let _ = writeln!(text, "{}  {}: {what}", fingerprint(outcome, finding), outcome.name);
        }
    }
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// What stays the same of a finding from one check to the next, in 16 hexadecimal digits.
pub fn fingerprint(outcome: &Outcome, finding: &Finding) -> String {
    // Where a line is bad, it and its rule are the fault, wherever it was seen first.
    let about = match &outcome.dirt {
        Some(dirt) if finding.class == super::finding::Class::Stdout => {
            format!("{} {}", dirt.line.code.name(), escaped(&dirt.line.bytes))
        }
        _ => finding.what.clone(),
    };
    let text = format!("{}\n{}\n{}", finding.class.name(), outcome.name, without_numbers(&about));
    // FNV-1a: it has to be the same on every machine and in every version, and nobody attacks it.
    let hash = text
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    format!("{hash:016x}")
}

/// The text with one # for each number.
pub fn without_numbers(text: &str) -> String {
    let mut plain = String::new();
    for character in text.chars() {
        if !character.is_ascii_digit() {
            plain.push(character);
        } else if !plain.ends_with('#') {
            plain.push('#');
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Class;

    #[test]
    fn numbers_do_not_change_a_fingerprint() {
        let finding = |what: &str| Finding { class: Class::Lifecycle, what: what.to_owned(), fix: "" };
        let print = |name: &str, what: &str| fingerprint(&Outcome::new(name.to_owned(), ""), &finding(what));
        assert_eq!(print("a", "after 10 s"), print("a", "after 2 s"));
        assert_ne!(print("a", "after 10 s"), print("b", "after 10 s"));
        assert_ne!(print("a", "after 10 s"), print("a", "before 10 s"));
        // For ever: a change would make every file of accepted faults useless.
        assert_eq!(print("eof/at-once", "it ended with status 3"), "085b6e90facf13c7");
    }
}
