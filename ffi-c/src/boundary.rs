//! What every exported function goes through: missing pointers are told before anything is read, and no panic crosses.

/// The body of an exported function: `boundary!(pointers; { body })` gives 901 where a pointer is missing or misaligned,
/// and 999 where the body panicked. `boundary!(or value; { body })` is for functions that give no status: they take no
/// pointer that must be there, and give `value` after a panic.
macro_rules! boundary {
    (or $fallback:expr; $body:block) => {
        $crate::boundary::caught(|| $body).unwrap_or($fallback)
    };
    ($($pointer:expr),*; $body:block) => {
        if $( $crate::boundary::is_missing($pointer) )||* {
            $crate::status::LINEGATE_NULL_ARGUMENT
        } else {
            $crate::boundary::caught(|| $body).unwrap_or($crate::status::LINEGATE_INTERNAL)
        }
    };
}

/// Whether a pointer that must be there is NULL or misaligned.
pub(crate) fn is_missing<T>(pointer: *const T) -> bool {
    pointer.is_null() || !pointer.is_aligned()
}

/// Whether there can't be so many bytes anywhere.
pub(crate) const fn is_too_long(len: usize) -> bool {
    len > isize::MAX as usize
}

/// Runs the body; `None` after a panic. Whatever it left half done is memory that can be read all the same, for the library
/// keeps nothing in a state that safe code can't be in.
#[cfg(feature = "hosted")]
pub(crate) fn caught<R>(body: impl FnOnce() -> R) -> Option<R> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).ok()
}

/// Runs the body, which has no path to a panic.
#[cfg(not(feature = "hosted"))]
pub(crate) fn caught<R>(body: impl FnOnce() -> R) -> Option<R> {
    Some(body())
}

#[cfg(test)]
mod tests {
    use crate::status::{LINEGATE_INTERNAL, LINEGATE_NULL_ARGUMENT, LINEGATE_OK, linegate_status};

    fn call(pointer: *const u64, panics: bool) -> linegate_status {
        boundary!(pointer; {
            assert!(!panics, "what a fault in the library would do");
            LINEGATE_OK
        })
    }

    #[test]
    fn missing_pointers_and_panics_become_statuses() {
        let words = [0_u64; 2];
        assert_eq!(call(&raw const words[0], false), LINEGATE_OK);
        assert_eq!(call(core::ptr::null(), true), LINEGATE_NULL_ARGUMENT);
        assert_eq!(call(words.as_ptr().wrapping_byte_add(1), true), LINEGATE_NULL_ARGUMENT);
        assert_eq!(call(&raw const words[0], true), LINEGATE_INTERNAL);
        assert_eq!(boundary!(or 7; { assert!(words[0] != 0, "a panic"); 1 }), 7);
    }
}
