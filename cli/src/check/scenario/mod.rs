//! The scenarios: what each sends to a fresh start of the server, and what it makes of the answer.
//!
//! A room for each part of a server's life: the [plain] session, its [start] under odd conditions, odd [traffic], its
//! [end], [malformed] lines, and the user's own [corpus]; and the [stdout] of them all.

use std::io;
use std::sync::atomic::Ordering;

use linegate::{Revision, Stage};

use super::child::{Child, KEPT};
use super::corpus::{VECTORS, Vector};
use super::finding::Finding;
use super::judge::{self, Ends};
use super::outcome::{Dirt, HANDSHAKE, Outcome};
use super::past::{Conditions, Exit, Run};
use super::recorded::{Content, Recorded};
use super::setup::{Folder, Record, Setup, marker_of};
use super::wire::Request;

mod corpus;
mod end;
mod lookup;
mod malformed;
mod plain;
mod start;
mod stdout;
mod traffic;

/// One scenario of the plan.
pub struct Scenario {
    /// Its name, as `--list` shows it and `--only` takes it.
    pub name: String,
    kind: Kind,
}

enum Kind {
    /// What every session begins with.
    Handshake,
    /// What a script says.
    Script(&'static Script),
    /// A malformed line.
    Malformed(&'static Vector),
    /// A file of the user's corpus.
    Corpus(Content),
    /// Nothing of its own: it judges the stdout of all others.
    Stdout,
}

/// What the user has named as the request under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Nothing.
    Nothing,
    /// A tool, by `--call`.
    Tool,
    /// A request, by `--request`.
    Request,
}

/// When a scenario runs. Each kind waits for the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// One after the other, in order: what they show is what the others are compared with.
    First,
    /// Side by side with others.
    Together,
    /// Alone, because it depends on time.
    Alone,
    /// After all others.
    Last,
}

/// A scenario whose course is a function.
struct Script {
    name: &'static str,
    /// What it shows, in one sentence.
    why: &'static str,
    turn: Turn,
    /// Whether it is played in a session, and can't be where the handshake failed.
    session: bool,
    play: fn(&mut Play<'_>) -> io::Result<()>,
}

impl Script {
    const fn new(name: &'static str, why: &'static str, play: fn(&mut Play<'_>) -> io::Result<()>) -> Self {
        Self { name, why, turn: Turn::Together, session: true, play }
    }

    const fn turn(mut self, turn: Turn) -> Self {
        self.turn = turn;
        self
    }

    const fn without_session(mut self) -> Self {
        self.session = false;
        self
    }
}

impl Scenario {
    /// Every scenario, in the order in which they are reported: the built-in ones, and those of the user's corpus.
    pub fn all(recorded: Vec<Recorded>) -> Vec<Self> {
        let named = |name: &str, kind| Self { name: name.to_owned(), kind };
        let mut all = vec![named(HANDSHAKE, Kind::Handshake)];
        for room in [plain::SCRIPTS, start::SCRIPTS, traffic::SCRIPTS, end::SCRIPTS] {
            all.extend(room.iter().map(|script| named(script.name, Kind::Script(script))));
        }
        all.extend(VECTORS.iter().map(|vector| named(&format!("malformed/{}", vector.name), Kind::Malformed(vector))));
        all.extend(recorded.into_iter().map(|Recorded { name, content }| Self { name, kind: Kind::Corpus(content) }));
        all.push(named("stdout-clean", Kind::Stdout));
        all
    }

    /// Whether this is the handshake, which settles the revision of all others.
    pub const fn is_handshake(&self) -> bool {
        matches!(self.kind, Kind::Handshake)
    }

    /// Whether this one starts nothing itself, but judges the stdout of all others.
    pub const fn is_stdout(&self) -> bool {
        matches!(self.kind, Kind::Stdout)
    }

    /// Whether this one shows that the server has the request under test, where the user has named it.
    pub fn looks_up(&self, action: Named) -> bool {
        match action {
            Named::Nothing => false,
            Named::Tool => self.name == plain::TOOL_LIST,
            Named::Request => self.name == plain::CALL,
        }
    }

    /// When it runs.
    pub const fn turn(&self) -> Turn {
        match &self.kind {
            Kind::Handshake => Turn::First,
            Kind::Script(script) => script.turn,
            Kind::Malformed(_) | Kind::Corpus(_) => Turn::Together,
            Kind::Stdout => Turn::Last,
        }
    }

    /// What it shows, in one sentence.
    const fn why(&self) -> &'static str {
        match &self.kind {
            Kind::Handshake => "The server answers the first request of a session.",
            Kind::Script(script) => script.why,
            Kind::Malformed(vector) => vector.why,
            Kind::Corpus(Content::Session(_)) => "What was answered once is answered in the same way again.",
            Kind::Corpus(Content::Line(..)) => "A line that somebody has sent before, and that must have no effect.",
            Kind::Stdout => "A client reads every byte of stdout as part of a message.",
        }
    }

    /// Runs it, after those with the outcomes `before`. Where none judges the stdout of all, `each` judges its own.
    ///
    /// # Errors
    ///
    /// The server can't be started.
    pub fn run(&self, setup: &Setup, before: &[&Outcome], each: bool) -> io::Result<Outcome> {
        let mut outcome = Outcome::new(self.name.clone(), self.why());
        let settled = setup.settled.get().copied();
        match (&self.kind, settled) {
            (Kind::Handshake, _) => plain::handshake(setup, &mut outcome)?,
            (Kind::Stdout, _) => stdout::judge_all(before, &mut outcome),
            (Kind::Script(script), settled) if settled.is_some() || !script.session => {
                let revision = settled.unwrap_or_default();
                (script.play)(&mut Play::new(setup, revision, &mut outcome)?)?;
            }
            (Kind::Malformed(vector), Some(revision)) if vector.applies_to(revision) => {
                malformed::play(vector, &mut Play::new(setup, revision, &mut outcome)?)?;
            }
            (Kind::Corpus(content), Some(revision)) => {
                corpus::play(content, &mut Play::new(setup, revision, &mut outcome)?)?;
            }
            (Kind::Malformed(_), Some(_)) => outcome.not_run = Some("this revision has no such rule"),
            (_, _) => outcome.not_run = Some("there was no handshake"),
        }
        // How a probe ends says nothing of the server: its revision may be foreign to it.
        if outcome.runs.iter().any(|run| run.exit == Exit::Killed && !run.probe) {
            setup.outstayed.fetch_add(1, Ordering::Relaxed);
        }
        look_at_stdout(&mut outcome, setup.settled.get().copied().unwrap_or_default())?;
        if outcome.soiled.is_empty() && outcome.runs.iter().any(|run| run.overflowed) {
            let told = format!(
                "in {} it wrote more to stdout than {KEPT} bytes, and what is behind them is not judged",
                self.name
            );
            return Err(io::Error::other(told));
        }
        if each || self.is_odd() {
            // What stands in no report is told by nobody else.
            let told: Vec<_> = before.iter().copied().filter(|before| !each || before.reported).collect();
            stdout::judge_one(&told, &mut outcome);
        }
        Ok(outcome)
    }

    /// Whether dirt on its stdout is its own fault, where the plain session has none of the kind.
    fn is_odd(&self) -> bool {
        match &self.kind {
            Kind::Script(script) => script.name.contains('/'),
            Kind::Corpus(Content::Session(_)) => true,
            _ => false,
        }
    }
}

/// Finds the bad lines on the stdout of the runs.
fn look_at_stdout(outcome: &mut Outcome, revision: Revision) -> io::Result<()> {
    for (number, run) in outcome.runs.iter().enumerate() {
        // What answers a malformed line may be malformed by what it repeats of it, such as an id that is none: that is told
        // as an effect. Bytes that are no JSON are dirt all the same. What answers a probe may be of another revision.
        let last = match outcome.malformed {
            Some(_) => Stage::Json,
            None if run.probe => Stage::Rpc,
            None => outcome.judged_to,
        };
        for line in judge::stdout(run, outcome.revision.unwrap_or(revision), last)? {
            if !outcome.soiled.iter().any(|dirt| dirt.line.look() == line.look()) {
                outcome.soiled.push(Dirt { scenario: outcome.name.clone(), run: number, line });
            }
        }
    }
    Ok(())
}

/// A scenario being played: the server, the revision of its sessions, and what comes out.
struct Play<'a> {
    setup: &'a Setup,
    revision: Revision,
    outcome: &'a mut Outcome,
    /// The folder of the canary file, where the request under test has one.
    canary: Option<Folder>,
}

impl<'a> Play<'a> {
    /// Nothing is played yet.
    fn new(setup: &'a Setup, revision: Revision, outcome: &'a mut Outcome) -> io::Result<Self> {
        let canary = if setup.has_canary() { Some(Folder::new()?) } else { None };
        Ok(Self { setup, revision, outcome, canary })
    }

    /// Whether the canary file is there.
    fn has_canary(&self) -> io::Result<bool> {
        self.canary.as_ref().map_or(Ok(false), Folder::has_content)
    }

    /// A fresh start of the server.
    fn start(&self, conditions: Conditions) -> io::Result<(Child<'a>, Option<Record>)> {
        self.setup.start(conditions)
    }

    /// An ordinary start of the server.
    fn plain_start(&self) -> io::Result<Child<'a>> {
        Ok(self.start(Conditions::default())?.0)
    }

    /// Opens a session; `false`, with a finding, where it can't be.
    fn open(&mut self, child: &mut Child<'_>) -> bool {
        self.setup.open(child, self.revision, self.outcome)
    }

    /// Ends the input, and judges how the process ends.
    fn finish(&mut self, child: Child<'_>, ends: Ends) -> io::Result<()> {
        self.setup.finish(child, self.outcome, ends)
    }

    /// The last run.
    fn last_run(&self) -> Option<&Run> {
        self.outcome.runs.last()
    }

    /// The request that every server answers.
    fn harmless(&self) -> Request {
        Request::harmless(self.revision)
    }

    /// The request under test, with the marker of this scenario.
    fn request(&self) -> Request {
        self.request_with(&marker_of(&self.outcome.name))
    }

    /// The same with this text in the marker's place.
    fn request_with(&self, marker: &str) -> Request {
        let canary = self.canary.as_ref().map(|folder| folder.path().join("canary").to_string_lossy().into_owned());
        self.setup.request(self.revision, marker, &canary.unwrap_or_default())
    }

    /// Tells what is no violation.
    fn note(&mut self, what: impl Into<String>) {
        self.outcome.notes.push(what.into());
    }

    /// Tells of a violation of the session's or the process's life.
    fn find(&mut self, what: impl Into<String>, fix: &'static str) {
        self.outcome.findings.push(Finding::life(what.into(), fix));
    }

    /// Whether nothing was violated so far.
    fn is_fine(&self) -> bool {
        self.outcome.findings.is_empty()
    }
}
