//! The form of a transcript: each line of it is the sender's mark, one space, and the line as it went over the wire.
//!
//! A line without its mark is a fault of whoever made the transcript, not of a peer: it gets no verdict, it ends the scan.

use linegate::Direction;

/// Takes the marks off, whatever pieces the transcript comes in.
#[derive(Debug)]
pub struct Marks {
    expected: Expected,
    /// The line that is being read, from 1.
    line: u64,
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Mark,
    Space(Direction),
    Line(Direction),
}

impl Marks {
    /// At the start of a transcript.
    pub const fn new() -> Self {
        Self { expected: Expected::Mark, line: 1 }
    }

    /// Who sent the line whose bytes come next. While its mark has not been read whole, nobody.
    pub const fn sender(&self) -> Option<Direction> {
        match self.expected {
            Expected::Line(from) => Some(from),
            Expected::Mark | Expected::Space(_) => None,
        }
    }

    /// Takes the next byte of a mark.
    ///
    /// # Errors
    /// It belongs to none: which line, and what would be right.
    pub fn take(&mut self, byte: u8) -> Result<(), String> {
        self.expected = match (self.expected, byte) {
            (Expected::Mark, b'>') => Expected::Space(Direction::FromClient),
            (Expected::Mark, b'<') => Expected::Space(Direction::FromServer),
            (Expected::Space(from), b' ') => Expected::Line(from),
            _ => return Err(self.fault()),
        };
        Ok(())
    }

    /// The line has ended.
    pub const fn end_line(&mut self) {
        self.expected = Expected::Mark;
        self.line += 1;
    }

    /// The end of the transcript.
    ///
    /// # Errors
    /// It ends inside a mark.
    pub fn finish(&self) -> Result<(), String> {
        if matches!(self.expected, Expected::Space(_)) { Err(self.fault()) } else { Ok(()) }
    }

    fn fault(&self) -> String {
        format!(
            "line {} of the transcript has no mark: begin it with \"> \" if the client sent it, with \"< \" if the server did",
            self.line
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_one_of_two_bytes_and_a_space() {
        let read = |text: &[u8]| {
            let mut marks = Marks::new();
            text.iter().try_for_each(|byte| marks.take(*byte)).and_then(|()| marks.finish()).map(|()| marks.sender())
        };
        assert_eq!(read(b""), Ok(None));
        assert_eq!(read(b"> "), Ok(Some(Direction::FromClient)));
        assert_eq!(read(b"< "), Ok(Some(Direction::FromServer)));
        for wrong in [&b">"[..], b">{", b"{", b" > ", b"\n", b"\xEF"] {
            assert!(read(wrong).is_err_and(|why| why.contains("line 1 of the transcript")), "{wrong:?}");
        }
    }

    #[test]
    fn a_fault_names_its_line() {
        let mut marks = Marks::new();
        assert_eq!((marks.take(b'<'), marks.take(b' ')), (Ok(()), Ok(())));
        marks.end_line();
        assert!(marks.take(b'{').is_err_and(|why| why.contains("line 2")));
    }
}
