//! From the server to the client: data, and the place where a stray print would tear the protocol.
//!
//! Passed on are exactly the bytes that were checked and one line feed. What isn't a message is described on stderr and
//! never answered. When the session is over the server's output is still read, and dropped, so that it can end by itself.

use std::io::PipeReader;
use std::process::ChildStdout;

use linegate::{Direction, Event as Verdict, Gate, Refusal};
use linegate_host::HeapStorage;

use super::excerpt::Excerpt;
use super::session::{Event, Shared};
use super::wire::{self, PIECE, Ready};
use crate::position::Position;
use crate::tell::tell;

const FROM: Direction = Direction::FromServer;

/// Passes lines on until the server's stream ends. Once `drained` says that nobody is left to write, it doesn't wait for
/// more than there is.
pub fn pump(shared: &Shared, mut gate: Gate<HeapStorage>, server: ChildStdout, drained: &PipeReader) {
    let mut pump =
        Pump { shared, position: Position::default(), excerpt: Excerpt::new(), lines: Vec::new(), passing: true };
    let mut piece = vec![0; PIECE];
    let end = loop {
        match wire::wait_readable(&server, drained, true) {
            Ok(Ready::Input) => {}
            Ok(Ready::CalledOff) => break Ok(()),
            Err(error) => break Err(error),
        }
        match wire::read(&server, &mut piece) {
            Ok(0) => break Ok(()),
            Ok(len) => pump.judge(&mut gate, piece.get(..len).unwrap_or_default()),
            Err(error) => break Err(error),
        }
    };
    if let Err(error) = end {
        tell(format_args!("cannot read the server's output, which is taken for its end: {error}"));
    }
    pump.finish(&mut gate);
    shared.tell(Event::OutputEnded);
}

struct Pump<'a> {
    shared: &'a Shared,
    position: Position,
    excerpt: Excerpt,
    /// Checked lines that are not yet written.
    lines: Vec<u8>,
    /// Whether there is still someone to pass lines on to.
    passing: bool,
}

impl Pump<'_> {
    fn judge(&mut self, gate: &mut Gate<HeapStorage>, mut input: &[u8]) {
        while self.passing && !input.is_empty() {
            let offset = self.position.current().offset;
            let fed = gate.feed(input);
            let (consumed, rest) = input.split_at(fed.consumed);
            match fed.event {
                Verdict::Message(message) => {
                    self.shared.report.accepted(FROM);
                    self.lines.extend_from_slice(message.bytes());
                    self.lines.push(b'\n');
                    if self.lines.len() >= PIECE {
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
        self.flush();
    }

    fn refuse(&mut self, refusal: &Refusal<'_>, offset: u64, input: &[u8]) {
        let ends = self.shared.ends_with(refusal);
        if ends {
            self.shared.end();
            self.passing = false;
        }
        let shown = self.excerpt.show(refusal.at(), input);
        self.shared.report.refused(FROM, refusal, offset, Some(&shown), ends);
    }

    fn flush(&mut self) {
        let unless = || self.shared.ended();
        if !self.lines.is_empty() && self.shared.to_client.write(&self.lines, unless).is_err() {
            self.passing = false;
            self.shared.tell(Event::ClientGone);
        }
        self.lines.clear();
        self.passing &= !self.shared.ended();
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
