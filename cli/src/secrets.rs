//! What must not be read in words that leave the program: the values of variables that are secrets by their names or their
//! looks ([`signs`]), and what the user's patterns match. Values are replaced by their variable's name in brackets, matches by `[masked]`.
//!
//! Reports of `check` go to a CI's log, and the stderr of a server behind `run` to a client's, and servers print their
//! settings when they fail. What passes on stdin and stdout is never touched: there it is data, or the evidence.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use regex::bytes::Regex;

mod signs;

pub use signs::{holds_secret, looks, parts};

/// Values that are shorter, in bytes, are no secrets, and stand in innocent words.
pub const SHORTEST: usize = 6;
/// The beginning of a value that is cut off is masked from so many bytes on.
const BEGINNING: usize = 4;

/// What must not be read.
#[derive(Debug, Default)]
pub struct Secrets {
    /// Labels and values, the longest first.
    values: Vec<(String, Vec<u8>)>,
    patterns: Vec<Regex>,
}

impl Secrets {
    /// Those of this process's environment, and of the variables given to the server.
    pub fn of_environment(given: &[(String, String)]) -> Self {
        let given = given.iter().map(|(name, value)| (name.into(), value.into()));
        Self::of_variables(std::env::vars_os().chain(given))
    }

    /// The values among these variables that are secret, by their names or by their looks.
    pub fn of_variables(variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let mut secrets = Self::default();
        for (name, value) in variables {
            if let Some(name) = name.to_str().filter(|name| holds_secret(name, value.as_bytes())) {
                secrets.add_value(name, value.as_bytes());
                parts(value.as_bytes()).for_each(|part| secrets.add_value(name, part));
            }
        }
        secrets
    }

    /// Adds the value of that variable. One of several lines, such as a key in PEM, is printed line by line: each counts.
    pub fn add_value(&mut self, name: &str, value: &[u8]) {
        for line in value.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.len() >= SHORTEST && !self.values.iter().any(|(_, known)| known == line) {
                self.values.push((format!("[{name}]"), line.to_vec()));
            }
        }
        // A secret inside another must not leave the rest of the longer one to be read.
        self.values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    }

    /// Adds what the user does not want to be read.
    pub fn add_pattern(&mut self, pattern: Regex) {
        self.patterns.push(pattern);
    }

    /// Whether there is nothing to mask.
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty() && self.patterns.is_empty()
    }

    /// Whether there are patterns: what they match may depend on every byte of a line.
    pub const fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// How many of the bytes can't be a part of a value that goes on behind them. Says nothing of patterns.
    pub fn certain(&self, bytes: &[u8]) -> usize {
        let begun = |at: &usize| {
            let end = bytes.get(*at..).unwrap_or_default();
            self.values.iter().any(|(_, value)| end.len() < value.len() && value.starts_with(end))
        };
        let longest = self.values.first().map_or(0, |(_, value)| value.len());
        let end = (bytes.len().saturating_sub(longest)..bytes.len()).find(begun).unwrap_or(bytes.len());
        let places = self.places(bytes);
        places.iter().find(|(place, _)| place.start < end && end < place.end).map_or(end, |(place, _)| place.start)
    }

    /// The places to mask and what to show there, from left to right, none touching the next.
    pub fn places(&self, bytes: &[u8]) -> Vec<(Range<usize>, &str)> {
        let mut places: Vec<(Range<usize>, &str)> = Vec::new();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let found = self.values.iter().find(|(_, value)| rest.starts_with(value));
            let length = found.map_or(0, |(_, value)| value.len());
            if let Some((label, _)) = found {
                places.push((at..at + length, label));
            }
            at += length.max(1);
        }
        for pattern in &self.patterns {
            let matches = pattern.find_iter(bytes).filter(|found| !found.is_empty());
            places.extend(matches.map(|found| (found.range(), "[masked]")));
        }
        joined(places)
    }

    /// The same for bytes that may have been cut off inside a value.
    pub fn places_to_cut(&self, bytes: &[u8]) -> Vec<(Range<usize>, &str)> {
        let mut places = self.places(bytes);
        let beginning = self.values.iter().filter_map(|(label, value)| {
            let begins = |length: &usize| value.get(..*length).is_some_and(|head| bytes.ends_with(head));
            Some(((BEGINNING..value.len()).rev().find(begins)?, label.as_str()))
        });
        places.extend(beginning.max().map(|(length, label)| (bytes.len() - length..bytes.len(), label)));
        joined(places)
    }

    /// The bytes with a label in each place.
    pub fn masked(&self, bytes: &[u8]) -> Vec<u8> {
        let mut masked = Vec::with_capacity(bytes.len());
        self.mask(bytes, &mut masked);
        masked
    }

    /// Appends them so, and says how many places there were.
    pub fn mask(&self, bytes: &[u8], masked: &mut Vec<u8>) -> u64 {
        let (mut from, mut count) = (0, 0);
        for (place, label) in self.places(bytes) {
            masked.extend_from_slice(bytes.get(from..place.start).unwrap_or_default());
            masked.extend_from_slice(label.as_bytes());
            (from, count) = (place.end, count + 1);
        }
        masked.extend_from_slice(bytes.get(from..).unwrap_or_default());
        count
    }
}

/// From left to right, and places that overlap as one.
fn joined(mut places: Vec<(Range<usize>, &str)>) -> Vec<(Range<usize>, &str)> {
    places.sort_by_key(|(place, _)| (place.start, std::cmp::Reverse(place.end)));
    places.dedup_by(|(next, _), (place, _)| {
        let overlaps = next.start < place.end;
        if overlaps {
            place.end = place.end.max(next.end);
        }
        overlaps
    });
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(patterns: &[&str]) -> Secrets {
        let variables = [
            ("API_KEY", "s3cret-1"),
            ("github_token", "s3cret-1-longer"),
            ("PATH", "/usr/bin"),
            ("PASSWORD", "short"),
            ("GIT_AUTHOR_NAME", "somebody"),
            ("PRIVATE_PEM", "-----BEGIN-----\r\nabcdefgh\n-----END-----\n"),
        ];
        let mut secrets = Secrets::of_variables(variables.iter().map(|(name, value)| (name.into(), value.into())));
        for pattern in patterns {
            secrets.add_pattern(Regex::new(pattern).expect("a pattern"));
        }
        secrets
    }

    #[test]
    fn values_of_secret_variables_are_masked() {
        let masked = secrets(&[]).masked(b"a s3cret-1 b s3cret-1-longer\xff c /usr/bin short s3cret- somebody");
        assert_eq!(masked, b"a [API_KEY] b [github_token]\xff c /usr/bin short s3cret- somebody");
        assert_eq!(secrets(&[]).masked(b"key: \"abcdefgh\\n\""), b"key: \"[PRIVATE_PEM]\\n\"");
    }

    #[test]
    fn what_is_secret_is_asked_of_names_and_looks() {
        let variables = [
            ("DB_PASS", "hunter2xyz"),
            ("REDIS", "redis://:pw12345@h/0"),
            ("HEADER_AUTH", "Bearer abcdef"),
            ("MAX_TOKENS", "100000"),
            ("AUTH_MODE", "server"),
            ("SSH_AUTH_SOCK", "/tmp/agent"),
            ("API_KEY", "YOUR_API_KEY_HERE"),
        ];
        let secrets = Secrets::of_variables(variables.iter().map(|(name, value)| (name.into(), value.into())));
        let words = b"hunter2xyz pw12345 abcdef 100000 server /tmp/agent YOUR_API_KEY_HERE";
        let masked = b"[DB_PASS] [REDIS] [HEADER_AUTH] 100000 server /tmp/agent YOUR_API_KEY_HERE";
        assert_eq!(secrets.masked(words), masked);
    }

    #[test]
    fn patterns_and_values_that_overlap_are_one_place() {
        let secrets = secrets(&["sk-[a-z0-9]+", r"token=\S+", "x*"]);
        assert_eq!(secrets.masked(b"sk-abc9 token=s3cret-1! xx"), b"[masked] [masked] [masked]");
        assert_eq!(secrets.masked(b"sk- \xfftoken="), b"sk- \xfftoken=");
    }

    #[test]
    fn what_may_go_on_as_a_value_is_not_certain() {
        let secrets = secrets(&[]);
        assert_eq!(secrets.certain(b"Visit https://x/y: "), 19);
        assert_eq!(secrets.certain(b"the key is"), 9);
        assert_eq!(secrets.certain(b"key s3cret-1"), 4);
        assert_eq!(secrets.certain(b"key s3cret-1-longer"), 19);
        assert_eq!(secrets.certain(b"key s3cret-1-longe."), 19);
        assert_eq!(secrets.certain(b""), 0);
    }

    #[test]
    fn a_value_that_is_cut_off_is_masked_from_its_fourth_byte_on() {
        let secrets = secrets(&[]);
        assert_eq!(secrets.places_to_cut(b"key s3cr"), [(4..8, "[github_token]")]);
        assert_eq!(secrets.places_to_cut(b"key s3c"), []);
        assert_eq!(secrets.places_to_cut(b"key s3cret-1-longe"), [(4..18, "[github_token]")]);
    }
}
