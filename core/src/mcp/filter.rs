//! What can be told of a message's params and result while the walker passes them: whether a key is a protocol name
//! misspelt (the part of rule 313 that needs to know the method), and which revisions certainly take the message.
//!
//! Certainly: whatever is rare (enumerations, cases, odd ids, host's methods, `params` before `method`) is left to
//! [`shape`](super::shape), which reads the message again and is right about everything. Almost no message needs it, and none
//! is refused without it.

use super::meta_key::is_well_formed;
use super::shape::Shapes;
use super::table::{Member as Row, Method, Name, Set, method_named};
use super::tables::{META, META_ALONE, VERSION_PLACE};
use crate::find::SMALL;
use crate::json::{Cursor, Kind, Token, Unescaped, Words, folds_to, is_plain_integer};
use crate::limits::Direction;
use crate::rpc::{Inside, Member, Parts};

impl Name {
    /// Whether the key, which isn't short, is this name as it is spelt.
    fn is(&self, key: &Key<'_>) -> bool {
        key.token.plain && key.token.raw(key.text) == self.text.as_bytes()
    }

    /// Whether the key folds to the same as this name.
    fn is_like(&self, key: &Key<'_>) -> bool {
        if key.words == Words::NONE {
            folds_to(key.token.raw(key.text), key.token.plain, self.text)
        } else {
            self.words.is_like(key.words)
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

/// The row whose name is the key as it is spelt, with its place in the list.
#[cfg_attr(not(feature = "small"), inline(always))]
fn find(rows: &'static [Row], key: &Key<'_>) -> Option<(usize, &'static Row)> {
    let mut rows = rows.iter().enumerate();
    if key.words == Words::NONE {
        rows.find(|(_, row)| row.name.is(key))
    } else {
        rows.find(|(_, row)| row.name.words.is(key.words))
    }
}

/// The revisions that require a member of the list which isn't among those seen.
fn requiring(rows: &[Row], seen: u32) -> Set {
    let required = rows.iter().enumerate().take_while(|(_, row)| !row.required.is_empty());
    let missing = required.filter(|(place, _)| seen & 1 << place == 0);
    missing.fold(Set::NONE, |set, (_, row)| set.or(row.required))
}

/// Follows the keys and values of one message's params or result.
pub(crate) struct Filter<'s> {
    /// None: the walk is for an id alone, and nothing is followed.
    shapes: Option<&'s Shapes>,
    /// The method, once its name was read, if it is one of the protocol's.
    method: Option<&'static Method>,
    /// Whether its name was read.
    named: bool,
    /// The revisions that take all that was met.
    taken: Set,
    /// Which members of params were met, by their place in the list.
    seen: u32,
    /// The row of the key that came last, and its place in its list.
    row: Option<&'static Row>,
    place: usize,
    /// The names in the object one level lower that is passed, and which of them were met.
    below: &'static [Row],
    below_seen: u32,
    misspelt: Option<usize>,
    /// There are keys that weren't looked at when they were met: `params` before the method, or all in a small build.
    late: bool,
    /// Something was met that only a second look can judge.
    unsure: bool,
}

impl<'s> Filter<'s> {
    /// For a stage that has these tables.
    pub(crate) fn new(shapes: &'s Shapes) -> Self {
        let shapes = Some(shapes).filter(|shapes| !shapes.methods.is_empty());
        Self { shapes, late: SMALL, unsure: SMALL, ..Self::IDLE }
    }

    /// Follows nothing.
    pub(crate) const IDLE: Self = Self {
        shapes: None,
        method: None,
        named: false,
        taken: Set::ALL,
        seen: 0,
        row: None,
        place: 0,
        below: &[],
        below_seen: 0,
        misspelt: None,
        late: false,
        unsure: false,
    };

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn look(&mut self, member: Member, level: usize, key: &Key<'_>) {
        if level > 1 {
            if let Some((place, row)) = find(self.below, key) {
                self.below_seen |= 1 << place;
                (self.row, self.place) = (Some(row), place);
            } else {
                self.look_closely_below(key);
            }
            return;
        }
        let known = match self.method {
            Some(method) if member == Member::Params => method.params,
            _ => META_ALONE,
        };
        if let Some((place, row)) = find(known, key) {
            self.seen |= 1 << place;
            (self.row, self.place) = (Some(row), place);
        } else {
            self.look_closely(member, known, key);
        }
    }

    /// A member of params or of a result that is none of the names as they are spelt.
    #[inline(never)]
    fn look_closely(&mut self, member: Member, known: &'static [Row], key: &Key<'_>) {
        self.row = None;
        if member == Member::Params {
            if known.iter().any(|row| row.name.is_like(key)) {
                self.note(key.token.start);
            }
            return;
        }
        // A result's own members are the tool's; what is in its `_meta`, however that is spelt, has names of the protocol.
        let raw = key.token.raw(key.text);
        if !key.token.plain
            && let Some(row) = known.iter().find(|row| Unescaped::new(raw).eq(row.name.text.bytes()))
        {
            self.row = Some(row);
        }
    }

    /// A key one level lower that is none of the names as they are spelt.
    #[inline(never)]
    fn look_closely_below(&mut self, key: &Key<'_>) {
        self.row = None;
        if self.below.iter().any(|row| row.name.is_like(key)) {
            self.note(key.token.start);
        } else if self.is_in_meta() && !(key.token.plain && is_well_formed(key.token.raw(key.text).iter().copied())) {
            self.unsure = true;
        }
    }

    fn is_in_meta(&self) -> bool {
        core::ptr::eq(self.below, META)
    }

    /// A key that wasn't looked at when it was met.
    fn look_late(&mut self, member: Member, level: usize, key: Cursor<'_>, text: &[u8]) {
        let (start, plain) = (key.place(text), !key.bytes().contains(&b'\\'));
        let token = Token { start, end: start + key.bytes().len(), plain };
        self.look(member, level, &Key { text, token, words: Words::NONE });
    }

    /// A value of a kind that doesn't fit whatever its text.
    #[inline(never)]
    fn value_closely(&mut self, shapes: &Shapes, row: &Row, kind: Kind, token: &[u8]) {
        let fits = match kind {
            Kind::Number => row.types.fit_integers() && is_plain_integer(token),
            Kind::String => row.types.fit_short_strings() && token.len() <= shapes.max_id + 2,
            _ => false,
        };
        self.unsure |= !fits;
    }

    fn note(&mut self, at: usize) {
        if self.misspelt.is_none_or(|first| at < first) {
            self.misspelt = Some(at);
        }
    }
}

impl Inside for Filter<'_> {
    type Takers = Set;
    const LOOKS: bool = !SMALL;

    fn begin(&mut self) {
        *self = Self { shapes: self.shapes, late: SMALL, unsure: SMALL, ..Self::IDLE };
    }

    fn method(&mut self, raw: &[u8], plain: bool, words: Words) {
        if let Some(shapes) = self.shapes {
            self.method = method_named(shapes.methods, raw, plain, words);
            self.named = true;
        }
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn key(&mut self, text: &[u8], member: Member, level: usize, key: Token, words: Words) {
        if self.shapes.is_none() {
            return;
        }
        if member == Member::Params && !self.named {
            self.late = true;
            self.unsure = true;
            return;
        }
        self.look(member, level, &Key { text, token: key, words });
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn value(&mut self, text: &[u8], kind: Kind, start: usize, end: usize) {
        let (Some(row), Some(shapes)) = (self.row, self.shapes) else { return };
        let token = || text.get(start..end).unwrap_or_default();
        if row.rule.is_some() {
            self.unsure = true;
        } else if !row.types.fit_all(kind) {
            self.value_closely(shapes, row, kind, token());
        } else if self.place == VERSION_PLACE && self.is_in_meta() && kind == Kind::String {
            self.unsure |= !shapes.serves(token());
        }
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn taken(&mut self, parts: &Parts) -> Set {
        if self.unsure {
            return Set::NONE;
        }
        if parts.get(Member::Method).is_none() {
            // What 2026-07-28 has to say of responses, and of keys of `_meta` from 2025-06-18 on, takes a second look.
            return Set::LEGACY;
        }
        let Some(method) = self.method else { return Set::NONE };
        let request = parts.get(Member::Id).is_some();
        if method.request != request || method.conditional {
            return Set::NONE;
        }
        let Some(shapes) = self.shapes else { return Set::NONE };
        let mut taken =
            self.taken.and(if shapes.from == Direction::FromClient { method.client } else { method.server });
        if parts.get(Member::Params).is_none() {
            taken = taken.minus(method.params_required);
        }
        if self.seen & method.needed != method.needed {
            taken = taken.minus(requiring(method.params, self.seen));
        }
        // In 2026-07-28 each request has a `_meta`, the last of the list; a server has no requests at all.
        let has_meta = self.seen & 1 << (method.params.len() - 1) != 0;
        if request && !(has_meta && shapes.from == Direction::FromClient) { taken.minus(Set::MODERN) } else { taken }
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn enter(&mut self) -> bool {
        let below = self.row.map_or(&[][..], |row| row.below);
        if below.is_empty() {
            return false;
        }
        (self.below, self.below_seen) = (below, 0);
        true
    }

    fn leave(&mut self) {
        if !self.is_in_meta() || self.method.is_some_and(|method| method.request) {
            self.taken = self.taken.minus(requiring(self.below, self.below_seen));
        }
        self.below = &[];
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn is_clean(&self) -> bool {
        self.misspelt.is_none() && !self.late
    }

    fn misspelt(&mut self, text: &[u8], parts: &Parts) -> Option<usize> {
        if !self.late || self.shapes.is_none() {
            return self.misspelt;
        }
        for member in [Member::Params, Member::Result] {
            let Some(object) = parts.get(member).filter(|value| value.kind == Kind::Object) else { continue };
            for (key, value) in Cursor::new(object.of(text)).members() {
                self.look_late(member, 1, key, text);
                if value.kind() == Kind::Object && self.enter() {
                    value.members().for_each(|(key, _)| self.look_late(member, 2, key, text));
                    self.leave();
                }
            }
        }
        self.misspelt
    }
}
