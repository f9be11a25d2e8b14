//! Inside of strings: finding their end fast, judging their escapes, and reading them unescaped or case-folded.

use crate::code::{Code, Fault};
use crate::find::{self, SMALL};
use crate::limits::{Switch, Switches};

use super::simd::clean_of_16;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The flags of the bytes of eight that need a look: quote, backslash, control, and, if `HIGH`, anything beyond ASCII. Only
/// the lowest flag is sure: borrows run upwards.
#[cfg_attr(not(feature = "small"), inline(always))]
const fn special<const HIGH: bool>(word: u64) -> u64 {
    // Of a byte below 0x80 each difference sets the high bit where the byte is one that is looked for; of the others it may.
    // The quote, 0x22, and the controls are those that lie below 0x21 once bit 1 is turned.
    let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    let found = quote_or_control | backslash;
    if HIGH { (found | word) & HIGHS } else { found & !word & HIGHS }
}

/// How many bytes stand before the lowest flag; 8 where there is none.
#[cfg_attr(not(feature = "small"), inline(always))]
const fn before(found: u64) -> usize {
    (found.trailing_zeros() / 8) as usize
}

/// How many of sixteen bytes stand before the first that needs a look, bytes beyond ASCII included. Both halves are looked at
/// together, because which of them a string ends in can't be foretold.
#[cfg_attr(not(feature = "small"), inline(always))]
#[allow(dead_code, reason = "the vector unit does the same where there is one")]
pub(super) fn clean_of_16_by_words(chunk: &[u8; 16]) -> usize {
    let words = Words::split(u128::from_le_bytes(*chunk));
    let (low, high) = (special::<true>(words.low), special::<true>(words.high));
    // Arithmetic, where compilers make a branch of a choice: all ones if the low half is clean.
    let clean = u64::from(low == 0).wrapping_neg();
    (clean & 8) as usize + before(low | high & clean)
}

/// Up to 16 bytes as two words, the first byte lowest, zeros behind the last.
#[derive(Clone, Copy, Eq)]
pub(crate) struct Words {
    pub(crate) low: u64,
    pub(super) high: u64,
}

impl PartialEq for Words {
    /// Both words at once: one branch instead of two.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn eq(&self, other: &Self) -> bool {
        (self.low ^ other.low) | (self.high ^ other.high) == 0
    }
}

impl Words {
    /// Whether they are the same, for where they mostly are not, and differ in the low word.
    #[cfg(not(feature = "small"))]
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn are(self, other: Self) -> bool {
        self.low == other.low && self.high == other.high
    }

    /// Those of no key that is short, ASCII and free of escapes: what is said of any other.
    pub(crate) const NONE: Self = Self { low: u64::MAX, high: u64::MAX };

    /// The words of a name; [`NONE`](Self::NONE) if it is longer. For constants.
    pub(crate) const fn of(name: &str) -> Self {
        let mut rest = name.as_bytes();
        if rest.len() > 16 {
            return Self::NONE;
        }
        let mut both = 0u128;
        while let [before @ .., last] = rest {
            both = both << 8 | *last as u128;
            rest = before;
        }
        Self::split(both)
    }

    /// The words of a string without escapes; [`NONE`](Self::NONE) if it is longer or not all ASCII.
    pub(crate) fn short(raw: &[u8]) -> Self {
        let both = match (raw.first_chunk(), raw.last_chunk()) {
            _ if raw.len() > 16 || !raw.is_ascii() => return Self::NONE,
            (Some(first), Some(last)) => {
                let behind = 8 * (raw.len() as u32 - 8);
                u128::from(u64::from_le_bytes(*first)) | u128::from(u64::from_le_bytes(*last)) << behind
            }
            _ => last_bytes(raw, 0),
        };
        Self::split(both)
    }

    /// Two loads of a word each: from one of sixteen bytes compilers would build the vector, and go the long way round.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn from_chunk(chunk: &[u8; 16]) -> Self {
        let word = |half: Option<&[u8; 8]>| half.map_or(0, |half| u64::from_le_bytes(*half));
        Self { low: word(chunk.first_chunk()), high: word(chunk.last_chunk()) }
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(super) const fn split(both: u128) -> Self {
        Self { low: both as u64, high: (both >> 64) as u64 }
    }

    /// The 16 bytes in one, the first lowest.
    pub(super) fn join(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// ASCII upper case to lower case; all bytes below 0x80.
    pub(crate) const fn lower(self) -> Self {
        const fn lower(word: u64) -> u64 {
            let from_a = word + ONES * (0x80 - b'A' as u64);
            let beyond_z = word + ONES * (0x7F - b'Z' as u64);
            word | ((from_a & !beyond_z & HIGHS) >> 2)
        }
        Self { low: lower(self.low), high: lower(self.high) }
    }
}

/// Which bits of the low and of the high of two words belong to so many bytes. Two tables: of one with pairs compilers make a
/// vector, which takes the long way through memory to where it is needed.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
const MASKS: ([u64; 17], [u64; 17]) = {
    let mut masks = ([0; 17], [0; 17]);
    let mut len = 1;
    while len <= 16 {
        (masks.0[len], masks.1[len]) =
            if len <= 8 { (masks.0[len - 1] << 8 | 0xFF, 0) } else { (u64::MAX, masks.1[len - 1] << 8 | 0xFF) };
        len += 1;
    }
    masks
};

/// A string of a few bytes as it stands in a line behind its opening quote, and perhaps what follows it.
#[derive(Clone, Copy)]
pub(crate) struct Spelling {
    /// The bytes, the first lowest.
    word: u64,
    /// Which bits of a word these are.
    mask: u64,
    pub(super) len: usize,
}

impl Spelling {
    /// For constants.
    pub(crate) const fn new(bytes: &str) -> Self {
        assert!(!bytes.is_empty() && bytes.len() <= 8, "more than a word, or nothing");
        Self { word: Words::of(bytes).low, mask: u64::MAX >> (64 - 8 * bytes.len()), len: bytes.len() }
    }

    /// Whether these eight bytes begin with it.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) const fn begins(&self, word: u64) -> bool {
        word & self.mask == self.word
    }
}

/// The bytes from `at`, fewer than 16 before the text's end, the first lowest.
#[inline(never)]
fn last_bytes(text: &[u8], at: usize) -> u128 {
    match text.last_chunk::<16>() {
        Some(chunk) => u128::from_le_bytes(*chunk).checked_shr(8 * (at + 16 - text.len()) as u32).unwrap_or(0),
        None => {
            let rest = text.get(at..).unwrap_or_default();
            rest.iter().rev().fold(0, |both, &byte| both << 8 | u128::from(byte))
        }
    }
}

/// Eight bytes from `at`, the first lowest; zeros behind the text's end.
#[cfg_attr(not(feature = "small"), inline(always))]
pub(super) fn eight(text: &[u8], at: usize) -> u64 {
    match text.get(at..at + 8).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => match text.last_chunk::<8>() {
            Some(chunk) => u64::from_le_bytes(*chunk).checked_shr(8 * (at + 8 - text.len()) as u32).unwrap_or(0),
            None => last_bytes(text, at) as u64,
        },
    }
}

/// The next 16 bytes of `text` from `at`, if there are so many.
#[cfg_attr(not(feature = "small"), inline(always))]
fn sixteen(text: &[u8], at: usize) -> Option<&[u8; 16]> {
    text.get(at..at + 16).and_then(<[u8]>::first_chunk)
}

/// The first of the next 16 bytes that needs a look, bytes beyond ASCII included, or the byte behind them: most strings end
/// before.
#[cfg_attr(not(feature = "small"), inline(always))]
pub(super) fn short_run(text: &[u8], at: usize) -> usize {
    if SMALL {
        return at;
    }
    match sixteen(text, at) {
        Some(chunk) => at + clean_of_16(chunk),
        None => last_run(text, at),
    }
}

/// The same near the text's end.
#[inline(never)]
fn last_run(text: &[u8], at: usize) -> usize {
    at + clean_of_16(&last_bytes(text, at).to_le_bytes())
}

/// The words and the length of the string whose first byte stands at `at`, if it is at most 16 bytes long, all ASCII, and
/// free of escapes.
#[cfg_attr(not(feature = "small"), inline(always))]
pub(super) fn short_string(text: &[u8], at: usize) -> Option<(Words, usize)> {
    if SMALL {
        return None;
    }
    let (words, len) = match sixteen(text, at) {
        Some(chunk) => (Words::from_chunk(chunk), clean_of_16(chunk)),
        None => {
            let last = last_bytes(text, at);
            (Words::split(last), clean_of_16(&last.to_le_bytes()))
        }
    };
    if text.get(at + len) != Some(&b'"') {
        return None;
    }
    let (low, high) = (MASKS.0.get(len).copied().unwrap_or(0), MASKS.1.get(len).copied().unwrap_or(0));
    Some((Words { low: words.low & low, high: words.high & high }, len))
}

/// The first byte at or after `at` that needs a look: quote, backslash, control, and, if `HIGH`, anything beyond ASCII.
/// The text's end where there is none.
#[inline]
pub(super) fn clean_run<const HIGH: bool>(text: &[u8], mut at: usize) -> usize {
    if SMALL {
        return clean_run_by_bytes(text, at, HIGH);
    }
    // Between escapes the runs are short: eight bytes first.
    for _ in 0..4 {
        let found = special::<HIGH>(eight(text, at));
        if found != 0 {
            return at + before(found);
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
    loop {
        let found = special::<HIGH>(eight(text, at));
        if found != 0 {
            return at + before(found);
        }
        at += 8;
    }
}

/// The same, a byte at a time.
fn clean_run_by_bytes(text: &[u8], at: usize, high: bool) -> usize {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20) || (high && *byte >= 0x80);
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(special).unwrap_or(rest.len())
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

/// The value of each hex digit; 0xFF for what is none.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
const HEX: [u8; 256] = {
    let mut table = [0xFF; 256];
    let mut digit = 0u8;
    while digit < 16 {
        let letter = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        table[letter as usize] = digit;
        table[letter.to_ascii_uppercase() as usize] = digit;
        digit += 1;
    }
    table
};

/// The value of the four hex digits at `at`.
#[inline]
fn hex4(text: &[u8], at: usize) -> Result<u16, Fault> {
    let value = |byte: u8| HEX.get(usize::from(byte)).map_or(0xFF, |value| u16::from(*value));
    let rest = text.get(at..).unwrap_or_default();
    if let Some(&[a, b, c, d]) = rest.first_chunk::<4>() {
        let (a, b, c, d) = (value(a), value(b), value(c), value(d));
        if (a | b | c | d) < 16 {
            return Ok(a << 12 | b << 8 | c << 4 | d);
        }
    }
    let at = at + rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    Err(Fault { code: if at < text.len() { Code::BadEscape } else { Code::UnexpectedEnd }, at })
}

/// U+0085, U+2028 and U+2029: where Unicode line splitters cut.
pub(super) const SEPARATORS: [&[u8]; 3] = [b"\xC2\x85", b"\xE2\x80\xA8", b"\xE2\x80\xA9"];

/// Whether a string that passed the grammar has nothing in it that `allowed` refuses: half a surrogate pair or NUL as an
/// escape, or a raw line separator.
pub(crate) fn is_sound(raw: &[u8], allowed: Switches) -> bool {
    let separated =
        |separator: &&[u8]| (0..raw.len()).any(|at| raw.get(at..).unwrap_or_default().starts_with(separator));
    if !allowed.contains(Switch::Separators) && SEPARATORS.iter().any(separated) {
        return false;
    }
    let mut at = 0;
    while let Some(skip) = find::byte(b'\\', raw.get(at..).unwrap_or_default()) {
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
