//! Judging what a run left behind, by the three classes of violation.
//!
//! stdout: bytes that are no message. effects: a malformed line that did something, or was answered as if it had.
//! lifecycle: a session that does not do its ordinary work, or a process that does not end when its input does.

use std::io;

use linegate::{Code, Direction, Event, Fed, Gate, Policy, Revision, Stage};
use linegate_host::HeapStorage;
use serde_json::Value;

use super::child::{Exit, Run};
use super::finding::{Class, Finding};
use super::outcome::BadLine;
use super::wire::{self, AFTER, Answer, HELLO, NoResult};
use crate::gates;

/// The codes that an error about a malformed line may have: parse error, invalid request, invalid params.
const REFUSALS: [i64; 3] = [-32700, -32600, -32602];

const STOP_AT_THE_GATE: &str =
    "Refuse the line before anything reads it: let `linegate run` or the library stand in front of the reader.";

/// Judges the run of a malformed line: nothing may be recorded, and nothing but a refusal may come back.
pub fn effects(run: &Run, marker: &str, recorded: &[u8]) -> Vec<Finding> {
    let finding = |what: String, fix| Finding { class: Class::Effects, what, fix };
    let mut findings = Vec::new();
    if !recorded.is_empty() {
        findings.push(finding("the call of the malformed line ran".to_owned(), STOP_AT_THE_GATE));
    }
    match wire::messages(&run.stdout).find_map(|message| acted(&message)) {
        Some(Err(NoResult::Error { code, message })) => {
            let what = format!("the malformed line got past the reader: error {code}: {message}");
            findings.push(finding(what, STOP_AT_THE_GATE));
        }
        Some(_) => {
            findings.push(finding("the malformed line was answered with a result".to_owned(), STOP_AT_THE_GATE));
        }
        None if run.stdout.windows(marker.len()).any(|bytes| bytes == marker.as_bytes()) => {
            let what = "text of the malformed line came back on stdout".to_owned();
            findings.push(finding(what, "Answer a refused line with a fixed text, never with bytes of the line."));
        }
        None => {}
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
    let refusal = |answer: &Answer| matches!(answer, Err(NoResult::Error { code, .. }) if REFUSALS.contains(code));
    wire::answer_in(message).filter(|answer| !refusal(answer))
}

/// Judges how the process ended. A status other than 0 counts only where the end of input was all that happened.
pub fn lifecycle(run: &Run, status_counts: bool) -> Result<Option<String>, Finding> {
    let (what, fix) = match run.exit {
        Exit::Killed => (
            format!("it was still running {} s after the end of its input, and was killed", run.patience.as_secs_f32()),
            "Leave the read loop at end of input, and end with status 0.",
        ),
        Exit::Signal(signal) => (
            format!("it was ended by signal {signal}"),
            "Find the crash; what the server wrote to stderr may say where.",
        ),
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

/// Bytes of a bad line that are shown.
const SHOWN: usize = 48;

/// Judges every byte of one stdout: it has to consist of lines that the gate of a client accepts, as far as its stages up to
/// `last` can tell.
///
/// # Errors
///
/// The system gives no randomness for the gate's key.
pub fn stdout(stream: &[u8], revision: Revision, whole: bool, last: Stage) -> io::Result<Option<BadLine>> {
    let mut options = gates::options(Direction::FromServer).map_err(io::Error::other)?;
    options.revision = revision;
    options.policy = Policy::Continue;
    let mut gate = gates::open(options).map_err(io::Error::other)?;

    let mut first: Option<BadLine> = None;
    for (index, line) in stream.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let verdict = verdict(&mut gate, line, whole).filter(|(code, _)| code.stage() <= last);
        let Some((code, at)) = verdict else { continue };
        if let Some(first) = &mut first {
            first.bad_lines += 1;
            continue;
        }
        let from = if at < SHOWN { 0 } else { at - SHOWN / 3 };
        let bytes = line.iter().skip(from).take(SHOWN).copied().collect();
        first = Some(BadLine { number: index + 1, at, code, bytes, bad_lines: 1 });
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
