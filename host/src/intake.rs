//! What a reader holds: bytes that were read and not yet judged, accepted lines that were not yet handed out, and answers
//! that were not yet sent. Who reads and sends is for the blocking and the asynchronous reader to say.

use crate::filter::{Filter, PIECE};

/// Bounded by [`PIECE`] each, and one line or reply more.
pub(crate) struct Intake {
    pub(crate) filter: Filter,
    input: Box<[u8]>,
    judged: usize,
    read: usize,
    lines: Vec<u8>,
    taken: usize,
    /// Whether refused requests are answered.
    answers: bool,
    pub(crate) replies: Vec<u8>,
    ended: bool,
}

impl Intake {
    pub(crate) fn new(filter: Filter, answers: bool) -> Self {
        let input = vec![0; PIECE].into_boxed_slice();
        Self {
            filter,
            input,
            judged: 0,
            read: 0,
            lines: Vec::new(),
            taken: 0,
            answers,
            replies: Vec::new(),
            ended: false,
        }
    }

    /// Judges what was read, once all accepted lines of before are handed out and all replies sent.
    pub(crate) fn judge(&mut self) {
        if !self.lines().is_empty() {
            return;
        }
        self.lines.clear();
        self.taken = 0;
        while self.judged < self.read && self.lines.len() < PIECE && self.replies.len() < PIECE && !self.is_over() {
            let input = &self.input[self.judged..self.read];
            let back = self.answers.then_some(&mut self.replies);
            let (consumed, _) = self.filter.feed(input, &mut self.lines, back);
            self.judged += consumed;
        }
    }

    /// Accepted lines that wait to be handed out.
    pub(crate) fn lines(&self) -> &[u8] {
        &self.lines[self.taken..]
    }

    /// They were handed out up to there.
    pub(crate) fn consume(&mut self, len: usize) {
        self.taken = (self.taken + len).min(self.lines.len());
    }

    /// Whether what waits is all that will ever come: at the end of input, or once a refusal has ended the session.
    pub(crate) fn is_over(&self) -> bool {
        self.ended || self.filter.gate().is_closed() || self.filter.link().is_some_and(|link| link.is_over())
    }

    /// Where to read to; nothing as long as there is something to judge.
    pub(crate) fn spare(&mut self) -> Option<&mut [u8]> {
        (self.judged == self.read).then_some(&mut self.input)
    }

    /// So many bytes were read; none at the end of input.
    pub(crate) fn filled(&mut self, len: usize) {
        self.judged = 0;
        self.read = len;
        if len == 0 {
            self.filter.finish();
            self.ended = true;
        }
    }
}
