//! What a session tells of its refusals: to a person on stderr, to the audit file, and as counts at the end.
//!
//! None of it can change a verdict or stop the gate: a reader or a disk that fails is given up, once and for all, with a
//! warning where that is still possible.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use linegate::{Code, Direction, Refusal};
use linegate_host::{observed_line, refused_line};

use super::append;
use crate::args::RunArgs;
use crate::tell::{tell, try_tell};

/// Who may read a new audit file, before the mask of this process: it holds nothing of what was said.
const AUDIT_MODE: u32 = 0o666;

/// Where refusals are told.
#[derive(Debug)]
pub struct Report {
    /// Whether refusals are only told, and their lines passed on.
    observing: bool,
    /// Whether the counts are told at the end even if nothing was refused.
    counting: bool,
    audit: Option<File>,
    audit_failed: AtomicBool,
    unheard: AtomicBool,
    client: Tally,
    server: Tally,
    /// Refusals by code, in the order of [`Code::ALL`].
    by_code: Vec<AtomicU64>,
    /// Places of the server's stderr that were masked.
    pub masked: AtomicU64,
}

/// What is to be told of a refused line.
#[derive(Debug)]
pub struct Told(String);

#[derive(Debug, Default)]
struct Tally {
    accepted: AtomicU64,
    refused: AtomicU64,
}

impl Report {
    /// Tells on stderr, and appends to the audit file if there is one.
    pub fn new(args: &RunArgs) -> Result<Self, String> {
        let open = |path: &Path| {
            append::open(path, AUDIT_MODE)
                .map_err(|error| format!("cannot open the audit file {}: {error}", path.display()))
        };
        Ok(Self {
            observing: args.observe,
            counting: args.counters,
            audit: args.audit.as_deref().map(open).transpose()?,
            audit_failed: AtomicBool::default(),
            unheard: AtomicBool::default(),
            client: Tally::default(),
            server: Tally::default(),
            by_code: Code::ALL.iter().map(|_| AtomicU64::default()).collect(),
            masked: AtomicU64::default(),
        })
    }

    const fn tally(&self, direction: Direction) -> &Tally {
        match direction {
            Direction::FromClient => &self.client,
            Direction::FromServer => &self.server,
        }
    }

    /// Counts an accepted line.
    pub fn accepted(&self, direction: Direction) {
        self.tally(direction).accepted.fetch_add(1, Relaxed);
    }

    /// Counts and records a refused line, and tells of it at once: where its stream had come to when it began, and whether
    /// the session ends with it.
    pub fn refused(&self, direction: Direction, refusal: &Refusal<'_>, offset: u64, ends: bool) {
        let told = self.note(direction, refusal, offset, ends);
        self.tell(&told, None);
    }

    /// Counts and records a refused line. What is to be told of it is told when its first bytes are known.
    pub fn note(&self, direction: Direction, refusal: &Refusal<'_>, offset: u64, ends: bool) -> Told {
        self.tally(direction).refused.fetch_add(1, Relaxed);
        let place = Code::ALL.iter().position(|code| *code == refusal.code());
        if let Some(count) = place.and_then(|place| self.by_code.get(place)) {
            count.fetch_add(1, Relaxed);
        }
        self.append(refusal);
        let code = refusal.code();
        let (who, at, text) = (direction.name(), refusal.at(), code.text());
        let waits = !ends && refusal.settles().is_some();
        let settled = match (self.observing, waits) {
            (true, _) => " It was passed on.",
            (false, true) => " The request that it answers gets error -32603 instead.",
            (false, false) => "",
        };
        let refused = if self.observing { "observed, would have refused" } else { "refused" };
        let end = if ends { " This ends the session." } else { "" };
        Told(format!(
            "{refused} a line of the {who} at offset {offset}: {code}, byte {at} of the line: {text}{end}{settled}"
        ))
    }

    /// Tells of a refused line, with its first bytes where they may be shown.
    pub fn tell(&self, told: &Told, excerpt: Option<&str>) {
        if self.unheard.load(Relaxed) {
            return;
        }
        let line = excerpt.map(|shown| format!(" The line: {shown}")).unwrap_or_default();
        self.unheard.store(!try_tell(format_args!("{}{line}", told.0)), Relaxed);
    }

    fn append(&self, refusal: &Refusal<'_>) {
        let Some(mut audit) = self.audit.as_ref() else { return };
        let written = if self.observing { observed_line } else { refused_line };
        let line = written(&refusal.record());
        // One write for one line, so that sessions that share a file don't mix within lines.
        if let Err(error) = audit.write_all(line.as_bytes())
            && !self.audit_failed.swap(true, Relaxed)
        {
            tell(format_args!("the audit file can't be written, refusals may be missing in it: {error}"));
        }
    }

    /// Tells the counts at the end: all of them where the user wants to see them, otherwise the lines, if any was refused.
    pub fn conclude(&self) {
        let refused = [&self.client, &self.server].map(|tally| tally.refused.load(Relaxed));
        if self.counting {
            self.tell_counts();
        } else if refused != [0, 0] {
            tell(format_args!("{}", self.lines()));
        }
    }

    /// Tells all counts so far.
    pub fn tell_counts(&self) {
        let counted = |(code, count): (&Code, &AtomicU64)| match count.load(Relaxed) {
            0 => None,
            count => Some(format!("{code}: {count}")),
        };
        let codes: Vec<_> = Code::ALL.iter().zip(&self.by_code).filter_map(counted).collect();
        let codes = if codes.is_empty() { String::new() } else { format!("; {}", codes.join(", ")) };
        let masked = self.masked.load(Relaxed);
        tell(format_args!("{}{codes}; masked on stderr: {masked}", self.lines()));
    }

    fn lines(&self) -> String {
        let [(taken, refused), (taken_back, refused_back)] =
            [&self.client, &self.server].map(|tally| (tally.accepted.load(Relaxed), tally.refused.load(Relaxed)));
        let passed = if self.observing { " (observing: all of them were passed on)" } else { "" };
        format!(
            "lines of the client: {taken} accepted, {refused} refused; \
             of the server: {taken_back} accepted, {refused_back} refused{passed}"
        )
    }
}
