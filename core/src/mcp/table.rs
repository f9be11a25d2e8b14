//! The words of the method tables: a set of revisions, a set of JSON types, a member, a method.
//!
//! One method is one row, whatever the number of revisions that have it: each fact names the revisions in which it holds. So
//! a line can be judged by all of them at once, and a build that names one revision links the rows of that one alone.

use crate::find::SMALL;
use crate::json::{Cursor, Kind, Unescaped, Words, is_integer, is_integral, is_safe_integer};

/// A set of published revisions, one bit each, the oldest lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Set(u8);

impl Set {
    pub(crate) const NONE: Self = Self(0);
    /// 2024-11-05 to 2026-07-28.
    pub(crate) const ALL: Self = Self(0b1_1111);
    /// 2025-03-26.
    pub(crate) const BATCHES: Self = Self(0b0_0010);
    /// From 2025-06-18 on.
    pub(crate) const NAMED_META: Self = Self(0b1_1100);
    /// 2025-11-25, the newest that begins with a handshake.
    pub(crate) const NEWEST_LEGACY: Self = Self(0b0_1000);
    /// 2026-07-28.
    pub(crate) const MODERN: Self = Self(0b1_0000);
    /// Those that begin with a handshake.
    pub(crate) const LEGACY: Self = Self::ALL.minus(Self::MODERN);

    /// The set of these letters: `A` is 2024-11-05, `E` is 2026-07-28.
    pub(super) const fn of(letters: &str) -> Self {
        let mut bits = 0;
        let mut rest = letters.as_bytes();
        while let [letter, others @ ..] = rest {
            assert!(*letter >= b'A' && *letter <= b'E', "no such revision");
            bits |= 1 << (*letter - b'A');
            rest = others;
        }
        Self(bits)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn is_one(self) -> bool {
        self.0.is_power_of_two()
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        !self.and(other).is_empty()
    }

    /// The revisions of the set one by one.
    pub(crate) fn oldest_first(self) -> impl DoubleEndedIterator<Item = Self> {
        (0..5).map(|bit| Self(1 << bit)).filter(move |one| self.meets(*one))
    }

    /// The same, the newest first.
    pub(crate) fn newest_first(self) -> impl Iterator<Item = Self> {
        self.oldest_first().rev()
    }

    /// The name of its one revision, of these, the oldest first.
    pub(crate) fn name(self, names: &[&'static str]) -> Option<&'static str> {
        if self.is_one() { names.get(self.0.trailing_zeros() as usize).copied() } else { None }
    }

    /// Whether arguments that don't fit a tool are answered by a result that says so, no error: from 2025-11-25 on.
    pub(crate) const fn reports_arguments_as_results(self) -> bool {
        !self.is_empty() && self.minus(Self(0b1_1000)).is_empty()
    }

    /// Whether an error without a readable id has no member `id`, for the schema has no null id.
    pub(crate) const fn omits_error_id(self) -> bool {
        self.0 == 0b0_1000 || self.0 == 0b1_0000
    }
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    const OBJECT: u8 = 1 << Kind::Object as u8;
    const ARRAY: u8 = 1 << Kind::Array as u8;
    const STRING: u8 = 1 << Kind::String as u8;
    const NUMBER: u8 = 1 << Kind::Number as u8;
    const BOOLEAN: u8 = 1 << Kind::Bool as u8;
    const NULL: u8 = 1 << Kind::Null as u8;
    const INTEGER: u8 = 1 << 6;
    /// A string or an integer under the rules of request ids (306 to 308).
    const ID: u8 = 1 << 7;

    /// The types of these names, parted by `|`; `any` is every one.
    #[expect(clippy::panic, reason = "evaluated at compile time")]
    pub(super) const fn of(names: &str) -> Self {
        let mut bits = 0;
        let mut rest = names.as_bytes();
        while !rest.is_empty() {
            let (bit, others): (u8, &[u8]) = match rest {
                [b's', b't', b'r', b'i', b'n', b'g', others @ ..] => (Self::STRING, others),
                [b'n', b'u', b'm', b'b', b'e', b'r', others @ ..] => (Self::NUMBER, others),
                [b'i', b'n', b't', b'e', b'g', b'e', b'r', others @ ..] => (Self::INTEGER, others),
                [b'b', b'o', b'o', b'l', b'e', b'a', b'n', others @ ..] => (Self::BOOLEAN, others),
                [b'o', b'b', b'j', b'e', b'c', b't', others @ ..] => (Self::OBJECT, others),
                [b'a', b'r', b'r', b'a', b'y', others @ ..] => (Self::ARRAY, others),
                [b'n', b'u', b'l', b'l', others @ ..] => (Self::NULL, others),
                [b'i', b'd', others @ ..] => (Self::ID, others),
                [b'a', b'n', b'y', others @ ..] => (!Self::ID, others),
                [b'|', others @ ..] => (0, others),
                _ => panic!("no such type"),
            };
            bits |= bit;
            rest = others;
        }
        Self(bits)
    }

    /// Whether a value of that kind fits, whatever its text. What doesn't may still, for its text.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(super) const fn fit_all(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    /// Whether an integer of few digits fits.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(super) const fn fit_integers(self) -> bool {
        self.0 & (Self::INTEGER | Self::ID) != 0
    }

    /// Whether a string that is no longer than an id may be fits.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(super) const fn fit_short_strings(self) -> bool {
        self.0 & (Self::STRING | Self::ID) != 0
    }

    /// Whether the value fits.
    pub(super) fn fit(self, value: &Cursor<'_>, max_id: usize) -> bool {
        let token = value.bytes();
        let has = |bit: u8| self.0 & bit != 0;
        self.fit_all(value.kind())
            || match value.kind() {
                Kind::String => has(Self::ID) && value.inside().len() <= max_id,
                Kind::Number => {
                    (has(Self::INTEGER) && is_integral(token))
                        || (has(Self::ID) && is_integer(token) && is_safe_integer(token))
                }
                _ => false,
            }
    }
}

/// The words of a name, by which it is compared where it is short; a small build compares texts alone.
#[derive(Clone, Copy)]
pub(crate) struct Short(#[cfg(not(feature = "small"))] Words);

#[cfg(not(feature = "small"))]
impl Short {
    const fn of(name: &str) -> Self {
        Self(Words::of(name))
    }

    /// Whether a key with these words has the name.
    #[inline(always)]
    pub(super) fn is(self, words: Words) -> bool {
        self.0.are(words)
    }

    /// Whether a key with these words folds to the same as the name.
    pub(super) fn is_like(self, words: Words) -> bool {
        self.0 != Words::NONE && words.lower() == self.0.lower()
    }
}

#[cfg(feature = "small")]
impl Short {
    const fn of(_: &str) -> Self {
        Self()
    }

    /// No key of a small build has words.
    pub(super) const fn is(self, _: Words) -> bool {
        false
    }

    /// Nor this.
    pub(super) const fn is_like(self, _: Words) -> bool {
        false
    }
}

/// A name of the protocol, with its words.
pub(super) struct Name {
    pub(super) text: &'static str,
    pub(super) words: Short,
}

impl Name {
    pub(super) const fn new(text: &'static str) -> Self {
        Self { text, words: Short::of(text) }
    }
}

/// A member of params, of an object directly in it, or of a result.
pub(super) struct Member {
    pub(super) name: Name,
    /// What its value must be in the revisions that know it.
    pub(super) types: Types,
    /// The revisions that know it; in the others it is a member like any.
    pub(super) known: Set,
    /// Those in which it must be there. Such members come first in their list.
    pub(super) required: Set,
    /// The kinds of message in which it is judged; others may carry it all the same.
    pub(super) carriers: Carriers,
    /// What else holds of it, if anything.
    pub(super) rule: Option<&'static Rule>,
    /// The members of its value.
    pub(super) below: &'static [Self],
}

/// The rarer rules on a member.
pub(super) struct Rule {
    /// The only values it may have; none: any.
    pub(super) values: &'static [&'static str],
    /// What each value or element in it must be.
    pub(super) each: Option<Types>,
    /// Where it is required at all.
    pub(super) when: Option<When>,
}

/// The case in which a member is required: a sibling has one of these values.
pub(super) struct When {
    pub(super) sibling: &'static str,
    /// The revisions that know the sibling; in the others it counts as absent.
    pub(super) known: Set,
    pub(super) is: &'static [&'static str],
    /// Or the sibling is absent.
    pub(super) absent: bool,
}

/// The kinds of message, by what carries a `_meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carriers(u8);

impl Carriers {
    pub(super) const REQUEST: Self = Self(1);
    pub(super) const NOTIFICATION: Self = Self(1 << 1);
    pub(super) const RESULT: Self = Self(1 << 2);
    pub(super) const ALL: Self = Self(0b111);

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A method over all revisions.
pub(crate) struct Method {
    pub(super) name: Name,
    /// A request, or else a notification.
    pub(super) request: bool,
    /// The revisions in which a client may send it.
    pub(super) client: Set,
    /// The revisions in which a server may.
    pub(super) server: Set,
    /// Those in which its params must be there.
    pub(super) params_required: Set,
    /// The members of its params, `_meta` last.
    pub(super) params: &'static [Member],
    /// One bit for each of those that some revision requires, by its place.
    pub(super) needed: u32,
    /// Whether a member is required only in some case, so that counting those that are there doesn't suffice.
    pub(super) conditional: bool,
    /// The members of its result.
    pub(super) result: &'static [Member],
    /// The revisions in which its result may ask for input instead.
    pub(super) input_required: Set,
    /// Those in which its result may be a task where its params asked for one.
    pub(super) task_result: Set,
}

impl Method {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.text == name
    }

    /// Whether its params may ask for a task instead of a result.
    pub(crate) const fn may_be_task(&self, revision: Set) -> bool {
        self.task_result.meets(revision)
    }
}

/// The methods of some revisions, each with the words of its name, the one that is called most first.
pub(crate) type Methods = &'static [(Short, &'static Method)];

/// The method of that name, which is given between its quotes.
pub(super) fn method_named(methods: Methods, raw: &[u8], plain: bool, words: Words) -> Option<&'static Method> {
    let mut rows = methods.iter();
    let found = if plain {
        if SMALL || words == Words::NONE {
            rows.find(|(_, method)| method.name.text.as_bytes() == raw)
        } else {
            rows.find(|(short, _)| short.is(words))
        }
    } else {
        rows.find(|(_, method)| Unescaped::new(raw).eq(method.name.text.bytes()))
    };
    found.map(|(_, method)| *method)
}
