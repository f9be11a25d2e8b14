//! The next of one or two bytes: by the machine's widest means, or one by one where the build is to be small.

/// Whether the build is to be small rather than fast.
pub(crate) const SMALL: bool = cfg!(feature = "small");

/// Where the byte stands first.
#[inline]
pub(crate) fn byte(needle: u8, bytes: &[u8]) -> Option<usize> {
    if SMALL { bytes.iter().position(|byte| *byte == needle) } else { memchr::memchr(needle, bytes) }
}

/// Where either of two bytes stands first.
#[inline]
pub(crate) fn either(one: u8, other: u8, bytes: &[u8]) -> Option<usize> {
    if SMALL {
        bytes.iter().position(|byte| *byte == one || *byte == other)
    } else {
        memchr::memchr2(one, other, bytes)
    }
}
