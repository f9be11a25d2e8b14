//! Everything a host tells a gate at its start: direction, revision, switches, bounds and session policy, with the check
//! that they fit together.

use core::fmt;

use crate::limits::{AuditKey, Direction, Limits, MAX_DEPTH, MAX_FRAME, MAX_METHOD, Profile, Switches};
use crate::mcp::Revision;

/// When a refusal ends the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// Any refusal ends it: for a gateway with effects outside.
    CloseAll,
    /// Refusals whose code [closes](crate::Code::closes) end it, a key that stands twice among them; a well-formed request that this
    /// server doesn't serve, or with contents that some readers take otherwise (too deep, an integer beyond 2^53-1), is
    /// answered and the session goes on.
    #[default]
    CloseMalformed,
    /// Only the end of input ends it.
    Continue,
}

/// What an error reply says of an id that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ErrorId {
    /// `null` for plain JSON-RPC, for revisions to 2025-06-18 and while the revision isn't known; absent from 2025-11-25 on,
    /// whose schema has no null id.
    #[default]
    ByRevision,
    /// `"id":null`, as JSON-RPC 2.0 section 5 asks.
    Null,
    /// No member `id`.
    Absent,
}

/// Whether a JSON array of messages on one line is taken (302).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Batches {
    /// Taken under the fixed revision 2025-03-26, the only one that has them; refused otherwise.
    #[default]
    ByRevision,
    /// Taken. An option only under 2025-03-26 and plain JSON-RPC.
    Allow,
    /// Refused.
    Refuse,
}

/// Everything a gate is told at its start.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Who sends the stream.
    pub direction: Direction,
    /// The protocol revision. Default [`Revision::AUTO`].
    pub revision: Revision,
    /// The quirks that pass. Default: those of the direction's profile.
    pub allowed: Switches,
    /// The bounds. Default: those of the direction's profile.
    pub limits: Limits,
    /// The protocol versions that the host serves to requests that say theirs, as 2026-07-28 asks (407). Default: all that are
    /// published.
    pub versions: &'static [&'static str],
    /// Methods of the host's own, beside the revision's (402).
    pub methods: &'static [&'static str],
    /// Values of `resultType` of the host's own (408).
    pub result_types: &'static [&'static str],
    /// When a refusal ends the session. Default [`Policy::CloseMalformed`].
    pub policy: Policy,
    /// Whether batches are taken. Default [`Batches::ByRevision`].
    pub batches: Batches,
    /// The id of an error reply where none could be read. Default [`ErrorId::ByRevision`].
    pub error_id: ErrorId,
    /// The key of fingerprints and hashes.
    pub audit_key: AuditKey,
}

impl Options {
    /// The defaults of a direction: `strict` for a client's lines, `data` for a server's.
    #[must_use]
    pub const fn new(direction: Direction, audit_key: AuditKey) -> Self {
        let profile = match direction {
            Direction::FromClient => Profile::Strict,
            Direction::FromServer => Profile::Data,
        };
        Self {
            direction,
            revision: Revision::DEFAULT,
            versions: &Revision::PUBLISHED,
            methods: &[],
            result_types: &[],
            allowed: profile.allowed(),
            limits: Limits::new(profile),
            policy: Policy::CloseMalformed,
            batches: Batches::ByRevision,
            error_id: ErrorId::ByRevision,
            audit_key,
        }
    }

    /// The same options with a profile's switches and depth.
    #[must_use]
    pub const fn with_profile(mut self, profile: Profile) -> Self {
        self.allowed = profile.allowed();
        self.limits.max_depth = profile.max_depth();
        self
    }

    /// Whether each option has a value that it can have, as [`Gate::new`](crate::Gate::new) asks.
    ///
    /// # Errors
    /// [`BadOptions`] (903) says which has not.
    pub fn validate(&self) -> Result<(), BadOptions> {
        let Limits { max_frame, max_depth, max_keys, max_id, .. } = self.limits;
        let bad = |option, text| Err(BadOptions { option, text });
        if !(4..=MAX_FRAME).contains(&max_frame) {
            return bad("max_frame", "max_frame goes from 4 to 2147483647 bytes");
        }
        if !(1..=MAX_DEPTH).contains(&max_depth) {
            return bad("max_depth", "max_depth goes from 1 to 512");
        }
        if !(1..=1 << 24).contains(&max_keys) {
            return bad("max_keys", "max_keys goes from 1 to 16777216");
        }
        if !(1..=4096).contains(&max_id) {
            return bad("max_id", "max_id goes from 1 to 4096 bytes");
        }
        if !are_versions(self.versions) {
            return bad(
                "versions",
                "versions are words of printable ASCII without quote and backslash, 256 bytes in all with 3 more for each",
            );
        }
        if !are_names(self.methods) {
            return bad("methods", "methods are names of 1 to 255 bytes");
        }
        if !are_names(self.result_types) {
            return bad("result_types", "result_types are names of 1 to 255 bytes");
        }
        if self.batches == Batches::Allow && self.revision.is_mcp() && !self.revision.has_batches() {
            return bad("batches", "batches can be allowed only under revision 2025-03-26 or jsonrpc");
        }
        Ok(())
    }
}

/// Whether each can stand in a message at all.
fn are_names(names: &[&str]) -> bool {
    names.iter().all(|name| (1..=MAX_METHOD).contains(&name.len()))
}

/// Whether the versions stand in a reply as they are, and fit into [`REPLY_LEN`](crate::REPLY_LEN) beside an id and the version asked for.
fn are_versions(versions: &[&str]) -> bool {
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) && !matches!(byte, b'"' | b'\\');
    versions.iter().map(|version| version.len() + 3).sum::<usize>() <= 256
        && versions.iter().all(|version| !version.is_empty() && version.bytes().all(plain))
}

/// An option that can't have its value (903): which one, and what would be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOptions {
    /// The option's name.
    pub option: &'static str,
    /// What would be right.
    pub text: &'static str,
}

impl fmt::Display for BadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl core::error::Error for BadOptions {}
