//! The user's own corpus: a recorded session is played again, and each request has to be answered as it was; a malformed line
//! of theirs is sent like the built-in ones.

use std::io;

use linegate::{Code, Direction, Revision};
use serde_json::Value;

use super::{Play, malformed};
use crate::check::judge::Ends;
use crate::check::lenient;
use crate::check::past::Conditions;
use crate::check::recorded::{Content, answer};
use crate::check::wire;

/// What is the marker of lines that a user has written.
const MARKER: &str = "linegate-marker";

pub fn play(content: &Content, play: &mut Play<'_>) -> io::Result<()> {
    match content {
        Content::Session(lines) => session(lines, play),
        Content::Line(line, code) => written(line, *code, play),
    }
}

fn session(lines: &[(Direction, Vec<u8>)], play: &mut Play<'_>) -> io::Result<()> {
    // The session has its own handshake.
    play.outcome.revision = Some(Revision::AUTO);
    let mut child = play.plain_start()?;
    let limit = play.setup.launch.timeout;
    let mut expected: Vec<(Value, Option<i64>)> = Vec::new();
    for (index, (from, line)) in lines.iter().enumerate() {
        match from {
            Direction::FromClient => child.send(line),
            Direction::FromServer if lenient::unread(line) > 0 => {
                play.note(format!("line {} of the file can't be read: nothing is expected for it", index + 1));
            }
            Direction::FromServer => {
                for message in wire::messages(line) {
                    let Some((id, code)) = answer(&message) else { continue };
                    expected.push((id.clone(), code));
                    // What follows was sent by a client that had this answer.
                    child.wait_for(limit, |stdout| {
                        wire::messages(stdout).any(|message| answer(&message).is_some_and(|(other, _)| other == id))
                    });
                }
            }
        }
    }
    play.finish(child, Ends::ByItself)?;
    let came: Vec<Value> = play.last_run().map_or_else(Vec::new, |run| wire::messages(&run.stdout).collect());
    let told = |code: Option<i64>| code.map_or_else(|| "a result".to_owned(), |code| format!("error {code}"));
    let fix = "Answer as before, or record the session again if the change is meant.";
    for (id, code) in &expected {
        let now = came.iter().filter_map(answer).find(|(other, _)| *other == id);
        match now {
            None => {
                play.find(format!("the request with id {id} was answered with {} and is not now", told(*code)), fix)
            }
            Some((_, now)) if now != *code => play.find(
                format!("the request with id {id} was answered with {} and now is with {}", told(*code), told(now)),
                fix,
            ),
            Some(_) => {}
        }
    }
    if play.is_fine() {
        play.note(format!("{} requests were answered as before", expected.len()));
    }
    Ok(())
}

fn written(line: &[u8], code: Code, play: &mut Play<'_>) -> io::Result<()> {
    let (child, record) = play.start(Conditions::default())?;
    malformed::send(play, child, record, code, line.to_vec(), true, MARKER)
}
