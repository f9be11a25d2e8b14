//! Inside of strings: finding their end fast, judging their escapes, and reading them unescaped or case-folded.

use super::Fault;
use crate::code::Code;
use crate::limits::{Switch, Switches};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The flags of the bytes of eight that need a look: quote, backslash, control, and, if `HIGH`, anything beyond ASCII. Only
/// the lowest flag is sure: borrows run upwards.
#[inline(always)]
fn special<const HIGH: bool>(chunk: &[u8; 8]) -> u64 {
    let word = u64::from_le_bytes(*chunk);
    // Of a byte below 0x80 each difference sets the high bit where the byte is the one that is looked for, or a control; of
    // the others it may.
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    let control = word.wrapping_sub(ONES * 0x20);
    let found = quote | backslash | control;
    if HIGH { (found | word) & HIGHS } else { found & !word & HIGHS }
}

/// The first of the next 16 bytes that needs a look, bytes beyond ASCII included, or the byte behind them: most strings end
/// before. Both halves are looked at together, because which of them a string ends in can't be foretold.
#[inline(always)]
pub(super) fn short_run(text: &[u8], at: usize) -> usize {
    let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<16>()) else { return tail::<true>(text, at) };
    let [a, b, c, d, e, f, g, h, rest @ ..] = chunk;
    let (low, high) = (special::<true>(&[*a, *b, *c, *d, *e, *f, *g, *h]), special::<true>(rest));
    let (found, behind) = if low != 0 { (low, 0) } else { (high, 8) };
    at + behind + (found.trailing_zeros() / 8) as usize
}

/// The first byte at or after `at` that needs a look: quote, backslash, control, and, if `HIGH`, anything beyond ASCII.
/// The text's end where there is none.
#[inline]
pub(super) fn clean_run<const HIGH: bool>(text: &[u8], mut at: usize) -> usize {
    // Between escapes the runs are short: eight bytes first.
    for _ in 0..4 {
        let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            return tail::<HIGH>(text, at);
        };
        let found = special::<HIGH>(chunk);
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    // A long one: 32 bytes at a time, in a shape that compilers turn into vector code.
    while let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
        let any = block.iter().fold(0u8, |any, &byte| {
            any | u8::from(byte == b'"')
                | u8::from(byte == b'\\')
                | u8::from(byte < 0x20)
                | u8::from(HIGH && byte >= 0x80)
        });
        if any != 0 {
            break;
        }
        at += 32;
    }
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = special::<HIGH>(chunk);
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    tail::<HIGH>(text, at)
}

/// The same for the last bytes of the text.
fn tail<const HIGH: bool>(text: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = text.get(at) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 || (HIGH && byte >= 0x80) {
            break;
        }
        at += 1;
    }
    at
}

/// What an escape stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// A character other than NUL.
    Char(char),
    /// `\u0000`.
    Nul,
    /// Half of a surrogate pair.
    Lone(u16),
}

/// Reads the escape whose backslash stands at `at`: what it is and where it ends. The fault's code is 216 where the text
/// ends inside it.
pub(super) fn escape(text: &[u8], at: usize) -> Result<(Escape, usize), Fault> {
    let simple = |c: char| Ok((Escape::Char(c), at + 2));
    match text.get(at + 1) {
        Some(b'"') => simple('"'),
        Some(b'\\') => simple('\\'),
        Some(b'/') => simple('/'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => {
            let unit = hex4(text, at + 2)?;
            if unit == 0 {
                return Ok((Escape::Nul, at + 6));
            }
            if let Some(c) = char::from_u32(u32::from(unit)) {
                return Ok((Escape::Char(c), at + 6));
            }
            // A surrogate. Only a whole low one behind a high one makes a pair; whatever else stands there is judged later.
            if unit < 0xDC00
                && text.get(at + 6..at + 8) == Some(b"\\u")
                && let Ok(low @ 0xDC00..=0xDFFF) = hex4(text, at + 8)
            {
                let scalar = 0x10000 + ((u32::from(unit) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
                return Ok((Escape::Char(char::from_u32(scalar).unwrap_or('\u{FFFD}')), at + 12));
            }
            Ok((Escape::Lone(unit), at + 6))
        }
        Some(_) => Err(Fault { code: Code::BadEscape, at: at + 1 }),
        None => Err(Fault { code: Code::UnexpectedEnd, at: at + 1 }),
    }
}

fn hex4(text: &[u8], at: usize) -> Result<u16, Fault> {
    let mut unit = 0;
    for place in at..at + 4 {
        let Some(&byte) = text.get(place) else { return Err(Fault { code: Code::UnexpectedEnd, at: place }) };
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return Err(Fault { code: Code::BadEscape, at: place }),
        };
        unit = unit << 4 | u16::from(digit);
    }
    Ok(unit)
}

/// Whether a string that passed the grammar has no escape that `allowed` refuses: half a surrogate pair, or NUL.
pub(crate) fn is_sound(raw: &[u8], allowed: Switches) -> bool {
    let mut at = 0;
    while let Some(skip) = memchr::memchr(b'\\', raw.get(at..).unwrap_or_default()) {
        let refused = match escape(raw, at + skip) {
            Ok((Escape::Char(_), end)) => {
                at = end;
                continue;
            }
            Ok((Escape::Nul, end)) => (Switch::EscapedNul, end),
            Ok((Escape::Lone(_), end)) => (Switch::LoneSurrogates, end),
            Err(_) => return false,
        };
        if !allowed.contains(refused.0) {
            return false;
        }
        at = refused.1;
    }
    true
}

/// The bytes of a checked string, unescaped. Lone surrogates, where they were let through, come as three bytes of their own.
#[derive(Clone)]
pub(crate) struct Unescaped<'t> {
    raw: &'t [u8],
    at: usize,
    pending: u32,
}

impl<'t> Unescaped<'t> {
    /// Over the bytes between the quotes.
    pub(crate) const fn new(raw: &'t [u8]) -> Self {
        Self { raw, at: 0, pending: 0 }
    }
}

impl Iterator for Unescaped<'_> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        if self.pending != 0 {
            // The rest of a multi-byte character, lowest byte next; none of its bytes is zero.
            let byte = self.pending as u8;
            self.pending >>= 8;
            return Some(byte);
        }
        let byte = *self.raw.get(self.at)?;
        if byte != b'\\' {
            self.at += 1;
            return Some(byte);
        }
        let (escape, end) = escape(self.raw, self.at).ok()?;
        self.at = end;
        let unit = match escape {
            Escape::Nul => return Some(0),
            Escape::Char(c) if c.is_ascii() => return Some(c as u8),
            Escape::Char(c) => c as u32,
            Escape::Lone(unit) => u32::from(unit),
        };
        let tail = |shift: u32| (unit >> shift & 0x3F) | 0x80;
        let (first, rest) = match unit {
            0..0x800 => (unit >> 6 | 0xC0, tail(0)),
            0x800..0x1_0000 => (unit >> 12 | 0xE0, tail(6) | tail(0) << 8),
            _ => (unit >> 18 | 0xF0, tail(12) | tail(6) << 8 | tail(0) << 16),
        };
        self.pending = rest;
        Some(first as u8)
    }
}

/// The same, case-folded as the laxest readers do it: ASCII letters, U+017F (long s) = s, U+212A (Kelvin sign) = k.
#[derive(Clone)]
pub(crate) struct Folded<'t>(Unescaped<'t>);

impl<'t> Folded<'t> {
    pub(crate) const fn new(raw: &'t [u8]) -> Self {
        Self(Unescaped::new(raw))
    }
}

/// Whether a string folds to the same as `name`, which has neither escapes nor characters beyond ASCII.
#[inline]
pub(crate) fn folds_to(raw: &[u8], plain: bool, name: &str) -> bool {
    if plain && raw.is_ascii() {
        raw.eq_ignore_ascii_case(name.as_bytes())
    } else {
        // Folding an ASCII name is lowering it. No folded byte is written with fewer bytes than one.
        raw.len() >= name.len() && Folded::new(raw).eq(name.bytes().map(|byte| byte.to_ascii_lowercase()))
    }
}

impl Iterator for Folded<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let byte = self.0.next()?;
        let mut ahead = self.0.clone();
        match byte {
            0xC5 if ahead.next() == Some(0xBF) => {
                self.0 = ahead;
                Some(b's')
            }
            0xE2 if ahead.next() == Some(0x84) && ahead.next() == Some(0xAA) => {
                self.0 = ahead;
                Some(b'k')
            }
            _ => Some(byte.to_ascii_lowercase()),
        }
    }
}
