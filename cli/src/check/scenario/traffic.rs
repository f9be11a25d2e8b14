//! Odd traffic: valid messages in pieces, in heaps, in bulk, and out of the usual order. Every one of them may come from a
//! client that does nothing wrong, except for the id that is used twice: there the server only has to survive.

use std::collections::BTreeSet;
use std::io;
use std::thread;
use std::time::Duration;

use linegate::Stage;
use serde_json::{Value, json};

use super::{Play, Script, Turn};
use crate::check::child::Child;
use crate::check::judge::Ends;
use crate::check::past::Conditions;
use crate::check::setup::{MARKER, marker_of};
use crate::check::wire::{self, AFTER, Answer, MODERN, NoResult, Request, TESTED, object};

/// Requests of the burst.
const BURST: usize = 256;
/// Bytes of the large request and of the text that a tool may answer with: more than the 64 KiB of many line readers, less
/// than the smallest limit of an SDK.
const LARGE: usize = 1 << 20;
/// The pause between two bytes that come one by one.
const DRIP: Duration = Duration::from_millis(1);
/// How long a request is left alone before it is cancelled.
const BEFORE_CANCEL: Duration = Duration::from_millis(100);
/// How long a late answer is waited for.
const LATE: Duration = Duration::from_secs(1);
/// Requests in front of a stderr that nobody reads.
const UNREAD: usize = 64;

/// The free place in `_meta` for what makes a request large.
const META_PADDING: &str = "linegate/padding";

pub const SCRIPTS: &[Script] = &[
    Script::new(
        "traffic/two-in-one-write",
        "A pipe has no messages, only bytes: one read may bring two lines.",
        two_in_one_write,
    ),
    Script::new("traffic/byte-by-byte", "One read may bring less than a line.", byte_by_byte),
    Script::new("traffic/crlf", "Clients on Windows often end a line with CR LF.", crlf),
    Script::new("traffic/burst", "A client may send many requests before it reads an answer.", burst),
    Script::new("traffic/large-request", "Requests of a megabyte are ordinary: files travel in them.", large_request),
    Script::new("traffic/large-response", "Answers of a megabyte are ordinary: files travel in them.", large_response),
    Script::new(
        "traffic/cancelled",
        "A client that has cancelled a request has forgotten it, and takes a late answer for a fault.",
        cancelled,
    )
    .turn(Turn::Alone),
    Script::new("traffic/duplicate-id", "One faulty request must not stop the server for all others.", duplicate_id),
    Script::new(
        "traffic/stderr-unread",
        "Some clients never read stderr: after some 64 KiB of logs the pipe is full, and a write to it waits for ever.",
        stderr_unread,
    ),
];

/// Waits for the answer to the request with this id, which was sent so.
fn expect(play: &mut Play<'_>, child: &mut Child<'_>, id: &str, how: &str, fix: &'static str) -> Option<Answer> {
    let answer = child.answer(id, play.setup.launch.timeout);
    match &answer {
        Err(NoResult::Closed) => play.find(format!("stdout ended at a request {how}"), fix),
        Err(NoResult::Silent) => play.find(format!("a request {how} was not answered in time"), fix),
        _ => return Some(answer),
    }
    None
}

fn two_in_one_write(play: &mut Play<'_>) -> io::Result<()> {
    let fix = "Read lines, not reads: keep what stands behind a line feed for the next message.";
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        child.send(&[play.request().line(TESTED), play.harmless().line(AFTER)].concat());
        let both = [TESTED, AFTER]
            .iter()
            .all(|id| expect(play, &mut child, id, "that shared its write with another", fix).is_some());
        if both {
            play.note("both were answered");
        }
    }
    play.finish(child, Ends::ByItself)
}

fn byte_by_byte(play: &mut Play<'_>) -> io::Result<()> {
    let fix = "Gather bytes until the line feed: a read may end anywhere, even inside a character.";
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        for byte in play.request().line(TESTED) {
            child.send(&[byte]);
            thread::sleep(DRIP);
        }
        if expect(play, &mut child, TESTED, "that came byte by byte", fix).is_some() {
            play.note("it was answered");
        }
    }
    play.finish(child, Ends::ByItself)
}

fn crlf(play: &mut Play<'_>) -> io::Result<()> {
    let fix = "Take one CR before the line feed for a part of the line's end.";
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        let mut line = play.request().line(TESTED);
        line.pop();
        line.extend(b"\r\n");
        child.send(&line);
        if let Some(answer) = expect(play, &mut child, TESTED, "whose line ended with CR LF", fix) {
            match answer {
                Err(NoResult::Error { code, .. }) if [-32700, -32600].contains(&code) => {
                    play.find(format!("a line that ended with CR LF was refused with error {code}"), fix);
                }
                _ => play.note("it was answered"),
            }
        }
    }
    play.finish(child, Ends::ByItself)
}

/// So many requests without an effect, each with an id of its own.
fn many(play: &Play<'_>, count: usize) -> Vec<u8> {
    let request = play.harmless();
    (0..count).flat_map(|number| request.line(&numbered(number))).collect()
}

fn numbered(number: usize) -> String {
    format!("{TESTED}-{number}")
}

/// Waits until that many requests are answered; says how many are not. That none is answered twice is judged with stdout.
fn unanswered(play: &Play<'_>, child: &mut Child<'_>, count: usize) -> usize {
    let missing = |stdout: &[u8]| {
        let mut answered = BTreeSet::<String>::new();
        for message in wire::messages(stdout) {
            if let (Some(Value::String(id)), Some(_)) = (message.get("id"), wire::answer_in(&message)) {
                answered.insert(id.clone());
            }
        }
        (0..count).filter(|number| !answered.contains(&numbered(*number))).count()
    };
    // Lines are cheap to count, and parsed once there are enough of them.
    let lines = |stdout: &[u8]| stdout.iter().filter(|byte| **byte == b'\n').count();
    let before = lines(child.stdout());
    child.wait_for(play.setup.launch.timeout, |stdout| lines(stdout) >= before + count && missing(stdout) == 0);
    missing(child.stdout())
}

fn burst(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        child.send(&many(play, BURST));
        match unanswered(play, &mut child, BURST) {
            0 => play.note(format!("{BURST} requests at once, each of them answered")),
            missing => play.find(
                format!("of {BURST} requests at once {missing} were not answered in time"),
                "Queue what comes while another request is served; drop nothing, and read on.",
            ),
        }
    }
    play.finish(child, Ends::ByItself)
}

fn large_request(play: &mut Play<'_>) -> io::Result<()> {
    let fix = "Read lines without a limit below some megabytes; the usual cause is a line reader that stops at 64 KiB.";
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        let mut request = play.harmless();
        let meta = request.params.entry("_meta").or_insert_with(|| json!({}));
        meta[META_PADDING] = "x".repeat(LARGE).into();
        child.send(&request.line(TESTED));
        if let Some(answer) = expect(play, &mut child, TESTED, "of a megabyte", fix) {
            match answer {
                Ok(_) => play.note("a request of a megabyte was answered"),
                Err(NoResult::Error { code, .. }) => play.note(format!("it was refused with error {code}")),
                Err(_) => {}
            }
            child.send(&play.harmless().line(AFTER));
            expect(play, &mut child, AFTER, "behind one of a megabyte", fix);
        }
    }
    play.finish(child, Ends::ByItself)
}

fn large_response(play: &mut Play<'_>) -> io::Result<()> {
    let fix = "Write the whole line: a pipe takes some 64 KiB at a time, and the rest has to wait, not to be lost.";
    let with_marker = |members: &wire::Members| Value::Object(members.clone()).to_string().contains(MARKER);
    if !play.setup.action.members().is_some_and(with_marker) {
        play.outcome.not_run =
            Some("no tool was named that is given a text: --call NAME JSON, with {{marker}} in the JSON");
        return Ok(());
    }
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        let before = child.stdout().len();
        child.send(&play.request_with(&format!("{}{}", marker_of(&play.outcome.name), "x".repeat(LARGE))).line(TESTED));
        if expect(play, &mut child, TESTED, "with a text of a megabyte", fix).is_some() {
            play.note(format!("an answer of {} bytes", child.stdout().len() - before));
        }
    }
    play.finish(child, Ends::ByItself)
}

fn cancelled(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    if !play.open(&mut child) {
        return play.finish(child, Ends::ByItself);
    }
    child.send(&play.request().line(TESTED));
    if matches!(child.answer(TESTED, BEFORE_CANCEL), Ok(_) | Err(NoResult::Error { .. })) {
        play.note("it was answered before it could be cancelled; a slower --call shows more");
        return play.finish(child, Ends::ByItself);
    }
    let params = json!({"requestId": TESTED, "reason": "no longer wanted"});
    let cancel = Request::new(play.revision, "notifications/cancelled", object(params));
    child.send(&cancel.notification());
    child.send(&play.harmless().line(AFTER));
    // A server that is busy until the request is done reads the cancellation too late. One that has answered what came
    // behind it has read it.
    let fix = "Read on while a request is served, and go on when one is cancelled.";
    if expect(play, &mut child, AFTER, "behind a cancellation", fix).is_some() {
        child.rest(LATE);
        let order: Vec<_> = wire::messages(child.stdout())
            .filter_map(|message| Some((message.get("id")?.clone(), wire::answer_in(&message)?)))
            .skip_while(|(id, _)| id != AFTER)
            .filter(|(id, _)| id == TESTED)
            .collect();
        let silence = "Send nothing for an id that was cancelled, once the cancellation is read.";
        match order.first() {
            None => play.note("no answer once the cancellation was read"),
            Some((_, Err(NoResult::Error { code, .. }))) if play.revision != MODERN => {
                play.note(format!("it was answered with error {code} all the same; the protocol asks for silence"));
            }
            Some(_) => play.find("a cancelled request was answered once its cancellation was read", silence),
        }
    }
    play.finish(child, Ends::ByItself)
}

fn duplicate_id(play: &mut Play<'_>) -> io::Result<()> {
    // An answer to each of the two is no dirt here.
    play.outcome.judged_to = Stage::Mcp;
    let fix = "Refuse the second request, or answer both; go on in either case.";
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        let line = play.harmless().line(TESTED);
        child.send(&[&*line, &*line, &*play.harmless().line(AFTER)].concat());
        let answer = child.answer(AFTER, play.setup.launch.timeout);
        let results =
            wire::messages(child.stdout()).filter(|message| wire::answer_to(TESTED, message).is_some()).count();
        match answer {
            Err(NoResult::Silent) => play.find("no request was answered behind two with the same id", fix),
            // A server that ends the session at a fault does so with status 0 or says why; it is judged as it ends.
            Err(NoResult::Closed) => play.note("it ended the session"),
            _ => play.note(format!("answers to two requests with the same id: {results}; the session went on")),
        }
    }
    play.finish(child, Ends::ByItself)
}

fn stderr_unread(play: &mut Play<'_>) -> io::Result<()> {
    let (mut child, _record) = play.start(Conditions { stderr_unread: true, ..Conditions::default() })?;
    if play.open(&mut child) {
        child.send(&many(play, UNREAD));
        match unanswered(play, &mut child, UNREAD) {
            0 => play.note(format!("{UNREAD} requests were answered")),
            missing => play.find(
                format!("{missing} of {UNREAD} requests were not answered while nobody read stderr"),
                "Log less on stderr by default, or drop logs that nobody takes.",
            ),
        }
    }
    play.finish(child, Ends::ByItself)
}
