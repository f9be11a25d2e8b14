//! The bounds and switches of the text rules: each with its default, its reason, what it costs in memory, and what the
//! gate's promise loses by it.
//!
//! The promise, whole: every accepted line is cut into the same frames by every newline framer, parsed to the same value
//! by every mainstream JSON parser, and read as the same JSON-RPC message by every peer. It holds to the letter when the
//! set of [allowed](crate::Options::allowed) switches is empty. [`Profile::Strict`] allows two footnotes
//! ([`Switch::Separators`], [`Switch::InexactDecimals`]); every further switch names a quirk that some peer reads otherwise.

use core::fmt;

use crate::code::Code;

/// Longest object key in bytes after unescaping (211). One widely used parser keeps key lengths modulo 65,536.
pub const MAX_KEY: usize = 8192;
/// Longest method name in bytes after unescaping (305).
pub const MAX_METHOD: usize = 255;
/// Deepest `max_depth` a host may set: the open containers are remembered in one bit each.
pub const MAX_DEPTH: u16 = 512;
/// Longest `max_frame` a host may set: offsets are 32-bit.
pub const MAX_FRAME: u32 = i32::MAX as u32;

/// Who sent the stream that a gate judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client's lines, a server's standard input. They ask for effects: [`Profile::Strict`] unless set otherwise.
    FromClient,
    /// The server's lines, its standard output. They are data: [`Profile::Data`] unless set otherwise; never answered.
    FromServer,
}

impl Direction {
    /// The way back.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::FromClient => Self::FromServer,
            Self::FromServer => Self::FromClient,
        }
    }

    /// `client` or `server`, as `--from` and the audit record spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FromClient => "client",
            Self::FromServer => "server",
        }
    }
}

/// A named set of text rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Every rule on: for lines that may cause an effect.
    Strict,
    /// I-JSON (RFC 7493) without its number range: for lines that are only data.
    Data,
    /// RFC 8259 grammar, UTF-8, unique keys and bounds, nothing else of the text rules. The JSON-RPC rules stay on.
    Rfc8259,
}

impl Profile {
    /// Every profile, the strictest first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Data, Self::Rfc8259];

    /// The profile's name as `--profile` spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Data => "data",
            Self::Rfc8259 => "rfc8259",
        }
    }

    /// The switches that the profile allows.
    #[must_use]
    pub const fn allowed(self) -> Switches {
        let strict = Switches::NONE.with(Switch::Separators).with(Switch::InexactDecimals);
        let data = strict
            .with(Switch::CaseCollisions)
            .with(Switch::EscapedNul)
            .with(Switch::BigIntegers)
            .with(Switch::NumberRange)
            .with(Switch::ForbiddenKeys)
            .with(Switch::Depth);
        match self {
            Self::Strict => strict,
            Self::Data => data,
            Self::Rfc8259 => data
                .with(Switch::SurroundingSpace)
                .with(Switch::LoneSurrogates)
                .with(Switch::LongKeys)
                .with(Switch::EscapedNulInKeys),
        }
    }

    /// The profile's default `max_depth`: 32 passes every parser that was tried, 64 all but two.
    #[must_use]
    pub const fn max_depth(self) -> u16 {
        match self {
            Self::Strict => 32,
            Self::Data | Self::Rfc8259 => 64,
        }
    }
}

macro_rules! switches {
    ($( $variant:ident $bit:literal $name:literal $code:ident $doc:literal; )*) => {
        /// A rule that a host may loosen by itself; what is named is the quirk that then passes.
        ///
        /// A message that was accepted only because a switch is loosened [names it](crate::Message::loosened).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        #[non_exhaustive]
        pub enum Switch {
            $( #[doc = $doc] $variant = 1 << $bit, )*
        }

        impl Switch {
            /// Every switch.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// The switch's name as options, docs and messages spell it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }

            /// The code that is given where the switch is not allowed.
            #[must_use]
            pub const fn code(self) -> Code {
                match self { $( Self::$variant => Code::$code, )* }
            }

            /// What passes where it is allowed, and which peers then disagree.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $( Self::$variant => $doc, )* }
            }
        }
    };
}

switches! {
    BlankLines 0 "blank_lines" FrameEmpty
        "Empty lines are skipped and counted. Some readers deliver them as empty messages, some skip them.";
    SurroundingSpace 1 "surrounding_space" SurroundingSpace
        "Space and tab around the value pass. The Go SDK closes the connection at a space before the line feed.";
    Separators 2 "separators" LineSeparator
        "Raw U+0085, U+2028 and U+2029 in strings pass. Unicode line splitters (Python's str.splitlines, Java's Scanner) cut there; no SDK does.";
    LoneSurrogates 3 "lone_surrogates" LoneSurrogate
        "Escaped halves of surrogate pairs pass. Parsers refuse them, replace them, drop them, or keep them, in up to seven ways.";
    LongKeys 4 "long_keys" KeyTooLong
        "Keys above 8192 bytes pass. One parser keeps key lengths modulo 65,536 and takes a long key for a short one.";
    CaseCollisions 5 "case_collisions" CaseCollision
        "Keys of one object that are equal under case folding pass. Go structs and cJSON take the one for the other.";
    EscapedNul 6 "escaped_nul" EscapedNul
        "\\u0000 in string values passes. C readers cut the value there.";
    EscapedNulInKeys 7 "escaped_nul_in_keys" EscapedNul
        "\\u0000 in keys passes. To json-c and json-glib the key ends there and may replace another.";
    BigIntegers 8 "big_integers" NumberRange
        "Integers beyond 2^53-1 either way pass. Parsers round them, saturate, wrap, or make them strings.";
    NumberRange 9 "number_range" NumberRange
        "All numbers of RFC 8259 pass: minus zero, zero with an exponent, beyond the range or precision of a double. Parsers disagree on each.";
    InexactDecimals 10 "inexact_decimals" NumberRange
        "Decimals of 16 and 17 significant digits pass. Parsers that don't round correctly differ in the last bit.";
    ForbiddenKeys 11 "forbidden_keys" ForbiddenKey
        "__proto__ and $serde_json::private:: keys pass. JavaScript code that copies keys replaces a prototype; a serde_json build reads an object as a number.";
    UnknownMembers 12 "unknown_members" UnknownMember
        "Members of the message other than the six of JSON-RPC pass. The Python SDK ignores them, the TypeScript SDK refuses the message.";
    Depth 13 "max_depth" TooDeep
        "Values deeper than 32 pass, up to the limit max_depth, which alone decides how deep. json-c and coreJSON refuse them, others follow at 100 and beyond.";
}

/// A set of switches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Switches(u16);

impl Switches {
    /// The empty set: every rule on.
    pub const NONE: Self = Self(0);

    /// Every switch.
    const EVERY: Self = {
        let (mut all, mut rest): (Self, &[Switch]) = (Self::NONE, Switch::ALL);
        while let Some((switch, behind)) = rest.split_first() {
            (all, rest) = (all.with(*switch), behind);
        }
        all
    };

    /// The set whose switches' numbers add up to `bits`; `None` where other bits are set.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        if bits & !(Self::EVERY.0 as u32) == 0 { Some(Self(bits as u16)) } else { None }
    }

    /// The numbers of its switches, added up.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0 as u32
    }

    /// The set with `switch` in it.
    #[must_use]
    pub const fn with(self, switch: Switch) -> Self {
        Self(self.0 | switch as u16)
    }

    /// The set without `switch`.
    #[must_use]
    pub const fn without(self, switch: Switch) -> Self {
        Self(self.0 & !(switch as u16))
    }

    /// Whether `switch` is in the set.
    #[must_use]
    pub const fn contains(self, switch: Switch) -> bool {
        self.0 & switch as u16 != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in this set and not in `other`.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// What is in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The switches of the set, in the order of [`Switch::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Switch> {
        Switch::ALL.iter().copied().filter(move |switch| self.contains(*switch))
    }
}

impl fmt::Debug for Switches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Switch::name)).finish()
    }
}

/// Most keys that a gate takes, whatever its options: few where each is compared with each.
pub(crate) const MOST_KEYS: u32 = if cfg!(feature = "small") { 256 } else { 1 << 24 };

/// The bounds of a gate. At a bound the line is refused, memory does not grow, and the next line starts clean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a line before its line feed, a carriage return counted (101). Default 8 MiB: below the 10 MiB at which the
    /// TypeScript SDK closes. Range 4 to 2^31-1. Memory: as much as the longest line, at most this; never more than the
    /// storage holds.
    pub max_frame: u32,
    /// Depth of the deepest value, the root being 1, scalars counted (208). Default 32 under strict, otherwise 64. Range 1 to
    /// [`MAX_DEPTH`]. Memory: one key slot a level.
    pub max_depth: u16,
    /// Object keys alive at once on the path from the root (210). Default 65,536. Range 1 to 2^24. Memory: 8 bytes each.
    /// A build with the feature `small` compares each key with each, and takes no more than 256 whatever is asked for.
    pub max_keys: u32,
    /// Bytes of a string id between its quotes (308). Default 255. Range 1 to 4096. Memory: none.
    pub max_id: u16,
    /// Replies made in a row without an accepted line (so that two peers can't keep answering each other). Default 16; 0
    /// makes none.
    pub max_replies: u32,
}

impl Limits {
    /// The limits of a profile.
    #[must_use]
    pub const fn new(profile: Profile) -> Self {
        Self { max_frame: 8 << 20, max_depth: profile.max_depth(), max_keys: 1 << 16, max_id: 255, max_replies: 16 }
    }
}

/// The key of a gate's fingerprints and hashes: 128 bits that no peer knows.
///
/// A host with a source of randomness draws one for each process; a device may keep one in flash. With a key that the
/// peer knows, verdicts stay right; what is lost is that fingerprints hide guessable lines and that nobody can craft keys
/// whose hashes collide.
#[derive(Clone, Copy)]
pub struct AuditKey(pub(crate) [u8; 16]);

impl AuditKey {
    /// A key from 16 bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditKey(..)")
    }
}
