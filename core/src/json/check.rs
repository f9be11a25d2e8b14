//! The walker: one pass over a line's content that gives the first fault of the text stage. Who wants to know what is in the
//! outer objects passes them member by member and says of each value how it is to be passed; what nobody asks for is passed
//! in one go. However deep a line nests, the stack doesn't: one bit remembers each open container.
//!
//! Faults are met reading left to right. What can't be decided at the byte itself keeps its place all the same: the rest of
//! the frame is proved to be UTF-8 once, at the first byte beyond ASCII, and an ill-formed sequence then stands as the
//! text's end, with its own code; duplicates in large objects wait for the object's end, and come first when another fault
//! ends the walk before.

use super::keys::{KeyHash, Keys, Trouble};
use super::number::{number, short_integer};
use super::string::{Escape, SEPARATORS, Spelling, Unescaped, Words, clean_run, escape, short_run, short_string};
use super::{Kind, Token};
use crate::code::{Code, Fault};
use crate::limits::{MAX_DEPTH, MAX_KEY, Profile, Switch, Switches};

/// Who reads an object while it is walked: is told of each key, and says how its value is passed.
pub(crate) trait Listener {
    /// What a key comes to.
    type Name: Copy;

    /// Passes the member whose key begins at `at`, its value included, if that key is one that the object usually has and was
    /// not there before; see [`Walker::take_known`]. Gives the value's end.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn usual(&mut self, _walker: &mut Walker<'_, '_>, _at: usize, _depth: usize) -> Result<Option<usize>, Halt> {
        Ok(None)
    }

    /// A key, with its words if it is at most 16 bytes long, ASCII and plain, else [`Words::NONE`].
    fn key(&mut self, key: Token, words: Words) -> Self::Name;

    /// Passes the value of that key, which begins at `at` where `depth` containers are open: [`Walker::value`],
    /// [`Walker::object`] or [`Walker::array`]. Gives its end.
    fn value(&mut self, walker: &mut Walker<'_, '_>, name: Self::Name, at: usize, depth: usize) -> Result<usize, Halt>;
}

/// A value that was passed.
pub(crate) struct Value {
    pub(crate) kind: Kind,
    pub(crate) end: usize,
    /// A string without escapes, or an integer of few digits.
    pub(crate) plain: bool,
    /// Those of a string that is at most 16 bytes long, ASCII and plain.
    pub(crate) words: Words,
}

/// What the text stage holds a line to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    pub(crate) allowed: Switches,
    pub(crate) max_depth: usize,
    pub(crate) max_keys: usize,
    /// Whether keys are compared at all; the walk that only looks for an id to echo doesn't.
    pub(crate) unique_keys: bool,
}

impl Text {
    /// Grammar alone, to that depth: what a refused line is read by to find its id.
    pub(crate) const fn grammar(max_depth: usize) -> Self {
        Self { allowed: Profile::Rfc8259.allowed(), max_depth, max_keys: 0, unique_keys: false }
    }
}

/// Why a walk ended before the text did.
pub(crate) enum Stop {
    Fault(Fault),
    /// The key table is shorter than the limits allow: once more with a longer one.
    ShortTable,
    /// Keys that fold alike are allowed and there are some: once more without folding.
    Unfold,
}

/// Walks over the text that stands before `end` in `ahead`; if anything follows it there, a line feed or a carriage return
/// comes first. `root` passes the value, whose place it is given, and gives its end. Gives the switches without which the
/// text would have been refused.
#[cfg_attr(not(feature = "small"), inline(always))]
pub(crate) fn walk(
    ahead: &[u8],
    end: usize,
    rules: &Text,
    table: &mut [u64],
    hash: &KeyHash,
    fold: bool,
    root: impl FnOnce(&mut Walker<'_, '_>, usize) -> Result<usize, Halt>,
) -> Result<Switches, Stop> {
    let refuse_folded = !rules.allowed.contains(Switch::CaseCollisions);
    let text = ahead.get(..end).unwrap_or_default();
    let mut walker = Walker {
        ahead,
        text,
        whole: text.len(),
        proved: false,
        unique_keys: rules.unique_keys,
        stop_beyond_ascii: true,
        rules,
        shallow: rules.max_depth.min(usize::from(Profile::Strict.max_depth())),
        needed: Switches::NONE,
        stack: Stack([0; MAX_DEPTH as usize / 32]),
        keys: Keys::new(table, hash, rules.max_keys, fold, refuse_folded),
        trouble: Trouble::Short,
    };
    match walker.line(root) {
        Ok(()) => Ok(walker.needed),
        Err(Halt) => Err(walker.stop()),
    }
}

/// One bit for each open container: set where it stands in an object.
struct Stack([u32; MAX_DEPTH as usize / 32]);

impl Stack {
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn set(&mut self, depth: usize, object: bool) {
        if let Some(word) = self.0.get_mut(depth / 32) {
            *word = *word & !(1 << (depth % 32)) | u32::from(object) << (depth % 32);
        }
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn is_object(&self, depth: usize) -> bool {
        self.0.get(depth / 32).is_some_and(|word| word & 1 << (depth % 32) != 0)
    }
}

/// The next byte that is not white space, without taking it; 0 at the end. CR is none: it is no part of a frame, and LF
/// can't be.
#[cfg_attr(not(feature = "small"), inline(always))]
fn skip_space(text: &[u8], at: &mut usize) -> u8 {
    loop {
        let byte = text.get(*at).copied().unwrap_or(0);
        if byte > b' ' || (byte != b' ' && byte != b'\t') {
            return byte;
        }
        *at += 1;
    }
}

/// The same where a certain byte is likely to come at once.
#[cfg_attr(not(feature = "small"), inline(always))]
fn skip_space_to(likely: u8, text: &[u8], at: &mut usize) -> u8 {
    if text.get(*at) == Some(&likely) { likely } else { skip_space(text, at) }
}

/// Whether a short key begins as the longer `__proto__` does. The other forbidden keys aren't short.
#[cfg_attr(not(feature = "small"), inline(always))]
const fn may_be_forbidden(words: Words) -> bool {
    words.low == u64::from_le_bytes(*b"__proto_")
}

/// The walk can't go on; why is in the walker. Of no size, so that the way out costs the way through nothing.
pub(crate) struct Halt;

/// Passes values, whole or member by member.
pub(crate) struct Walker<'t, 'k> {
    /// The text and perhaps more, so that most loads of several bytes succeed; what follows it can't be taken for a part of it.
    ahead: &'t [u8],
    /// The content, or what stands before its first ill-formed UTF-8 sequence once that is known.
    text: &'t [u8],
    whole: usize,
    /// Whether `text` is known to be UTF-8 from here on.
    proved: bool,
    unique_keys: bool,
    /// Whether the search for a string's end stops at bytes beyond ASCII.
    stop_beyond_ascii: bool,
    rules: &'k Text,
    /// The number of open containers from which a value needs a look: one more than every parser takes, or the limit.
    shallow: usize,
    needed: Switches,
    stack: Stack,
    keys: Keys<'k>,
    trouble: Trouble,
}

impl Walker<'_, '_> {
    /// The whole content: one value, and white space around it.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn line(&mut self, root: impl FnOnce(&mut Self, usize) -> Result<usize, Halt>) -> Result<(), Halt> {
        let mut at = 0;
        skip_space(self.ahead, &mut at);
        at = root(self, at)?;
        skip_space(self.text, &mut at);
        if at < self.whole { Err(self.unexpected(Code::TrailingBytes, at)) } else { Ok(()) }
    }

    /// The byte at `at`; 0 behind the text.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.ahead.get(at).copied().unwrap_or(0)
    }

    /// Passes the object that begins at `at`, in which `depth` containers are open already, telling of its members. Gives its
    /// end.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn object<L: Listener>(&mut self, listener: &mut L, mut at: usize, depth: usize) -> Result<usize, Halt> {
        self.enter(b'{', at, depth)?;
        self.open()?;
        at += 1;
        let mut byte = skip_space(self.ahead, &mut at);
        if byte != b'}' {
            loop {
                if byte != b'"' {
                    return Err(self.unexpected(Code::UnexpectedByte, at));
                }
                at = match listener.usual(self, at, depth + 1)? {
                    Some(end) => end,
                    None => {
                        let name = self.key(&mut at, |key, words| listener.key(key, words))?;
                        self.colon(&mut at)?;
                        listener.value(self, name, at, depth + 1)?
                    }
                };
                byte = skip_space_to(b',', self.ahead, &mut at);
                if byte != b',' {
                    break;
                }
                at += 1;
                byte = skip_space_to(b'"', self.ahead, &mut at);
            }
            if byte != b'}' {
                return Err(self.unexpected(Code::UnexpectedByte, at));
            }
        }
        self.close()?;
        Ok(at + 1)
    }

    /// Passes the array that begins at `at` as [`object`](Self::object) does an object; `element` passes each of its elements.
    pub(crate) fn array(
        &mut self,
        mut at: usize,
        depth: usize,
        mut element: impl FnMut(&mut Self, usize) -> Result<usize, Halt>,
    ) -> Result<usize, Halt> {
        self.enter(b'[', at, depth)?;
        at += 1;
        if skip_space(self.ahead, &mut at) == b']' {
            return Ok(at + 1);
        }
        loop {
            at = element(self, at)?;
            let byte = skip_space(self.ahead, &mut at);
            at += 1;
            match byte {
                b',' => skip_space(self.ahead, &mut at),
                b']' => return Ok(at),
                _ => return Err(self.unexpected(Code::UnexpectedByte, at - 1)),
            };
        }
    }

    /// Passes the value that begins at `at`, in which `depth` containers are open already.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn value(&mut self, at: usize, depth: usize) -> Result<Value, Halt> {
        let byte = self.byte(at);
        self.enter(byte, at, depth)?;
        if byte == b'"' {
            return match short_string(self.ahead, at + 1) {
                Some((words, len)) => Ok(Value { kind: Kind::String, end: at + len + 2, plain: true, words }),
                None => {
                    let (end, plain) = self.string_from(at + 1, false)?;
                    Ok(Value { kind: Kind::String, end, plain, words: Words::NONE })
                }
            };
        }
        if byte.is_ascii_digit()
            && let Some(end) = short_integer(self.ahead, at)
        {
            return Ok(Value { kind: Kind::Number, end, plain: true, words: Words::NONE });
        }
        Ok(Value { kind: Kind::beginning(byte), end: self.inner(at, depth)?, plain: false, words: Words::NONE })
    }

    /// The first eight bytes of the string whose opening quote stands at `at`, and of what follows it, the first lowest; 0 near
    /// the text's end.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn word(&self, at: usize) -> u64 {
        self.ahead.get(at + 1..at + 9).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u64::from_le_bytes(*chunk))
    }

    /// Takes the key that begins at `at` if there is room; `at` is the place of what follows `name` and white space then. Who
    /// calls this knows that it is `name` as it is spelt and that the object had no such key before, and calls
    /// [`hash_known`](Self::hash_known) before the object's first key that isn't taken in this way.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn take_known(&mut self, at: &mut usize, name: Spelling) -> bool {
        if !self.keys.count(*at) {
            return false;
        }
        *at += 1 + name.len;
        skip_space(self.ahead, at);
        true
    }

    /// From here on the innermost object's keys are taken in any way.
    #[cold]
    pub(crate) fn hash_known(&mut self) {
        self.keys.hash_counted(self.text);
    }

    /// Whether the text goes on with that string at `at`, and it may stand there.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn is_at(&self, at: usize, depth: usize, string: Spelling) -> bool {
        depth < self.shallow && self.byte(at) == b'"' && string.begins(self.word(at))
    }

    /// Takes the key that begins at `at`, which is its end then, and tells of it: with its words if it is at most 16 bytes
    /// long, ASCII and plain.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn key<T>(&mut self, at: &mut usize, tell: impl FnOnce(Token, Words) -> T) -> Result<T, Halt> {
        let start = *at;
        let (end, plain, words) = match short_string(self.ahead, start + 1) {
            Some((words, len)) if !may_be_forbidden(words) => {
                if !self.keys.take_new(start, words) {
                    self.take(start, words)?;
                }
                (start + len + 2, true, words)
            }
            _ => {
                let (end, plain) = self.key_slowly(start)?;
                (end, plain, Words::NONE)
            }
        };
        *at = end;
        Ok(tell(Token { start, end, plain }, words))
    }

    /// Passes the colon behind a key and what white space there is, up to the value. Gives the value's first byte.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn colon(&mut self, at: &mut usize) -> Result<u8, Halt> {
        if skip_space_to(b':', self.ahead, at) != b':' {
            return Err(self.unexpected(Code::UnexpectedByte, *at));
        }
        *at += 1;
        Ok(skip_space(self.ahead, at))
    }

    /// Begins an object's keys.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn open(&mut self) -> Result<(), Halt> {
        if self.unique_keys && !self.keys.open() { Err(self.halt(Trouble::Short)) } else { Ok(()) }
    }

    /// Ends an object's keys.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn close(&mut self) -> Result<(), Halt> {
        if self.unique_keys && !self.keys.close_small() { self.close_large() } else { Ok(()) }
    }

    /// Passes the value that begins at `at`, in which `outer` containers are open already, telling nobody of what is in it.
    /// Gives its end.
    #[inline(never)]
    fn inner(&mut self, mut at: usize, outer: usize) -> Result<usize, Halt> {
        // A copy that can stay in registers; taken anew after whatever may have cut the text.
        let mut text = self.ahead;
        // How many containers are open, and whether the innermost is an object.
        let mut depth = outer;
        let mut object = false;
        let mut byte = text.get(at).copied().unwrap_or(0);
        // Each turn begins at the first byte of a value, or of a key and its value.
        'value: loop {
            if object {
                if byte != b'"' {
                    return Err(self.unexpected(Code::UnexpectedByte, at));
                }
                self.key(&mut at, |_, _| {})?;
                text = self.ahead;
                byte = self.colon(&mut at)?;
            }
            self.enter(byte, at, depth)?;
            if byte == b'"' {
                at = short_run(text, at + 1);
                if text.get(at) == Some(&b'"') {
                    at += 1;
                } else {
                    (at, _) = self.string_from(at, false)?;
                    text = self.ahead;
                }
            } else if byte.is_ascii_digit() {
                at = match short_integer(text, at) {
                    Some(end) => end,
                    None => self.number_slowly(at)?,
                };
            } else if matches!(byte, b'{' | b'[') {
                self.stack.set(depth, object);
                object = byte == b'{';
                depth += 1;
                at += 1;
                if object {
                    self.open()?;
                }
                byte = skip_space(text, &mut at);
                if byte != if object { b'}' } else { b']' } {
                    continue 'value;
                }
                // Empty: its closing byte is dealt with below, as any.
            } else {
                at = self.other_scalar(at, byte)?;
            }
            // Behind a value: its container goes on, or ends, and then the next one out.
            loop {
                if depth == outer {
                    return Ok(at);
                }
                byte = skip_space_to(b',', text, &mut at);
                if byte == b',' {
                    at += 1;
                    byte = skip_space(text, &mut at);
                    continue 'value;
                }
                if byte != if object { b'}' } else { b']' } {
                    return Err(self.unexpected(Code::UnexpectedByte, at));
                }
                if object {
                    self.close()?;
                }
                depth -= 1;
                object = self.stack.is_object(depth);
                at += 1;
            }
        }
    }

    /// A value begins at `at` with `byte`, in which `depth` containers are open already.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn enter(&mut self, byte: u8, at: usize, depth: usize) -> Result<(), Halt> {
        if depth >= self.shallow { self.deep(depth, byte, at) } else { Ok(()) }
    }

    /// A value stands where `depth` containers are open: too deep, or deeper than every parser takes.
    #[cold]
    fn deep(&mut self, depth: usize, byte: u8, at: usize) -> Result<(), Halt> {
        if !matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
            return Ok(());
        }
        if depth >= self.rules.max_depth {
            return Err(self.fault(Code::TooDeep, at));
        }
        self.needed = self.needed.with(Switch::Depth);
        Ok(())
    }

    /// A short plain key that may repeat one before it, or that has no place.
    #[inline(never)]
    fn take(&mut self, start: usize, words: Words) -> Result<(), Halt> {
        if !self.unique_keys {
            return Ok(());
        }
        self.keys.take(self.text, start, words).map_err(|trouble| self.halt(trouble))
    }

    /// A key that is longer, has escapes or bytes beyond ASCII, or may be forbidden, with the rules on keys.
    /// Gives its end, and whether it is without escapes.
    #[inline(never)]
    fn key_slowly(&mut self, start: usize) -> Result<(usize, bool), Halt> {
        let (end, plain) = self.string_from(start + 1, true)?;
        let key = Token { start, end, plain };
        if self.unique_keys {
            self.unique_slowly(&key)?;
        }
        if !plain || matches!(key.raw(self.text).first(), Some(b'_' | b'$')) || end - start > MAX_KEY {
            self.lawful_slowly(&key)?;
        }
        Ok((end, plain))
    }

    /// The key's place among the keys of its object.
    fn unique_slowly(&mut self, key: &Token) -> Result<(), Halt> {
        match self.keys.take_any(self.text, key) {
            Ok(()) => Ok(()),
            // Of two faults of one key the lower code counts.
            Err(Trouble::Fault(fault)) if fault.code > Code::KeyTooLong => {
                self.short_enough(key)?;
                Err(self.halt(Trouble::Fault(fault)))
            }
            Err(trouble) => Err(self.halt(trouble)),
        }
    }

    /// The rules on single keys: not too long, none with a meaning of its own.
    fn lawful_slowly(&mut self, key: &Token) -> Result<(), Halt> {
        const PRIVATE: &[u8] = b"$serde_json::private::";
        self.short_enough(key)?;
        let unescaped = || Unescaped::new(key.raw(self.text));
        if unescaped().eq(b"__proto__".iter().copied()) || unescaped().take(PRIVATE.len()).eq(PRIVATE.iter().copied()) {
            self.refuse_unless(Switch::ForbiddenKeys, key.start)?;
        }
        Ok(())
    }

    fn short_enough(&mut self, key: &Token) -> Result<(), Halt> {
        if Unescaped::new(key.raw(self.text)).nth(MAX_KEY).is_some() {
            self.refuse_unless(Switch::LongKeys, key.start)?;
        }
        Ok(())
    }

    #[cold]
    fn close_large(&mut self) -> Result<(), Halt> {
        self.keys.close_large(self.text).map_err(|trouble| self.halt(trouble))
    }

    /// The end of a string, from the first byte on that may need a look, and whether it is without escapes.
    #[inline(never)]
    fn string_from(&mut self, mut at: usize, key: bool) -> Result<(usize, bool), Halt> {
        let mut plain = true;
        // Most strings without escapes end within this; between escapes the runs are shorter.
        at = short_run(self.text, at);
        loop {
            at = if self.stop_beyond_ascii {
                clean_run::<true>(self.text, at)
            } else {
                clean_run::<false>(self.text, at)
            };
            match self.text.get(at) {
                Some(b'"') => return Ok((at + 1, plain)),
                Some(b'\\') => {
                    plain = false;
                    at = match self.text.get(at + 1) {
                        Some(b'n' | b'"' | b'\\' | b'/' | b't' | b'r' | b'b' | b'f') => at + 2,
                        _ => self.unicode_escape(at, key)?,
                    };
                }
                _ => at = self.odd_byte(at)?,
            }
        }
    }

    fn unicode_escape(&mut self, at: usize, key: bool) -> Result<usize, Halt> {
        let (escape, end) = escape(self.text, at).map_err(|fault| self.unexpected(fault.code, fault.at))?;
        match escape {
            Escape::Char(_) => {}
            Escape::Lone(_) => self.refuse_unless(Switch::LoneSurrogates, at)?,
            Escape::Nul if key => self.refuse_unless(Switch::EscapedNulInKeys, at)?,
            Escape::Nul => self.refuse_unless(Switch::EscapedNul, at)?,
        }
        Ok(end)
    }

    /// In a string: a control character, the text's end, or a byte beyond ASCII. At the first of those the rest of the text is
    /// proved to be UTF-8; later ones are looked at where line separators are refused. Gives the place to go on from.
    #[cold]
    fn odd_byte(&mut self, at: usize) -> Result<usize, Halt> {
        let rest = self.text.get(at..).unwrap_or_default();
        let byte = match rest.first() {
            None => return Err(self.unexpected(Code::UnexpectedEnd, at)),
            Some(byte @ 0x80..) => byte,
            Some(_) => return Err(self.fault(Code::ControlInString, at)),
        };
        if !self.proved {
            self.prove(at);
            return Ok(at);
        }
        if SEPARATORS.iter().any(|separator| rest.starts_with(separator)) {
            return Err(self.fault(Code::LineSeparator, at));
        }
        // The leading byte of a proved character says how long it is.
        Ok(at + byte.leading_ones() as usize)
    }

    /// Proves that the text from `at` on is UTF-8, or cuts it before the first sequence that is not.
    #[cold]
    fn prove(&mut self, at: usize) {
        if let Err(error) = core::str::from_utf8(self.text.get(at..).unwrap_or_default()) {
            self.text = self.text.get(..at + error.valid_up_to()).unwrap_or_default();
            self.ahead = self.text;
        }
        self.proved = true;
        self.stop_beyond_ascii = !self.rules.allowed.contains(Switch::Separators);
    }

    /// The number that begins at `at`: its end.
    #[inline(never)]
    fn number_slowly(&mut self, at: usize) -> Result<usize, Halt> {
        match number(self.text, at) {
            Ok(number) => {
                if !number.needs.is_empty() {
                    self.odd_number(number.needs, at)?;
                }
                Ok(number.end)
            }
            Err(fault) => Err(self.unexpected(fault.code, fault.at)),
        }
    }

    #[cold]
    fn odd_number(&mut self, needs: Switches, at: usize) -> Result<(), Halt> {
        let allowed = self.rules.allowed;
        let needs = if needs.minus(allowed).is_empty() { needs } else { Switches::NONE.with(Switch::NumberRange) };
        if !needs.minus(allowed).is_empty() {
            return Err(self.fault(Code::NumberRange, at));
        }
        self.needed = self.needed.union(needs);
        Ok(())
    }

    /// The negative number or literal that begins at `at` with `byte`: its end.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn other_scalar(&mut self, at: usize, byte: u8) -> Result<usize, Halt> {
        let rest = self.text.get(at..).unwrap_or_default();
        if rest.starts_with(b"true") || rest.starts_with(b"null") {
            Ok(at + 4)
        } else if rest.starts_with(b"false") {
            Ok(at + 5)
        } else if byte == b'-' {
            self.number_slowly(at)
        } else {
            Err(self.no_value(at, byte))
        }
    }

    /// What begins at `at` is no value: where it stops being one.
    #[cold]
    fn no_value(&mut self, mut at: usize, byte: u8) -> Halt {
        let word: &[u8] = match byte {
            b't' => b"true",
            b'f' => b"false",
            b'n' => b"null",
            _ => b"",
        };
        for &letter in word {
            if self.text.get(at) != Some(&letter) {
                break;
            }
            at += 1;
        }
        self.unexpected(Code::UnexpectedByte, at)
    }

    #[cold]
    fn refuse_unless(&mut self, switch: Switch, at: usize) -> Result<(), Halt> {
        if !self.rules.allowed.contains(switch) {
            return Err(self.fault(switch.code(), at));
        }
        self.needed = self.needed.with(switch);
        Ok(())
    }

    /// The byte at `at` can't stand there; or the text ends, or a byte that is no UTF-8 comes first.
    #[cold]
    fn unexpected(&mut self, code: Code, at: usize) -> Halt {
        if !self.proved && self.text.get(at).is_some_and(|byte| *byte >= 0x80) {
            self.prove(at);
        }
        let code = if at < self.text.len() {
            code
        } else if self.text.len() < self.whole {
            Code::InvalidUtf8
        } else {
            Code::UnexpectedEnd
        };
        self.fault(code, at)
    }

    #[cold]
    fn fault(&mut self, code: Code, at: usize) -> Halt {
        self.halt(Trouble::Fault(Fault { code, at }))
    }

    #[cold]
    fn halt(&mut self, trouble: Trouble) -> Halt {
        self.trouble = trouble;
        Halt
    }

    /// Why the walk ended: of the fault that ended it and the duplicates that wait in large objects, the one met first.
    #[cold]
    fn stop(&mut self) -> Stop {
        let fault = match self.trouble {
            Trouble::Short => return Stop::ShortTable,
            Trouble::Unfold => return Stop::Unfold,
            Trouble::Fault(fault) => fault,
        };
        if !self.unique_keys {
            return Stop::Fault(fault);
        }
        match self.keys.pending(self.text) {
            Ok(Some(waiting)) if (waiting.at, waiting.code) < (fault.at, fault.code) => Stop::Fault(waiting),
            Err(Trouble::Unfold) => Stop::Unfold,
            _ => Stop::Fault(fault),
        }
    }
}
