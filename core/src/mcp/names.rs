//! Misspelt names inside `params` and `_meta` (the part of rule 313 that needs to know the method).
//!
//! Keys are compared as the walker meets them, which works where `method` stands before `params`, as clients write it. Where
//! it stands behind, the keys of `params` are read once more from the checked text.

use super::tables::{META_ALONE, METHODS, Params};
use crate::json::{Cursor, Token, Unescaped, Words, folds_to};
use crate::rpc::{Inside, Member};

/// A name of the protocol, with its words, by which it is compared where it is short.
pub(super) struct Name {
    text: &'static str,
    words: Words,
}

impl Name {
    pub(super) const fn new(text: &'static str) -> Self {
        Self { text, words: Words::of(text) }
    }

    /// Whether the key, which isn't short, is this name as it is spelt.
    fn is(&self, key: &Key<'_>) -> bool {
        key.token.plain && key.token.raw(key.text) == self.text.as_bytes()
    }

    /// Whether the key folds to the same as this name.
    fn is_like(&self, key: &Key<'_>) -> bool {
        if key.words == Words::NONE {
            folds_to(key.token.raw(key.text), key.token.plain, self.text)
        } else {
            self.words != Words::NONE && key.words.lower() == self.words.lower()
        }
    }
}

/// A key as it was met.
struct Key<'t> {
    text: &'t [u8],
    token: Token,
    /// [`Words::NONE`] if it isn't known to be short, ASCII, and free of escapes.
    words: Words,
}

/// The entry whose name is the key as it is spelt.
#[inline(always)]
fn find<'n, T>(entries: &'n [T], name: impl Fn(&T) -> &Name, key: &Key<'_>) -> Option<&'n T> {
    if key.words == Words::NONE {
        entries.iter().find(|entry| name(entry).is(key))
    } else {
        entries.iter().find(|entry| name(entry).words == key.words)
    }
}

/// Compares the keys of one message with the protocol's names.
pub(crate) struct Names {
    enabled: bool,
    /// The method's params, once its name was read; `_meta` alone for methods the protocol doesn't have.
    params: Option<Params>,
    /// The names that are looked for one level lower than `params` or `result`.
    below: &'static [Name],
    misspelt: Option<usize>,
    late: bool,
}

impl Names {
    /// Under plain JSON-RPC nothing is compared.
    pub(crate) const fn new(enabled: bool) -> Self {
        Self { enabled, params: None, below: &[], misspelt: None, late: false }
    }

    #[inline(always)]
    fn look(&mut self, text: &[u8], member: Member, level: usize, token: Token, words: Words) {
        if level > 1 {
            if words == Words::NONE || self.below.iter().all(|name| name.words != words) {
                self.look_closely_below(&Key { text, token, words });
            }
            return;
        }
        let known = if member == Member::Params { self.params.unwrap_or(META_ALONE) } else { META_ALONE };
        // Nearly all keys of params are short and as they should be.
        self.below = &[];
        match known.iter().find(|(name, _)| name.words == words) {
            Some((_, below)) if words != Words::NONE => self.below = below,
            _ => self.look_closely(member, known, &Key { text, token, words }),
        }
    }

    #[inline(never)]
    fn look_closely(&mut self, member: Member, known: Params, key: &Key<'_>) {
        if let Some((_, below)) = find(known, |(name, _)| name, key) {
            self.below = below;
        } else if member == Member::Params && known.iter().any(|(name, _)| name.is_like(key)) {
            // A result's own members are the tool's; only what is in its _meta has names of the protocol.
            self.note(key.token.start);
        }
    }

    #[inline(never)]
    fn look_closely_below(&mut self, key: &Key<'_>) {
        let names = self.below;
        if find(names, |name| name, key).is_none() && names.iter().any(|name| name.is_like(key)) {
            self.note(key.token.start);
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

    fn method(&mut self, raw: &[u8], plain: bool, words: Words) {
        if !self.enabled {
            return;
        }
        let found = if plain {
            // Sorted by length, so that the names that are short, as the most frequent are, come first.
            if words == Words::NONE {
                METHODS.iter().find(|(name, _)| name.text.as_bytes() == raw)
            } else {
                METHODS.iter().find(|(name, _)| name.words == words)
            }
        } else {
            METHODS.iter().find(|(name, _)| Unescaped::new(raw).eq(name.text.bytes()))
        };
        self.params = Some(found.map_or(META_ALONE, |(_, params)| params));
    }

    #[inline(always)]
    fn key(&mut self, text: &[u8], member: Member, level: usize, key: Token, words: Words) {
        if !self.enabled || (level > 1 && self.below.is_empty()) {
            return;
        }
        if member == Member::Params && self.params.is_none() {
            self.late = true;
            return;
        }
        self.look(text, member, level, key, words);
    }

    #[inline(always)]
    fn goes_below(&self) -> bool {
        !self.below.is_empty()
    }

    #[inline(always)]
    fn is_clean(&self) -> bool {
        self.misspelt.is_none() && !self.late
    }

    fn misspelt(&mut self, text: &[u8], params: &[u8]) -> Option<usize> {
        if self.late {
            let mut look = |level: usize, key: Cursor<'_>| {
                let (start, plain) = (key.place(text), !key.bytes().contains(&b'\\'));
                let token = Token { start, end: start + key.bytes().len(), plain };
                self.look(text, Member::Params, level, token, Words::NONE);
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
