//! Misspelt names inside `params` and `_meta` (the part of rule 313 that needs to know the method).
//!
//! Keys are compared as the walker meets them, which works where `method` stands before `params`, as clients write it. Where
//! it stands behind, the keys of `params` are read once more from the checked text.

use super::tables::{META_ALONE, METHODS, Params};
use crate::json::{Cursor, Token, Unescaped, folds_to};
use crate::rpc::{Inside, Member};

/// Compares the keys of one message with the protocol's names.
pub(crate) struct Names {
    enabled: bool,
    /// The method's params, once its name was read; `_meta` alone for methods the protocol doesn't have.
    params: Option<Params>,
    /// The names that are looked for one level lower than `params` or `result`.
    below: &'static [&'static str],
    misspelt: Option<usize>,
    late: bool,
}

impl Names {
    /// Under plain JSON-RPC nothing is compared.
    pub(crate) const fn new(enabled: bool) -> Self {
        Self { enabled, params: None, below: &[], misspelt: None, late: false }
    }

    fn look(&mut self, member: Member, level: usize, raw: &[u8], plain: bool, at: usize) {
        if level > 1 {
            let names = self.below;
            if !(plain && names.iter().any(|name| name.as_bytes() == raw))
                && names.iter().any(|name| folds_to(raw, plain, name))
            {
                self.note(at);
            }
            return;
        }
        self.below = &[];
        let known = if member == Member::Params { self.params.unwrap_or(META_ALONE) } else { META_ALONE };
        if let Some((_, below)) = known.iter().find(|(name, _)| plain && name.as_bytes() == raw) {
            self.below = below;
        } else if known.iter().any(|(name, _)| folds_to(raw, plain, name)) {
            self.note(at);
        }
    }

    fn note(&mut self, at: usize) {
        if self.misspelt.is_none_or(|first| at < first) {
            self.misspelt = Some(at);
        }
    }
}

impl Inside for Names {
    fn begin(&mut self) {
        *self = Self::new(self.enabled);
    }

    fn method(&mut self, raw: &[u8], plain: bool) {
        if !self.enabled {
            return;
        }
        let found = if !plain {
            METHODS.iter().find(|(name, _)| Unescaped::new(raw).eq(name.bytes()))
        } else {
            // Sorted by length first, so that few names are compared byte by byte.
            let order = |(name, _): &(&str, Params)| name.len().cmp(&raw.len()).then_with(|| name.as_bytes().cmp(raw));
            METHODS.binary_search_by(order).ok().and_then(|found| METHODS.get(found))
        };
        self.params = Some(found.map_or(META_ALONE, |(_, params)| params));
    }

    #[inline(always)]
    fn key(&mut self, text: &[u8], member: Member, level: usize, key: Token) {
        if !self.enabled || (level > 1 && self.below.is_empty()) {
            return;
        }
        if member == Member::Params && self.params.is_none() {
            self.late = true;
            return;
        }
        self.look(member, level, key.raw(text), key.plain, key.start);
    }

    #[inline(always)]
    fn goes_below(&self) -> bool {
        !self.below.is_empty()
    }

    fn misspelt(&mut self, text: &[u8], params: &[u8]) -> Option<usize> {
        if self.late && self.params.is_some() {
            let place = |key: &Cursor<'_>| key.bytes().as_ptr().addr() - text.as_ptr().addr();
            let mut look = |level: usize, key: Cursor<'_>| {
                let raw = key.bytes().get(1..key.bytes().len().wrapping_sub(1)).unwrap_or_default();
                self.look(Member::Params, level, raw, !raw.contains(&b'\\'), place(&key));
            };
            for (key, value) in Cursor::new(params).members() {
                look(1, key);
                for (key, _) in value.members() {
                    look(2, key);
                }
            }
        }
        self.misspelt
    }
}
