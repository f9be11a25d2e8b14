//! What both forms of the report say: which scenarios stand in it, how they came out, what is best mended first, and how
//! to see a violation again.
//!
//! Bytes and words of the server are escaped in either form: a report can be read on a terminal.

use crate::check::finding::Class;
use crate::check::outcome::{HANDSHAKE, Outcome, Verdict};
use crate::check::past::Run;
use crate::check::setup::{Action, Server, Setup};
use crate::check::source::Hint;
use crate::check::text::{command_line, pipeline};
use crate::secrets::Secrets;
use crate::tell::printable;

/// Lines of the server's stderr that are shown of one run: the last ones, where a crash says its reason.
const STDERR_LINES: usize = 8;
/// The longest shell command that is shown to people, in bytes.
const LONGEST_COMMAND: usize = 3000;
/// The longest line of stderr that is shown, in characters.
const STDERR_WIDTH: usize = 160;

/// What a check has found.
pub struct Outline<'a> {
    setup: &'a Setup,
    outcomes: &'a [Outcome],
    /// The classes on which the exit status depends.
    counted: &'a [Class],
    secrets: Secrets,
    hints: &'a [Hint],
    unused: &'a [String],
}

impl<'a> Outline<'a> {
    /// An outline of these outcomes.
    pub fn new(setup: &'a Setup, outcomes: &'a [Outcome], counted: &'a [Class]) -> Self {
        let counted = if counted.is_empty() { &Class::ALL } else { counted };
        let secrets = Secrets::of_environment(&setup.launch.env);
        Self { setup, outcomes, counted, secrets, hints: &[], unused: &[] }
    }

    /// The same with places in the sources that may write to stdout.
    pub const fn with_hints(mut self, hints: &'a [Hint]) -> Self {
        self.hints = hints;
        self
    }

    /// The same with fingerprints of accepted faults that are gone.
    pub const fn with_unused(mut self, unused: &'a [String]) -> Self {
        self.unused = unused;
        self
    }

    /// Places in the sources that may write to stdout.
    pub const fn hints(&self) -> &'a [Hint] {
        self.hints
    }

    /// Fingerprints of accepted faults that are gone.
    pub const fn unused(&self) -> &'a [String] {
        self.unused
    }

    /// What all scenarios had in common.
    pub const fn setup(&self) -> &'a Setup {
        self.setup
    }

    /// What must not be shown of the server's words.
    pub const fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// The classes on which the exit status depends.
    pub const fn counted(&self) -> &'a [Class] {
        self.counted
    }

    /// Every outcome, those included that stand in no report.
    pub const fn all(&self) -> &'a [Outcome] {
        self.outcomes
    }

    /// The outcomes that stand in the report.
    pub fn reported(&self) -> impl Iterator<Item = &'a Outcome> + use<'a> {
        self.outcomes.iter().filter(|outcome| outcome.reported)
    }

    /// How many of them came out so.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.reported().filter(|outcome| outcome.verdict() == verdict).count()
    }

    /// Whether a session was begun, or that none was is accepted.
    pub fn has_session(&self) -> bool {
        let missed = |outcome: &Outcome| outcome.name == HANDSHAKE && outcome.failed();
        self.setup.settled.get().is_some() || !self.reported().any(missed)
    }

    /// Whether nothing was violated of what counts. A server that begins no session has shown nothing of any class.
    pub fn clean(&self) -> bool {
        self.has_session() && self.counted.iter().all(|class| self.violations(*class) == 0)
    }

    /// How many violations of this class there are.
    pub fn violations(&self, class: Class) -> usize {
        self.reported().flat_map(|outcome| &outcome.findings).filter(|finding| finding.class == class).count()
    }

    /// How many violations of this class are accepted.
    pub fn accepted(&self, class: Class) -> usize {
        self.reported().flat_map(|outcome| &outcome.accepted).filter(|finding| finding.class == class).count()
    }

    /// The failed ones in the order in which they are best mended: without a handshake nothing else shows, and a dirty
    /// stdout hides the rest, most of all where an ordinary session has it.
    pub fn failed(&self) -> Vec<&'a Outcome> {
        let urgency = |outcome: &Outcome| {
            let class = outcome.findings.iter().map(|finding| finding.class).min();
            (outcome.name != HANDSHAKE, class, outcome.name != "stdout-clean")
        };
        let mut failed: Vec<_> = self.reported().filter(|outcome| outcome.failed()).collect();
        failed.sort_by_key(|outcome| urgency(outcome));
        failed
    }

    /// The protocol revision that the server speaks, where that is known.
    pub fn revision(&self) -> Option<&'static str> {
        self.setup.settled.get().copied().map(linegate::Revision::name)
    }

    /// Whether the built-in server was checked.
    pub const fn is_example(&self) -> bool {
        matches!(self.setup.server, Server::Example(_))
    }

    /// Whether no tool of the server was called, so that what its tools print was not seen.
    pub const fn calls_no_tool(&self) -> bool {
        matches!(self.setup.action, Action::Harmless)
    }

    /// What was checked.
    pub fn command(&self) -> String {
        match &self.setup.server {
            Server::Command(command) => command_line(command),
            Server::Example(_) => "the built-in example server".to_owned(),
        }
    }

    /// The run that shows the violation: of a dirty stdout the one with the bad line, otherwise the scenario's last.
    pub fn evidence(&self, outcome: &'a Outcome) -> Option<&'a Run> {
        match outcome.dirt() {
            Some(dirt) => self.outcomes.iter().find(|other| other.name == dirt.scenario)?.runs.get(dirt.run),
            None => outcome.runs.last(),
        }
    }

    /// What mends a failed scenario, each once.
    pub fn fixes(&self, outcome: &'a Outcome) -> Vec<&'static str> {
        let mut fixes: Vec<_> = outcome.findings.iter().map(|finding| finding.fix).collect();
        fixes.dedup();
        fixes
    }

    /// The same for people: a line that nobody would read or copy is told in words.
    pub fn reproduce_shortly(&self, run: &Run) -> String {
        let line = self.reproduce(run);
        if line.len() <= LONGEST_COMMAND {
            return line;
        }
        let bytes = run.stdin.len();
        format!("{bytes} bytes of input; --report DIR writes them down, and --replay does it again with its file")
    }

    /// A shell command that does the run again, as far as a pipe line can.
    pub fn reproduce(&self, run: &Run) -> String {
        let there = match (&self.setup.launch.directory, &run.conditions.directory) {
            (Some(directory), None) => format!("cd {} && ", command_line(&[directory])),
            _ => String::new(),
        };
        let line = there + &pipeline(&run.stdin, &run.conditions, &self.setup.launch.env, &run.command);
        let beside: Vec<_> = run.steps.iter().filter_map(|step| step.act.word()).collect();
        if beside.is_empty() {
            return line;
        }
        format!("{line}  # and {}, as --replay does it with the file that --report DIR writes", beside.join(", "))
    }
}

/// The last lines of a run's stderr, fit for a terminal and without secrets.
pub fn last_words(secrets: &Secrets, run: &Run) -> Vec<String> {
    let masked = secrets.masked(&run.stderr);
    let text = String::from_utf8_lossy(&masked);
    let lines: Vec<_> = text.lines().collect();
    let from = lines.len().saturating_sub(STDERR_LINES);
    lines.iter().skip(from).map(|line| printable(line).chars().take(STDERR_WIDTH).collect()).collect()
}
