//! The published revisions of the Model Context Protocol, and the two ways of not naming one.

use core::fmt;
use core::hash::{Hash, Hasher};

use super::table::{Methods, Set};
#[cfg(feature = "mcp")]
use super::tables;

/// Which protocol the lines of a session speak.
///
/// A revision brings its table of methods along: a program that names one revision links the table of that one alone, a
/// program that names [`AUTO`](Self::AUTO) or [`ALL`](Self::ALL) those of all.
#[derive(Clone, Copy)]
pub struct Revision {
    name: &'static str,
    set: Set,
    methods: Methods,
}

impl Revision {
    /// MCP of any revision: a line is refused only where every revision refuses it. With a [`Tracker`](crate::Tracker) the
    /// session's own lines tell which it is.
    #[cfg(feature = "mcp")]
    pub const AUTO: Self = Self { name: "auto", set: Set::ALL, methods: tables::ALL };
    /// Plain JSON-RPC 2.0, no MCP: params may be an array, a result anything.
    pub const JSON_RPC: Self = Self { name: "jsonrpc", set: Set::NONE, methods: &[] };
    /// MCP 2024-11-05.
    #[cfg(feature = "mcp")]
    pub const V2024_11_05: Self = Self { name: "2024-11-05", set: Set::of("A"), methods: tables::V2024_11_05 };
    /// MCP 2025-03-26, the only one with batches.
    #[cfg(feature = "mcp")]
    pub const V2025_03_26: Self = Self { name: "2025-03-26", set: Set::of("B"), methods: tables::V2025_03_26 };
    /// MCP 2025-06-18.
    #[cfg(feature = "mcp")]
    pub const V2025_06_18: Self = Self { name: "2025-06-18", set: Set::of("C"), methods: tables::V2025_06_18 };
    /// MCP 2025-11-25, the newest that begins with a handshake.
    #[cfg(feature = "mcp")]
    pub const V2025_11_25: Self = Self { name: "2025-11-25", set: Set::of("D"), methods: tables::V2025_11_25 };
    /// MCP 2026-07-28: no handshake, each request says its own version.
    #[cfg(feature = "mcp")]
    pub const V2026_07_28: Self = Self { name: "2026-07-28", set: Set::of("E"), methods: tables::V2026_07_28 };

    /// Every value, in the order of their names on the command line.
    #[cfg(feature = "mcp")]
    pub const ALL: [Self; 7] = [
        Self::AUTO,
        Self::JSON_RPC,
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// Every value of a build without MCP.
    #[cfg(not(feature = "mcp"))]
    pub const ALL: [Self; 1] = [Self::JSON_RPC];

    /// The one that a host gets who asks for none.
    pub(crate) const DEFAULT: Self = Self::ALL[0];

    /// The names of the published revisions, the oldest first.
    pub const PUBLISHED: [&'static str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

    /// The name as the wire and `--revision` spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The revision of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Whether the session speaks MCP at all.
    #[must_use]
    pub const fn is_mcp(self) -> bool {
        !self.set.is_empty()
    }

    /// Whether the revision, a fixed one, has batches.
    pub(crate) fn has_batches(self) -> bool {
        // By the set: a comparison with the revision itself would link its table.
        self.set == Set::BATCHES
    }

    /// The revisions that a line may be judged by.
    pub(crate) const fn set(self) -> Set {
        self.set
    }

    /// Their methods.
    pub(crate) const fn methods(self) -> Methods {
        self.methods
    }
}

impl PartialEq for Revision {
    fn eq(&self, other: &Self) -> bool {
        self.set == other.set
    }
}

impl Eq for Revision {}

impl Hash for Revision {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.set.hash(state);
    }
}

impl Default for Revision {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
