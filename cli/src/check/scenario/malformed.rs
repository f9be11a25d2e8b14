//! Malformed lines: each is sent once behind a handshake, and may have no effect. What follows it shows whether the session
//! goes on.

use std::io;
use std::time::Duration;

use linegate::Code;

use super::Play;
use crate::check::child::Child;
use crate::check::corpus::{Target, Then, Vector};
use crate::check::judge::{self, Ends};
use crate::check::lenient;
use crate::check::outcome::{Malformed, Session};
use crate::check::past::Conditions;
use crate::check::setup::{Record, marker_of};
use crate::check::wire::{AFTER, NoResult};

/// How long an answer behind a malformed line is waited for: the server is up, and most close or answer at once.
const SETTLE: Duration = Duration::from_secs(2);

pub fn play(vector: &Vector, play: &mut Play<'_>) -> io::Result<()> {
    let (child, record) = play.start(Conditions::default())?;
    let target = Target::new(play.request(), play.harmless(), marker_of(&play.outcome.name));
    let bytes = (vector.make)(&target);
    send(play, child, record, vector.code, bytes, vector.then == Then::LineFeed, &target.marker)
}

/// Sends the bytes behind a handshake, with a line feed and a harmless request behind them unless the input ends there.
pub fn send(
    play: &mut Play<'_>,
    mut child: Child<'_>,
    record: Option<Record>,
    code: Code,
    bytes: Vec<u8>,
    goes_on: bool,
    marker: &str,
) -> io::Result<()> {
    if play.open(&mut child) {
        child.send(&bytes);
        let session = goes_on.then(|| {
            child.send(b"\n");
            child.send(&play.harmless().line(AFTER));
            match child.answer(AFTER, SETTLE) {
                Ok(_) | Err(NoResult::Error { .. }) => Session::WentOn,
                Err(NoResult::Closed) => Session::Closed,
                Err(NoResult::Silent) => Session::Silent,
            }
        });
        play.outcome.malformed = Some(Malformed { code, bytes, session });
    }
    play.finish(child, Ends::ByItself)?;
    let recorded = record.map_or_else(|| Ok(Vec::new()), |record| record.read())?;
    if let (Some(run), Some(_)) = (play.last_run(), &play.outcome.malformed) {
        let finding = judge::effects(run, code, marker, &recorded, play.has_canary()?);
        let unread = lenient::unread(&run.stdout);
        if finding.is_none() && unread > 0 {
            play.note(format!(
                "{unread} lines of stdout can't be read: whether one answers the malformed line is not known"
            ));
        }
        play.outcome.findings.extend(finding);
    }
    Ok(())
}
