//! The one place where vector instructions are asked for by name: sixteen bytes of a string at once. The only unsafe code of
//! the crate, and only where the whole build has the instructions anyway.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
#[allow(unsafe_code)]
mod sse2 {
    use core::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
        _mm_xor_si128,
    };

    /// How many of sixteen bytes stand before the first that needs a look.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(in super::super) fn clean_of_16(chunk: &[u8; 16]) -> usize {
        // SAFETY: the function needs SSE2, which is on for the whole build or this module isn't in it.
        (unsafe { special(chunk) } | 1 << 16).trailing_zeros() as usize
    }

    /// One bit for each byte that is a quote, a backslash, a control, or beyond ASCII.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn special(chunk: &[u8; 16]) -> u32 {
        // SAFETY: sixteen bytes may be read there, and the load asks for no alignment.
        let bytes = unsafe { _mm_loadu_si128(chunk.as_ptr().cast::<__m128i>()) };
        // As signed numbers the bytes beyond ASCII lie below zero. The quote, 0x22, and the controls are the others that lie
        // below 0x21 once bit 1 is turned.
        let turned = _mm_xor_si128(bytes, _mm_set1_epi8(2));
        let quote_control_or_high = _mm_cmpgt_epi8(_mm_set1_epi8(0x21), turned);
        let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x5C));
        _mm_movemask_epi8(_mm_or_si128(quote_control_or_high, backslash)) as u32
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
pub(super) use sse2::clean_of_16;

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(miri))))]
pub(super) use super::string::clean_of_16_by_words as clean_of_16;
