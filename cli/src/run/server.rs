//! From the server to the client: data, and the place where a stray print would tear the protocol.
//!
//! What isn't a message is described on stderr and never answered; a client whose request it was to answer gets an error in
//! its place. Where that ends the session, what the server still says is read and dropped, so that it can end by itself. A
//! refusal of the client's ends only what goes to the server: the answers to what was accepted before are the client's. Where the
//! session is only observed, all that came is passed on once it was judged.

use std::io::PipeReader;
use std::process::ChildStdout;

use linegate::{Direction, Event as Verdict, Gate, Refusal};
use linegate_host::HeapStorage;

use super::excerpt::Excerpt;
use super::shared::{Event, Shared};
use super::wire::{self, Input, Lines, PIECE};
use crate::position::Position;
use crate::tell::tell;

const FROM: Direction = Direction::FromServer;

/// Passes lines on until the server's stream ends. Once `drained` says that nobody is left to write, it doesn't wait for
/// more than there is.
pub fn pump(shared: &Shared, mut gate: Gate<HeapStorage>, server: ChildStdout, drained: &PipeReader) {
    let mut pump = Pump {
        shared,
        position: Position::default(),
        excerpt: Excerpt::default(),
        lines: Lines::default(),
        passing: true,
    };
    let mut piece = vec![0; PIECE];
    let end = loop {
        match wire::read(&server, drained, true, &mut piece) {
            Ok(Input::Bytes(bytes)) => pump.judge(&mut gate, bytes),
            Ok(Input::End | Input::CalledOff) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if let Err(error) = end {
        tell(format_args!("cannot read the server's output, which is taken for its end: {error}"));
    }
    pump.finish(&mut gate);
    shared.send(Event::OutputEnded);
}

struct Pump<'a> {
    shared: &'a Shared,
    position: Position,
    excerpt: Excerpt,
    lines: Lines,
    /// Whether there is still someone to pass lines on to.
    passing: bool,
}

impl Pump<'_> {
    fn judge(&mut self, gate: &mut Gate<HeapStorage>, piece: &[u8]) {
        let mut input = piece;
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
        let shown = self.excerpt.show(refusal.at(), input, &self.shared.secrets);
        self.shared.report.refused(FROM, refusal, offset, Some(&shown), ends);
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
            self.shared.send(Event::ClientGone);
        }
    }

    /// The end of the stream: a line without an end is a refusal like any other.
    fn finish(&mut self, gate: &mut Gate<HeapStorage>) {
        if self.passing
            && let Verdict::Refused(refusal) = gate.finish()
        {
            self.refuse(&refusal, self.position.current().offset, b"");
        }
    }
}
