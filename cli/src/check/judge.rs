//! Judging what a run left behind, by the three classes of violation.
//!
//! stdout: bytes that are no message. effects: a malformed line that did something, or was answered as if it had.
//! lifecycle: a session that does not do its ordinary work, or a process that does not end when its input does.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;

use linegate::{
    Code, Direction, Event, Fed, INVALID_PARAMS, INVALID_REQUEST, MAX_DEPTH, METHOD_NOT_FOUND, Options, PARSE_ERROR,
    Policy, Profile, Revision, Stage, UNSUPPORTED_VERSION,
};
use serde_json::Value;

use super::finding::{Class, Finding};
use super::outcome::BadLine;
use super::past::{Act, Exit, Run};
use super::wire::{self, AFTER, Answer, HELLO, NoResult};
use crate::gates::{self, Pair};

/// The codes that an error about any malformed line may have.
const REFUSALS: [i32; 3] = [PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS];
/// What may be said of a message that is only out of place in the protocol: a server that has no tools has no tools/call.
const REFUSALS_OF_MESSAGES: [i32; 2] = [METHOD_NOT_FOUND, UNSUPPORTED_VERSION];

const STOP_AT_THE_GATE: &str =
    "Refuse the line before anything reads it: let `linegate run` or the library stand in front of the reader.";

/// Judges the run of a line that breaks the rule `code`: nothing may be recorded, and nothing but a refusal may come back.
/// `canary` is whether the file is there that the line would have made. A line has one finding at most, the strongest: whether a
/// call that ran was answered too is a matter of time.
pub fn effects(run: &Run, code: Code, marker: &str, recorded: &[u8], canary: bool) -> Option<Finding> {
    let finding = |what: String, fix| Some(Finding { class: Class::Effects, what, fix, dirt: None });
    if !recorded.is_empty() {
        return finding("the call of the malformed line ran".to_owned(), STOP_AT_THE_GATE);
    }
    if canary {
        return finding("the malformed line made the canary file".to_owned(), STOP_AT_THE_GATE);
    }
    match wire::messages(&run.stdout).find_map(|message| acted(&message, code)) {
        Some(Err(NoResult::Error { code, message })) => {
            let what = format!("the malformed line got past the reader: error {code}: {message}");
            finding(what, STOP_AT_THE_GATE)
        }
        Some(_) => finding("the malformed line was answered with a result".to_owned(), STOP_AT_THE_GATE),
        None if run.stdout.windows(marker.len()).any(|bytes| bytes == marker.as_bytes()) => {
            let what = "text of the malformed line came back on stdout".to_owned();
            finding(what, "Answer a refused line with a fixed text, never with bytes of the line.")
        }
        None => None,
    }
}

/// The answer in this message, if it shows that the malformed line was acted on.
fn acted(message: &Value, broken: Code) -> Option<Answer> {
    // What the server asks or tells on its own is no answer, and the check's other requests deserve theirs.
    let own = message.get("id").is_some_and(|id| id == HELLO || id == AFTER);
    if own || message.get("method").is_some() {
        return None;
    }
    let also = if broken.stage() == Stage::Mcp { &REFUSALS_OF_MESSAGES[..] } else { &[] };
    let refuses = |code: i64| REFUSALS.iter().chain(also).any(|refusal| i64::from(*refusal) == code);
    wire::answer_in(message).filter(|answer| !matches!(answer, Err(NoResult::Error { code, .. }) if refuses(*code)))
}

/// How a process may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// In time, by itself, with status 0: the end of input was all that happened.
    Well,
    /// In time and by itself.
    ByItself,
    /// In time, if only by a signal: it was sent one, or lost its client.
    Somehow,
}

impl Ends {
    /// The word in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::ByItself => "by_itself",
            Self::Somehow => "somehow",
        }
    }

    /// What the word means.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Well, Self::ByItself, Self::Somehow].into_iter().find(|ends| ends.name() == name)
    }
}

/// Judges how the process ended; a note where it is worth one.
pub fn lifecycle(run: &Run, ends: Ends) -> Result<Option<String>, Finding> {
    let (what, fix) = match run.exit {
        Exit::Killed => (
            format!("it was still running {} s after the end of its input, and was killed", run.patience.as_secs_f32()),
            "Leave the read loop at end of input, and end with status 0.",
        ),
        Exit::Signal(signal) if ends == Ends::Somehow => return Ok(Some(format!("it was ended by signal {signal}"))),
        Exit::Signal(signal) => (
            format!("it was ended by signal {signal}"),
            "Find the crash; what the server wrote to stderr may say where.",
        ),
        Exit::Status(status) if status != 0 && ends == Ends::Well => {
            (format!("it ended with status {status}"), "End with status 0 at end of input: it is no error.")
        }
        Exit::Status(status) if status != 0 => return Ok(Some(format!("it ended with status {status}"))),
        Exit::Status(_) if run.left_processes => {
            return Ok(Some("processes that it had started outlived it, and were ended".to_owned()));
        }
        Exit::Status(_) => return Ok(None),
    };
    Err(Finding::life(what, fix))
}

/// Bytes of a bad line that are shown.
const SHOWN: usize = 48;
/// Bytes of a bad line by which its author is looked for.
const READ: usize = 4096;

/// Kinds of bad lines that are told apart on one stdout; more help nobody.
const KINDS: usize = 100;

/// Judges every byte of one stdout: it has to consist of lines that the gate of a client accepts in this session, as far as
/// its stages up to `last` can tell. Gives the first bad line of each look, at most 100.
///
/// # Errors
///
/// The system gives no randomness for the gate's key.
pub fn stdout(run: &Run, revision: Revision, last: Stage) -> io::Result<Vec<BadLine>> {
    let mut gates = session(revision).map_err(io::Error::other)?;
    let (mut unsent, mut steps) = (run.stdin.as_slice(), run.steps.iter().peekable());
    let mut seen = 0;
    let whole = !run.cut;

    let mut kinds: BTreeMap<String, BadLine> = BTreeMap::new();
    for (index, line) in run.stdout.split_inclusive(|byte| *byte == b'\n').enumerate() {
        seen += line.len();
        // What was sent before the line was there may be what it answers.
        while let Some(step) = steps.next_if(|step| step.behind < seen) {
            let Act::Send(len) = step.act else { continue };
            let (piece, rest) = unsent.split_at(len.min(unsent.len()));
            send(&mut gates, piece);
            unsent = rest;
        }
        let verdict = verdict(&mut gates, line, whole).filter(|(code, _)| code.stage() <= last);
        let Some((code, at)) = verdict else { continue };
        let from = if at < SHOWN { 0 } else { at - SHOWN / 3 };
        let bytes = line.iter().skip(from).take(SHOWN).copied().collect();
        let text = line.iter().take(READ).copied().collect();
        let bad = BadLine { number: index + 1, at, code, bytes, text, bad_lines: 1 };
        let full = kinds.len() >= KINDS;
        match kinds.entry(bad.look()) {
            Entry::Occupied(mut same) => same.get_mut().bad_lines += 1,
            Entry::Vacant(new) if !full => _ = new.insert(bad),
            Entry::Vacant(_) => {}
        }
    }
    let mut kinds: Vec<_> = kinds.into_values().collect();
    kinds.sort_by_key(|line| line.number);
    Ok(kinds)
}

/// The gates of a session between the check and a server.
fn session(revision: Revision) -> Result<Pair, String> {
    let options = |from| -> Result<Options, String> {
        let mut options = gates::options(from)?;
        options.revision = revision;
        options.policy = Policy::Continue;
        Ok(options)
    };
    // What a user lets a tool be called with is not on trial.
    let mut client = options(Direction::FromClient)?.with_profile(Profile::Rfc8259);
    client.limits.max_depth = MAX_DEPTH;
    Pair::open(client, options(Direction::FromServer)?)
}

/// Lets the session know what was sent.
fn send(gates: &mut Pair, mut piece: &[u8]) {
    while !piece.is_empty() {
        let consumed = gates.feed(Direction::FromClient, piece).consumed;
        piece = piece.get(consumed..).unwrap_or_default();
    }
}

/// The verdict on one line; a last line without its line feed is refused where the stream is whole.
fn verdict(gates: &mut Pair, line: &[u8], whole: bool) -> Option<(Code, usize)> {
    let mut rest = line;
    let mut refused = None;
    while !rest.is_empty() {
        let Fed { consumed, event } = gates.feed(Direction::FromServer, rest);
        if let Event::Refused(refusal) = event {
            refused = refused.or(Some((refusal.code(), refusal.at())));
        }
        rest = rest.get(consumed..).unwrap_or_default();
    }
    if refused.is_none()
        && whole
        && !line.ends_with(b"\n")
        && let Event::Refused(refusal) = gates.gate(Direction::FromServer).finish()
    {
        refused = Some((refusal.code(), refusal.at()));
    }
    refused
}
