//! From the server to the client: data, and the place where a stray print would tear the protocol.
//!
//! What isn't a message is described on stderr and never answered; a client whose request it was to answer gets an error in
//! its place. Where that ends the session, what the server still says is read and dropped, so that it can end by itself. A
//! refusal of the client's ends only what goes to the server: the answers to what was accepted before are the client's. Where the
//! session is only observed, all that came is passed on once it was judged.

use std::io::PipeReader;
use std::process::ChildStdout;
use std::time::{Duration, Instant};

use linegate::{Code, Direction, Event as Verdict, Gate, Refusal};
use linegate_host::HeapStorage;

use super::excerpt::{Excerpt, Part};
use super::report::Told;
use super::shared::{Event, Over, Shared};
use super::wire::{self, Input, Lines, PIECE};
use crate::position::Position;
use crate::tell::tell;

const FROM: Direction = Direction::FromServer;

/// How long a refusal waits to be told until it is certain what of its line may be shown.
const CERTAINTY: Duration = Duration::from_millis(500);

/// Passes lines on until the server's stream ends. Once `drained` says that nobody is left to write, it doesn't wait for
/// more than there is.
pub fn pump(shared: &Shared, mut gate: Gate<HeapStorage>, server: ChildStdout, drained: &PipeReader) {
    let mut pump = Pump {
        shared,
        position: Position::default(),
        excerpt: Excerpt::default(),
        lines: Lines::default(),
        passing: true,
        untold: None,
    };
    let mut piece = vec![0; PIECE];
    let end = loop {
        match wire::read(&server, drained, true, pump.wait(), &mut piece) {
            Ok(Input::Bytes(bytes)) => pump.judge(&mut gate, bytes),
            Ok(Input::Nothing) => pump.tell_in_time(),
            Ok(Input::End | Input::CalledOff) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if let Err(error) = end {
        tell(format_args!("cannot read the server's output, which is taken for its end: {error}"));
    }
    pump.finish(&mut gate);
    shared.send(Event::Over(Over::Mute));
}

struct Pump<'a> {
    shared: &'a Shared,
    position: Position,
    excerpt: Excerpt,
    lines: Lines,
    /// Whether there is still someone to pass lines on to.
    passing: bool,
    /// The last refusal, as long as it isn't certain what of its line may be shown.
    untold: Option<Untold>,
}

struct Untold {
    told: Told,
    part: Part,
    since: Instant,
}

impl Pump<'_> {
    fn judge(&mut self, gate: &mut Gate<HeapStorage>, piece: &[u8]) {
        let mut input = piece;
        if let Some(untold) = &mut self.untold {
            untold.part.extend(piece);
            self.tell_in_time();
        }
        while self.passing && !input.is_empty() {
            let offset = self.position.current().offset;
            let fed = self.shared.feed(gate, input);
            let (consumed, rest) = input.split_at(fed.consumed);
            match fed.event {
                Verdict::Message(message) => {
                    self.shared.report.accepted(FROM);
                    if !self.shared.observing && self.lines.add(message.bytes()) {
                        self.flush();
                    }
                }
                Verdict::Refused(refusal) => {
                    // What was accepted before is the client's, whatever this refusal means for the session.
                    self.flush();
                    self.refuse(&refusal, offset, input);
                }
                Verdict::Closed => self.passing = false,
                _ => {}
            }
            self.position.advance(consumed);
            self.excerpt.advance(consumed);
            input = rest;
        }
        if self.shared.observing && self.passing {
            self.write(piece);
        }
        self.flush();
    }

    fn refuse(&mut self, refusal: &Refusal<'_>, offset: u64, input: &[u8]) {
        let ends = self.shared.end_for(refusal);
        self.passing &= !ends;
        if !ends && !self.shared.observing {
            // A client that asked for what was refused must not wait for ever.
            self.lines.settle(refusal);
            self.flush();
        }
        let told = self.shared.report.note(FROM, refusal, offset, ends);
        self.tell_now();
        self.untold = Some(Untold { told, part: self.excerpt.around(refusal.at(), input), since: Instant::now() });
        self.tell_in_time();
    }

    /// How long to wait for bytes until the last refusal is told without more of its line.
    fn wait(&self) -> Option<Duration> {
        self.untold.as_ref().map(|untold| CERTAINTY.saturating_sub(untold.since.elapsed()))
    }

    /// Tells of the last refusal, if it is certain what of its line may be shown, or has taken too long to be.
    fn tell_in_time(&mut self) {
        let secrets = &self.shared.secrets;
        let due = |untold: &Untold| {
            untold.part.is_certain(secrets) || untold.part.is_lost() || untold.since.elapsed() >= CERTAINTY
        };
        if self.untold.as_ref().is_some_and(due) {
            self.tell_now();
        }
    }

    fn tell_now(&mut self) {
        if let Some(Untold { told, part, .. }) = self.untold.take() {
            self.shared.report.tell(&told, Some(&part.show(&self.shared.secrets)));
        }
    }

    fn flush(&mut self) {
        if !self.lines.bytes().is_empty() {
            let lines = std::mem::take(&mut self.lines);
            self.write(lines.bytes());
            self.lines = lines;
            self.lines.clear();
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.shared.to_client.write(bytes).is_err() {
            self.passing = false;
            self.shared.send(Event::Over(Over::ClientGone));
        }
    }

    /// The end of the stream: a line without an end is a refusal like any other, but where this process has ended the server
    /// within it.
    fn finish(&mut self, gate: &mut Gate<HeapStorage>) {
        if let Some(untold) = &mut self.untold {
            untold.part.end();
        }
        self.tell_now();
        if !self.passing {
            return;
        }
        match gate.finish() {
            Verdict::Refused(refusal) if refusal.code() == Code::Truncated && self.shared.is_cut() => {
                let fate = if self.shared.observing { "passed on as it is" } else { "dropped" };
                tell(format_args!("the server was ended within a line of its output, which is {fate}"));
            }
            Verdict::Refused(refusal) => self.refuse(&refusal, self.position.current().offset, b""),
            _ => {}
        }
        if let Some(untold) = &mut self.untold {
            untold.part.end();
        }
        self.tell_now();
    }
}
