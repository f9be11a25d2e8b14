//! What became of a scenario: its violations, what is worth knowing, and the bytes of its runs.

use super::child::Run;
use super::judge::{self, Finding};
use super::scenario::Scenario;

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

/// What became of a scenario.
#[derive(Debug)]
pub struct Outcome {
    /// The scenario's name.
    pub name: String,
    /// What it shows.
    pub why: &'static str,
    /// Why it could not run, if it could not.
    pub not_run: Option<&'static str>,
    /// The violations.
    pub findings: Vec<Finding>,
    /// What is worth knowing and no violation.
    pub notes: Vec<String>,
    /// How the session went on, in scenarios that send a malformed line.
    pub session: Option<Session>,
    /// The bad line, where the scenario is the judgement of stdout.
    pub fault: Option<(String, judge::Fault)>,
    /// The starts of the server.
    pub runs: Vec<Run>,
}

impl Outcome {
    /// Nothing has happened yet.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            name: scenario.name.clone(),
            why: scenario.why(),
            not_run: None,
            findings: Vec::new(),
            notes: Vec::new(),
            session: None,
            fault: None,
            runs: Vec::new(),
        }
    }

    /// Whether something was violated.
    pub fn failed(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Notes that the session did not do its ordinary work.
    pub fn fail(&mut self, what: String) {
        self.findings.push(Finding::session(what));
    }
}
