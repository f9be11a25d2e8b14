//! What became of a scenario: its violations, what is worth knowing, and the bytes of its runs. Only data: who fills it
//! in and who shows it stands above.

use linegate::{Code, Revision, Stage};

use super::finding::Finding;
use super::past::Run;
use super::text::{escaped, without_numbers, without_own_ids};

/// The scenario that every session begins with.
pub const HANDSHAKE: &str = "handshake";

/// What became of a scenario.
#[derive(Debug)]
pub struct Outcome {
    /// The scenario's name.
    pub name: String,
    /// What it shows.
    pub why: &'static str,
    /// Whether it stands in the report; others ran because one that does needed them.
    pub reported: bool,
    /// Why it could not run, if it could not.
    pub not_run: Option<&'static str>,
    /// The violations.
    pub findings: Vec<Finding>,
    /// Violations that are known, and accepted for the time being.
    pub accepted: Vec<Finding>,
    /// The revision by which stdout is judged, where it is not that of the handshake.
    pub revision: Option<Revision>,
    /// What is worth knowing and no violation.
    pub notes: Vec<String>,
    /// What was sent, in scenarios that send a malformed line.
    pub malformed: Option<Malformed>,
    /// The bad lines on the stdout of the runs, whoever reports them: the first of each look.
    pub soiled: Vec<Dirt>,
    /// The last stage by which the stdout of the runs is judged: what is sent in some scenarios brings on answers that an
    /// ordinary session does not have.
    pub judged_to: Stage,
    /// The starts of the server.
    pub runs: Vec<Run>,
}

impl Outcome {
    /// Nothing has happened yet in the scenario of that name.
    pub const fn new(name: String, why: &'static str) -> Self {
        Self {
            name,
            why,
            reported: true,
            not_run: None,
            findings: Vec::new(),
            accepted: Vec::new(),
            revision: None,
            notes: Vec::new(),
            malformed: None,
            soiled: Vec::new(),
            judged_to: Stage::Session,
            runs: Vec::new(),
        }
    }

    /// How it came out.
    pub const fn verdict(&self) -> Verdict {
        match (self.findings.is_empty(), self.not_run) {
            (false, _) => Verdict::Fail,
            (true, Some(_)) => Verdict::Skip,
            (true, None) => Verdict::Ok,
        }
    }

    /// The bad line that is shown: that of the first finding that is about one, and not accepted if there is such a one.
    pub fn dirt(&self) -> Option<&Dirt> {
        self.findings.iter().chain(&self.accepted).find_map(|finding| finding.dirt.as_deref())
    }

    /// Whether something was violated.
    pub fn failed(&self) -> bool {
        self.verdict() == Verdict::Fail
    }
}

/// How a scenario came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was violated.
    Ok,
    /// Something was.
    Fail,
    /// It could not run.
    Skip,
}

impl Verdict {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

/// A malformed line that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The rule that refuses it.
    pub code: Code,
    /// Its bytes, without a line feed.
    pub bytes: Vec<u8>,
    /// How the session went on; `None` where the input ended with the line.
    pub session: Option<Session>,
}

/// How a session went on behind a malformed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session {
    /// The server ended it.
    Closed,
    /// The next request was answered.
    WentOn,
    /// The next request was not answered in time.
    Silent,
}

impl Session {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::WentOn => "went on",
            Self::Silent => "silent",
        }
    }
}

/// A bad line on stdout, and where it was seen first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirt {
    /// The scenario that it came in.
    pub scenario: String,
    /// Which start of the server in that scenario, from 0.
    pub run: usize,
    /// The line.
    pub line: BadLine,
}

/// A bad line of one stdout, and those that look like it behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub number: usize,
    /// The byte in the line that the verdict is about.
    pub at: usize,
    /// The rule.
    pub code: Code,
    /// The bytes around it.
    pub bytes: Vec<u8>,
    /// The line from its beginning, as far as its author is looked for in it.
    pub text: Vec<u8>,
    /// How many lines of this stdout are bad and look like it.
    pub bad_lines: usize,
}

impl BadLine {
    /// What lines of one kind have in common: the rule and the bytes around the fault, but for their numbers and the check's own
    /// ids. A log line has another time in each session.
    pub fn look(&self) -> String {
        format!("{} {}", self.code.name(), without_numbers(&without_own_ids(&escaped(&self.bytes))))
    }
}
