//! Bytes to lines: the delimiter is the byte 0x0A and nothing else (rules 101 to 107).
//!
//! The framer looks at each new byte once, keeps at most `max_frame` of them, and hands a line on without a copy where it
//! lies whole in the input. Two verdicts don't wait for the line feed, so that a prompt or a progress bar that never ends
//! its line can't hang the reader: a first byte that can't begin JSON text, and a line that has grown beyond `max_frame`.
//! The rest of such a line is discarded in constant memory and gets no second verdict.

use crate::code::{Code, Fault};
use crate::find;
use crate::limits::{Switch, Switches};
use crate::storage::Storage;

/// Cuts one stream. What it holds of a line stands at the start of the storage's frame buffer.
#[derive(Debug)]
pub(crate) struct Framer {
    max_frame: usize,
    held: usize,
    opened: bool,
    discarding: bool,
}

/// What a piece of input came to.
pub(crate) enum Cut {
    /// No verdict yet, or the rest of a discarded line.
    NeedMore,
    /// A verdict before the line feed; it covers the line's first `covered` bytes.
    Early { fault: Fault, covered: usize },
    /// A line of `len` bytes: at the start of the input if `inside`, else at the start of the storage.
    Line { len: usize, inside: bool },
}

impl Framer {
    pub(crate) const fn new(max_frame: usize) -> Self {
        Self { max_frame, held: 0, opened: false, discarding: false }
    }

    pub(crate) const fn discarding(&self) -> bool {
        self.discarding
    }

    /// Bytes of the current line that are in the storage.
    pub(crate) const fn held(&self) -> usize {
        self.held
    }

    /// Takes input up to the end of one line at most. Gives how many bytes it consumed, and what they came to.
    ///
    /// An early verdict consumes nothing: the discarding that follows does, so that lengths add up.
    pub(crate) fn cut(&mut self, input: &[u8], storage: &mut impl Storage) -> (usize, Cut) {
        if self.discarding {
            let Some(end) = find::byte(b'\n', input) else { return (input.len(), Cut::NeedMore) };
            self.discarding = false;
            return (end + 1, Cut::NeedMore);
        }
        if !self.opened {
            match open(storage.frame().get(..self.held).unwrap_or_default(), input) {
                Opening::Open => self.opened = true,
                Opening::Unknown => {}
                Opening::Refused(code, covered) => return (0, self.refuse(Fault { code, at: 0 }, covered)),
            }
        }
        let room = self.max_frame - self.held;
        let window = input.get(..=room).unwrap_or(input);
        if let Some(end) = find::byte(b'\n', window) {
            let inside = self.held == 0;
            if !inside && !self.keep(window.get(..end).unwrap_or_default(), storage) {
                return (0, self.too_long(self.held));
            }
            let len = if inside { end } else { self.held };
            self.held = 0;
            self.opened = false;
            return (end + 1, Cut::Line { len, inside });
        }
        if window.len() > room {
            return (0, self.too_long(self.max_frame));
        }
        if !self.keep(input, storage) {
            return (0, self.too_long(self.held));
        }
        (input.len(), Cut::NeedMore)
    }

    /// The end of input: the bytes of a line that has none, if there is one without a verdict.
    pub(crate) fn finish(&mut self) -> Option<usize> {
        let held = core::mem::take(&mut self.held);
        self.opened = false;
        self.discarding = false;
        (held > 0).then_some(held)
    }

    fn too_long(&mut self, at: usize) -> Cut {
        self.refuse(Fault { code: Code::FrameTooLong, at }, at)
    }

    fn refuse(&mut self, fault: Fault, covered: usize) -> Cut {
        self.held = 0;
        self.opened = false;
        self.discarding = true;
        Cut::Early { fault, covered }
    }

    /// Adds bytes to what is held. False if the storage, against its word, has no room for them.
    fn keep(&mut self, bytes: &[u8], storage: &mut impl Storage) -> bool {
        let end = self.held + bytes.len();
        storage.grow_frame(end);
        let Some(place) = storage.parts().0.get_mut(self.held..end) else { return false };
        // Not copy_from_slice, whose check of the lengths is a path that can panic.
        place.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.held = end;
        true
    }
}

enum Opening {
    Unknown,
    Open,
    Refused(Code, usize),
}

/// Judges a line by its first bytes, which may lie across two pieces.
#[cfg_attr(not(feature = "small"), inline(always))]
fn open(held: &[u8], input: &[u8]) -> Opening {
    // Nearly every line.
    if let ([], [b'{', ..]) = (held, input) { Opening::Open } else { open_any(held, input) }
}

#[inline(never)]
fn open_any(held: &[u8], input: &[u8]) -> Opening {
    let byte = |n: usize| held.get(n).or_else(|| input.get(n.wrapping_sub(held.len()))).copied();
    let Some(first) = byte(0) else { return Opening::Unknown };
    match first {
        b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b' ' | b'\t' | b'\n' => Opening::Open,
        0 => Opening::Refused(Code::NulByte, 1),
        b'\r' => match byte(1) {
            None => Opening::Unknown,
            Some(b'\n') => Opening::Open,
            Some(_) => Opening::Refused(Code::BareCr, 1),
        },
        0xEF => match (byte(1), byte(2)) {
            (None, _) | (Some(0xBB), None) => Opening::Unknown,
            (Some(0xBB), Some(0xBF)) => Opening::Refused(Code::Bom, 3),
            _ => Opening::Refused(Code::UnexpectedByte, 1),
        },
        _ => Opening::Refused(Code::UnexpectedByte, 1),
    }
}

/// A line without the one carriage return that may stand before its line feed, and whether there was one.
pub(crate) fn strip_cr(line: &[u8]) -> (&[u8], bool) {
    match line.split_last() {
        Some((b'\r', content)) => (content, true),
        _ => (line, false),
    }
}

/// Whether space or tab stands before or after the content.
pub(crate) fn is_surrounded(content: &[u8]) -> bool {
    matches!(content.first(), Some(b' ' | b'\t')) || matches!(content.last(), Some(b' ' | b'\t'))
}

/// The frame stage's verdict on a line's content: the lowest offset of 103, 106 and 107.
///
/// The gate asks for it only where something is wrong already: a text check that ran to the end without a fault has seen
/// every byte, and neither CR nor NUL passes it.
pub(crate) fn inspect(content: &[u8], allowed: Switches) -> Option<Fault> {
    let raw = find::either(b'\r', 0, content).map(|at| {
        let code = if content.get(at) == Some(&0) { Code::NulByte } else { Code::BareCr };
        Fault { code, at }
    });
    let space = if allowed.contains(Switch::SurroundingSpace) || !is_surrounded(content) {
        None
    } else if matches!(content.first(), Some(b' ' | b'\t')) {
        Some(0)
    } else {
        Some(content.iter().rposition(|byte| !matches!(byte, b' ' | b'\t')).map_or(0, |last| last + 1))
    };
    let space = space.map(|at| Fault { code: Code::SurroundingSpace, at });
    match (raw, space) {
        (Some(raw), Some(space)) => Some(if raw.at < space.at { raw } else { space }),
        (raw, space) => raw.or(space),
    }
}
