//! Why arguments don't fit an action (502): what is wrong, at which value, and the member as the host's type names it.

use crate::json::Cursor;

/// Arguments that an action doesn't take.
#[derive(Clone, Copy, Debug)]
pub struct Misfit<'a> {
    pub(super) wrong: Wrong,
    /// The value or key it is about.
    pub(super) at: Option<Cursor<'a>>,
    pub(super) member: Option<&'static str>,
}

/// What can be wrong with arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wrong {
    /// A required member is missing.
    Missing,
    /// There is a member that the action doesn't know.
    Unknown,
    /// A value is of another JSON type than the action's.
    Type,
    /// A value is of the right type, but out of its range or form.
    Value,
    /// A string written with escapes is longer than the host has room for.
    Room,
}

impl Wrong {
    /// The fault as a sentence without its full stop.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Missing => "A required member is missing",
            Self::Unknown => "There is a member that the tool does not know",
            Self::Type => "A value has a JSON type that the tool does not take there",
            Self::Value => "A value is out of its range or form",
            Self::Room => "A string written with escapes is longer than there is room for",
        }
    }
}

impl<'a> Misfit<'a> {
    /// What is wrong, and where: the value, or the key of a member that isn't known; of a missing member the object that
    /// lacks it.
    #[must_use]
    pub const fn new(wrong: Wrong, at: Cursor<'a>) -> Self {
        Self { wrong, at: Some(at), member: None }
    }

    /// The same, with the member it is about: a name of the host's own, which the reply may repeat.
    #[must_use]
    pub const fn of_member(mut self, member: &'static str) -> Self {
        self.member = Some(member);
        self
    }

    /// What is wrong.
    #[must_use]
    pub const fn wrong(&self) -> Wrong {
        self.wrong
    }

    /// The member it is about, if that is known.
    #[must_use]
    pub const fn member(&self) -> Option<&'static str> {
        self.member
    }

    /// Whether the place is known, else this one.
    #[cfg(feature = "typed")]
    pub(super) fn within(mut self, value: Cursor<'a>, member: Option<&'static str>) -> Self {
        if self.at.is_none() {
            self.at = Some(value);
            self.member = self.member.or(member);
        }
        self
    }
}

impl core::fmt::Display for Misfit<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.wrong.text())?;
        self.member.map_or(Ok(()), |member| write!(f, ": {member}"))
    }
}

impl core::error::Error for Misfit<'_> {}
