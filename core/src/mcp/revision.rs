//! The published revisions of the Model Context Protocol, and the two ways of not naming one.

use core::fmt;

/// Which protocol the lines of a session speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Revision {
    /// MCP of any revision: a line is refused only where every revision refuses it.
    #[default]
    Auto,
    /// Plain JSON-RPC 2.0, no MCP: params may be an array, a result anything.
    JsonRpc,
    /// MCP 2024-11-05.
    V2024_11_05,
    /// MCP 2025-03-26, the only one with batches.
    V2025_03_26,
    /// MCP 2025-06-18.
    V2025_06_18,
    /// MCP 2025-11-25.
    V2025_11_25,
    /// MCP 2026-07-28.
    V2026_07_28,
}

impl Revision {
    /// Every value, in the order of their names on the command line.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::JsonRpc,
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The name as the wire and `--revision` spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::JsonRpc => "jsonrpc",
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Whether the session speaks MCP at all.
    #[must_use]
    pub const fn is_mcp(self) -> bool {
        !matches!(self, Self::JsonRpc)
    }

    /// Whether the schema has no null id: an error without a readable id then carries none.
    #[must_use]
    pub const fn omits_error_id(self) -> bool {
        matches!(self, Self::V2025_11_25 | Self::V2026_07_28)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
