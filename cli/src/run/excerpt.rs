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

    /// The line around its fault at `at`. `piece` is what follows the bytes noted so far.
    pub fn around(&self, at: usize, piece: &[u8]) -> Part {
        let (line, ended) = line_of(piece);
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
        // What was not kept is between these bytes and those to come.
        let torn = from - before + known.len() < self.passed + line.len();
        Part { wanted: before + SHOWN + REACH, known, before, ahead: from > 0, ended: ended && !torn, torn }
    }
}

/// The bytes of a bad line that are looked at, in order to show some of them.
#[derive(Debug)]
pub struct Part {
    known: Vec<u8>,
    /// How many of them stand before those that are shown.
    before: usize,
    /// Whether the line begins before what is shown.
    ahead: bool,
    /// How many there may be.
    wanted: usize,
    /// Whether the line is known to its end.
    ended: bool,
    /// Whether what follows is not to be had.
    torn: bool,
}

impl Part {
    /// Takes what comes next in the stream.
    pub fn extend(&mut self, piece: &[u8]) {
        if self.ended || self.torn {
            return;
        }
        let (line, ended) = line_of(piece);
        let room = self.wanted.saturating_sub(self.known.len());
        self.torn = line.len() > room;
        self.ended = ended && !self.torn;
        self.known.extend_from_slice(line.get(..room.min(line.len())).unwrap_or_default());
    }

    /// Nothing more comes.
    pub const fn end(&mut self) {
        self.ended = !self.torn;
    }

    /// Whether it is certain which of the bytes are a secret. Of a value its beginning tells; what a pattern matches is known only at
    /// the line's end, or as far behind what is shown as is looked.
    pub fn is_certain(&self, secrets: &Secrets) -> bool {
        !secrets.has_patterns() || self.ended || self.known.len() >= self.wanted
    }

    /// Whether it never will be.
    pub const fn is_lost(&self) -> bool {
        self.torn && self.known.len() < self.wanted
    }

    /// What is shown, escaped and without `secrets`.
    pub fn show(&self, secrets: &Secrets) -> String {
        if !self.is_certain(secrets) {
            return "not shown, for it has not ended and what --mask matches may go on".to_owned();
        }
        let line = match self.known.strip_suffix(b"\r") {
            Some(line) if self.ended => line,
            _ => &self.known,
        };
        let ahead = if self.ahead { "…" } else { "" };
        format!("{ahead}{}", masked(line, self.before, secrets))
    }
}

/// The rest of the line that goes on there, and whether it ends there.
fn line_of(piece: &[u8]) -> (&[u8], bool) {
    piece
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or((piece, false), |end| (piece.get(..end).unwrap_or_default(), true))
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
        excerpt.around(at, piece.as_ref()).show(&secrets)
    }

    fn patterns() -> Secrets {
        let mut secrets = Secrets::default();
        for pattern in [r"password=\S+;", "sk-[0-9a-z]{20}", "pin=[0-9]+$"] {
            secrets.add_pattern(regex::bytes::Regex::new(pattern).expect("a pattern"));
        }
        secrets
    }

    #[test]
    fn shows_what_a_pattern_may_match_only_when_that_is_certain() {
        let secrets = patterns();
        for (line, shown) in [
            ("connect password=hunter2xyz; ok", "connect [masked] ok"),
            ("key sk-0123456789abcdefghij", "key [masked]"),
            ("my pin=1234", "my [masked]"),
            ("my pin=1234\r", "my [masked]"),
        ] {
            for cut in 0..line.len() {
                let (head, tail) = line.as_bytes().split_at(cut);
                let mut part = Excerpt::default().around(0, head);
                assert!(!part.is_certain(&secrets) && part.show(&secrets).starts_with("not shown"), "{line} {cut}");
                let mut closed = Excerpt::default().around(0, head);
                closed.extend(tail);
                closed.end();
                part.extend(&[tail, b"\nnext line".as_slice()].concat());
                part.extend(b"more");
                assert_eq!(part.show(&secrets), shown, "{line} {cut}");
                assert_eq!(closed.show(&secrets), shown, "{line} {cut}");
            }
        }
        // A line without end is shown when what follows can't be a part of what is shown.
        let mut part = Excerpt::default().around(0, b"sk-0123456789abcdefghij ");
        part.extend(&[b'x'; SHOWN + REACH]);
        assert_eq!(part.show(&secrets), format!("[masked] {}", "x".repeat(SHOWN - 24)));
    }

    #[test]
    fn shows_nothing_where_bytes_in_between_were_not_kept() {
        let (mut excerpt, secrets) = (Excerpt::default(), patterns());
        excerpt.advance(&[b'a'; SHOWN + REACH]);
        excerpt.advance(&[b'a'; 5000]);
        let mut part = excerpt.around(SHOWN + REACH + 20, b"b");
        assert!(part.is_lost());
        part.extend(b"\n");
        assert!(part.show(&secrets).starts_with("not shown"));
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
