//! What is scanned, with the gates that judge it: the lines of one sender, or a transcript of both in their session.

use linegate::{Direction, Event, Fed, Gate};
use linegate_host::HeapStorage;

use super::transcript::Marks;
use crate::gates::Pair;

/// The input and its gates.
pub enum Source {
    /// Lines of one sender.
    OneWay(Box<Gate<HeapStorage>>),
    /// A transcript.
    BothWays {
        /// The gates of its session.
        pair: Box<Pair>,
        /// The marks of its lines.
        marks: Marks,
    },
}

impl Source {
    /// Takes what stands before a line and is none of it; gives its length.
    ///
    /// # Errors
    /// There stands something else: what, and what would be right.
    pub fn strip(&mut self, input: &[u8]) -> Result<usize, String> {
        let Self::BothWays { marks, .. } = self else { return Ok(0) };
        let mut taken = 0;
        for byte in input {
            if marks.sender().is_some() {
                break;
            }
            marks.take(*byte)?;
            taken += 1;
        }
        Ok(taken)
    }

    /// Who sent the line that is being read, where both do.
    pub const fn sender(&self) -> Option<Direction> {
        match self {
            Self::OneWay(_) => None,
            Self::BothWays { marks, .. } => marks.sender(),
        }
    }

    /// Whether the next line may be another gate's, so that no input beyond this one may be fed.
    pub const fn changes(&self) -> bool {
        matches!(self, Self::BothWays { .. })
    }

    /// Judges input up to the end of the line at most.
    pub fn feed<'a>(&'a mut self, input: &'a [u8]) -> Fed<'a> {
        match self {
            Self::OneWay(gate) => gate.feed(input),
            Self::BothWays { pair, marks } => pair.feed(sender(marks), input),
        }
    }

    /// Whether the gate of the line takes no more.
    pub const fn is_closed(&mut self) -> bool {
        self.gate().is_closed()
    }

    /// The line has ended.
    pub const fn end_line(&mut self) {
        if let Self::BothWays { marks, .. } = self {
            marks.end_line();
        }
    }

    /// The end of input.
    ///
    /// # Errors
    /// It ends inside what stands before a line.
    pub fn finish(&mut self) -> Result<Event<'_>, String> {
        if let Self::BothWays { marks, .. } = self {
            marks.finish()?;
        }
        Ok(self.gate().finish())
    }

    const fn gate(&mut self) -> &mut Gate<HeapStorage> {
        match self {
            Self::OneWay(gate) => gate,
            Self::BothWays { pair, marks } => pair.gate(sender(marks)),
        }
    }
}

/// Whose line it is. Where none has begun the two gates are alike: neither has anything left to say.
const fn sender(marks: &Marks) -> Direction {
    match marks.sender() {
        Some(from) => from,
        None => Direction::FromClient,
    }
}
