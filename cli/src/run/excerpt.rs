//! The first bytes of a line that a server should not have printed, so that a person sees what it was.
//!
//! Only of a server's lines: a client's are never shown. (A server that prints what it was sent shows it here as well: the
//! first bytes of what it printed are what a person needs to find the print.) Secrets in it are masked.

use crate::secrets::Secrets;
use crate::tell::printable;

/// Bytes that are shown.
const SHOWN: usize = 120;
/// Bytes that are shown before a fault that stands further back in its line.
const BEFORE: usize = 40;
/// Bytes on both sides in which a secret is looked for that begins or ends in what is shown.
const REACH: usize = 8 << 10;

/// What is remembered of a line while it arrives in pieces.
#[derive(Debug, Default)]
pub struct Excerpt {
    head: Vec<u8>,
    passed: usize,
}

impl Excerpt {
    /// Takes note of consumed bytes of the line; a line feed at their end starts the next line.
    pub fn advance(&mut self, consumed: &[u8]) {
        if consumed.last() == Some(&b'\n') {
            self.head.clear();
            self.passed = 0;
            return;
        }
        self.passed += consumed.len();
        let room = (SHOWN + REACH).saturating_sub(self.head.len()).min(consumed.len());
        self.head.extend_from_slice(consumed.get(..room).unwrap_or_default());
    }

    /// The line around its fault at `at`, escaped and without `secrets`. `piece` is what follows the bytes noted so far.
    pub fn show(&self, at: usize, piece: &[u8], secrets: &Secrets) -> String {
        let line = piece.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let byte = |place: usize| match place.checked_sub(self.passed) {
            Some(place) => line.get(place),
            None => self.head.get(place),
        };
        // The line's beginning says most, unless the fault would not be in sight.
        let mut from = if at + BEFORE < SHOWN { 0 } else { at.saturating_sub(BEFORE) };
        if byte(from).is_none() {
            from = 0;
        }
        let before = (0..from).rev().take(REACH).take_while(|place| byte(*place).is_some()).count();
        let known: Vec<u8> = (from - before..from + SHOWN + REACH).map_while(byte).copied().collect();
        let ahead = if from > 0 { "…" } else { "" };
        format!("{ahead}{}", masked(&known, before, secrets))
    }
}

/// The bytes from `from` on, as many as are shown, with a label where they are a part of a secret.
fn masked(known: &[u8], mut from: usize, secrets: &Secrets) -> String {
    let end = (from + SHOWN).min(known.len());
    let mut shown = String::new();
    for (place, label) in secrets.places_to_cut(known) {
        if place.end > from && place.start < end {
            escape(known.get(from..place.start).unwrap_or_default(), &mut shown);
            shown.push_str(label);
            from = place.end;
        }
    }
    escape(known.get(from..end).unwrap_or_default(), &mut shown);
    shown
}

fn escape(bytes: &[u8], shown: &mut String) {
    for chunk in bytes.utf8_chunks() {
        shown.push_str(&printable(chunk.valid()));
        shown.extend(chunk.invalid().iter().flat_map(|byte| byte.escape_ascii()).map(char::from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(excerpt: &Excerpt, at: usize, piece: impl AsRef<[u8]>) -> String {
        let mut secrets = Secrets::default();
        secrets.add_value("KEY", b"s3cret-value");
        excerpt.show(at, piece.as_ref(), &secrets)
    }

    #[test]
    fn shows_a_line_that_came_in_pieces() {
        let mut excerpt = Excerpt::default();
        excerpt.advance(b"{}\n");
        excerpt.advance(b"Start");
        assert_eq!(show(&excerpt, 0, b"ing\x1b[0m \xff\n{}\n"), "Starting\\u{1b}[0m \\xff");
        excerpt.advance(b"ing\n");
        assert_eq!(show(&excerpt, 0, "🚀 up"), "🚀 up");
        assert_eq!(show(&excerpt, 0, b""), "");
    }

    #[test]
    fn shows_a_fault_that_stands_far_back() {
        let mut line = vec![b'a'; 500];
        line[400] = b'!';
        let mut excerpt = Excerpt::default();
        assert_eq!(show(&excerpt, 400, &line), format!("…{}!{}", "a".repeat(40), "a".repeat(79)));
        excerpt.advance(&line[..300]);
        assert_eq!(show(&excerpt, 400, &line[300..]), format!("…{}!{}", "a".repeat(40), "a".repeat(79)));
        assert_eq!(show(&excerpt, 200, &line[300..]), format!("…{}", "a".repeat(120)));
    }

    #[test]
    fn shows_no_secret_wherever_it_stands() {
        for before in 0..300 {
            let line = format!("{}s3cret-value{}", "a".repeat(before), "b".repeat(300));
            for cut in [0, before, before + 5, before + 12] {
                for at in [0, 60, before] {
                    let mut excerpt = Excerpt::default();
                    excerpt.advance(&line.as_bytes()[..cut]);
                    let shown = show(&excerpt, at, &line[cut..]);
                    let parts = ["s3cr", "cret", "ret-", "-val", "alue"];
                    assert!(!parts.iter().any(|part| shown.contains(part)), "{before} {cut} {at}: {shown}");
                }
            }
            // As it arrives.
            let shown = show(&Excerpt::default(), 0, &line[..before + 7]);
            assert!(!shown.contains("s3cr"), "{before}: {shown}");
        }
    }
}
