//! The options of a gate as a struct of the header, and their way into the core's.

use core::ffi::c_char;
use core::mem::{offset_of, size_of};

use gate::{AuditKey, BadOptions, Batches, Direction, ErrorId, Limits, Options, Policy, Profile, Revision, Switches};

use crate::boundary::is_missing;
use crate::event::linegate_slice;
use crate::grow::{self, Grows};
use crate::status::{LINEGATE_BAD_OPTIONS, LINEGATE_INTERNAL, LINEGATE_NULL_ARGUMENT, LINEGATE_OK, linegate_status};

/// The lines of a client: a server's standard input.
pub const LINEGATE_FROM_CLIENT: u32 = 0;
/// The lines of a server, its standard output: data, never answered.
pub const LINEGATE_FROM_SERVER: u32 = 1;

/// Strict for a client's lines, data for a server's.
pub const LINEGATE_PROFILE_OF_DIRECTION: u32 = 0;
/// Every rule on: for lines that may cause an effect.
pub const LINEGATE_PROFILE_STRICT: u32 = 1;
/// I-JSON (RFC 7493) without its number range: for lines that are only data.
pub const LINEGATE_PROFILE_DATA: u32 = 2;
/// RFC 8259 grammar, UTF-8, unique keys and bounds, nothing else of the text rules.
pub const LINEGATE_PROFILE_RFC8259: u32 = 3;

/// MCP of any revision; where a session is tracked its own lines tell which it is.
pub const LINEGATE_REVISION_AUTO: u32 = 0;
/// Plain JSON-RPC 2.0, no MCP: params may be an array, a result anything.
pub const LINEGATE_REVISION_JSONRPC: u32 = 1;
/// MCP 2024-11-05.
pub const LINEGATE_REVISION_2024_11_05: u32 = 2;
/// MCP 2025-03-26.
pub const LINEGATE_REVISION_2025_03_26: u32 = 3;
/// MCP 2025-06-18.
pub const LINEGATE_REVISION_2025_06_18: u32 = 4;
/// MCP 2025-11-25.
pub const LINEGATE_REVISION_2025_11_25: u32 = 5;
/// MCP 2026-07-28.
pub const LINEGATE_REVISION_2026_07_28: u32 = 6;

/// Refusals whose code closes end the session: see the table of codes, docs/rules.md.
pub const LINEGATE_POLICY_CLOSE_MALFORMED: u32 = 0;
/// Any refusal ends the session: for a gateway with effects outside.
pub const LINEGATE_POLICY_CLOSE_ALL: u32 = 1;
/// Only the end of input ends the session.
pub const LINEGATE_POLICY_CONTINUE: u32 = 2;

/// Batches are taken under the fixed revision 2025-03-26 alone, the only one that has them.
pub const LINEGATE_BATCHES_BY_REVISION: u32 = 0;
/// Batches are taken: an option only under 2025-03-26 and plain JSON-RPC.
pub const LINEGATE_BATCHES_ALLOW: u32 = 1;
/// Batches are refused.
pub const LINEGATE_BATCHES_REFUSE: u32 = 2;

/// An error reply whose id could not be read says null or leaves it out, as its revision asks.
pub const LINEGATE_ERROR_ID_BY_REVISION: u32 = 0;
/// It says null.
pub const LINEGATE_ERROR_ID_NULL: u32 = 1;
/// It leaves the member out.
pub const LINEGATE_ERROR_ID_ABSENT: u32 = 2;

/// Empty lines are skipped and counted.
pub const LINEGATE_SWITCH_BLANK_LINES: u32 = 0x1;
/// Space and tab around the value pass.
pub const LINEGATE_SWITCH_SURROUNDING_SPACE: u32 = 0x2;
/// Raw U+0085, U+2028 and U+2029 in strings pass (in every profile).
pub const LINEGATE_SWITCH_SEPARATORS: u32 = 0x4;
/// Escaped halves of surrogate pairs pass.
pub const LINEGATE_SWITCH_LONE_SURROGATES: u32 = 0x8;
/// Keys above 8192 bytes pass.
pub const LINEGATE_SWITCH_LONG_KEYS: u32 = 0x10;
/// Keys of one object that are equal under case folding pass.
pub const LINEGATE_SWITCH_CASE_COLLISIONS: u32 = 0x20;
/// \u0000 in string values passes.
pub const LINEGATE_SWITCH_ESCAPED_NUL: u32 = 0x40;
/// \u0000 in keys passes.
pub const LINEGATE_SWITCH_ESCAPED_NUL_IN_KEYS: u32 = 0x80;
/// Integers beyond 2^53-1 either way pass.
pub const LINEGATE_SWITCH_BIG_INTEGERS: u32 = 0x100;
/// All numbers of RFC 8259 pass.
pub const LINEGATE_SWITCH_NUMBER_RANGE: u32 = 0x200;
/// Decimals of 16 and 17 significant digits pass (in every profile).
pub const LINEGATE_SWITCH_INEXACT_DECIMALS: u32 = 0x400;
/// The keys __proto__ and $serde_json::private:: pass.
pub const LINEGATE_SWITCH_FORBIDDEN_KEYS: u32 = 0x800;
/// Members of the message other than the six of JSON-RPC pass.
pub const LINEGATE_SWITCH_UNKNOWN_MEMBERS: u32 = 0x1000;
/// Values deeper than 32 pass, up to max_depth.
pub const LINEGATE_SWITCH_DEPTH: u32 = 0x2000;

/// For max_replies: no reply is ever due.
pub const LINEGATE_NO_REPLIES: u32 = 0xffff_ffff;

/// What a gate is told at its start. Set `size` to sizeof(linegate_options) and everything else to zero, then what shall
/// differ: zero is the default of each member. The struct and all that it points to are read during the call alone; names
/// are copied into the gate's storage. Members that the library doesn't know must be zero (903).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_options {
    /// sizeof(linegate_options).
    pub size: usize,
    /// LINEGATE_FROM_...: who sends the stream. Default: the client.
    pub direction: u32,
    /// LINEGATE_PROFILE_...: a named set of switches and a max_depth.
    pub profile: u32,
    /// LINEGATE_REVISION_...: the protocol. Default: MCP of any revision. A build that was made with fewer revisions refuses the
    /// others, and LINEGATE_REVISION_AUTO (903).
    pub revision: u32,
    /// LINEGATE_POLICY_...: when a refusal ends the session.
    pub policy: u32,
    /// LINEGATE_BATCHES_...: whether a JSON array of messages on one line is taken.
    pub batches: u32,
    /// LINEGATE_ERROR_ID_...: the id of an error reply where none could be read.
    pub error_id: u32,
    /// LINEGATE_SWITCH_... of quirks that pass besides those of the profile.
    pub allow: u32,
    /// LINEGATE_SWITCH_... of quirks that the profile lets pass and that shall not.
    pub refuse: u32,
    /// Bytes of a line before its line feed (101): 4 to 2147483647. Default 8388608. As much storage, byte for byte.
    pub max_frame: u32,
    /// Depth of the deepest value, scalars counted (208): 1 to 512. Default 32 under strict, else 64. 8 bytes of storage a level.
    pub max_depth: u32,
    /// Object keys open at once (210): 1 to 16777216. Default 65536. 8 bytes of storage each.
    pub max_keys: u32,
    /// Bytes of a string id (308): 1 to 4096. Default 255. No storage.
    pub max_id: u32,
    /// Replies that are due in a row without an accepted line. Default 16; LINEGATE_NO_REPLIES for none.
    pub max_replies: u32,
    /// LINEGATE_SWITCH_... by which a line may have passed and still ask for an action (505). Default: none.
    pub grant: u32,
    /// Names of methods beside the protocol's, as requests and notifications of either side: 1 to 255 bytes of UTF-8 each,
    /// NUL-terminated.
    pub methods: *const *const c_char,
    /// How many.
    pub methods_len: usize,
    /// Values of resultType beside the protocol's, likewise.
    pub result_types: *const *const c_char,
    /// How many.
    pub result_types_len: usize,
    /// The protocol versions that the host serves to requests of 2026-07-28, which say theirs (407): printable ASCII without quote
    /// and backslash, 256 bytes in all with 3 more for each. Default: all that are published.
    pub versions: *const *const c_char,
    /// How many.
    pub versions_len: usize,
    /// 16 bytes that no peer knows: the key of fingerprints and hashes. All zero: a hosted library draws a random key, a bare
    /// one works with zeros; verdicts stay right then, but fingerprints can be guessed and a peer may craft keys that collide.
    pub audit_key: [u8; 16],
}

// SAFETY: repr(C), the size first, integers and pointers only.
unsafe impl Grows for linegate_options {
    const FIRST: usize = offset_of!(Self, audit_key) + size_of::<[u8; 16]>();
}

/// Why options are refused: which one, and what would be right. Both live as long as the library.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linegate_complaint {
    /// Set by the caller: sizeof(linegate_complaint).
    pub size: usize,
    /// The member of linegate_options that can't have its value. Absent where there is nothing to complain of.
    pub option: linegate_slice,
    /// What would be right, as a sentence without its full stop.
    pub text: linegate_slice,
}

// SAFETY: repr(C), the size first, integers and pointers only.
unsafe impl Grows for linegate_complaint {
    const FIRST: usize = offset_of!(Self, text) + size_of::<linegate_slice>();
}

/// How options are refused: with a status, or with all that there is to say. Who asks for the status alone doesn't link the
/// sentences.
pub(crate) trait Refused: Sized {
    /// Of this status, about this option, which should be so.
    fn about(status: linegate_status, option: &'static str, text: &'static str) -> Self;

    /// An option has a value that it can't have.
    fn bad(option: &'static str, text: &'static str) -> Self {
        Self::about(LINEGATE_BAD_OPTIONS, option, text)
    }

    /// A pointer is missing.
    fn missing(option: &'static str) -> Self {
        Self::about(LINEGATE_NULL_ARGUMENT, option, "it and what it leads to must not be NULL or misaligned")
    }

    /// The core says so.
    fn by_core(BadOptions { option, text }: BadOptions) -> Self {
        Self::bad(option, text)
    }
}

impl Refused for linegate_status {
    fn about(status: linegate_status, _: &'static str, _: &'static str) -> Self {
        status
    }
}

/// A status with what there is to complain of.
#[derive(Clone, Copy)]
pub(crate) struct Complaint {
    status: linegate_status,
    option: &'static str,
    text: &'static str,
}

impl Refused for Complaint {
    fn about(status: linegate_status, option: &'static str, text: &'static str) -> Self {
        Self { status, option, text }
    }
}

/// Reads the struct.
///
/// # Safety
/// The pointer is as the header asks.
pub(crate) unsafe fn read<R: Refused>(raw: *const linegate_options) -> Result<linegate_options, R> {
    if is_missing(raw) {
        return Err(R::missing("options"));
    }
    // SAFETY: the caller's promise.
    unsafe { grow::read(raw) }
        .map_err(|_| R::bad("size", "size is sizeof(linegate_options), and what the library does not know is zero"))
}

/// The options as the core has them, but for the names.
pub(crate) fn options_of<R: Refused>(raw: &linegate_options) -> Result<Options, R> {
    const WORD: &str = "it is one of its constants";
    let direction = match raw.direction {
        LINEGATE_FROM_CLIENT => Direction::FromClient,
        LINEGATE_FROM_SERVER => Direction::FromServer,
        _ => return Err(R::bad("direction", WORD)),
    };
    let mut options = Options::new(direction, AuditKey::new(raw.audit_key));
    let profile = match raw.profile {
        LINEGATE_PROFILE_OF_DIRECTION => None,
        LINEGATE_PROFILE_STRICT => Some(Profile::Strict),
        LINEGATE_PROFILE_DATA => Some(Profile::Data),
        LINEGATE_PROFILE_RFC8259 => Some(Profile::Rfc8259),
        _ => return Err(R::bad("profile", WORD)),
    };
    if let Some(profile) = profile {
        options = options.with_profile(profile);
    }
    options.revision = revision(raw.revision)
        .ok_or_else(|| R::bad("revision", "it is one of its constants, and one that this library was built with"))?;
    options.policy = match raw.policy {
        LINEGATE_POLICY_CLOSE_MALFORMED => Policy::CloseMalformed,
        LINEGATE_POLICY_CLOSE_ALL => Policy::CloseAll,
        LINEGATE_POLICY_CONTINUE => Policy::Continue,
        _ => return Err(R::bad("policy", WORD)),
    };
    options.batches = match raw.batches {
        LINEGATE_BATCHES_BY_REVISION => Batches::ByRevision,
        LINEGATE_BATCHES_ALLOW => Batches::Allow,
        LINEGATE_BATCHES_REFUSE => Batches::Refuse,
        _ => return Err(R::bad("batches", WORD)),
    };
    options.error_id = match raw.error_id {
        LINEGATE_ERROR_ID_BY_REVISION => ErrorId::ByRevision,
        LINEGATE_ERROR_ID_NULL => ErrorId::Null,
        LINEGATE_ERROR_ID_ABSENT => ErrorId::Absent,
        _ => return Err(R::bad("error_id", WORD)),
    };
    let refused = switches("refuse", raw.refuse)?;
    if raw.allow & raw.refuse != 0 {
        return Err(R::bad("refuse", "no switch is in allow and in refuse"));
    }
    options.allowed = options.allowed.union(switches("allow", raw.allow)?).minus(refused);
    limits(raw, &mut options.limits);
    options.validate().map_err(R::by_core)?;
    Ok(options)
}

/// A set of switches out of an option's bits.
pub(crate) fn switches<R: Refused>(option: &'static str, bits: u32) -> Result<Switches, R> {
    Switches::from_bits(bits).ok_or_else(|| R::bad(option, "its bits are those of LINEGATE_SWITCH_... constants"))
}

fn limits(raw: &linegate_options, limits: &mut Limits) {
    let or = |value: u32, default: u32| if value == 0 { default } else { value };
    // What is too large for the core's number is too large for its range.
    let short = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
    limits.max_frame = or(raw.max_frame, limits.max_frame);
    limits.max_keys = or(raw.max_keys, limits.max_keys);
    limits.max_depth = short(or(raw.max_depth, limits.max_depth.into()));
    limits.max_id = short(or(raw.max_id, limits.max_id.into()));
    limits.max_replies = match raw.max_replies {
        LINEGATE_NO_REPLIES => 0,
        value => or(value, limits.max_replies),
    };
}

/// A revision by its number; of those alone that the build has, so that a small build links the tables of no other.
fn revision(number: u32) -> Option<Revision> {
    Some(match number {
        #[cfg(feature = "revisions")]
        LINEGATE_REVISION_AUTO => Revision::AUTO,
        LINEGATE_REVISION_JSONRPC => Revision::JSON_RPC,
        #[cfg(any(feature = "revisions", feature = "revision-2024-11-05"))]
        LINEGATE_REVISION_2024_11_05 => Revision::V2024_11_05,
        #[cfg(any(feature = "revisions", feature = "revision-2025-03-26"))]
        LINEGATE_REVISION_2025_03_26 => Revision::V2025_03_26,
        #[cfg(any(feature = "revisions", feature = "revision-2025-06-18"))]
        LINEGATE_REVISION_2025_06_18 => Revision::V2025_06_18,
        #[cfg(any(feature = "revisions", feature = "revision-2025-11-25"))]
        LINEGATE_REVISION_2025_11_25 => Revision::V2025_11_25,
        #[cfg(any(feature = "revisions", feature = "revision-2026-07-28"))]
        LINEGATE_REVISION_2026_07_28 => Revision::V2026_07_28,
        _ => return None,
    })
}

/// Whether linegate_init and linegate_new take these options, and if not, which is wrong.
///
/// Returns: 0, they do, and there is no complaint; 903, they don't; 901, options is NULL or misaligned, or a list or a name in
/// them is, or complaint is misaligned. complaint says more of 903, and of 901 but for its own, and may be NULL; it lies apart
/// from the options. Set complaint->size (903 too where it was not set). Owner: what the complaint names is static. Thread: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_options_check(
    options: *const linegate_options,
    complaint: *mut linegate_complaint,
) -> linegate_status {
    boundary!(or LINEGATE_INTERNAL; {
        let told = !complaint.is_null();
        if told && is_missing(complaint) {
            return LINEGATE_NULL_ARGUMENT;
        }
        // SAFETY: the caller's promise, for each of the pointers.
        unsafe {
            if told && let Err(status) = grow::has_size(complaint) {
                return status;
            }
            let found = crate::storage::Plan::read_whole::<Complaint>(options).err();
            let text = |text: &'static str| linegate_slice::new(text.as_bytes());
            let said = linegate_complaint {
                size: 0,
                option: found.map_or(linegate_slice::ABSENT, |found| text(found.option)),
                text: found.map_or(linegate_slice::ABSENT, |found| text(found.text)),
            };
            if told && let Err(status) = grow::write(complaint, &said) {
                return status;
            }
            found.map_or(LINEGATE_OK, |found| found.status)
        }
    })
}
