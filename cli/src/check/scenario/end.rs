//! Ends: of the input, with and without work in flight; by a signal; of a client that has gone; and by a blow from which the
//! server has to come back.

use std::io;
use std::thread;
use std::time::Duration;

use linegate::Revision;
use linegate_host::supervise::Signal;
use serde_json::Value;

use super::plain::LIST;
use super::{Play, Script, Turn};
use crate::check::child::Child;
use crate::check::judge::Ends;
use crate::check::past::{Conditions, Run};
use crate::check::setup::greet;
use crate::check::wire::{self, AFTER, HELLO, Members, NoResult, Request, TESTED};

pub const SCRIPTS: &[Script] = &[
    Script::new("eof/at-once", EOF, eof_at_once).without_session(),
    Script::new("eof/after-traffic", EOF, eof_after_traffic),
    Script::new(
        "end/in-flight",
        "A client that quits does not wait for its answers; a server that does is left behind.",
        in_flight,
    ),
    Script::new("end/one-request", "One line through a pipe is how people and scripts try a server.", one_request),
    Script::new("end/sigterm", "SIGTERM is the second signal to end, for clients that are in a hurry.", sigterm),
    Script::new(
        "end/stdout-closed",
        "A client that has crashed reads no more; nobody is left to serve.",
        stdout_closed,
    ),
    Script::new(
        "end/own-stdout",
        "A client whose pipe has ended takes the server for gone, and one that is not gone is left behind.",
        own_stdout,
    ),
    Script::new(
        "end/child-left",
        "What a server has started and not ended stays on the machine, again and again.",
        child_left,
    )
    .turn(Turn::Alone),
    Script::new("end/killed", "Clients kill servers; what is left behind must not stop the next start.", killed),
];

const EOF: &str = "The end of input is the one portable signal to end.";

/// Ends the input, and wants the status of success.
fn end_well(play: &mut Play<'_>, child: Child<'_>) -> io::Result<()> {
    play.finish(child, Ends::Well)?;
    if play.is_fine() {
        play.outcome.notes.insert(0, "ended by itself with status 0".to_owned());
    }
    Ok(())
}

fn eof_at_once(play: &mut Play<'_>) -> io::Result<()> {
    let child = play.plain_start()?;
    end_well(play, child)
}

fn eof_after_traffic(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    play.open(&mut child);
    end_well(play, child)
}

fn in_flight(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    let opened = play.open(&mut child);
    if opened {
        child.send(&play.request().line(TESTED));
    }
    end_well(play, child)?;
    if opened && let Some(run) = play.last_run() {
        let answered = wire::messages(&run.stdout).any(|message| wire::answer_to(TESTED, &message).is_some());
        play.note(if answered { "the last request was answered" } else { "the last request was dropped" });
    }
    Ok(())
}

fn one_request(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    child.send(&Request::hello(play.revision).line(HELLO));
    play.finish(child, Ends::Well)?;
    let Some(run) = play.last_run() else { return Ok(()) };
    let answers = wire::messages(&run.stdout).filter(|message| wire::answer_to(HELLO, message).is_some()).count();
    let lines = run.stdout.iter().filter(|byte| **byte == b'\n').count();
    if answers == 0 {
        play.find(
            "one request by a pipe, and the end of input, brought no answer",
            "Serve what has come before the end of input, flush, and then end.",
        );
    } else {
        play.note(format!("one line in, {lines} out"));
    }
    Ok(())
}

fn sigterm(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    if !play.open(&mut child) {
        return play.finish(child, Ends::ByItself);
    }
    // What a server has to do behind its answer, such as to install a handler, is not on trial.
    child.send(&play.harmless().line(AFTER));
    let _ = child.answer(AFTER, play.setup.launch.timeout);
    child.signal(Signal::Terminate);
    if !child.ends_within(play.setup.patience()) {
        play.find(
            format!("it was still running {} s after SIGTERM", play.setup.patience().as_secs_f32()),
            "End at SIGTERM; a handler that only sets a flag has to wake the read that waits for input.",
        );
        child.signal(Signal::Kill);
        let run = child.finish(play.setup.patience())?;
        play.outcome.runs.push(Run { ends: Ends::Somehow, ..run });
        return Ok(());
    }
    play.finish(child, Ends::Somehow)
}

fn stdout_closed(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        child.hang_up();
        // So that the server writes where nobody reads.
        child.send(&play.harmless().line(TESTED));
    }
    play.finish(child, Ends::Somehow)?;
    if play.is_fine() {
        play.note("it ended");
    }
    Ok(())
}

/// How long stdout is watched while nothing is asked, and how long the end of the process may be behind that of its stdout.
const WATCHED: Duration = Duration::from_millis(300);

fn own_stdout(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        child.send(&play.request().line(TESTED));
        let _ = child.answer(TESTED, play.setup.launch.timeout);
        child.rest(WATCHED);
        if child.has_closed_stdout() && !child.ends_within(WATCHED) {
            play.find(
                "it closed its own stdout and ran on",
                "Keep descriptor 1 open as long as the server runs, and end when it can't be written any more.",
            );
        } else {
            play.note("its stdout stayed open as long as it ran");
        }
    }
    play.finish(child, Ends::ByItself)
}

/// How long what a server has started may take to end behind it.
const LINGER: Duration = Duration::from_secs(1);

fn child_left(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    if play.open(&mut child) {
        child.send(&Request::new(play.revision, LIST, Members::new()).line(TESTED));
        let _ = child.answer(TESTED, play.setup.launch.timeout);
        child.send(&play.request().line(AFTER));
        let _ = child.answer(AFTER, play.setup.launch.timeout);
    }
    play.finish(child, Ends::ByItself)?;
    let strays = play.setup.bystanders.end_strays(LINGER);
    if !strays.is_empty() {
        play.outcome.notes.clear();
        play.find(
            format!(
                "processes that it had put into sessions of their own outlived it, and had to be ended: {}",
                strays.join(", ")
            ),
            "End what the server has started before it ends: also what was detached, or runs as a daemon.",
        );
    } else if play.last_run().is_some_and(|run| run.left_processes) {
        play.outcome.notes.clear();
        play.find(
            "processes that it had started outlived it, and had to be ended",
            "End what the server has started before it ends: close its input, wait, and signal it.",
        );
    } else if play.is_fine() {
        play.note("nothing was left behind");
    }
    Ok(())
}

/// What a fresh session answers first: the revision, and the tools in the order of their names or why there are none.
type First = (Revision, Result<Vec<Value>, NoResult>);

fn first_answers(play: &mut Play<'_>, child: &mut Child<'_>) -> Option<First> {
    let limit = play.setup.launch.timeout;
    let settled = greet(child, play.revision, limit).ok()?;
    child.send(&Request::new(play.revision, LIST, Members::new()).line(TESTED));
    Some((settled, child.answer(TESTED, limit).map(tools)))
}

/// The tools of a list, sorted: a server may give them in another order each time.
fn tools(result: Value) -> Vec<Value> {
    let mut tools = match result {
        Value::Object(mut members) => match members.remove("tools") {
            Some(Value::Array(tools)) => tools,
            other => other.into_iter().collect(),
        },
        other => vec![other],
    };
    tools.sort_by_cached_key(Value::to_string);
    tools
}

/// After which a clock that shows seconds shows another time.
const TICKED: Duration = Duration::from_millis(1100);

fn killed(play: &mut Play<'_>) -> io::Result<()> {
    let fix =
        "Keep nothing that a kill can leave half done: take locks that end with the process, and write files whole.";
    let mut child = play.plain_start()?;
    let before = first_answers(play, &mut child);
    child.send(&play.request().line(AFTER));
    child.signal(Signal::Kill);
    let run = child.finish(Duration::from_secs(5))?;
    play.outcome.runs.push(Run { ends: Ends::Somehow, ..run });

    let (mut again, _record) = play.start(Conditions::default())?;
    let after = first_answers(play, &mut again);
    match (before, after) {
        (None, _) => play.note("the handshake failed before it could be killed"),
        (Some(_), None) => play.find("started again after it was killed, it does not begin a session", fix),
        (Some((_, before)), Some((_, Err(NoResult::Silent | NoResult::Closed)))) if before.is_ok() => {
            play.find("started again after it was killed, it does not answer tools/list", fix);
        }
        (before, after) if before == after => play.note("started again, it gave the same answers"),
        (_, Some(after)) => {
            play.finish(again, Ends::ByItself)?;
            // What differs between two starts anyway is no damage, such as a clock: by then it has moved on.
            thread::sleep(TICKED);
            let (mut third, _record) = play.start(Conditions::default())?;
            if first_answers(play, &mut third).is_some_and(|third| third == after) {
                play.find("started again after it was killed, it answers tools/list otherwise than before", fix);
            } else {
                play.note("it answers tools/list otherwise at each start");
            }
            return play.finish(third, Ends::ByItself);
        }
    }
    play.finish(again, Ends::ByItself)
}
