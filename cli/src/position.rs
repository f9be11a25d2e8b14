//! Where in its stream a gate stands: the offset of the current line, and how much of it has been consumed.
//!
//! A gate that refused a line early says so before the line ends and then skips the rest; lengths and offsets must add up
//! all the same, so they are counted here from what the gate consumed, not from what it said.

/// The place of a line that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Bytes of the stream before the line.
    pub offset: u64,
    /// Bytes before its line feed, a stripped carriage return included.
    pub length: u64,
}

/// The place in the stream.
#[derive(Debug, Default)]
pub struct Position {
    line: u64,
    taken: u64,
}

impl Position {
    /// The line that is being read, as far as it has been consumed.
    pub fn current(&self) -> Line {
        Line { offset: self.line, length: self.taken }
    }

    /// Moves over bytes before a line that are none of it.
    pub fn skip(&mut self, len: usize) {
        self.line += len as u64;
    }

    /// Moves over bytes that the gate consumed at one call, which hold at most one line feed, as the last of them. Gives
    /// the line that ended there.
    pub fn advance(&mut self, consumed: &[u8]) -> Option<Line> {
        self.taken += consumed.len() as u64;
        if consumed.last() != Some(&b'\n') {
            return None;
        }
        let ended = Line { offset: self.line, length: self.taken - 1 };
        self.line += self.taken;
        self.taken = 0;
        Some(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_add_up_over_pieces() {
        let mut position = Position::default();
        assert_eq!(position.advance(b"abc"), None);
        assert_eq!(position.advance(b""), None);
        assert_eq!(position.advance(b"d\n"), Some(Line { offset: 0, length: 4 }));
        assert_eq!(position.advance(b"\n"), Some(Line { offset: 5, length: 0 }));
        assert_eq!(position.advance(b"xy"), None);
        assert_eq!(position.current(), Line { offset: 6, length: 2 });
        assert_eq!(position.advance(b"\n"), Some(Line { offset: 6, length: 2 }));
        position.skip(2);
        assert_eq!(position.advance(b"z\n"), Some(Line { offset: 11, length: 1 }));
    }
}
