//! The first bytes of a line that a server should not have printed, so that a person sees what it was.
//!
//! Only of a server's lines: a client's are never shown. (A server that prints what it was sent shows it here as well: the
//! first bytes of what it printed are what a person needs to find the print.)

use crate::tell::printable;

/// Bytes that are shown.
const SHOWN: usize = 120;
/// Bytes that are shown before a fault that stands further back in its line.
const BEFORE: usize = 40;

/// What is remembered of a line while it arrives in pieces.
#[derive(Debug)]
pub struct Excerpt {
    head: [u8; SHOWN],
    held: usize,
    passed: usize,
}

impl Excerpt {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { head: [0; SHOWN], held: 0, passed: 0 }
    }

    /// Takes note of consumed bytes of the line; a line feed at their end starts the next line.
    pub fn advance(&mut self, consumed: &[u8]) {
        if consumed.last() == Some(&b'\n') {
            *self = Self::new();
            return;
        }
        self.passed += consumed.len();
        for (place, byte) in self.head.iter_mut().skip(self.held).zip(consumed) {
            *place = *byte;
            self.held += 1;
        }
    }

    /// The line around its fault at `at`, escaped. `piece` is what follows the bytes noted so far.
    pub fn show(&self, at: usize, piece: &[u8]) -> String {
        let line = piece.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let byte = |place: usize| match place.checked_sub(self.passed) {
            Some(place) => line.get(place),
            None => self.head.get(..self.held).unwrap_or_default().get(place),
        };
        // The line's beginning says most, unless the fault would not be in sight.
        let mut from = if at + BEFORE < SHOWN { 0 } else { at.saturating_sub(BEFORE) };
        if byte(from).is_none() {
            from = 0;
        }
        let bytes: Vec<u8> = (from..from + SHOWN).map_while(byte).copied().collect();
        let mut shown = String::from(if from > 0 { "…" } else { "" });
        for chunk in bytes.utf8_chunks() {
            shown.push_str(&printable(chunk.valid()));
            shown.extend(chunk.invalid().iter().flat_map(|byte| byte.escape_ascii()).map(char::from));
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_a_line_that_came_in_pieces() {
        let mut excerpt = Excerpt::new();
        excerpt.advance(b"{}\n");
        excerpt.advance(b"Start");
        assert_eq!(excerpt.show(0, b"ing\x1b[0m \xff\n{}\n"), "Starting\\u{1b}[0m \\xff");
        excerpt.advance(b"ing\n");
        assert_eq!(excerpt.show(0, "🚀 up".as_bytes()), "🚀 up");
        assert_eq!(excerpt.show(0, b""), "");
    }

    #[test]
    fn shows_a_fault_that_stands_far_back() {
        let mut line = vec![b'a'; 500];
        line[400] = b'!';
        let mut excerpt = Excerpt::new();
        assert_eq!(excerpt.show(400, &line), format!("…{}!{}", "a".repeat(40), "a".repeat(79)));
        excerpt.advance(&line[..300]);
        assert_eq!(excerpt.show(400, &line[300..]), format!("…{}!{}", "a".repeat(40), "a".repeat(79)));
        assert_eq!(excerpt.show(200, &line[300..]), "a".repeat(120));
    }
}
