//! From the client to the server: what asks for effects, judged strictly.
//!
//! A refused request is answered here, on the same stdout and under the same lock as the server's lines. A refused response
//! to a request of the server's becomes an error in the same place. Where the session is only observed, all that came is passed on
//! once it was judged, and nothing is answered.

use std::io::{self, PipeReader};
use std::process::ChildStdin;
use std::time::Duration;

use linegate::{Direction, Event as Verdict, Gate, REPLY_LEN, Refusal};
use linegate_host::HeapStorage;

use super::clock::Allowance;
use super::shared::{Event, Over, Shared};
use super::wire::{self, Halt, Input, Lines, PIECE};
use crate::position::Position;
use crate::tell::tell;

const FROM: Direction = Direction::FromClient;

/// How long one look for answers lies behind the other.
const LOOK: Duration = Duration::from_millis(5);

/// What a server is given time for when the client is gone. The time in which the client takes nothing doesn't count.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// To answer what it was asked before it sees the end of input.
    pub answers: Duration,
    /// To take the lines that are left, as long as none moves.
    pub closed: Duration,
}

/// Passes lines on until the client's stream ends, the server takes no more, or `off` calls it off. Then the server's input
/// is closed.
pub fn pump(shared: &Shared, gate: Gate<HeapStorage>, server: ChildStdin, off: &PipeReader, patience: Patience) {
    let mut pump = Pump { shared, server, off, patience, position: Position::default(), lines: Lines::default() };
    let end = match pump.run(gate) {
        Ok(()) | Err(Halt::CalledOff) => Event::Over(Over::Input),
        Err(Halt::Gone) => Event::Over(Over::Deaf),
        Err(Halt::Stuck) => Event::Stuck,
    };
    drop(pump);
    shared.send(end);
}

struct Pump<'a> {
    shared: &'a Shared,
    server: ChildStdin,
    off: &'a PipeReader,
    patience: Patience,
    position: Position,
    lines: Lines,
}

impl Pump<'_> {
    fn run(&mut self, mut gate: Gate<HeapStorage>) -> Result<(), Halt> {
        // A blocked write could not be called off.
        rustix::io::ioctl_fionbio(&self.server, true).map_err(|_| Halt::Gone)?;
        let stdin = io::stdin();
        let mut piece = vec![0; PIECE];
        let end = loop {
            match wire::read(&stdin, self.off, false, None, &mut piece) {
                Ok(Input::Bytes(bytes)) => self.judge(&mut gate, bytes)?,
                Ok(Input::End) => break Ok(()),
                Ok(Input::CalledOff | Input::Nothing) => return Err(Halt::CalledOff),
                Err(error) => break Err(error),
            }
        };
        if let Err(error) = end {
            tell(format_args!("cannot read the client's lines, which is taken for their end: {error}"));
        }
        if let Verdict::Refused(refusal) = gate.finish() {
            self.refuse(&refusal, self.position.current().offset);
        }
        self.wait_for_answers();
        Ok(())
    }

    /// Holds the end of input back from a server that would drop what it was asked.
    fn wait_for_answers(&self) {
        let stalls = &self.shared.to_client.stalls;
        let allowance = Allowance::standing(self.patience.answers, stalls);
        while self.shared.owes_answers() && !allowance.left(stalls).is_zero() && !wire::pause(self.off, LOOK) {}
    }

    fn judge(&mut self, gate: &mut Gate<HeapStorage>, piece: &[u8]) -> Result<(), Halt> {
        let mut input = piece;
        while !input.is_empty() {
            let offset = self.position.current().offset;
            let fed = self.shared.feed(gate, input);
            let (consumed, rest) = input.split_at(fed.consumed);
            self.position.advance(consumed);
            input = rest;
            match fed.event {
                Verdict::Message(message) => {
                    self.shared.report.accepted(FROM);
                    if !self.shared.observing && self.lines.add(message.bytes()) {
                        self.flush()?;
                    }
                }
                Verdict::Refused(refusal) if self.shared.observing => {
                    self.shared.report.refused(FROM, &refusal, offset, false);
                }
                Verdict::Refused(refusal) => {
                    // What was accepted before is the server's, whatever this refusal means for the session.
                    let flushed = self.flush();
                    let ends = self.refuse(&refusal, offset);
                    flushed?;
                    if !ends {
                        // A server that asked for what was refused must not wait for ever.
                        self.lines.settle(&refusal);
                    }
                }
                Verdict::Closed => return Err(Halt::CalledOff),
                _ => {}
            }
        }
        if self.shared.observing {
            return self.write(piece);
        }
        self.flush()
    }

    /// Ends the session if the policy says so, answers the client, and tells. Says whether the session ends.
    fn refuse(&self, refusal: &Refusal<'_>, offset: u64) -> bool {
        let ends = self.shared.end_for(refusal);
        let mut reply = [0; REPLY_LEN];
        if refusal.reply_due()
            && !self.shared.observing
            && let Ok(len) = refusal.write_reply(&mut reply)
            && self.shared.to_client.write(reply.get(..len).unwrap_or_default()).is_err()
        {
            self.shared.send(Event::Over(Over::ClientGone));
        }
        self.shared.report.refused(FROM, refusal, offset, ends);
        ends
    }

    fn flush(&mut self) -> Result<(), Halt> {
        if self.shared.ended() {
            return Err(Halt::CalledOff);
        }
        self.write(self.lines.bytes())?;
        self.lines.clear();
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Halt> {
        let stalls = &self.shared.to_client.stalls;
        wire::write_to_server(&self.server, bytes, io::stdin(), self.off, self.patience.closed, stalls)
    }
}
