//! What may be kept of a refused line: where and why it was refused, and a keyed fingerprint by which the same line is
//! recognised again. Never its bytes.

use core::fmt;
use core::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher24};

use crate::code::{Code, Stage};
use crate::limits::{AuditKey, Direction};

/// SipHash-2-4 with 128 bits of output over a line, under the gate's [`AuditKey`]. Without the key neither the line nor a
/// guessable secret in it can be found from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint of bytes that may lie in several pieces.
    pub(crate) fn new(key: AuditKey, pieces: &[&[u8]]) -> Self {
        let mut hasher = SipHasher24::new_with_key(&key.0);
        for piece in pieces {
            hasher.write(piece);
        }
        Self(hasher.finish128().as_u128())
    }

    /// The fingerprint as a number.
    #[must_use]
    pub const fn get(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The audit record of one refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The ordinal of the line in its session, from 1.
    pub sequence: u64,
    /// Who sent it.
    pub direction: Direction,
    /// The stage that refused it.
    pub stage: Stage,
    /// Why.
    pub code: Code,
    /// The byte it is about, from the line's start.
    pub at: usize,
    /// Bytes of the line before its LF; of a line that was refused before its end, those up to the decision.
    pub frame_len: usize,
    /// The fingerprint of these bytes.
    pub fingerprint: Fingerprint,
}
