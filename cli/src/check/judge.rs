//! Judging what a run left behind: three classes of violation, and what mends each.
//!
//! stdout: bytes that are no message. effects: a malformed line that did something, or was answered as if it had.
//! lifecycle: a session that does not do its ordinary work, or a process that does not end when its input does.

use linegate::{Code, Direction, Event, Fed, Gate, Options, Policy, Revision};
use linegate_host::{HeapStorage, random_key};
use serde_json::Value;
use std::io;

use super::child::{Exit, Run};
use super::corpus::Vector;
use super::wire::{self, AFTER, Answer, HELLO};

/// The classes of violation, in the order in which they are best mended: a dirty stdout hides everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Bytes on stdout that are no message.
    Stdout,
    /// A malformed line had an effect.
    Effects,
    /// The session or the process did not go or end as it should.
    Lifecycle,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 3] = [Self::Stdout, Self::Effects, Self::Lifecycle];

    /// The class's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Effects => "effects",
            Self::Lifecycle => "lifecycle",
        }
    }
}

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its class.
    pub class: Class,
    /// What was seen.
    pub what: String,
    /// What mends it.
    pub fix: &'static str,
}

impl Finding {
    /// A violation of the session's ordinary work.
    pub const fn session(what: String) -> Self {
        Self { class: Class::Lifecycle, what, fix: "Answer each request with one line on stdout, and flush it." }
    }

    const fn effects(what: String, fix: &'static str) -> Self {
        Self { class: Class::Effects, what, fix }
    }
}

/// The codes that an error about a malformed line may have: parse error, invalid request, invalid params.
const REFUSALS: [i64; 3] = [-32700, -32600, -32602];

const STOP_AT_THE_GATE: &str =
    "Refuse the line before anything reads it: let `linegate run` or the library stand in front of the reader.";

/// Judges the run of a malformed line: nothing may be recorded, and nothing but a refusal may come back.
pub fn effects(run: &Run, vector: &Vector, marker: &str, recorded: &[u8]) -> Vec<Finding> {
    let rule = vector.code.name();
    let mut findings = Vec::new();
    if !recorded.is_empty() {
        findings
            .push(Finding::effects(format!("the call ran, though its line is refused by {rule}"), STOP_AT_THE_GATE));
    }
    if let Some(answer) = wire::messages(&run.stdout).find_map(|message| acted(&message)) {
        let what = match answer {
            Answer::Error { .. } => format!("the line got past the reader: {}", answer.words()),
            _ => format!("the line was answered with a result, though it is refused by {rule}"),
        };
        findings.push(Finding::effects(what, STOP_AT_THE_GATE));
    } else if run.stdout.windows(marker.len()).any(|bytes| bytes == marker.as_bytes()) {
        let what = "text of the malformed line came back on stdout".to_owned();
        findings.push(Finding::effects(what, "Answer a refused line with a fixed text, never with bytes of the line."));
    }
    findings
}

/// The answer in this message, if it shows that the malformed line was acted on.
fn acted(message: &Value) -> Option<Answer> {
    // What the server asks or tells on its own is no answer, and the check's other requests deserve theirs.
    let own = message.get("id").is_some_and(|id| id == HELLO || id == AFTER);
    if own || message.get("method").is_some() {
        return None;
    }
    Answer::of(message).filter(|answer| !matches!(answer, Answer::Error { code, .. } if REFUSALS.contains(code)))
}

/// Judges how the process ended. A status other than 0 counts only where the end of input was all that happened.
pub fn lifecycle(run: &Run, status_counts: bool) -> Result<Option<String>, Finding> {
    let (what, fix) = match run.exit {
        Exit::Killed => (
            format!("it was still running {} s after the end of its input, and was killed", run.patience.as_secs_f32()),
            "Leave the read loop at end of input, and end with status 0.",
        ),
        Exit::Signal(signal) => {
            (format!("it was ended by signal {signal}"), "Find the crash; its stderr stands below.")
        }
        Exit::Status(status) if status != 0 && status_counts => {
            (format!("it ended with status {status}"), "End with status 0 at end of input: it is no error.")
        }
        Exit::Status(status) if status != 0 => return Ok(Some(format!("it ended with status {status}"))),
        Exit::Status(_) if run.left_processes => {
            return Ok(Some("processes that it had started outlived it, and were ended".to_owned()));
        }
        Exit::Status(_) => return Ok(None),
    };
    Err(Finding { class: Class::Lifecycle, what, fix })
}

/// The bad line of one stdout that comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which run of its scenario, from 0.
    pub run: usize,
    /// Its number, from 1.
    pub line: usize,
    /// The byte in the line that the verdict is about.
    pub at: usize,
    /// The rule.
    pub code: Code,
    /// The bytes around it.
    pub bytes: Vec<u8>,
    /// How many lines of this stdout are bad.
    pub bad_lines: usize,
}

/// Bytes of a bad line that are shown.
const SHOWN: usize = 48;

/// Judges every byte of one stdout: it has to consist of lines that the gate of a client accepts.
///
/// # Errors
///
/// The system gives no randomness for the gate's key.
pub fn stdout(stream: &[u8], revision: Revision, whole: bool) -> io::Result<Option<Fault>> {
    let mut options = Options::new(Direction::FromServer, random_key()?);
    options.revision = revision;
    options.policy = Policy::Continue;
    let mut gate = Gate::new(options, HeapStorage::new()).map_err(io::Error::other)?;

    let mut first: Option<Fault> = None;
    for (number, line) in stream.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let Some((code, at)) = verdict(&mut gate, line, whole) else { continue };
        if let Some(first) = &mut first {
            first.bad_lines += 1;
            continue;
        }
        let from = if at < SHOWN { 0 } else { at - SHOWN / 3 };
        let bytes = line.iter().skip(from).take(SHOWN).copied().collect();
        first = Some(Fault { run: 0, line: number + 1, at, code, bytes, bad_lines: 1 });
    }
    Ok(first)
}

/// The verdict on one line; a last line without its line feed is refused where the stream is whole.
fn verdict(gate: &mut Gate<HeapStorage>, line: &[u8], whole: bool) -> Option<(Code, usize)> {
    let mut rest = line;
    let mut refused = None;
    while !rest.is_empty() {
        let Fed { consumed, event } = gate.feed(rest);
        if let Event::Refused(refusal) = event {
            refused = refused.or(Some((refusal.code(), refusal.at())));
        }
        rest = rest.get(consumed..).unwrap_or_default();
    }
    if refused.is_none()
        && whole
        && !line.ends_with(b"\n")
        && let Event::Refused(refusal) = gate.finish()
    {
        refused = Some((refusal.code(), refusal.at()));
    }
    refused
}
