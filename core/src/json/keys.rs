//! Unique keys: no two keys of one object equal after unescaping (209), nor, where the switch refuses it, after case
//! folding (212).
//!
//! One table of 8-byte entries (hash and position) holds the keys of all open objects, each object's behind a slot that
//! remembers where its parent's begin. Up to [`FEW`] keys an object's entries are compared as they come; beyond, they
//! are only pushed, and sorted when the object closes or when any other fault ends the walk, so that thousands of keys cost
//! a sort and the earliest duplicate is still the one that is named. Equal hashes are compared by bytes: the check is exact.
//!
//! Both hashes are keyed. As keys of at most 16 bytes come, [`KeyHash::glance`] takes their two words, coarsely folded; it may
//! collide, which among so few and so short keys costs little. For longer keys, and for all before a sort, there is
//! [`KeyHash::full`]: up to 16 bytes by a multilinear form over 32-bit words with secret 64-bit factors, whose upper half
//! collides for any two given keys with probability 2^-32 (Dietzfelbinger 1996; Lemire and Kaser 2014), longer keys after
//! passing their earlier blocks through a polynomial modulo 2^61-1 with a secret point. A peer that doesn't know the key
//! can't write keys that collide more often than chance, so nobody can craft a quadratic line.

use core::hash::Hasher as _;

use siphasher::sip::SipHasher24;

use super::Token;
use super::string::{Folded, Unescaped, Words};
use crate::code::{Code, Fault};
use crate::find::{self, SMALL};
use crate::limits::AuditKey;

/// Keys of an object that are compared one by one as they come.
const FEW: usize = 32;

/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;

/// The Mersenne prime 2^61-1.
const P: u64 = (1 << 61) - 1;

/// The secrets of the key hashes.
pub(crate) struct KeyHash {
    factors: [u64; 7],
    add: u64,
    odd: u64,
    point: u64,
}

impl KeyHash {
    /// Secrets drawn from the gate's audit key.
    pub(crate) fn new(key: AuditKey) -> Self {
        if SMALL {
            return Self { factors: [0; 7], add: 0, odd: 0, point: 0 };
        }
        let draw = |n: u64| {
            let mut hasher = SipHasher24::new_with_key(&key.0);
            hasher.write_u64(n);
            hasher.finish()
        };
        Self {
            factors: [draw(1), draw(2), draw(3), draw(4), draw(5), draw(6), draw(7)],
            add: draw(8),
            odd: draw(9) | 1,
            point: draw(10) % P,
        }
    }

    /// The quick hash of a key of at most 16 bytes, by its words. `case` has the bits that are not looked at.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn glance(&self, words: Words, case: u64) -> u32 {
        let sum = ((words.low | case) ^ self.add).wrapping_add((words.high | case).rotate_left(27));
        (sum.wrapping_mul(self.odd) >> 32) as u32
    }

    /// The hash of a key that nobody can make collide, from its bytes one by one.
    fn full(&self, bytes: impl Iterator<Item = u8>) -> u32 {
        let (mut block, mut filled, mut len, mut carry) = (0u128, 0u32, 0u64, 0u64);
        for byte in bytes {
            if filled == 16 {
                carry = self.absorb(carry, block);
                (block, filled) = (0, 0);
            }
            block |= u128::from(byte) << (8 * filled);
            filled += 1;
            len += 1;
        }
        self.last(carry, block, len)
    }

    /// The same of a key without escapes, all ASCII, 16 bytes at a time.
    fn full_plain(&self, raw: &[u8], fold: bool) -> u32 {
        let block = |raw: &[u8]| {
            let words = Words::short(raw);
            if fold { words.lower().join() } else { words.join() }
        };
        let (mut carry, mut rest) = (0, raw);
        while let Some((whole, behind)) = rest.split_at_checked(16).filter(|(_, behind)| !behind.is_empty()) {
            carry = self.absorb(carry, block(whole));
            rest = behind;
        }
        self.last(carry, block(rest), raw.len() as u64)
    }

    /// The polynomial's value with one more block.
    fn absorb(&self, mut carry: u64, block: u128) -> u64 {
        for shift in [0, 32, 64, 96] {
            carry = times(carry, self.point) + ((block >> shift) as u64 & HALF) + 1;
            carry = if carry >= P { carry - P } else { carry };
        }
        carry
    }

    /// The multilinear form over the last block, the key's length, and the polynomial of the blocks before.
    fn last(&self, carry: u64, block: u128, len: u64) -> u32 {
        let words =
            [block as u64 & HALF, (block >> 32) as u64 & HALF, (block >> 64) as u64 & HALF, (block >> 96) as u64];
        let rest = [len, carry & HALF, carry >> 32];
        let sum = words
            .iter()
            .chain(&rest)
            .zip(&self.factors)
            .fold(self.add, |sum, (word, factor)| sum.wrapping_add(factor.wrapping_mul(*word)));
        (sum >> 32) as u32
    }
}

/// A hash's bit in a filter.
#[cfg_attr(not(feature = "small"), inline(always))]
const fn bit(hash: u32) -> u64 {
    1 << (hash >> 26)
}

/// A product modulo 2^61-1.
fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let sum = (product as u64 & P) + (product >> 61) as u64;
    if sum >= P { sum - P } else { sum }
}

/// The words of a key, from its bytes one by one, if they are no more than 16.
fn words(bytes: impl Iterator<Item = u8>) -> Option<Words> {
    let (mut both, mut len) = (0u128, 0u32);
    for byte in bytes {
        if len == 16 {
            return None;
        }
        both |= u128::from(byte) << (8 * len);
        len += 1;
    }
    Some(Words::split(both))
}

/// How two keys compare.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Different,
    Folded,
    Equal,
}

/// Why a key or an object can't be taken.
pub(super) enum Trouble {
    Fault(Fault),
    /// The table is shorter than the limits allow; a longer one may do.
    Short,
    /// Keys that fold alike are allowed and there are some: hash the keys unfolded from the start.
    Unfold,
}

/// The keys alive on the path from the root.
pub(super) struct Keys<'k> {
    table: &'k mut [u64],
    hash: &'k KeyHash,
    /// What the quick hash doesn't look at: the bit that tells upper from lower case, where keys are to fold.
    case: u64,
    /// Hash folded keys, so that 212 is seen.
    fold: bool,
    /// Whether two keys that fold alike are a fault.
    refuse_folded: bool,
    /// Where the table counts as full: the most keys, and a slot for each open object.
    limit: usize,
    base: usize,
    top: usize,
    /// One bit for each hash among the innermost object's keys, six bits of it looked at.
    filter: u64,
}

impl<'k> Keys<'k> {
    pub(super) fn new(
        table: &'k mut [u64],
        hash: &'k KeyHash,
        max_keys: usize,
        fold: bool,
        refuse_folded: bool,
    ) -> Self {
        let case = if fold { 0x2020_2020_2020_2020 } else { 0 };
        Self { table, hash, case, fold, refuse_folded, limit: max_keys, base: 0, top: 0, filter: 0 }
    }

    /// Begins an object. False where the table has no slot left for it.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(super) fn open(&mut self) -> bool {
        let Some(slot) = self.table.get_mut(self.top) else { return false };
        // What is kept of the filter is one half laid over the other: it may only say too often that a key isn't new.
        *slot = self.filter & !HALF | self.filter << 32 | self.base as u64;
        self.top += 1;
        self.base = self.top;
        self.filter = 0;
        self.limit += 1;
        true
    }

    /// Takes the key of the innermost object whose opening quote stands at `start`, without escapes and all ASCII, if it is
    /// surely new and there is room for it. Where it gives false nothing was done, and [`take`](Self::take) decides.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(super) fn take_new(&mut self, start: usize, words: Words) -> bool {
        let hash = self.hash.glance(words, self.case);
        self.top < self.limit && self.filter & bit(hash) == 0 && self.push(hash, start)
    }

    /// Takes a key that is known to be new, without looking at it, if there is room.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(super) fn count(&mut self, start: usize) -> bool {
        let Some(slot) = self.table.get_mut(self.top).filter(|_| self.top < self.limit) else { return false };
        *slot = start as u64;
        self.top += 1;
        true
    }

    /// Hashes the innermost object's keys where they were only counted.
    pub(super) fn hash_counted(&mut self, text: &[u8]) {
        for slot in self.table.get_mut(self.base..self.top).unwrap_or_default() {
            let hash = self.hash.glance(Words::short(raw_key(text, *slot as u32 as usize)), self.case);
            *slot = u64::from(hash) << 32 | *slot & HALF;
            self.filter |= bit(hash);
        }
    }

    /// Takes a key as [`take_new`](Self::take_new) does, be it new or not.
    #[inline(never)]
    pub(super) fn take(&mut self, text: &[u8], start: usize, words: Words) -> Result<(), Trouble> {
        self.take_hashed(text, start, self.hash.glance(words, self.case))
    }

    /// Takes any key.
    pub(super) fn take_any(&mut self, text: &[u8], key: &Token) -> Result<(), Trouble> {
        let raw = key.raw(text);
        let hash = if SMALL {
            // Each key is compared with each.
            0
        } else if key.plain && raw.len() > 16 && raw.is_ascii() {
            self.hash.full_plain(raw, self.fold)
        } else {
            let short = if self.fold { words(Folded::new(raw)) } else { words(Unescaped::new(raw)) };
            short.map_or_else(|| self.full(raw), |words| self.hash.glance(words, self.case))
        };
        self.take_hashed(text, key.start, hash)
    }

    /// The full hash of a key, folded if keys are.
    fn full(&self, raw: &[u8]) -> u32 {
        if self.fold { self.hash.full(Folded::new(raw)) } else { self.hash.full(Unescaped::new(raw)) }
    }

    fn take_hashed(&mut self, text: &[u8], start: usize, hash: u32) -> Result<(), Trouble> {
        let entries = self.table.get(self.base..self.top).unwrap_or_default();
        if self.top >= self.limit {
            // The table is full; but where this very key is a duplicate, that is the lower code.
            let code = match self.repeats(text, entries, hash, start)? {
                Some(Code::DuplicateKey) => Code::DuplicateKey,
                _ => Code::TooManyKeys,
            };
            return Err(Trouble::Fault(Fault { code, at: start }));
        }
        if (SMALL || entries.len() <= FEW)
            && let Some(code) = self.repeats(text, entries, hash, start)?
        {
            return Err(Trouble::Fault(Fault { code, at: start }));
        }
        if self.push(hash, start) { Ok(()) } else { Err(Trouble::Short) }
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn push(&mut self, hash: u32, start: usize) -> bool {
        let Some(slot) = self.table.get_mut(self.top) else { return false };
        *slot = u64::from(hash) << 32 | start as u64;
        self.filter |= bit(hash);
        self.top += 1;
        true
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn pop(&mut self) {
        self.limit -= 1;
        self.top = self.base - 1;
        let slot = self.table.get(self.top).copied().unwrap_or(0);
        self.base = slot as u32 as usize;
        self.filter = slot & !HALF | slot >> 32;
    }

    /// Ends the innermost object if it is small, so that its keys were compared as they came. Where it gives false nothing was
    /// done, and [`close_large`](Self::close_large) decides.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(super) fn close_small(&mut self) -> bool {
        if !SMALL && self.top - self.base > FEW {
            return false;
        }
        self.pop();
        true
    }

    /// Ends the innermost object, which is large.
    #[cold]
    pub(super) fn close_large(&mut self, text: &[u8]) -> Result<(), Trouble> {
        if let Some(fault) = self.sorted(text, self.base, self.top)? {
            return Err(Trouble::Fault(fault));
        }
        self.pop();
        Ok(())
    }

    /// The earliest duplicate that waits in the open objects, the key at which the walk stopped among them.
    #[cold]
    pub(super) fn pending(&mut self, text: &[u8]) -> Result<Option<Fault>, Trouble> {
        if SMALL {
            return Ok(None);
        }
        let (mut base, mut top) = (self.base, self.top);
        let mut first: Option<Fault> = None;
        while base > 0 {
            if top - base > FEW
                && let Some(fault) = self.sorted(text, base, top)?
            {
                // An outer object's waiting key stands before everything in an inner one.
                first = Some(fault);
            }
            top = base - 1;
            base = self.table.get(top).map_or(0, |&slot| slot as u32 as usize);
        }
        Ok(first)
    }

    /// Whether the key at `at` repeats one of the entries.
    fn repeats(&self, text: &[u8], entries: &[u64], hash: u32, at: usize) -> Result<Option<Code>, Trouble> {
        let mut worst = Likeness::Different;
        for &entry in entries {
            if (entry >> 32) as u32 == hash {
                match likeness(text, entry as u32 as usize, at) {
                    Likeness::Equal => return Ok(Some(Code::DuplicateKey)),
                    Likeness::Folded => worst = Likeness::Folded,
                    Likeness::Different => {}
                }
            }
        }
        match worst {
            // Unfolded hashing leaves folded equality to chance, and it is allowed then.
            Likeness::Folded if self.refuse_folded => Ok(Some(Code::CaseCollision)),
            Likeness::Folded if self.fold => Err(Trouble::Unfold),
            _ => Ok(None),
        }
    }

    /// The earliest key among the entries from `base` to `top` that repeats one before it.
    #[cold]
    fn sorted(&mut self, text: &[u8], base: usize, top: usize) -> Result<Option<Fault>, Trouble> {
        for place in base..top {
            let at = self.table.get(place).map_or(0, |&entry| entry as u32);
            let hash = self.full(raw_key(text, at as usize));
            if let Some(entry) = self.table.get_mut(place) {
                *entry = u64::from(hash) << 32 | u64::from(at);
            }
        }
        if let Some(entries) = self.table.get_mut(base..top) {
            sort(entries);
        }
        let mut rest = self.table.get(base..top).unwrap_or_default();
        let mut first: Option<Fault> = None;
        while let Some(&head) = rest.first() {
            let hash = (head >> 32) as u32;
            let run = rest.iter().take_while(|&&entry| (entry >> 32) as u32 == hash).count();
            let (equal, others) = rest.split_at_checked(run).unwrap_or((rest, &[]));
            for (n, &entry) in equal.iter().enumerate().skip(1) {
                let at = entry as u32 as usize;
                if first.is_some_and(|fault| fault.at < at) {
                    break;
                }
                if let Some(code) = self.repeats(text, equal.get(..n).unwrap_or_default(), hash, at)? {
                    first = Some(Fault { code, at });
                    break;
                }
            }
            rest = others;
        }
        Ok(first)
    }
}

/// Compares the keys whose opening quotes stand at `a` and `b`.
#[cold]
fn likeness(text: &[u8], a: usize, b: usize) -> Likeness {
    let (a, b) = (raw_key(text, a), raw_key(text, b));
    let simple = |raw: &[u8]| raw.is_ascii() && find::byte(b'\\', raw).is_none();
    if simple(a) && simple(b) {
        return match (a == b, a.eq_ignore_ascii_case(b)) {
            (true, _) => Likeness::Equal,
            (false, true) => Likeness::Folded,
            (false, false) => Likeness::Different,
        };
    }
    if Unescaped::new(a).eq(Unescaped::new(b)) {
        Likeness::Equal
    } else if Folded::new(a).eq(Folded::new(b)) {
        Likeness::Folded
    } else {
        Likeness::Different
    }
}

/// The bytes between the quotes of the key whose opening quote stands at `at`.
fn raw_key(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at + 1..).unwrap_or_default();
    rest.get(..closing_quote(rest)).unwrap_or_default()
}

/// Where a checked string ends that begins at the start of `text`.
pub(super) fn closing_quote(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(skip) = find::either(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += skip;
        if text.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    text.len()
}

/// Heap sort: in place, O(n log n) whatever the input, and, unlike the library's, without a path that can panic.
fn sort(entries: &mut [u64]) {
    fn sift(entries: &mut [u64], mut root: usize, len: usize) {
        loop {
            let left = 2 * root + 1;
            let at = |n: usize| entries.get(n).copied().unwrap_or(0);
            if left >= len {
                return;
            }
            let child = if left + 1 < len && at(left) < at(left + 1) { left + 1 } else { left };
            if at(root) >= at(child) {
                return;
            }
            swap(entries, root, child);
            root = child;
        }
    }
    fn swap(entries: &mut [u64], a: usize, b: usize) {
        let (x, y) = (entries.get(a).copied(), entries.get(b).copied());
        if let (Some(x), Some(y)) = (x, y) {
            if let Some(slot) = entries.get_mut(a) {
                *slot = y;
            }
            if let Some(slot) = entries.get_mut(b) {
                *slot = x;
            }
        }
    }
    let len = entries.len();
    for root in (0..len / 2).rev() {
        sift(entries, root, len);
    }
    for end in (1..len).rev() {
        swap(entries, 0, end);
        sift(entries, 0, end);
    }
}
